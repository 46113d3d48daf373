//! What a rule makes: blocks that no server sent, a head and an end of its own, or a unit once more.
//!
//! The one rule it keeps: what is made goes the way of what arrives, so that later rules, counters, owners and the journal
//! know it; the rule that made it and those before it do not see it (rule R16).

use bytes::Bytes;

use super::engine::Engine;
use super::event::{AnswerHead, Ending, ExchangeId, Moment};
use super::selector::At;
use super::sse::{Block, Frame, Framer};
use super::unit::{LaneId, Out, Point};

/// Something made, on its way to a queue.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) lane: LaneId,
    pub(super) out: Out,
    pub(super) point: Point,
}

impl Engine {
    /// The blocks of these bytes, for the stream of an exchange; bytes that end no block are one all the same.
    pub(super) fn make_blocks(&mut self, now: Moment, id: ExchangeId, rule: usize, bytes: &Bytes) -> Vec<Made> {
        let mut framer = Framer::default();
        let frames = framer.push(bytes).into_iter().map(|frame| match frame {
            Frame::Block(block) => block,
            Frame::Part(bytes) | Frame::Late(bytes) => Block::unended(bytes),
        });
        let mut blocks: Vec<Block> = frames.collect();
        blocks.extend(framer.take_tail().map(Block::unended));
        blocks.into_iter().map(|block| self.make_block(now, id, rule, block)).collect()
    }

    /// One block, which may be a whole JSON answer.
    pub(super) fn make_block(&mut self, now: Moment, id: ExchangeId, rule: usize, block: Block) -> Made {
        let bytes = block.bytes.clone();
        let point = Point { maker: Some(rule), ..self.block_point(now, id, block) };
        Made { lane: LaneId::Down(id), out: Out::Bytes(bytes), point }
    }

    /// Lets what was made stand before the unit in hand.
    pub(super) fn put_before(&mut self, now: Moment, made: impl IntoIterator<Item = Made>) {
        // What stands behind the unit in hand does not stand behind these.
        let behind = std::mem::take(&mut self.behind);
        for made in made {
            self.put(now, made);
        }
        self.behind = behind;
    }

    /// Lets what was made stand behind the unit in hand.
    pub(super) fn put_behind(&mut self, made: impl IntoIterator<Item = Made>) {
        self.behind.extend(made);
    }

    /// A head of the rule's own: from now on the answer is its.
    pub(super) fn make_head(&mut self, now: Moment, id: ExchangeId, rule: usize, head: AnswerHead) -> Made {
        self.take_head(id, head);
        let seq = self.next_seq();
        let point = Point { maker: Some(rule), ..self.point(now, id, At::Head, "head", seq) };
        Made { lane: LaneId::Down(id), out: Out::Head, point }
    }

    /// The end of an answer that has such a head.
    pub(super) fn make_end(&mut self, now: Moment, id: ExchangeId, rule: usize, ending: Ending) -> Made {
        let seq = self.next_seq();
        let point = Point { maker: Some(rule), ending: Some(ending), ..self.end_point(now, id, seq) };
        Made { lane: LaneId::Down(id), out: Out::End(ending), point }
    }

    /// Lets what was made go its way.
    pub(super) fn put(&mut self, now: Moment, made: Made) {
        self.arrive(now, made.lane, made.out, made.point);
    }
}
