//! Whether there may be a successor: so many generations and no more, and none without progress. Pure.

use std::fmt;

use flower_context::{Lang, fill};

use super::document::{Document, Part};
use crate::texts::texts;

/// What one generation did, as far as it can be counted. The turn in which the document was written is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Tokens in the context of its first message: the head, the prompt and the document, before anything was done.
    pub first_context: u64,
    /// API messages of the main thread.
    pub messages: u64,
    /// Calls of the main thread that were carried out; refused ones are none.
    pub calls: u64,
    /// Workers that have reported.
    pub reports: u64,
    /// Files on the workbench that are new or changed; spill and handoffs are not counted.
    pub files: u64,
}

/// Why there is no successor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stuck {
    /// All generations are used.
    Generations {
        /// How many there were.
        of: u32,
    },
    /// A session that was full before it began.
    HeadFills {
        /// The generation.
        generation: u32,
        /// Tokens in its first message.
        first: u64,
        /// Where it hands over.
        mark: u64,
    },
    /// A session that only took over and handed over.
    NoProgress {
        /// The generation.
        generation: u32,
        /// Calls that were carried out.
        calls: u64,
    },
}

impl Stuck {
    /// What people read: why, and what they can do.
    pub fn text(&self, lang: Lang) -> String {
        let texts = texts(lang);
        match self {
            Self::Generations { of } => fill(texts.stuck_generations, &[("of", &of.to_string())]),
            Self::HeadFills { generation, first, mark } => fill(
                texts.stuck_head_fills,
                &[
                    ("generation", &generation.to_string()),
                    ("first", &first.to_string()),
                    ("mark", &mark.to_string()),
                ],
            ),
            Self::NoProgress { generation, calls: 0 } => {
                fill(texts.stuck_no_call, &[("generation", &generation.to_string())])
            }
            Self::NoProgress { generation, calls } => fill(
                texts.stuck_same_next,
                &[("generation", &generation.to_string()), ("calls", &calls.to_string())],
            ),
        }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Lang::En))
    }
}

impl std::error::Error for Stuck {}

/// The generations of one step. The first session is generation 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generations {
    current: u32,
    of: u32,
    next: Option<String>,
}

impl Generations {
    /// A step that may use `of` sessions.
    pub fn new(of: u32) -> Self {
        Self { current: 1, of, next: None }
    }

    /// The generation that is at work.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// How many there may be.
    pub fn of(&self) -> u32 {
        self.of
    }

    /// Whether another generation may follow the current one, as far as their number goes.
    pub fn any_left(&self) -> bool {
        self.current < self.of
    }

    /// Lets the next generation follow. `work` is what the current one did, `mark` where it hands over, `document` what it
    /// left. Returns the number of the next one.
    ///
    /// The first generation may always hand over: it may have been resumed full. A later one must have something to show: a
    /// worker's report, a file on the workbench, or, where it only called tools or thought, another next step than it was
    /// given.
    ///
    /// # Errors
    /// Why none follows. The generation that is at work stays the current one.
    pub fn follow(&mut self, work: &Work, mark: u64, document: &Document) -> Result<u32, Stuck> {
        let generation = self.current;
        if generation > 1 {
            if work.first_context >= mark {
                return Err(Stuck::HeadFills { generation, first: work.first_context, mark });
            }
            if !self.progressed(work, document) {
                return Err(Stuck::NoProgress { generation, calls: work.calls });
            }
        }
        if !self.any_left() {
            return Err(Stuck::Generations { of: self.of });
        }
        self.current += 1;
        self.next = Some(words(document));
        Ok(self.current)
    }

    fn progressed(&self, work: &Work, document: &Document) -> bool {
        let has_acted = work.calls > 0 || work.messages > 1;
        work.reports > 0 || work.files > 0 || (has_acted && self.next.as_ref() != Some(&words(document)))
    }
}

/// The next step without its spacing: what is the same but for that is the same.
fn words(document: &Document) -> String {
    document.part(Part::Next).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: u64 = 150_000;
    const NOTHING: Work = Work { first_context: 20_000, messages: 1, calls: 0, reports: 0, files: 0 };

    fn next(text: &str) -> Document {
        Document::new([(Part::Doing, "x"), (Part::Next, text)])
    }

    /// What becomes of a second handoff after this work, when the first document had `a` as its next step.
    fn check(work: Work, text: &str, expected: &str) {
        let mut generations = Generations::new(8);
        assert_eq!(generations.follow(&NOTHING, MARK, &next("a")), Ok(2), "the first may always hand over");
        let said = match generations.follow(&work, MARK, &next(text)) {
            Ok(generation) => generation.to_string(),
            Err(stuck) => stuck.to_string(),
        };
        assert!(said.contains(expected), "{work:?} {text}: {said}");
    }

    #[test]
    fn a_second_handoff_needs_something_to_show() {
        check(Work { reports: 1, ..NOTHING }, "a", "3");
        check(Work { files: 1, ..NOTHING }, "a", "3");
        check(Work { calls: 1, ..NOTHING }, "b", "3");
        check(Work { messages: 2, ..NOTHING }, "b", "3");
        check(
            NOTHING,
            "a",
            "no progress between two handoffs: session 2 got no report, left no file on the workbench, and made no call",
        );
        check(NOTHING, "b", "made no call");
        check(Work { calls: 7, ..NOTHING }, " a\n", "the same next step as the one before after 7 calls");
    }

    #[test]
    fn a_head_that_fills_the_window_is_named() {
        let full = Work { first_context: MARK, reports: 9, ..NOTHING };
        check(
            full,
            "b",
            "the head and the handoff document alone fill the window: session 2 began with 150000 tokens",
        );
        check(Work { first_context: MARK - 1, ..full }, "b", "3");
        let mut resumed = Generations::new(8);
        assert_eq!(resumed.follow(&full, MARK, &next("a")), Ok(2), "a session may be resumed full");
    }

    #[test]
    fn there_are_so_many_generations_and_no_more() {
        let mut generations = Generations::new(8);
        let work = Work { reports: 1, ..NOTHING };
        for expected in 2..=8 {
            assert_eq!(generations.follow(&work, MARK, &next("a")), Ok(expected));
            assert_eq!(generations.current(), expected);
        }
        assert!(!generations.any_left());
        assert_eq!(generations.follow(&work, MARK, &next("a")), Err(Stuck::Generations { of: 8 }));
        assert_eq!(generations.current(), 8);
    }

    #[test]
    fn why_none_follows_is_told_in_both_languages() {
        let check = |stuck: Stuck, numbers: &[&str]| {
            let (en, zh) = (stuck.text(Lang::En), stuck.text(Lang::Zh));
            assert_ne!(en, zh);
            for text in [en, zh] {
                assert!(numbers.iter().all(|number| text.contains(number)) && !text.contains('{'), "{text}");
            }
        };
        check(Stuck::Generations { of: 8 }, &["8"]);
        check(Stuck::HeadFills { generation: 3, first: 160_000, mark: MARK }, &["3", "160000", "150000"]);
        check(Stuck::NoProgress { generation: 4, calls: 0 }, &["4", "notes/"]);
        check(Stuck::NoProgress { generation: 4, calls: 7 }, &["4", "7", "notes/"]);
    }

    proptest::proptest! {
        /// Whatever each generation does, an end comes.
        #[test]
        fn it_ends(works in proptest::collection::vec((0..200_000_u64, 0..3_u64, 0..3_u64, 0..2_u64, 0..2_u64, 0..2_u8), 20)) {
            let mut generations = Generations::new(8);
            let followed = works.iter().take_while(|(first_context, messages, calls, reports, files, text)| {
                let work = Work { first_context: *first_context, messages: *messages, calls: *calls, reports: *reports, files: *files };
                generations.follow(&work, MARK, &next(&text.to_string())).is_ok()
            });
            proptest::prop_assert!(followed.count() <= 7);
        }
    }
}
