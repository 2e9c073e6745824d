//! SHA-256 over parts that are kept apart, and its first bytes as text for ids.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A SHA-256.
pub type Digest = [u8; 32];

/// The digest of a list of parts. Lengths go in too, so that no other list of parts has the same one.
pub(crate) fn digest(parts: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The first bytes in hexadecimal digits.
pub(crate) fn hex(digest: &Digest, bytes: usize) -> String {
    digest.iter().take(bytes).fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"ab"]), digest(&[b"ab", b""]));
        assert_eq!(hex(&[0xab; 32], 2), "abab");
    }
}
