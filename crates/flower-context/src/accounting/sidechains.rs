//! Conversations of subagents that older versions wrote into the file of the main thread, told apart.

use std::collections::HashMap;

use crate::transcript::{Entry, Thread, Transcript};

/// The entries of the main thread, and the rows that belong to nobody.
pub(super) fn main_entries<'t, 'a>(transcript: &'t Transcript<'a>) -> impl Iterator<Item = &'t Entry<'a>> {
    transcript.entries().iter().filter(|entry| entry.thread() == Thread::Main)
}

/// The conversations of subagents in the order in which they begin, each with the id of the subagent. Where no line names
/// it, as in the oldest versions, a conversation is what hangs together, and its first entry names it.
pub(super) fn sidechains<'t, 'a>(transcript: &'t Transcript<'a>) -> Vec<(&'t str, Vec<&'t Entry<'a>>)> {
    let mut found: Vec<(&str, Vec<&Entry<'_>>)> = Vec::new();
    let mut places = HashMap::new();
    for entry in transcript.entries() {
        let (Thread::Agent(agent_id), Some(uuid)) = (entry.thread(), entry.uuid()) else { continue };
        let (of, name) = match agent_id {
            "" => (entry.envelope.parent_uuid.as_deref(), uuid),
            named => (Some(named), named),
        };
        let place = of.and_then(|of| places.get(of)).copied().unwrap_or(found.len());
        places.insert(name, place);
        match found.get_mut(place) {
            Some((_, entries)) => entries.push(entry),
            None => found.push((name, vec![entry])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_in_one_file_are_told_apart() {
        let line = |uuid: &str, parent: &str, rest: &str| {
            format!(r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent}{rest},"message":{{}}}}"#)
        };
        let side = r#","isSidechain":true"#;
        let named = r#","isSidechain":true,"agentId":"a1""#;
        let lines = [
            line("m1", "null", ""),
            line("x1", "null", side),
            line("y1", "null", side),
            line("x2", "\"x1\"", side),
            line("n1", "null", named),
            line("m2", "\"m1\"", ""),
            line("n2", "null", named),
            line("y2", "\"y1\"", side),
        ]
        .join("\n");
        let transcript = Transcript::read(lines.as_bytes());
        let uuids = |entries: &[&Entry<'_>]| {
            entries.iter().filter_map(|entry| entry.uuid()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(uuids(&main_entries(&transcript).collect::<Vec<_>>()), "m1 m2");
        let found: Vec<_> =
            sidechains(&transcript).iter().map(|(name, entries)| (*name, uuids(entries))).collect();
        assert_eq!(
            found.iter().map(|(name, uuids)| (*name, &**uuids)).collect::<Vec<_>>(),
            [("x1", "x1 x2"), ("y1", "y1 y2"), ("a1", "n1 n2"),]
        );
    }
}
