//! Names, sizes and kinds of files.

use super::numbers::pads_little;
use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;

pub(super) const PROGRAMS: &[Program] = &[
    program("ls dir vdir gls")
        .flags("aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOyW")
        .valued("IwT")
        .long(
            "all almost-all author escape block-size= ignore-backups color=? directory dired \
             classify=? file-type format= full-time group-directories-first no-group human-readable \
             si dereference dereference-command-line hide= hyperlink=? indicator-style= inode ignore= \
             kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name \
             quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context \
             zero",
        )
        .tame()
        .devices(),
    program("eza exa lsd")
        .flags("1lGxFRTaAdrDfsbBgHhimMnStuUXo@Z")
        .valued("LI")
        .long(
            "oneline long grid across recurse tree level= all git git-ignore header icons=? color=? \
             no-permissions no-user no-time sort= reverse group-directories-first only-dirs \
             only-files total-size time-style= classify ignore-glob=",
        )
        .tame()
        .devices(),
    // `-o FILE` writes, `-R` runs itself and writes.
    program("tree")
        .flags("adflxpsuhgDFqNQACSinrtcUvXJ")
        .valued("LPIHT")
        .long(
            "du inodes device si timefmt= noreport dirsfirst filesfirst filelimit= gitignore gitfile= \
             ignore-case matchdirs metafirst prune charset= nolinks sort=? info infofile= noclasses \
             fromfile",
        )
        .then(lists_what_it_is_given),
    program("stat gstat")
        .flags("LtfFnqrsx")
        .valued("c")
        .long("dereference file-system format= printf= terse cached=")
        .tame()
        .devices()
        .then(pads_little),
    // `-C` compiles a magic file beside the sources, so only that it is not listed keeps it out.
    program("file")
        .flags("bEhikLNnprsSvzZ0")
        .valued("FmePf")
        .long(
            "brief mime mime-type mime-encoding extension no-dereference dereference keep-going raw \
             no-buffer no-pad print0 special-files uncompress separator= magic-file= exclude= \
             files-from= parameter= version preserve-date",
        )
        .may_hang()
        .devices(),
    program("readlink realpath grealpath")
        .flags("femnqsvzLP")
        .long(
            "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose \
             zero logical physical strip no-symlinks relative-to= relative-base=",
        )
        .tame()
        .devices(),
    program("basename").flags("az").valued("s").long("multiple suffix= zero").tame().devices(),
    program("dirname").flags("z").long("zero").tame().devices(),
    program("du gdu")
        .flags("0abcDHhklLmPsSx")
        .valued("BdtX")
        .long(
            "null all apparent-size block-size= bytes total dereference-args max-depth= \
             human-readable inodes count-links dereference no-dereference separate-dirs si summarize \
             threshold= time=? time-style= exclude-from= exclude= one-file-system files0-from=",
        )
        .tame()
        .devices(),
    program("df gdf")
        .flags("ahHikPlTvm")
        .valued("BtxF")
        .long(
            "all block-size= human-readable si inodes local no-sync output=? portability print-type \
             type= exclude-type= total",
        )
        .tame()
        .devices(),
    program("which").flags("as").long("all").tame(),
    program("whereis").flags("bmsul").tame(),
    program("getfacl lsattr").flags("aRdvlpcenst").tame(),
    program("namei")
        .flags("lmnovx")
        .long("long modes owners nosymlinks vertical mountpoints")
        .tame()
        .devices(),
    program("mountpoint").flags("qdx").tame().devices(),
    program("pathchk").flags("pP").tame(),
    program("lsblk")
        .flags("abdDfiJlmnOpPrsStz")
        .valued("oIe")
        .long(
            "all bytes nodeps discard fs ascii json list perms noheadings output= output-all paths \
             pairs raw inverse topology",
        )
        .tame()
        .devices(),
    program("findmnt")
        .flags("aAbCDfJlnPrRsu")
        .valued("oTtSM")
        .long("all json list noheadings output= raw tree target= types= source= df"),
    // What `-x` and `-X` run is judged in `languages::fd`.
    program("fd fdfind").flags("HIusigFaLlp0q1").valued("deEtcSoj").long(
        "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case \
             glob regex fixed-strings absolute-path list-details follow full-path print0 max-depth= \
             min-depth= exact-depth= exclude= type= extension= size= changed-within= changed-before= \
             newer= older= owner= color= threads= max-results= max-one-result quiet base-directory= \
             strip-cwd-prefix=? path-separator= search-path= prune relative-path one-file-system",
    ),
];

/// `--fromfile` reads names, from its input unless a file is named.
fn lists_what_it_is_given(call: &Call<'_>) -> Result<(), Reason> {
    let named = call.operands.iter().any(|arg| arg.exact() != Some("."));
    if call.has(&["fromfile"]) && !named && !call.context.fed { Err(call.no_input()) } else { Ok(()) }
}
