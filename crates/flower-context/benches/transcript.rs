//! Reading, viewing and counting transcripts of growing length.

#![allow(missing_docs, reason = "a benchmark is run, not read as documentation")]

use std::collections::HashSet;

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use flower_context::accounting::{Figures, PriceTable, Session, Terms};
use flower_context::transcript::{Transcript, lines};

#[path = "support/history.rs"]
mod history;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const ENTRIES: &[usize] = &[1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn split_lines(bencher: Bencher<'_, '_>, entries: usize) {
    let bytes = history::history(entries);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| lines(black_box(&bytes)).count());
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn read(bencher: Bencher<'_, '_>, entries: usize) {
    let bytes = history::history(entries);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| Transcript::read(black_box(&bytes)));
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn view(bencher: Bencher<'_, '_>, entries: usize) {
    let bytes = history::history(entries);
    let transcript = Transcript::read(&bytes);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| black_box(&transcript).view().messages.len());
}

#[divan::bench(args = ENTRIES, sample_count = 5)]
fn figures(bencher: Bencher<'_, '_>, entries: usize) {
    let bytes = history::history(entries);
    let transcript = Transcript::read(&bytes);
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let session = Session { id: "generated", main: black_box(&transcript), workers: Vec::new() };
        Figures::of(&[session], terms)
    });
}
