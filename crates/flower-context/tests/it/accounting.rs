//! Accounting: what the figures of recorded and made-up sessions are.

mod what_if;

use std::collections::{HashMap, HashSet};

use flower_context::accounting::{
    Calibration, Calls, Change, ColdCause, Figures, Ledger, PriceTable, Recorded, Session, Supposing, Terms,
    WhatIf, Worker, WorkerMeta,
};
use flower_context::transcript::Transcript;

use crate::fixtures::{self, Recording};

fn figures(recording: &Recording, denied_ids: &[&str]) -> Figures {
    let main = Transcript::read(&recording.main);
    let workers: Vec<_> = recording.workers.iter().map(|worker| Transcript::read(&worker.entries)).collect();
    let workers = recording.workers.iter().zip(&workers).map(|(worker, transcript)| Worker {
        agent_id: &worker.agent_id,
        meta: WorkerMeta::parse(&worker.meta),
        transcript,
    });
    let session = Session { id: &recording.session, main: &main, workers: workers.collect() };
    let denied_ids = denied_ids.iter().map(|id| (*id).to_owned()).collect();
    Figures::of(&[session], Terms { denied_ids: &denied_ids, spilled: None, prices: PriceTable::builtin() })
}

fn calls(figures: &Figures) -> String {
    let mut lines = Vec::new();
    for thread in &figures.threads {
        let who =
            thread.worker.as_ref().map_or("main", |worker| worker.agent_type.as_deref().unwrap_or("worker"));
        for (tool, Calls { called, failed, denied, interrupted }) in &thread.calls {
            lines.push(format!(
                "{who} {tool}: {called} called, {failed} failed, {denied} denied, {interrupted} interrupted"
            ));
        }
    }
    lines.join("\n")
}

#[test]
fn a_request_counts_once_however_many_lines_it_left() {
    let bytes = fixtures::case("B052", "session.jsonl");
    let transcript = Transcript::read(&bytes);
    let prices = PriceTable::parse(
        "[[price]]\nmodel='claude-sonnet-4-5'\nsince='2025-01-01'\ninput=3\noutput=15\ncache_read=0.3\n",
    )
    .unwrap();
    let session = Session { id: "b052", main: &transcript, workers: Vec::new() };
    let figures =
        Figures::of(&[session], Terms { denied_ids: &HashSet::new(), spilled: None, prices: &prices });
    let main = &figures.threads[0];
    assert_eq!((main.turns, main.prompts, figures.total.calls.called), (4, 2, 3));
    let model = &figures.models["claude-sonnet-4-5"];
    assert_eq!((model.input, model.cache_write_5m, model.cache_read, model.output), (52, 2450, 6700, 309));
    assert!((figures.dollars.unwrap() - 0.015_988_5).abs() < 1e-12, "{:?}", figures.dollars);
}

#[test]
fn denials_are_found_by_the_marker_of_the_harness() {
    let figures = figures(&fixtures::recording("denials-332"), &[]);
    insta::assert_snapshot!(calls(&figures), @r"
    main Agent: 1 called, 0 failed, 0 denied, 0 interrupted
    main Bash: 4 called, 0 failed, 3 denied, 0 interrupted
    main Read: 1 called, 0 failed, 0 denied, 0 interrupted
    main Write: 1 called, 0 failed, 1 denied, 0 interrupted
    analyst Bash: 1 called, 0 failed, 1 denied, 0 interrupted
    ");
    let denied: Vec<_> =
        figures.denials.iter().map(|denial| format!("{}: {}", denial.tool, denial.input)).collect();
    assert_eq!(
        denied,
        [
            "Bash: touch forbidden-by-hook",
            "Bash: rm -rf x",
            "Write: /repo/n.txt",
            "Bash: touch forbidden-by-hook2",
            "Bash: touch forbidden-by-hook"
        ]
    );
    let last = figures.denials.last().unwrap();
    assert_eq!(
        last.reason,
        "PreToolUse:Bash hook error: Blocked by the delegate guard: hand this to a worker."
    );
    assert_eq!(last.agent_id.as_deref(), Some("af0f0bd762664d952"));
}

#[test]
fn an_interrupted_call_is_no_failure_in_any_version() {
    for version in ["197", "332"] {
        let figures = figures(&fixtures::recording(&format!("interrupted-{version}")), &[]);
        assert_eq!((figures.total.calls.failed, figures.total.calls.interrupted), (0, 1), "{version}");
    }
}

#[test]
fn without_markers_the_caller_names_the_denied_calls() {
    let recording = fixtures::recording("denials-197");
    insta::assert_snapshot!(calls(&figures(&recording, &[])), @r"
    main Agent: 1 called, 0 failed, 0 denied, 0 interrupted
    main Bash: 4 called, 3 failed, 0 denied, 0 interrupted
    main Read: 1 called, 0 failed, 0 denied, 0 interrupted
    main Write: 1 called, 1 failed, 0 denied, 0 interrupted
    analyst Bash: 1 called, 1 failed, 0 denied, 0 interrupted
    ");
    insta::assert_snapshot!(calls(&figures(&recording, &["toolu_hook", "toolu_hook2", "toolu_sh"])), @r"
    main Agent: 1 called, 0 failed, 0 denied, 0 interrupted
    main Bash: 4 called, 1 failed, 2 denied, 0 interrupted
    main Read: 1 called, 0 failed, 0 denied, 0 interrupted
    main Write: 1 called, 1 failed, 0 denied, 0 interrupted
    analyst Bash: 1 called, 0 failed, 1 denied, 0 interrupted
    ");
}

#[test]
fn threads_are_kept_apart() {
    for (version, worker_contexts) in [("197", [2203, 2274]), ("332", [3261, 3190])] {
        let figures = figures(&fixtures::recording(&format!("subagents-{version}")), &[]);
        assert_eq!(figures.threads.len(), 3, "{version}");
        let newest = figures.threads[1..].iter().map(|worker| worker.context.last().unwrap().tokens);
        assert_eq!(newest.collect::<Vec<_>>(), worker_contexts, "{version}");
        assert_eq!((figures.main.turns, figures.workers.turns), (4, 5), "{version}");
        assert_eq!(figures.total.turns, figures.main.turns + figures.workers.turns, "{version}");
        assert_eq!(
            figures.total.characters.total(),
            figures.main.characters.total() + figures.workers.characters.total(),
            "{version}"
        );
        for thread in &figures.threads[1..] {
            let worker = thread.worker.as_ref().unwrap();
            assert_eq!(worker.agent_type.as_deref(), Some("analyst"));
            assert_eq!(worker.description.as_deref(), Some("count lines"));
            assert_eq!(thread.prompts, 1);
        }
    }
}

#[test]
fn a_worker_without_its_transcript_is_missed() {
    for version in ["197", "332"] {
        let mut recording = fixtures::recording(&format!("subagents-{version}"));
        assert_eq!(figures(&recording, &[]).missing_workers.len(), 0, "{version}");
        let gone = recording.workers.pop().unwrap();
        let missing = figures(&recording, &[]).missing_workers;
        assert_eq!(missing.into_iter().collect::<Vec<_>>(), [gone.agent_id], "{version}");
    }
}

#[test]
fn a_fork_is_not_counted_twice() {
    for version in ["197", "332"] {
        let original = fixtures::recording(&format!("fork-{version}"));
        let fork = fixtures::recording_of(&format!("fork-{version}"), "00000000-0000-4000-8000-000000000014");
        let (a, b) = (Transcript::read(&original.main), Transcript::read(&fork.main));
        let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
        let session = |id, main| Session { id, main, workers: Vec::new() };
        let both = Figures::of(&[session("a", &a), session("b", &b)], terms);
        assert_eq!(both.threads[0].turns, 4, "{version}");
        assert_eq!(both.threads[1].turns, 1, "{version}");
        assert_eq!(both.threads[1].prompts, 1, "{version}");
        assert_eq!(both.total.calls.called, 3, "{version}");
        // The first prompt of the fork holds the history of the original, and no head that is its own.
        assert!(both.threads[0].head_tokens > 0 && both.threads[1].head_tokens == 0, "{version}");
        let mut supposing = Supposing::default();
        supposing.add(&original.main, terms);
        supposing.add(&fork.main, terms);
        let recorded = supposing.close().supposed[0];
        let prompts = both.threads.iter().flat_map(|thread| &thread.context).map(|at| at.tokens).sum::<u64>();
        assert_eq!((recorded.change, recorded.tokens), (Change::Nothing, prompts), "{version}");
        assert!((recorded.dollars.unwrap() - both.dollars.unwrap()).abs() < 1e-12, "{version}");
    }
}

/// An answer of one text, with this usage where there is any.
fn answer(id: &str, rest: &str, usage: Option<(u64, u64)>) -> String {
    let usage = usage.map_or(String::new(), |(read, write)| {
        format!(r#","usage":{{"input_tokens":0,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{write},"output_tokens":0}}"#)
    });
    format!(
        r#"{{"type":"assistant","uuid":"{id}","timestamp":"2026-12-01T10:00:00.000Z"{rest},"message":{{"role":"assistant","id":"{id}","model":"claude-opus-5","content":[{{"type":"text","text":"four"}}]{usage}}}}}"#
    ) + "\n"
}

fn figures_of(bytes: &str) -> Figures {
    let main = Transcript::read(bytes.as_bytes());
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    Figures::of(&[Session { id: "s", main: &main, workers: Vec::new() }], terms)
}

#[test]
fn workers_in_the_file_of_the_main_thread_are_counted_as_workers() {
    let side = |parent: &str| format!(r#","isSidechain":true,"parentUuid":{parent}"#);
    let figures = figures_of(
        &[
            "no entry\n".to_owned(),
            answer("m1", "", Some((0, 10_000))),
            answer("x1", &side("null"), Some((0, 1_000))),
            answer("y1", &side("null"), Some((0, 2_000))),
            answer("x2", &side("\"x1\""), Some((1_000, 500))),
            answer("m2", "", Some((10_000, 100))),
        ]
        .concat(),
    );
    let threads: Vec<_> = figures
        .threads
        .iter()
        .map(|thread| {
            let name = thread.worker.as_ref().map_or("main", |worker| &worker.agent_id);
            (name, thread.context.iter().map(|at| at.tokens).collect::<Vec<_>>(), thread.skipped_lines)
        })
        .collect();
    assert_eq!(
        threads,
        [("main", vec![10_000, 10_100], 1), ("x1", vec![1_000, 1_500], 0), ("y1", vec![2_000], 0)]
    );
    assert_eq!((figures.main.turns, figures.workers.turns, figures.watermark), (2, 3, 10_100));
    // 13,600 tokens written at 6.25 and 11,000 read at 0.50 dollars a million.
    assert!((figures.dollars.unwrap() - (13_600.0 * 6.25 + 11_000.0 * 0.5) / 1e6).abs() < 1e-12);
}

#[test]
fn a_line_that_is_repeated_later_moves_no_turn() {
    let turns = [answer("m1", "", Some((0, 10_000))), answer("m2", "", Some((10_000, 100)))];
    let once = figures_of(&turns.concat());
    let again = figures_of(&[turns.concat(), turns[0].clone()].concat());
    assert_eq!(
        (again.threads[0].context.clone(), again.watermark),
        (once.threads[0].context.clone(), 10_100)
    );
    assert!(again.threads[0].cold.is_empty());
    // What was written last is what counts.
    let longer = turns[0].replace("\"four\"", "\"four more\"");
    assert_eq!(figures_of(&[turns.concat(), longer].concat()).main.characters.assistant, 13);
}

#[test]
fn a_turn_without_usage_is_a_turn_and_says_nothing_about_the_context() {
    let text = [answer("m1", "", Some((0, 10_000))), answer("m2", "", None)].concat();
    let figures = figures_of(&text);
    assert_eq!((figures.main.turns, figures.watermark, figures.peak), (2, 10_000, 10_000));
    let unnamed = figures_of(
        &[answer("m1", "", Some((0, 10_000))), answer("m2", "", None).replace("claude-opus-5", "")].concat(),
    );
    assert_eq!(unnamed.dollars, figures.dollars, "nothing costs nothing, whoever answered");
}

#[test]
fn made_up_usage_overflows_nothing() {
    let turns = |tokens| {
        let usage = Some((tokens, tokens));
        [answer("m1", "", usage), answer("m2", "", usage), answer("m3", "", usage)].concat()
    };
    let most = 1_000_000_000_000;
    let figures = figures_of(&turns(most));
    assert_eq!(figures.models["claude-opus-5"].cache_read, 3 * most);
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    assert_eq!(WhatIf::of(turns(most).as_bytes(), terms).supposed[0].tokens, 6 * most);
    // More is damage, and as good as no usage.
    assert_eq!(
        (figures_of(&turns(u64::MAX)).watermark, figures_of(&turns(u64::MAX)).dollars),
        (0, Some(0.0))
    );
}

#[test]
fn the_watermark_is_the_newest_context_and_the_peak_the_largest() {
    let figures = figures(&fixtures::recording("compact-auto-197"), &[]);
    let context: Vec<_> = figures.threads[0].context.iter().map(|at| at.tokens).collect();
    assert_eq!(context, [4349, 90_000, 30_000, 30_000]);
    assert_eq!((figures.watermark, figures.peak), (30_000, 90_000));
}

#[test]
fn a_compaction_starts_a_new_trend_and_a_jump_of_made_up_usage_fits_nothing() {
    for version in ["197", "332"] {
        let figures = figures(&fixtures::recording(&format!("compact-auto-{version}")), &[]);
        let thread = &figures.threads[0];
        assert_eq!((thread.trend.since_turn, thread.trend.slope), (3, None), "{version}");
        assert_eq!(figures.calibration, Calibration::default(), "{version}");
        assert_eq!(thread.cold.len(), 1, "{version}");
        assert_eq!(thread.cold[0].cause, ColdCause::HeadOrEviction, "{version}");
    }
}

#[test]
fn a_result_that_the_harness_persisted_is_found_with_its_size() {
    for version in ["197", "332"] {
        let figures = figures(&fixtures::recording(&format!("large-output-{version}")), &[]);
        let spills = figures.total.spills;
        assert_eq!((spills.persisted, spills.persisted_bytes, spills.spilled), (1, 43_893, 0), "{version}");
        let largest: Vec<_> = figures.threads[0].largest.iter().map(|large| &*large.input).collect();
        assert_eq!(largest, ["seq 1 9000; exit 2", "seq 1 9000"], "{version}");
    }
}

/// A call and its result, as two lines.
fn call(id: &str, result: &str) -> String {
    let call = serde_json::json!({"type": "assistant", "uuid": format!("{id}-1"), "message": {"role": "assistant", "id": id,
        "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/a"}}]}});
    let result = serde_json::json!({"type": "user", "uuid": format!("{id}-2"), "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}});
    format!("{call}\n{result}\n")
}

#[test]
fn what_is_on_record_counts_and_else_what_pointers_say() {
    let pointer = |digit: &str| {
        format!("[spilled to /w/.flower/spill/{}.txt: 5000 characters, 9 lines]", digit.repeat(16))
    };
    let back = r#"{"type":"assistant","uuid":"back","message":{"role":"assistant","id":"back","content":[
        {"type":"tool_use","id":"back","name":"Read","input":{"file_path":"/w/.flower/spill/1111111111111111.txt"}}]}}"#;
    let bytes = [
        call("bash", &pointer("1")),
        call("read", &format!("     1\tfirst\n     2\t{}", pointer("2"))),
        call("list", &format!("a\nb\nand 7 more: {}", pointer("3"))),
        call("notes", &format!("It said {}.", pointer("4"))),
        call("quoted", &pointer("5")),
        call("refused", "the whole text"),
        back.replace('\n', ""),
    ]
    .concat();
    let main = Transcript::read(bytes.as_bytes());
    let session = Session { id: "s", main: &main, workers: Vec::new() };
    let denied_ids = HashSet::new();
    let terms = |spilled| Terms { denied_ids: &denied_ids, spilled, prices: PriceTable::builtin() };
    let count = |spilled| Figures::of(std::slice::from_ref(&session), terms(spilled)).main.spills;

    let by_pointers = count(None);
    assert_eq!((by_pointers.spilled, by_pointers.spilled_characters, by_pointers.read_back), (4, 20_000, 1));

    let record =
        |digit: &str| Recorded { names: vec![format!("{}.txt", digit.repeat(16))], characters: 7000 };
    let records: HashMap<_, _> =
        [("bash", "1"), ("read", "2")].map(|(call, digit)| (call.to_owned(), record(digit))).into();
    let by_records = count(Some(&records));
    assert_eq!((by_records.spilled, by_records.spilled_characters, by_records.read_back), (2, 14_000, 1));
}

#[test]
fn every_recording_adds_up() {
    for scenario in fixtures::scenarios() {
        let figures = figures(&fixtures::recording(&scenario), &[]);
        let turns: u64 =
            figures.days.values().flat_map(|models| models.values()).map(|used| used.turns).sum();
        assert_eq!(turns, figures.total.turns, "{scenario}");
        let by_day: f64 =
            figures.days.values().flat_map(|models| models.values()).filter_map(|used| used.dollars).sum();
        let by_turn: f64 =
            figures.threads.iter().flat_map(|thread| &thread.context).filter_map(|at| at.dollars).sum();
        let sum = figures.dollars.unwrap();
        assert!(
            (by_day - sum).abs() < 1e-9 && (by_turn - sum).abs() < 1e-9,
            "{scenario}: {by_day} {by_turn} {sum}"
        );
        for thread in &figures.threads {
            let counted =
                [thread.characters, thread.tokens].map(|kinds| kinds.amounts().map(|amount| amount > 0));
            assert_eq!(counted[0], counted[1], "{scenario}");
            let first = thread.context.first().map_or(0, |at| at.tokens);
            assert!(thread.head_tokens <= first, "{scenario}");
        }
        let read: Figures = serde_json::from_str(&serde_json::to_string(&figures).unwrap()).unwrap();
        assert_eq!((read.threads.len(), read.total), (figures.threads.len(), figures.total), "{scenario}");
    }
}

#[test]
fn sessions_counted_one_after_the_other_come_to_the_same() {
    let names = ["fork-332", "denials-332", "subagents-197"];
    let recordings = names.map(fixtures::recording);
    let read = recordings.each_ref().map(|recording| Transcript::read(&recording.main));
    let sessions = names.iter().zip(&read).map(|(id, main)| Session { id, main, workers: Vec::new() });
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    let together = Figures::of(&sessions.collect::<Vec<_>>(), terms);
    let mut ledger = Ledger::default();
    for (id, recording) in names.iter().zip(&recordings) {
        let main = Transcript::read(&recording.main);
        ledger.add(&Session { id, main: &main, workers: Vec::new() }, terms);
    }
    assert_eq!(ledger.close(), together);
}
