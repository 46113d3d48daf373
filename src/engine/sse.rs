//! A framer for server-sent events that loses no byte: bytes in, whole blocks out, with the bytes they came as.
//!
//! It is not a parser for consumers: nothing is decoded, joined or dropped on the way. The one rule it keeps: what it
//! returned, in order, and the tail are together exactly what it was given, however that was split.
//!
//! Lines end with LF, CRLF or CR. A lone CR ends its line at once, because the LF may never come; if it does come, it
//! is a [`Frame::Late`] and belongs to the block before it. A blank line where no block is open is a block of its own
//! that carries nothing.

mod fields;
mod shape;
#[cfg(test)]
mod tests;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

pub use fields::{block_of, data_of, event_of, with_data, with_field};
pub use shape::{with_line_ends, with_spaces, without_blank};

/// The largest block that is kept whole, in bytes; a longer one is returned in [`Frame::Part`]s. Above what the SDKs
/// themselves accept (rmcp: 16 MiB an event).
pub const BLOCK_LIMIT: usize = 16 * 1024 * 1024;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What a block is (language.md, `block`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// Data that a reader is given as a message.
    Message,
    /// An id with empty data.
    Priming,
    /// A reconnection time and nothing else.
    Retry,
    /// Nothing that a reader would see: comments, a blank line, empty data.
    Comment,
    /// The 2024-11-05 address for posts.
    Endpoint,
    /// An event of another name.
    Other,
    /// Data that is no JSON-RPC, or a block beyond [`BLOCK_LIMIT`].
    Unparsable,
}

impl BlockKind {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 7] =
        [Self::Message, Self::Priming, Self::Retry, Self::Comment, Self::Endpoint, Self::Other, Self::Unparsable];

    /// Its word in the language and the journal.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Priming => "priming",
            Self::Retry => "retry",
            Self::Comment => "comment",
            Self::Endpoint => "endpoint",
            Self::Other => "other",
            Self::Unparsable => "unparsable",
        }
    }
}

/// One block: its bytes, and where its fields are in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// As it came, with the blank line that ends it.
    pub bytes: Bytes,
    /// What it is, as far as the framing tells: whether data is JSON-RPC is not asked here.
    pub kind: BlockKind,
    /// The last `id` field.
    pub id: Option<Bytes>,
    /// The data lines, joined as a reader joins them; `None` if there is no data field.
    pub data: Option<Bytes>,
}

impl Block {
    /// Bytes as one block, whether or not a blank line ends them.
    #[must_use]
    pub fn unended(bytes: Bytes) -> Self {
        fields::read(bytes, true)
    }
}

/// What comes out of the framer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A whole block, or the last part of one beyond [`BLOCK_LIMIT`].
    Block(Block),
    /// The LF of a CRLF whose CR had already ended the block before.
    Late(Bytes),
    /// Some bytes of a block beyond [`BLOCK_LIMIT`], not the last.
    Part(Bytes),
}

impl Frame {
    /// The bytes of the input that it stands for.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Block(block) => &block.bytes,
            Self::Late(bytes) | Self::Part(bytes) => bytes,
        }
    }
}

/// Cuts a stream of bytes into blocks.
#[derive(Debug)]
pub struct Framer {
    /// Bytes of the block that is open, from earlier chunks.
    carry: BytesMut,
    /// Whether a block is open: some of its bytes came, its end did not.
    open: bool,
    /// Whether parts of the open block were already given out.
    oversize: bool,
    /// Whether the line in hand has no byte yet.
    blank: bool,
    /// Whether the last byte was a CR, so that a LF would belong to it.
    after_cr: bool,
    /// How many bytes of a byte order mark were seen at the start; 3 also when there is none.
    bom: usize,
    /// Whether no block has ended yet: only the first may begin with a byte order mark.
    first: bool,
    limit: usize,
}

impl Default for Framer {
    fn default() -> Self {
        Self::with_limit(BLOCK_LIMIT)
    }
}

impl Framer {
    fn with_limit(limit: usize) -> Self {
        Self {
            carry: BytesMut::new(),
            open: false,
            oversize: false,
            blank: true,
            after_cr: false,
            bom: 0,
            first: true,
            limit,
        }
    }

    /// Takes the next bytes and returns what they complete. A block inside one chunk is not copied.
    pub fn push(&mut self, chunk: &Bytes) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut start = self.late(chunk, &mut frames);
        let mut at = if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            usize::from(chunk[0] == b'\n')
        } else {
            self.mark(chunk)
        };
        while let Some(n) = memchr2(b'\r', b'\n', &chunk[at..]) {
            let ends_block = self.blank && n == 0;
            let cr = chunk[at + n] == b'\r';
            at += n + 1;
            if cr && chunk.get(at) == Some(&b'\n') {
                at += 1;
            }
            self.after_cr = cr && at == chunk.len() && chunk[at - 1] == b'\r';
            self.blank = true;
            if ends_block {
                frames.push(self.close(chunk.slice(start..at)));
                start = at;
            }
        }
        if at < chunk.len() {
            self.blank = false;
        }
        if start < chunk.len() {
            self.open = true;
            frames.extend(self.keep(chunk.slice(start..)));
        }
        frames
    }

    /// Whether a block has begun and has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The bytes of a block that was never ended, for the end of the stream.
    pub fn take_tail(&mut self) -> Option<Bytes> {
        self.open = false;
        Some(self.carry.split().freeze()).filter(|tail| !tail.is_empty())
    }

    /// A LF after a CR that had ended a block goes by itself; returns where the next block starts.
    fn late(&self, chunk: &Bytes, frames: &mut Vec<Frame>) -> usize {
        if self.after_cr && !self.open && chunk.first() == Some(&b'\n') {
            frames.push(Frame::Late(chunk.slice(0..1)));
            return 1;
        }
        0
    }

    /// Steps over a byte order mark at the start of the stream: it makes no line longer.
    fn mark(&mut self, chunk: &Bytes) -> usize {
        let mut at = 0;
        while self.bom < BOM.len() && at < chunk.len() {
            if chunk[at] != BOM[self.bom] {
                self.blank &= self.bom == 0;
                self.bom = BOM.len();
                break;
            }
            self.bom += 1;
            at += 1;
        }
        at
    }

    fn close(&mut self, last: Bytes) -> Frame {
        let bytes = if self.carry.is_empty() {
            last
        } else {
            self.carry.extend_from_slice(&last);
            self.carry.split().freeze()
        };
        let block = if self.oversize {
            Block { bytes, kind: BlockKind::Unparsable, id: None, data: None }
        } else {
            fields::read(bytes, self.first)
        };
        (self.open, self.oversize, self.first) = (false, false, false);
        Frame::Block(block)
    }

    fn keep(&mut self, bytes: Bytes) -> Option<Frame> {
        self.oversize |= self.carry.len() + bytes.len() > self.limit;
        if !self.oversize {
            self.carry.extend_from_slice(&bytes);
            return None;
        }
        if self.carry.is_empty() {
            return Some(Frame::Part(bytes));
        }
        self.carry.extend_from_slice(&bytes);
        Some(Frame::Part(self.carry.split().freeze()))
    }
}
