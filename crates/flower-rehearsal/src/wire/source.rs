//! Where the bytes of images and documents come from.

use super::block::{Block, Content};
use super::refusal::Refusal;
use super::shape::{Fields, refuse, unknown_tag};

/// Where the bytes of an image or a document come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Bytes in the request.
    Base64 {
        /// As the request names it; checked by the validator.
        media_type: String,
        /// Not yet decoded.
        data: String,
    },
    /// Plain text (documents only).
    Text(String),
    /// A document made of blocks.
    Content(Vec<Content>),
    /// A URL: nothing is fetched here.
    Url(String),
    /// The id of a file that was uploaded before; nothing is known of it here.
    File(String),
}

/// What has the source: each takes other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Image,
    Document,
}

impl Owner {
    fn tags(self) -> &'static [&'static str] {
        match self {
            Self::Image => &["base64", "file", "url"],
            Self::Document => &["base64", "content", "file", "text", "url"],
        }
    }
}

impl Source {
    /// Reads the field `source` of a block.
    pub(super) fn read(fields: &Fields<'_>, owner: Owner) -> Result<Self, Refusal> {
        let source = Fields::of(fields.at("source"), fields.required("source")?)?;
        let tag = source.string("type")?;
        if !owner.tags().contains(&tag) {
            return Err(unknown_tag(&fields.at("source"), tag, owner.tags()));
        }
        let source = source.tagged(tag);
        match tag {
            "base64" => {
                source.only(&[&["type", "media_type", "data"]])?;
                Ok(Self::Base64 {
                    media_type: source.string("media_type")?.to_owned(),
                    data: source.string("data")?.to_owned(),
                })
            }
            "text" => {
                source.only(&[&["type", "media_type", "data"]])?;
                source.word("media_type", &["text/plain"])?;
                Ok(Self::Text(source.string("data")?.to_owned()))
            }
            "content" => {
                source.only(&[&["type", "content"]])?;
                let content = Content::read_all(&source.at("content"), source.required("content")?)?;
                blocks_that_a_document_takes(&source.at("content"), &content)?;
                Ok(Self::Content(content))
            }
            "url" => {
                source.only(&[&["type", "url"]])?;
                Ok(Self::Url(source.string("url")?.to_owned()))
            }
            _ => {
                source.only(&[&["type", "file_id"]])?;
                Ok(Self::File(source.string("file_id")?.to_owned()))
            }
        }
    }
}

fn blocks_that_a_document_takes(path: &str, content: &[Content]) -> Result<(), Refusal> {
    match content.iter().position(|inner| !matches!(inner.block, Block::Text(_) | Block::Image(_))) {
        None => Ok(()),
        Some(index) => Err(refuse(&format!("{path}.{index}.type"), "Input should be 'text' or 'image'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn verdict(kind: &str, source: &Value) -> String {
        match Content::read("c", &json!({"type": kind, "source": source})) {
            Ok(_) => "ok".to_owned(),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn each_owner_takes_its_own_kinds() {
        let plain = json!({"type": "text", "media_type": "text/plain", "data": "x"});
        let url = json!({"type": "url", "url": "https://example.com/a"});
        let file = json!({"type": "file", "file_id": "file_1"});
        for (kind, source, expected) in [
            ("document", plain.clone(), "ok"),
            ("document", url.clone(), "ok"),
            ("document", file.clone(), "ok"),
            ("document", json!({"type": "content", "content": "words"}), "ok"),
            ("document", json!({"type": "content", "content": [{"type": "text", "text": "words"}]}), "ok"),
            ("image", url, "ok"),
            ("image", file, "ok"),
            (
                "image",
                plain,
                "c.image.source: Input tag 'text' found using 'type' does not match any of the expected tags: \
                 'base64', 'file', 'url'",
            ),
            (
                "document",
                json!({"type": "text", "media_type": "text/html", "data": "x"}),
                "c.document.source.text.media_type: Input should be 'text/plain'",
            ),
            (
                "document",
                json!({"type": "text", "data": "x"}),
                "c.document.source.text.media_type: Field required",
            ),
            (
                "document",
                json!({"type": "content", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]}),
                "c.document.source.content.content.0.type: Input should be 'text' or 'image'",
            ),
            (
                "image",
                json!({"type": "url", "url": "https://example.com/a", "media_type": "image/png"}),
                "c.image.source.url.media_type: Extra inputs are not permitted",
            ),
            ("image", json!({"type": "url"}), "c.image.source.url.url: Field required"),
            ("image", json!({"type": "file"}), "c.image.source.file.file_id: Field required"),
        ] {
            assert_eq!(verdict(kind, &source), expected, "{kind} {source}");
        }
    }
}
