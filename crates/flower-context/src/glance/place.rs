//! Where a command line goes: whether it may come to stand at the root of all, where all that is relative is below it.
//!
//! Which steps are taken, and in which order, is not followed: `cd a || true; (cd ..)` may go either way. So steps up
//! are added up and held against the place that needs the fewest of them.

use super::paths::is_root;

/// More steps up than most places are deep.
const DEEP: usize = 4;

/// What is known of the way of a command line.
#[derive(Debug, Default)]
pub(super) struct Way {
    goes_to_root: bool,
    names_root: bool,
    goes_somewhere: bool,
    /// Steps up that are taken from wherever the line is.
    up: usize,
    /// The steps up and down that are taken inside of loops.
    looped: (usize, usize),
    /// The depth of the place nearest to the root.
    nearest: Option<usize>,
}

impl Way {
    /// A word somewhere in the line, which a variable may carry to a `cd`: `r=/; cd $r`.
    pub(super) fn names(&mut self, text: &str) {
        self.names_root |= is_root(text);
    }

    /// A step to a place; `computed` stands for what the shell puts there.
    pub(super) fn goes(&mut self, place: &str, computed: char, in_loop: bool) {
        self.goes_to_root |= is_root(place);
        let names = place.split('/').filter(|name| !matches!(*name, "" | "."));
        if let Some(rest) = place.strip_prefix(computed) {
            self.goes_somewhere = true;
            // `cd "$HOME/../.."`
            self.goes_to_root |= rest.starts_with("/../..") && names.clone().skip(1).all(|name| name == "..");
        }
        if place.starts_with(['/', '~']) {
            let depth = names.fold(0_usize, |depth, name| match name {
                ".." => depth.saturating_sub(1),
                _ => depth + 1,
            });
            self.nearest = Some(self.nearest.map_or(depth, |nearest| nearest.min(depth)));
            // The home of whoever administers the system is as near as can be.
            self.goes_to_root |= depth == 0;
            return;
        }
        let up = names.clone().filter(|name| *name == "..").count();
        self.up = self.up.saturating_add(up);
        if in_loop {
            self.looped = (self.looped.0 + up, self.looped.1 + names.count() - up);
        }
    }

    /// Whether the line may be at the root of all somewhere.
    pub(super) fn leads_to_root(&self) -> bool {
        self.goes_to_root
            || (self.goes_somewhere && self.names_root)
            || self.up > DEEP
            || self.looped.0 > self.looped.1
            || self.nearest.is_some_and(|depth| self.up >= depth.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_reached_in_several_steps_too() {
        let reaches = |places: &[&str], in_loop: bool| {
            let mut way = Way::default();
            for place in places {
                way.goes(place, '\u{1}', in_loop);
            }
            way.leads_to_root()
        };
        for (places, expected) in [
            (["/usr", ".."].as_slice(), true),
            (&["/usr/lib", ".."], false),
            (&["/usr/lib", "..", ".."], true),
            (&["/etc/.."], true),
            (&["~", ".."], true),
            (&["~root/.."], true),
            (&["~/src", ".."], false),
            (&["..", "..", "..", "..", ".."], true),
            (&["src", ".."], false),
            (&["/home/me/project", "..", "other"], false),
            (&["\u{1}/../.."], true),
            (&["\u{1}/.."], false),
            (&["\u{1}/../../src"], false),
        ] {
            assert_eq!(reaches(places, false), expected, "{places:?}");
        }
        assert!(reaches(&[".."], true));
        assert!(!reaches(&["\u{1}", ".."], true));
    }
}
