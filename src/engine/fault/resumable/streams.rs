//! What streams have carried, for their resumes: blocks by number, ids, and who is reading on.
//!
//! It is a store and decides nothing. What the client was sent is kept too: that its last byte was written does not say
//! that the client has read it. The one rule it keeps: it never holds more than [`LIMIT`], and knows what it forgot.

use std::collections::VecDeque;
use std::mem::size_of;

use bytes::Bytes;

use crate::engine::bounded::Bounded;
use crate::engine::event::{AnswerHead, Ending, ExchangeId};

/// How many bytes are kept in a run, of all its streams, with what it costs to know them; the oldest are forgotten first.
pub(super) const LIMIT: usize = 64 * 1024 * 1024;
/// How many streams are kept in a run.
const STREAMS: usize = 4096;
/// How many ids are known in a run.
const IDS: usize = 128 * 1024;

/// One stream whose resumes a rule answers.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) rule: usize,
    /// The place in the sequence of the head at which it fired.
    pub(super) firing: u64,
    /// The exchange on which the server sends it.
    pub(super) origin: ExchangeId,
    /// Its full key.
    pub(super) key: String,
    /// The server's head: that of its resumes is made of it.
    pub(super) head: AnswerHead,
    /// How the server ended it.
    pub(super) ended: Option<Ending>,
    /// The resume that is being answered, and the number of the last block it was given.
    pub(super) reader: Option<(ExchangeId, u64)>,
    /// How many ids it has given out.
    pub(super) ids: u64,
    blocks: VecDeque<Bytes>,
    /// How many blocks are kept no more.
    forgotten: u64,
    bytes: usize,
}

/// Behind which block of which stream something is; 0: at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct Place {
    /// The rule that owns the stream.
    pub(super) rule: usize,
    pub(super) stream: u64,
    pub(super) block: u64,
}

/// The streams whose resumes rules answer, by the order of their heads.
#[derive(Debug)]
pub(in crate::engine) struct Streams {
    streams: Bounded<u64, Stream>,
    places: Bounded<(u64, Bytes), Place>,
    bytes: usize,
    next: u64,
    limit: usize,
}

impl Default for Streams {
    fn default() -> Self {
        Self { streams: Bounded::new(STREAMS), places: Bounded::new(IDS), bytes: 0, next: 0, limit: LIMIT }
    }
}

impl Stream {
    pub(super) fn new((rule, firing): (usize, u64), origin: ExchangeId, key: String, head: AnswerHead) -> Self {
        let (blocks, forgotten, bytes) = (VecDeque::new(), 0, 0);
        Self { rule, firing, origin, key, head, ended: None, reader: None, ids: 0, blocks, forgotten, bytes }
    }

    /// The number of its last block.
    pub(super) fn last(&self) -> u64 {
        self.forgotten + self.blocks.len() as u64
    }

    /// Whether all that came behind this block is still there.
    pub(super) fn has_all_after(&self, block: u64) -> bool {
        block >= self.forgotten
    }

    /// The block behind the one of this number.
    pub(super) fn after(&self, block: u64) -> Option<Bytes> {
        let index = usize::try_from(block.checked_sub(self.forgotten)?).ok()?;
        self.blocks.get(index).cloned()
    }

    fn forget_first(&mut self) -> usize {
        let Some(block) = self.blocks.pop_front() else { return 0 };
        self.forgotten += 1;
        self.bytes -= weight(&block);
        weight(&block)
    }
}

fn weight(block: &Bytes) -> usize {
    block.len() + size_of::<Bytes>()
}

impl Streams {
    /// Begins to keep a stream; returns its number.
    pub(super) fn begin(&mut self, stream: Stream) -> u64 {
        self.next += 1;
        if let Some((_, gone)) = self.streams.insert(self.next, stream) {
            self.bytes -= gone.bytes;
        }
        self.next
    }

    pub(super) fn get(&self, stream: u64) -> Option<&Stream> {
        self.streams.get(&stream)
    }

    pub(super) fn get_mut(&mut self, stream: u64) -> Option<&mut Stream> {
        self.streams.get_mut(&stream)
    }

    /// Keeps a block as the last of its stream. Returns the keys of streams that forget for the first time.
    pub(super) fn keep(&mut self, stream: u64, block: Bytes) -> Vec<String> {
        let Some(known) = self.streams.get_mut(&stream) else { return Vec::new() };
        self.bytes += weight(&block);
        known.bytes += weight(&block);
        known.blocks.push_back(block);
        let mut begin = Vec::new();
        while self.bytes > self.limit {
            let Some(oldest) = self.streams.iter().find(|(_, kept)| !kept.blocks.is_empty()).map(|(number, _)| *number)
            else {
                break;
            };
            let Some(kept) = self.streams.get_mut(&oldest) else { break };
            if kept.forgotten == 0 {
                begin.push(kept.key.clone());
            }
            self.bytes -= kept.forget_first();
        }
        begin
    }

    /// An id stands for this place, in this session.
    pub(super) fn name(&mut self, session: u64, id: &Bytes, place: Place) {
        self.places.insert((session, id.clone()), place);
    }

    /// The place that an id of ours stands for, in the session that was given it.
    pub(super) fn place(&self, session: u64, id: &Bytes) -> Option<Place> {
        self.places.get(&(session, id.clone())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::Source;

    fn stream(key: &str) -> Stream {
        let head = AnswerHead { status: 200, headers: Vec::new(), source: Source::Server };
        Stream::new((0, 1), ExchangeId(1), key.to_owned(), head)
    }

    #[test]
    fn beyond_the_bound_the_oldest_blocks_are_forgotten_and_it_is_said_once() {
        let block = Bytes::from_static(b"0123456789");
        let mut streams = Streams { limit: 2 * weight(&block), ..Streams::default() };
        let (a, b) = (streams.begin(stream("a")), streams.begin(stream("b")));
        assert_eq!(streams.keep(a, block.clone()), [""; 0]);
        assert_eq!(streams.keep(b, block.clone()), [""; 0]);
        assert_eq!(streams.keep(b, block.clone()), ["a"]);
        assert_eq!(streams.keep(b, block.clone()), ["b"]);
        assert_eq!(streams.keep(b, block.clone()), [""; 0]);
        let known = |stream| streams.get(stream).expect("it is there");
        assert!(!known(a).has_all_after(0) && known(a).has_all_after(1));
        assert_eq!((known(a).last(), known(b).last()), (1, 4));
        assert_eq!((known(b).after(1), known(b).after(2), known(b).after(4)), (None, Some(block), None));
        assert!(streams.bytes <= streams.limit);
    }

    #[test]
    fn an_id_is_known_in_its_own_session_only() {
        let mut streams = Streams::default();
        let place = Place { rule: 0, stream: streams.begin(stream("a")), block: 3 };
        let id = Bytes::from_static(b"x");
        streams.name(1, &id, place);
        assert_eq!((streams.place(1, &id), streams.place(2, &id)), (Some(place), None));
    }
}
