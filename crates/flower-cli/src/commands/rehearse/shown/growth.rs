//! How the context of each main thread grew, turn by turn, and how far it is from its window.

use flower_context::accounting::{Figures, ThreadFigures};
use flower_context::fill;

use super::grouped;
use crate::texts::Texts;

/// One line for each main thread that is long enough to have a slope.
pub(super) fn growth(lines: &mut Vec<String>, figures: &Figures, texts: &Texts) {
    let main = figures.threads.iter().filter(|thread| thread.worker.is_none());
    lines.extend(main.filter_map(|thread| Some(format!("  {}", line(thread, texts)?))));
}

fn line(thread: &ThreadFigures, texts: &Texts) -> Option<String> {
    let (first, last) = (thread.context.first()?, thread.context.last()?);
    let slope = thread.trend.slope?;
    let mut line = fill(
        texts.receipt_growth,
        &[
            ("first", &grouped(first.tokens)),
            ("last", &grouped(last.tokens)),
            ("turns", &grouped(thread.context.len() as u64)),
            ("slope", &format!("{slope:.0}")),
        ],
    );
    if let (Some(window), Some(left)) = (thread.trend.window, thread.trend.turns_left) {
        line.push_str(&fill(
            texts.receipt_growth_left,
            &[("left", &grouped(left)), ("window", &grouped(window))],
        ));
    }
    Some(line)
}
