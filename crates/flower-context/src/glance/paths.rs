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
        || (path.starts_with("/proc/") && path.contains("/fd/"))
        || ENDLESS_DEVICES.iter().any(|device| path.ends_with(device) && path.contains("dev/"))
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

/// Devices that are at their end at once, or are what the command has open anyway.
const HARMLESS_DEVICES: &[&str] = &["/dev/null", "/dev/stdin", "/dev", "/dev/"];

/// Files of the kernel that wait for more, or hold all memory there could be.
const ENDLESS_FILES: &[&str] = &["/kmsg", "trace_pipe", "/kcore", "/pagemap", "/proc/self/mem"];

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
            "/inet/tcp/0/198.51.100.7/80",
        ] {
            assert!(is_device(path), "{path}");
        }
        for path in
            ["/dev/null", "/dev/stdin", "dev/notes.md", "src/dev/mod.rs", "/developer/x", "docs/zero", "-"]
        {
            assert!(!is_device(path), "{path}");
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
