//! How full the context is, what it consists of, and who filled it.

use flower_context::accounting::{ByKind, Figures, ThreadFigures, Trend};
use flower_context::fill;

use super::words::{dollars, grouped, line, percent, signed};
use super::{Cell, Column, Section, Table, table};
use crate::texts::Texts;

pub(super) fn context(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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
    let missing = figures.missing_workers.len() as u64;
    if missing > 0 {
        notes.push(fill(texts.xray_missing_workers, &[("count", &grouped(missing))]));
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
pub(in crate::commands::xray) fn kinds(texts: &'static Texts) -> [&'static str; 6] {
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
pub(in crate::commands::xray) fn head_tokens(figures: &Figures) -> u64 {
    figures.threads.iter().filter(|thread| thread.worker.is_none()).map(|thread| thread.head_tokens).sum()
}

pub(super) fn composition(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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
    if figures.total.characters.total() == 0 && head == 0 {
        return None;
    }
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

pub(super) fn threads(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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
pub(in crate::commands::xray) fn thread_name(thread: &ThreadFigures, texts: &Texts) -> String {
    let Some(worker) = &thread.worker else {
        // The first eight digits of a session id tell it from others; the name of a file is nothing without its end.
        let is_id = uuid::Uuid::try_parse(&thread.session).is_ok();
        let id = thread.session.get(..8).filter(|_| is_id).unwrap_or(&thread.session);
        return format!("{} {}", texts.receipt_main, line(id));
    };
    let kind = worker.agent_type.as_deref().unwrap_or(&worker.agent_id);
    match &worker.description {
        Some(description) => line(&format!("{kind}: {description}")),
        None => line(kind),
    }
}
