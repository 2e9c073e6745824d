//! The handoff at its place: what the session wrote, or what is known of it, becomes the first prompt of a successor.

use flower_context::Lang;
use flower_context::transcript::Transcript;
use flower_store::SessionKey;

use super::Inner;
use super::event::RunEvent;
use super::outcome::HandedOver;
use crate::handoff::degraded::{Known, Why, assemble};
use crate::handoff::{Document, Frozen, Generations, Stuck, Succession, Work, freeze, longest, succession};
use crate::source::{SessionBytes, SourceError, read_stored};

/// What a session left.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Left {
    /// What it wrote when it was asked for a document.
    Written(String),
    /// Nothing, and why.
    Nothing(Why),
}

/// The line of sessions of one step.
#[derive(Debug)]
pub(super) struct Lineage {
    generations: Generations,
    /// What the session at work started from.
    document: Option<Document>,
    /// Each handoff.
    pub(super) frozen: Vec<HandedOver>,
}

impl Lineage {
    pub(super) fn new(generations: u32) -> Self {
        Self { generations: Generations::new(generations), document: None, frozen: Vec::new() }
    }

    /// The prompt of the next session. The document is frozen before; `mark` is where a session hands over.
    ///
    /// # Errors
    /// Why there is none: too many sessions, or no progress. The document is frozen all the same.
    pub(super) fn follow(
        &mut self,
        inner: &Inner,
        prompt: &str,
        session: &str,
        left: &Left,
        work: &Work,
        mark: u64,
    ) -> Result<String, Failed> {
        let generation = self.generations.current();
        let (document, text, why) = self.document(inner, prompt, session, left);
        let frozen = freeze(&inner.bench, inner.lang, generation, session, &document, &text)
            .map_err(Failed::Freeze)?;
        let Frozen { path, left: stayed } = frozen;
        for error in &stayed {
            inner.warn(error.text(inner.lang));
        }
        let degraded = why.as_ref().map(|why| why.sentence(inner.lang));
        self.frozen.push(HandedOver { generation, document: path.clone(), degraded: degraded.clone() });
        let next = self.generations.follow(work, mark, &document).map_err(Failed::Stuck)?;
        inner.tell(&RunEvent::HandedOver {
            generation: next,
            of: self.generations.of(),
            document: path.clone(),
            degraded,
        });
        let opening = succession(
            inner.lang,
            &Succession {
                prompt,
                document: &document,
                path: &path,
                generation: next,
                of: self.generations.of(),
                degraded: why.as_ref(),
                most: longest(mark),
            },
        );
        self.document = Some(document);
        Ok(opening)
    }

    /// The document, the whole text to freeze, and why it is not the session's own.
    fn document(
        &self,
        inner: &Inner,
        prompt: &str,
        session: &str,
        left: &Left,
    ) -> (Document, String, Option<Why>) {
        let (written, why) = match left {
            Left::Written(text) => match Document::parse(text) {
                Ok(document) => return (document, text.clone(), None),
                Err(missing) => (Some(text), Why::Incomplete(missing)),
            },
            Left::Nothing(why) => (None, why.clone()),
        };
        let wrote = written.map(String::as_str).unwrap_or_default();
        let document = degraded(inner, prompt, session, &why, wrote, self.document.as_ref());
        let mut text = document.render(inner.lang);
        if let Some(written) = written {
            text.push_str("\n---\n\n");
            text.push_str(written);
        }
        (document, text, Some(why))
    }
}

/// Why no session follows.
#[derive(Debug)]
pub(super) enum Failed {
    Stuck(Stuck),
    Freeze(crate::handoff::FreezeError),
}

impl Failed {
    /// What people read.
    pub(super) fn text(&self, lang: Lang) -> String {
        match self {
            Self::Stuck(stuck) => stuck.text(lang),
            Self::Freeze(error) => error.text(lang),
        }
    }
}

/// A document from what is known from outside. A store that cannot be read knows nothing.
fn degraded(
    inner: &Inner,
    prompt: &str,
    session: &str,
    why: &Why,
    wrote: &str,
    previous: Option<&Document>,
) -> Document {
    let bytes = stored(inner, session).unwrap_or_default();
    let main = Transcript::read(&bytes.main);
    let workers: Vec<Transcript<'_>> =
        bytes.workers.iter().map(|worker| Transcript::read(&worker.entries)).collect();
    let denied: Vec<String> = bytes.marks.denied_ids.iter().cloned().collect();
    let index = std::fs::read_to_string(inner.bench.index()).unwrap_or_default();
    let known = Known {
        prompt,
        wrote,
        previous,
        main: Some(&main),
        workers: &workers,
        denied: &denied,
        index: &index,
        workspace: Some(&inner.workspace),
    };
    assemble(inner.lang, why, &known)
}

fn stored(inner: &Inner, session: &str) -> Result<SessionBytes, SourceError> {
    let main = SessionKey::main(inner.paths.project_key(), session)?;
    read_stored(&inner.sessions_db, &main)
}
