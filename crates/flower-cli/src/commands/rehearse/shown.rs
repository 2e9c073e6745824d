//! The receipt as people and programs see it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flower::receipt::Receipt;
use flower::runtime::Outcome;
use flower_context::accounting::{ThreadFigures, Totals};
use flower_context::fill;
use serde::Serialize;

use crate::console::{harmless, one_line};
use crate::texts::Texts;

/// Where everything lies.
#[derive(Debug, Serialize)]
pub(super) struct Places {
    pub(super) workspace: PathBuf,
    pub(super) store: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) transcripts: PathBuf,
    pub(super) artifacts: PathBuf,
}

/// The last line of `--json`.
#[derive(Serialize)]
pub(super) struct ReceiptLine<'a> {
    event: &'static str,
    #[serde(flatten)]
    receipt: &'a Receipt,
    places: &'a Places,
}

impl<'a> ReceiptLine<'a> {
    pub(super) fn new(receipt: &'a Receipt, places: &'a Places) -> Self {
        Self { event: "receipt", receipt, places }
    }
}

/// The lines for people.
pub(super) fn lines(receipt: &Receipt, outcome: &Outcome, places: &Places, texts: &Texts) -> Vec<String> {
    let mut lines = Vec::new();
    let ok = receipt.steps.iter().all(|step| step.ok) && !receipt.steps.is_empty();
    lines.push(if ok { texts.receipt_title_ok } else { texts.receipt_title_failed }.to_owned());
    if !outcome.text.is_empty() {
        section(&mut lines, texts.receipt_answer);
        lines.extend(harmless(&outcome.text).lines().map(|line| format!("  {line}")));
    }
    who(&mut lines, receipt, texts);
    denied(&mut lines, receipt, texts);
    context_and_cost(&mut lines, receipt, texts);
    section(&mut lines, texts.receipt_disk);
    let store = fill(
        texts.receipt_store_line,
        &[("path", &places.store.display().to_string()), ("entries", &grouped(receipt.entries as u64))],
    );
    for (label, place) in [
        (texts.receipt_workspace, places.workspace.display().to_string()),
        (texts.receipt_store, store),
        (texts.receipt_manifest, places.manifest.display().to_string()),
        (texts.receipt_transcripts, places.transcripts.display().to_string()),
        (texts.receipt_artifacts, places.artifacts.display().to_string()),
    ] {
        lines.push(format!("  {}{place}", padded(label, 14)));
    }
    lines
}

fn section(lines: &mut Vec<String>, title: &str) {
    lines.push(String::new());
    lines.push(title.to_owned());
}

fn who(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    let figures = &receipt.figures;
    section(lines, texts.receipt_who);
    lines.push(format!(
        "  {}{}{}{}",
        padded("", 24),
        right(texts.receipt_calls, 8),
        right(texts.receipt_characters, 12),
        right(texts.receipt_share, 8)
    ));
    let all = figures.total.characters.total();
    let mut row = |label: &str, calls: u64, characters: u64| {
        lines.push(format!(
            "  {}{:>8}{:>12}{:>8}",
            padded(label, 24),
            grouped(calls),
            grouped(characters),
            percent(characters, all)
        ));
    };
    let total = |totals: &Totals| (totals.calls.called, totals.characters.total());
    let (calls, characters) = total(&figures.main);
    row(texts.receipt_main, calls, characters);
    let (calls, characters) = total(&figures.workers);
    row(texts.receipt_workers, calls, characters);
    for thread in &figures.threads {
        if let Some(worker) = &thread.worker {
            let what =
                worker.description.as_deref().or(worker.agent_type.as_deref()).unwrap_or(&worker.agent_id);
            let calls = thread.calls.values().map(|calls| calls.called).sum();
            row(&format!("  {}", one_line(what, 20)), calls, thread.characters.total());
        }
    }
    let by_tool = |of_worker: bool| {
        let mut tools = BTreeMap::<&str, u64>::new();
        let threads =
            figures.threads.iter().filter(|thread: &&ThreadFigures| thread.worker.is_some() == of_worker);
        for (tool, calls) in threads.flat_map(|thread| &thread.calls) {
            *tools.entry(tool).or_default() += calls.called;
        }
        let list: Vec<String> =
            tools.iter().map(|(tool, count)| format!("{} {count}", one_line(tool, 40))).collect();
        if list.is_empty() { "-".to_owned() } else { list.join(", ") }
    };
    section(lines, texts.receipt_tools);
    lines.push(format!("  {}{}", padded(texts.receipt_main, 14), by_tool(false)));
    lines.push(format!("  {}{}", padded(texts.receipt_workers, 14), by_tool(true)));
}

fn denied(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    section(lines, texts.receipt_denied);
    if receipt.figures.denials.is_empty() {
        lines.push(format!("  {}", texts.receipt_nothing_denied));
    }
    for denial in &receipt.figures.denials {
        lines.push(format!("  {} `{}`", one_line(&denial.tool, 40), one_line(&denial.input, 80)));
        lines.push(format!("    {}", one_line(&denial.reason, 200)));
    }
}

fn context_and_cost(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    let figures = &receipt.figures;
    section(lines, texts.receipt_context);
    let line = fill(
        texts.receipt_context_line,
        &[
            ("watermark", &grouped(figures.watermark)),
            ("peak", &grouped(figures.peak)),
            ("turns", &grouped(figures.main.turns)),
        ],
    );
    lines.push(format!("  {line}"));
    section(lines, texts.receipt_cost);
    for (model, used) in &figures.models {
        let dollars = used.dollars.map_or_else(|| "?".to_owned(), |dollars| format!("{dollars:.4}"));
        let line = fill(
            texts.receipt_cost_line,
            &[
                ("dollars", &dollars),
                ("input", &grouped(used.input)),
                ("read", &grouped(used.cache_read)),
                ("write", &grouped(used.cache_write_5m + used.cache_write_1h)),
                ("output", &grouped(used.output)),
                ("hits", &percent(used.cache_read, used.prompt())),
            ],
        );
        lines.push(format!("  {}: {line}", one_line(model, 60)));
    }
}

fn percent(part: u64, whole: u64) -> String {
    // Rounded to the nearest.
    match part.saturating_mul(200).saturating_add(whole).checked_div(whole.saturating_mul(2)) {
        Some(percent) => format!("{percent} %"),
        None => "-".to_owned(),
    }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Columns of a terminal that a text takes: Chinese characters take two.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if ('\u{1100}'..='\u{ffe6}').contains(&c) && !('\u{2000}'..='\u{2e7f}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text)).max(1)))
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(percent(1, 3), "33 %");
        assert_eq!(percent(2, 3), "67 %");
        assert_eq!(percent(1, 0), "-");
    }

    #[test]
    fn columns_line_up_in_both_languages() {
        assert_eq!(width(&padded("工作区", 14)), 14);
        assert_eq!(padded("workspace", 14), "workspace     ");
        assert_eq!(right("字符", 12).chars().count(), 10);
    }

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
            calls: [("Bash".to_owned(), calls(5))].into(),
            characters: characters(41_231),
            ..ThreadFigures::default()
        };
        let totals = |called, tool_results| Totals {
            turns: 5,
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
            total: totals(9, 43_576),
            main: totals(4, 2_345),
            workers: totals(5, 41_231),
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
            run: "r".to_owned(),
            steps: vec![
                serde_json::from_value(serde_json::json!({
                    "run": "r", "step": "s", "ok": true, "started_at": "", "ended_at": "",
                }))
                .unwrap(),
            ],
            sessions: vec!["s".to_owned()],
            entries: 80,
            figures,
            cost_usd: 0.1367,
        }
    }

    fn shown(texts: &Texts) -> String {
        let outcome = Outcome {
            run: "r".to_owned(),
            step: "s".to_owned(),
            text: "data/ holds 7 files.\n\u{7}Done.".to_owned(),
            failure: None,
            sessions: Vec::new(),
            cost_usd: 0.1367,
            turns: 5,
            context_watermark: 12_410,
            model_usage: BTreeMap::new(),
            denials: Vec::new(),
            spills: Vec::new(),
            rewritten: Vec::new(),
            handoffs: Vec::new(),
        };
        let places = Places {
            workspace: "/w".into(),
            store: "/w/.flower/runs/sessions.db".into(),
            manifest: "/w/.flower/runs/manifest.jsonl".into(),
            transcripts: "/c/projects/-w".into(),
            artifacts: "/w/.flower/artifacts".into(),
        };
        lines(&receipt(), &outcome, &places, texts).join("\n")
    }

    #[test]
    fn people_read_this() {
        insta::assert_snapshot!(shown(crate::texts::texts(flower_context::Lang::En)), @r#"
        The rehearsal reached its end. What follows is read from the store.

        Answer
          data/ holds 7 files.
          Done.

        Who did it
                                     calls  characters   share
          main thread                    4       2,345     5 %
          workers                        5      41,231    95 %
            Count [2J everything…        5      41,231    95 %

        Calls by tool
          main thread   Agent 2, Bash 2
          workers       Bash 5

        Denied
          Bash `sort a > b`
            Hand it to a worker.

        Context
          12,410 tokens in the main thread at the end, 12,410 at the most, 5 turns

        Cost
          claude-opus-5-5: $0.1367 (input 0, cache read 72,656, cache write 18,996, output 1,360 tokens; 79 % of the prompt from the cache)

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
        insta::assert_snapshot!(shown(crate::texts::texts(flower_context::Lang::Zh)), @r#"
        排练走到了终点。以下内容读自存储。

        回答
          data/ holds 7 files.
          Done.

        谁做了多少
                                      调用        字符    占比
          主线程                         4       2,345     5 %
          执行者                         5      41,231    95 %
            Count [2J everything…        5      41,231    95 %

        按工具计的调用
          主线程        Agent 2, Bash 2
          执行者        Bash 5

        被拒绝的
          Bash `sort a > b`
            Hand it to a worker.

        上下文
          主线程结束时 12,410 token,最多时 12,410,共 5 轮

        花费
          claude-opus-5-5: $0.1367(输入 0、缓存读 72,656、缓存写 18,996、输出 1,360 token;提示的 79 % 来自缓存)

        在磁盘上
          工作区        /w
          存储          /w/.flower/runs/sessions.db(80 条)
          清单          /w/.flower/runs/manifest.jsonl
          会话记录      /c/projects/-w
          产出          /w/.flower/artifacts
        "#);
    }
}
