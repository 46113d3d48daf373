//! Where the pieces of a body part. Only places are found here; bytes are never touched.

use std::time::Duration;

use crate::engine::fault::reframe::Split;

/// Pieces leave apart: each in a write of its own, the next not before it was written and the gap is over.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Parting {
    pub(in crate::engine) rule: usize,
    /// The place in the sequence of the unit at which the rule fired.
    pub(in crate::engine) firing: u64,
    split: Split,
    pub(in crate::engine) gap: Duration,
    /// How many bytes have left already.
    at: usize,
}

impl Parting {
    pub(in crate::engine) fn new(rule: usize, firing: u64, split: Split, gap: Duration) -> Self {
        Self { rule, firing, split, gap, at: 0 }
    }

    /// Whether nothing has left yet.
    pub(in crate::engine) fn is_fresh(&self) -> bool {
        self.at == 0
    }

    /// Whether it parts the head from the body, and nothing else.
    pub(in crate::engine) fn is_of_head(&self) -> bool {
        self.split == Split::Head
    }

    /// How many of these bytes, the next, are in the first piece, if that ends within them or with them.
    pub(in crate::engine) fn next(&self, bytes: &[u8]) -> Option<usize> {
        let len = match &self.split {
            Split::Byte => 1,
            Split::Size(size) => size - self.at % size,
            Split::Sizes(sizes) => {
                let mut end = 0;
                sizes.iter().map(|size| (end += size, end).1).find(|end| *end > self.at)? - self.at
            }
            Split::Utf8 => between(bytes, |lead| lead >= 0xC0, |next| next & 0xC0 == 0x80)?,
            Split::Crlf => between(bytes, |cr| cr == b'\r', |lf| lf == b'\n')?,
            Split::Head => return None,
        };
        (len <= bytes.len()).then_some(len)
    }

    /// So many bytes leave.
    pub(in crate::engine) fn took(&mut self, len: usize) {
        self.at += len;
    }
}

/// The place between two such bytes, or behind the first of them where the second is still to come.
fn between(bytes: &[u8], first: impl Fn(u8) -> bool, second: impl Fn(u8) -> bool) -> Option<usize> {
    let parts = |(place, byte): (usize, &u8)| first(*byte) && bytes.get(place + 1).is_none_or(|next| second(*next));
    bytes.iter().enumerate().position(parts).map(|place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(split: Split, bytes: &[u8]) -> Vec<String> {
        let mut parting = Parting::new(0, 0, split, Duration::ZERO);
        let (mut rest, mut pieces) = (bytes, Vec::new());
        while !rest.is_empty() {
            let len = parting.next(rest).unwrap_or(rest.len());
            parting.took(len);
            pieces.push(rest[..len].escape_ascii().to_string());
            rest = &rest[len..];
        }
        pieces
    }

    #[test]
    fn pieces_end_where_they_should() {
        assert_eq!(pieces(Split::Byte, b"abc"), ["a", "b", "c"]);
        assert_eq!(pieces(Split::Size(2), b"abcde"), ["ab", "cd", "e"]);
        assert_eq!(pieces(Split::Sizes(vec![1, 3]), b"abcdefg"), ["a", "bcd", "efg"]);
        assert_eq!(pieces(Split::Crlf, b"a\r\n\r\nb\rc\n"), [r"a\r", r"\n\r", r"\nb\rc\n"]);
        assert_eq!(pieces(Split::Utf8, "aäb€c".as_bytes()), [r"a\xc3", r"\xa4b\xe2", r"\x82\xacc"]);
        assert_eq!(pieces(Split::Head, b"abc"), ["abc"]);
    }

    /// What comes next is not known yet: the piece ends, so that it is apart from it.
    #[test]
    fn a_piece_ends_behind_what_may_be_parted_from_what_is_still_to_come() {
        assert_eq!(pieces(Split::Crlf, b"a\r"), [r"a\r"]);
        assert_eq!(Parting::new(0, 0, Split::Crlf, Duration::ZERO).next(b"a\r"), Some(2));
        assert_eq!(Parting::new(0, 0, Split::Crlf, Duration::ZERO).next(b"a\rb"), None);
        assert_eq!(Parting::new(0, 0, Split::Utf8, Duration::ZERO).next(b"a\xc3"), Some(2));
    }
}
