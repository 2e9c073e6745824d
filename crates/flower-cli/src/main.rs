//! The flower command.
fn main() {}
