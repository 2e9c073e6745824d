//! The receipt as people and programs see it.

use std::path::PathBuf;

use flower::receipt::Receipt;
use flower_context::fill;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::console::{harmless, one_line};
use crate::texts::Texts;

mod growth;
mod layers;
mod who;

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

/// The lines for people. `answers` are those of the steps, in order.
pub(super) fn lines(receipt: &Receipt, answers: &[&str], places: &Places, texts: &Texts) -> Vec<String> {
    let mut lines = Vec::new();
    let ok = receipt.steps.iter().all(|step| step.ok) && !receipt.steps.is_empty();
    lines.push(if ok { texts.receipt_title_ok } else { texts.receipt_title_failed }.to_owned());
    for (index, answer) in answers.iter().enumerate().filter(|(_, answer)| !answer.is_empty()) {
        let number = if answers.len() > 1 { format!(" {}", index + 1) } else { String::new() };
        section(&mut lines, &format!("{}{number}", texts.receipt_answer));
        lines.extend(harmless(answer).lines().map(|line| format!("  {line}")));
    }
    layers::steps(&mut lines, receipt, texts);
    who::who(&mut lines, receipt, texts);
    denied(&mut lines, receipt, texts);
    layers::layers(&mut lines, receipt, texts);
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
    growth::growth(lines, figures, texts);
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

/// With one digit behind the point, rounded to the nearest.
fn percent(part: u64, whole: u64) -> String {
    match part.saturating_mul(2000).saturating_add(whole).checked_div(whole.saturating_mul(2)) {
        Some(thousandths) => format!("{}.{} %", grouped(thousandths / 10), thousandths % 10),
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

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width()).max(1)))
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests;
