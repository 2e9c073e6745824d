//! Reading, cutting, counting and comparing text.

use super::numbers::small_widths;
use super::search::counts_files;
use super::{Program, program};
use crate::glance::languages::{awk, jq, sed};
use crate::glance::options::Call;
use crate::glance::paths::gives_bytes;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    program("cat gcat")
        .reads(1)
        .flags("AbeEnstTuv")
        .long("show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting")
        .tame(),
    program("tac").reads(1).flags("br").valued("s").long("before regex separator=").tame(),
    program("nl")
        .reads(1)
        .flags("p")
        .valued("bdfhilnsvw")
        .long(
            "body-numbering= number-format= number-width= starting-line-number= number-separator= \
             line-increment=",
        )
        .tame()
        .then(small_widths),
    program("bat batcat")
        .reads(1)
        .flags("ApnSu")
        .valued("lrH")
        .long(
            "plain number style= color= paging= language= line-range= highlight-line= theme= \
             decorations= wrap= show-all tabs=",
        )
        .then(runs_no_pager),
    // A count makes devices finite: `head -c 16 /dev/urandom`.
    program("head ghead")
        .reads(1)
        .flags("qvz")
        .valued("cn")
        .long("bytes= lines= quiet silent verbose zero-terminated")
        .numeric()
        .tame()
        .devices()
        .then(counts_bytes_of_devices),
    // `-f`, `-F`, `--follow`, `--retry` and `--pid` wait for more.
    program("tail gtail")
        .reads(1)
        .flags("qvzr")
        .valued("cn")
        .long("bytes= lines= quiet silent verbose zero-terminated")
        .numeric()
        .may_hang()
        .then(counts_in_options),
    program("wc gwc")
        .reads(1)
        .flags("clmwL")
        .long("bytes chars lines words max-line-length files0-from= total=")
        .tame(),
    program("cut gcut")
        .reads(1)
        .flags("nsz")
        .valued("bcdf")
        .long(
            "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= \
             zero-terminated",
        )
        .tame(),
    program("tr")
        .reads(usize::MAX)
        .flags("cCdst")
        .long("complement delete squeeze-repeats truncate-set1")
        .tame(),
    program("paste").reads(1).flags("sz").valued("d").long("delimiters= serial zero-terminated").tame(),
    program("column")
        .reads(1)
        .flags("texJLnrd")
        .valued("csoNRHTWO")
        .long(
            "table separator= output-separator= table-columns= table-right= table-hide= columns= json \
             fillrows output-width=",
        )
        .tame(),
    program("fold").reads(1).flags("bs").valued("w").long("bytes spaces width=").tame(),
    program("fmt")
        .reads(1)
        .flags("cstu")
        .valued("wgp")
        .long("width= split-only uniform-spacing")
        .numeric()
        .tame(),
    program("pr")
        .reads(1)
        .flags("adcfFmrtT")
        .valued("hlowN")
        .glued("nesi")
        .numeric()
        .tame()
        .then(small_widths),
    // Pages of a manual come through it.
    program("col").reads(usize::MAX).flags("bfhpx").tame(),
    program("rev").reads(1).flags("0").tame(),
    program("expand unexpand")
        .reads(1)
        .flags("ai")
        .valued("t")
        .long("all initial tabs= first-only")
        .tame()
        .then(small_widths),
    program("join")
        .flags("iz")
        .valued("aejotv12")
        .long("ignore-case header check-order nocheck-order zero-terminated")
        .tame(),
    program("comm")
        .flags("123iz")
        .long("check-order nocheck-order output-delimiter= total zero-terminated")
        .tame(),
    // The second operand of `uniq` is where it writes.
    program("uniq guniq")
        .reads(1)
        .flags("cdDiuz")
        .valued("fsw")
        .long(
            "count repeated all-repeated=? skip-fields= group=? ignore-case skip-chars= unique \
             zero-terminated check-chars=",
        )
        .at_most(1),
    // `-o` writes, `--compress-program` runs, `-T` chooses where temporary files go.
    program("sort gsort").reads(1).flags("bdfghiMnRrVcCmsuz").valued("ktS").long(
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort \
             human-numeric-sort ignore-nonprinting month-sort numeric-sort random-sort reverse \
             version-sort sort= check=? key= field-separator= merge stable unique zero-terminated \
             buffer-size= parallel= batch-size= files0-from= debug",
    ),
    program("tsort").reads(1).tame(),
    // `-o` writes, `-r` goes on for ever.
    program("shuf")
        .flags("ez")
        .valued("ni")
        .long("echo input-range= head-count= zero-terminated")
        .then(shuffles_a_few),
    program("diff gdiff colordiff")
        .reads(1)
        .flags("abBdeEilnNpqrsTtuwyZc")
        .valued("UCIFWxXSD")
        .long(
            "normal brief report-identical-files context=? unified=? ed rcs side-by-side width= \
             left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs \
             initial-tab tabsize= suppress-blank-empty recursive no-dereference new-file \
             unidirectional-new-file ignore-file-name-case starting-file= exclude= exclude-from= \
             ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change \
             ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr \
             minimal speed-large-files color=? line-format= from-file= to-file=",
        )
        .tame()
        .then(compares_trees),
    // `-o` merges into a file, `--diff-program` runs one.
    program("sdiff").flags("abBdEHilstWZ").valued("wI").long(
        "ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space \
             ignore-blank-lines text left-column suppress-common-lines expand-tabs tabsize= width= minimal",
    ),
    program("cmp")
        .reads(2)
        .flags("bls")
        .valued("in")
        .long("print-bytes ignore-initial= verbose bytes= quiet silent")
        .tame(),
    program("diffstat").reads(1).flags("bclmqrtu").valued("npw").tame(),
    program("diff3").flags("AeEimxX3Ta").tame(),
    program("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum")
        .reads(1)
        .flags("bctwzr")
        .valued("al")
        .long(
            "binary check tag text zero ignore-missing quiet status strict warn algorithm= length= \
             untagged raw base64",
        )
        .tame(),
    program("md5 shasum").reads(1).flags("bctqrpUw0s").valued("a").tame(),
    // The second operand is where `xxd` writes; `-r` turns text into bytes.
    program("xxd")
        .reads(1)
        .flags("abeEipuC")
        .valued("cglosnR")
        .words("-ps -plain -bits -include -postscript -uppercase")
        .at_most(1),
    // A count makes devices finite here too: `od -N 4 /dev/urandom`.
    program("od")
        .reads(1)
        .devices()
        .then(counts_bytes_of_devices)
        .flags("abcdfilosxv")
        .valued("AjNtwS")
        .long("address-radix= skip-bytes= read-bytes= format= output-duplicates width=? endian=")
        .tame(),
    program("hexdump hd").reads(1).flags("bcCdovx").valued("efns").tame(),
    program("strings")
        .reads(1)
        .flags("aof")
        .valued("nte")
        .long("all bytes= radix= print-file-name encoding=")
        .numeric()
        .tame(),
    // BSD's `-o` writes a file.
    program("base64 base32 basenc gbase64")
        .reads(1)
        .flags("di")
        .valued("w")
        .long("decode ignore-garbage wrap= base64 base64url base32 base16"),
    program("iconv").flags("lcs").valued("ft").long("from-code= to-code= list silent").then(converts_files),
    program("sed gsed")
        .flags("nErsuz")
        .valued("e")
        .long(
            "quiet silent regexp-extended expression= separate unbuffered null-data posix debug \
             sandbox",
        )
        .then(sed::judge),
    // Behind the program text there are no options.
    program("awk gawk mawk nawk").valued("Fv").long("field-separator= assign=").stops().then(awk::judge),
    // `-f` runs a filter from a file, which can only compute.
    program("jq gojq")
        .flags("rcsnejaSMCR")
        .long(
            "raw-output compact-output slurp null-input exit-status join-output ascii-output \
             sort-keys monochrome-output color-output raw-input tab indent= arg== argjson== args \
             jsonargs stream seq unbuffered raw-output0 slurpfile== rawfile==",
        )
        .may_hang()
        .then(jq::judge),
    // `-i` writes, `-s` splits into files.
    program("yq")
        .flags("rcMCPNne")
        .valued("opI")
        .long(
            "output-format= input-format= prettyPrint colors no-colors no-doc raw-output \
             compact-output unwrapScalar=? indent= exit-status null-input",
        )
        .then(jq::judge_yq),
    program("look").flags("df").tame(),
    program("envsubst").reads(usize::MAX).tame(),
];

/// `tail +1f FILE` is an old way to say `tail -n +1 -f FILE`.
fn counts_in_options(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.shown().starts_with('+')) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// `head -c 16 /dev/urandom` ends, `head /dev/zero` looks for a newline for ever, and `head -c -1 /dev/zero`
/// for the end.
fn counts_bytes_of_devices(call: &Call<'_>) -> Result<(), Reason> {
    if call.name == "od" {
        small_widths(call)?;
    }
    let device = call.operands.iter().find(|arg| arg.may_be_device());
    // The last count holds.
    let count = call.options.iter().rfind(|(name, _)| matches!(*name, "c" | "bytes" | "N" | "read-bytes"));
    let few = count.and_then(|(_, value)| value.as_ref()?.exact()).is_some_and(is_a_few_bytes);
    match device {
        Some(arg) if !few || !arg.exact().is_some_and(gives_bytes) => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

/// At most some megabytes: `16`, `512K`, `1M`.
fn is_a_few_bytes(count: &str) -> bool {
    let digits = count.trim_end_matches(['k', 'K', 'M', 'B']);
    let most = match count.get(digits.len()..) {
        Some("") => 7,
        Some("k" | "K" | "kB" | "KB") => 4,
        Some("M" | "MB") => 1,
        _ => 0,
    };
    (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `--paging=always` runs what the configuration names.
fn runs_no_pager(call: &Call<'_>) -> Result<(), Reason> {
    let never = |value: &Option<Arg>| value.as_ref().and_then(Arg::exact) == Some("never");
    match call.options.iter().find(|(name, value)| *name == "paging" && !never(value)) {
        Some(_) => Err(call.option("--paging")),
        None => Ok(()),
    }
}

/// Lines of a file; or numbers, of which few are printed or there are not many.
fn shuffles_a_few(call: &Call<'_>) -> Result<(), Reason> {
    let value = |names: [&str; 2]| {
        let mut given = call.options.iter().filter(|(name, _)| names.contains(name));
        given.next_back().and_then(|(_, value)| value.as_ref())
    };
    let few = |arg: &Arg| arg.exact().is_some_and(|text| text.len() <= 6);
    let Some(range) = value(["i", "input-range"]) else {
        let named = !call.operands.is_empty() || call.has(&["e", "echo"]);
        return if named || call.context.fed { Ok(()) } else { Err(call.no_input()) };
    };
    let ends = range.exact().unwrap_or_default().split('-').all(|end| end.len() <= 6);
    let small = match range {
        Arg::Exact(_) => ends,
        Arg::Open(open) => !open.origin.large,
    };
    if small || value(["n", "head-count"]).is_some_and(few) { Ok(()) } else { Err(call.operand(range)) }
}

fn converts_files(call: &Call<'_>) -> Result<(), Reason> {
    let named = !call.operands.is_empty() || call.has(&["l", "list"]);
    if named || call.context.fed { Ok(()) } else { Err(call.no_input()) }
}

/// `-r` reads what is below both directories.
fn compares_trees(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["r", "recursive"]) { counts_files(call) } else { Ok(()) }
}
