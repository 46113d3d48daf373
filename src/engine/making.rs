//! What a rule makes: blocks that no server sent, a head and an end of its own, or a unit once more.
//!
//! The one rule it keeps: what is made goes the way of what arrives, so that later rules, counters, owners and the journal
//! know it; the rule that made it and those before it do not see it (rule R16).

use bytes::Bytes;

use super::engine::Engine;
use super::event::{AnswerHead, Ending, ExchangeId, Moment};
use super::selector::At;
use super::sse::{Block, Frame, Framer};
use super::unit::{LaneId, Out, Parcel, Point};

/// Something made, on its way to a queue.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) lane: LaneId,
    pub(super) parcel: Parcel,
}

/// What rules make of the unit in hand, to stand round it.
#[derive(Debug, Default)]
pub(super) struct Around {
    /// Rules have decided about these already: they come before the unit in hand.
    before: Vec<Made>,
    behind: Vec<Made>,
}

/// A unit about which its rules have decided, between what they made of it.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) before: Vec<Made>,
    pub(super) own: Made,
    pub(super) behind: Vec<Made>,
}

impl Decided {
    /// All of it, in the order in which it is queued.
    pub(super) fn all(self) -> impl Iterator<Item = Made> {
        self.before.into_iter().chain([self.own]).chain(self.behind)
    }
}

impl Around {
    /// The last request that rules send because of the unit in hand; not one that waits for that unit, if it is to be before.
    pub(super) fn last_send(&self, before: bool) -> Option<u64> {
        let behind = self.behind.iter().filter(|_| !before);
        let sends = self.before.iter().chain(behind).filter(|made| matches!(made.parcel.out, Out::Post));
        sends.map(|made| made.parcel.seq).max()
    }
}

impl Made {
    /// It was made when its rule fired at the unit with this place in the sequence.
    pub(super) fn of_firing(mut self, firing: u64) -> Self {
        self.parcel.points.iter_mut().for_each(|(_, point)| point.firing = Some(firing));
        self
    }

    pub(super) fn new(lane: LaneId, out: Out, point: Point) -> Self {
        Self { lane, parcel: Parcel::new(out, point) }
    }
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
        Made::new(LaneId::Down(id), Out::Bytes(bytes), point)
    }

    /// The same block once more: the same message, of the same owner, and not another of its kind.
    pub(super) fn make_copy(&mut self, now: Moment, rule: usize, parcel: &Parcel, ready: Moment) -> Option<Made> {
        let (_, point) = parcel.points.first()?;
        let (id, seq) = (point.exchange?, self.next_seq());
        let firing = Some(point.seq);
        let made = Point { maker: Some(rule), firing, rules: Vec::new(), changed: Vec::new(), ..point.clone() };
        let mut point = Point { seq, arrived: now, by: seq, ..made };
        let (block, exchange) = (point.block.as_mut()?, self.exchanges.get_mut(&id)?);
        let count = &mut exchange.counts[block.kind as usize];
        *count += 1;
        (point.key.ordinal, block.counts) = (*count, exchange.counts);
        let mut made = Made::new(LaneId::Down(id), parcel.out.clone(), point);
        if ready > now {
            self.add_timer(Some(ready));
            (made.parcel.ready, made.parcel.timer) = (ready, Some(ready));
        }
        Some(made)
    }

    /// Lets what was made stand before the unit in hand.
    pub(super) fn put_before(&mut self, now: Moment, made: impl IntoIterator<Item = Made>) {
        for made in made {
            let decided = self.decided(now, made);
            self.around.before.extend(decided.all());
        }
    }

    /// Lets what was made stand behind the unit in hand.
    pub(super) fn put_behind(&mut self, made: impl IntoIterator<Item = Made>) {
        self.around.behind.extend(made);
    }

    /// Nothing that was made stands behind the unit in hand on this queue.
    pub(super) fn put_nothing_behind(&mut self, lane: LaneId) {
        self.around.behind.retain(|made| made.lane != lane);
    }

    /// Lets the rules decide about a unit, and about what they make of it.
    pub(super) fn decided(&mut self, now: Moment, mut own: Made) -> Decided {
        let outer = std::mem::take(&mut self.around);
        self.decide(now, &mut own.lane, &mut own.parcel);
        self.shape_all(own.lane, &mut own.parcel);
        let Around { before, behind } = std::mem::replace(&mut self.around, outer);
        let behind = behind.into_iter().map(|made| self.decided(now, made)).collect::<Vec<_>>();
        Decided { before, own, behind: behind.into_iter().flat_map(Decided::all).collect() }
    }

    /// A head of the rule's own: from now on the answer is its.
    pub(super) fn make_head(&mut self, now: Moment, id: ExchangeId, rule: usize, head: AnswerHead) -> Made {
        self.take_head(id, head);
        let seq = self.next_seq();
        let point = Point { maker: Some(rule), ..self.point(now, id, At::Head, "head", seq) };
        Made::new(LaneId::Down(id), Out::Head, point)
    }

    /// The end of an answer that has such a head.
    pub(super) fn make_end(&mut self, now: Moment, id: ExchangeId, rule: usize, ending: Ending) -> Made {
        let seq = self.next_seq();
        let point = Point { maker: Some(rule), ending: Some(ending), ..self.end_point(now, id, seq) };
        Made::new(LaneId::Down(id), Out::End(ending), point)
    }

    /// Lets what was made go its way.
    pub(super) fn put(&mut self, now: Moment, made: Made) {
        self.take_in(now, made, None);
    }
}
