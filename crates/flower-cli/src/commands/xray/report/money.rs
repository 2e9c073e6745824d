//! Where the money went: tokens by day and model, and turns that found the cache cold.

use flower_context::accounting::{ColdCause, Figures, ModelFigures};
use flower_context::fill;

use super::context::thread_name;
use super::words::{dollars, grouped, line, percent, time};
use super::{Cell, Column, Section, Table, table};
use crate::texts::Texts;

pub(super) fn cost(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let mut notes = Vec::new();
    if let Some(hits) = figures.cache_hit_rate {
        notes.push(fill(texts.xray_cache_line, &[("hits", &percent(hits))]));
    }
    if !figures.unpriced.is_empty() {
        let models: Vec<String> = figures.unpriced.iter().map(|model| model_name(model, texts)).collect();
        notes.push(fill(texts.xray_unpriced, &[("models", &models.join(", "))]));
    }
    let contexts = figures.threads.iter().flat_map(|thread| &thread.context);
    let without_usage = contexts.filter(|at| at.tokens == 0).count() as u64;
    if without_usage > 0 {
        notes.push(fill(texts.xray_without_usage, &[("count", &grouped(without_usage))]));
    }
    let row = |day: &str, model: String, used: &ModelFigures| {
        let counts =
            [used.turns, used.input, used.cache_read, used.cache_write_5m, used.cache_write_1h, used.output];
        let numbers = counts.into_iter().map(grouped).chain([dollars(used.dollars)]);
        [Cell::Text(line(day)), Cell::Text(model)]
            .into_iter()
            .chain(numbers.map(Cell::Number))
            .collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<Cell>> = figures
        .days
        .iter()
        .flat_map(|(day, models)| {
            models.iter().map(move |(model, used)| row(day, model_name(model, texts), used))
        })
        .collect();
    if rows.len() > 1 {
        let mut total = ModelFigures::default();
        figures.models.values().for_each(|used| total.add(used));
        rows.push(row(texts.xray_total, String::new(), &total));
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

pub(super) fn cold(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let all = figures.threads.iter().flat_map(|thread| thread.cold.iter().map(move |cold| (thread, cold)));
    let mut events: Vec<_> = all.collect();
    if events.is_empty() {
        return None;
    }
    let lost: u64 = events.iter().map(|(_, cold)| cold.lost).sum();
    let dearer = format!("{:.4}", figures.total.cold_dollars);
    let is_whole = events.iter().all(|(_, cold)| cold.dollars.is_some());
    let text = if is_whole { texts.xray_cold_line } else { texts.xray_cold_line_at_least };
    let note = fill(text, &[("lost", &grouped(lost)), ("dollars", &dearer)]);
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

/// The name of a model, for people.
pub(in crate::commands::xray) fn model_name(model: &str, texts: &Texts) -> String {
    if model.is_empty() { texts.xray_no_model.to_owned() } else { line(model) }
}

/// A cause with its evidence.
pub(in crate::commands::xray) fn cause(cause: &ColdCause, read: u64, texts: &Texts) -> String {
    match cause {
        ColdCause::Compaction { trigger } => {
            let trigger = if trigger.is_empty() { "?" } else { trigger };
            fill(texts.xray_cause_compaction, &[("trigger", &line(trigger))])
        }
        ColdCause::ModelSwitch { from, to } => {
            let [from, to] = [from, to].map(|model| model_name(model, texts));
            fill(texts.xray_cause_model, &[("from", &from), ("to", &to)])
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
