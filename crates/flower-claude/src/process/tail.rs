//! The end of a stream that nobody wants whole.

use std::collections::VecDeque;

/// How much of stderr is kept, in bytes.
const KEPT: usize = 64 * 1024;

/// Keeps the last 64 KB of what is pushed.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let chunk = chunk.get(chunk.len().saturating_sub(KEPT)..).unwrap_or_default();
        let surplus = (self.bytes.len() + chunk.len()).saturating_sub(KEPT);
        self.bytes.drain(..surplus);
        self.bytes.extend(chunk);
    }

    /// The text, invalid UTF-8 replaced. A character that was cut at the front is left out.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().skip_while(|byte| byte & 0xC0 == 0x80).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::default();
        for _ in 0..100 {
            tail.push(&[b'e'; 5000]);
        }
        tail.push("花 the end".as_bytes());
        assert_eq!(tail.bytes.len(), KEPT);
        assert!(tail.text().ends_with("e花 the end"));

        tail.push(&vec![b'f'; KEPT + 1]);
        assert_eq!(tail.text(), "f".repeat(KEPT));
    }

    #[test]
    fn a_cut_character_at_the_front_is_left_out() {
        let mut tail = Tail::default();
        tail.push("花".repeat(KEPT).as_bytes());
        assert!(tail.text().chars().all(|character| character == '花'));
    }
}
