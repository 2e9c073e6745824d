//! Compact boundaries, and the messages that a compaction kept.
//!
//! A boundary starts a new root: older entries stay in the file and are not sent any more. The messages
//! that it preserves keep their old place and parents in the file, but are sent behind the summary.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::Entry;

/// Messages that outlived a compaction: a stretch of the old chain that now follows the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreservedSegment<'a> {
    /// uuid of the first preserved entry.
    pub head: Cow<'a, str>,
    /// uuid of the entry that the stretch follows now: the summary.
    pub anchor: Cow<'a, str>,
    /// uuid of the last preserved entry.
    pub tail: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    preserved_segment: Option<Segment<'a>>,
    #[serde(borrow)]
    preserved_messages: Option<Messages<'a>>,
}

#[derive(Deserialize)]
struct Segment<'a> {
    #[serde(borrow, rename = "headUuid")]
    head: Cow<'a, str>,
    #[serde(borrow, rename = "anchorUuid")]
    anchor: Cow<'a, str>,
    #[serde(borrow, rename = "tailUuid")]
    tail: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Messages<'a> {
    #[serde(borrow)]
    anchor_uuid: Cow<'a, str>,
    #[serde(default)]
    uuids: Vec<String>,
    #[serde(default)]
    all_uuids: Vec<String>,
}

/// What a compact boundary kept. `None` for other entries and for a boundary that kept nothing.
pub fn preserved_segment<'a>(boundary: &Entry<'a>) -> Option<PreservedSegment<'a>> {
    let metadata = metadata(boundary)?;
    if let Some(Segment { head, anchor, tail }) = metadata.preserved_segment {
        return Some(PreservedSegment { head, anchor, tail });
    }
    let messages = metadata.preserved_messages?;
    let (head, tail) = (messages.uuids.first()?.clone(), messages.uuids.last()?.clone());
    Some(PreservedSegment { head: head.into(), anchor: messages.anchor_uuid, tail: tail.into() })
}

/// Every uuid that a compact boundary names. An entry with one of them may be neither removed nor renamed.
pub fn named_uuids(boundary: &Entry<'_>) -> Vec<String> {
    let Some(metadata) = metadata(boundary) else {
        return Vec::new();
    };
    let mut uuids: Vec<String> =
        boundary.envelope.logical_parent_uuid.iter().map(ToString::to_string).collect();
    if let Some(segment) = metadata.preserved_segment {
        uuids.extend([segment.head, segment.anchor, segment.tail].map(Cow::into_owned));
    }
    if let Some(messages) = metadata.preserved_messages {
        uuids.push(messages.anchor_uuid.into_owned());
        uuids.extend(messages.uuids);
        uuids.extend(messages.all_uuids);
    }
    uuids
}

fn metadata<'a>(boundary: &Entry<'a>) -> Option<Metadata<'a>> {
    let raw = boundary.envelope.compact_metadata.filter(|_| boundary.is_compact_boundary())?;
    serde_json::from_str(raw.get()).ok()
}
