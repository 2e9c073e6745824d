//! What is left out because it pays: denied calls, big texts, stale glances; and when it pays.

use flower_context::Lang;
use flower_context::rewrite::{Expire, Gate, Pass, Policy, PruneDenials, Trim};
use serde_json::{Value, json};

use super::{changed_lines, checked, entries, find, heal, trim};
use crate::fixtures;
use crate::transcript::{assistant, outline_of, result, transcript_of};

fn prune(keep: usize, denied_ids: &[&str]) -> Policy<'static> {
    let denied_ids = denied_ids.iter().map(|id| (*id).to_owned()).collect();
    Policy { denials: Some(PruneDenials { keep, denied_ids }), gate: Gate::Open, ..heal() }
}

#[test]
fn a_denied_call_goes_with_its_result() {
    let bytes = fixtures::case("B002", "denied-in-group.jsonl");
    let rewritten = checked(&bytes, &prune(0, &["toolu_b002bb"]));
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: compare three files",
            "Assistant: Three reads at once. +toolu_b002a +toolu_b002c",
            "User: -toolu_b002c -toolu_b002a",
            "Assistant: Sums compared."
        ]
    );
    let entries = entries(&rewritten.text);
    assert_eq!(find(&entries, "005")["parentUuid"], find(&entries, "003")["uuid"]);
    assert_eq!(changed_lines(&bytes, &rewritten).len(), 1);
    // Without a mark and without a hint from the caller it is a call that failed.
    assert!(checked(&bytes, &prune(0, &[])).text.as_bytes() == bytes);
}

/// Calls of one message, one line each, and their results in this order; then the model goes on.
fn parallel(calls: &[&str], results: &[(&str, Option<&str>)]) -> Vec<Value> {
    let prompt = json!({"role": "user", "content": "go"});
    let mut lines = vec![json!({"type": "user", "uuid": "p", "parentUuid": null, "message": prompt})];
    let mut above = "p".to_owned();
    for id in calls {
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
        lines.push(assistant(&format!("call {id}"), &above, "m", &call));
        above = format!("call {id}");
    }
    for (id, said) in results {
        above = format!("result {id}");
        let mut line = result(&above, &format!("call {id}"), id);
        let words = said.map(|said| json!({"type": "text", "text": said}));
        line["message"]["content"].as_array_mut().unwrap().extend(words);
        lines.push(line);
    }
    lines.push(assistant("next", &above, "n", &json!({"type": "text", "text": "done"})));
    lines
}

#[test]
fn what_is_left_of_parallel_calls_stays_in_the_conversation() {
    let check = |results: &[(&str, Option<&str>)], denied: &[&str], expected: &[&str]| {
        let bytes = transcript_of(&parallel(&["a", "b", "c"], results));
        let made = checked(&bytes, &prune(0, denied));
        assert_eq!(outline_of(made.text.as_bytes()), expected, "{results:?} {denied:?}");
    };
    let [a, b, c] = ["a", "b", "c"].map(|id| (id, None));
    // The next turn hangs off the last result. When that goes with every call in front of it, c would hang beside.
    let only_c = ["User: go", "Assistant: +c", "User: -c", "Assistant: done"];
    check(&[c, a, b], &["a", "b"], &only_c);
    check(&[a, c, b], &["a", "b"], &only_c);
    check(&[a, b, c], &["a", "b"], &only_c);
    check(&[c, b, a], &["a"], &["User: go", "Assistant: +b +c", "User: -c -b", "Assistant: done"]);
    check(&[b, c, a], &["a", "c"], &["User: go", "Assistant: +b", "User: -b", "Assistant: done"]);
    check(&[a, b, c], &["a", "b", "c"], &["User: go", "Assistant: done"]);
    // Words beside a result of which the call goes would hang beside too: such a call stays.
    let said = ("c", Some("mind the gap"));
    check(
        &[said, a, b],
        &["a", "b", "c"],
        &["User: go", "Assistant: +c", "User: -c mind the gap", "Assistant: done"],
    );
}

#[test]
fn a_branch_that_ends_in_a_denied_call_stays_the_one_that_goes_on() {
    let mut lines = parallel(&["a", "b"], &[("a", None), ("b", None)]);
    lines.pop();
    let prompt = json!({"role": "user", "content": "another way"});
    lines.insert(1, json!({"type": "last-prompt", "leafUuid": "result b"}));
    lines.push(json!({"type": "user", "uuid": "q", "parentUuid": "p", "message": prompt}));
    let made = checked(&transcript_of(&lines), &prune(0, &["b"]));
    assert_eq!(outline_of(made.text.as_bytes()), ["User: go", "Assistant: +a", "User: -a"]);
}

#[test]
fn a_denied_call_that_was_cut_off_first_stays_answered() {
    let lines = [
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        assistant("2", "1", "m", &json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {}})),
    ];
    // Twice is the same, or `checked` says so.
    let made = checked(&transcript_of(&lines), &prune(0, &["a"]));
    assert_eq!(outline_of(made.text.as_bytes()), ["User: go", "Assistant: +a", "User: -a"]);
}

#[test]
fn the_newest_denial_stays() {
    let bytes = fixtures::recording("denials-332").main;
    let calls = |keep| {
        let rewritten = checked(&bytes, &prune(keep, &[]));
        let outline = outline_of(rewritten.text.as_bytes()).join(" ");
        let ids = outline.split_whitespace().filter_map(|word| word.strip_prefix("+toolu_"));
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(calls(9), ["hook", "rule", "ask", "ok", "hook2", "read", "ag"]);
    assert_eq!(calls(1), ["ok", "hook2", "read", "ag"]);
    assert_eq!(calls(0), ["ok", "read", "ag"]);
}

#[test]
fn a_big_text_moves_and_the_parts_beside_it_stay() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let rewritten = checked(&bytes, &trim(0));
    let [spilled] = &rewritten.spilled[..] else { panic!("one text") };
    let entries = entries(&rewritten.text);
    let content = &find(&entries, "003")["message"]["content"][0]["content"];
    let pointer = content[0]["text"].as_str().unwrap();
    assert!(pointer.starts_with(&format!("[spilled to /w/spill/{}: ", spilled.name)), "{pointer}");
    assert!(spilled.text.starts_with("row 0001 of a very long listing\n"));
    assert_eq!(content[1]["text"], "tail note");
    assert!(rewritten.text.len() < 5000, "the structured copy shrinks too");
    assert!(checked(&bytes, &trim(1)).text.as_bytes() == bytes);
}

#[test]
fn what_is_big_can_be_told_and_the_path_can_be_copied() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let text = checked(&bytes, &trim(0)).spilled.remove(0).text;
    let characters = text.chars().count();
    let spilled = |min_chars, directory: &str| {
        let trim = Trim { keep: 0, min_chars, directory: directory.to_owned(), on_disk: None };
        checked(&bytes, &Policy { trim: Some(trim), gate: Gate::Open, ..heal() })
    };
    assert_eq!(spilled(characters, "/w/spill").spilled.len(), 1);
    assert_eq!(spilled(characters + 1, "/w/spill").spilled.len(), 0);
    assert_eq!(spilled(0, "/w/spill").spilled.len(), 1, "a pointer is never longer than what it stands for");
    let blanks = spilled(Trim::MIN_CHARS, "/my shop/spill");
    let expected = format!("[spilled to '/my shop/spill/{}': ", blanks.spilled[0].name);
    assert!(blanks.text.contains(&expected), "{}", blanks.text);
}

#[test]
fn arguments_move_when_their_file_is_on_disk() {
    let content = "line\n".repeat(500);
    let lines = [
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": "A", "name": "Write", "input": {"file_path": "/w/a", "content": content}}]}}),
        json!({"type": "user", "uuid": "3", "parentUuid": "2", "toolUseResult": {"content": content},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "A", "content": "written"}]}}),
    ];
    let bytes = lines.map(|line| format!("{line}\n")).concat().into_bytes();
    let with = |on_disk: &(dyn Fn(&str) -> bool + Sync)| {
        let trim = Trim {
            keep: 0,
            min_chars: Trim::MIN_CHARS,
            directory: "/w/spill".to_owned(),
            on_disk: Some(on_disk),
        };
        checked(&bytes, &Policy { trim: Some(trim), gate: Gate::Open, ..heal() }).text
    };
    let entries = entries(&with(&|path| path == "/w/a"));
    let short = "[left out: 2500 characters; what they came to is in /w/a]";
    assert_eq!(entries[1]["message"]["content"][0]["input"]["content"], short);
    assert_eq!(entries[2]["toolUseResult"]["content"], short);
    assert!(with(&|_| false).as_bytes() == bytes);
}

/// A session of glances, one a turn: `git status -s` with a result each.
fn glances(count: usize) -> Vec<u8> {
    let mut lines = vec![
        r#"{"type":"user","uuid":"0","parentUuid":null,"message":{"role":"user","content":"go"}}"#.to_owned(),
    ];
    for turn in 0..count {
        let (call, result, last) = (2 * turn + 1, 2 * turn + 2, 2 * turn);
        lines.push(format!(
            r#"{{"type":"assistant","uuid":"{call}","parentUuid":"{last}","message":{{"id":"m{turn}","role":"assistant","content":[{{"type":"tool_use","id":"t{turn}","name":"Bash","input":{{"command":"git status -s"}}}}]}}}}"#
        ));
        lines.push(format!(
            r#"{{"type":"user","uuid":"{result}","parentUuid":"{call}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"M file{turn}"}}]}},"toolUseResult":{{"stdout":"M file{turn}"}}}}"#
        ));
    }
    (lines.join("\n") + "\n").into_bytes()
}

#[test]
fn old_glances_expire_with_their_age() {
    let bytes = glances(8);
    let policy =
        |lang| Policy { expire: Some(Expire::default()), gate: Gate::Cold, ..Policy::heal_only(lang) };
    let results = |text: &str| -> Vec<String> {
        let results = entries(text).into_iter().filter(|entry| entry["type"] == "user").skip(1);
        results.map(|entry| entry["message"]["content"][0]["content"].as_str().unwrap().to_owned()).collect()
    };
    let chinese = results(&checked(&bytes, &policy(Lang::Zh)).text);
    assert_eq!(
        chinese[..3],
        [
            "[`git status -s` 的结果已过期(第 7 轮前),当前状态可能已变。需要请重新执行]",
            "[`git status -s` 的结果已过期(第 6 轮前),当前状态可能已变。需要请重新执行]",
            "M file2"
        ]
    );
    let english = checked(&bytes, &policy(Lang::En));
    assert_eq!(
        results(&english.text)[0],
        "[the result of `git status -s` has expired (it is 7 turns old); things may have changed since. \
         Run it again if you need it]"
    );
    assert!(!english.text.contains("M file0"), "the structured copy is gone too");
    assert_eq!(english.report.made[&Pass::Expire], 2);
}

#[test]
fn a_warm_cache_is_left_alone_until_an_edit_pays() {
    let bytes = glances(40);
    let with = |gate| checked(&bytes, &Policy { gate, ..Policy::default() });
    let warm = with(Gate::default());
    assert!(warm.text.as_bytes() == bytes);
    assert_eq!((warm.report.left[&Pass::Expire], warm.report.made.len()), (34, 0));
    assert_eq!(with(Gate::Cold).report.made[&Pass::Expire], 34);
    assert_eq!(with(Gate::Open).report.made[&Pass::Expire], 34);
}

#[test]
fn big_results_pay_for_a_cold_start() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let warm = checked(&bytes, &Policy { gate: Gate::default(), ..trim(0) });
    assert_eq!(warm.report.made[&Pass::Trim], 1);
    assert_eq!(warm.report.turns_to_break_even, Some(1));
}
