//! The bytes of an answer: passed as they come, or held to whole blocks where a rule asks for that.
//!
//! The one rule it keeps: bytes that no rule acted on are written as they came, in order, none kept back longer than a
//! rule needs.

use bytes::{Bytes, BytesMut};

use super::answer::{Media, header};
use super::engine::Engine;
use super::event::{Ending, ExchangeId, Moment};
use super::exchange::{Body, ClientLeg, Exchange, Fold, JSON_LIMIT, Json, Late};
use super::sse::{self, Block, BlockKind, Frame, Framer};
use super::unit::{LaneId, Out, Parcel, Piece, Point};

impl Engine {
    /// Decides, at the head, how the body will be taken.
    pub(super) fn choose_body(&mut self, id: ExchangeId) {
        let (blocks, whole) = (self.holds_blocks(id), self.holds_json(id));
        let looks = blocks || whole || self.notebook.on || self.plan.looks_inside || self.may_be_cut(id);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let Some(answer) = &exchange.answer else { return };
        let length = header(&answer.head.headers, "content-length");
        let length = length.and_then(|length| std::str::from_utf8(length).ok()?.trim().parse().ok());
        let json = |whole, turned| Body::Json(Json { whole, turned, kept: BytesMut::new(), length, done: false });
        exchange.body = match (answer.body, answer.turned.map(|turned| turned.rule)) {
            (Media::Json, Some(_)) => json(true, true),
            (Media::Sse, Some(rule)) => Body::Folded(Fold::by(rule)),
            _ if !looks => Body::Opaque,
            (Media::Sse, None) if blocks => Body::Blocks(Framer::default()),
            (Media::Sse, None) => Body::Through(Framer::default()),
            (Media::Json, None) => json(whole, false),
            (Media::None | Media::Other, _) => Body::Opaque,
        };
        exchange.reached.looked = !matches!(exchange.body, Body::Opaque);
    }

    /// Says that a body is not looked into, where some rule would.
    pub(super) fn note_encoding(&mut self, now: Moment, id: ExchangeId) {
        let looks = self.holds_blocks(id) || self.holds_json(id) || self.notebook.on || self.plan.looks_inside;
        let Some(answer) = self.exchanges.get(&id).and_then(|exchange| exchange.answer.as_ref()) else { return };
        if looks && answer.body != answer.media && matches!(answer.media, Media::Sse | Media::Json) {
            let encoding = header(&answer.head.headers, "content-encoding").cloned().unwrap_or_default();
            let encoding = String::from_utf8_lossy(&encoding).into_owned();
            self.not_looked_into(now, id, &format!("a body encoded as {encoding}"));
        }
    }

    /// A body, or a block, is not looked into. Where a rule would, the verdict names it.
    fn not_looked_into(&mut self, now: Moment, id: ExchangeId, what: &str) {
        let key = self.key_of(id);
        let rules = self.lookers(id);
        if rules.is_empty() {
            self.note(now, format!("{key}: {what} is not looked into"));
        } else {
            let rules = rules.iter().map(|rule| format!("\"{rule}\"")).collect::<Vec<_>>().join(", ");
            self.remark(now, key, format!("{what} is not looked into: what {rules} would do with it is not done"));
        }
    }

    pub(super) fn data(&mut self, now: Moment, id: ExchangeId, bytes: Bytes, last: bool) {
        self.spoke(now, id);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if last {
            exchange.read_end = Some(Ending::Eof);
        }
        // Where a rule has answered, the server's own answer is read and thrown away.
        if bytes.is_empty() || exchange.answered_by.is_some() {
            return;
        }
        self.chunk = bytes.clone();
        match std::mem::replace(&mut exchange.body, Body::Opaque) {
            Body::Opaque => self.pass_bytes(now, id, bytes, Vec::new()),
            Body::Through(mut framer) => {
                let frames = framer.push(&bytes);
                self.restore(id, Body::Through(framer));
                self.through(now, id, &bytes, frames);
            }
            Body::Blocks(mut framer) => {
                let frames = framer.push(&bytes);
                self.restore(id, Body::Blocks(framer));
                for frame in frames {
                    self.frame(now, id, frame);
                }
                if self.is_mid_block(id) {
                    self.heard(now, id);
                }
            }
            Body::Json(json) => {
                self.heard(now, id);
                self.json(now, id, bytes, json);
            }
            Body::Folded(fold) => {
                self.heard(now, id);
                self.fold(now, id, &bytes, fold);
            }
        }
        self.judge_rest(id);
    }

    /// Whether a block has begun to arrive: it is not known yet whether a rule will lose it.
    fn is_mid_block(&self, id: ExchangeId) -> bool {
        let body = self.exchanges.get(&id).map(|exchange| &exchange.body);
        matches!(body, Some(Body::Blocks(framer)) if framer.is_open())
    }

    /// What the end of the body completes: a tail passes on, a JSON answer of unknown length is whole. Returns the point
    /// of a block whose bytes have gone on already.
    pub(super) fn last_of_body(&mut self, now: Moment, id: ExchangeId) -> Option<Point> {
        let exchange = self.exchanges.get_mut(&id)?;
        match std::mem::replace(&mut exchange.body, Body::Opaque) {
            Body::Opaque | Body::Through(_) => None,
            Body::Blocks(mut framer) => {
                if let Some(tail) = framer.take_tail() {
                    self.pass_bytes(now, id, tail, Vec::new());
                }
                None
            }
            Body::Json(json) if json.done || json.kept.is_empty() => None,
            Body::Json(json) => {
                let (point, bytes) = self.hear_block(now, id, json_block(json.kept.freeze(), json.turned));
                if !json.whole {
                    return Some(point);
                }
                self.arrive(now, LaneId::Down(id), Out::Bytes(bytes), point);
                None
            }
            Body::Folded(fold) => {
                self.send_folded(now, id, &fold);
                None
            }
        }
    }

    pub(super) fn restore(&mut self, id: ExchangeId, body: Body) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.body = body;
        }
    }

    /// Bytes that pass as they came; where blocks end is marked. While a cut waits for its moment they go block by
    /// block, so that it can fall between two.
    fn through(&mut self, now: Moment, id: ExchangeId, bytes: &Bytes, frames: Vec<Frame>) {
        let total: usize = frames.iter().map(|frame| frame.bytes().len()).sum();
        let carried = self.exchanges.get(&id).map_or(0, |exchange| exchange.carried);
        let mut points = Vec::new();
        let (mut start, mut end) = (0, 0);
        let mut framed = 0;
        for frame in frames {
            framed += frame.bytes().len();
            end = framed.saturating_sub(carried);
            if matches!(frame, Frame::Part(_)) {
                self.begin_parted(now, id);
            }
            if let Frame::Block(block) = frame {
                let point = self.block_point(now, id, block);
                self.end_parted(id);
                self.sight((now, point.seq), super::condition::Leg::Server, &point, Some(id));
                points.push((end - start, point));
            }
            if self.news {
                self.pump(now);
            }
            if self.awaits_cut(id) {
                self.pass_bytes(now, id, bytes.slice(start..end), std::mem::take(&mut points));
                start = end;
            }
        }
        debug_assert!(end <= bytes.len(), "frames end where the bytes do");
        self.pass_bytes(now, id, bytes.slice(start..), points);
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.carried = carried + bytes.len() - total;
        }
    }

    fn frame(&mut self, now: Moment, id: ExchangeId, frame: Frame) {
        match frame {
            Frame::Block(block) => {
                let (mut point, bytes) = self.hear_block(now, id, block);
                if let Some(exchange) = self.exchanges.get_mut(&id) {
                    exchange.late = Late::Follows;
                    exchange.last_block = point.seq;
                }
                let parted = self.end_parted(id);
                point.block.iter_mut().for_each(|block| block.parted = parted);
                self.arrive(now, LaneId::Down(id), Out::Bytes(bytes), point);
            }
            Frame::Part(bytes) => {
                self.begin_parted(now, id);
                self.pass_piece(now, id, Piece::Begun, bytes, Vec::new());
            }
            Frame::Late(lf) => self.late(now, id, lf),
        }
    }

    /// A block has begun to pass that is too large to be kept whole.
    fn begin_parted(&mut self, now: Moment, id: ExchangeId) {
        let known = |exchange: &mut Box<Exchange>| std::mem::replace(&mut exchange.parted, true);
        if !self.exchanges.get_mut(&id).is_none_or(known) {
            self.not_looked_into(now, id, &format!("an event beyond {} bytes", sse::BLOCK_LIMIT));
        }
    }

    /// Whether the block that has ended was such a one.
    fn end_parted(&mut self, id: ExchangeId) -> bool {
        self.exchanges.get_mut(&id).is_some_and(|exchange| std::mem::take(&mut exchange.parted))
    }

    /// A LF whose CR had ended a block goes where its block goes.
    fn late(&mut self, now: Moment, id: ExchangeId, lf: Bytes) {
        let Some(exchange) = self.exchanges.get_mut(&id).filter(|exchange| exchange.late == Late::Follows) else {
            return;
        };
        let last = exchange.last_block;
        let waiting = exchange.down.parcels.iter_mut().rev().find(|parcel| parcel.seq == last);
        if let Some(Out::Bytes(bytes)) = waiting.map(|parcel| {
            parcel.points.iter_mut().for_each(|(end, point)| {
                *end += lf.len();
                point.bytes += lf.len() as u64;
                point.size += lf.len() as u64;
            });
            &mut parcel.out
        }) {
            *bytes = [&bytes[..], &lf[..]].concat().into();
            exchange.down.bytes += lf.len();
        } else {
            self.pass_bytes(now, id, lf, Vec::new());
        }
    }

    fn json(&mut self, now: Moment, id: ExchangeId, bytes: Bytes, mut json: Json) {
        let whole = json.whole && !json.done;
        if !json.done {
            json.kept.extend_from_slice(&bytes);
        }
        let complete = json.length == Some(json.kept.len() as u64);
        let mut points = Vec::new();
        if json.kept.len() > JSON_LIMIT {
            self.not_looked_into(now, id, &format!("a JSON answer beyond {JSON_LIMIT} bytes"));
            let kept = std::mem::take(&mut json.kept).freeze();
            json.done = true;
            self.restore(id, Body::Json(json));
            return self.pass_bytes(now, id, if whole { kept } else { bytes }, points);
        }
        if complete && !json.done {
            json.done = true;
            let kept = std::mem::take(&mut json.kept).freeze();
            let (point, kept) = self.hear_block(now, id, json_block(kept, json.turned));
            self.restore(id, Body::Json(json));
            if whole {
                return self.arrive(now, LaneId::Down(id), Out::Bytes(kept), point);
            }
            self.sight((now, point.seq), super::condition::Leg::Server, &point, Some(id));
            points.push((bytes.len(), point));
            return self.pass_bytes(now, id, bytes, points);
        }
        self.restore(id, Body::Json(json));
        if !whole {
            self.pass_bytes(now, id, bytes, points);
        }
    }

    /// Bytes about which no rule decides, behind what stands before them.
    fn pass_bytes(&mut self, now: Moment, id: ExchangeId, bytes: Bytes, points: Vec<(usize, Point)>) {
        self.pass_piece(now, id, Piece::Whole, bytes, points);
    }

    fn pass_piece(&mut self, now: Moment, id: ExchangeId, piece: Piece, bytes: Bytes, points: Vec<(usize, Point)>) {
        let lane = LaneId::Down(id);
        if let Some(fate) = self.cut_off(lane) {
            if !bytes.is_empty() {
                self.cut_is_seen(id);
            }
            for (_, point) in &points {
                self.write_point(point, fate, None, None);
            }
            return;
        }
        if bytes.is_empty() {
            return;
        }
        let parcel = Parcel { piece, ..Parcel::of_bytes(self.next_seq(), now, bytes, points) };
        self.enqueue(now, lane, parcel);
        self.press(now, id);
        if self.news {
            self.pump(now);
        }
    }

    /// Whether a cut waits for its `when` on this stream.
    fn awaits_cut(&self, id: ExchangeId) -> bool {
        self.exchanges.get(&id).is_some_and(|exchange| {
            let planned = exchange.down.parcels.iter().any(|parcel| !parcel.cuts.is_empty());
            exchange.client == ClientLeg::Open && (planned || !exchange.cuts.is_empty())
        })
    }
}

/// A JSON answer as a block; `turned`: as an event.
pub(super) fn json_block(json: Bytes, turned: bool) -> Block {
    let bytes = if turned { sse::event_of(&json) } else { json.clone() };
    Block { kind: BlockKind::Message, id: None, data: Some(json), bytes }
}
