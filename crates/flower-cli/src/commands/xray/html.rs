//! The report as one page that needs nothing else: no script, no font, no picture from anywhere.

use std::fmt::Write as _;

use flower_context::Lang;

use super::charts::Chart;
use super::report::{Cell, Column, Report, Table};
use crate::console::is_invisible_control;

/// Light and dark by the reader's own setting. The colours of kinds are far enough apart for either.
const STYLE: &str = "
:root{color-scheme:light dark;--back:#fff;--fore:#1c2024;--soft:#667;--line:#dde;--card:#f7f8fa;
--k0:#8a8f98;--k1:#5b8def;--k2:#2f9e6e;--k3:#e0a030;--k4:#9b6bd6;--k5:#d96c8a;--k6:#3aa6b9;--cold:#d33;--window:#d33}
@media(prefers-color-scheme:dark){:root{--back:#14171a;--fore:#e6e8ea;--soft:#9aa3ad;--line:#2c3238;--card:#1b1f24;
--k0:#6d737c;--k1:#79a6ff;--k2:#4cc38a;--k3:#f0b94a;--k4:#b48cf0;--k5:#f08aa6;--k6:#5cc4d6;--cold:#ff6b6b;--window:#ff6b6b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px;background:var(--back);color:var(--fore);
font:15px/1.5 system-ui,-apple-system,'Segoe UI','Noto Sans','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif}
h1{font-size:20px;overflow-wrap:anywhere}h2{font-size:16px;margin:0 0 8px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:16px 0;overflow-x:auto}
p{margin:4px 0;overflow-wrap:anywhere}section>svg{display:block;width:100%;min-width:600px;height:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin-top:8px}
th,td{text-align:left;vertical-align:top;padding:4px 16px 4px 0;border-top:1px solid var(--line);overflow-wrap:anywhere;min-width:7em}
th{color:var(--soft);font-weight:600;border-top:0}.n{text-align:right;white-space:nowrap;min-width:0}
.grid{stroke:var(--line)}.axis{fill:var(--soft);font-size:12px}.label{fill:var(--fore);font-size:13px}
.context,.read,.cost{fill:var(--k1)}.unread{fill:var(--k3)}.context{fill-opacity:.75}
.window{stroke:var(--window);stroke-dasharray:6 4;fill:none}.cold{fill:var(--cold);stroke:var(--card);stroke-width:1.5}
.k0{fill:var(--k0)}.k1{fill:var(--k1)}.k2{fill:var(--k2)}.k3{fill:var(--k3)}.k4{fill:var(--k4)}.k5{fill:var(--k5)}.k6{fill:var(--k6)}
.legend{color:var(--soft);font-size:13px;margin-top:8px}.legend svg{display:inline-block;width:12px;height:12px;margin:0 4px 0 12px;vertical-align:-1px}
@media print{body{max-width:none}section{break-inside:avoid}}
";

/// The page. Whatever is in the report stays text: see [`escape`].
pub(super) fn page(report: &Report, charts: &[Chart], lang: Lang) -> String {
    let (title, lang) = (escape(&report.title), lang.tag());
    let mut page = format!(
        r#"<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
"#
    );
    let mut sections = report.sections.iter();
    if let Some(first) = sections.next() {
        section(&mut page, first.title, &first.notes, first.table.as_ref());
    }
    for Chart { title, note, svg, legend } in charts {
        let _ = writeln!(page, "<section><h2>{}</h2>{svg}", escape(title));
        if !legend.is_empty() {
            page.push_str(r#"<p class="legend">"#);
            for (colour, name) in legend {
                let _ = write!(
                    page,
                    r#"<svg viewBox="0 0 12 12"><rect class="{colour}" width="12" height="12"/></svg>{}"#,
                    escape(name)
                );
            }
            page.push_str("</p>");
        }
        if let Some(note) = note {
            let _ = write!(page, "<p>{}</p>", escape(note));
        }
        page.push_str("</section>\n");
    }
    for each in sections {
        section(&mut page, each.title, &each.notes, each.table.as_ref());
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn section(page: &mut String, title: &str, notes: &[String], table: Option<&Table>) {
    let _ = write!(page, "<section><h2>{}</h2>", escape(title));
    for note in notes {
        let _ = write!(page, "<p>{}</p>", escape(note));
    }
    if let Some(Table { head, rows }) = table {
        page.push_str("<table><thead><tr>");
        for (title, column) in head {
            let class = if matches!(column, Column::Number) { r#" class="n""# } else { "" };
            let _ = write!(page, "<th{class}>{}</th>", escape(title));
        }
        page.push_str("</tr></thead><tbody>");
        for row in rows {
            page.push_str("<tr>");
            for cell in row {
                let _ = match cell {
                    Cell::Text(text) => write!(page, "<td>{}</td>", escape(text)),
                    Cell::Number(number) => write!(page, r#"<td class="n">{}</td>"#, escape(number)),
                };
            }
            page.push_str("</tr>");
        }
        page.push_str("</tbody></table>");
    }
    page.push_str("</section>\n");
}

/// Text that stays text wherever it stands in a page. What cannot be shown is left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || is_invisible_control(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        for (text, expected) in [
            ("</script><script>alert(1)</script>", "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            (r#"" onload="x"#, "&quot; onload=&quot;x"),
            ("a'b&amp;", "a&#39;b&amp;amp;"),
            ("a\u{0}\u{1b}[2J\u{7f}\u{85}", "a  [2J  "),
            ("abc\u{202e}fed\u{2066}\u{61c}", "abc fed  "),
            ("数据 😀", "数据 😀"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }
}
