//! Searching in files.

use super::{Program, program};
use crate::glance::options::{Call, PATTERN_OPTIONS};
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    program("grep egrep fgrep ggrep")
        .flags("abcEFGhHiIlLnopPqrRsTUvVwxyzZuS")
        .valued("ABCdDefm")
        .long(
            "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case \
             no-ignore-case word-regexp line-regexp null-data no-messages invert-match max-count= \
             byte-offset line-number line-buffered with-filename no-filename label= only-matching \
             quiet silent binary-files= text directories= devices= recursive dereference-recursive \
             include= exclude= exclude-from= exclude-dir= files-without-match files-with-matches \
             count initial-tab null before-context= after-context= context= color=? colour=? \
             group-separator= no-group-separator unix-byte-offsets",
        )
        .numeric()
        .tame()
        .pattern()
        .then(greps_files),
    // `--pre` and `--hostname-bin` run programs, `-z` runs decompressors. A file name can name a program that is
    // installed, `--pre=rm`, but not with an ending.
    program("rg ripgrep")
        .flags("acFhHiIlLnNopPqsSuUvVwx0.")
        .valued("ABCdeEfgjmMrtT")
        .long(
            "after-context= before-context= context= byte-offset case-sensitive color= colors= column \
             no-column count count-matches crlf no-config debug no-ignore no-ignore-dot \
             no-ignore-exclude no-ignore-files no-ignore-global no-ignore-parent no-ignore-vcs \
             no-require-git encoding= engine= regexp= field-context-separator= field-match-separator= \
             file= files files-with-matches files-without-match fixed-strings no-fixed-strings follow \
             no-follow glob= iglob= glob-case-insensitive heading no-heading hidden no-hidden \
             ignore-case ignore-file= ignore-file-case-insensitive include-zero invert-match json \
             line-buffered line-number no-line-number line-regexp max-columns= max-columns-preview \
             max-count= max-depth= maxdepth= max-filesize= mmap no-mmap multiline multiline-dotall \
             no-messages no-unicode null null-data one-file-system only-matching passthru pcre2 \
             pcre2-version pretty quiet replace= smart-case sort= sortr= stats stop-on-nonmatch text \
             threads= trim type= type-list type-not= type-add= unrestricted vimgrep with-filename \
             no-filename word-regexp context-separator= binary path-separator=",
        )
        .takes_entries()
        .pattern()
        .then(searches_files),
    program("ag")
        .flags("acfghHiIlLnopqrRsSuUvwQ0")
        .valued("ABCm")
        .long(
            "ignore= ignore-dir= hidden nocolor color nogroup group column count files-with-matches \
             literal smart-case word-regexp depth= type= nobreak noheading hidden case-sensitive \
             ignore-case context= before= after= numbers nonumbers vimgrep stats cc cpp css go html \
             java js json markdown php python ruby rust shell sql swift ts xml yaml",
        )
        .then(searches_files),
    // `--pager` runs a program.
    program("ack")
        .flags("acfghHilLnoQsvwx1")
        .valued("ABCm")
        .long(
            "nocolor noheading count files-with-matches literal word-regexp ignore-case type= ignore-dir= \
             ignore-file= after-context= before-context= context= cc cpp css go html java js json php python \
             ruby rust shell sql swift ts xml yaml",
        )
        .then(searches_files),
    program("locate mlocate plocate")
        .flags("bceiwr0A")
        .valued("ln")
        .long("basename count existing ignore-case limit= regexp= wholename"),
    // Lines of code: counting only.
    program("tokei")
        .flags("fC")
        .valued("etso")
        .long("files exclude= type= sort= output= hidden no-ignore compact")
        .then(counts_files),
    program("scc cloc")
        .long("json csv md quiet by-file exclude-dir= include-lang= exclude-lang=")
        .then(counts_files),
];

/// `-D read` reads devices, and so does `-R` in a tree that holds some.
fn greps_files(call: &Call<'_>) -> Result<(), Reason> {
    let devices = call.options.iter().find(|(name, _)| matches!(*name, "D" | "devices"));
    if let Some((name, value)) = devices
        && value.as_ref().and_then(|value| value.exact()) != Some("skip")
    {
        return Err(call.option(name));
    }
    let patterns = usize::from(!call.has(PATTERN_OPTIONS));
    if call.has(&["r", "R", "recursive", "dereference-recursive"]) {
        return searches_files(call);
    }
    if call.has(&["V"]) { Ok(()) } else { names_files(call, patterns) }
}

/// The same for packed files: a pattern, and files behind it.
pub(super) fn greps_packed(call: &Call<'_>) -> Result<(), Reason> {
    names_files(call, usize::from(!call.has(&["e"])))
}

fn names_files(call: &Call<'_>, patterns: usize) -> Result<(), Reason> {
    if call.operands.len() <= patterns && !call.context.fed { Err(call.no_input()) } else { Ok(()) }
}

/// Below `/proc`, `/dev` and `/sys` are files without an end, and below `/` are those.
pub(super) fn searches_files(call: &Call<'_>) -> Result<(), Reason> {
    let patterns = usize::from(!(call.has(PATTERN_OPTIONS) || call.has(&["files"])));
    let places = call.operands.iter().skip(patterns);
    match places.clone().find(|place| call.leads_to_devices(place)) {
        Some(place) => Err(call.operand(place)),
        // It begins where the line has gone.
        None if places.count() == 0 && call.context.at_root => Err(call.operand(&Arg::Exact("/".to_owned()))),
        None => Ok(()),
    }
}

/// The same for a program that takes no pattern.
pub(super) fn counts_files(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|place| call.leads_to_devices(place)) {
        Some(place) => Err(call.operand(place)),
        None if call.operands.is_empty() && call.context.at_root => {
            Err(call.operand(&Arg::Exact("/".to_owned())))
        }
        None => Ok(()),
    }
}
