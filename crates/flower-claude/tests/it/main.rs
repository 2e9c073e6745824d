//! Integration tests of `flower-claude`: one binary, one module a subject.
