use flower_context::accounting::{ContextAt, Figures, Script, ThreadFigures, Totals, Trend};

use super::*;

#[test]
fn numbers_are_read_in_groups() {
    for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), expected);
    }
    assert_eq!(percent(1, 3), "33.3 %");
    assert_eq!(percent(2, 3), "66.7 %");
    assert_eq!(percent(1999, 2000), "100.0 %");
    assert_eq!(percent(1, 0), "-");
}

#[test]
fn columns_line_up_in_both_languages() {
    assert_eq!(padded("工作区", 14).width(), 14);
    assert_eq!(padded("workspace", 14), "workspace     ");
    assert_eq!(right("字符", 12).chars().count(), 10);
}

const ANSWER: &str = "data/ holds 7 files.\n\u{7}Done.";

/// A receipt as the built-in rehearsal leaves it, with hostile words where a model's words stand.
fn receipt() -> Receipt {
    use flower_context::accounting::{ByKind, Calls, Denial, ModelFigures, WorkerMeta};
    let calls = |called| Calls { called, ..Calls::default() };
    let characters = |tool_results| ByKind { tool_results, ..ByKind::default() };
    let main = ThreadFigures {
        calls: [("Agent".to_owned(), calls(2)), ("Bash".to_owned(), calls(2))].into(),
        characters: characters(2_345),
        ..ThreadFigures::default()
    };
    let worker = ThreadFigures {
        worker: Some(WorkerMeta {
            description: Some("Count\u{1b}[2J everything there is".to_owned()),
            ..WorkerMeta::default()
        }),
        turns: 5,
        calls: [("Bash".to_owned(), calls(5))].into(),
        characters: characters(41_231),
        ..ThreadFigures::default()
    };
    let totals = |turns, called, tool_results| Totals {
        turns,
        calls: calls(called),
        characters: characters(tool_results),
        ..Totals::default()
    };
    let used = ModelFigures {
        turns: 9,
        output: 1_360,
        cache_read: 72_656,
        cache_write_5m: 18_996,
        dollars: Some(0.1367),
        ..ModelFigures::default()
    };
    let figures = flower_context::accounting::Figures {
        threads: vec![main, worker],
        total: totals(9, 9, 43_576),
        main: totals(4, 4, 2_345),
        workers: totals(5, 5, 41_231),
        models: [("claude-opus-5-5".to_owned(), used)].into(),
        watermark: 12_410,
        peak: 12_410,
        denials: vec![Denial {
            tool_use_id: "toolu_1".to_owned(),
            session: "s".to_owned(),
            agent_id: None,
            tool: "Bash".to_owned(),
            input: "sort a > b".to_owned(),
            reason: "Hand it to a\nworker.".to_owned(),
            timestamp: None,
        }],
        ..flower_context::accounting::Figures::default()
    };
    Receipt {
        runs: vec!["r".to_owned()],
        steps: vec![
            serde_json::from_value(serde_json::json!({
                "run": "r", "step": "s", "ok": true, "started_at": "", "ended_at": "",
            }))
            .unwrap(),
        ],
        sessions: vec!["s".to_owned()],
        entries: 80,
        spills: Vec::new(),
        resumes: Vec::new(),
        warmth: Vec::new(),
        handoffs: Vec::new(),
        cut_off: Vec::new(),
        figures,
        cost_usd: 0.1367,
    }
}

fn shown(receipt: &Receipt, answers: &[&str], texts: &Texts) -> String {
    let places = Places {
        workspace: "/w".into(),
        store: "/w/.flower/runs/sessions.db".into(),
        manifest: "/w/.flower/runs/manifest.jsonl".into(),
        transcripts: "/c/projects/-w".into(),
        artifacts: "/w/.flower/artifacts".into(),
    };
    lines(receipt, answers, &places, texts).join("\n")
}

#[test]
fn people_read_this() {
    insta::assert_snapshot!(shown(&receipt(), &[ANSWER], crate::texts::texts(flower_context::Lang::En)), @r#"
    The rehearsal reached its end. What follows is read from the store.

    Answer
      data/ holds 7 files.
      Done.

    Who did it
                                 turns   calls  characters    share
      main thread                    4       4       2,345    5.4 %
      workers                        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
      workers: 55.6 % of the turns, 94.6 % of the characters, 55.6 % of the calls; 5 calls by their hands, 2 by those of the main thread

    Calls by tool
      main thread   Agent 2, Bash 2
      workers       Bash 5

    Denied
      Bash `sort a > b`
        Hand it to a worker.

    Context
      12,410 tokens in the main thread at the end, 12,410 at the most, 4 turns

    Cost
      claude-opus-5-5: $0.1367 (input 0, cache read 72,656, cache write 18,996, output 1,360 tokens; 79.3 % of the prompt from the cache)

    On disk
      workspace     /w
      store         /w/.flower/runs/sessions.db (80 entries)
      manifest      /w/.flower/runs/manifest.jsonl
      transcripts   /c/projects/-w
      artifacts     /w/.flower/artifacts
    "#);
}

#[test]
fn people_read_this_in_chinese() {
    insta::assert_snapshot!(shown(&receipt(), &[ANSWER], crate::texts::texts(flower_context::Lang::Zh)), @r#"
    排练走到了终点。以下内容读自存储。

    回答
      data/ holds 7 files.
      Done.

    谁做了多少
                                  轮次    调用        字符     占比
      主线程                         4       4       2,345    5.4 %
      执行者                         5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
      执行者:轮次的 55.6 %,字符的 94.6 %,调用的 55.6 %;动手的调用 5 次,主线程自己 2 次

    按工具计的调用
      主线程        Agent 2, Bash 2
      执行者        Bash 5

    被拒绝的
      Bash `sort a > b`
        Hand it to a worker.

    上下文
      主线程结束时 12,410 token,最多时 12,410,共 4 轮

    花费
      claude-opus-5-5: $0.1367(输入 0、缓存读 72,656、缓存写 18,996、输出 1,360 token;提示的 79.3 % 来自缓存)

    在磁盘上
      工作区        /w
      存储          /w/.flower/runs/sessions.db(80 条)
      清单          /w/.flower/runs/manifest.jsonl
      会话记录      /c/projects/-w
      产出          /w/.flower/artifacts
    "#);
}

/// A receipt of two steps in which every layer had something to do.
fn long_run() -> Receipt {
    use flower::receipt::{CutOff, StoredSpill, Warmth};
    use flower::runtime::HandedOver;
    use flower_context::rewrite::{Pass, Report};
    let step = |ok: bool, sessions: &[&str]| {
        let error =
            if ok { serde_json::Value::Null } else { serde_json::json!({"kind": "api", "text": "529"}) };
        serde_json::from_value(serde_json::json!({
            "run": "r", "step": "s", "ok": ok, "error": error, "attempts": sessions.len(), "turns": 12, "cost_usd": 0.25,
            "sessions": sessions, "started_at": if ok { "0" } else { "2" }, "ended_at": "",
            "waits": if ok { serde_json::json!([]) } else {
                serde_json::json!([{"cause": "overloaded", "seconds": 5.25}, {"cause": "overloaded", "seconds": 10.5}])
            },
        }))
        .unwrap()
    };
    let handoff = |generation: u32, degraded: Option<&str>| HandedOver {
        generation,
        document: format!("/w/.flower/notes/handoff-{generation}-aaaaaaaa.md").into(),
        degraded: degraded.map(str::to_owned),
    };
    let spill =
        |tool: &str, taken| StoredSpill { tool: tool.into(), worker: None, before: 9_000, after: 800, taken };
    Receipt {
        steps: vec![step(true, &["aaaaaaaa-1", "bbbbbbbb-2"]), step(false, &["bbbbbbbb-2"])],
        spills: vec![spill("Bash", true), spill("Read", true), spill("Bash", true), spill("Grep", false)],
        resumes: vec![
            Report {
                made: [(Pass::Expire, 4), (Pass::PruneDenials, 1)].into(),
                left: [(Pass::Trim, 2)].into(),
                tokens_saved: 3_456,
                tokens_made_cold: 7_890,
                turns_to_break_even: Some(27),
                thinking_dropped: 0,
            },
            Report::default(),
        ],
        warmth: vec![
            Warmth { step: 2, kept: 18_200, read: 9_489, written: 2_499 },
            Warmth { step: 3, kept: 12_206, read: 12_206, written: 28 },
        ],
        figures: grown(receipt().figures),
        handoffs: vec![handoff(1, None), handoff(2, Some("its context\nwas full"))],
        cut_off: vec![CutOff {
            run: "q".into(),
            step: "k".into(),
            session: "aaaaaaaa-1".into(),
            at: "1".into(),
        }],
        ..receipt()
    }
}

/// The same with seventy turns of growth, two scripts and a dozen workers.
fn grown(mut figures: Figures) -> Figures {
    let at = |tokens| ContextAt { tokens, ..ContextAt::default() };
    figures.threads[0].context = (0..70).map(|turn| at(28_700 + turn * 2_278)).collect();
    figures.threads[0].trend =
        Trend { since_turn: 1, slope: Some(2_278.4), window: Some(1_000_000), turns_left: Some(358) };
    figures.threads.extend(vec![figures.threads[1].clone(); 11]);
    let script = |runs| Script { path: "/w/.flower/scripts/check.sh".into(), written: 2, runs };
    figures.scripts = vec![script(9), script(1)];
    figures
}

#[test]
fn steps_and_layers_are_told_where_there_is_something_to_tell() {
    let parts = |lang| {
        let shown = shown(&long_run(), &["First.", "Second."], crate::texts::texts(lang));
        let parts: Vec<&str> = shown.split("\n\n").collect();
        [1, 2, 3, 4, 7, 8].map(|part| parts[part]).join("\n")
    };
    insta::assert_snapshot!(parts(flower_context::Lang::En), @r#"
    Answer 1
      First.
    Answer 2
      Second.
    Steps
      1. done: turns 12, starts of the harness 2, $0.2500, sessions aaaaaaaa…, bbbbbbbb…
      -  cut off before its end: session aaaaaaaa…
      2. failed (api): turns 12, starts of the harness 1, $0.2500, sessions bbbbbbbb…, waits 2 (15.8 s in all: overloaded)
    Who did it
                                 turns   calls  characters    share
      main thread                    4       4       2,345    5.4 %
      workers                        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        and 2 more
      workers: 55.6 % of the turns, 94.6 % of the characters, 55.6 % of the calls; 5 calls by their hands, 2 by those of the main thread
    What the layers did
      spilled       3 results, 24,600 characters kept out (Bash 2, Read 1)
                    the harness kept 1 that were to be spilled
      resumed       expire 4, prune denials 1; about 3,456 tokens less on every later turn, 7,890 tokens cold once, 27 turns to break even; left because they would not pay: trim 2
                    nothing to rewrite
      cache         step 2 read 9,489 of the 18,200 tokens that the session had in the cache, and wrote 2,499
                    step 3 read all 12,206 tokens that the session had in the cache: nothing was written again, 28 tokens are new
      scripts       2 written (4 times), run 10 times; 50.0 % of them more than once
      handed over   session 1: /w/.flower/notes/handoff-1-aaaaaaaa.md
                    session 2: /w/.flower/notes/handoff-2-aaaaaaaa.md (degraded: its context was full)
    Context
      12,410 tokens in the main thread at the end, 12,410 at the most, 4 turns
      grew from 28,700 to 185,882 tokens in 70 turns: 2278 more each turn; 358 turns left to the window of 1,000,000
    "#);
    insta::assert_snapshot!(parts(flower_context::Lang::Zh), @r#"
    回答 1
      First.
    回答 2
      Second.
    各步
      1. 完成:12 轮,启动运行框架 2 次,$0.2500,会话 aaaaaaaa…, bbbbbbbb…
      -  没到终点就被切断:会话 aaaaaaaa…
      2. 失败(api):12 轮,启动运行框架 1 次,$0.2500,会话 bbbbbbbb…,等待 2 次(共 15.8 秒:overloaded)
    谁做了多少
                                  轮次    调用        字符     占比
      主线程                         4       4       2,345    5.4 %
      执行者                         5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        Count [2J everything…        5       5      41,231   94.6 %
        另有 2 个
      执行者:轮次的 55.6 %,字符的 94.6 %,调用的 55.6 %;动手的调用 5 次,主线程自己 2 次
    各层做了什么
      外存          3 个结果,24,600 个字符没有进入上下文(Bash 2, Read 1)
                    运行框架留下了 1 个本该外存的结果
      续跑          过期 4, 剪除拒绝 1;以后每一轮大约少 3,456 token,一次性变冷 7,890 token,27 轮回本;因不划算而保留:裁剪 2
                    没有要重写的
      缓存          第 2 步从会话在缓存里的 18,200 token 中读到 9,489,写入 2,499
                    第 3 步读到了会话在缓存里的全部 12,206 token:没有重写任何一个,新写 28 token
      脚本          写了 2 个(4 次),运行 10 次;50.0 % 运行过不止一次
      交接          第 1 个会话:/w/.flower/notes/handoff-1-aaaaaaaa.md
                    第 2 个会话:/w/.flower/notes/handoff-2-aaaaaaaa.md(降级:its context was full)
    上下文
      主线程结束时 12,410 token,最多时 12,410,共 4 轮
      70 轮里从 28,700 涨到 185,882 token:每轮多 2278;离 1,000,000 的窗口还有 358 轮
    "#);
}
