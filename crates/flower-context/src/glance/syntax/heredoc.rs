//! Here-documents: the tag behind `<<`, and the body behind the next newline.

use super::reader::{Reader, ends_word};
use super::word::{Closing, Pieces};
use super::{Fault, RedirectKind, Word};
use crate::glance::reason::{Construct, Reason};

/// A here-document whose body has not begun yet.
#[derive(Debug)]
pub(super) struct Pending {
    start: usize,
    tag: String,
    /// The tag was not quoted: the shell expands the body.
    expands: bool,
    /// `<<-`: leading tabs do not count.
    strips_tabs: bool,
}

impl Reader<'_> {
    /// Reads the tag: a plain name, whole in quotes or not quoted at all.
    pub(super) fn here_document(&mut self, start: usize, strips_tabs: bool) -> Result<RedirectKind, Fault> {
        self.blanks()?;
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'));
        self.at += usize::from(quote.is_some());
        let tag = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_').to_owned();
        let closed = quote.is_none() || self.peek() == quote;
        self.at += usize::from(quote.is_some());
        if tag.is_empty() || !closed || !self.peek().is_none_or(ends_word) || self.substitutions > 0 {
            return Err(self.construct(start, Construct::HereDocument));
        }
        self.here_documents.push(Pending { start, tag, expands: quote.is_none(), strips_tabs });
        Ok(RedirectKind::HereDocument)
    }

    /// Reads the bodies that begin here; the cursor stands behind a newline.
    pub(super) fn here_document_bodies(&mut self) -> Result<(), Fault> {
        if self.here_documents.is_empty() {
            return Ok(());
        }
        if self.substitutions > 0 {
            return Err(self.fault_here(Reason::Construct(Construct::HereDocument)));
        }
        for pending in std::mem::take(&mut self.here_documents) {
            self.here_document_body(&pending)?;
        }
        Ok(())
    }

    fn here_document_body(&mut self, pending: &Pending) -> Result<(), Fault> {
        let from = self.at;
        let unclear = self.construct(pending.start, Construct::HereDocument);
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err(unclear);
            }
            let line = rest.split('\n').next().unwrap_or_default();
            let end = self.at;
            self.at += line.len() + usize::from(line.len() < rest.len());
            let bare = if pending.strips_tabs { line.trim_start_matches('\t') } else { line };
            if bare == pending.tag {
                if pending.expands {
                    let after = std::mem::replace(&mut self.at, from);
                    let mut pieces = Pieces::default();
                    self.within(end, |reader| {
                        reader.nested(|reader| reader.double(&mut pieces, Closing::End))
                    })?;
                    self.bodies.push(Word { span: self.span_from(from), pieces: pieces.finish() });
                    self.at = after;
                }
                return Ok(());
            }
            // A continued line would join with the tag.
            if pending.expands && line.ends_with('\\') {
                return Err(unclear);
            }
        }
    }

    /// Between a tag and its body no newline may hide in a quote: readers differ where the body begins then.
    pub(super) fn no_here_document_across(&self, text: &str) -> Result<(), Fault> {
        if !self.here_documents.is_empty() && text.contains('\n') {
            return Err(self.fault_here(Reason::Construct(Construct::HereDocument)));
        }
        Ok(())
    }
}
