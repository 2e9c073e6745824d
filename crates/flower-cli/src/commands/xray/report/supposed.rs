//! What the rewrites and the spill would have come to.

use flower_context::accounting::{Change, WhatIf};
use flower_context::fill;

use super::words::{dollars, grouped};
use super::{Cell, Column, Section, table};
use crate::texts::Texts;

pub(super) fn supposed(what_if: &WhatIf, texts: &'static Texts) -> Option<Section> {
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
