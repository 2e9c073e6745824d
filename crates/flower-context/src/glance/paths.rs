//! Paths that are no files: devices and kernel streams, which may never end, and bash's network names.

/// Whether a path names a device or a kernel stream.
pub(super) fn is_device(path: &str) -> bool {
    let mut names = path.split('/').filter(|name| !matches!(*name, "" | "." | ".."));
    let first = names.next();
    if path.starts_with('/') && first == Some("dev") {
        let descriptor =
            path.strip_prefix("/dev/fd/").is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()));
        return !descriptor && !HARMLESS_DEVICES.contains(&path);
    }
    // `../../dev/zero`, `/proc/1/root/dev/zero`, `/proc/kmsg`
    ENDLESS_FILES.iter().any(|file| path.ends_with(file))
        || path.starts_with("/inet")
        || (path.starts_with("/proc/") && (path.contains("/fd/") || path.ends_with("/mem")))
        || ENDLESS_DEVICES.iter().any(|device| path.ends_with(device) && path.contains("dev/"))
        || climbs_to_device(path)
}

/// `../../dev/sda`: the way up and down again to a name such as devices have.
fn climbs_to_device(path: &str) -> bool {
    path.split_once("/dev/").is_some_and(|(way, name)| {
        let climbs = way.split('/').any(|name| name == "..");
        climbs && !name.contains('.') && DEVICE_KINDS.iter().any(|kind| name.starts_with(kind))
    })
}

/// Whether a path has the name of a pipe, which waits for somebody who writes. Only the name tells.
pub(super) fn is_pipe(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, extension)) => !stem.is_empty() && matches!(extension, "fifo" | "pipe"),
        None => ["fifo", "pipe", "initctl"].iter().any(|kind| name.ends_with(kind)),
    }
}

/// Whether a path leads to where devices and kernel streams are: a name there need not look like one.
pub(super) fn is_kernel_tree(path: &str) -> bool {
    let first = path.split('/').find(|name| !matches!(*name, "" | "." | ".."));
    (path.starts_with('/') || path.starts_with("..")) && matches!(first, Some("dev" | "proc" | "sys"))
}

/// Whether a path of which only the head is known may name one.
pub(super) fn may_be_device(head: &str) -> bool {
    !head.is_empty() && (head.starts_with("/dev") || "/dev/".starts_with(head) || is_device(head))
}

/// Whether a path of which only the head and the tail are known may name a stream of the kernel: `/proc/*`,
/// `/proc/1/$x`, `/proc/*/mem`, but neither `/proc/*/status` nor `/proc/sys/vm/*`.
pub(super) fn may_be_stream(head: &str, tail: &str) -> bool {
    let ends = |tree: &str| !tail.contains('/') || is_device(&format!("{tree}1{tail}"));
    let inside = |directory: &str| head.starts_with(directory) || directory.starts_with(head);
    if let Some(rest) = head.strip_prefix("/proc/") {
        let process = match rest.split_once('/') {
            Some((name, _)) => {
                matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
            }
            None => true,
        };
        return process && ends("/proc/");
    }
    head.starts_with("/sys/") && STREAM_DIRECTORIES.iter().any(|directory| inside(directory)) && ends("/sys/")
}

/// Whether a text speaks of a device by its whole path: `/dev/zero`, `x=/dev/%s`.
pub(super) fn speaks_of_device(text: &str) -> bool {
    text.match_indices("/dev/").any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let relative = before.is_some_and(|c| c.is_alphanumeric() || "_.~}*?]/\u{1}".contains(c));
        let name = text.get(at + found.len()..).unwrap_or_default();
        !relative && !["null", "std", "fd/", "shm/"].iter().any(|harmless| name.starts_with(harmless))
    })
}

/// Whether a path is the root of all, however it is spelled. So many steps up lead there from most places.
pub(super) fn is_root(path: &str) -> bool {
    let steps = path.split('/').filter(|name| !matches!(*name, "" | "."));
    if !path.starts_with('/') {
        return steps.clone().all(|name| name == "..") && steps.count() > 4;
    }
    let mut depth = 0_usize;
    for name in steps {
        match name {
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    depth == 0
}

/// Whether the first bytes of a device come at once: those of a disk, and random ones. A terminal waits for a person,
/// and a log of the kernel for the next line.
pub(super) fn gives_bytes(path: &str) -> bool {
    let known = |name: &str| matches!(name, "zero" | "full" | "random" | "urandom");
    let disk = |name: &str| {
        ["sd", "nvme", "vd", "hd", "loop", "disk", "mmcblk"].iter().any(|kind| name.starts_with(kind))
    };
    path.strip_prefix("/dev/").is_some_and(|name| known(name) || disk(name))
}

/// Whether a program that is given this name reads what it is given anyway.
pub(super) fn is_standard_input(path: &str) -> bool {
    path == "-" || INPUTS.contains(&path)
}

/// Whether a text speaks of the standard input by one of its names: `${1:-/dev/stdin}`, `${1:--}`.
pub(super) fn names_input(text: &str) -> bool {
    INPUTS.iter().any(|name| text.contains(name)) || text.contains("--}")
}

/// Where streams are besides processes.
const STREAM_DIRECTORIES: &[&str] = &["/sys/kernel/debug/", "/sys/kernel/tracing/"];

/// Devices that are at their end at once, or are what the command has open anyway.
const HARMLESS_DEVICES: &[&str] = &["/dev/null", "/dev/stdin", "/dev", "/dev/"];

/// Files of the kernel that wait for more, or hold all memory there could be.
const ENDLESS_FILES: &[&str] = &["/kmsg", "trace_pipe", "/kcore", "/pagemap"];

/// The standard input among the files.
const INPUTS: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// How names of devices begin.
const DEVICE_KINDS: &[&str] = &[
    "sd", "nvme", "vd", "hd", "loop", "disk", "mmcblk", "ram", "tty", "pts/", "vcs", "input/", "snd/",
    "video", "hidraw", "mem", "port", "tcp/", "udp/", "initctl", "bus/", "usb",
];

const ENDLESS_DEVICES: &[&str] = &["/zero", "/full", "/random", "/urandom", "/tty", "/console", "/ptmx"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_under_any_spelling() {
        for path in [
            "/dev/zero",
            "//dev/./urandom",
            "/dev/tcp/198.51.100.7/80",
            "/proc/kmsg",
            "../../dev/zero",
            "/./dev/tty",
            "/proc/kcore",
            "/proc/12/fd/0",
            "/proc/12/mem",
            "/inet/tcp/0/198.51.100.7/80",
            "../../dev/sda",
            "x/../../../dev/pts/0",
        ] {
            assert!(is_device(path), "{path}");
        }
        for path in [
            "/dev/null",
            "/dev/stdin",
            "dev/notes.md",
            "src/dev/mod.rs",
            "../dev/usb.md",
            "../../dev/notes",
            "/developer/x",
            "docs/zero",
            "-",
        ] {
            assert!(!is_device(path), "{path}");
        }
    }

    #[test]
    fn pipes_are_known_by_their_names() {
        for (path, expected) in [
            ("/tmp/mypipe", true),
            ("fifo", true),
            ("run/log.fifo", true),
            ("/run/initctl", true),
            ("src/pipe.rs", false),
            (".pipe", false),
            ("pipeline", false),
            ("pipes/x", false),
        ] {
            assert_eq!(is_pipe(path), expected, "{path}");
        }
    }

    #[test]
    fn a_head_may_lead_to_a_device() {
        for (head, may) in [
            ("/", true),
            ("/d", true),
            ("/dev/", true),
            ("/dev/t", true),
            ("", false),
            ("src/", false),
            ("/home/", false),
        ] {
            assert_eq!(may_be_device(head), may, "{head}");
        }
    }

    #[test]
    fn a_pattern_may_name_a_stream() {
        for (head, tail, may) in [
            ("/proc/", "", true),
            ("/proc/km", "", true),
            ("/proc/", "/mem", true),
            ("/proc/1/", "", true),
            ("/proc/self/", "", true),
            ("/sys/", "", true),
            ("/sys/kernel/debug/x/", "", true),
            ("/proc/", "/status", false),
            ("/proc/sys/vm/", "", false),
            ("/sys/class/net/", "/address", false),
            ("/sys/class/net/", "", false),
            ("/etc/", "", false),
            ("", "", false),
        ] {
            assert_eq!(may_be_stream(head, tail), may, "{head}*{tail}");
        }
    }

    #[test]
    fn a_text_speaks_of_a_device_by_its_whole_path() {
        for (text, speaks) in [
            ("/dev/zero", true),
            ("/dev/%s", true),
            ("if=/dev/sda", true),
            ("s|^|/dev/|", true),
            ("${x:-/dev/zero}", true),
            ("/dev/null", false),
            ("2>/dev/null", false),
            ("src/dev/mod.rs", false),
            ("~/dev/x", false),
            ("/home/dev/x", false),
            ("/dev", false),
        ] {
            assert_eq!(speaks_of_device(text), speaks, "{text}");
        }
    }

    #[test]
    fn the_root_is_known_under_any_spelling() {
        for (path, expected) in [
            ("/", true),
            ("//", true),
            ("/.", true),
            ("/usr/..", true),
            ("/..", true),
            ("/usr", false),
            ("../../../../..", true),
            ("../..", false),
            ("..", false),
        ] {
            assert_eq!(is_root(path), expected, "{path}");
        }
    }

    #[test]
    fn trees_of_the_kernel_are_known_from_anywhere() {
        for (path, expected) in [
            ("/dev", true),
            ("/proc/self", true),
            ("../../sys", true),
            ("dev", false),
            ("/home/dev", false),
            ("/", false),
        ] {
            assert_eq!(is_kernel_tree(path), expected, "{path}");
        }
    }
}
