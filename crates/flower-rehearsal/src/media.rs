//! Looks into images and PDFs as far as the API's own checks do: magic bytes, size in pixels, pages.

/// The image types that the API takes.
pub(crate) const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The image type that the first bytes say.
pub(crate) fn image_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Width and height in pixels, if the header can be read.
pub(crate) fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    match image_type(bytes)? {
        "image/png" => Some((be32(bytes, 16)?, be32(bytes, 20)?)),
        "image/gif" => Some((le16(bytes, 6)?, le16(bytes, 8)?)),
        "image/jpeg" => jpeg_dimensions(bytes),
        _ => webp_dimensions(bytes),
    }
}

/// Pages of a PDF, counted by their markers; compressed object streams can hide some.
pub(crate) fn pdf_pages(bytes: &[u8]) -> u64 {
    let marker = b"/Type";
    let mut pages = 0;
    for (start, _) in bytes.windows(marker.len()).enumerate().filter(|(_, window)| window == marker) {
        let rest = bytes.get(start + marker.len()..).unwrap_or_default();
        let rest = rest.trim_ascii_start();
        if rest.starts_with(b"/Page") && !rest.starts_with(b"/Pages") {
            pages += 1;
        }
    }
    pages
}

fn jpeg_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            0xff => at += 1,
            // Frame headers hold the size; C4, C8 and CC are tables.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?));
            }
            // Markers without a length.
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => at += 2 + be16(bytes, at + 2)? as usize,
        }
    }
}

fn webp_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((le24(bytes, 24)? + 1, le24(bytes, 27)? + 1)),
        b"VP8L" => {
            let bits = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff)),
        _ => None,
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 3)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(at: usize, parts: &[(&[u8], usize)]) -> Vec<u8> {
        let mut bytes = vec![0; at];
        for (part, place) in parts {
            bytes[*place..place + part.len()].copy_from_slice(part);
        }
        bytes
    }

    #[test]
    fn sizes_are_read_from_headers() {
        let png = with(24, &[(b"\x89PNG\r\n\x1a\n", 0), (&[0, 0, 1, 0, 0, 0, 0, 2], 16)]);
        let gif = with(10, &[(b"GIF89a", 0), (&[3, 0, 4, 0], 6)]);
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x05\x00\x06".to_vec();
        let webp = with(30, &[(b"RIFF", 0), (b"WEBPVP8X", 8), (&[9, 0, 0, 8, 0, 0], 24)]);
        for (bytes, kind, size) in [
            (png, "image/png", (256, 2)),
            (gif, "image/gif", (3, 4)),
            (jpeg, "image/jpeg", (6, 5)),
            (webp, "image/webp", (10, 9)),
        ] {
            assert_eq!(image_type(&bytes), Some(kind));
            assert_eq!(dimensions(&bytes), Some(size), "{kind}");
        }
    }

    #[test]
    fn broken_images_have_no_size_and_do_not_panic() {
        for bytes in [
            &b""[..],
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff",
            b"\xff\xd8\xff\xe0\x00\x00",
            b"RIFF....WEBPVP8L",
            b"BM",
        ] {
            assert_eq!(dimensions(bytes), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(kind in 0usize..4, rest in proptest::collection::vec(proptest::num::u8::ANY, 0..64)) {
            let head: &[u8] = [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF89a", b"RIFF    WEBPVP8 "][kind];
            let bytes = [head, &rest].concat();
            let _ = dimensions(&bytes);
            let _ = pdf_pages(&bytes);
        }
    }

    #[test]
    fn pages_are_counted_and_the_page_tree_is_not() {
        assert_eq!(pdf_pages(b"<</Type /Pages>> <</Type/Page >> <</Type /Page/Parent 1 0 R>>"), 2);
    }
}
