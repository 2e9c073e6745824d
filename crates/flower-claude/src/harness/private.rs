//! Where private copies of Claude Code live, and which npm package fits this machine.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::version::Version;

/// The directory of all private copies, from the environment: `FLOWER_HOME/harness` if that is set, else `harness` in
/// flower's place in the user's data directory. `None` if the environment names neither.
pub(super) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("FLOWER_HOME") {
        return std::path::absolute(home.join("harness")).ok();
    }
    let data = if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Application Support")
    } else {
        // The base directory specification asks to ignore relative paths here.
        set("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(set("HOME")?.join(".local/share")))?
    };
    std::path::absolute(data.join("flower/harness")).ok()
}

/// The program of a private copy, whether it is there or not.
pub(super) fn program(directory: &Path, version: Version) -> PathBuf {
    directory.join(version.to_string()).join("claude")
}

/// The program of a private copy, if it is there.
pub(super) fn installed(directory: &Path, version: Version) -> Option<PathBuf> {
    Some(program(directory, version)).filter(|program| is_executable(program))
}

/// Whether `path` is a file that somebody may execute.
pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The npm package that holds the native program for a platform, in the words of [`std::env::consts`].
///
/// The package `@anthropic-ai/claude-code` is only a wrapper that lists these as optional dependencies. Asking for the
/// one that fits is more robust: the wrapper of 2.1.332 wants a newer Node than its native program, which needs none;
/// with `omit=optional` in the user's npm configuration the wrapper comes without any program, and no error says so;
/// and the wrapper's own command works only after an install script, which we do not run.
pub(super) fn package(os: &str, arch: &str, libc: Libc) -> Option<String> {
    let os = match os {
        "linux" => "linux",
        "macos" => "darwin",
        _ => return None,
    };
    let arch = match arch {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    let libc = match (os, libc) {
        ("linux", Libc::Musl) => "-musl",
        _ => "",
    };
    Some(format!("@anthropic-ai/claude-code-{os}-{arch}{libc}"))
}

/// The C library that programs on this machine are linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Libc {
    Gnu,
    Musl,
}

impl Libc {
    /// Looks for the loaders that programs name. Which library flower itself was built with says nothing: a static musl
    /// build runs everywhere.
    pub(super) fn of_this_machine() -> Self {
        let is_there = |loader: &str| Path::new(loader).exists();
        let gnu = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].into_iter().any(is_there);
        let musl = ["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"].into_iter().any(is_there);
        if musl && !gnu { Self::Musl } else { Self::Gnu }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn the_directory_follows_the_environment() {
        let check = |environment: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                environment.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            };
            assert_eq!(directory(variable), expected.map(PathBuf::from), "{environment:?}");
        };
        let home = ("HOME", "/home/ada");
        check(&[home], Some("/home/ada/.local/share/flower/harness"));
        check(&[home, ("XDG_DATA_HOME", "/data")], Some("/data/flower/harness"));
        check(&[home, ("XDG_DATA_HOME", "data")], Some("/home/ada/.local/share/flower/harness"));
        check(&[home, ("XDG_DATA_HOME", "")], Some("/home/ada/.local/share/flower/harness"));
        check(&[home, ("FLOWER_HOME", "/opt/flower home")], Some("/opt/flower home/harness"));
        check(&[home, ("FLOWER_HOME", "")], Some("/home/ada/.local/share/flower/harness"));
        check(&[("FLOWER_HOME", "/f")], Some("/f/harness"));
        check(&[("XDG_DATA_HOME", "/data")], Some("/data/flower/harness"));
        check(&[], None);
    }

    #[test]
    fn a_relative_home_is_made_absolute() {
        let found = directory(|name| (name == "FLOWER_HOME").then(|| "state".into())).unwrap();
        assert_eq!(found, std::env::current_dir().unwrap().join("state/harness"));
    }

    #[test]
    fn names_the_package_of_a_platform() {
        let check = |os: &str, arch: &str, libc: Libc, expected: Option<&str>| {
            assert_eq!(package(os, arch, libc).as_deref(), expected, "{os} {arch}");
        };
        check("linux", "x86_64", Libc::Gnu, Some("@anthropic-ai/claude-code-linux-x64"));
        check("linux", "aarch64", Libc::Gnu, Some("@anthropic-ai/claude-code-linux-arm64"));
        check("linux", "x86_64", Libc::Musl, Some("@anthropic-ai/claude-code-linux-x64-musl"));
        check("linux", "aarch64", Libc::Musl, Some("@anthropic-ai/claude-code-linux-arm64-musl"));
        check("macos", "aarch64", Libc::Gnu, Some("@anthropic-ai/claude-code-darwin-arm64"));
        check("macos", "x86_64", Libc::Gnu, Some("@anthropic-ai/claude-code-darwin-x64"));
        check("linux", "riscv64", Libc::Gnu, None);
        check("freebsd", "x86_64", Libc::Gnu, None);
    }
}
