//! Integration tests of `flower`: one binary, one module a subject.
