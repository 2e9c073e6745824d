//! Signatures of thinking blocks: what binds a block to its text and to the prompt before it.
//!
//! Nothing is remembered: a signature is base64 of a mark, a digest of the prefix (system, tools and everything
//! before the block) and a digest over that prefix and the block's text. So it can be checked by any rehearsal
//! server, also by one that was started later for a resumed session. It keeps nobody from forging one on purpose; it
//! shows edits, which is what a rehearsal is for.
//!
//! The real API's signatures are opaque and encrypted; only their effect is imitated.

use crate::base64;
use crate::digest::Digest;
use crate::digest::digest;

const MARK: &[u8; 8] = b"flower1\0";
const LEN: usize = 16;

/// A signature by which recorded traffic stands in for a real one: scripted servers that sign nothing write the
/// base64 of `sig`. It says nothing about text or prefix.
const PLACEHOLDER: &str = "c2ln";

/// What a signature says about a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Text and prefix are those that were signed.
    Whole,
    /// The text is; something before it is not.
    OtherPrefix,
    /// The text is not the one that was signed with this prefix, or the signature was damaged.
    OtherText,
    /// A placeholder of recorded traffic.
    Placeholder,
    /// Made elsewhere, in the form of a signature.
    Foreign,
    /// No base64 at all.
    Malformed,
}

/// Signs a thinking block that stands behind `prefix`.
pub(crate) fn sign(prefix: &Digest, text: &str) -> String {
    let mut bytes = Vec::with_capacity(MARK.len() + 2 * LEN);
    bytes.extend_from_slice(MARK);
    bytes.extend_from_slice(&prefix[..LEN]);
    bytes.extend_from_slice(&text_digest(&prefix[..LEN], text)[..LEN]);
    base64::encode(&bytes)
}

/// Checks the signature of a block with `text` behind `prefix`.
pub(crate) fn check(signature: &str, prefix: &Digest, text: &str) -> Verdict {
    if signature == PLACEHOLDER {
        return Verdict::Placeholder;
    }
    let Some(bytes) = base64::decode(signature).filter(|bytes| !bytes.is_empty()) else {
        return Verdict::Malformed;
    };
    let Some(rest) = bytes.strip_prefix(MARK) else { return Verdict::Foreign };
    let Some((signed_prefix, signed_text)) = rest.split_at_checked(LEN) else { return Verdict::OtherText };
    if signed_text != &text_digest(signed_prefix, text)[..LEN] {
        Verdict::OtherText
    } else if signed_prefix == &prefix[..LEN] {
        Verdict::Whole
    } else {
        Verdict::OtherPrefix
    }
}

fn text_digest(prefix: &[u8], text: &str) -> Digest {
    digest(&[MARK, prefix, text.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_text_and_prefix_only() {
        let signature = sign(&[1; 32], "thought");
        for (signature, prefix, text, expected) in [
            (signature.as_str(), 1, "thought", Verdict::Whole),
            (&signature, 2, "thought", Verdict::OtherPrefix),
            (&signature, 1, "other", Verdict::OtherText),
            (&signature.replace('Z', "Y"), 1, "thought", Verdict::Foreign),
            (&signature[..signature.len() - 4], 1, "thought", Verdict::OtherText),
            ("c2ln", 1, "thought", Verdict::Placeholder),
            ("ZmFrZQ==", 1, "thought", Verdict::Foreign),
            ("made-up", 1, "thought", Verdict::Malformed),
            ("", 1, "thought", Verdict::Malformed),
        ] {
            assert_eq!(check(signature, &[prefix; 32], text), expected, "{signature}");
        }
    }
}
