//! The report as sections of notes and tables, whatever shows them.
//!
//! All text from models, tools and file names becomes one harmless line here; what shows it escapes it for its own syntax.

mod calls;
mod context;
mod disk;
mod money;
mod supposed;
mod words;

use flower::source::Found;
use flower_context::accounting::{Figures, WhatIf};
use flower_context::fill;

pub(super) use context::{head_tokens, kinds, thread_name};
pub(super) use money::{cause, model_name};
pub(super) use words::{dollars, grouped, line};

use crate::texts::Texts;

/// Rows of a table at most, where there can be many.
const ROWS: usize = 12;

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
    found: &[&Found],
    unread: usize,
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
        context::context(figures, texts),
        context::composition(figures, texts),
        calls::tools(figures, texts),
        money::cost(figures, texts),
        context::threads(figures, texts),
        money::cold(figures, texts),
        calls::largest(figures, texts),
        calls::denied(figures, texts),
        disk::disk(figures, texts),
        disk::scripts(figures, texts),
        what_if.and_then(|what_if| supposed::supposed(what_if, texts)),
    ];
    let mut sections: Vec<Section> = sections.into_iter().flatten().collect();
    if let Some(first) = sections.first_mut().filter(|_| unread > 0) {
        first.notes.insert(0, fill(texts.xray_unread, &[("count", &grouped(unread as u64))]));
    }
    Report { title, sections }
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
