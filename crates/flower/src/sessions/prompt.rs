//! What a session was first asked, as one line.

use std::ops::ControlFlow;

use flower_context::transcript::{Block, Content, EntryKind, Transcript, decode};
use flower_store::{SessionKey, SessionStore, StoreError};

use crate::workbench::plain_line;

/// So much of a prompt is shown, in characters.
const LONGEST: usize = 200;

/// The first prompt of a thread: one line of at most 200 characters, without control characters. `None` when there is none.
pub(super) fn first_prompt(store: &dyn SessionStore, key: &SessionKey) -> Result<Option<String>, StoreError> {
    let mut prompt = None;
    store.visit_until(key, &mut |entry| {
        if entry.entry_type == Some("user") {
            prompt = prompt_in(entry.text);
        }
        if prompt.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(prompt)
}

/// What somebody asked in this entry: neither a tool's result nor a text that the harness wrote.
fn prompt_in(text: &str) -> Option<String> {
    let transcript = Transcript::from_lines([text.as_bytes()]);
    let entry = transcript.entries().first()?;
    if entry.kind() != EntryKind::User || entry.is_written_by_harness() {
        return None;
    }
    let said = match &entry.message_ref()?.content {
        Content::Text(text) => plain_line(text, LONGEST),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Block::Text(raw) => decode(*raw),
                _ => None,
            });
            plain_line(&texts.collect::<Vec<_>>().join(" "), LONGEST)
        }
    };
    (!said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, more: &str, expected: Option<&str>) {
        let line = format!(r#"{{"type":"user","uuid":"u","message":{message}{more}}}"#);
        assert_eq!(prompt_in(&line).as_deref(), expected, "{line}");
    }

    #[test]
    fn a_prompt_is_what_somebody_asked() {
        let said = r#"{"role":"user","content":"Count `the`\n\tfiles. \u001b[31m\u202e"}"#;
        check(said, "", Some("Count `the` files. [31m"));
        check(said, r#","isMeta":true"#, None);
        check(said, r#","isCompactSummary":true"#, None);
        check(
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            "",
            Some("a b"),
        );
        check(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#,
            "",
            None,
        );
        check(r#"{"role":"user","content":"  "}"#, "", None);
        check("7", "", None);
        assert_eq!(prompt_in("dirt"), None);
    }

    #[test]
    fn a_long_prompt_is_cut() {
        let line = format!(
            r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":"{}"}}}}"#,
            "数".repeat(999)
        );
        assert_eq!(prompt_in(&line).unwrap().chars().count(), LONGEST);
    }
}
