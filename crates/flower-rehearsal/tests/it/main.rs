//! Integration tests of `flower-rehearsal`: one binary, one module a subject.
