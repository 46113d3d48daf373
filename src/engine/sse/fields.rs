//! The fields of one block: where they are, and how its data is replaced. Other bytes are never touched.

use bytes::{BufMut, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use super::{BOM, Block, BlockKind};

/// One line of a block: its bytes without and with the line end, as places in the block.
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) next: usize,
}

/// The lines of a block, the blank one that ends it included.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == bytes.len() {
            return None;
        }
        let line = match memchr2(b'\r', b'\n', &bytes[start..]) {
            Some(n) => {
                let crlf = bytes[start + n..].starts_with(b"\r\n");
                Line { start, end: start + n, next: start + n + 1 + usize::from(crlf) }
            }
            None => Line { start, end: bytes.len(), next: bytes.len() },
        };
        start = line.next;
        Some(line)
    })
}

/// A field's name, and where its value starts in the line: after the colon and one space.
pub(super) fn field(line: &[u8]) -> (&[u8], usize) {
    match memchr(b':', line) {
        Some(colon) => (&line[..colon], colon + 1 + usize::from(line.get(colon + 1) == Some(&b' '))),
        None => (line, line.len()),
    }
}

/// Finds the fields of a block; `first` if it is the first of its stream and may begin with a byte order mark.
pub(super) fn read(bytes: Bytes, first: bool) -> Block {
    let (mut id, mut event, mut retry) = (None, None, false);
    let mut data: Option<Bytes> = None;
    let mut joined = BytesMut::new();
    let text = if first { bytes.strip_prefix(&BOM[..]).unwrap_or(&bytes) } else { &bytes[..] };
    let skipped = bytes.len() - text.len();
    for line in lines(text) {
        let (name, value) = field(&text[line.start..line.end]);
        let value = bytes.slice(skipped + line.start + value..skipped + line.end);
        match name {
            b"data" => match data.take() {
                None => data = Some(value),
                Some(before) => {
                    if joined.is_empty() {
                        joined.extend_from_slice(&before);
                    }
                    joined.put_u8(b'\n');
                    joined.extend_from_slice(&value);
                    data = Some(Bytes::new());
                }
            },
            b"id" if memchr(0, &value).is_none() => id = Some(value),
            b"event" => event = Some(value),
            b"retry" => retry |= !value.is_empty() && value.iter().all(u8::is_ascii_digit),
            _ => {}
        }
    }
    if !joined.is_empty() {
        data = Some(joined.freeze());
    }
    let kind = kind(event.as_deref(), data.as_deref(), id.is_some(), retry);
    Block { bytes, kind, id, data }
}

/// The data of a block.
#[must_use]
pub fn data_of(block: &Bytes) -> Option<Bytes> {
    block_of(block.clone()).data
}

/// The fields of bytes that are one block.
#[must_use]
pub fn block_of(bytes: Bytes) -> Block {
    read(bytes, true)
}

/// An event whose data is this text, each of its lines on a line of its own.
#[must_use]
pub fn event_of(text: &[u8]) -> Bytes {
    let mut out = BytesMut::from(&b"event: message\n"[..]);
    for line in lines(text) {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&text[line.start..line.end]);
        out.put_u8(b'\n');
    }
    out.put_u8(b'\n');
    out.freeze()
}

fn kind(event: Option<&[u8]>, data: Option<&[u8]>, id: bool, retry: bool) -> BlockKind {
    match event {
        Some(b"endpoint") => BlockKind::Endpoint,
        None | Some(b"" | b"message") => match data {
            Some(data) if !data.is_empty() => BlockKind::Message,
            _ if id => BlockKind::Priming,
            _ if retry => BlockKind::Retry,
            _ => BlockKind::Comment,
        },
        Some(_) => BlockKind::Other,
    }
}

/// The same block with other data, on one line in the place of the first; every other field keeps its bytes. What ends a
/// line in JSON is no more than a space.
#[must_use]
pub fn with_data(block: &Bytes, data: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(block.len() + data.len());
    let mut written = false;
    for line in lines(block) {
        let text = &block[line.start..line.end];
        let (name, value) = field(text.strip_prefix(&BOM[..]).unwrap_or(text));
        if name != b"data" {
            out.extend_from_slice(&block[line.start..line.next]);
        } else if !written {
            written = true;
            let begin = text.len() - text.strip_prefix(&BOM[..]).unwrap_or(text).len();
            out.extend_from_slice(&text[..(begin + value).min(text.len())]);
            if !text.contains(&b':') {
                out.put_u8(b':');
            }
            out.extend(data.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }));
            out.extend_from_slice(&block[line.end..line.next]);
        }
    }
    out.freeze()
}

/// The same block with another value of a field, or without it; every other field keeps its bytes. A field that was not
/// there becomes the first.
#[must_use]
pub fn with_field(block: &Bytes, name: &str, value: Option<&str>) -> Bytes {
    let (mark, text) = match block.strip_prefix(&BOM[..]) {
        Some(text) => (&BOM[..], text),
        None => (&[][..], &block[..]),
    };
    let is_it = |line: &Line| field(&text[line.start..line.end]).0 == name.as_bytes();
    let newline = lines(text).next().map_or(&b"\n"[..], |line| &text[line.end..line.next]);
    let mut written = value.map(|value| [name.as_bytes(), b": ", value.as_bytes(), newline].concat());
    let mut out = BytesMut::from(mark);
    if !lines(text).any(|line| is_it(&line)) {
        out.extend_from_slice(&written.take().unwrap_or_default());
    }
    for line in lines(text) {
        if is_it(&line) {
            out.extend_from_slice(&written.take().unwrap_or_default());
        } else {
            out.extend_from_slice(&text[line.start..line.next]);
        }
    }
    out.freeze()
}
