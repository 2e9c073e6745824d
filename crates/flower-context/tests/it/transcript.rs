//! The transcript model: recorded transcripts of two versions, and broken ones.

use std::collections::HashSet;

use flower_context::transcript::{
    Block, Content, Counts, EntryKind, MessageView, Note, Role, TailRepair, Thread, Transcript, decode, lines,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures;

/// Every transcript file among the recordings.
fn recorded() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for scenario in fixtures::scenarios() {
        for session in fixtures::sessions(&scenario) {
            let recording = fixtures::recording_of(&scenario, &session);
            files.push((format!("{scenario}/{session}"), recording.main));
            for worker in recording.workers {
                files.push((format!("{scenario}/{session}/{}", worker.agent_id), worker.entries));
            }
        }
    }
    files
}

/// The texts of a view in order, one line a message: role, then texts and ids of calls and results.
fn outline(view: &MessageView<'_, '_>) -> Vec<String> {
    let mut out = Vec::new();
    for message in &view.messages {
        let mut words = vec![format!("{:?}:", message.role)];
        for part in &message.parts {
            if let Content::Text(text) = &part.message.content {
                words.push(text.lines().next().unwrap_or_default().chars().take(40).collect());
            }
            for block in part.message.blocks() {
                words.push(block_outline(block));
            }
        }
        out.push(words.join(" "));
    }
    out
}

/// The outline of the conversation in a transcript.
pub(crate) fn outline_of(bytes: &[u8]) -> Vec<String> {
    outline(&Transcript::read(bytes).view())
}

fn block_outline(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => decode(*text).unwrap().chars().take(40).collect(),
        Block::Thinking(_) => "(thinking)".to_owned(),
        Block::RedactedThinking => "(redacted)".to_owned(),
        Block::ToolUse(tool_use) => format!("+{}", tool_use.id),
        Block::ToolResult(result) => format!("-{}", result.tool_use_id),
        Block::Image => "(image)".to_owned(),
        Block::Document => "(document)".to_owned(),
        Block::Other(kind) => format!("({kind:?})"),
    }
}

#[test]
fn recordings_come_back_byte_for_byte() {
    let files = recorded();
    assert_eq!(files.len(), 36);
    for (name, bytes) in files {
        let transcript = Transcript::read(&bytes);
        assert_eq!(transcript.notes(), [], "{name}");
        let mut written = Vec::new();
        for entry in transcript.entries() {
            written.extend_from_slice(entry.raw.as_bytes());
            written.push(b'\n');
        }
        assert!(written == bytes, "{name}");
        assert_eq!(lines(&bytes).count(), transcript.entries().len(), "{name}");
    }
}

#[test]
fn every_recorded_chain_reaches_a_root() {
    for (name, bytes) in recorded() {
        let transcript = Transcript::read(&bytes);
        let chain = transcript.chain();
        assert_eq!(chain.notes, [], "{name}");
        let root = chain.entries.first().unwrap();
        assert_eq!(root.envelope.parent_uuid, None, "{name}");
        assert!(root.kind() == EntryKind::User || root.is_compact_boundary(), "{name}");
        let view = MessageView::of(&transcript, &chain);
        assert_eq!(view.messages.first().unwrap().role, Role::User, "{name}");
    }
}

fn check_outline(bytes: &[u8], expected: &[&str]) {
    let transcript = Transcript::read(bytes);
    assert_eq!(outline(&transcript.view()), expected);
}

#[test]
fn parallel_calls_are_put_back_together() {
    for version in ["197", "332"] {
        check_outline(
            &fixtures::recording(&format!("parallel-calls-{version}")).main,
            &[
                "User: Do it in parallel.",
                "Assistant: (thinking) Running four. +toolu_A +toolu_B +toolu_C +toolu_D",
                "User: -toolu_B -toolu_D -toolu_A -toolu_C",
                "Assistant: +toolu_E +toolu_F",
                "User: -toolu_E -toolu_F",
                "Assistant: First turn over.",
                "User: And again?",
                "Assistant: Second turn over.",
            ],
        );
    }
    check_outline(
        &fixtures::case("B002", "session.jsonl"),
        &[
            "User: compare three files",
            "Assistant: Three reads at once. +toolu_b002a +toolu_b002bb +toolu_b002c",
            "User: -toolu_b002c -toolu_b002a -toolu_b002bb",
            "Assistant: Sums compared.",
        ],
    );
}

#[test]
fn a_result_may_come_before_the_next_call_of_its_message() {
    let bytes = transcript_of(&[
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        assistant("2", "1", "m", &json!({"type": "tool_use", "id": "A", "name": "Bash", "input": {}})),
        result("3", "2", "A"),
        assistant("4", "3", "m", &json!({"type": "tool_use", "id": "B", "name": "Bash", "input": {}})),
        result("5", "4", "B"),
        assistant("6", "5", "n", &json!({"type": "text", "text": "done"})),
    ]);
    check_outline(&bytes, &["User: go", "Assistant: +A +B", "User: -A -B", "Assistant: done"]);
}

#[test]
fn what_a_compaction_preserved_follows_the_summary() {
    check_outline(
        &fixtures::recording("compact-manual-332").main,
        &[
            "User: This session is being continued from a p",
            "Assistant: turn two",
            "User: <local-command-caveat>The command below  <command-name>/compact</command-name> \
             <local-command-stdout>Compacted </local- p3",
            "Assistant: Answer.",
        ],
    );
    check_outline(
        &fixtures::recording("compact-auto-332").main,
        &[
            "User: This session is being continued from a p",
            "Assistant: +toolu_B",
            "User: -toolu_B",
            "Assistant: Answer.",
            "User: p2",
            "Assistant: Answer.",
        ],
    );
}

#[test]
fn after_a_compaction_the_old_tail_is_no_leaf() {
    for name in ["compact-manual-197", "compact-auto-197", "compact-manual-332", "compact-auto-332"] {
        // Cut behind the summary, as if the process had been killed there: `last-prompt` names the old tail.
        let bytes = fixtures::recording(name).main;
        let transcript = Transcript::read(&bytes);
        let summary = transcript.entries().iter().find(|entry| entry.envelope.is_compact_summary).unwrap();
        let kept: Vec<_> =
            lines(&bytes).take_while(|line| line.number <= summary.line).map(|line| line.bytes).collect();
        let cut = Transcript::from_lines(kept);
        let outline = outline(&cut.view());
        assert!(outline[0].starts_with("User: This session is being continued"), "{name}: {outline:?}");
        assert!(
            outline.last().unwrap().contains("turn two") || outline.last().unwrap().contains("-toolu_B"),
            "{name}"
        );
    }
}

#[test]
fn interrupts_and_failed_requests_leave_a_conversation() {
    check_outline(
        &fixtures::recording("interrupted-197").main,
        &[
            "User: Go.",
            "Assistant: Two at once. +toolu_X +toolu_Y",
            "User: -toolu_Y -toolu_X [Request interrupted by user for tool us Never mind, go on.",
            "Assistant: Carrying on.",
        ],
    );
    check_outline(
        &fixtures::recording("api-errors-332").main,
        &[
            "User: p1",
            "Assistant: +toolu_A",
            "User: -toolu_A p2",
            "Assistant: Recovered.",
            "User: p3",
            "Assistant: Recovered again.",
            "User: p4 p5",
        ],
    );
}

#[test]
fn the_view_hides_no_fault() {
    check_outline(
        &fixtures::case("B001", "session.jsonl"),
        &["User: run the tests", "Assistant: Running them. +toolu_b001t1"],
    );
    check_outline(
        &fixtures::case("B001", "interrupted.jsonl"),
        &["User: count words", "Assistant: Delegating. +toolu_b001t1", "User: [Request interrupted by user]"],
    );
    check_outline(
        &fixtures::case("B004", "session.jsonl"),
        &[
            "User: -toolu_b004gone carry on with the report",
            "Assistant: Reading. +toolu_b004k",
            "User: -toolu_b004gone2 -toolu_b004k",
            "Assistant: Report read.",
            "User: -toolu_b004gone3 please also fix the title",
            "Assistant: Title fixed.",
        ],
    );
    check_outline(
        &fixtures::case("B005", "session.jsonl"),
        &[
            "User: build it",
            "Assistant: Building. +toolu_b005m",
            "User: -toolu_b005m -toolu_b005m",
            "Assistant: Build is fine.",
            "User: thanks, and the size? -toolu_b005m",
            "Assistant: The size is 4 MB.",
        ],
    );
    check_outline(
        &fixtures::case("B010", "session.jsonl"),
        &[
            "User: design the cache",
            "Assistant: (thinking) Looking at the code. +toolu_b010a",
            "User: -toolu_b010a",
            "Assistant: (redacted) (thinking) +toolu_b010bb",
            "User: -toolu_b010bb",
            "Assistant: (thinking) Design: two tiers.",
        ],
    );
}

#[test]
fn cycles_end_and_lose_nothing() {
    let bytes = fixtures::case("B006", "session.jsonl");
    check_outline(
        &bytes,
        &[
            "User: first question",
            "Assistant: first answer",
            "User: second question",
            "Assistant: second answer",
            "User: third question",
            "Assistant: third answer",
        ],
    );
    let transcript = Transcript::read(&bytes);
    let duplicate = "b0060000-0000-4000-8000-00000000dddd";
    assert_eq!(
        notes(transcript.notes()),
        [format!("line 3: uuid {duplicate} is used again on line 6, which counts")]
    );
    assert_eq!(
        notes(&transcript.chain().notes),
        [format!("line 7: parent {duplicate} leads back to this entry")]
    );

    check_outline(&fixtures::case("B006", "self-parent.jsonl"), &["User: self parent", "Assistant: answer"]);
}

#[test]
fn bad_links_cost_no_history() {
    let user = |uuid: &str, parent: &str| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": uuid}});
    let missing = transcript_of(&[user("1", "gone"), user("2", "1"), user("3", "gone"), user("4", "3")]);
    check_outline(&missing, &["User: 1 2 3 4"]);
    let circle = transcript_of(&[user("1", "3"), user("2", "1"), user("3", "2")]);
    check_outline(&circle, &["User: 1 2 3"]);
    let shuffled = transcript_of(&[user("3", "2"), user("2", "1"), user("4", "3"), user("1", "")]);
    check_outline(&shuffled, &["User: 1 2 3 4"]);
}

/// Enough that anything quadratic would not end before the patience of the test runner does.
const MANY: usize = 30_000;

#[test]
fn many_bad_links_take_linear_time() {
    let user = |index: usize, parent: usize| json!({"type": "user", "uuid": index.to_string(), "parentUuid": parent.to_string(), "message": {"content": "x"}});
    // Every parent is missing, is the entry itself, or closes a circle with its neighbour.
    for parent in [|_| 1_000_000, |index| index, |index: usize| index ^ 1] {
        let entries: Vec<_> = (0..MANY).map(|index| user(index, parent(index))).collect();
        let bytes = transcript_of(&entries);
        assert_eq!(Transcript::read(&bytes).chain().entries.len(), MANY);
    }
    // A uuid that comes back again and again, each time hanging off what followed it.
    let entries: Vec<_> =
        (0..MANY).map(|index| user(if index % 2 == 0 { 0 } else { index }, index - index % 2)).collect();
    let bytes = transcript_of(&entries);
    assert!(!Transcript::read(&bytes).chain().entries.is_empty());
}

#[test]
fn the_leaf_is_the_one_that_last_prompt_names_if_it_is_one() {
    let user = |uuid: &str, parent: &str| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": uuid}});
    let entries = [user("1", ""), user("2", "1"), user("3", "2"), user("fork", "1")];
    let with = |leaf: &str| {
        let row = json!({"type": "last-prompt", "leafUuid": leaf});
        transcript_of(&[&entries[..], &[row]].concat())
    };
    check_outline(&with("3"), &["User: 1 2 3"]);
    check_outline(&with("fork"), &["User: 1 fork"]);
    check_outline(&with("2"), &["User: 1 fork"]);
    check_outline(&with("nobody"), &["User: 1 fork"]);
}

#[test]
fn bad_lines_are_skipped_and_told() {
    let bytes = fixtures::case("B011", "session.jsonl");
    let transcript = Transcript::read(&bytes);
    let expected = Counts { conversation: 10, other: 0, unknown: 1, skipped: 6, blank: 1 };
    assert_eq!(transcript.line_counts(), expected);
    assert_eq!(
        notes(transcript.notes()),
        [
            "line 3: skipped: 512 NUL bytes",
            "line 6: empty line ignored",
            "line 7: skipped: not a JSON object",
            "line 8: skipped: not a JSON object",
            "line 9: skipped: not a JSON object",
            "line 12: skipped: not JSON: it ends too early",
            "line 13: unknown type \"brand-new-kind\" kept as it is",
            "line 15: 4 NUL bytes around it left out",
            "line 17: skipped: not UTF-8 at byte 0",
        ]
    );
    let spoken: Vec<_> =
        (1..=5).flat_map(|n| [format!("User: prompt {n}"), format!("Assistant: answer {n}")]).collect();
    assert_eq!(outline(&transcript.view()), spoken);
}

#[test]
fn marks_and_line_ends_of_other_editors_change_nothing() {
    let clean = fixtures::case("B013", "clean.jsonl");
    let clean = Transcript::read(&clean);
    for file in ["bom.jsonl", "crlf.jsonl", "bom-crlf.jsonl"] {
        let bytes = fixtures::case("B013", file);
        let transcript = Transcript::read(&bytes);
        let raws = |transcript: &Transcript<'_>| -> Vec<String> {
            transcript.entries().iter().map(|entry| entry.raw.to_owned()).collect()
        };
        assert_eq!(raws(&transcript), raws(&clean), "{file}");
        assert_eq!(transcript.line_counts().conversation, 5, "{file}");
    }
}

#[test]
fn the_file_of_a_subagent_has_its_own_chain() {
    let recording = fixtures::recording("subagents-197");
    let transcript = Transcript::read(&recording.workers[0].entries);
    assert_eq!(transcript.thread(), Thread::Agent(&recording.workers[0].agent_id));
    assert_eq!(outline(&transcript.view()).len(), 4);
}

fn notes(notes: &[Note]) -> Vec<String> {
    notes.iter().map(Note::to_string).collect()
}

pub(crate) fn transcript_of(entries: &[Value]) -> Vec<u8> {
    entries.iter().flat_map(|entry| format!("{entry}\n").into_bytes()).collect()
}

pub(crate) fn assistant(uuid: &str, parent: &str, message: &str, block: &Value) -> Value {
    let message = json!({"role": "assistant", "id": message, "content": [block]});
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message})
}

pub(crate) fn result(uuid: &str, parent: &str, id: &str) -> Value {
    let message =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": message})
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..2000)) {
        let transcript = Transcript::read(&bytes);
        transcript.view().resumed(TailRepair::Answer);
    }

    #[test]
    fn any_lines_can_be_read(pieces in vec(line_piece(), 0..40)) {
        let bytes = pieces.concat();
        let transcript = Transcript::read(&bytes);
        let view = transcript.view();
        view.resumed(TailRepair::Drop);
        // Nobody is sent twice, and nobody who does not exist.
        let sent: Vec<_> = view.messages.iter().flat_map(|message| &message.parts).map(|part| part.entry.index).collect();
        prop_assert_eq!(sent.len(), sent.iter().collect::<HashSet<_>>().len());
    }

    #[test]
    fn joining_lines_undoes_splitting(bytes in vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0), any::<u8>()], 0..500)) {
        let joined: Vec<u8> = lines(&bytes).flat_map(|line| line.bytes.to_vec()).collect();
        prop_assert_eq!(joined, bytes);
    }
}

/// Pieces of transcripts whose ids collide all the time.
pub(crate) fn line_piece() -> impl Strategy<Value = Vec<u8>> {
    let boundary = (0..6_u8, 0..6_u8, 0..6_u8).prop_map(|(head, anchor, tail)| {
        let segment = json!({"headUuid": head.to_string(), "anchorUuid": anchor.to_string(), "tailUuid": tail.to_string()});
        let metadata = json!({"preservedSegment": segment});
        let entry = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": metadata});
        format!("{entry}\n").into_bytes()
    });
    prop_oneof![9 => entry_piece(), 1 => boundary]
}

/// The same without compact boundaries.
fn entry_piece() -> impl Strategy<Value = Vec<u8>> {
    let entry = (0..5_usize, 0..6_u8, 0..6_u8, 0..3_u8, 0..3_u8, any::<bool>()).prop_map(
        |(kind, uuid, parent, message, call, sidechain)| {
            let block = match kind {
                0 => json!({"type": "text", "text": "t"}),
                1 => json!({"type": "tool_use", "id": call.to_string(), "name": "Bash", "input": {}}),
                2 => json!({"type": "tool_result", "tool_use_id": call.to_string(), "content": [{"type": "text"}]}),
                3 => json!({"type": "thinking", "thinking": "", "signature": "s"}),
                _ => json!(7),
            };
            let speaker = if kind % 2 == 0 { "user" } else { "assistant" };
            let thread = if sidechain { "worker" } else { "main" };
            let (uuid, parent) = (format!("{thread}-{uuid}"), format!("{thread}-{parent}"));
            let entry = json!({
                "type": speaker, "uuid": uuid, "parentUuid": parent, "isSidechain": sidechain,
                "message": {"id": message.to_string(), "content": [block]},
            });
            format!("{entry}\n").into_bytes()
        },
    );
    let last_prompt = (0..6_u8).prop_map(|leaf| {
        format!("{}\r\n", json!({"type": "last-prompt", "leafUuid": leaf.to_string()})).into_bytes()
    });
    prop_oneof![8 => entry, 1 => last_prompt, 1 => Just(b"\0\0{}\n\n[1]\n{\"ty\n".to_vec())]
}
