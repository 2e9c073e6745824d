//! Holds the reader against `serde_json`: it takes the same texts, and they say the same.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::de::{IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Json, Read, Reader, decode};
use crate::transcript::{Block, Content, NoteKind, Transcript};

/// Reads a text as one value; whether it is one.
fn is_json(text: &str) -> bool {
    let mut reader = Reader::of(text);
    reader.value().and_then(|_| reader.end()).is_ok()
}

/// A value with all that is in it, read the way in which entries are.
fn value(reader: &mut Reader<'_>) -> Read<Value> {
    Ok(match reader.peek()? {
        b'{' => {
            let mut fields = Map::new();
            reader.object(|name, reader| {
                fields.insert(name.to_owned(), value(reader)?);
                Ok(())
            })?;
            Value::Object(fields)
        }
        b'[' => {
            let mut items = Vec::new();
            reader.list(|reader| {
                items.push(value(reader)?);
                Ok(())
            })?;
            Value::Array(items)
        }
        b'"' => Value::String(reader.text()?.unwrap_or_default().into_owned()),
        _ => serde_json::from_str(reader.value()?.get()).unwrap_or_default(),
    })
}

/// The bytes of a JSON string. Unlike a `String` it can hold half of a surrogate pair, in three bytes.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Taker;
        impl Visitor<'_> for Taker {
            type Value = Bytes;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Taker)
    }
}

/// What a string says, with U+FFFD for every half of a pair.
fn said(raw: &str) -> String {
    let Bytes(mut bytes) = serde_json::from_str(raw).unwrap();
    for at in 0..bytes.len().saturating_sub(2) {
        // No character has these two bytes.
        if bytes[at] == 0xed && bytes[at + 1] >= 0xa0 {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ":", ",", "\"", "\"a\"", "\"b\":", "\\", "\\u", "00e9", "\\n", "0", "-", "1", ".5", "e", "E+3",
    "true", "false", "null", " ", "\n", "\t", "\u{1}", "é", "\u{7f}", "{\"k\":[1,2]}", "x",
];

/// Pieces of what stands between quotes.
#[rustfmt::skip]
const IN_STRINGS: &[&str] = &[
    "a", "text, and more of it", "é", "行", "😀", "\u{7f}", "\u{2028}", "{", "[1]", "'", "/", "\\\\", "\\\"", "\\/", "\\b",
    "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\u00e9", "\\u884C", "\\ud83d\\ude00", "\\\\u0041", "u0041",
];

const HALVES: &[&str] = &["\\ud83d", "\\uDE00", "\\udbff", "\\udc00"];

#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "0", "-0", "7", "-12", "1.5", "0.1", "1e3", "2E-7", "-1.25e+10", "18446744073709551615", "18446744073709551616",
    "-9223372036854775808", "123456789012345678901234567890", "5e-324", "1.7976931348623157e308",
];

const SPACES: &[&str] = &["", "", "", " ", "\t", "\r\n", "  \n"];

fn string(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let pieces = prop_oneof![20 => select(IN_STRINGS), 1 => select(pieces)];
    vec(pieces, 0..12).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Names that come twice in one object now and then; one is spelled in two ways.
fn name() -> impl Strategy<Value = String> {
    let names = select(&["\"a\"", "\"b\"", "\"\\u0061\"", "\"\"", "\"type\"", "\"é\""][..]);
    prop_oneof![names.prop_map(str::to_owned), string(IN_STRINGS)]
}

/// JSON as anybody may write it.
fn json() -> impl Strategy<Value = String> {
    let spaced = |(before, text, behind): (&str, String, &str)| format!("{before}{text}{behind}");
    let space = || select(SPACES);
    let leaf = prop_oneof![
        select(&["true", "false", "null"][..]).prop_map(str::to_owned),
        select(NUMBERS).prop_map(str::to_owned),
        string(IN_STRINGS),
    ];
    let value = leaf.prop_recursive(5, 20, 4, move |inner| {
        let list = vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        let field = (space(), name(), space(), inner)
            .prop_map(|(before, name, behind, value)| format!("{before}{name}{behind}:{value}"));
        let object = vec(field, 0..4).prop_map(|fields| format!("{{{}}}", fields.join(",")));
        (space(), prop_oneof![list, object], space()).prop_map(spaced)
    });
    (space(), value, space()).prop_map(spaced)
}

/// Something that happens to bytes.
#[derive(Debug, Clone)]
enum Damage {
    Put(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = || prop_oneof![select(&b"{}[]:,\"\\u0-+.eE t\x00\x1f\x7f\x80\xc3\xed\xff"[..]), any::<u8>()];
    prop_oneof![
        (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Put(at, byte)),
        (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        any::<Index>().prop_map(Damage::Remove),
        any::<Index>().prop_map(Damage::Cut),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        match damage {
            Damage::Insert(at, byte) => bytes.insert(at.index(bytes.len() + 1), *byte),
            _ if bytes.is_empty() => {}
            Damage::Put(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Remove(at) => drop(bytes.remove(at.index(bytes.len()))),
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

/// Some bytes as the only line of a transcript.
fn check_line(bytes: &[u8]) -> Result<(), TestCaseError> {
    // Line ends divide, and NULs in front are taken off.
    let line: Vec<u8> = bytes.iter().copied().filter(|byte| !b"\r\n\0".contains(byte)).collect();
    let text = std::str::from_utf8(&line).ok();
    let parsed = text.filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    let is_object = parsed.is_some_and(|text| text.trim_start().starts_with('{'));
    let transcript = Transcript::read(&line);
    prop_assert_eq!(!transcript.entries().is_empty(), is_object, "{}", String::from_utf8_lossy(&line));
    let kind = transcript.notes().iter().map(|note| &note.kind).find(|kind| kind.is_skipped());
    if text.is_none() {
        prop_assert!(matches!(kind, Some(NoteKind::NotUtf8 { .. })), "{kind:?}");
    } else if !is_object && parsed.is_some() {
        prop_assert!(matches!(kind, Some(NoteKind::NotAnObject)), "{kind:?}");
    }
    Ok(())
}

#[test]
fn depth_is_no_matter_to_either() {
    for depth in [1, 126, 127, 128, 129, 1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
            for middle in ["1", "", "]"] {
                let text = [&open.repeat(depth), middle, &close.repeat(depth)].concat();
                assert_eq!(
                    is_json(&text),
                    serde_json::from_str::<IgnoredAny>(&text).is_ok(),
                    "{open} {depth}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..Default::default() })]

    /// The same texts are JSON, of whatever pieces.
    #[test]
    fn what_is_json_is_json(pieces in vec(select(PIECES), 1..12), pad in 0..40_usize) {
        let text = pieces.concat();
        let inside = format!(r#"{{"{}":{text}}}"#, "p".repeat(pad));
        for text in [text, inside] {
            let expected = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(is_json(&text), expected, "{}", text);
        }
    }

    /// The same values are read, the last of several fields with one name among them.
    #[test]
    fn what_is_read_is_the_same(text in json()) {
        let mut reader = Reader::of(&text);
        let read = value(&mut reader);
        prop_assert_eq!(reader.end(), Ok(()));
        prop_assert_eq!(read, Ok(serde_json::from_str::<Value>(&text).unwrap()), "{}", text);
    }

    /// Strings say the same, and half of a pair is U+FFFD.
    #[test]
    fn what_is_said_is_the_same(raw in string(HALVES)) {
        let expected = said(&raw);
        prop_assert_eq!(Reader::of(&raw).text(), Ok(Some(expected.clone().into())));
        let json = Json(&raw);
        prop_assert_eq!(decode(json), Some(expected.clone().into()));
        prop_assert_eq!(super::is_blank(&raw), expected.trim().is_empty());
        let object = format!("{{{raw}:1}}");
        let mut name = String::new();
        Reader::of(&object).object(|field, reader| {
            name = field.to_owned();
            reader.value().map(drop)
        }).unwrap();
        prop_assert_eq!(name, expected);
    }

    /// What was JSON once and is damaged now is taken or refused as `serde_json` does it.
    #[test]
    fn damaged_lines_are_told_apart(text in json(), nested in 0..300_usize, damages in vec(damage(), 0..4)) {
        let nested = if nested < 200 { 0 } else { nested };
        let text = format!("{{\"a\":{}{text}{}}}", "[".repeat(nested), "]".repeat(nested));
        check_line(&damaged(text.into_bytes(), &damages))?;
    }

    /// Bytes of any kind are taken or refused as `serde_json` does it.
    #[test]
    fn any_bytes_are_told_apart(bytes in vec(any::<u8>(), 0..40), inside in any::<bool>()) {
        let line = if inside { [b"{\"a\":\"".as_slice(), &bytes, b"\"}"].concat() } else { bytes };
        check_line(&line)?;
    }

    /// What an entry says of itself is what stands in its fields, whatever their types.
    #[test]
    fn fields_of_entries_are_the_same(fields in vec((name(), json()), 0..3), known in vec((0..9_usize, json()), 0..5)) {
        const KNOWN: &[&str] = &[
            "type", "uuid", "parentUuid", "isSidechain", "message", "\\u0075uid", "toolUseResult", "timestamp", "cwd",
        ];
        let known = known.iter().map(|(name, value)| format!("\"{}\":{value}", KNOWN[*name]));
        let other = fields.iter().map(|(name, value)| format!("{name}:{value}"));
        let line = format!("{{{}}}", known.chain(other).collect::<Vec<_>>().join(",")).replace(['\r', '\n'], " ");
        let expected: Value = serde_json::from_str(&line).unwrap();
        let transcript = Transcript::read(line.as_bytes());
        let envelope = &transcript.entries()[0].envelope;
        let text = |name: &str| expected.get(name).and_then(Value::as_str);
        prop_assert_eq!(envelope.kind.as_deref(), text("type"));
        prop_assert_eq!(envelope.uuid.as_deref(), text("uuid"));
        prop_assert_eq!(envelope.parent_uuid.as_deref(), text("parentUuid"));
        prop_assert_eq!(envelope.timestamp.as_deref(), text("timestamp"));
        prop_assert_eq!(envelope.cwd.as_deref(), text("cwd"));
        prop_assert_eq!(envelope.is_sidechain, expected.get("isSidechain") == Some(&Value::Bool(true)));
        let output = envelope.tool_use_result.map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap());
        prop_assert_eq!(output.as_ref(), expected.get("toolUseResult"));
        prop_assert_eq!(envelope.message.is_some(), expected.get("message").is_some_and(Value::is_object));
    }

    /// So it is with the blocks of a message.
    #[test]
    fn blocks_are_the_same(kind in select(&["text", "thinking", "tool_use", "tool_result", "x"][..]), value in json(), known in 0..7_usize) {
        const KNOWN: &[&str] = &["text", "thinking", "id", "name", "input", "tool_use_id", "content"];
        let block = format!(
            r#"{{"type":"{kind}","text":"t","thinking":"h","id":"i","name":"n","tool_use_id":"u","{}":{value}}}"#,
            KNOWN[known]
        );
        let line = format!(r#"{{"type":"user","message":{{"content":[{block}]}}}}"#).replace(['\r', '\n'], " ");
        let expected: Value = serde_json::from_str(&block).unwrap();
        let transcript = Transcript::read(line.as_bytes());
        let message = transcript.entries()[0].message_ref().unwrap();
        let Content::Blocks(blocks) = &message.content else { panic!("{line}") };
        let text = |name: &str| expected.get(name).and_then(Value::as_str);
        let parsed = |raw: Option<Json<'_>>| raw.map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap());
        match &blocks[0] {
            Block::Text(raw) => prop_assert_eq!(parsed(Some(*raw)), expected.get("text").cloned()),
            Block::Thinking(raw) => prop_assert_eq!(parsed(Some(*raw)), expected.get("thinking").cloned()),
            Block::ToolUse(call) => {
                prop_assert_eq!(Some(&*call.id), text("id"));
                prop_assert_eq!(&*call.name, text("name").unwrap_or_default());
                prop_assert_eq!(parsed(call.input), expected.get("input").cloned());
            }
            Block::ToolResult(result) => {
                prop_assert_eq!(Some(&*result.tool_use_id), text("tool_use_id"));
                prop_assert_eq!(parsed(result.content), expected.get("content").cloned());
            }
            Block::Other(other) => {
                let is_lacking = match kind {
                    "tool_use" => text("id").is_none(),
                    "tool_result" => text("tool_use_id").is_none(),
                    _ => kind == "x",
                };
                prop_assert!(is_lacking);
                prop_assert_eq!(other.as_deref(), Some(kind));
            }
            other => panic!("{other:?}"),
        }
    }
}
