//! `git`: the sub-commands that read.
//!
//! Pagers run only on a terminal. Drivers that the repository's own configuration names (`textconv`,
//! external diffs, `core.fsmonitor`) run as they always do for whoever works in it; what a command line may
//! not do is name one itself: `-c`, `--config-env`, `--exec-path`, `--ext-diff`, `--textconv`, `-O`,
//! `--output` are refused.

use super::numbers::pads_little;
use super::search::{counts_files, searches_files};
use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

/// Options of everything that can print a diff, after which `--output` could write one.
macro_rules! diff_options {
    () => {
        "patch no-patch unified= raw patch-with-raw indent-heuristic no-indent-heuristic minimal \
             patience histogram anchored= diff-algorithm= stat=? stat-width= stat-name-width= \
             stat-count= compact-summary numstat shortstat dirstat=? cumulative summary \
             patch-with-stat name-only name-status submodule=? color=? no-color color-moved=? \
             no-color-moved color-moved-ws= word-diff=? word-diff-regex= color-words=? no-renames \
             check ws-error-highlight= full-index binary abbrev=? break-rewrites=? find-renames=? \
             find-copies=? find-copies-harder irreversible-delete diff-filter= pickaxe-all \
             pickaxe-regex relative=? no-relative text ignore-cr-at-eol ignore-space-at-eol \
             ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= \
             inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv \
             ignore-submodules=? src-prefix= dst-prefix= no-prefix default-prefix line-prefix= \
             ita-invisible-in-index find-object= skip-to= rotate-to= cc combined-all-paths merge-base \
             no-index cached staged remerge-diff output-indicator-new= output-indicator-old= \
             output-indicator-context= "
    };
}

/// Options of everything that walks commits.
macro_rules! log_options {
    () => {
        "max-count= skip= since= after= until= before= since-as-filter= author= committer= \
             grep-reflog= grep= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp \
             fixed-strings perl-regexp merges no-merges min-parents= max-parents= no-min-parents \
             no-max-parents first-parent exclude-first-parent-only not all branches=? tags=? \
             remotes=? glob= exclude= exclude-hidden= reflog alternate-refs single-worktree \
             ignore-missing cherry-mark cherry-pick left-only right-only cherry walk-reflogs merge \
             boundary simplify-by-decoration show-pulls full-history dense sparse simplify-merges \
             ancestry-path=? date-order author-date-order topo-order reverse no-walk=? do-walk \
             pretty=? format= abbrev-commit no-abbrev-commit oneline encoding= expand-tabs=? \
             no-expand-tabs notes=? no-notes show-notes=? relative-date date= parents children \
             left-right graph no-graph show-linear-break=? follow decorate=? no-decorate \
             decorate-refs= decorate-refs-exclude= clear-decorations source mailmap no-mailmap \
             use-mailmap log-size full-diff root no-color-moved-ws diff-merges= no-diff-merges count \
             no-commit-id stdin "
    };
}

pub(super) const PROGRAMS: &[Program] = &[program("git")
    .flags("P")
    .valued("C")
    .long(
        "no-pager no-optional-locks no-replace-objects git-dir= work-tree= bare literal-pathspecs \
             glob-pathspecs noglob-pathspecs icase-pathspecs namespace=",
    )
    .probes("-v version -h --exec-path --html-path --man-path --info-path")
    .subcommands(SUBCOMMANDS)
    .asked(
        "add am apply archive bisect bundle checkout cherry-pick clean clone commit difftool fetch \
             filter-branch format-patch fsck gc init lfs maintenance merge mergetool mv notes pull push rebase \
             replace reset restore revert rm sparse-checkout stash submodule switch tag update-index worktree",
    )];

const SUBCOMMANDS: &[Program] = &[
    program("status")
        .flags("sbvz")
        .glued("uM")
        .long(
            "short branch show-stash porcelain=? long verbose untracked-files=? ignore-submodules=? \
             ignored=? column=? no-column ahead-behind no-ahead-behind renames no-renames \
             find-renames=? null",
        )
        .tame(),
    program("log whatchanged")
        .takes_ranges()
        .flags("pusqzwbaRtrmcgiEFWPD")
        .valued("nSGIL")
        .glued("UMCBXl")
        .numeric()
        .long(concat!(diff_options!(), log_options!()))
        .then(formats_plainly),
    program("show")
        .takes_ranges()
        .flags("pusqzwbaRtrmcgiEFWPD")
        .valued("nSGIL")
        .glued("UMCBXl")
        .numeric()
        .long(concat!(diff_options!(), log_options!()))
        .then(formats_plainly),
    program("diff")
        .takes_ranges()
        .flags("puszwbaRtrmcWq0123D")
        .valued("SGI")
        .glued("UMCBXl")
        .long(concat!(diff_options!(), "base ours theirs "))
        .then(reads_repository),
    program("diff-tree diff-index diff-files")
        .takes_ranges()
        .flags("puszwbaRtrmcWqvD")
        .valued("SGI")
        .glued("UMCBXl")
        .long(concat!(diff_options!(), log_options!())),
    program("range-diff")
        .takes_ranges()
        .flags("pusw")
        .glued("UMCX")
        .long(concat!(diff_options!(), "creation-factor= no-dual-color dual-color left-only right-only ")),
    program("shortlog")
        .takes_ranges()
        .flags("nsecpi")
        .glued("w")
        .long(concat!("numbered summary email group= ", log_options!()))
        .numeric(),
    // It takes `--output` as all walkers of commits do.
    program("blame annotate").flags("bltfnspewc").valued("LS").glued("MC").long(
        "root show-stats progress no-progress score-debug show-name show-number porcelain \
             line-porcelain show-email minimal ignore-rev= ignore-revs-file= color-lines color-by-age \
             abbrev=? since= date= incremental encoding= first-parent reverse=?",
    ),
    program("grep")
        .flags("iIwvhHEGPFnlLzocpWraq")
        .valued("ABCefm")
        .long(
            "cached untracked no-index exclude-standard no-exclude-standard recurse-submodules text \
             ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp \
             fixed-strings line-number column files-with-matches name-only files-without-match null \
             only-matching count color=? no-color break heading show-function after-context= \
             before-context= context= function-context max-count= threads= and or not all-match quiet \
             max-depth= recursive no-recursive no-textconv",
        )
        .numeric()
        .then(greps_repository),
    program("ls-files")
        .flags("cdmostkuzvfi")
        .valued("xX")
        .long(
            "cached deleted modified others ignored stage unmerged killed directory \
             no-empty-directory eol deduplicate exclude= exclude-from= exclude-per-directory= \
             exclude-standard error-unmatch with-tree= full-name recurse-submodules abbrev=? debug \
             format= sparse resolve-undo",
        )
        .tame(),
    program("ls-tree")
        .flags("drtlz")
        .long("long name-only name-status object-only full-name full-tree abbrev=? format=")
        .tame(),
    program("rev-parse")
        .flags("q")
        .long(
            "verify quiet short=? abbrev-ref=? symbolic symbolic-full-name all branches=? tags=? \
             remotes=? show-toplevel show-prefix show-cdup git-dir git-common-dir absolute-git-dir \
             is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository \
             show-superproject-working-tree git-path= resolve-git-dir= path-format= local-env-vars \
             since= after= until= before= revs-only no-revs flags no-flags default= disambiguate= not \
             show-object-format=? show-ref-format end-of-options",
        )
        .tame(),
    program("rev-list")
        .takes_ranges()
        .flags("gi")
        .valued("n")
        .numeric()
        .long(concat!(
            log_options!(),
            "header objects objects-edge no-object-names disk-usage=? bisect-all filter= no-filter \
             abbrev=? no-abbrev unpacked timestamp show-pulls quiet in-commit-order"
        ))
        .then(formats_plainly),
    program("describe")
        .long(
            "dirty=? broken=? all tags contains abbrev= candidates= exact-match debug long match= \
             exclude= always first-parent",
        )
        .tame(),
    program("name-rev").long("tags refs= exclude= all name-only no-undefined always").tame(),
    program("merge-base").flags("a").long("all octopus is-ancestor independent fork-point").tame(),
    program("cat-file")
        .flags("tspe")
        .long(
            "batch=? batch-check=? batch-all-objects unordered buffer follow-symlinks \
             allow-unknown-type mailmap use-mailmap no-mailmap",
        )
        .then(names_objects),
    program("show-ref")
        .flags("qsd")
        .long("head heads tags branches dereference hash=? verify abbrev=? quiet exists")
        .tame(),
    program("for-each-ref")
        .long(
            "count= sort= format= shell perl python tcl color=? points-at= merged=? no-merged=? \
             contains=? no-contains=? ignore-case include-root-refs exclude=",
        )
        .tame()
        .then(formats_plainly),
    program("show-branch")
        .flags("ar")
        .glued("g")
        .long(
            "all remotes current topo-order date-order sparse more= list independent merge-base \
             no-name sha1-name topics color=? no-color reflog=?",
        )
        .tame(),
    program("cherry").flags("v").long("abbrev=? verbose").tame(),
    program("count-objects").flags("vH").long("verbose human-readable").tame(),
    program("check-ignore").flags("qvnz").long("quiet verbose non-matching no-index stdin").tame(),
    program("check-attr").flags("az").long("all cached source= stdin").tame(),
    program("check-ref-format")
        .long("branch allow-onelevel no-allow-onelevel refspec-pattern normalize")
        .tame(),
    program("check-mailmap").tame(),
    program("var").flags("l").at_most(1).tame(),
    program("version").long("build-options").tame(),
    // `-w` writes the object.
    program("hash-object").valued("t").long("no-filters stdin"),
    program("branch")
        .flags("arvlqi")
        .long(
            "list all remotes verbose show-current merged=? no-merged=? contains=? no-contains=? \
             points-at= sort= format= color=? no-color column=? no-column abbrev= no-abbrev \
             ignore-case",
        )
        .then(lists_branches),
    program("tag")
        .flags("li")
        .glued("n")
        .long(
            "list sort= format= color=? column=? no-column contains=? no-contains=? merged=? \
             no-merged=? points-at= ignore-case",
        )
        .then(lists_tags),
    program("stash").subcommands(STASH),
    program("remote")
        .flags("v")
        .long("verbose")
        .subcommands(&[
            program("get-url").long("push all"),
            // It asks the remote, and ends when that has answered.
            program("show").flags("n").at_most(1).then(names_remote),
        ])
        .bare(),
    // `--upload-pack` runs a program, and so may a URL.
    program("ls-remote")
        .flags("htq")
        .long("heads branches tags refs quiet exit-code symref sort= get-url")
        .then(names_remote),
    program("help").flags("agc").long("all guides config no-verbose").at_most(1),
    program("archive").flags("l").long("list").at_most(0).then(lists_formats),
    program("patch-id").reads(usize::MAX).long("stable unstable verbatim"),
    program("stripspace").reads(usize::MAX).flags("sc").long("strip-comments comment-lines"),
    program("verify-pack").flags("vs").long("verbose stat-only"),
    program("rerere").subcommands(&[program("status diff remaining").at_most(0)]),
    program("interpret-trailers")
        .reads(1)
        .long("parse only-trailers only-input unfold no-divider")
        .then(parses_trailers),
    program("worktree").subcommands(&[program("list").flags("vz").long("verbose porcelain").at_most(0)]),
    program("submodule")
        .flags("q")
        .long("quiet")
        .subcommands(&[
            program("status").flags("q").long("cached recursive quiet"),
            program("summary").flags("n").long("cached files summary-limit="),
        ])
        .bare(),
    program("notes").long("ref=").subcommands(&[program("list"), program("show")]).bare(),
    program("reflog").flags("pq").valued("n").numeric().long(log_options!()).then(reads_reflog),
    program("bisect").subcommands(&[program("log").at_most(0)]),
    // Two operands set the reference.
    program("symbolic-ref").flags("q").long("quiet short recurse no-recurse").at_most(1),
    program("config")
        .flags("lz")
        .valued("f")
        .long(
            "get get-all get-regexp get-urlmatch list global local system worktree file= blob= type= \
             bool int path bool-or-int null name-only show-origin show-scope includes no-includes \
             default= all regexp value= fixed-value",
        )
        .then(reads_configuration),
    program("apply")
        .reads(1)
        .flags("Rvz")
        .valued("pC")
        .long(
            "check stat numstat summary reverse directory= cached index verbose recount \
             ignore-space-change ignore-whitespace unidiff-zero",
        )
        .then(applies_nothing),
    program("clean").flags("ndxXq").valued("e").long("dry-run exclude= quiet").then(cleans_nothing),
    program("sparse-checkout").subcommands(&[program("list").at_most(0)]),
    program("lfs").subcommands(&[
        program("ls-files").flags("lsand").long("long size all name-only"),
        program("status").flags("ps").long("porcelain short json"),
        program("env version"),
    ]),
    program("bundle").subcommands(&[program("list-heads"), program("verify").flags("q").long("quiet")]),
];

const STASH: &[Program] = &[
    program("list").flags("p").valued("n").numeric().long(concat!(diff_options!(), log_options!())),
    program("show")
        .flags("puw")
        .glued("UM")
        .long(concat!(diff_options!(), "include-untracked only-untracked no-include-untracked ")),
];

/// `%G?` and `%(signature)` run the program that checks signatures, and that may fetch keys.
fn formats_plainly(call: &Call<'_>) -> Result<(), Reason> {
    pads_little(call)?;
    let formats = call.options.iter().filter(|(name, _)| matches!(*name, "format" | "pretty"));
    let checks = |text: &str| text.contains("%G") || text.contains("%(signature");
    match formats.filter_map(|(_, value)| value.as_ref()).find(|value| value.exact().is_some_and(checks)) {
        Some(value) => Err(call.operand(value)),
        None => Ok(()),
    }
}

/// `--batch` reads the names of the objects.
fn names_objects(call: &Call<'_>) -> Result<(), Reason> {
    let reads = call.has(&["batch", "batch-check"]) && !call.has(&["batch-all-objects"]);
    if reads && !call.context.fed { Err(call.no_input()) } else { Ok(()) }
}

/// `--no-index` reads files as `grep -r` and `diff -r` do.
fn greps_repository(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["no-index"]) { searches_files(call) } else { Ok(()) }
}

fn reads_repository(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["no-index"]) { counts_files(call) } else { Ok(()) }
}

/// Whether a word can be a pattern and no name.
fn is_pattern(arg: &Arg) -> bool {
    arg.exact().is_some_and(|text| text.contains(['*', '?']))
}

/// A name alone makes a branch, whatever `-v` or `-a` stands before it; `-l` made one in old versions.
fn lists_branches(call: &Call<'_>) -> Result<(), Reason> {
    formats_plainly(call)?;
    let lists = call.has(&["list", "merged", "no-merged", "contains", "no-contains", "points-at"]);
    let patterns = call.has(&["l"]);
    match call.operands.iter().find(|arg| !(lists || (patterns && is_pattern(arg)))) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn lists_tags(call: &Call<'_>) -> Result<(), Reason> {
    formats_plainly(call)?;
    let lists = call.has(&["l", "list", "n", "merged", "no-merged", "contains", "no-contains", "points-at"]);
    match call.operands.first() {
        Some(arg) if !lists => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

/// The name of a remote, and no URL or path.
fn names_remote(call: &Call<'_>) -> Result<(), Reason> {
    let named = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    match call.operands.first() {
        Some(arg) if !arg.exact().is_some_and(named) => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

fn lists_formats(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["l", "list"]) { Ok(()) } else { Err(call.needs("--list")) }
}

/// Without `--parse` the configuration may name commands that make trailers.
fn parses_trailers(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["parse"]) { Ok(()) } else { Err(call.needs("--parse")) }
}

/// `git reflog expire`, `delete`, `drop` and whatever comes next are told from references by what
/// references look like.
fn reads_reflog(call: &Call<'_>) -> Result<(), Reason> {
    formats_plainly(call)?;
    let reference = |text: &str| {
        matches!(text, "show" | "list" | "exists" | "main" | "master" | "HEAD" | "stash")
            || text.starts_with("HEAD@{")
            || text.contains('/')
            || text.contains('@')
    };
    match call.operands.first() {
        Some(arg) if !arg.exact().is_some_and(reference) => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

/// One name asks for its value, a second operand sets it.
fn reads_configuration(call: &Call<'_>) -> Result<(), Reason> {
    let asks = call.has(&["get", "get-all", "get-regexp", "get-urlmatch", "l", "list"]);
    let verb =
        call.operands.first().and_then(|arg| arg.exact()).is_some_and(|text| matches!(text, "get" | "list"));
    if asks || verb {
        return Ok(());
    }
    // A name has a dot in it; `edit` has none.
    match call.operands.as_slice() {
        [] => Err(call.needs("--list")),
        [name] if name.exact().is_some_and(|name| name.contains('.')) => Ok(()),
        [name] => Err(call.operand(name)),
        [_, value, ..] => Err(call.operand(value)),
    }
}

fn applies_nothing(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["check", "stat", "numstat", "summary"]) { Ok(()) } else { Err(call.needs("--check")) }
}

fn cleans_nothing(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["n", "dry-run"]) { Ok(()) } else { Err(call.needs("--dry-run")) }
}
