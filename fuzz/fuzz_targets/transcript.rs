//! Any bytes: reading, rewriting and verifying never panic, and what a rewrite makes is its own fixed point.
#![no_main]

use flower_context::rewrite::{Gate, Policy, rewrite};
use flower_context::verify::verify;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    verify(bytes);
    let policy = Policy { gate: Gate::Open, ..Policy::default() };
    let once = rewrite(bytes, &policy).bytes();
    assert_eq!(rewrite(&once, &policy).bytes(), once);
});
