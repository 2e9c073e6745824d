//! Integration tests of `flower-cli`: one binary, one module a subject.
