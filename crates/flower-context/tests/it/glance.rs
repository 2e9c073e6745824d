//! The glance rule as a whole: everyday command lines pass, nothing else does, and refusals say what and why.

use std::sync::LazyLock;

use flower_context::Lang;
use flower_context::glance::{COMMAND_LIMIT, PART_LIMIT, Verdict, is_glance};
use proptest::prelude::*;

/// The command lines of a fixture: one a line, with pictures for what a line of a file cannot hold.
fn commands(fixture: &str) -> Vec<String> {
    let lines = fixture.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines
        .map(|line| line.replace('⏎', "\n").replace('␍', "\r").replace('␉', "\t").replace('␀', "\0"))
        .collect()
}

/// Command lines that must be glances.
pub(crate) static EVERYDAY: LazyLock<Vec<String>> =
    LazyLock::new(|| commands(include_str!("../fixtures/glance/everyday.txt")));

/// Command lines that must not be.
static BYPASSES: LazyLock<Vec<String>> =
    LazyLock::new(|| commands(include_str!("../fixtures/glance/bypasses.txt")));

/// `English: part` of a refusal.
fn refused(command: &str) -> String {
    match is_glance(command) {
        Verdict::Glance => format!("{command} is a glance"),
        Verdict::Not(refusal) => format!("[{}] {}", refusal.part, refusal.reason.text(Lang::En)),
    }
}

#[test]
fn everyday_command_lines_are_glances() {
    let refused: Vec<String> = EVERYDAY
        .iter()
        .filter(|command| !is_glance(command).is_glance())
        .map(|command| format!("{command}: {}", refused(command)))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(EVERYDAY.len() > 2600);
}

#[test]
fn no_bypass_is_a_glance() {
    let passed: Vec<&str> =
        BYPASSES.iter().map(String::as_str).filter(|command| is_glance(command).is_glance()).collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
    assert!(BYPASSES.len() > 3500);
}

#[test]
fn the_known_cases_hold() {
    let fixtures = [
        include_str!("../fixtures/glance/writing_by_option.jsonl"),
        include_str!("../fixtures/glance/hidden_second_command.jsonl"),
    ];
    for line in fixtures.iter().flat_map(|fixture| fixture.lines()) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let command = case["command"].as_str().unwrap();
        assert_eq!(is_glance(command).is_glance(), case["read_only"].as_bool().unwrap(), "{command}");
    }
}

#[test]
fn a_refusal_names_the_part_and_the_reason() {
    insta::assert_snapshot!(refused("cd src && ls | tee out.txt"), @"[tee out.txt] `tee` changes files or state");
    insta::assert_snapshot!(refused("git status; sort -uo out.txt names.txt"), @"[sort -uo out.txt names.txt] option `-uo` of `sort` is not known to be read-only, cheap and finite");
    insta::assert_snapshot!(refused("ls 2> errors.txt"), @"[2> errors.txt] it writes to `errors.txt`; only /dev/null and other descriptors are allowed");
    insta::assert_snapshot!(refused("for f in *; do sort $f; done"), @"[sort $f] `$f` is known only to the shell and could become a harmful option of `sort`; write it out, put `--` or `./` before it");
    insta::assert_snapshot!(refused("echo \"today $(frobnicate)\""), @"[frobnicate] `frobnicate` is not in the list of read-only programs");
    insta::assert_snapshot!(refused("git stash pop"), @"[git stash pop] `git stash pop` is not a known read-only sub-command");
    insta::assert_snapshot!(refused("npm ls & ls"), @"[npm ls &] a background job outlives the command");
    insta::assert_snapshot!(refused("PAGER=x git log"), @"[PAGER=x] setting `PAGER` may change what runs");
    insta::assert_snapshot!(refused("sed 's/a/b/w f' x"), @"[sed 's/a/b/w f' x] `w f` in the sed expression is not known to only look");
    insta::assert_snapshot!(refused("echo 'unclosed"), @"['unclosed] the shell grammar is broken or unusual at `'unclosed`");
    insta::assert_snapshot!(refused("if true; then ls"), @"[if true; then ls] the shell grammar is broken or unusual at `end of line`");
    insta::assert_snapshot!(refused(""), @"[] there is no command in it");
    insta::assert_snapshot!(refused("# only a note"), @"[] there is no command in it");
}

#[test]
fn a_long_part_is_shortened() {
    let Verdict::Not(refusal) = is_glance(&format!("rm {}", "字".repeat(1000))) else {
        panic!("rm is a glance")
    };
    assert_eq!(refusal.part.chars().count(), PART_LIMIT);
    assert!(refusal.part.ends_with('…'));
}

#[test]
fn worst_cases_end() {
    let n = COMMAND_LIMIT;
    let deep = 3000;
    let worst = [
        "a".repeat(n + 1),
        format!("echo {}", "a".repeat(n - 5)),
        "ls; ".repeat(n / 4),
        "ls | ".repeat(n / 5) + "ls",
        "echo $(ls); ".repeat(n / 12),
        "x=$y; y=$x; ".repeat(n / 12),
        format!("echo {}", "{a,b}".repeat(n / 6)),
        format!("echo {}ls{}", "$(echo ".repeat(deep), ")".repeat(deep)),
        format!("{}ls{}", "( ".repeat(deep), " )".repeat(deep)),
        format!("{}ls;{}", "if true; then ".repeat(deep), " fi;".repeat(deep)),
        format!("echo {}x{}", "${x:-".repeat(deep), "}".repeat(deep)),
        format!("echo $(({}1{}))", "(".repeat(deep), ")".repeat(deep)),
        format!("[[ {}a{} ]]", "( ".repeat(deep), " )".repeat(deep)),
        format!("{}ls", "command ".repeat(n / 9)),
        format!("{}ls", "xargs ".repeat(n / 7)),
        format!("{}ls", "time ".repeat(n / 6)),
        format!("{}ls", "! ".repeat(n / 3)),
        "cat <<A\n".repeat(n / 9),
        format!("sed '{}' f", "{".repeat(n - 20)),
        format!("awk '{}' f", "(".repeat(n - 20)),
        format!("find . {}", "-exec ls {} + ".repeat(n / 15)),
        "`".repeat(n),
        "$(".repeat(n / 2),
        "'\"".repeat(n / 2),
    ];
    for command in worst {
        let _ = is_glance(&command);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        let _ = is_glance(&text);
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let _ = is_glance(&pieces.concat());
    }

    #[test]
    fn no_mutation_of_a_command_line_makes_it_panic(
        index in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(PIECES),
        cut in 0_usize..3,
    ) {
        let _ = is_glance(&mutated(index.get::<String>(&EVERYDAY), at, piece, cut));
    }

    #[test]
    fn a_suffix_that_acts_makes_any_glance_a_no(
        index in any::<prop::sample::Index>(),
        suffix in prop::sample::select(ACTS),
    ) {
        let command = index.get::<String>(&EVERYDAY);
        // Behind a here-document's tag the suffix would be a line of its body.
        prop_assume!(!command.contains("<<E") && !command.contains("<<'E"));
        let acting = format!("{command}{suffix}");
        // Behind a comment on the last line it would be one.
        let last = command.lines().last().unwrap_or_default();
        prop_assume!(!last.contains(" #") || suffix.starts_with('\n'));
        prop_assert!(!is_glance(&acting).is_glance(), "{}", acting);
    }
}

/// Pieces of shell that change how what follows is read.
pub(crate) const PIECES: &[&str] = &[
    "ls",
    " ",
    "  ",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "((",
    "))",
    "[[",
    "]]",
    "[",
    "]",
    "!",
    "$",
    "$(",
    "${",
    "$((",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    " #",
    "<",
    ">",
    "<<",
    "<<<",
    "<(",
    ">(",
    "2>&1",
    "&>",
    "-",
    "--",
    "-o",
    "=",
    "x=",
    "*",
    "?",
    "~",
    ",",
    "..",
    "{a,b}",
    "a",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case ",
    "time ",
    "EOF",
    "<<EOF\n",
    "é",
    "字",
    "\t",
    "$x",
    "\"$x\"",
    "$'",
    "1",
    "%",
    "@",
    "^",
    "+",
];

/// What makes any command line act.
const ACTS: &[&str] = &[
    "; rm -rf x",
    " && rm x",
    " || rm x",
    "\nrm x",
    "\n\n rm x\n",
    " | sh",
    " | tee victim",
    " > victim",
    " >> victim",
    " &> victim",
    " 2> victim",
    " &",
    "& rm x",
    " & ls",
    "; x() { ls; }",
    "; exec ls",
    "; PATH=.",
    "\nwhile :; do ls; done",
    "; echo $(rm x)",
    "; echo `rm x`",
    "; cat <(rm x)",
    " | xargs rm",
    "\ncat <<E\n$(rm x)\nE\n",
    "; [ $(rm x) ]",
    "; (rm x)",
    "; { rm x; }",
    "; if rm x; then ls; fi",
    "; for i in $(rm x); do ls; done",
    "; echo ${x:=1}",
    "; trap 'rm x' EXIT",
    " >| victim",
    " <> victim",
];

/// A command line in which a piece replaces some characters.
pub(crate) fn mutated(command: &str, at: prop::sample::Index, piece: &str, cut: usize) -> String {
    let characters: Vec<char> = command.chars().collect();
    let at = at.index(characters.len() + 1);
    let head: String = characters.iter().take(at).collect();
    let tail: String = characters.iter().skip(at + cut).collect();
    format!("{head}{piece}{tail}")
}
