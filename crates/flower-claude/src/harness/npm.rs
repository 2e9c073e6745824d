//! What to ask npm for, and what its complaints mean.

use std::path::Path;
use std::process::Command;

use super::version::Version;

/// The command that unpacks one package into `prefix`.
///
/// The user's npm configuration (registry, proxy, certificates, cache) holds; what is fixed here is only what would
/// change the place or shape of the result, run code of the package, or keep us waiting for minutes on a dead network.
pub(super) fn install_command(npm: &Path, prefix: &Path, package: &str, version: Version) -> Command {
    let mut command = Command::new(npm);
    command
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock"])
        .args(["--global=false", "--update-notifier=false", "--progress=false", "--loglevel=error"])
        // The limit is on silence, not on the whole transfer: a slow line may take its time.
        .args(["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"])
        .arg("--prefix")
        .arg(prefix)
        .arg(format!("{package}@{version}"))
        .current_dir(prefix);
    command
}

/// Why npm failed, as far as we can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// The registry, or the proxy before it, could not be reached.
    OutOfReach,
    /// No space left, or over quota.
    DiskFull,
    /// Anything else; npm's words must do.
    Other,
}

/// Reads npm's error code out of what it printed.
pub(super) fn classify(stderr: &str) -> Complaint {
    let code =
        error_lines(stderr).find_map(|line| line.strip_prefix("code ").map(str::trim)).unwrap_or_default();
    match code {
        "ENOTFOUND" | "EAI_AGAIN" | "EAI_FAIL" | "ECONNREFUSED" | "ECONNRESET" | "ECONNABORTED"
        | "EHOSTUNREACH" | "ENETUNREACH" | "ENETDOWN" | "ETIMEDOUT" | "ESOCKETTIMEDOUT"
        | "ERR_SOCKET_TIMEOUT" | "EIDLETIMEOUT" | "ECONNECTIONTIMEOUT" | "ERESPONSETIMEOUT" | "EPIPE"
        | "ENOTCACHED" | "E502" | "E503" | "E504" => Complaint::OutOfReach,
        "ENOSPC" | "EDQUOT" => Complaint::DiskFull,
        _ => Complaint::Other,
    }
}

/// The lines that say what was wrong, at most eight, each at most 300 characters; whatever was printed if npm marked
/// none of it as an error. Never empty.
pub(super) fn excerpt(stderr: &str) -> String {
    let telling = |line: &&str| {
        let frame = line.trim_start().starts_with("at ") || line.starts_with(['{', '}', ' ']);
        !line.trim().is_empty() && !frame && !line.starts_with("A complete log of this run")
    };
    let mut lines: Vec<&str> = error_lines(stderr).filter(telling).take(8).collect();
    if lines.is_empty() {
        lines = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.drain(..lines.len().saturating_sub(8));
    }
    if lines.is_empty() {
        return "(nothing)".to_owned();
    }
    let short =
        |line: &str| line.chars().filter(|character| !character.is_control()).take(300).collect::<String>();
    lines.into_iter().map(short).collect::<Vec<_>>().join("\n")
}

/// Lines marked as errors, without the mark: `npm error` since npm 10, `npm ERR!` before.
fn error_lines(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().filter_map(|line| {
        let marked = line.strip_prefix("npm error").or_else(|| line.strip_prefix("npm ERR!"))?;
        Some(marked.strip_prefix(' ').unwrap_or(marked))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "\
npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:1/p failed, reason: connect ECONNREFUSED 127.0.0.1:1
npm error     at ClientRequest.<anonymous> (index.js:130:14)
npm error     at emitErrorEvent (node:_http_client:101:11) {
npm error   code: 'ECONNREFUSED',
npm error   port: 1,
npm error }
npm error
npm error If you are behind a proxy, please make sure that the 'proxy' config is set properly.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/debug-0.log
";

    #[test]
    fn classifies_by_the_error_code() {
        let check = |stderr: &str, expected: Complaint| assert_eq!(classify(stderr), expected, "{stderr}");
        check(REFUSED, Complaint::OutOfReach);
        check("npm ERR! code ENOTFOUND\nnpm ERR! errno ENOTFOUND\n", Complaint::OutOfReach);
        check("npm warn old\nnpm error code ETIMEDOUT\n", Complaint::OutOfReach);
        check("npm error code ENOSPC\n", Complaint::DiskFull);
        check("npm error code EACCES\nnpm error syscall mkdir\n", Complaint::Other);
        check("npm error code E404\n", Complaint::Other);
        check("npm error code ETARGET\n", Complaint::Other);
        check("code ENOSPC\n", Complaint::Other);
        check("Killed\n", Complaint::Other);
        check("", Complaint::Other);
    }

    #[test]
    fn keeps_the_lines_that_tell() {
        insta::assert_snapshot!(excerpt(REFUSED), @r"
        code ECONNREFUSED
        syscall connect
        errno ECONNREFUSED
        FetchError: request to http://127.0.0.1:1/p failed, reason: connect ECONNREFUSED 127.0.0.1:1
        If you are behind a proxy, please make sure that the 'proxy' config is set properly.
        ");
        assert_eq!(excerpt("one\n\ntwo\u{7}\n"), "one\ntwo");
        assert_eq!(excerpt("\n"), "(nothing)");
        let flood = "npm error again and again\n".repeat(1000);
        assert_eq!(excerpt(&flood).lines().count(), 8);
        let long = format!("npm error {}", "界".repeat(10_000));
        assert_eq!(excerpt(&long).chars().count(), 300);
    }
}
