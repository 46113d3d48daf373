//! The same event in another form: other line ends, no blank line at its end, longer data.

use bytes::{Bytes, BytesMut};

use super::fields::{field, lines};

/// The same block with these line ends.
#[must_use]
pub fn with_line_ends(block: &Bytes, newline: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(block.len() + block.len() / 16);
    for line in lines(block) {
        out.extend_from_slice(&block[line.start..line.end]);
        if line.next > line.end {
            out.extend_from_slice(newline);
        }
    }
    out.freeze()
}

/// The same block without the blank line that ends it; one that is nothing else stays as it is.
#[must_use]
pub fn without_blank(block: &Bytes) -> Bytes {
    match lines(block).last() {
        Some(line) if line.start == line.end && line.start > 0 => block.slice(..line.start),
        _ => block.clone(),
    }
}

/// The same block with so many spaces more at the end of its data: the same JSON.
#[must_use]
pub fn with_spaces(block: &Bytes, more: usize) -> Bytes {
    let data = lines(block).filter(|line| {
        let text = &block[line.start..line.end];
        let (name, _) = field(text.strip_prefix(&super::BOM[..]).unwrap_or(text));
        name == b"data" && text.contains(&b':')
    });
    let Some(last) = data.last() else { return block.clone() };
    [&block[..last.end], &vec![b' '; more], &block[last.end..]].concat().into()
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Framer, data_of};
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[test]
    fn line_ends_are_changed_and_nothing_else() {
        let block = bytes("\u{feff}id: 1\r\ndata: a\rdata: b\n\r\n");
        assert_eq!(with_line_ends(&block, b"\n"), "\u{feff}id: 1\ndata: a\ndata: b\n\n");
        assert_eq!(with_line_ends(&block, b"\r\n"), "\u{feff}id: 1\r\ndata: a\r\ndata: b\r\n\r\n");
        assert_eq!(with_line_ends(&block, b"\r"), "\u{feff}id: 1\rdata: a\rdata: b\r\r");
        assert_eq!(with_line_ends(&bytes("data: a"), b"\r"), "data: a");
    }

    #[test]
    fn the_last_blank_line_goes_and_a_blank_line_alone_stays() {
        assert_eq!(without_blank(&bytes("data: a\r\n\r\n")), "data: a\r\n");
        assert_eq!(without_blank(&bytes("data: a\n\r")), "data: a\n");
        assert_eq!(without_blank(&bytes("\n")), "\n");
    }

    #[test]
    fn spaces_go_where_json_allows_them() {
        assert_eq!(with_spaces(&bytes("data: {\nid: 1\ndata:}\n\n"), 2), "data: {\nid: 1\ndata:}  \n\n");
        assert_eq!(with_spaces(&bytes(": data\n\n"), 2), ": data\n\n");
    }

    proptest! {
        #[test]
        fn every_form_is_one_event_with_the_same_data(
            parts in prop::collection::vec("(data|id|event|:)?:? ?[a-zäβ€{}\" ]{0,9}(\r\n|\n|\r)", 1..6),
            newline in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            more in 0..9usize,
        ) {
            let text = bytes(&(parts.concat() + "\n"));
            let mut framer = Framer::default();
            for frame in framer.push(&text) {
                let Frame::Block(block) = frame else { continue };
                let changed = with_line_ends(&block.bytes, newline.as_bytes());
                prop_assert_eq!(data_of(&changed), block.data.clone());
                let frames = Framer::default().push(&changed);
                prop_assert_eq!(frames.iter().map(|frame| frame.bytes().len()).sum::<usize>(), changed.len());
                let trimmed = |data: Option<Bytes>| data.map(|data| data.trim_ascii_end().to_vec());
                prop_assert_eq!(trimmed(data_of(&with_spaces(&block.bytes, more))), trimmed(block.data.clone()));
                prop_assert_eq!(data_of(&without_blank(&block.bytes)), block.data);
            }
        }
    }
}
