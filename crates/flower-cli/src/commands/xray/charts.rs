//! Charts of the figures as inline SVG: context per turn, composition, cost, and what was read from the cache.
//!
//! Shapes and numbers only. Every text goes through [`escape`], colours are names that the page's style defines.

use std::fmt::Write as _;

use flower_context::accounting::{ContextAt, Figures, ThreadFigures};
use flower_context::fill;

use super::html::escape;
use super::report::{cause, dollars, grouped, head_tokens, kinds, line, model_name, thread_name};
use crate::texts::Texts;

/// The size of a chart in its own units; the page scales it.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 240.0;

/// Room to the left for the numbers of the axis, and below for its ends.
const LEFT: f64 = 76.0;
const BELOW: f64 = 22.0;
/// Where plots end to the right: a mark on the last turn is as round as any.
const RIGHT: f64 = WIDTH - 7.0;
const ABOVE: f64 = 10.0;

/// Points that a line has at most: a long run is shown by the largest value of each stretch.
const POINTS: usize = 450;

/// A chart with its title.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) title: String,
    /// What it does not show.
    pub(super) note: Option<String>,
    pub(super) svg: String,
    /// Names of colours and what they stand for.
    pub(super) legend: Vec<(&'static str, &'static str)>,
}

/// Main threads whose turns are drawn, those with the most turns first: a directory can hold many.
const THREADS: usize = 4;

/// All charts that there is something to show in.
pub(super) fn charts(figures: &Figures, texts: &'static Texts) -> Vec<Chart> {
    let main = figures.threads.iter().filter(|thread| thread.worker.is_none() && thread.turns > 0);
    let mut main: Vec<&ThreadFigures> = main.collect();
    main.sort_by_key(|thread| std::cmp::Reverse(thread.turns));
    let all = main.len();
    main.truncate(THREADS);
    let of_threads = |chart: fn(&ThreadFigures, &'static Texts) -> Chart| {
        let mut charts: Vec<Chart> = main.iter().map(|thread| chart(thread, texts)).collect();
        if all > 1 {
            for (chart, thread) in charts.iter_mut().zip(&main) {
                chart.title = format!("{} · {}", chart.title, thread_name(thread, texts));
            }
        }
        if let Some(last) = charts.last_mut().filter(|_| all > THREADS) {
            last.note = Some(shown_of(texts.xray_chart_threads, THREADS, all));
        }
        charts
    };
    let (contexts, caches) = (of_threads(context), of_threads(cache));
    contexts
        .into_iter()
        .chain([composition(figures, texts)])
        .chain(cost(figures, texts))
        .chain(caches)
        .collect()
}

fn shown_of(text: &str, shown: usize, all: usize) -> String {
    fill(text, &[("shown", &grouped(shown as u64)), ("all", &grouped(all as u64))])
}

fn context(thread: &ThreadFigures, texts: &'static Texts) -> Chart {
    let tokens = drawn(thread, |at| at.tokens);
    let peak = tokens.iter().copied().max().unwrap_or_default();
    // The window is drawn where it is near enough to leave the line visible.
    let window = thread.trend.window.filter(|window| *window < peak.saturating_mul(4));
    let mut plot = Plot::new(tokens.len(), peak.max(window.unwrap_or(0)));
    plot.area("context", &tokens);
    if let Some(window) = window {
        plot.level("window", window, &fill(texts.xray_chart_window, &[("window", &grouped(window))]));
    }
    cold_marks(&mut plot, thread, texts, |at| at.tokens);
    let legend = vec![("context", texts.receipt_context), ("cold", texts.xray_cold)];
    Chart { title: texts.xray_chart_context.to_owned(), note: None, svg: plot.finish(), legend }
}

fn cache(thread: &ThreadFigures, texts: &'static Texts) -> Chart {
    let (tokens, read) = (drawn(thread, |at| at.tokens), drawn(thread, |at| at.cache_read));
    let mut plot = Plot::new(tokens.len(), tokens.iter().copied().max().unwrap_or_default());
    plot.area("unread", &tokens);
    plot.area("read", &read);
    cold_marks(&mut plot, thread, texts, |at| at.cache_read);
    let legend =
        vec![("read", texts.xray_chart_read), ("unread", texts.xray_chart_unread), ("cold", texts.xray_cold)];
    Chart { title: texts.xray_chart_cache.to_owned(), note: None, svg: plot.finish(), legend }
}

/// An amount at each turn. A turn without recorded usage is drawn as high as the one before: it is no drop.
fn drawn(thread: &ThreadFigures, amount: impl Fn(&ContextAt) -> u64) -> Vec<u64> {
    let mut last = 0;
    let at = |at: &ContextAt| {
        last = if at.tokens > 0 { amount(at) } else { last };
        last
    };
    thread.context.iter().map(at).collect()
}

fn cold_marks(plot: &mut Plot, thread: &ThreadFigures, texts: &Texts, height: impl Fn(&ContextAt) -> u64) {
    for cold in &thread.cold {
        let index = usize::try_from(cold.turn).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(at) = thread.context.get(index) else { continue };
        let label = fill(
            texts.xray_chart_cold,
            &[
                ("turn", &grouped(cold.turn)),
                ("cause", &cause(&cold.cause, cold.read, texts)),
                ("lost", &grouped(cold.lost)),
                ("dollars", &dollars(cold.dollars)),
            ],
        );
        plot.mark("cold", index, height(at), &label);
    }
}

fn composition(figures: &Figures, texts: &'static Texts) -> Chart {
    const COLOURS: [&str; 6] = ["k1", "k2", "k3", "k4", "k5", "k6"];
    let rows = [
        (texts.receipt_main, head_tokens(figures), figures.main.tokens),
        (texts.receipt_workers, 0, figures.workers.tokens),
    ];
    let rows: Vec<Bar<'_>> = rows
        .into_iter()
        .map(|(name, head, tokens)| {
            let named = COLOURS.into_iter().zip(kinds(texts)).zip(tokens.amounts());
            let mut parts = vec![("k0", texts.xray_kind_head.to_owned(), number(head))];
            parts.extend(named.map(|((colour, kind), amount)| (colour, kind.to_owned(), number(amount))));
            Bar { name: name.to_owned(), shown: grouped(tokens.total() + head), parts }
        })
        .filter(|bar| bar.total() > 0.0)
        .collect();
    let legend = std::iter::once(("k0", texts.xray_kind_head)).chain(COLOURS.into_iter().zip(kinds(texts)));
    Chart {
        title: texts.xray_chart_composition.to_owned(),
        note: None,
        svg: bars(&rows, |amount| format!("{amount:.0}")),
        legend: legend.collect(),
    }
}

/// One bar a day and model; without a single price there is nothing to draw.
fn cost(figures: &Figures, texts: &'static Texts) -> Option<Chart> {
    const BARS: usize = 20;
    let days = figures.days.iter().flat_map(|(day, models)| models.iter().map(move |model| (day, model)));
    let mut rows: Vec<Bar<'_>> = days
        .filter_map(|(day, (model, used))| {
            let spent = used.dollars?;
            let model = model_name(model, texts);
            let (name, parts) = (format!("{} {model}", line(day)), vec![("cost", model, spent)]);
            Some(Bar { name, shown: dollars(Some(spent)), parts })
        })
        .collect();
    let all = rows.len();
    rows.drain(..all.saturating_sub(BARS));
    (!rows.is_empty()).then(|| Chart {
        title: texts.xray_chart_cost.to_owned(),
        note: (all > BARS).then(|| shown_of(texts.xray_chart_bars, BARS, all)),
        svg: bars(&rows, |amount| format!("${amount:.4}")),
        legend: Vec::new(),
    })
}

/// A chart over turns.
struct Plot {
    svg: String,
    turns: usize,
    top: f64,
}

impl Plot {
    fn new(turns: usize, top: u64) -> Self {
        let mut plot = Self { svg: String::new(), turns, top: number(top.max(1)) * 1.05 };
        let _ = write!(plot.svg, r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">"#);
        for quarter in 0..=4_u32 {
            let value = number(top) * f64::from(quarter) / 4.0;
            let y = plot.y(value);
            let _ = write!(
                plot.svg,
                r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/><text class="axis" x="{:.0}" y="{:.1}" text-anchor="end">{}</text>"#,
                LEFT - 6.0,
                y + 4.0,
                grouped(whole(value))
            );
        }
        let _ = write!(
            plot.svg,
            r#"<text class="axis" x="{LEFT}" y="{HEIGHT}">1</text><text class="axis" x="{RIGHT}" y="{HEIGHT}" text-anchor="end">{}</text>"#,
            grouped(turns as u64)
        );
        plot
    }

    fn x(&self, index: usize) -> f64 {
        let last = self.turns.saturating_sub(1).max(1);
        LEFT + (RIGHT - LEFT) * number(index as u64) / number(last as u64)
    }

    fn y(&self, value: f64) -> f64 {
        ABOVE + (HEIGHT - ABOVE - BELOW) * (1.0 - value / self.top)
    }

    fn area(&mut self, colour: &str, values: &[u64]) {
        let stretch = values.len().div_ceil(POINTS).max(1);
        let mut path = String::new();
        let mut last = LEFT;
        for (index, values) in values.chunks(stretch).enumerate() {
            let value = values.iter().copied().max().unwrap_or_default();
            last = self.x(index * stretch);
            let _ = write!(path, "L{last:.1} {:.1}", self.y(number(value)));
        }
        // A single turn is drawn as wide as the chart.
        if values.len() == 1 {
            last = RIGHT;
            let _ = write!(path, "H{RIGHT}");
        }
        let ground = self.y(0.0);
        let _ = write!(
            self.svg,
            r#"<path class="{colour}" d="M{LEFT} {ground:.1}{path}L{last:.1} {ground:.1}Z"/>"#
        );
    }

    fn level(&mut self, colour: &str, value: u64, label: &str) {
        let y = self.y(number(value));
        let _ = write!(
            self.svg,
            r#"<line class="{colour}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/><text class="axis" x="{RIGHT}" y="{:.1}" text-anchor="end">{}</text>"#,
            y + 14.0,
            escape(label)
        );
    }

    fn mark(&mut self, colour: &str, index: usize, value: u64, label: &str) {
        let _ = write!(
            self.svg,
            r#"<circle class="{colour}" cx="{:.1}" cy="{:.1}" r="5"><title>{}</title></circle>"#,
            self.x(index),
            self.y(number(value)),
            escape(label)
        );
    }

    fn finish(self) -> String {
        self.svg + "</svg>"
    }
}

/// A horizontal bar of several parts: colour, what it is, amount.
struct Bar<'c> {
    name: String,
    shown: String,
    parts: Vec<(&'c str, String, f64)>,
}

impl Bar<'_> {
    fn total(&self) -> f64 {
        self.parts.iter().map(|(_, _, amount)| amount).sum()
    }
}

fn bars(rows: &[Bar<'_>], shown: impl Fn(f64) -> String) -> String {
    const ROW: f64 = 44.0;
    let longest = rows.iter().map(Bar::total).fold(f64::MIN_POSITIVE, f64::max);
    let height = ROW * number(rows.len() as u64);
    let mut svg = format!(r#"<svg viewBox="0 0 {WIDTH} {height}" role="img">"#);
    for (index, row) in rows.iter().enumerate() {
        let top = ROW * number(index as u64);
        let _ = write!(
            svg,
            r#"<text class="label" x="0" y="{:.0}">{}</text><text class="label" x="{WIDTH}" y="{:.0}" text-anchor="end">{}</text>"#,
            top + 14.0,
            escape(&row.name),
            top + 14.0,
            escape(&row.shown)
        );
        let mut x = 0.0;
        for (colour, name, amount) in row.parts.iter().filter(|(_, _, amount)| *amount > 0.0) {
            let width = WIDTH * amount / longest;
            let _ = write!(
                svg,
                r#"<rect class="{colour}" x="{x:.1}" y="{:.0}" width="{width:.1}" height="18"><title>{}: {}</title></rect>"#,
                top + 20.0,
                escape(name),
                escape(&shown(*amount))
            );
            x += width;
        }
    }
    svg + "</svg>"
}

#[expect(clippy::cast_precision_loss, reason = "a chart is not that precise")]
fn number(amount: u64) -> f64 {
    amount as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a value between 0 and a token count"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use flower_context::accounting::ModelFigures;

    use super::*;

    #[test]
    fn a_long_run_has_a_short_path_that_keeps_its_peak() {
        let mut values = vec![10_u64; 100_000];
        values[77_777] = 1_000;
        let mut plot = Plot::new(values.len(), 1_000);
        plot.area("context", &values);
        let svg = plot.finish();
        assert!(svg.len() < 20_000, "{}", svg.len());
        let peak = format!(" {:.1}L", Plot::new(1, 1_000).y(1_000.0));
        assert!(svg.contains(&peak), "no {peak}");
    }

    #[test]
    fn a_turn_without_usage_is_drawn_as_high_as_the_one_before() {
        let at = |tokens| ContextAt { tokens, ..ContextAt::default() };
        let thread = ThreadFigures { context: [5, 0, 7, 0].map(at).into(), ..ThreadFigures::default() };
        assert_eq!(drawn(&thread, |at| at.tokens), [5, 5, 7, 7]);
    }

    #[test]
    fn days_that_are_not_drawn_are_counted() {
        let texts = crate::texts::texts(flower_context::Lang::En);
        let spent = ModelFigures { dollars: Some(1.0), ..ModelFigures::default() };
        let note = |days: u32| {
            let days =
                (0..days).map(|day| (format!("{day:010}"), [("m".to_owned(), spent)].into())).collect();
            cost(&Figures { days, ..Figures::default() }, texts).unwrap().note
        };
        assert_eq!(note(20), None);
        assert_eq!(note(21).as_deref(), Some("the newest 20 of 21 are drawn"));
    }

    #[test]
    fn odd_numbers_of_turns_draw_no_odd_numbers() {
        for values in [&[][..], &[0], &[5], &[0, 0]] {
            let mut plot = Plot::new(values.len(), values.iter().copied().max().unwrap_or(0));
            plot.area("context", values);
            let svg = plot.finish();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn names_in_bars_cannot_leave_their_element() {
        let parts = vec![("cost", "</title><script>".to_owned(), 1.0)];
        let svg = bars(&[Bar { name: "<b>".to_owned(), shown: "&".to_owned(), parts }], |amount| {
            amount.to_string()
        });
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
    }
}
