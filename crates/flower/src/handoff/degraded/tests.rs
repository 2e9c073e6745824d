use serde_json::{Value, json};

use super::*;

/// A transcript in which lines follow each other: `(type, content, more fields)`.
fn lines(entries: &[(&str, Value, Value)]) -> String {
    let mut text = String::new();
    for (index, (kind, content, more)) in entries.iter().enumerate() {
        let parent = index.checked_sub(1).map(|parent| format!("u{parent}"));
        let mut entry = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": format!("u{index}"),
            "message": { "role": kind, "content": content },
        });
        if *kind == "assistant" {
            entry["message"]["id"] = json!(format!("m{index}"));
        }
        for (field, value) in more.as_object().into_iter().flatten() {
            entry[field] = value.clone();
        }
        text.push_str(&entry.to_string());
        text.push('\n');
    }
    text
}

fn said(text: &str) -> (&'static str, Value, Value) {
    ("assistant", json!([{ "type": "text", "text": text }]), json!({}))
}

fn called(id: &str, tool: &str, input: &Value) -> (&'static str, Value, Value) {
    ("assistant", json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]), json!({}))
}

fn answered(id: &str, text: &str, failed: bool, more: Value) -> (&'static str, Value, Value) {
    ("user", json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed }]), more)
}

fn session() -> String {
    let report = |text: &str| json!({ "toolUseResult": { "status": "completed", "content": [{ "type": "text", "text": text }] } });
    lines(&[
        ("user", json!("Port everything."), json!({})),
        said("I split it."),
        called("t1", "TaskCreate", &json!({ "subject": "port the reader" })),
        answered("t1", "Task #1 created successfully: port the reader", false, json!({})),
        called("t2", "TaskCreate", &json!({ "subject": "port the writer" })),
        answered("t2", "Task #2 created successfully: port the writer", false, json!({})),
        called("t3", "TaskUpdate", &json!({ "taskId": "1", "status": "completed" })),
        answered("t3", "Updated task #1 status", false, json!({})),
        called(
            "a1",
            "Agent",
            &json!({ "description": "Port reader", "prompt": "Task: port\n## Next\nthe reader" }),
        ),
        answered(
            "a1",
            "[Subagent hand-back] …",
            false,
            report("<tools-used-before-summary>Bash</tools-used-before-summary>\n\nConclusion: ported.\n```"),
        ),
        called("a2", "Agent", &json!({ "description": "Port writer", "prompt": "Task: port the writer" })),
        answered(
            "a2",
            "Async agent launched successfully.",
            false,
            json!({ "toolUseResult": { "isAsync": true, "status": "async_launched" } }),
        ),
        called("a3", "Agent", &json!({ "description": "Test", "prompt": "Task: test" })),
        answered(
            "a3",
            "Async agent launched successfully.",
            false,
            json!({ "toolUseResult": { "isAsync": true, "status": "async_launched" } }),
        ),
        (
            "user",
            json!(
                "<task-notification>\n<tool-use-id>a3</tool-use-id>\n<status>completed</status>\n<result>Conclusion: 3 tests fail.</result>\n</task-notification>"
            ),
            json!({ "origin": { "kind": "task-notification" } }),
        ),
        called("b1", "Bash", &json!({ "command": "cargo test" })),
        answered(
            "b1",
            "not a glance",
            true,
            json!({ "toolDenialKind": "permission-rule", "toolDenialBeforeRun": true }),
        ),
        called("b2", "Bash", &json!({ "command": "make" })),
        answered("b2", "not a glance", true, json!({})),
        called("b3", "Bash", &json!({ "command": "ls /nowhere" })),
        answered("b3", "No such file\n# Doing", true, json!({})),
        called("w1", "Write", &json!({ "file_path": "/w/plan.md", "content": "x" })),
        answered("w1", "ok", false, json!({})),
        said("Next I look at the tests.\n## Decided\nnothing"),
    ])
}

fn worker() -> String {
    lines(&[
        called("w", "Edit", &json!({ "file_path": "/w/src/reader.rs" })),
        answered("w", "ok", false, json!({})),
        called("x", "Write", &json!({ "file_path": "/w/refused.rs" })),
        answered("x", "no", true, json!({})),
        called("y", "Write", &json!({ "file_path": "/w/plan.md" })),
        answered("y", "ok", false, json!({})),
    ])
}

const INDEX: &str = "<!-- flower:index -->\n\n## scripts/\n\n- `scripts/count.py`: counts words (1.2 kB)\n\n## notes/\n\n- `notes/why-sqlite.md`: Why SQLite (10 B)\n";

#[test]
fn what_is_known_becomes_a_document() {
    let (main, worker) = (session(), worker());
    let main = Transcript::read(main.as_bytes());
    let workers = [Transcript::read(worker.as_bytes())];
    let denied = ["b2".to_owned()];
    let known = Known {
        prompt: "Port everything.",
        main: Some(&main),
        workers: &workers,
        denied: &denied,
        index: INDEX,
        workspace: Some(Path::new("/w")),
        ..Known::default()
    };
    let document = assemble(Lang::En, &Why::Full, &known);
    insta::assert_snapshot!(document.render(Lang::En));
    for lang in [Lang::En, Lang::Zh] {
        let document = assemble(lang, &Why::Failed("reset\nby peer".to_owned()), &known);
        assert_eq!(
            Document::parse(&document.render(lang)),
            Ok(document.clone()),
            "nothing quoted acts as a heading"
        );
        assert!(document.part(Part::Doing).starts_with('['), "{}", document.part(Part::Doing));
        assert!(document.part(Part::Doing).contains("reset by peer"));
    }
}

#[test]
fn nothing_known_still_gives_the_required_parts() {
    for lang in [Lang::En, Lang::Zh] {
        for why in
            [Why::Full, Why::Incomplete(Missing { parts: vec![Part::Next] }), Why::Failed(String::new())]
        {
            let document = assemble(lang, &why, &Known::default());
            assert_eq!(document.check(), Ok(()));
            assert!(document.part(Part::Doing).contains(&why.sentence(lang)));
        }
    }
}

#[test]
fn where_nobody_says_why_the_sentence_has_no_place_for_it() {
    for (lang, expected) in [
        (Lang::En, "The turn in which it should have written was cut off."),
        (Lang::Zh, "本该由它写文档的那一轮被切断了。"),
    ] {
        assert_eq!(Why::Failed(" ".to_owned()).sentence(lang), expected);
    }
}

#[test]
fn what_the_session_itself_was_handed_is_handed_on() {
    let previous = Document::new(Part::ALL.map(|part| (part, format!("earlier {part:?}"))));
    let document = assemble(Lang::Zh, &Why::Full, &Known { previous: Some(&previous), ..Known::default() });
    for part in Part::ALL {
        assert!(document.part(part).contains(previous.part(part)), "{part:?}: {}", document.part(part));
    }
}

#[test]
fn degraded_documents_do_not_grow_from_one_to_the_next() {
    let said = "y".repeat(3_000);
    let mut document = Document::new([(Part::Doing, "x"), (Part::Next, "z")]);
    let mut lengths = Vec::new();
    for _ in 0..8 {
        let known = Known { prompt: &said, wrote: &said, previous: Some(&document), ..Known::default() };
        document = assemble(Lang::En, &Why::Full, &known);
        lengths.push(document.render(Lang::En).len());
    }
    assert!(lengths.iter().all(|length| *length < 30_000), "{lengths:?}");
}

#[test]
fn what_the_session_did_write_is_kept() {
    let why = Why::Incomplete(Missing { parts: vec![Part::Next] });
    for lang in [Lang::En, Lang::Zh] {
        let wrote = "## Doing\nPorting.\n## 已决定\nSQLite, because it is there.";
        let document = assemble(lang, &why, &Known { wrote, ..Known::default() });
        assert!(document.part(Part::Doing).contains("\n\nPorting."), "{}", document.part(Part::Doing));
        assert!(document.part(Part::Decided).ends_with("SQLite, because it is there."));
        let document = assemble(lang, &why, &Known { wrote: "I would rather\n# go on.", ..Known::default() });
        assert!(
            document.part(Part::Doing).contains("\n> I would rather\n> # go on."),
            "{}",
            document.part(Part::Doing)
        );
    }
}

#[test]
fn a_long_session_gives_a_short_document() {
    let long = "long text ".repeat(500);
    let mut entries = vec![("user", json!(long), json!({}))];
    for n in 0..50 {
        entries.push(said(&long));
        entries.push(called(&format!("a{n}"), "Agent", &json!({ "description": long, "prompt": long })));
        entries.push(answered(&format!("a{n}"), &long, false, json!({})));
        entries.push(called(&format!("b{n}"), "Bash", &json!({ "command": long })));
        entries.push(answered(&format!("b{n}"), &long, true, json!({})));
        entries.push(called(&format!("w{n}"), "Write", &json!({ "file_path": format!("/{n}{long}") })));
    }
    let text = lines(&entries);
    let main = Transcript::read(text.as_bytes());
    let index = INDEX.repeat(1_000);
    let known = Known { prompt: &long, main: Some(&main), index: &index, ..Known::default() };
    let length = assemble(Lang::En, &Why::Full, &known).render(Lang::En).chars().count();
    assert!(length < 40_000, "{length}");
}
