//! How long a verdict takes: typical command lines, and the longest that are looked at.
//!
//! Budget: under 20 µs for a typical line, under 5 ms for 64 kB.

use divan::counter::BytesCount;
use flower_context::glance::{COMMAND_LIMIT, is_glance};

fn main() {
    divan::main();
}

/// Lines that agents write, from the shortest to the longest of everyday.
const TYPICAL: &[&str] = &[
    "git status",
    "ls -la src/",
    "grep -rn \"fn main\" src/ | head -20",
    "cd crates/core && git log --oneline -5 2>/dev/null || true",
    "for f in src/*.rs; do echo \"== $f\"; head -5 \"$f\"; done",
    "find . -type f | sed 's/.*\\.//' | sort | uniq -c | sort -rn | head",
    "BASE=$(git merge-base main HEAD); git diff --stat $BASE",
    "awk -F',' 'NR>1 {s+=$3} END {print s}' data.csv",
    "npm run build > build.log 2>&1",
];

#[divan::bench(args = TYPICAL)]
fn typical(command: &str) -> bool {
    is_glance(divan::black_box(command)).is_glance()
}

/// Pieces that are repeated up to the limit; each stresses another part.
const LONG: &[&str] = &[
    "ls; ",
    "ls | ",
    "echo $(ls); ",
    "echo a",
    "x",
    "x=$y; ",
    "{a,b}",
    "$(echo ",
    "( ",
    "if true; then ls; fi; ",
    "cat <<E\nx\nE\n",
    "'a' ",
    "\"$x\" ",
    "for i in 1 2; do ls; done; ",
    "while read x; do ls; done; ",
    "sort -k1 *.txt | ",
    "find . -exec ls {} + ; ",
    "echo ${x:-$(ls)}; ",
    "case x in x) ls;; esac; ",
    "a=(b c); ",
    "for ((i=0;i<3;i++)); do ls; done; ",
    "fd -x ls; ",
    "# note\n",
];

#[divan::bench(args = LONG, sample_count = 20)]
fn up_to_the_limit(bencher: divan::Bencher<'_, '_>, piece: &str) {
    let command = format!("{}ls", piece.repeat((COMMAND_LIMIT - 2) / piece.len()));
    bencher.counter(BytesCount::of_str(&command)).bench(|| is_glance(divan::black_box(&command)).is_glance());
}
