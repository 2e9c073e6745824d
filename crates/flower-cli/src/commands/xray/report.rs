//! The report as sections of notes and tables, whatever shows them.
//!
//! All text from models, tools and file names becomes one harmless line here; what shows it escapes it for its own syntax.

use std::collections::BTreeMap;

use flower::source::Found;
use flower_context::accounting::{
    ByKind, Calls, Change, ColdCause, Figures, LargeResult, ModelFigures, ThreadFigures, Trend, WhatIf,
};
use flower_context::fill;

use crate::console::one_line;
use crate::texts::Texts;

/// Rows of a table at most, where there can be many.
const ROWS: usize = 12;

/// Characters of a text from outside at most.
const LONGEST: usize = 160;

#[derive(Debug)]
pub(super) struct Report {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
}

#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) notes: Vec<String>,
    pub(super) table: Option<Table>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) head: Vec<(&'static str, Column)>,
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Text,
    Number,
}

impl Column {
    pub(super) fn cell(self, text: String) -> Cell {
        match self {
            Self::Text => Cell::Text(text),
            Self::Number => Cell::Number(text),
        }
    }
}

#[derive(Debug)]
pub(super) enum Cell {
    Text(String),
    Number(String),
}

/// Puts the report together.
pub(super) fn report(
    found: &[Found],
    figures: &Figures,
    what_if: Option<&WhatIf>,
    texts: &'static Texts,
) -> Report {
    let title = match found {
        [one] => {
            fill(texts.xray_title, &[("id", &line(&one.id)), ("origin", &line(&one.origin.to_string()))])
        }
        many => fill(texts.xray_title_many, &[("count", &grouped(many.len() as u64))]),
    };
    let sections = [
        context(figures, texts),
        composition(figures, texts),
        tools(figures, texts),
        cost(figures, texts),
        threads(figures, texts),
        cold(figures, texts),
        largest(figures, texts),
        denied(figures, texts),
        disk(figures, texts),
        scripts(figures, texts),
        what_if.and_then(|what_if| supposed(what_if, texts)),
    ];
    Report { title, sections: sections.into_iter().flatten().collect() }
}

fn context(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let mut notes = Vec::new();
    if figures.main.turns > 0 {
        notes.push(fill(
            texts.xray_context_line,
            &[
                ("watermark", &grouped(figures.watermark)),
                ("peak", &grouped(figures.peak)),
                ("turns", &grouped(figures.main.turns)),
            ],
        ));
    } else {
        notes.push(texts.xray_no_turns.to_owned());
    }
    let newest = figures.threads.iter().rfind(|thread| thread.worker.is_none() && thread.turns > 0);
    notes.extend(newest.and_then(|thread| trend(&thread.trend, texts)));
    if let Some(share) = figures.main_share.filter(|_| figures.workers.turns > 0) {
        let characters = grouped(figures.main.characters.total());
        let all = grouped(figures.total.characters.total());
        notes.push(fill(
            texts.xray_share_line,
            &[("characters", &characters), ("all", &all), ("share", &percent(share))],
        ));
    }
    let skipped: u64 = figures.threads.iter().map(|thread| thread.skipped_lines).sum();
    if skipped > 0 {
        notes.push(fill(texts.xray_skipped, &[("count", &grouped(skipped))]));
    }
    Some(Section { title: texts.xray_context, notes, table: None })
}

fn trend(trend: &Trend, texts: &Texts) -> Option<String> {
    let slope = signed(trend.slope?);
    let since = trend.since_turn.to_string();
    Some(match (trend.window, trend.turns_left) {
        (Some(window), Some(turns)) => fill(
            texts.xray_trend_full,
            &[("slope", &slope), ("since", &since), ("window", &grouped(window)), ("turns", &grouped(turns))],
        ),
        _ => fill(texts.xray_trend, &[("slope", &slope), ("since", &since)]),
    })
}

/// The kinds of text by name, in the order of [`ByKind::amounts`].
pub(super) fn kinds(texts: &'static Texts) -> [&'static str; 6] {
    [
        texts.xray_kind_system,
        texts.xray_kind_user,
        texts.xray_kind_assistant,
        texts.xray_kind_thinking,
        texts.xray_kind_inputs,
        texts.xray_kind_results,
    ]
}

/// Tokens in front of all text that a transcript shows, of the first turn of each main thread.
pub(super) fn head_tokens(figures: &Figures) -> u64 {
    figures.threads.iter().filter(|thread| thread.worker.is_none()).map(|thread| thread.head_tokens).sum()
}

fn composition(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let calibration = figures.calibration;
    let note = match calibration.error {
        Some(error) => fill(
            texts.xray_calibrated,
            &[
                ("scale", &format!("{:.2}", calibration.scale)),
                ("pairs", &grouped(calibration.pairs)),
                ("error", &percent(error)),
            ],
        ),
        None => texts.xray_uncalibrated.to_owned(),
    };
    let (main, workers) = (&figures.main, &figures.workers);
    let columns = [main.characters, main.tokens, workers.characters, workers.tokens];
    let row = |name: &str, amounts: [u64; 4]| {
        let numbers = amounts.into_iter().map(|amount| Cell::Number(grouped(amount)));
        std::iter::once(Cell::Text(name.to_owned())).chain(numbers).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (index, name) in kinds(texts).into_iter().enumerate() {
        let amount = |column: &ByKind| column.amounts().get(index).copied().unwrap_or_default();
        rows.push(row(name, columns.each_ref().map(amount)));
    }
    rows.push(row(texts.xray_total, columns.each_ref().map(ByKind::total)));
    let mut notes = vec![note];
    let head = head_tokens(figures);
    if head > 0 {
        notes.insert(0, fill(texts.xray_head, &[("tokens", &grouped(head))]));
    }
    let head = vec![
        (texts.xray_col_kind, Column::Text),
        (texts.xray_col_main_characters, Column::Number),
        (texts.xray_col_tokens, Column::Number),
        (texts.xray_col_worker_characters, Column::Number),
        (texts.xray_col_tokens, Column::Number),
    ];
    Some(Section { title: texts.xray_composition, notes, table: Some(Table { head, rows }) })
}

fn tools(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let mut by_tool: BTreeMap<(&str, bool), Calls> = BTreeMap::new();
    for thread in &figures.threads {
        for (tool, calls) in &thread.calls {
            let sum = by_tool.entry((tool, thread.worker.is_some())).or_default();
            sum.called += calls.called;
            sum.failed += calls.failed;
            sum.denied += calls.denied;
            sum.interrupted += calls.interrupted;
        }
    }
    let mut calls: Vec<_> = by_tool.into_iter().collect();
    calls.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.called));
    let rows = calls.into_iter().map(|((tool, of_worker), calls)| {
        let who = if of_worker { texts.receipt_workers } else { texts.receipt_main };
        let counts = [calls.called, calls.failed, calls.denied, calls.interrupted];
        let counts = counts.into_iter().map(|count| Cell::Number(grouped(count)));
        [Cell::Text(line(tool)), Cell::Text(who.to_owned())].into_iter().chain(counts).collect()
    });
    let head = vec![
        (texts.xray_col_tool, Column::Text),
        (texts.xray_col_thread, Column::Text),
        (texts.receipt_calls, Column::Number),
        (texts.xray_col_failed, Column::Number),
        (texts.xray_col_denied, Column::Number),
        (texts.xray_col_interrupted, Column::Number),
    ];
    table(texts.receipt_tools, Vec::new(), head, rows.collect(), texts)
}

fn cost(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let mut notes = Vec::new();
    if let Some(hits) = figures.cache_hit_rate {
        notes.push(fill(texts.xray_cache_line, &[("hits", &percent(hits))]));
    }
    if !figures.unpriced.is_empty() {
        let models: Vec<String> = figures.unpriced.iter().map(|model| line(model)).collect();
        notes.push(fill(texts.xray_unpriced, &[("models", &models.join(", "))]));
    }
    let row = |day: &str, model: &str, used: &ModelFigures| {
        let counts =
            [used.turns, used.input, used.cache_read, used.cache_write_5m, used.cache_write_1h, used.output];
        let numbers = counts.into_iter().map(grouped).chain([dollars(used.dollars)]);
        [Cell::Text(line(day)), Cell::Text(line(model))]
            .into_iter()
            .chain(numbers.map(Cell::Number))
            .collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<Cell>> = figures
        .days
        .iter()
        .flat_map(|(day, models)| models.iter().map(move |(model, used)| row(day, model, used)))
        .collect();
    if rows.len() > 1 {
        let mut total = ModelFigures::default();
        figures.models.values().for_each(|used| total.add(used));
        rows.push(row(texts.xray_total, "", &total));
    }
    let head = vec![
        (texts.xray_col_day, Column::Text),
        (texts.xray_col_model, Column::Text),
        (texts.xray_col_turns, Column::Number),
        (texts.xray_col_input, Column::Number),
        (texts.xray_col_read, Column::Number),
        (texts.xray_col_write_5m, Column::Number),
        (texts.xray_col_write_1h, Column::Number),
        (texts.xray_col_output, Column::Number),
        (texts.xray_col_dollars, Column::Number),
    ];
    if rows.is_empty() {
        return None;
    }
    Some(Section { title: texts.receipt_cost, notes, table: Some(Table { head, rows }) })
}

fn threads(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    if figures.threads.len() < 2 {
        return None;
    }
    let spent = |thread: &ThreadFigures| thread.models.values().map(|used| used.dollars).sum::<Option<f64>>();
    let mut threads: Vec<&ThreadFigures> = figures.threads.iter().collect();
    threads.sort_by(|a, b| spent(b).unwrap_or(0.0).total_cmp(&spent(a).unwrap_or(0.0)));
    let rows = threads.into_iter().map(|thread| {
        let peak = thread.context.iter().map(|at| at.tokens).max().unwrap_or_default();
        let calls = thread.calls.values().map(|calls| calls.called).sum();
        vec![
            Cell::Text(thread_name(thread, texts)),
            Cell::Number(grouped(thread.turns)),
            Cell::Number(grouped(calls)),
            Cell::Number(grouped(thread.characters.total())),
            Cell::Number(grouped(peak)),
            Cell::Number(dollars(spent(thread))),
        ]
    });
    let head = vec![
        (texts.xray_col_thread, Column::Text),
        (texts.xray_col_turns, Column::Number),
        (texts.receipt_calls, Column::Number),
        (texts.receipt_characters, Column::Number),
        (texts.xray_col_peak, Column::Number),
        (texts.xray_col_dollars, Column::Number),
    ];
    table(texts.xray_threads, Vec::new(), head, rows.collect(), texts)
}

/// Who a thread is, for people.
fn thread_name(thread: &ThreadFigures, texts: &Texts) -> String {
    let Some(worker) = &thread.worker else {
        return format!(
            "{} {}",
            texts.receipt_main,
            line(thread.session.get(..8).unwrap_or(&thread.session))
        );
    };
    let kind = worker.agent_type.as_deref().unwrap_or(&worker.agent_id);
    match &worker.description {
        Some(description) => line(&format!("{kind}: {description}")),
        None => line(kind),
    }
}

fn cold(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let all = figures.threads.iter().flat_map(|thread| thread.cold.iter().map(move |cold| (thread, cold)));
    let mut events: Vec<_> = all.collect();
    if events.is_empty() {
        return None;
    }
    let lost: u64 = events.iter().map(|(_, cold)| cold.lost).sum();
    let dearer = format!("{:.4}", figures.total.cold_dollars);
    let note = fill(texts.xray_cold_line, &[("lost", &grouped(lost)), ("dollars", &dearer)]);
    events.sort_by_key(|(_, cold)| std::cmp::Reverse(cold.lost));
    let rows = events.into_iter().map(|(thread, cold)| {
        vec![
            Cell::Text(thread_name(thread, texts)),
            Cell::Number(grouped(cold.turn)),
            Cell::Text(time(cold.timestamp.as_deref())),
            Cell::Text(cause(&cold.cause, cold.read, texts)),
            Cell::Number(grouped(cold.lost)),
            Cell::Number(dollars(cold.dollars)),
        ]
    });
    let head = vec![
        (texts.xray_col_thread, Column::Text),
        (texts.xray_col_turn, Column::Number),
        (texts.xray_col_time, Column::Text),
        (texts.xray_col_cause, Column::Text),
        (texts.xray_col_lost, Column::Number),
        (texts.xray_col_dollars, Column::Number),
    ];
    table(texts.xray_cold, vec![note], head, rows.collect(), texts)
}

/// A cause with its evidence.
pub(super) fn cause(cause: &ColdCause, read: u64, texts: &Texts) -> String {
    match cause {
        ColdCause::Compaction { trigger } => {
            let trigger = if trigger.is_empty() { "?" } else { trigger };
            fill(texts.xray_cause_compaction, &[("trigger", &line(trigger))])
        }
        ColdCause::ModelSwitch { from, to } => {
            fill(texts.xray_cause_model, &[("from", &line(from)), ("to", &line(to))])
        }
        ColdCause::Idle { seconds, lifetime } => {
            let minutes = |seconds: &u64| (seconds / 60).to_string();
            fill(texts.xray_cause_idle, &[("idle", &minutes(seconds)), ("lifetime", &minutes(lifetime))])
        }
        ColdCause::Resume { versions: Some((from, to)) } => {
            fill(texts.xray_cause_version, &[("from", &line(from)), ("to", &line(to))])
        }
        ColdCause::Resume { versions: None } => texts.xray_cause_resume.to_owned(),
        ColdCause::HeadChanged => texts.xray_cause_head.to_owned(),
        ColdCause::HistoryChanged => fill(texts.xray_cause_history, &[("read", &grouped(read))]),
        _ => texts.xray_cause_unknown.to_owned(),
    }
}

fn largest(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let all =
        figures.threads.iter().flat_map(|thread| thread.largest.iter().map(move |large| (thread, large)));
    let mut results: Vec<(&ThreadFigures, &LargeResult)> = all.collect();
    results.sort_by_key(|(_, large)| std::cmp::Reverse(large.characters));
    let rows = results.into_iter().map(|(thread, large)| {
        vec![
            Cell::Number(grouped(large.characters)),
            Cell::Number(grouped(large.tokens)),
            Cell::Text(thread_name(thread, texts)),
            Cell::Number(grouped(large.turn)),
            Cell::Text(line(&format!("{} {}", large.tool, large.input))),
            Cell::Number(grouped(large.read_again)),
        ]
    });
    let head = vec![
        (texts.receipt_characters, Column::Number),
        (texts.xray_col_tokens, Column::Number),
        (texts.xray_col_thread, Column::Text),
        (texts.xray_col_turn, Column::Number),
        (texts.xray_col_call, Column::Text),
        (texts.xray_col_again, Column::Number),
    ];
    table(texts.xray_largest, Vec::new(), head, rows.collect(), texts)
}

fn denied(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let rows = figures.denials.iter().map(|denial| {
        vec![Cell::Text(line(&format!("{} {}", denial.tool, denial.input))), Cell::Text(line(&denial.reason))]
    });
    let head = vec![(texts.xray_col_call, Column::Text), (texts.xray_col_reason, Column::Text)];
    table(texts.receipt_denied, Vec::new(), head, rows.collect(), texts)
}

fn disk(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let spills = figures.total.spills;
    let note = fill(
        texts.xray_disk_line,
        &[
            ("spilled", &grouped(spills.spilled)),
            ("characters", &grouped(spills.spilled_characters)),
            ("persisted", &grouped(spills.persisted)),
            ("bytes", &grouped(spills.persisted_bytes)),
            ("back", &grouped(spills.read_back)),
        ],
    );
    let any = spills.spilled + spills.persisted > 0;
    any.then(|| Section { title: texts.xray_disk, notes: vec![note], table: None })
}

fn scripts(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let rows = figures.scripts.iter().map(|script| {
        vec![
            Cell::Text(line(&script.path)),
            Cell::Number(grouped(script.written)),
            Cell::Number(grouped(script.runs)),
        ]
    });
    let head = vec![
        (texts.xray_col_script, Column::Text),
        (texts.xray_col_written, Column::Number),
        (texts.xray_col_runs, Column::Number),
    ];
    table(texts.xray_scripts, Vec::new(), head, rows.collect(), texts)
}

fn supposed(what_if: &WhatIf, texts: &'static Texts) -> Option<Section> {
    let recorded = what_if.supposed.first()?;
    let rows = what_if.supposed.iter().map(|supposed| {
        let name = match supposed.change {
            Change::Expire => texts.xray_change_expire,
            Change::Trim => texts.xray_change_trim,
            Change::Prune => texts.xray_change_prune,
            Change::Heal => texts.xray_change_heal,
            Change::Spill => texts.xray_change_spill,
            Change::All => texts.xray_change_all,
            _ => texts.xray_change_nothing,
        };
        let less = recorded.dollars.zip(supposed.dollars).map(|(before, after)| before - after);
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(grouped(supposed.tokens)),
            Cell::Number(grouped(supposed.peak)),
            Cell::Number(dollars(supposed.dollars)),
            Cell::Number(dollars(less)),
        ]
    });
    let head = vec![
        (texts.xray_col_change, Column::Text),
        (texts.xray_col_prompts, Column::Number),
        (texts.xray_col_peak, Column::Number),
        (texts.xray_col_dollars, Column::Number),
        (texts.xray_col_saved, Column::Number),
    ];
    let note = fill(texts.xray_what_if_line, &[("moments", &grouped(what_if.moments))]);
    table(texts.xray_what_if, vec![note], head, rows.collect(), texts)
}

/// A section with a table; none for a table without rows. What is cut off is counted.
fn table(
    title: &'static str,
    mut notes: Vec<String>,
    head: Vec<(&'static str, Column)>,
    mut rows: Vec<Vec<Cell>>,
    texts: &Texts,
) -> Option<Section> {
    if rows.is_empty() {
        return None;
    }
    if let Some(more) = rows.len().checked_sub(ROWS).filter(|more| *more > 0) {
        let values = [("shown", grouped(ROWS as u64)), ("all", grouped((ROWS + more) as u64))];
        notes.push(fill(texts.xray_more, &values.each_ref().map(|(name, value)| (*name, value.as_str()))));
        rows.truncate(ROWS);
    }
    Some(Section { title, notes, table: Some(Table { head, rows }) })
}

/// Text from outside.
fn line(text: &str) -> String {
    one_line(text, LONGEST)
}

fn time(timestamp: Option<&str>) -> String {
    let text = timestamp.and_then(|timestamp| timestamp.get(..16)).unwrap_or("-");
    line(&text.replace('T', " "))
}

pub(super) fn dollars(sum: Option<f64>) -> String {
    sum.map_or("?".to_owned(), |sum| format!("${sum:.4}"))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn signed(slope: f64) -> String {
    let digits = format!("{:.0}", slope.abs());
    let sign = if slope < 0.0 { "-" } else { "+" };
    format!("{sign}{}", grouped(digits.parse().unwrap_or_default()))
}

/// A number with a comma between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(signed(-1_499.6), "-1,500");
        assert_eq!(signed(12.2), "+12");
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(time(Some("2026-12-01T14:29:33.589Z")), "2026-12-01 14:29");
        assert_eq!(time(Some("soon")), "-");
        assert_eq!(time(None), "-");
    }
}
