//! Integration tests of `flower-context`: one binary, one module a subject.
