//! Appending and loading, in figures.
fn main() {}
