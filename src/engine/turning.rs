//! An event stream that becomes one JSON answer, because a rule wants it so; the other way round a JSON answer is one event
//! (`body.rs`).
//!
//! What answers the POST is the body; what else came has no place in it and is lost. The one rule it keeps: the body
//! goes out when its last answer has come, or the stream has ended.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::value::RawValue;

use super::body::json_block;
use super::condition::Leg;
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::exchange::{Body, Fold, JSON_LIMIT};
use super::record::PointFate;
use super::rpc;
use super::sse::{Block, Frame, Framer};
use super::unit::{LaneId, Out};

impl Fold {
    pub(super) fn by(rule: usize) -> Self {
        Self { framer: Framer::default(), rule, answers: Vec::new(), bytes: 0, done: false }
    }
}

impl Engine {
    /// Takes bytes of an event stream of which one JSON answer is made.
    pub(super) fn fold(&mut self, now: Moment, id: ExchangeId, bytes: &Bytes, mut fold: Fold) {
        for frame in fold.framer.push(bytes) {
            // The parts of a block that is too large to be kept are no answer that could be sent whole.
            let Frame::Block(block) = frame else { continue };
            match answer_in(&block).filter(|_| !fold.done) {
                Some(answer) => self.keep_answer(now, id, &mut fold, answer),
                None => self.lose(now, id, fold.rule, block),
            }
        }
        self.restore(id, Body::Folded(fold));
    }

    fn keep_answer(&mut self, now: Moment, id: ExchangeId, fold: &mut Fold, answer: Bytes) {
        let wanted = self.exchanges.get(&id).map_or(0, |exchange| exchange.trail.owners.len());
        fold.bytes += answer.len();
        fold.answers.push(answer);
        if fold.answers.len() >= wanted || fold.bytes > JSON_LIMIT {
            self.send_folded(now, id, fold);
            (fold.done, fold.answers) = (true, Vec::new());
        }
    }

    /// The JSON answer goes out with what has come for it.
    pub(super) fn send_folded(&mut self, now: Moment, id: ExchangeId, fold: &Fold) {
        let json = match fold.answers.as_slice() {
            [] => return,
            [one] => one.clone(),
            several => joined(several),
        };
        let (point, bytes) = self.hear_block(now, id, json_block(json, false));
        self.arrive(now, LaneId::Down(id), Out::Bytes(bytes), point);
    }

    /// A block that has no place in a JSON answer.
    fn lose(&mut self, now: Moment, id: ExchangeId, rule: usize, block: Block) {
        let mut point = self.block_point(now, id, block);
        point.rules.push(rule);
        self.sight((now, point.seq), Leg::Server, &point, Some(id));
        self.write_point(&point, PointFate::Dropped, None, None);
        if self.news {
            self.pump(now);
        }
    }
}

/// The data of a block that answers something.
fn answer_in(block: &Block) -> Option<Bytes> {
    let data = block.data.as_ref()?;
    rpc::peek(data).iter().any(|message| message.kind.is_reply()).then(|| data.clone())
}

/// Several answers as one batch.
fn joined(answers: &[Bytes]) -> Bytes {
    let mut out = BytesMut::new();
    for answer in answers {
        let batch: Vec<&RawValue> =
            if rpc::is_batch(answer) { serde_json::from_slice(answer).unwrap_or_default() } else { Vec::new() };
        let one = [&answer[..]];
        let elements = batch.iter().map(|element| element.get().as_bytes());
        for element in elements.chain(one.into_iter().filter(|_| batch.is_empty())) {
            out.put_u8(if out.is_empty() { b'[' } else { b',' });
            out.extend_from_slice(element);
        }
    }
    out.put_u8(b']');
    out.freeze()
}
