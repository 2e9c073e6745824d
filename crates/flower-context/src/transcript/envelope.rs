//! The fields around a message that decide where an entry belongs.
//!
//! Parsed once per entry and borrowed from its line. Bodies (`message`, `toolUseResult`, `attachment` …)
//! stay raw until somebody asks for them; fields that are not named here are never looked at, so they
//! survive any rewrite. As in the harness, the last of several fields with one name counts.

use std::borrow::Cow;
use std::sync::Arc;

use super::message::Message;
use crate::json::{Json, Read, Reader, decode};

/// What one line says about itself. Absent fields and fields of an unexpected type are `None` or `false`.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks, as the harness writes them")]
pub struct Envelope<'a> {
    /// `type`: `user`, `assistant`, `system`, `attachment` or the name of a metadata row.
    pub kind: Option<Cow<'a, str>>,
    /// `subtype` of a `system` entry, such as `compact_boundary`.
    pub subtype: Option<Cow<'a, str>>,
    /// Id of the entry; metadata rows have none.
    pub uuid: Option<Cow<'a, str>>,
    /// `parentUuid`: the entry that this one hangs off; `None` at a root.
    pub parent_uuid: Option<Cow<'a, str>>,
    /// `logicalParentUuid` of a compact boundary: the entry that came before it.
    pub logical_parent_uuid: Option<Cow<'a, str>>,
    /// `isSidechain`: set on every entry of a subagent.
    pub is_sidechain: bool,
    /// `agentId` of the subagent that the entry belongs to.
    pub agent_id: Option<Cow<'a, str>>,
    /// `timestamp` in RFC 3339, as written.
    pub timestamp: Option<Cow<'a, str>>,
    /// `isMeta`: a user entry that the harness wrote.
    pub is_meta: bool,
    /// `isCompactSummary`: the user entry that holds the summary behind a compact boundary.
    pub is_compact_summary: bool,
    /// `isApiErrorMessage`: an assistant entry that tells of a failed request and is never sent.
    pub is_api_error_message: bool,
    /// `toolDenialKind` (2.1.332 and later): why a call was not carried out.
    pub tool_denial_kind: Option<Cow<'a, str>>,
    /// `toolDenialBeforeRun`: a person refused the call before it started.
    pub tool_denial_before_run: bool,
    /// `permissionDecision`: what a rule, a mode or a hook decided about the call.
    pub permission_decision: Option<Json<'a>>,
    /// `origin.kind` of a user entry that no person wrote, such as `task-notification`.
    pub origin_kind: Option<Cow<'a, str>>,
    /// `requestId` of an assistant entry, where the API gave one.
    pub request_id: Option<Cow<'a, str>>,
    /// `leafUuid` of a `last-prompt` row.
    pub leaf_uuid: Option<Cow<'a, str>>,
    /// Working directory of the entry.
    pub cwd: Option<Cow<'a, str>>,
    /// Version of the harness that wrote the entry.
    pub version: Option<Cow<'a, str>>,
    /// `message`: role, content and usage, as the API knows them. `None` where it is not an object.
    pub message: Option<Message<'a>>,
    /// `parentUuid` as it stands in the line.
    pub(crate) raw_parent: Option<Json<'a>>,
    /// `message` as it stands in the line.
    pub(super) raw_message: Option<Json<'a>>,
    /// `toolUseResult`: the structured output of a tool; never sent.
    pub tool_use_result: Option<Json<'a>>,
    /// `attachment`: what the harness adds to the conversation.
    pub attachment: Option<Json<'a>>,
    /// `rendered` (2.1.332 and later): the text that an attachment became in the request.
    pub rendered: Option<Json<'a>>,
    /// `compactMetadata` of a compact boundary.
    pub compact_metadata: Option<Json<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads an entry. `None` for a value that is no object.
    pub(super) fn read(reader: &mut Reader<'a>) -> Read<Option<Arc<Self>>> {
        let mut envelope = Arc::<Self>::default();
        // Nobody shares it yet, so nothing is copied.
        let fields = Arc::make_mut(&mut envelope);
        let is_object = reader.object(|field, reader| fields.field(field, reader))?;
        Ok(is_object.then_some(envelope))
    }

    fn field(&mut self, field: &str, reader: &mut Reader<'a>) -> Read<()> {
        match field {
            "parentUuid" => {
                let raw = reader.value()?;
                (self.raw_parent, self.parent_uuid) = (Some(raw), decode(raw));
            }
            "isSidechain" => self.is_sidechain = reader.flag()?,
            "type" => self.kind = reader.text()?,
            "message" => {
                let (raw, message) = reader.spanned(Message::read)?;
                (self.raw_message, self.message) = (Some(raw), message);
            }
            "uuid" => self.uuid = reader.text()?,
            "timestamp" => self.timestamp = reader.text()?,
            "toolUseResult" => self.tool_use_result = Some(reader.value()?),
            "requestId" => self.request_id = reader.text()?,
            "cwd" => self.cwd = reader.text()?,
            "version" => self.version = reader.text()?,
            "agentId" => self.agent_id = reader.text()?,
            "subtype" => self.subtype = reader.text()?,
            "attachment" => self.attachment = Some(reader.value()?),
            "rendered" => self.rendered = Some(reader.value()?),
            "leafUuid" => self.leaf_uuid = reader.text()?,
            "isMeta" => self.is_meta = reader.flag()?,
            "isApiErrorMessage" => self.is_api_error_message = reader.flag()?,
            "toolDenialKind" => self.tool_denial_kind = reader.text()?,
            "toolDenialBeforeRun" => self.tool_denial_before_run = reader.flag()?,
            "permissionDecision" => self.permission_decision = Some(reader.value()?),
            "origin" => self.origin_kind = origin_kind(reader)?,
            "isCompactSummary" => self.is_compact_summary = reader.flag()?,
            "compactMetadata" => self.compact_metadata = Some(reader.value()?),
            "logicalParentUuid" => self.logical_parent_uuid = reader.text()?,
            _ => drop(reader.value()?),
        }
        Ok(())
    }
}

fn origin_kind<'a>(reader: &mut Reader<'a>) -> Read<Option<Cow<'a, str>>> {
    let mut kind = None;
    reader.object(|field, reader| {
        match field {
            "kind" => kind = reader.text()?,
            _ => drop(reader.value()?),
        }
        Ok(())
    })?;
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Envelope<'_> {
        Arc::unwrap_or_clone(Envelope::read(&mut Reader::of(json)).unwrap().unwrap())
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        let plain = read(r#"{"type":"user","uuid":"u1","parentUuid":null}"#);
        assert!(matches!(plain.uuid, Some(Cow::Borrowed("u1"))));
        assert_eq!(plain.parent_uuid, None);
        assert!(matches!(read(r#"{"uuid":"u\u0031"}"#).uuid, Some(Cow::Owned(text)) if text == "u1"));
    }

    #[test]
    fn odd_types_cost_their_field_only() {
        let odd = read(
            r#"{"type":"user","uuid":7,"isMeta":"yes","parentUuid":[1,{"a":2}],"cwd":{"b":[]},"version":-1.5}"#,
        );
        assert_eq!(odd.kind.as_deref(), Some("user"));
        assert_eq!(
            (odd.uuid, odd.is_meta, odd.parent_uuid, odd.cwd, odd.version),
            (None, false, None, None, None)
        );
    }

    #[test]
    fn the_last_of_two_fields_counts() {
        assert_eq!(read(r#"{"uuid":"a","uuid":"b"}"#).uuid.as_deref(), Some("b"));
        let twice = read(r#"{"message":{"id":"a"},"message":{"id":"b"}}"#);
        assert_eq!(twice.message.and_then(|message| message.id).as_deref(), Some("b"));
        assert!(read(r#"{"message":{"id":"a"},"message":[1]}"#).message.is_none());
    }

    #[test]
    fn only_objects_are_entries() {
        for json in ["[1,2,3]", "42", "null", "\"text\"", "true"] {
            assert!(Envelope::read(&mut Reader::of(json)).unwrap().is_none(), "{json}");
        }
    }
}
