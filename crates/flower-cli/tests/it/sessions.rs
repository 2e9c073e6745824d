//! `flower sessions`: what goes into the store comes out as it was, and the harness takes it back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flower_claude::harness::Version;
use flower_store::{OpenOptions, ProjectPaths, SqliteStore};
use serde_json::Value;

use crate::binary::{Place, Said, events, harness, versions};
use crate::once::Api;
use crate::rehearse::{check_run, without_final_numbers};

/// Recordings of both versions.
fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../flower-store/tests/fixtures/transcripts")
}

/// The files below a directory, by their path from there.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(dir: &Path, root: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(dir, dir, &mut found);
    found
}

fn sessions(place: &Place, arguments: &[&str]) -> Said {
    Said::by(place.flower().arg("sessions").args(arguments))
}

/// Where a harness with this home keeps the transcripts of the workspace.
fn project_dir(place: &Place, home: &Path) -> PathBuf {
    let paths = ProjectPaths::resolve(&home.join(".claude"), &place.workspace()).unwrap();
    paths.projects().join(paths.project_key())
}

/// Puts a recording into the harness's directory, as if it had been made in the workspace.
fn install(place: &Place, recording: &str) -> String {
    let to = project_dir(place, &place.home());
    let cwd = serde_json::to_string(&place.workspace()).unwrap();
    let mut id = String::new();
    for (path, bytes) in files(&recordings().join(recording).join("projects/-repo")) {
        let to = to.join(&path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        fs::write(to, text.replace("\"cwd\":\"/repo\"", &format!("\"cwd\":{cwd}"))).unwrap();
        if path.components().count() == 1 && path.extension().is_some() {
            path.file_stem().unwrap().to_str().unwrap().clone_into(&mut id);
        }
    }
    id
}

#[test]
fn every_recording_comes_back_byte_for_byte() {
    let mut checked = 0;
    for recording in fs::read_dir(recordings()).unwrap() {
        let from = recording.unwrap().path().join("projects/-repo");
        let place = Place::new();
        let directory = from.to_str().unwrap();
        sessions(&place, &["import", directory]).assert_code(0);
        let again = sessions(&place, &["import", directory]);
        again.assert_code(0);
        assert!(again.stderr.contains(": 0 entries stored"), "{directory}: {}", again.stderr);
        for (name, bytes) in files(&from).iter().filter(|(name, _)| name.components().count() == 1) {
            let id = name.file_stem().unwrap().to_str().unwrap();
            // A copy of the fixture's, made before the resume, has a name of its own.
            let id = if id.len() == 36 { id } else { continue };
            let printed = Said::by(place.flower().args(["sessions", "export", id]));
            printed.assert_code(0);
            assert!(printed.stdout.as_bytes() == bytes, "{}", from.join(name).display());
            let out = place.root().join("out");
            sessions(&place, &["export", id, "-o", &format!("{}/", out.display())]).assert_code(0);
            for (path, exported) in files(&out) {
                assert!(exported == fs::read(from.join(&path)).unwrap(), "{directory}: {}", path.display());
                checked += 1;
            }
            let transcripts = |dir: &Path| files(dir).keys().filter(|path| path.starts_with(id)).count();
            let results = files(&from)
                .keys()
                .filter(|path| path.starts_with(Path::new(id).join("tool-results")))
                .count();
            assert_eq!(transcripts(&out), transcripts(&from) - results, "{directory}");
            fs::remove_dir_all(out).unwrap();
        }
    }
    assert!(checked > 36, "{checked} files");
}

/// What the harness wrote in a real run with two workers, against what comes out of the store after an import.
#[test]
fn a_mirrored_run_that_is_imported_has_the_order_of_its_files() {
    for version in versions() {
        let place = Place::new();
        let lines = check_run(&place, version, "en");
        let receipt = lines.last().unwrap();
        let id = receipt["sessions"][0].as_str().unwrap();
        let transcripts = PathBuf::from(receipt["places"]["transcripts"].as_str().unwrap());
        let config = transcripts.parent().unwrap().parent().unwrap();
        let out = place.root().join("out");
        let run = |arguments: &[&str]| {
            let said =
                Said::by(place.flower().env("CLAUDE_CONFIG_DIR", config).arg("sessions").args(arguments));
            said.assert_code(0);
            said
        };
        run(&["import", id]);
        assert!(run(&["import", id]).stderr.contains(": 0 entries stored"), "{version}");
        run(&["export", id, "-o", &format!("{}/", out.display())]);

        let exported = files(&out);
        let written = files(&transcripts);
        let ours = |path: &Path| path.starts_with(Path::new(id).join("flower"));
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| -> Vec<PathBuf> {
            files
                .keys()
                .filter(|path| !ours(path) && !path.to_string_lossy().contains("tool-results"))
                .cloned()
                .collect()
        };
        assert_eq!(names(&exported), names(&written), "{version}");
        assert!(names(&exported).len() >= 5, "{version}: main thread, two workers and their meta files");
        for name in names(&exported) {
            let text = |files: &BTreeMap<PathBuf, Vec<u8>>| String::from_utf8(files[&name].clone()).unwrap();
            let (exported, written) = (text(&exported), text(&written));
            assert_eq!(exported.lines().count(), written.lines().count(), "{version}: {}", name.display());
            for (exported, written) in exported.lines().zip(written.lines()).filter(|(a, b)| a != b) {
                assert!(
                    exported.contains("\"message\":"),
                    "{version} {}: {exported}\n{written}",
                    name.display()
                );
                // As in the test of what is stored: numbers that were not final when the file was written.
                assert_eq!(without_final_numbers(exported), without_final_numbers(written), "{version}");
            }
        }
        let denials = fs::read_to_string(out.join(id).join("flower/denials.jsonl")).unwrap();
        assert_eq!(denials.lines().count(), 1, "{version}");
    }
}

const TALK: &str = r#"
[[thread]]
name = "main"
after_last = "repeat"
[[thread.step]]
text = "Looking."
[[thread.step.call]]
id = "look"
tool = "Bash"
input = { command = "ls -la", description = "Look" }
[[thread.step]]
text = "That is all."
"#;

/// The harness itself, without flower, in a home of its own that holds nothing but what was exported.
fn resume(place: &Place, version: Version, api: &Api, home: &Path, session: &str) -> Value {
    let mut command: Command = place.program(&harness(version));
    api.told_to(&mut command)
        .env("HOME", home)
        .args(["-p", "Go on.", "--output-format", "json", "--resume", session])
        .args(["--model", "claude-sonnet-4-5", "--tools", "Bash,Read"]);
    let said = Said::by(&mut command);
    said.assert_code(0);
    said.json().pop().unwrap()
}

#[test]
fn the_harness_resumes_an_exported_session() {
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(TALK);
        let first = Said::by(&mut api.once(&place, version, &["--json", "--tools", "Bash,Read", "Go."]));
        first.assert_code(0);
        let id = events(&first.json(), "session_started")[0]["session"].as_str().unwrap().to_owned();

        let home = place.root().join("another home");
        let project = project_dir(&place, &home);
        sessions(&place, &["export", &id, "-o", &format!("{}/", project.display())]).assert_code(0);
        let before = fs::read(project.join(format!("{id}.jsonl"))).unwrap();
        let result = resume(&place, version, &api, &home, &id);
        assert_eq!(result["session_id"], id, "{version}: {result}");
        assert_eq!(result["result"], "That is all.", "{version}: {result}");
        let after = fs::read(project.join(format!("{id}.jsonl"))).unwrap();
        assert!(after.len() > before.len() && after.starts_with(&before), "{version}: it was appended to");
        api.end();
    }
}

#[test]
fn the_harness_resumes_an_exported_recording_with_workers() {
    for (version, recording) in versions().zip(["subagents-197", "subagents-332"]) {
        let place = Place::new();
        let id = install(&place, recording);
        sessions(&place, &["import", &id[..35]]).assert_code(0);
        let home = place.root().join("another home");
        let project = project_dir(&place, &home);
        sessions(&place, &["export", &id, "-o", &format!("{}/", project.display())]).assert_code(0);
        assert_eq!(files(&project.join(&id)).len(), 4, "{version}: two workers and their meta files");
        let api = Api::playing(
            "[[thread]]\nname = \"main\"\nafter_last = \"repeat\"\n[[thread.step]]\ntext = \"Hello again.\"\n",
        );
        let result = resume(&place, version, &api, &home, &id);
        assert_eq!(result["session_id"], id, "{version}: {result}");
        assert_eq!(result["result"], "Hello again.", "{version}: {result}");
        drop(api);
    }
}

#[test]
fn a_list_tells_sessions_apart() {
    let place = Place::new();
    let version = versions().last().unwrap();
    let api = Api::playing(TALK);
    let long = "Find\u{1b}[2J out `what`\n\tis here.";
    api.once(&place, version, &["--tools", "Bash,Read", long]).output().unwrap();
    let listed = sessions(&place, &["list", "--json"]);
    listed.assert_code(0);
    let session = &listed.json()[0];
    assert_eq!(session["first_prompt"], "Find[2J out `what` is here.");
    assert_eq!(session["cwd"], place.workspace().to_str().unwrap());
    assert_eq!(session["workers"], 0);
    assert_eq!(session["used_by"].as_array().unwrap().len(), 1, "{session}");
    assert_eq!(session["used_by"][0]["ok"], true);
    assert_eq!(session["used_by"][0]["harness_version"], version.to_string());
    let agent = session["used_by"][0]["agent"].as_str().unwrap();

    let id = session["id"].as_str().unwrap();
    let plain = sessions(&place, &[]);
    plain.assert_code(0);
    assert!(plain.stdout.starts_with(id), "{}", plain.stdout);
    for expected in [agent, "Find[2J out `what` is here.", "0 workers"] {
        assert!(plain.stdout.contains(expected), "{expected}: {}", plain.stdout);
    }
    // Seen from elsewhere, by the place of its workbench.
    let home = place.workspace().join(".flower");
    let elsewhere = |arguments: &[&str]| {
        let mut command = place.flower();
        Said::by(
            command.current_dir(place.root()).args(["sessions", "list", "--home"]).arg(&home).args(arguments),
        )
    };
    let here = elsewhere(&[]);
    here.assert_code(0);
    assert!(here.stdout.is_empty() && here.stderr.starts_with("1 more"), "{}", here.stderr);
    assert!(elsewhere(&["--all"]).stdout.starts_with(id));
    let workspace = place.workspace();
    let mut before = place.flower();
    before.current_dir(place.root()).args(["sessions", "--workspace"]).arg(workspace).args(["show", id]);
    assert!(Said::by(&mut before).stdout.starts_with(id));
    api.end();
}

#[test]
fn a_session_is_shown_with_everything_that_is_kept_of_it() {
    const ACTS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
id = "long"
tool = "Bash"
input = { command = "cat long.txt", description = "Read" }
[[thread.step]]
[[thread.step.call]]
id = "deed"
tool = "Bash"
input = { command = "touch made", description = "Touch" }
[[thread.step]]
text = "Done."
"#;
    for version in versions() {
        let place = Place::new();
        fs::write(place.workspace().join("long.txt"), "words and more words\n".repeat(400)).unwrap();
        let api = Api::playing(ACTS);
        let tools = "Read,Bash(cat *),Bash(git *)";
        let said = Said::by(&mut api.once(&place, version, &["--json", "--tools", tools, "Go."]));
        said.assert_code(0);
        let id = events(&said.json(), "session_started")[0]["session"].as_str().unwrap().to_owned();
        let show = || sessions(&place, &["show", &id[..8], "--json"]).json().remove(0);
        let shown = show();
        assert_eq!(shown["id"], id, "{version}");
        assert_eq!(shown["denials"].as_array().unwrap().len(), 1, "{version}: {shown}");
        assert_eq!(shown["denials"][0]["tool"], "Bash");
        let spills = shown["spills"].as_array().unwrap();
        assert_eq!(spills.len(), 1, "{version}: {shown}");
        assert_eq!(
            (&spills[0]["tool"], &spills[0]["there"], &spills[0]["taken"]),
            (&"Bash".into(), &true.into(), &true.into())
        );
        assert_eq!(spills[0]["bytes"], 8399);
        assert!(spills[0]["at"].is_string());
        let name = spills[0]["name"].as_str().unwrap();
        let file = place.workspace().join(".flower/spill").join(name);
        let plain = sessions(&place, &["show", &id]);
        assert!(plain.stdout.contains(&format!("{name}  Bash  8.4 kB")), "{}", plain.stdout);

        fs::remove_file(&file).unwrap();
        assert_eq!(show()["spills"][0]["there"], false, "{version}");
        assert!(sessions(&place, &["show", &id]).stdout.contains("no longer kept"), "{version}");
        api.end();
    }
}

#[test]
fn what_was_appended_since_is_picked_up_and_half_a_line_is_told() {
    let place = Place::new();
    let id = install(&place, "basic-tools-332");
    let file = project_dir(&place, &place.home()).join(format!("{id}.jsonl"));
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let (head, last) = lines.split_at(lines.len() - 3);
    fs::write(&file, format!("{}\n{}", head.join("\n"), &last[0][..40])).unwrap();

    let first = sessions(&place, &["import", "--all"]);
    first.assert_code(0);
    assert!(first.stderr.contains("warning:") && first.stderr.contains("1 lines"), "{}", first.stderr);
    assert!(first.stdout.contains(&format!("{} new", head.len())), "{}", first.stdout);
    fs::write(&file, &whole).unwrap();
    let second = sessions(&place, &["import", "--all"]);
    assert!(second.stdout.contains(&format!("3 new entries, {} known", head.len())), "{}", second.stdout);
    assert!(!second.stderr.contains("warning:"), "{}", second.stderr);
    assert_eq!(sessions(&place, &["export", &id]).stdout, whole);
    assert_eq!(fs::read_to_string(&file).unwrap(), whole, "the harness's own file is only read");
}

#[test]
fn a_file_under_another_name_keeps_its_id() {
    let place = Place::new();
    let id = install(&place, "basic-tools-197");
    let file = project_dir(&place, &place.home()).join(format!("{id}.jsonl"));
    let backup = place.root().join("backup.jsonl");
    // As an editor on another system leaves it.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&backup, format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
    sessions(&place, &["import", backup.to_str().unwrap()]).assert_code(0);
    assert_eq!(sessions(&place, &["export", &id]).stdout, text);

    let worker = install(&place, "subagents-332");
    let dir = project_dir(&place, &place.home()).join(&worker).join("subagents");
    let worker = files(&dir).into_keys().find(|path| path.extension().unwrap() == "jsonl").unwrap();
    let refused = sessions(&place, &["import", dir.join(worker).to_str().unwrap()]);
    refused.assert_code(2);
    assert!(refused.stderr.contains("worker"), "{}", refused.stderr);
    fs::write(place.root().join("list.jsonl"), "{\"a\":1}\n").unwrap();
    sessions(&place, &["import", place.root().join("list.jsonl").to_str().unwrap()]).assert_code(2);
}

#[test]
fn a_session_of_another_directory_is_not_taken_in_by_its_id() {
    // Both directories have one name under `projects/`.
    let place = Place::new();
    let (here, there) = (place.root().join("привет"), place.root().join("проект"));
    for dir in [&here, &there] {
        fs::create_dir(dir).unwrap();
        let paths = ProjectPaths::resolve(&place.home().join(".claude"), dir).unwrap();
        let id = if dir == &here {
            "11111111-0000-4000-8000-000000000000"
        } else {
            "22222222-0000-4000-8000-000000000000"
        };
        let line = serde_json::json!({"type": "user", "uuid": id, "sessionId": id, "cwd": dir, "message": {"role": "user", "content": "hi"}});
        let file = paths.projects().join(paths.project_key()).join(format!("{id}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{line}\n")).unwrap();
    }
    let run =
        |arguments: &[&str]| Said::by(place.flower().current_dir(&here).arg("sessions").args(arguments));
    let other = run(&["import", "22222222-0000-4000-8000-000000000000"]);
    other.assert_code(2);
    assert!(other.stderr.contains("проект"), "{}", other.stderr);
    run(&["import", "--all"]).assert_code(0);
    let listed = run(&["list", "--json", "--all"]).json();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], "11111111-0000-4000-8000-000000000000");
}

#[test]
fn files_that_are_there_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let id = install(&place, "subagents-332");
    sessions(&place, &["import", &id]).assert_code(0);
    let out = place.root().join("out");
    let main = out.join(format!("{id}.jsonl"));
    let export = |more: &[&str]| {
        let target = format!("{}/", out.display());
        sessions(&place, &[&["export", &id, "-o", &target][..], more].concat())
    };
    export(&[]).assert_code(0);
    let before = files(&out);
    for path in before.keys() {
        assert_eq!(
            out.join(path).metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            path.display()
        );
    }
    fs::write(&main, "mine").unwrap();
    // One of them is enough to keep all others from being written.
    for path in before.keys().filter(|path| out.join(path) != main) {
        fs::remove_file(out.join(path)).unwrap();
    }
    let refused = export(&[]);
    refused.assert_code(2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(files(&out).len(), 1);
    assert_eq!(fs::read_to_string(&main).unwrap(), "mine");
    export(&["--force"]).assert_code(0);
    assert_eq!(files(&out), before);

    let file = place.root().join("main.jsonl");
    sessions(&place, &["export", &id, "-o", file.to_str().unwrap()]).assert_code(0);
    assert_eq!(fs::read(&file).unwrap(), before[Path::new(&format!("{id}.jsonl"))]);
    sessions(&place, &["export", &id, "-o", file.to_str().unwrap()]).assert_code(2);
}

#[test]
fn a_name_must_mean_one_session() {
    let place = Place::new();
    for recording in ["basic-tools-332", "subagents-332"] {
        let id = install(&place, recording);
        sessions(&place, &["import", &id]).assert_code(0);
    }
    let ambiguous = sessions(&place, &["show", "00000000"]);
    ambiguous.assert_code(2);
    for id in ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000003"] {
        assert!(ambiguous.stderr.contains(id), "{}", ambiguous.stderr);
    }
    for name in ["0000000", "11111111", "*"] {
        let said = sessions(&place, &["show", name]);
        said.assert_code(2);
        assert!(said.stderr.contains("flower sessions list"), "{name}: {}", said.stderr);
    }
    sessions(&place, &["import"]).assert_code(2);
    sessions(&place, &["import", "00000"]).assert_code(2);
    sessions(&place, &["list", "--json", "show", "x"]).assert_code(2);
}

#[test]
fn deleting_asks_and_leaves_the_harness_alone() {
    let place = Place::new();
    let id = install(&place, "subagents-332");
    sessions(&place, &["import", &id]).assert_code(0);
    let harness = files(&place.home().join(".claude"));
    let refused = sessions(&place, &["delete", &id]);
    refused.assert_code(2);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(sessions(&place, &["list", "--json"]).json().len(), 1);

    // A live process that the harness notes for the session: ourselves.
    let notes = place.home().join(".claude/sessions");
    fs::create_dir(&notes).unwrap();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
    let note = format!(r#"{{"pid":{},"sessionId":"{id}","procStart":"{start}"}}"#, std::process::id());
    fs::write(notes.join("1.json"), note).unwrap();
    let in_place = format!("{}/", project_dir(&place, &place.home()).display());
    sessions(&place, &["export", &id, "-o", &in_place, "--force"]).assert_code(1);
    let refused = sessions(&place, &["delete", &id, "--yes"]);
    refused.assert_code(1);
    assert!(refused.stderr.contains(&std::process::id().to_string()), "{}", refused.stderr);
    fs::remove_dir_all(notes).unwrap();

    let deleted = sessions(&place, &["delete", &id[..35], "--yes"]);
    deleted.assert_code(0);
    let left = sessions(&place, &["list"]);
    left.assert_code(0);
    assert!(left.stdout.is_empty() && left.stderr.contains("flower sessions import"), "{}", left.stderr);
    assert_eq!(files(&place.home().join(".claude")), harness);
    sessions(&place, &["show", &id]).assert_code(2);
}

#[test]
fn a_spilled_file_goes_with_the_last_session_that_names_it() {
    let version = versions().next().unwrap();
    let place = Place::new();
    fs::write(place.workspace().join("long.txt"), "words and more words\n".repeat(400)).unwrap();
    let api = Api::playing(
        r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
id = "long"
tool = "Bash"
input = { command = "cat long.txt", description = "Read" }
[[thread.step]]
text = "Done."
"#,
    );
    let ids: Vec<String> = (0..2)
        .map(|_| {
            let said = Said::by(&mut api.once(&place, version, &["--json", "--tools", "Read,Bash", "Go."]));
            said.assert_code(0);
            events(&said.json(), "session_started")[0]["session"].as_str().unwrap().to_owned()
        })
        .collect();
    let spill = place.workspace().join(".flower/spill");
    assert_eq!(files(&spill).len(), 1, "equal results share a file");
    let first = sessions(&place, &["delete", "--yes", &ids[0]]);
    first.assert_code(0);
    assert!(first.stderr.contains("1 stay"), "{}", first.stderr);
    assert_eq!(files(&spill).len(), 1);
    let second = sessions(&place, &["delete", "--yes", &ids[1]]);
    second.assert_code(0);
    assert!(second.stderr.contains("Removed 1 spilled files (8.4 kB)"), "{}", second.stderr);
    assert_eq!(files(&spill).len(), 0);
    api.end();
}

#[test]
fn looking_changes_nothing_and_works_beside_a_writer() {
    let place = Place::new();
    let id = install(&place, "subagents-332");
    sessions(&place, &["import", &id]).assert_code(0);
    let flower = place.workspace().join(".flower");
    let look = || {
        for arguments in [&["list"][..], &["show", &id], &["export", &id]] {
            sessions(&place, arguments).assert_code(0);
        }
    };
    let before = files(&flower);
    look();
    assert!(files(&flower) == before, "a file has changed");
    let writer = SqliteStore::open(flower.join("runs/sessions.db"), &OpenOptions::default()).unwrap();
    look();
    drop(writer);
}

#[test]
fn what_cannot_be_used_is_told_with_what_to_do() {
    let place = Place::new();
    let id = install(&place, "basic-tools-197");
    for arguments in [&["list"][..], &["show", &id], &["export", &id], &["delete", &id]] {
        let said = sessions(&place, arguments);
        said.assert_code(2);
        assert!(said.stderr.contains("flower sessions import --all"), "{}", said.stderr);
        assert!(said.stdout.is_empty());
    }
    assert!(!place.workspace().join(".flower").exists(), "looking makes nothing");
    let chinese = Said::by(place.flower().args(["--lang", "zh-CN", "sessions"]));
    chinese.assert_code(2);
    assert!(chinese.stderr.contains("没有会话存储"), "{}", chinese.stderr);

    let runs = place.workspace().join(".flower/runs");
    fs::create_dir_all(&runs).unwrap();
    fs::write(runs.join("sessions.db"), "this is no database, and the only copy").unwrap();
    let damaged = sessions(&place, &["list"]);
    damaged.assert_code(1);
    assert!(damaged.stderr.contains("flower sessions import --all"), "{}", damaged.stderr);
    let filled = sessions(&place, &["import", "--all"]);
    filled.assert_code(0);
    assert!(filled.stderr.contains("sessions.db.corrupt-1"), "{}", filled.stderr);
    let kept = fs::read_to_string(runs.join("sessions.db.corrupt-1")).unwrap();
    assert_eq!(kept, "this is no database, and the only copy");
    assert_eq!(sessions(&place, &["list", "--json"]).json()[0]["id"], id);
    assert!(place.workspace().join(".flower/.gitignore").exists());
}
