//! `flower xray` shows where context and money went: of files, directories and sessions, in both versions' transcripts.

use std::fs;
use std::path::{Path, PathBuf};

use flower_store::{OpenOptions, SessionKey, SessionStore as _, SqliteStore, project_key};
use serde_json::Value;

use crate::binary::{Place, Said};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/xray").join(name)
}

fn xray(place: &Place, arguments: &[&str]) -> Said {
    Said::by(place.flower().arg("xray").args(arguments))
}

fn json(place: &Place, what: &Path) -> Value {
    let said = xray(place, &["--json", what.to_str().unwrap()]);
    said.assert_code(0);
    said.json().remove(0)
}

/// A transcript of one prompt, one call and its result, started in this directory.
fn transcript(cwd: &Path, prompt: &str, result: &str) -> String {
    let line = |kind: &str, number: u32, message: Value| {
        serde_json::json!({
            "type": kind, "uuid": format!("u{number}"), "sessionId": "s", "isSidechain": false,
            "parentUuid": (number > 1).then(|| format!("u{}", number - 1)),
            "timestamp": format!("2026-12-01T10:00:0{number}.000Z"), "cwd": cwd, "version": "2.1.332",
            "message": message,
        })
        .to_string()
            + "\n"
    };
    let usage = serde_json::json!({"input_tokens": 10, "output_tokens": 20});
    let call = serde_json::json!({
        "id": "m1", "role": "assistant", "model": "claude-opus-5-5", "usage": usage,
        "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": prompt}}],
    });
    let answer = serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": result}]);
    line("user", 1, serde_json::json!({"role": "user", "content": prompt}))
        + &line("assistant", 2, call)
        + &line("user", 3, serde_json::json!({"role": "user", "content": answer}))
}

/// Puts a transcript where the harness would.
fn on_disk(place: &Place, id: &str, cwd: &Path, text: &str) -> PathBuf {
    let dir = place.home().join(".claude/projects").join(project_key(cwd.to_str().unwrap()));
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{id}.jsonl"));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_report_reads_like_one() {
    let place = Place::new();
    let what = fixture("subagents-197/projects/-repo");
    let said = xray(&place, &[what.to_str().unwrap()]);
    said.assert_code(0);
    assert_eq!(said.stderr, "");
    let report = said.stdout.replace(what.to_str().unwrap(), "<dir>");
    insta::assert_snapshot!(report, @r"
    X-ray of session 00000000-0000-4000-8000-000000000003 (<dir>/00000000-0000-4000-8000-000000000003.jsonl)

    Context of the main thread
      5,172 tokens at the end, 5,172 at the most, 4 turns
      +241 tokens a turn since turn 1; at this rate the window of 200,000 is full in 809 turns
      3,026 of 3,297 characters came into the main thread (91.8 %); the rest stayed with workers

    What came into the conversations
      in front of it stand about 4,089 tokens that the transcript does not show: system prompt and tools
      tokens are estimated from characters (times 1.40, fitted to the usage recorded at 6 turns, off by 23.3 % there)
      kind                  main thread  ≈ tokens  workers  ≈ tokens
      system and reminders        1,730       608        0         0
      user                           15         5       57        20
      answers                       101        35       39        14
      thinking                        0         0        0         0
      tool inputs                   242        85      133        47
      tool results                  938       330       42        14
      all                         3,026     1,063      271        95

    Calls by tool
      tool   thread       calls  failed  denied  interrupted
      Agent  main thread      2       0       0            0
      Bash   workers          2       0       0            0
      Read   workers          1       0       0            0

    Cost
      90.6 % of all prompt tokens were read from the cache
      day (UTC)   model            turns  input  cache read  write 5 min  write 1 h  output  dollars
      2026-12-01  claude-opus-4-8      9     90      27,364        2,733          0     180  $0.0357

    Threads
      thread                turns  calls  characters   peak  dollars
      main thread 00000000      4      2       3,026  5,172  $0.0218
      analyst: count lines      3      2         173  2,274  $0.0084
      analyst: count lines      2      1          98  2,203  $0.0055
    ");
}

#[test]
fn the_report_speaks_chinese() {
    let place = Place::new();
    let what = fixture("compact-auto-332/projects");
    let said = Said::by(place.flower().args(["--lang", "zh-CN", "xray", what.to_str().unwrap()]));
    said.assert_code(0);
    for expected in ["主线程的上下文", "进入对话的内容", "缓存失效的轮次", "最高 90,000"]
    {
        assert!(said.stdout.contains(expected), "{expected}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("tokens"), "{}", said.stdout);
}

#[test]
fn the_sums_of_a_message_in_several_lines_are_exact() {
    let place = Place::new();
    let totals: Value = serde_json::from_slice(&fs::read(fixture("B052/totals.json")).unwrap()).unwrap();
    let found = json(&place, &fixture("B052/session.jsonl"));
    let (figures, model) = (&found["figures"], &found["figures"]["models"]["claude-sonnet-4-5"]);
    assert_eq!(figures["total"]["turns"], totals["api_calls"]);
    assert_eq!(figures["threads"][0]["prompts"], totals["user_prompts"]);
    assert_eq!(figures["total"]["calls"]["called"], totals["tool_calls"]);
    assert_eq!(model["input"], totals["input_tokens"]);
    assert_eq!(model["cache_write_5m"], totals["cache_creation_input_tokens"]);
    assert_eq!(model["cache_read"], totals["cache_read_input_tokens"]);
    assert_eq!(model["output"], totals["output_tokens"]);
    let (dollars, expected) = (figures["dollars"].as_f64().unwrap(), totals["cost_usd"].as_f64().unwrap());
    assert!((dollars - expected).abs() < 1e-12, "{dollars} instead of {expected}");
    assert_eq!(figures["days"].as_object().unwrap().keys().collect::<Vec<_>>(), ["2031-03-04"]);
}

/// Every path of names in a value; lists count as their first element, maps with open names as `*`.
fn shape(value: &Value, path: &str, out: &mut Vec<String>) {
    const OPEN: [&str; 3] = ["calls", "models", "days"];
    match value {
        Value::Object(fields) => {
            let is_open = OPEN.iter().any(|name| path.ends_with(name)) && !path.ends_with("total.calls");
            let is_open = is_open && !path.ends_with("main.calls") && !path.ends_with("workers.calls");
            for (name, value) in fields.iter().take(if is_open { 1 } else { usize::MAX }) {
                let name = if is_open || path.ends_with("days.*") { "*" } else { name };
                shape(value, &format!("{path}.{name}"), out);
            }
        }
        Value::Array(items) if !items.is_empty() => shape(&items[0], &format!("{path}[]"), out),
        _ => out.push(path.trim_start_matches('.').to_owned()),
    }
}

#[test]
fn a_session_that_cannot_be_read_hides_no_other() {
    let place = Place::new();
    let dir = place.workspace().join("sessions");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("one.jsonl"), transcript(&place.workspace(), "ls", "a")).unwrap();
    fs::write(dir.join("two.jsonl"), transcript(&place.workspace(), "ls", "b")).unwrap();
    // A worker that nobody can read, root included: a link to itself.
    fs::create_dir_all(dir.join("two/subagents")).unwrap();
    let worker = dir.join("two/subagents/agent-a.jsonl");
    std::os::unix::fs::symlink(&worker, &worker).unwrap();

    let what = dir.to_str().unwrap();
    for more in [&[][..], &["--what-if"]] {
        let said = xray(&place, &[&["--json", what], more].concat());
        said.assert_code(1);
        assert!(said.stderr.contains("agent-a.jsonl"), "{}", said.stderr);
        let shown = said.json().remove(0);
        assert_eq!(shown["sessions"].as_array().unwrap().len(), 1, "{shown}");
        assert_eq!(shown["sessions"][0]["id"], "one");
        assert!(shown["unread"][0].as_str().unwrap().contains("agent-a.jsonl"), "{shown}");
    }
    let said = xray(&place, &[what]);
    said.assert_code(1);
    assert!(said.stdout.contains("X-ray of session one"), "{}", said.stdout);
    assert!(said.stdout.contains("1 sessions could not be read and are not counted"), "{}", said.stdout);

    fs::remove_file(dir.join("one.jsonl")).unwrap();
    let said = xray(&place, &[what]);
    said.assert_code(1);
    assert_eq!(said.stdout, "", "nothing was read");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of names")]
fn programs_can_rely_on_the_names() {
    let place = Place::new();
    let found = json(&place, &fixture("subagents-332/projects/-repo"));
    assert_eq!(found["schema"], 1);
    let mut names = Vec::new();
    shape(&found, "", &mut names);
    insta::assert_snapshot!(names.join("\n"), @r"
    schema
    sessions[].id
    sessions[].origin
    figures.threads[].session
    figures.threads[].worker
    figures.threads[].turns
    figures.threads[].prompts
    figures.threads[].calls.*.called
    figures.threads[].calls.*.failed
    figures.threads[].calls.*.denied
    figures.threads[].calls.*.interrupted
    figures.threads[].characters.system
    figures.threads[].characters.user
    figures.threads[].characters.assistant
    figures.threads[].characters.thinking
    figures.threads[].characters.tool_inputs
    figures.threads[].characters.tool_results
    figures.threads[].tokens.system
    figures.threads[].tokens.user
    figures.threads[].tokens.assistant
    figures.threads[].tokens.thinking
    figures.threads[].tokens.tool_inputs
    figures.threads[].tokens.tool_results
    figures.threads[].head_tokens
    figures.threads[].context[].message_id
    figures.threads[].context[].timestamp
    figures.threads[].context[].tokens
    figures.threads[].context[].cache_read
    figures.threads[].context[].cache_write
    figures.threads[].context[].output
    figures.threads[].context[].dollars
    figures.threads[].trend.since_turn
    figures.threads[].trend.slope
    figures.threads[].trend.window
    figures.threads[].trend.turns_left
    figures.threads[].models.*.turns
    figures.threads[].models.*.input
    figures.threads[].models.*.output
    figures.threads[].models.*.cache_read
    figures.threads[].models.*.cache_write_5m
    figures.threads[].models.*.cache_write_1h
    figures.threads[].models.*.dollars
    figures.threads[].cold
    figures.threads[].largest
    figures.threads[].spills.spilled
    figures.threads[].spills.spilled_characters
    figures.threads[].spills.persisted
    figures.threads[].spills.persisted_bytes
    figures.threads[].spills.read_back
    figures.threads[].skipped_lines
    figures.total.turns
    figures.total.calls.called
    figures.total.calls.failed
    figures.total.calls.denied
    figures.total.calls.interrupted
    figures.total.characters.system
    figures.total.characters.user
    figures.total.characters.assistant
    figures.total.characters.thinking
    figures.total.characters.tool_inputs
    figures.total.characters.tool_results
    figures.total.tokens.system
    figures.total.tokens.user
    figures.total.tokens.assistant
    figures.total.tokens.thinking
    figures.total.tokens.tool_inputs
    figures.total.tokens.tool_results
    figures.total.spills.spilled
    figures.total.spills.spilled_characters
    figures.total.spills.persisted
    figures.total.spills.persisted_bytes
    figures.total.spills.read_back
    figures.total.cold_dollars
    figures.main.turns
    figures.main.calls.called
    figures.main.calls.failed
    figures.main.calls.denied
    figures.main.calls.interrupted
    figures.main.characters.system
    figures.main.characters.user
    figures.main.characters.assistant
    figures.main.characters.thinking
    figures.main.characters.tool_inputs
    figures.main.characters.tool_results
    figures.main.tokens.system
    figures.main.tokens.user
    figures.main.tokens.assistant
    figures.main.tokens.thinking
    figures.main.tokens.tool_inputs
    figures.main.tokens.tool_results
    figures.main.spills.spilled
    figures.main.spills.spilled_characters
    figures.main.spills.persisted
    figures.main.spills.persisted_bytes
    figures.main.spills.read_back
    figures.main.cold_dollars
    figures.workers.turns
    figures.workers.calls.called
    figures.workers.calls.failed
    figures.workers.calls.denied
    figures.workers.calls.interrupted
    figures.workers.characters.system
    figures.workers.characters.user
    figures.workers.characters.assistant
    figures.workers.characters.thinking
    figures.workers.characters.tool_inputs
    figures.workers.characters.tool_results
    figures.workers.tokens.system
    figures.workers.tokens.user
    figures.workers.tokens.assistant
    figures.workers.tokens.thinking
    figures.workers.tokens.tool_inputs
    figures.workers.tokens.tool_results
    figures.workers.spills.spilled
    figures.workers.spills.spilled_characters
    figures.workers.spills.persisted
    figures.workers.spills.persisted_bytes
    figures.workers.spills.read_back
    figures.workers.cold_dollars
    figures.main_share
    figures.calibration.scale
    figures.calibration.pairs
    figures.calibration.error
    figures.models.*.turns
    figures.models.*.input
    figures.models.*.output
    figures.models.*.cache_read
    figures.models.*.cache_write_5m
    figures.models.*.cache_write_1h
    figures.models.*.dollars
    figures.days.*.*.turns
    figures.days.*.*.input
    figures.days.*.*.output
    figures.days.*.*.cache_read
    figures.days.*.*.cache_write_5m
    figures.days.*.*.cache_write_1h
    figures.days.*.*.dollars
    figures.dollars
    figures.unpriced
    figures.cache_hit_rate
    figures.watermark
    figures.peak
    figures.scripts
    figures.denials
    figures.missing_workers
    ");
}

#[test]
fn a_page_needs_nothing_else_and_runs_nothing() {
    let place = Place::new();
    let hostile = "</script></title><img src=x onerror=alert(1)>\u{1b}]0;owned\u{7}\u{0}\u{202e}'\"&";
    let path = on_disk(
        &place,
        "s",
        &place.workspace(),
        &transcript(&place.workspace(), hostile, &hostile.repeat(60)),
    );
    let out = place.root().join("page.html");
    let said = xray(&place, &[path.to_str().unwrap(), "--html", out.to_str().unwrap()]);
    said.assert_code(0);
    let page = fs::read_to_string(&out).unwrap();
    assert!(page.contains("&lt;/script&gt;&lt;/title&gt;&lt;img src=x onerror=alert(1)&gt;"), "{page}");
    for forbidden in
        ["<script", "<img", "<link", "<iframe", "http://", "https://", "url(", "@import", "\u{1b}", "\u{0}"]
    {
        assert!(!page.contains(forbidden), "{forbidden:?} in {page}");
    }
    assert!(page.contains("Content-Security-Policy") && page.contains("<svg") && page.ends_with("</html>\n"));
    assert!(page.contains("prefers-color-scheme:dark"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let terminal = xray(&place, &[path.to_str().unwrap()]);
    assert!(!terminal.stdout.contains(['\u{1b}', '\u{7}', '\u{0}', '\u{202e}']), "{:?}", terminal.stdout);
}

#[test]
fn a_page_replaces_a_page_and_nothing_else() {
    let place = Place::new();
    let text = transcript(&place.workspace(), "ls", "x");
    let path = on_disk(&place, "s", &place.workspace(), &text);
    let path = path.to_str().unwrap();
    for arguments in [&["--html", path][..], &[path, "--html", path], &[path, "--json", "--html", path]] {
        let said = xray(&place, arguments);
        said.assert_code(2);
        assert!(said.stderr.contains(path) && said.stdout.is_empty(), "{} {}", said.stderr, said.stdout);
        assert_eq!(fs::read_to_string(path).unwrap(), text, "the transcript was replaced");
    }
    let page = place.root().join("page.html");
    for before in ["", "<!DOCTYPE html>\n<p>old", "\n<HTML>"] {
        fs::write(&page, before).unwrap();
        xray(&place, &[path, "--html", page.to_str().unwrap()]).assert_code(0);
        assert!(fs::read_to_string(&page).unwrap().ends_with("</html>\n"), "{before}");
    }
    let piped = xray(&place, &[path, "--html", "/dev/stdout"]);
    piped.assert_code(0);
    assert!(piped.stdout.starts_with("<!DOCTYPE html>"), "{}", piped.stdout);
}

#[test]
fn what_is_not_known_is_named() {
    let place = Place::new();
    let text = transcript(&place.workspace(), "ls", "x");
    let with = |model: &str, usage: &str| {
        let usage = usage.to_owned();
        let text = text
            .replace("claude-opus-5-5", model)
            .replace(r#""usage":{"input_tokens":10,"output_tokens":20}"#, &usage);
        let path = on_disk(&place, "s", &place.workspace(), &text);
        let out = place.root().join("page.html");
        xray(&place, &[path.to_str().unwrap(), "--html", out.to_str().unwrap()]).assert_code(0);
        let page = fs::read_to_string(&out).unwrap();
        assert!(!page.contains('\u{202e}'), "{page}");
        xray(&place, &[path.to_str().unwrap()]).stdout
    };
    let recorded = r#""usage":{"input_tokens":10,"output_tokens":20}"#;
    let no_price = "no price is known for";
    assert!(with("claude-new-1\\u202e", recorded).contains(&format!("{no_price} claude-new-1  at the time")));
    assert!(with("", recorded).contains(&format!("{no_price} (no model named) at")));
    let said = with("claude-opus-5-5", r#""other":0"#);
    assert!(said.contains("1 turns have no recorded usage") && !said.contains(no_price), "{said}");
}

#[test]
fn every_main_thread_is_drawn_or_it_is_said_that_it_is_not() {
    let place = Place::new();
    let dir = place.root().join("many");
    fs::create_dir_all(&dir).unwrap();
    let titles = |sessions: usize| {
        for session in 0..sessions {
            let text = transcript(&place.workspace(), "ls", "x")
                .replace("\"uuid\":\"u", &format!("\"uuid\":\"{session}u"));
            let text = text.replace("\"parentUuid\":\"u", &format!("\"parentUuid\":\"{session}u"));
            fs::write(
                dir.join(format!("session-{session}.jsonl")),
                text.replace("\"m1\"", &format!("\"m{session}\"")),
            )
            .unwrap();
        }
        let out = place.root().join("page.html");
        xray(&place, &[dir.to_str().unwrap(), "--html", out.to_str().unwrap()]).assert_code(0);
        let page = fs::read_to_string(&out).unwrap();
        (page.matches("<h2>Context per turn").count(), page.contains("4 of 6 main threads are drawn"))
    };
    assert_eq!(titles(1), (1, false));
    assert_eq!(titles(3), (3, false));
    assert_eq!(titles(6), (4, true));
}

#[test]
fn a_session_is_found_by_its_id_and_by_what_it_begins_with() {
    let place = Place::new();
    let here = place.workspace();
    for id in ["aaaa-1", "aaab-2"] {
        on_disk(&place, id, &here, &transcript(&here, id, "r"));
    }
    let elsewhere =
        on_disk(&place, "elsewhere", Path::new("/other"), &transcript(Path::new("/other"), "x", "r"));
    xray(&place, &["aaab"]).assert_code(0);
    xray(&place, &["aaaa-1"]).assert_code(0);
    for (name, expected) in [
        ("aaa", vec!["aaaa-1", "aaab-2"]),
        ("bbb", vec![".claude/projects", "sessions.db"]),
        ("elsewhere", vec!["/other", elsewhere.to_str().unwrap()]),
        ("no/such.jsonl", vec!["no/such.jsonl"]),
    ] {
        let said = xray(&place, &[name]);
        said.assert_code(2);
        assert!(expected.iter().all(|part| said.stderr.contains(part)), "{name}: {}", said.stderr);
    }
    assert!(!here.join(".flower").exists(), "looking has made something");
}

#[test]
fn without_a_name_the_newest_session_of_this_directory_is_meant() {
    let place = Place::new();
    let here = place.workspace();
    let said = xray(&place, &[]);
    said.assert_code(2);
    assert!(said.stderr.contains("no session was started in"), "{}", said.stderr);
    on_disk(&place, "older", &here, &transcript(&here, "older", "r"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    on_disk(&place, "newer", &here, &transcript(&here, "newer", "r"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    // The same name of a directory, and the session of somebody else.
    let twin = PathBuf::from(here.to_str().unwrap().replace(' ', "-"));
    on_disk(&place, "twin", &here, &transcript(&twin, "twin", "r"));
    let said = xray(&place, &[]);
    said.assert_code(0);
    assert!(said.stdout.starts_with("X-ray of session newer "), "{}", said.stdout);
}

#[test]
fn a_session_that_is_only_in_the_store_is_read_from_there_and_nothing_changes() {
    let place = Place::new();
    let here = place.workspace();
    let path = here.join(".flower/runs/sessions.db");
    let mut store = SqliteStore::open(&path, &OpenOptions::default()).unwrap().store;
    let key = SessionKey::main(project_key(here.to_str().unwrap()), "stored-1").unwrap();
    let text = transcript(&here, "touch x", "refused");
    store.append(&key, &text.lines().collect::<Vec<_>>()).unwrap();
    let denied = r#"{"type":"flower-denial","call":"t1","tool":"Bash","reason":"no"}"#;
    store.append(&key.with_subpath("flower/denials").unwrap(), &[denied]).unwrap();
    store.close().unwrap();
    let before = fs::read(&path).unwrap();
    for arguments in [&["--json", "stored"][..], &["--json"], &["--json", "."]] {
        let said = xray(&place, arguments);
        said.assert_code(0);
        let found = &said.json()[0];
        assert_eq!(found["sessions"][0]["id"], "stored-1");
        assert_eq!(found["figures"]["total"]["calls"]["denied"], 1, "{}", said.stdout);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_worker_alone_and_a_directory_of_sessions_are_counted() {
    let place = Place::new();
    let session = "subagents-332/projects/-repo/00000000-0000-4000-8000-000000000003";
    let worker = fixture(session).join("subagents/agent-a9a92b14e71b7a370.jsonl");
    let alone = json(&place, &worker);
    assert_eq!(alone["figures"]["main"]["turns"], 0);
    assert_eq!(alone["figures"]["threads"][1]["worker"]["agent_type"], "analyst");
    let both = json(&place, &fixture("subagents-332/projects"));
    assert_eq!(
        (both["figures"]["main"]["turns"].as_u64(), both["figures"]["workers"]["turns"].as_u64()),
        (Some(4), Some(5))
    );
}

#[test]
fn what_cannot_be_read_is_said_and_does_not_stop_the_rest() {
    let place = Place::new();
    let path = place.root().join("torn.jsonl");
    let mut text = transcript(&place.workspace(), "ls", "x");
    text.insert_str(0, "not json\n\0\0\0\n");
    text.push_str("{\"type\":\"us");
    fs::write(&path, text).unwrap();
    let said = xray(&place, &[path.to_str().unwrap()]);
    said.assert_code(0);
    assert!(said.stdout.contains("3 lines could not be read"), "{}", said.stdout);
    let out = place.root().join("no/such/dir.html");
    let refused = xray(&place, &[path.to_str().unwrap(), "--html", out.to_str().unwrap()]);
    refused.assert_code(1);
    assert!(refused.stderr.contains("no/such/dir.html"), "{}", refused.stderr);
}

#[test]
fn what_might_have_been_is_added_on_request_and_called_a_model() {
    let place = Place::new();
    let here = place.workspace();
    let path = on_disk(&place, "s", &here, &transcript(&here, "cat big.log", &"line\n".repeat(4_000)));
    let path = path.to_str().unwrap();
    let said = xray(&place, &["--what-if", path]);
    said.assert_code(0);
    assert!(said.stdout.contains("a model, not a measurement"), "{}", said.stdout);
    let with = xray(&place, &["--json", "--what-if", path]).json().remove(0);
    let changes: Vec<&str> = with["what_if"]["supposed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|supposed| supposed["change"].as_str().unwrap())
        .collect();
    assert_eq!(changes, ["nothing", "expire", "trim", "prune", "heal", "spill", "all"]);
    // A pipe gives what it has once.
    let mut piped = place.program(Path::new("sh"));
    piped.args(["-c", "cat \"$2\" | \"$1\" xray --json --what-if /dev/stdin", "sh"]);
    piped.arg(place.flower().get_program()).arg(path);
    assert_eq!(Said::by(&mut piped).json().remove(0)["what_if"], with["what_if"]);
    let without = xray(&place, &["--json", path]).json().remove(0);
    assert!(without.get("what_if").is_none());
}
