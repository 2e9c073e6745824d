//! Which processes work on a session, whoever started them: a session must have one writer.
//!
//! Two signs are looked at. While it runs, the harness keeps `<config>/sessions/<pid>.json` with its session and its start
//! time (seen in 2.1.197 and 2.1.332); and the command line of a resumed harness names the session. A file that a killed
//! process left behind does not count: its process is gone, or its id belongs to a process with another start time.

use std::path::Path;

use serde::Deserialize;

use super::identity::{Identity, Life};

/// The part of `<config>/sessions/<pid>.json` that matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    pid: u32,
    session_id: String,
    /// Start time in clock ticks, as a string.
    #[serde(default)]
    proc_start: Option<String>,
}

/// Live processes that work on `session`. `config_dir` is the harness's configuration directory.
///
/// What cannot be read says nothing; where the system does not show start times, a process that has the noted id counts.
pub fn running_on(config_dir: &Path, session: &str) -> Vec<Identity> {
    let mut found: Vec<Identity> = noted(config_dir, session);
    for process in named_on_command_lines(session) {
        if !found.iter().any(|known| known.pid == process.pid) {
            found.push(process);
        }
    }
    found
}

fn noted(config_dir: &Path, session: &str) -> Vec<Identity> {
    let Ok(files) = std::fs::read_dir(config_dir.join("sessions")) else {
        return Vec::new();
    };
    files
        .filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok())
        .filter_map(|text| owner(&text, session))
        .filter(|process| process.life() != Life::Gone)
        .collect()
}

/// The process that `text` notes for `session`.
fn owner(text: &str, session: &str) -> Option<Identity> {
    let note: Note = serde_json::from_str(text).ok()?;
    if note.session_id != session {
        return None;
    }
    let start_time = note.proc_start.and_then(|ticks| ticks.parse().ok());
    Some(Identity { pid: note.pid, start_time })
}

/// Processes that were started to resume or open `session`. Ourselves and what only speaks of it do not count.
fn named_on_command_lines(session: &str) -> Vec<Identity> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            opens(&String::from_utf8_lossy(&line), session)
        })
        .map(Identity::of)
        .filter(|process| process.life() == Life::Alive)
        .collect()
}

/// Whether a command line (arguments ended by NUL) is one of the harness that opens `session`. A fork only reads it.
fn opens(line: &str, session: &str) -> bool {
    let arguments: Vec<&str> = line.split('\0').collect();
    if arguments.contains(&"--fork-session") || !arguments.contains(&"--output-format") {
        return false;
    }
    arguments.iter().enumerate().any(|(index, argument)| {
        let value = ["--resume=", "--session-id="].iter().find_map(|flag| argument.strip_prefix(flag));
        let apart = matches!(*argument, "--resume" | "-r" | "--session-id")
            .then(|| arguments.get(index + 1).copied());
        value.or(apart.flatten()).is_some_and(|opened| names(opened, session))
    })
}

/// A session is opened by its id, or by the path of a transcript that has its name.
fn names(opened: &str, session: &str) -> bool {
    let path = Path::new(opened);
    let transcript = path.extension().is_some_and(|extension| extension == "jsonl");
    opened == session || transcript && path.file_stem().is_some_and(|name| name == session)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "b0270001-1111-4222-8333-444444444444";

    #[test]
    fn a_note_names_its_process_by_id_and_start_time() {
        let note = format!(r#"{{"pid":17,"sessionId":"{SESSION}","procStart":"4711","kind":"interactive"}}"#);
        assert_eq!(owner(&note, SESSION), Some(Identity { pid: 17, start_time: Some(4711) }));
        assert_eq!(owner(&note, "another"), None);
        assert_eq!(owner("{}", SESSION), None);
        assert_eq!(owner("not JSON", SESSION), None);
    }

    #[test]
    fn a_command_line_opens_a_session_or_speaks_of_it() {
        for (line, expected) in [
            (format!("claude\0--output-format\0stream-json\0--resume={SESSION}\0"), true),
            (format!("claude\0--output-format\0stream-json\0--resume\0{SESSION}\0"), true),
            (format!("claude\0--output-format\0stream-json\0--session-id={SESSION}\0"), true),
            (format!("claude\0--output-format\0stream-json\0--resume=/views/{SESSION}.jsonl\0"), true),
            (format!("claude\0--output-format\0stream-json\0--resume={SESSION}\0--fork-session\0"), false),
            (format!("flower\0once\0--resume\0{SESSION}\0x\0"), false),
            (format!("less\0{SESSION}.jsonl\0"), false),
            ("claude\0--output-format\0stream-json\0--resume\0".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(opens(&line, SESSION), expected, "{line:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_live_process_counts() {
        let config = tempfile::tempdir().unwrap();
        let sessions = config.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        let write = |start: u64| {
            let pid = std::process::id();
            let note = format!(r#"{{"pid":{pid},"sessionId":"{SESSION}","procStart":"{start}"}}"#);
            std::fs::write(sessions.join(format!("{pid}.json")), note).unwrap();
        };
        let own = Identity::own();
        write(own.start_time.unwrap());
        assert_eq!(running_on(config.path(), SESSION), std::slice::from_ref(&own));
        assert!(running_on(config.path(), "another").is_empty());
        write(own.start_time.unwrap() - 1);
        assert!(running_on(config.path(), SESSION).is_empty(), "the id was used again");
        assert!(running_on(&config.path().join("nowhere"), SESSION).is_empty());
    }
}
