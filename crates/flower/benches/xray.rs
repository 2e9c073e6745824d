//! `flower xray` on a transcript of 100 MB: from the file to the figures, with the memory that it takes.
//!
//! Budget: below one second.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at what it did not expect, and prints"
)]
#![allow(missing_docs, reason = "a benchmark is run, not read as documentation")]

use std::time::Instant;

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use flower::source::{Found, Places, find};
use flower::xray;

#[path = "../../flower-context/benches/support/history.rs"]
mod history;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

/// Entries of about 2 kB: 10 MB and 100 MB.
const ENTRIES: &[usize] = &[5_000, 50_000];

fn main() {
    peak();
    divan::main();
}

/// A session of so many entries, as a file.
fn session(entries: usize) -> (tempfile::TempDir, Vec<Found>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    std::fs::write(&path, history::history(entries)).unwrap();
    let places =
        Places { config_dir: None, cwd: dir.path().to_owned(), sessions_db: dir.path().join("sessions.db") };
    let found = find(path.to_str(), &places).unwrap();
    let bytes = path.metadata().unwrap().len();
    (dir, found, bytes)
}

/// What the system says of the memory of a process that does nothing else.
fn peak() {
    let wanted = std::env::args().nth(1).filter(|argument| argument == "--peak");
    if wanted.is_none() {
        let itself = std::env::current_exe().unwrap();
        let said = std::process::Command::new(itself).arg("--peak").output().unwrap();
        print!("{}", String::from_utf8_lossy(&said.stdout));
        return;
    }
    let (_dir, found, bytes) = session(50_000);
    let before = resident();
    let start = Instant::now();
    black_box(xray::figures(&found).unwrap());
    let took = start.elapsed();
    println!(
        "figures of {} MB: {took:.2?}, {} MB more in memory at the most",
        bytes / 1_000_000,
        (resident() - before) / 1_000
    );
    std::process::exit(0);
}

/// The most memory that this process has had at once, in kB. The measure is begun anew first, where that is possible.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    // 5: forget the peak.
    std::fs::write("/proc/self/clear_refs", "5").ok();
    peak.unwrap_or_default()
}

#[divan::bench(args = ENTRIES, sample_count = 5, sample_size = 1)]
fn figures(bencher: Bencher<'_, '_>, entries: usize) {
    let (_dir, found, bytes) = session(entries);
    bencher.counter(BytesCount::new(bytes)).bench(|| xray::figures(black_box(&found)).unwrap());
}

/// As much as a window holds: what stands in front of a compaction is not looked at again.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn what_if_of_a_window(bencher: Bencher<'_, '_>) {
    let (_dir, found, bytes) = session(1_000);
    bencher.counter(BytesCount::new(bytes)).bench(|| xray::figures_and_what_if(black_box(&found)).unwrap());
}
