//! What lies on disk instead of in the context: results that were moved there, and scripts.

use flower_context::accounting::Figures;
use flower_context::fill;

use super::words::{grouped, line};
use super::{Cell, Column, Section, table};
use crate::texts::Texts;

pub(super) fn disk(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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

pub(super) fn scripts(figures: &Figures, texts: &'static Texts) -> Option<Section> {
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
