//! Each rewrite alone and all of them, on histories of growing length.

#![allow(missing_docs, reason = "a benchmark is run, not read as documentation")]

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use flower_context::Lang;
use flower_context::rewrite::{Expire, Gate, Policy, PruneDenials, Trim, rewrite};
use flower_context::verify::verify as check;

#[path = "support/history.rs"]
mod history;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const ENTRIES: &[usize] = &[1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, entries: usize, policy: &Policy<'_>) {
    let bytes = history::history(entries);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| rewrite(black_box(&bytes), policy));
}

fn heal_only() -> Policy<'static> {
    Policy { gate: Gate::Open, ..Policy::heal_only(Lang::En) }
}

fn trim_old() -> Trim<'static> {
    Trim { keep: 20, min_chars: Trim::MIN_CHARS, directory: ".flower/spill".to_owned(), on_disk: None }
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn heal(bencher: Bencher<'_, '_>, entries: usize) {
    run(bencher, entries, &heal_only());
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn expire(bencher: Bencher<'_, '_>, entries: usize) {
    run(bencher, entries, &Policy { expire: Some(Expire::default()), ..heal_only() });
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn trim(bencher: Bencher<'_, '_>, entries: usize) {
    run(bencher, entries, &Policy { trim: Some(trim_old()), ..heal_only() });
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn prune(bencher: Bencher<'_, '_>, entries: usize) {
    run(bencher, entries, &Policy { denials: Some(PruneDenials::default()), debris: true, ..heal_only() });
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn all(bencher: Bencher<'_, '_>, entries: usize) {
    run(bencher, entries, &Policy { trim: Some(trim_old()), gate: Gate::Open, ..Policy::default() });
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn verify(bencher: Bencher<'_, '_>, entries: usize) {
    let bytes = history::history(entries);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| check(black_box(&bytes)));
}
