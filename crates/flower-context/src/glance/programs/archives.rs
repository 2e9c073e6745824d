//! Archives and images: listing and testing, never unpacking.

use super::search::greps_packed;
use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

pub(super) const PROGRAMS: &[Program] = &[
    // `-T FILE` reads options from it; `-f host:file` connects; `-I`, `--to-command`,
    // `--checkpoint-action`, `--use-compress-program`, `--rsh-command` run things.
    program("tar gtar bsdtar")
        .flags("tvxzjJaOpPR")
        .valued("fCX")
        .long(
            "list extract get to-stdout file= verbose gzip gunzip ungzip bzip2 xz zstd lzma auto-compress directory= \
             wildcards no-wildcards exclude= exclude-from= strip-components= full-time utc \
             numeric-owner show-transformed-names occurrence=? block-number",
        )
        .then(lists_archive),
    program("unzip").flags("cClpvqtZ1sz").then(lists_zip),
    program("zipinfo").flags("12hlmMstTvzC").tame(),
    program("zcat gzcat bzcat xzcat zstdcat lzcat lz4cat").reads(1).flags("fqv").long("force quiet verbose"),
    program("zgrep zegrep zfgrep bzgrep xzgrep")
        .then(greps_packed)
        .flags("cEFGhHilLnoPqsvwx")
        .valued("ABCem")
        .numeric()
        .long("ignore-case count line-number color=?"),
    // `-d` wins over an earlier `-t`; only with `-c` the file stays.
    program("gzip bzip2 xz zstd")
        .reads(1)
        .flags("ltvqdc")
        .long("list test verbose quiet stdout decompress")
        .then(tests_or_lists),
    program("gunzip bunzip2 unxz unzstd")
        .reads(1)
        .flags("cfqtv")
        .long("stdout to-stdout test quiet verbose")
        .then(unpacks_to_output),
    program("ar").flags("tvpO").then(ar_lists),
    program("jar").flags("tvf").long("list verbose file=").then(jar_lists),
    program("cpio").reads(usize::MAX).flags("itvnc").long("list verbose quiet extract").then(cpio_lists),
    program("dpkg-deb").flags("cIf").long("contents info field show").then(deb_lists),
    program("7z 7za 7zr").then(seven_lists),
    program("unrar").then(rar_lists),
    program("lsinitramfs").flags("l").tame(),
    // Object files. `--plugin` loads code, `@file` holds options.
    program("nm")
        .flags("aACDgnopPrSuUvl")
        .valued("tf")
        .long(
            "demangle=? dynamic extern-only undefined-only defined-only size-sort numeric-sort \
             print-size format= radix=",
        )
        .then(no_response_file),
    program("objdump")
        .flags("afphxdDSsgGetTrRCwzl")
        .valued("jMmb")
        .long(
            "disassemble=? disassemble-all headers file-headers section-headers all-headers syms \
             dynamic-syms reloc dynamic-reloc section= source demangle=? no-show-raw-insn \
             start-address= stop-address= full-contents private-headers archive-headers info macho \
             dylibs-used",
        )
        .then(no_response_file),
    program("readelf")
        .flags("ahelSdtgsnruVADIWwcT")
        .valued("xpR")
        .long(
            "all file-header program-headers section-headers symbols syms notes relocs dynamic \
             version-info wide string-dump= hex-dump= debug-dump=? dyn-syms",
        )
        .then(no_response_file),
    program("size").flags("ABGdoxt").long("format= radix= common totals").then(no_response_file),
    program("otool").flags("fahlLDtdorSTMHGvVIs").tame(),
    program("addr2line c++filt")
        .reads(1)
        .flags("aCfipsn_")
        .valued("ej")
        .long("exe= functions inlines pretty-print demangle=? basenames addresses")
        .tame(),
    // Pictures and media.
    program("exiftool").flags("aGsSnjT").numeric().then(named_files),
    program("ffprobe")
        .words(
            "-v -hide_banner -show_format -show_streams -show_entries -of -print_format -i \
             -select_streams -count_frames -loglevel",
        )
        .then(named_files),
    program("pdfinfo").words("-box -meta -rawdates -isodates").tame(),
    program("pdftotext")
        .words("-layout -raw -nopgbrk -q -enc -htmlmeta")
        .valued("fl")
        .devices()
        .then(prints_text),
];

/// It lists, or writes what it unpacks to its output. The old form has no dash: `tar tzf x.tgz`.
fn lists_archive(call: &Call<'_>) -> Result<(), Reason> {
    let first = call.operands.first().and_then(|arg| arg.exact()).unwrap_or_default();
    let modes = ["t", "list", "x", "extract", "get"];
    let old = !call.has(&modes)
        && first.contains(['t', 'x'])
        && first.bytes().all(|byte| b"tvxzjJfO".contains(&byte));
    let has = |letter: char, options: &[&str]| call.has(options) || (old && first.contains(letter));
    let unpacks = has('x', &["x", "extract", "get"]);
    // Without an archive the first operand may be a mode after all: `tar rf a.tar -t`.
    if let Some(mode) = call.operands.first().filter(|_| !old && !call.has(&["f", "file"])) {
        return Err(call.operand(mode));
    }
    if unpacks != has('O', &["O", "to-stdout"]) || (unpacks == has('t', &["t", "list"])) {
        return Err(call.needs("-t"));
    }
    // Where no archive is named it is what is read.
    let named = call.has(&["f", "file"]) || (old && first.contains('f'));
    let dash = |arg: Option<&&Arg>| arg.is_some_and(|arg| arg.exact() == Some("-"));
    if !call.context.fed && (!named || (old && dash(call.operands.get(1)))) {
        return Err(call.no_input());
    }
    let local = |arg: &Arg| {
        arg.exact().is_some_and(|path| !path.contains(':'))
            || matches!(arg, Arg::Open(open) if open.start <= Class::Name)
    };
    let named = call.options.iter().filter(|(name, _)| matches!(*name, "f" | "file"));
    let mut archives = named.filter_map(|(_, value)| value.as_ref());
    let behind = if old { call.operands.get(1).copied() } else { None };
    match archives.find(|archive| !local(archive)).or(behind.filter(|archive| !local(archive))) {
        Some(archive) => Err(call.operand(archive)),
        None => Ok(()),
    }
}

fn lists_zip(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["l", "v", "t", "Z", "z", "p", "c"]) { Ok(()) } else { Err(call.needs("-l")) }
}

fn unpacks_to_output(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["c", "stdout", "to-stdout", "t", "test"]) { Ok(()) } else { Err(call.needs("-c")) }
}

/// `jar tf x.jar`, `jar -tf x.jar`; `@file` holds options.
fn jar_lists(call: &Call<'_>) -> Result<(), Reason> {
    no_response_file(call)?;
    let first = call.operands.first().and_then(|arg| arg.exact()).unwrap_or_default();
    let old = first.contains('t') && first.bytes().all(|byte| b"tvf".contains(&byte));
    // A first word without a dash is the mode, whatever options follow.
    let is_file = first.contains(['.', '/']);
    if old || (is_file && call.has(&["t", "list"])) { Ok(()) } else { Err(call.needs("-t")) }
}

fn cpio_lists(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["t", "list"]) { Ok(()) } else { Err(call.needs("-t")) }
}

fn deb_lists(call: &Call<'_>) -> Result<(), Reason> {
    if call.options.is_empty() { Err(call.needs("-c")) } else { Ok(()) }
}

fn tests_or_lists(call: &Call<'_>) -> Result<(), Reason> {
    let unpacks = call.has(&["d", "decompress"]);
    if call.has(&["c", "stdout"]) || (!unpacks && call.has(&["l", "t", "list", "test"])) {
        Ok(())
    } else {
        Err(call.needs("-l"))
    }
}

fn first_is(call: &Call<'_>, verbs: &[&str]) -> Result<(), Reason> {
    match call.operands.first() {
        Some(arg) if arg.exact().is_some_and(|text| verbs.contains(&text)) => Ok(()),
        Some(arg) => Err(call.operand(arg)),
        None => Err(Reason::Subcommand { program: call.name.clone(), subcommand: String::new() }),
    }
}

fn ar_lists(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["t", "p"]) { Ok(()) } else { first_is(call, &["t", "tv", "p"]) }
}

fn seven_lists(call: &Call<'_>) -> Result<(), Reason> {
    first_is(call, &["l", "t"])
}

fn rar_lists(call: &Call<'_>) -> Result<(), Reason> {
    first_is(call, &["l", "lb", "v", "vb", "t"])
}

/// `pdftotext x.pdf -`; without the dash it writes beside the source.
fn prints_text(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.as_slice() {
        [file, output] if output.exact() == Some("-") && !file.may_be_device() => Ok(()),
        _ => Err(call.needs("-")),
    }
}

/// Plain names of files: some programs read `|command`, `@file` and `scheme:` in their names.
fn named_files(call: &Call<'_>) -> Result<(), Reason> {
    let plain = |text: &str| !text.contains([':', '|', '@', '=', '<', '>']);
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(plain)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn no_response_file(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.shown().starts_with('@')) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}
