//! What a view changes of a session's lines, small enough to be kept with the session. Pure.

use std::collections::HashMap;

use flower_context::rewrite::spill_name;
use serde::{Deserialize, Serialize};

/// The changes of one view, on top of those of the views before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// How many lines the session had when the view was made.
    pub of: usize,
    /// The last of them, as [`spill_name`] names a text: lines that were put before it since would shift the steps.
    pub last: String,
    /// What becomes of the lines, from the first to the last.
    pub steps: Vec<Step>,
}

/// What becomes of the next lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// So many stay.
    Keep(usize),
    /// So many are left out.
    Drop(usize),
    /// These stand here.
    Put(Vec<String>),
}

impl Delta {
    /// What makes `view` of `base`; `lines` are all lines that the session has.
    pub fn between(lines: &[&str], base: &[&str], view: &[&str]) -> Self {
        let mut places: HashMap<&str, Places> = HashMap::new();
        for (place, line) in base.iter().enumerate() {
            places.entry(line).or_default().of.push(place);
        }
        let mut steps = Vec::new();
        let mut next = 0;
        for line in view {
            match places.get_mut(line).and_then(|places| places.from(next)) {
                Some(place) => {
                    push(&mut steps, Step::Drop(place - next));
                    push(&mut steps, Step::Keep(1));
                    next = place + 1;
                }
                None => push(&mut steps, Step::Put(vec![(*line).to_owned()])),
            }
        }
        push(&mut steps, Step::Drop(base.len() - next));
        Self { of: lines.len(), last: name(lines), steps }
    }

    /// It changes nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Keep(_)))
    }

    /// The lines of the view; `None` when this is no delta of those lines.
    pub fn apply<'l>(&'l self, base: &[&'l str]) -> Option<Vec<&'l str>> {
        let mut rest = base;
        let mut view = Vec::with_capacity(base.len());
        for step in &self.steps {
            match step {
                Step::Keep(lines) => {
                    let (kept, after) = rest.split_at_checked(*lines)?;
                    view.extend_from_slice(kept);
                    rest = after;
                }
                Step::Drop(lines) => rest = rest.get(*lines..)?,
                Step::Put(lines) => view.extend(lines.iter().map(String::as_str)),
            }
        }
        rest.is_empty().then_some(view)
    }
}

/// The lines of a session as its newest view showed them, and behind them what has come since. `None` when the deltas do
/// not fit.
pub(super) fn replay<'l>(lines: &[&'l str], deltas: &'l [Delta]) -> Option<Vec<&'l str>> {
    let mut view: Vec<&str> = Vec::new();
    let mut seen = 0;
    for delta in deltas {
        let known = lines.get(..delta.of).filter(|known| name(known) == delta.last)?;
        view.extend_from_slice(known.get(seen..)?);
        seen = delta.of;
        view = delta.apply(&view)?;
    }
    view.extend_from_slice(lines.get(seen..)?);
    Some(view)
}

fn name(lines: &[&str]) -> String {
    spill_name(lines.last().copied().unwrap_or_default())
}

/// Where a text stands, in order; looked up from left to right.
#[derive(Default)]
struct Places {
    of: Vec<usize>,
    passed: usize,
}

impl Places {
    fn from(&mut self, next: usize) -> Option<usize> {
        while self.of.get(self.passed).is_some_and(|place| *place < next) {
            self.passed += 1;
        }
        self.of.get(self.passed).copied()
    }
}

fn push(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (_, Step::Keep(0) | Step::Drop(0)) => {}
        (Some(Step::Keep(lines)), Step::Keep(more)) | (Some(Step::Drop(lines)), Step::Drop(more)) => {
            *lines += more;
        }
        (Some(Step::Put(lines)), Step::Put(more)) => lines.extend(more),
        (_, step) => steps.push(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &[&str], view: &[&str], expected: &[Step]) {
        let delta = Delta::between(base, base, view);
        assert_eq!(delta.steps, expected, "{base:?} -> {view:?}");
        assert_eq!(delta.apply(base).as_deref(), Some(view));
    }

    #[test]
    fn a_view_keeps_drops_and_puts_lines() {
        let put = |lines: &[&str]| Step::Put(lines.iter().map(|line| (*line).to_owned()).collect());
        check(&[], &[], &[]);
        check(&["a", "b"], &["a", "b"], &[Step::Keep(2)]);
        check(&["a", "b", "c"], &["a", "c"], &[Step::Keep(1), Step::Drop(1), Step::Keep(1)]);
        check(
            &["a", "b", "c"],
            &["a", "B", "c"],
            &[Step::Keep(1), put(&["B"]), Step::Drop(1), Step::Keep(1)],
        );
        check(&["a"], &["a", "x", "y"], &[Step::Keep(1), put(&["x", "y"])]);
        check(&["a", "m", "b", "m"], &["m", "b", "m"], &[Step::Drop(1), Step::Keep(3)]);
        check(&["a", "b"], &["b", "a"], &[Step::Drop(1), Step::Keep(1), put(&["a"])]);
        check(&["a"], &[], &[Step::Drop(1)]);
    }

    #[test]
    fn views_stand_on_one_another() {
        let first = Delta::between(&["a", "b", "c"], &["a", "b", "c"], &["a", "B", "c"]);
        let second = Delta::between(&["a", "b", "c", "d"], &["a", "B", "c", "d"], &["a", "B", "d", "x"]);
        let deltas = [first, second];
        let lines = ["a", "b", "c", "d", "e"];
        assert_eq!(replay(&lines, &deltas).unwrap(), ["a", "B", "d", "x", "e"]);
        assert_eq!(replay(&lines[..3], &deltas), None, "the session has lost lines");
        assert_eq!(replay(&["a", "n", "b", "c", "d"], &deltas), None, "something was put between its lines");
        assert_eq!(replay(&lines, &[]).unwrap(), lines);
    }

    #[test]
    fn a_delta_of_other_lines_is_none() {
        let steps = |steps| Delta { of: 2, last: String::new(), steps };
        let delta = steps(vec![Step::Keep(2)]);
        assert_eq!(delta.apply(&["a"]), None);
        assert_eq!(delta.apply(&["a", "b", "c"]), None);
        assert_eq!(steps(vec![Step::Drop(usize::MAX)]).apply(&["a"]), None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_view_it_comes_back(base in lines(), view in lines()) {
            let base: Vec<&str> = base.iter().map(String::as_str).collect();
            let view: Vec<&str> = view.iter().map(String::as_str).collect();
            let delta = Delta::between(&base, &base, &view);
            proptest::prop_assert_eq!(delta.apply(&base), Some(view));
        }
    }

    fn lines() -> impl proptest::strategy::Strategy<Value = Vec<String>> {
        proptest::collection::vec("[a-d]", 0..12)
    }
}
