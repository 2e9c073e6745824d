//! The report as lines for a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::report::{Cell, Report, Section, Table};

/// Cells wider than this are cut in a terminal; a page shows them whole.
const WIDEST: usize = 72;

pub(super) fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![report.title.clone()];
    for Section { title, notes, table } in &report.sections {
        lines.push(String::new());
        lines.push((*title).to_owned());
        lines.extend(notes.iter().map(|note| format!("  {note}")));
        lines.extend(table.iter().flat_map(aligned));
    }
    lines
}

/// Text to the left, numbers to the right, each column as wide as its widest cell.
fn aligned(table: &Table) -> Vec<String> {
    let head: Vec<Cell> = table.head.iter().map(|(title, of)| of.cell((*title).to_owned())).collect();
    let rows: Vec<Vec<(String, bool)>> = std::iter::once(&head)
        .chain(&table.rows)
        .map(|row| {
            row.iter()
                .map(|cell| match cell {
                    Cell::Text(text) => (cut(text), false),
                    Cell::Number(number) => (number.clone(), true),
                })
                .collect()
        })
        .collect();
    let width_of = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.head.len()).map(width_of).collect();
    let line = |row: &Vec<(String, bool)>| {
        let cells = row.iter().zip(&widths).map(|((text, is_number), widest)| {
            let gap = " ".repeat(widest.saturating_sub(text.width()));
            if *is_number { format!("{gap}{text}") } else { format!("{text}{gap}") }
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn cut(text: &str) -> String {
    let mut kept = String::new();
    let mut taken = 0;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > WIDEST {
            kept.push('…');
            break;
        }
        kept.push(c);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::report::Column;
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let table = Table {
            head: vec![("工具", Column::Text), ("次数", Column::Number)],
            rows: vec![
                vec![Cell::Text("Bash".to_owned()), Cell::Number("1,234".to_owned())],
                vec![Cell::Text("读".to_owned()), Cell::Number("5".to_owned())],
            ],
        };
        assert_eq!(aligned(&table), ["  工具   次数", "  Bash  1,234", "  读        5"]);
    }

    #[test]
    fn wide_cells_are_cut() {
        assert_eq!(cut(&"x".repeat(80)).chars().count(), WIDEST + 1);
        assert_eq!(cut(&"数".repeat(80)).chars().count(), WIDEST / 2 + 1);
    }
}
