//! Finding and installing the harness.

mod find;
mod install;
mod machine;
mod real;
