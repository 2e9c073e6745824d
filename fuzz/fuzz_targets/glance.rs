//! Any command line: the rule never panics, and nothing that follows a separator is overlooked.
#![no_main]

use flower_context::glance::{Verdict, is_glance};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    if is_glance(command) == Verdict::Glance {
        assert_ne!(is_glance(&format!("{command}\nrm x")), Verdict::Glance);
    }
});
