//! Images and documents: base64, type by magic bytes, size limits (documented).

use crate::base64;
use crate::media::{IMAGE_TYPES, dimensions, image_type, pdf_pages};
use crate::model::Model;
use crate::wire::{Block, Content, Refusal, Request, Source};

/// Largest image, in decoded bytes.
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Largest side of an image in pixels.
const MOST_PIXELS: u32 = 8000;
/// The same in requests with many images.
const MOST_PIXELS_OF_MANY: u32 = 2000;
/// More images than this are many.
const MANY: usize = 20;

/// Most images, and most pages of all PDFs, that a request may have: 600, but 100 for models with a window of 200,000
/// tokens.
fn most_media(model: &Model) -> u64 {
    if model.window > 200_000 { 600 } else { 100 }
}

pub(super) fn check(request: &Request, model: &Model) -> Result<(), Refusal> {
    let mut found = Vec::new();
    for (index, message) in request.messages.iter().enumerate() {
        for (block, content) in message.content.iter().enumerate() {
            collect(&format!("messages.{index}.content.{block}"), content, &mut found);
        }
    }
    let images = found.iter().filter(|(_, block)| matches!(block, Block::Image(_))).count();
    let most_media = most_media(model);
    if images as u64 > most_media {
        return Err(Refusal::invalid(format!("Too many images: {images} > {most_media}")));
    }
    let mut pages = 0;
    let most_pixels = if images > MANY { MOST_PIXELS_OF_MANY } else { MOST_PIXELS };
    for (path, block) in found {
        match block {
            Block::Image(Source::Base64 { media_type, data }) => image(&path, media_type, data, most_pixels)?,
            Block::Document(Source::Base64 { media_type, data }) => {
                pages += document(&path, media_type, data)?;
            }
            Block::Image(Source::Url(url)) | Block::Document(Source::Url(url)) => encrypted(&path, url)?,
            _ => {}
        }
    }
    if pages > most_media {
        return Err(Refusal::invalid(format!("A maximum of {most_media} PDF pages may be provided.")));
    }
    Ok(())
}

fn encrypted(path: &str, url: &str) -> Result<(), Refusal> {
    if url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) && url.len() > 8 {
        return Ok(());
    }
    Err(Refusal::invalid(format!("{path}.source.url.url: Only HTTPS URLs are supported.")))
}

/// All images and documents in a block, each with its path.
fn collect<'a>(path: &str, content: &'a Content, found: &mut Vec<(String, &'a Block)>) {
    match &content.block {
        Block::Image(_) => found.push((format!("{path}.image"), &content.block)),
        Block::Document(Source::Content(inner)) => {
            collect_all(&format!("{path}.document.source"), inner, found);
        }
        Block::Document(_) => found.push((format!("{path}.document"), &content.block)),
        Block::ToolResult { content: inner, .. } => collect_all(&format!("{path}.tool_result"), inner, found),
        _ => {}
    }
}

fn collect_all<'a>(path: &str, inner: &'a [Content], found: &mut Vec<(String, &'a Block)>) {
    for (index, inner) in inner.iter().enumerate() {
        collect(&format!("{path}.content.{index}"), inner, found);
    }
}

fn image(path: &str, media_type: &str, data: &str, most_pixels: u32) -> Result<(), Refusal> {
    let refuse = |what: String| Err(Refusal::invalid(format!("{path}.source.base64{what}")));
    if !IMAGE_TYPES.contains(&media_type) {
        return refuse(
            ".media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'".to_owned(),
        );
    }
    let Some(bytes) = base64::decode(data).filter(|bytes| !bytes.is_empty()) else {
        return refuse(".data: invalid base64 data".to_owned());
    };
    if bytes.len() > MOST_BYTES {
        return refuse(format!(": image exceeds 5 MB maximum: {} bytes > {MOST_BYTES} bytes", bytes.len()));
    }
    match image_type(&bytes) {
        None => return Err(Refusal::invalid("Could not process image")),
        Some(real) if real != media_type => {
            return refuse(format!(
                ".data: Image does not match the provided media type {media_type}; it appears to be {real}"
            ));
        }
        Some(_) => {}
    }
    match dimensions(&bytes) {
        Some((0, _) | (_, 0)) => Err(Refusal::invalid("Could not process image")),
        Some((width, height)) if width > most_pixels || height > most_pixels => refuse(format!(
            ".data: At least one of the image dimensions exceed max allowed size: {most_pixels} pixels"
        )),
        _ => Ok(()),
    }
}

/// Checks a PDF and gives its pages.
fn document(path: &str, media_type: &str, data: &str) -> Result<u64, Refusal> {
    if media_type != "application/pdf" {
        return Err(Refusal::invalid(format!(
            "{path}.source.base64.media_type: Input should be 'application/pdf'"
        )));
    }
    match base64::decode(data) {
        Some(bytes) if bytes.starts_with(b"%PDF-") => Ok(pdf_pages(&bytes)),
        Some(_) => {
            Err(Refusal::invalid(format!("{path}.source.base64.data: The PDF specified was not valid.")))
        }
        None => Err(Refusal::invalid(format!("{path}.source.base64.data: invalid base64 data"))),
    }
}
