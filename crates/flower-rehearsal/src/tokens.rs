//! How many tokens bytes are: a fixed rule in place of the real tokenizer, which is not public.
//!
//! - JSON and text: 3.5 bytes a token, rounded up for each block. English prose comes out close to the truth,
//!   Chinese (three bytes a character) at 0.86 tokens a character.
//! - Images: width × height / 750, between 1 and 1600 (the vendor's rule; larger images are scaled down);
//!   1600 if the size cannot be read or the image is elsewhere.
//! - PDF: 2000 tokens a page (the vendor says 1500 to 3000 for the text alone), at least one page.
//!
//! The same bytes give the same number everywhere: in `count_tokens`, in the window check and in the cache figures,
//! which is why their sum always agrees. What a real model would count differs by some ten percent.

use crate::media;
use crate::wire::{Block, Content, Source};

const MOST_PER_IMAGE: u64 = 1600;
const PER_PAGE: u64 = 2000;

/// Tokens of plain bytes: 3.5 bytes a token, rounded up.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(7)
}

/// Tokens of a content block, at least 1.
pub fn of_content(content: &Content) -> u64 {
    let media = media_in(&content.block);
    (of_bytes(content.canonical.len().saturating_sub(media.bytes)) + media.tokens).max(1)
}

/// Media inside a block: encoded bytes that are not text, and the tokens that stand for them.
#[derive(Default)]
struct Media {
    bytes: usize,
    tokens: u64,
}

fn media_in(block: &Block) -> Media {
    match block {
        Block::Image(Source::Base64 { data, .. }) => Media { bytes: data.len(), tokens: of_image(data) },
        Block::Image(_) => Media { bytes: 0, tokens: MOST_PER_IMAGE },
        Block::Document(Source::Base64 { data, .. }) => Media { bytes: data.len(), tokens: of_pdf(data) },
        Block::Document(Source::Content(inner)) | Block::ToolResult { content: inner, .. } => {
            inner.iter().map(|content| media_in(&content.block)).fold(Media::default(), |sum, one| Media {
                bytes: sum.bytes + one.bytes,
                tokens: sum.tokens + one.tokens,
            })
        }
        _ => Media::default(),
    }
}

fn of_image(data: &str) -> u64 {
    crate::base64::decode(data)
        .and_then(|bytes| media::dimensions(&bytes))
        .map_or(MOST_PER_IMAGE, |(width, height)| {
            (u64::from(width) * u64::from(height)).div_ceil(750).clamp(1, MOST_PER_IMAGE)
        })
}

fn of_pdf(data: &str) -> u64 {
    let pages = crate::base64::decode(data).map_or(1, |bytes| media::pdf_pages(&bytes));
    PER_PAGE * pages.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_by_bytes() {
        for (bytes, tokens) in [(0, 0), (1, 1), (3, 1), (4, 2), (7, 2), (3500, 1000)] {
            assert_eq!(of_bytes(bytes), tokens, "{bytes}");
        }
    }

    #[test]
    fn an_image_counts_by_its_size_and_not_by_its_bytes() {
        let image = |width: u16, padding: usize| {
            let mut gif = b"GIF89a".to_vec();
            gif.extend(width.to_le_bytes());
            gif.extend(75u16.to_le_bytes());
            gif.extend(vec![0; padding]);
            let value = serde_json::json!([{"type":"image","source":
                {"type":"base64","media_type":"image/gif","data":crate::base64::encode(&gif)}}]);
            let body =
                serde_json::json!({"model":"m","max_tokens":1,"messages":[{"role":"user","content":value}]});
            of_content(&crate::testing::request(&body).messages[0].content[0])
        };
        assert_eq!(image(1000, 0), image(1000, 9000));
        assert_eq!(image(1000, 0) - image(10, 0), 99);
    }
}
