//! What reading, rewriting and proving take, on histories of growing length: time, and memory at its peak.
//!
//! `cargo bench -p flower-context --bench rewrite` runs all of it; words behind `--` choose lengths and rows
//! (`-- 100000 all`). Wall and processor time are the best of some runs. The peak is resident memory with the
//! history itself, and needs Linux.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark is run, not read as documentation; it prints, and its numbers are small"
)]

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use flower_context::Lang;
use flower_context::rewrite::{Expire, Gate, Policy, PruneDenials, Trim, rewrite, rewrite_read};
use flower_context::transcript::Transcript;
use flower_context::verify::{prove, verify};

#[path = "support/history.rs"]
mod history;

const ENTRIES: &[usize] = &[1_000, 10_000, 100_000];
const RUNS: usize = 5;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rows = rows();
    let is_chosen = |word: &str| {
        let known = |name: &String| name.parse::<usize>().is_ok() == word.parse::<usize>().is_ok();
        chosen.iter().any(|name| name == word) || !chosen.iter().any(known)
    };
    println!(
        "{:>7} {:>8} {:<8} {:>9} {:>9} {:>8} {:>8} {:>7}",
        "entries", "MB", "what", "wall ms", "cpu ms", "MB/s", "peak MB", "x size"
    );
    for entries in ENTRIES.iter().filter(|entries| is_chosen(&entries.to_string())) {
        let bytes = history::history(*entries);
        for (name, run) in rows.iter().filter(|(name, _)| is_chosen(name)) {
            row(name, *entries, &bytes, run);
        }
    }
}

type Run = Box<dyn Fn(&[u8])>;

fn rows() -> Vec<(&'static str, Run)> {
    let rewriting =
        |policy: Policy<'static>| -> Run { Box::new(move |bytes| drop(black_box(rewrite(bytes, &policy)))) };
    let all = || Policy { trim: Some(trim_old()), gate: Gate::Open, ..Policy::default() };
    vec![
        ("read", Box::new(|bytes| drop(black_box(Transcript::read(bytes))))),
        (
            "view",
            Box::new(|bytes| {
                black_box(Transcript::read(bytes).view().messages.len());
            }),
        ),
        ("heal", rewriting(heal_only())),
        ("expire", rewriting(Policy { expire: Some(Expire::default()), ..heal_only() })),
        ("trim", rewriting(Policy { trim: Some(trim_old()), ..heal_only() })),
        ("prune", rewriting(Policy { denials: Some(PruneDenials::default()), debris: true, ..heal_only() })),
        ("all", rewriting(all())),
        ("written", Box::new(move |bytes| drop(black_box(rewrite(bytes, &all()).bytes())))),
        ("verify", Box::new(|bytes| drop(black_box(verify(bytes))))),
        (
            "proved",
            Box::new(move |bytes| {
                let before = Transcript::read(bytes);
                let made = rewrite_read(&before, &all());
                assert_eq!(prove(&before, &made.read_beside(&before)), []);
            }),
        ),
    ]
}

fn heal_only() -> Policy<'static> {
    Policy { gate: Gate::Open, ..Policy::heal_only(Lang::En) }
}

fn trim_old() -> Trim<'static> {
    Trim { keep: 20, min_chars: Trim::MIN_CHARS, directory: ".flower/spill".to_owned(), on_disk: None }
}

fn row(name: &str, entries: usize, bytes: &[u8], run: &Run) {
    forget_peak();
    let (mut wall, mut cpu) = (Duration::MAX, f64::MAX);
    for _ in 0..RUNS {
        let (started, worked) = (Instant::now(), processor_ms());
        run(bytes);
        wall = wall.min(started.elapsed());
        cpu = cpu.min(processor_ms() - worked);
    }
    let size = bytes.len() as f64 / 1e6;
    let peak = status("VmHWM") / 1e3;
    println!(
        "{entries:>7} {size:>8.1} {name:<8} {:>9.1} {cpu:>9.0} {:>8.0} {peak:>8.0} {:>7.2}",
        wall.as_secs_f64() * 1e3,
        size / wall.as_secs_f64(),
        peak / size
    );
}

/// Lets the kernel measure the peak from now on.
fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").ok();
}

/// A field of the status of this process, in kB.
fn status(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// Processor time of all threads so far. The kernel counts it in hundredths of a second.
fn processor_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}
