//! Who did how much: the main thread, the workers, and what their shares are.

use std::collections::BTreeMap;

use flower::receipt::Receipt;
use flower_context::accounting::{Figures, ThreadFigures, Totals};
use flower_context::fill;

use super::{grouped, padded, percent, right, section};
use crate::console::one_line;
use crate::texts::Texts;

/// Workers that have a line of their own; the others are counted.
const MOST_WORKERS: usize = 10;

pub(super) fn who(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    let figures = &receipt.figures;
    section(lines, texts.receipt_who);
    let heads = [
        (texts.receipt_turns, 8),
        (texts.receipt_calls, 8),
        (texts.receipt_characters, 12),
        (texts.receipt_share, 9),
    ];
    let heads: String = heads.into_iter().map(|(head, columns)| right(head, columns)).collect();
    lines.push(format!("  {}{heads}", padded("", 24)));
    let all = figures.total.characters.total();
    let mut row = |label: &str, turns: u64, calls: u64, characters: u64| {
        lines.push(format!(
            "  {}{:>8}{:>8}{:>12}{:>9}",
            padded(label, 24),
            grouped(turns),
            grouped(calls),
            grouped(characters),
            percent(characters, all)
        ));
    };
    for (label, totals) in [(texts.receipt_main, &figures.main), (texts.receipt_workers, &figures.workers)] {
        row(label, totals.turns, totals.calls.called, totals.characters.total());
    }
    let workers = || figures.threads.iter().filter_map(|thread| Some((thread.worker.as_ref()?, thread)));
    for (worker, thread) in workers().take(MOST_WORKERS) {
        let what = worker.description.as_deref().or(worker.agent_type.as_deref()).unwrap_or(&worker.agent_id);
        let calls = thread.calls.values().map(|calls| calls.called).sum();
        row(&format!("  {}", one_line(what, 20)), thread.turns, calls, thread.characters.total());
    }
    let more = workers().count().saturating_sub(MOST_WORKERS) as u64;
    if more > 0 {
        lines.push(format!("    {}", fill(texts.receipt_more_workers, &[("count", &grouped(more))])));
    }
    if figures.workers.turns > 0 {
        lines.push(format!("  {}", shares(figures, texts)));
    }
    section(lines, texts.receipt_tools);
    for (label, of_worker) in [(texts.receipt_main, false), (texts.receipt_workers, true)] {
        lines.push(format!("  {}{}", padded(label, 14), by_tool(figures, of_worker)));
    }
}

/// What the workers took off the main thread, in shares of everything.
fn shares(figures: &Figures, texts: &Texts) -> String {
    let share = |of: fn(&Totals) -> u64| percent(of(&figures.workers), of(&figures.total));
    // What the main thread does with its own hands, against all that the workers do.
    let own = |thread: &&ThreadFigures| thread.worker.is_none();
    let calls = figures.threads.iter().filter(own).flat_map(|thread| &thread.calls);
    let hands = calls.filter(|(tool, _)| !is_delegation(tool)).map(|(_, calls)| calls.called).sum::<u64>();
    fill(
        texts.receipt_shares,
        &[
            ("turns", &share(|totals| totals.turns)),
            ("characters", &share(|totals| totals.characters.total())),
            ("calls", &share(|totals| totals.calls.called)),
            ("workers", &grouped(figures.workers.calls.called)),
            ("main", &grouped(hands)),
        ],
    )
}

/// Tools that hand work to others: `Agent`, and its older name.
fn is_delegation(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

fn by_tool(figures: &Figures, of_worker: bool) -> String {
    let mut tools = BTreeMap::<&str, u64>::new();
    let threads = figures.threads.iter().filter(|thread| thread.worker.is_some() == of_worker);
    for (tool, calls) in threads.flat_map(|thread| &thread.calls) {
        *tools.entry(tool).or_default() += calls.called;
    }
    let list: Vec<String> =
        tools.iter().map(|(tool, count)| format!("{} {count}", one_line(tool, 40))).collect();
    if list.is_empty() { "-".to_owned() } else { list.join(", ") }
}
