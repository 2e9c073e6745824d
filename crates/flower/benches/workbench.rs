//! Bringing the index of a workbench up to date, with a thousand files on it.

#![allow(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

use divan::Bencher;
use flower::workbench::{Keeper, Workbench};
use flower_context::Lang;

fn main() {
    divan::main();
}

fn thousand() -> (tempfile::TempDir, Workbench) {
    let dir = tempfile::tempdir().unwrap();
    let bench = Workbench::open(dir.path()).unwrap();
    for file in 0..1000 {
        let text = format!("# desc: what file {file} is for\n{}", "line\n".repeat(2000));
        std::fs::write(bench.artifacts().join(format!("{file}.md")), text).unwrap();
    }
    (dir, bench)
}

/// The first look reads the beginning of each file.
#[divan::bench]
fn first(bencher: Bencher) {
    let (_dir, bench) = thousand();
    bencher.with_inputs(|| Keeper::new(bench.clone(), Lang::En)).bench_values(|keeper| keeper.refresh());
}

/// Later ones read what has changed: here one file, as after a Write.
#[divan::bench]
fn after_a_write(bencher: Bencher) {
    let (_dir, bench) = thousand();
    let keeper = Keeper::new(bench.clone(), Lang::En);
    let mut turn = 0;
    bencher
        .with_inputs(|| {
            turn += 1;
            std::fs::write(bench.artifacts().join("0.md"), format!("# desc: {turn}\n")).unwrap();
        })
        .bench_local_values(|()| keeper.refresh());
}
