//! The fields around a message that decide where an entry belongs.
//!
//! Parsed once per entry and borrowed from its line. Bodies (`message`, `toolUseResult`, `attachment` …)
//! stay raw until somebody asks for them; fields that are not named here are never looked at, so they
//! survive any rewrite. As in the harness, the last of several fields with one name counts.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::lenient::{Flag, Lenient, Leniently, Text};
use super::message::Message;

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
    /// `sessionId`. Need not match the name of the file.
    pub session_id: Option<Cow<'a, str>>,
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
    pub permission_decision: Option<&'a RawValue>,
    /// `sourceToolAssistantUUID`: the entry whose call a tool result answers.
    pub source_tool_assistant_uuid: Option<Cow<'a, str>>,
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
    /// `toolUseResult`: the structured output of a tool; never sent.
    pub tool_use_result: Option<&'a RawValue>,
    /// `attachment`: what the harness adds to the conversation.
    pub attachment: Option<&'a RawValue>,
    /// `rendered` (2.1.332 and later): the text that an attachment became in the request.
    pub rendered: Option<&'a RawValue>,
    /// `compactMetadata` of a compact boundary.
    pub compact_metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    Subtype,
    Uuid,
    ParentUuid,
    LogicalParentUuid,
    IsSidechain,
    AgentId,
    SessionId,
    Timestamp,
    IsMeta,
    IsCompactSummary,
    IsApiErrorMessage,
    ToolDenialKind,
    ToolDenialBeforeRun,
    PermissionDecision,
    #[serde(rename = "sourceToolAssistantUUID")]
    SourceToolAssistantUuid,
    Origin,
    RequestId,
    LeafUuid,
    Cwd,
    Version,
    Message,
    ToolUseResult,
    Attachment,
    Rendered,
    CompactMetadata,
    #[serde(other)]
    Other,
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an entry object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(field) = fields.next_key()? {
            let text = match field {
                Field::Type => &mut envelope.kind,
                Field::Subtype => &mut envelope.subtype,
                Field::Uuid => &mut envelope.uuid,
                Field::ParentUuid => &mut envelope.parent_uuid,
                Field::LogicalParentUuid => &mut envelope.logical_parent_uuid,
                Field::AgentId => &mut envelope.agent_id,
                Field::SessionId => &mut envelope.session_id,
                Field::Timestamp => &mut envelope.timestamp,
                Field::ToolDenialKind => &mut envelope.tool_denial_kind,
                Field::SourceToolAssistantUuid => &mut envelope.source_tool_assistant_uuid,
                Field::RequestId => &mut envelope.request_id,
                Field::LeafUuid => &mut envelope.leaf_uuid,
                Field::Cwd => &mut envelope.cwd,
                Field::Version => &mut envelope.version,
                other => {
                    read_other(other, &mut envelope, &mut fields)?;
                    continue;
                }
            };
            *text = fields.next_value::<Text<'de>>()?.0;
        }
        Ok(envelope)
    }
}

/// Reads the value of a field that is not a string.
fn read_other<'de, A: MapAccess<'de>>(
    field: Field,
    envelope: &mut Envelope<'de>,
    fields: &mut A,
) -> Result<(), A::Error> {
    let flag = match field {
        Field::IsSidechain => &mut envelope.is_sidechain,
        Field::IsMeta => &mut envelope.is_meta,
        Field::IsCompactSummary => &mut envelope.is_compact_summary,
        Field::IsApiErrorMessage => &mut envelope.is_api_error_message,
        Field::ToolDenialBeforeRun => &mut envelope.tool_denial_before_run,
        Field::Message => {
            envelope.message = fields.next_value::<Leniently<_>>()?.0;
            return Ok(());
        }
        Field::Origin => {
            envelope.origin_kind = fields.next_value::<Leniently<Origin<'de>>>()?.0.kind;
            return Ok(());
        }
        body => {
            let raw = match body {
                Field::PermissionDecision => &mut envelope.permission_decision,
                Field::ToolUseResult => &mut envelope.tool_use_result,
                Field::Attachment => &mut envelope.attachment,
                Field::Rendered => &mut envelope.rendered,
                Field::CompactMetadata => &mut envelope.compact_metadata,
                _ => return fields.next_value::<IgnoredAny>().map(|_| ()),
            };
            *raw = Some(fields.next_value()?);
            return Ok(());
        }
    };
    *flag = fields.next_value::<Flag>()?.0;
    Ok(())
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

/// What stands in `origin`.
#[derive(Default)]
struct Origin<'a> {
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum OriginField {
    Kind,
    #[serde(other)]
    Other,
}

impl<'de> Lenient<'de> for Origin<'de> {
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut origin = Self::default();
        while let Some(field) = fields.next_key()? {
            match field {
                OriginField::Kind => origin.kind = fields.next_value::<Text<'de>>()?.0,
                OriginField::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Envelope<'_> {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
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
            assert!(serde_json::from_str::<Envelope<'_>>(json).is_err(), "{json}");
        }
    }
}
