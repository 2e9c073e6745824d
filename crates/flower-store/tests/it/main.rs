//! Integration tests of `flower-store`: one binary, one module a subject.
