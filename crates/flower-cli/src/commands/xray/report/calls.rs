//! What was called, what was refused, and which results were largest.

use std::collections::BTreeMap;

use flower_context::accounting::{Calls, Figures, LargeResult, ThreadFigures};

use super::context::thread_name;
use super::words::{grouped, line};
use super::{Cell, Column, Section, table};
use crate::texts::Texts;

pub(super) fn tools(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let mut by_tool: BTreeMap<(&str, bool), Calls> = BTreeMap::new();
    for thread in &figures.threads {
        for (tool, calls) in &thread.calls {
            *by_tool.entry((tool, thread.worker.is_some())).or_default() += *calls;
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

pub(super) fn largest(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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

pub(super) fn denied(figures: &Figures, texts: &'static Texts) -> Option<Section> {
    let rows = figures.denials.iter().map(|denial| {
        vec![Cell::Text(line(&format!("{} {}", denial.tool, denial.input))), Cell::Text(line(&denial.reason))]
    });
    let head = vec![(texts.xray_col_call, Column::Text), (texts.xray_col_reason, Column::Text)];
    table(texts.receipt_denied, Vec::new(), head, rows.collect(), texts)
}
