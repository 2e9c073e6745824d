//! Standard base64 with padding (RFC 4648), both ways: images come in it, signatures go out in it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0u8; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let group = u32::from_be_bytes(group);
        for place in 0..4 {
            if place <= chunk.len() {
                let sextet = (group >> (18 - 6 * place)) & 63;
                text.push(char::from(ALPHABET[sextet as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Decodes text; `None` if it is not base64 of whole groups with correct padding.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let padding = bytes.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let (data, _) = bytes.split_at(bytes.len() - padding);
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    for chunk in data.chunks(4) {
        let mut group = 0u32;
        for byte in chunk {
            group = group << 6 | u32::from(sextet(*byte)?);
        }
        group <<= 6 * (4 - chunk.len());
        out.extend_from_slice(group.to_be_bytes().get(1..chunk.len())?);
    }
    Some(out)
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (&[255, 254], "//4="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
    }

    #[test]
    fn what_is_not_base64_is_not_decoded() {
        for text in ["Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm-v", "Zg==Zg=="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
