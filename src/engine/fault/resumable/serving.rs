//! What the engine does for a stream that a rule owns: ids on its way out, a copy of each block, and answers to its resumes.
//!
//! The server is never asked for a resume of ours. One client reads a stream at a time: a resume takes it over. The one
//! rule it keeps: what a resume is given comes in the order in which the server sent it, each block once.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::streams::{LIMIT, Place, Stream};
use super::{REFUSED, Resumable};
use crate::engine::answer::Media;
use crate::engine::engine::{Engine, LANE_LIMIT};
use crate::engine::event::{AnswerHead, Ending, ExchangeId, Fate, Moment, Source};
use crate::engine::exchange::{Body, ClientLeg, ServerLeg};
use crate::engine::fault::Fault;
use crate::engine::hash;
use crate::engine::notebook::full_key;
use crate::engine::record::PointFate;
use crate::engine::renaming::LAST_EVENT_ID;
use crate::engine::sse::{self, Block, BlockKind, Framer};
use crate::engine::unit::{CutPlan, LaneId, Out, Parcel, Point};

/// Headers of the server's head that are about its own message and not about the stream.
const FRAMING: [&str; 6] = ["content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "date"];

// === the stream itself ===

impl Engine {
    /// From this head on the rule owns the stream behind it.
    pub(super) fn own_stream(&mut self, now: Moment, rule: usize, resumable: &Resumable, parcel: &Parcel) {
        let Some((_, point)) = parcel.points.first() else { return };
        let Some(id) = point.exchange else { return };
        self.log_firing(now, rule, point);
        let plan = Arc::clone(&self.plan);
        let is_answer = |cut: &CutPlan| !cut.later && matches!(plan.rules[cut.rule].rule.fault, Fault::Respond(_));
        if parcel.cuts.iter().any(is_answer) {
            return;
        }
        let firing = point.seq;
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let framed = matches!(exchange.body, Body::Blocks(_)) && exchange.answered_by.is_none();
        let Some(answer) = exchange.answer.as_ref().filter(|answer| framed && answer.head.status / 100 == 2) else {
            return;
        };
        if exchange.kept.is_some() {
            return;
        }
        let stream = Stream::new((rule, firing), id, full_key(exchange), answer.head.clone());
        let number = self.kept.begin(stream);
        exchange.kept = Some(number);
        if resumable.priming
            && let Some(event_id) = self.next_id(number, 0)
        {
            let event = resumable.priming(&String::from_utf8_lossy(&event_id)).bytes(Clone::clone);
            let mut made = self.make_blocks(now, id, rule, &event);
            made.iter_mut().flat_map(|made| &mut made.parcel.points).for_each(|(_, point)| point.changed.push(rule));
            self.put_behind(made.into_iter().map(|made| made.of_firing(firing)));
        }
    }

    /// One JSON answer is made of the stream: it has no events of which one could be another's, or have an id.
    pub(in crate::engine) fn has_no_blocks(&mut self, id: ExchangeId) {
        self.put_nothing_behind(LaneId::Down(id));
        self.end_additions(id);
        self.exchanges.get_mut(&id).into_iter().for_each(|exchange| exchange.kept = None);
    }

    /// A new id for the place behind this block of a stream. Unique, and tells a client nothing.
    fn next_id(&mut self, number: u64, block: u64) -> Option<Bytes> {
        let plan = Arc::clone(&self.plan);
        let stream = self.kept.get_mut(number)?;
        let Fault::Resumable(resumable) = &plan.rules[stream.rule].rule.fault else { return None };
        let origin = self.exchanges.get(&stream.origin)?;
        let (session, trail) = (origin.session, Arc::clone(&origin.trail));
        let place = Place { rule: stream.rule, stream: number, block };
        let id = loop {
            stream.ids += 1;
            let identity = format!("{}/{}/{}", self.seed, stream.key, stream.ids);
            let id = Bytes::from(format!("{}{}", resumable.prefix, hash::digest(identity.as_bytes())));
            if self.calls.issuer(session, &id).is_none() {
                break id;
            }
        };
        self.calls.issue(session, &id, &trail);
        self.kept.name(session, &id, place);
        Some(id)
    }

    /// The rule that is to keep the block of this parcel: not one that stands before the block's maker.
    pub(in crate::engine) fn keeper_of(&self, parcel: &Parcel) -> Option<usize> {
        let (_, point) = parcel.points.first()?;
        point.block.as_ref()?;
        let exchange = self.exchanges.get(&point.exchange?)?;
        // What a rule answers in the server's place is no block of the stream.
        let number = exchange.kept.filter(|_| exchange.answered_by.is_none())?;
        self.kept.get(number).map(|stream| stream.rule).filter(|rule| point.maker.is_none_or(|maker| maker < *rule))
    }

    /// The keeper's turn among the rules: the block gets its id and is kept as it is now.
    pub(in crate::engine) fn keep(&mut self, now: Moment, keeper: usize, lane: LaneId, parcel: &mut Parcel) {
        let Some((end, point)) = parcel.points.first_mut() else { return };
        let stays = point.exchange.map(LaneId::Down) == Some(lane);
        if parcel.lost.is_some() || !stays {
            return;
        }
        let Out::Bytes(bytes) = &mut parcel.out else { return };
        let begins = point.exchange.is_some_and(|id| !self.is_begun(id));
        let Some((id, named)) = self.keep_block(now, point, bytes) else { return };
        if begins {
            point.changed.push(keeper);
        }
        (*end, point.bytes) = (named.len(), named.len() as u64);
        point.block.iter_mut().for_each(|block| block.event_id = Some(id.clone()));
        point.rules.push(keeper);
        *bytes = named;
    }

    /// Whether a stream has given out an id of ours.
    fn is_begun(&self, id: ExchangeId) -> bool {
        let number = self.exchanges.get(&id).and_then(|exchange| exchange.kept);
        number.and_then(|number| self.kept.get(number)).is_some_and(|stream| stream.ids > 0)
    }

    /// A block that its client can no longer be sent on the stream itself.
    pub(in crate::engine) fn keep_unsent(&mut self, now: Moment, out: &Out, point: &mut Point) {
        let (Out::Bytes(bytes), Some(id)) = (out, point.exchange) else { return };
        if point.block.is_some() && point.maker.is_none() && self.keep_block(now, point, bytes).is_some() {
            let number = self.exchanges.get(&id).and_then(|exchange| exchange.kept);
            point.rules.extend(number.and_then(|number| self.kept.get(number)).map(|stream| stream.rule));
            self.serve_kept(now, number);
        }
    }

    /// Keeps a block, unless it is nothing that a resume would bring. Returns its id, and its bytes with that id.
    fn keep_block(&mut self, now: Moment, point: &Point, bytes: &Bytes) -> Option<(Bytes, Bytes)> {
        let block = point.block.as_ref()?;
        let number = point.exchange.and_then(|id| self.exchanges.get(&id))?.kept?;
        if matches!(block.kind, BlockKind::Comment | BlockKind::Retry) {
            return None;
        }
        if block.parted {
            self.note(
                now,
                format!("{}: a block beyond {} bytes is not kept for a resume", point.key, sse::BLOCK_LIMIT),
            );
            return None;
        }
        let plan = Arc::clone(&self.plan);
        let stream = self.kept.get_mut(number)?;
        let (rule, firing, last) = (stream.rule, stream.firing, stream.last());
        let Fault::Resumable(resumable) = &plan.rules[rule].rule.fault else { return None };
        self.effective_once(rule, firing);
        let id = self.next_id(number, last + 1)?;
        let own = bytes.clone();
        let named = if resumable.retry.is_some() { sse::with_field(&own, "retry", None) } else { own };
        let named = sse::with_field(&named, "id", Some(&String::from_utf8_lossy(&id)));
        for key in self.kept.keep(number, named.clone()) {
            let text =
                format!("{key}: more than {LIMIT} bytes would be kept for resumes: its oldest events are forgotten");
            self.note(now, text);
        }
        Some((id, named))
    }
}

// === its resumes ===

impl Engine {
    /// Behind which block a resume wants to go on, if its id is one of ours.
    pub(in crate::engine) fn place_of(&self, id: ExchangeId) -> Option<Place> {
        let exchange = self.exchanges.get(&id)?;
        let asked = self.given_event_id(exchange).or_else(|| exchange.header(LAST_EVENT_ID).cloned())?;
        self.kept.place(exchange.session, &asked)
    }

    /// Answers a resume in the server's place.
    pub(in crate::engine) fn serve(
        &mut self,
        now: Moment,
        id: ExchangeId,
        place: Place,
        points: &[(usize, Point)],
        cuts: &[CutPlan],
    ) {
        for (_, point) in points {
            self.write_point(point, PointFate::Ended, None, None);
            if let Some(cut) = cuts.first() {
                self.strike(now, id, cut.rule, point, None);
            }
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if exchange.client != ClientLeg::Open || exchange.answered_by.is_some() {
            return;
        }
        let Some(stream) = self.kept.get(place.stream).filter(|stream| stream.has_all_after(place.block)) else {
            return self.refuse_resume(now, id, place.rule);
        };
        let (rule, origin, before) = (stream.rule, stream.origin, stream.reader);
        let head = resumed(&stream.head);
        (exchange.answered_by, exchange.serves) = (Some(rule), Some(place.stream));
        exchange.body = Body::Blocks(Framer::default());
        for reader in before.map(|(reader, _)| reader).into_iter().chain([origin]) {
            self.take_over(now, reader, rule);
        }
        let made = self.make_head(now, id, rule, head);
        self.put(now, made);
        if let Some(stream) = self.kept.get_mut(place.stream) {
            stream.reader = Some((id, place.block));
        }
        self.serve_kept(now, Some(place.stream));
    }

    /// A resume takes over a stream that is still open towards the client: there it ends.
    fn take_over(&mut self, now: Moment, id: ExchangeId, rule: usize) {
        if self.exchanges.get(&id).is_none_or(|exchange| exchange.client != ClientLeg::Open) {
            return;
        }
        self.cut_client(now, id, rule, Ending::Eof, None, None);
        if self.exchanges.get(&id).is_some_and(|exchange| exchange.server == ServerLeg::Open) {
            self.end_server(id, Fate::Drain(None));
        }
        self.tidy(id);
    }

    /// What came behind the id is no longer there: as servers answer an id that they do not know.
    fn refuse_resume(&mut self, now: Moment, id: ExchangeId, rule: usize) {
        let key = self.key_of(id);
        self.note(now, format!("{key}: refused, because what it resumes is kept no more"));
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.answered_by = Some(rule);
        let error = json!({ "code": -32600, "message": "mishap: the events after this id are kept no more" });
        let body = Bytes::from(json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string());
        let length = ("content-length".to_owned(), Bytes::from(body.len().to_string()));
        let media = ("content-type".to_owned(), Bytes::from_static(b"application/json"));
        let head = AnswerHead { status: REFUSED, headers: vec![media, length], source: Source::Rule };
        let block = Block { kind: BlockKind::Message, id: None, data: Some(body.clone()), bytes: body };
        let made = self.make_head(now, id, rule, head);
        self.put(now, made);
        let made = self.make_block(now, id, rule, block);
        self.put(now, made);
        self.end_served(now, id, rule, Ending::Eof);
    }

    /// The server's answer has ended, or its leg was closed: no more will be kept.
    pub(in crate::engine) fn kept_ended(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        let Some(number) = self.exchanges.get(&id).and_then(|exchange| exchange.kept) else { return };
        if let Some(stream) = self.kept.get_mut(number) {
            stream.ended.get_or_insert(ending);
        }
        self.serve_kept(now, Some(number));
    }

    /// Something has left on an exchange: if it is a resume of ours, more may follow.
    pub(in crate::engine) fn serve_on(&mut self, now: Moment, id: ExchangeId) {
        self.serve_kept(now, self.exchanges.get(&id).and_then(|exchange| exchange.serves));
    }

    /// The client's leg of a resume is over.
    pub(in crate::engine) fn serve_no_more(&mut self, id: ExchangeId) {
        let serves = self.exchanges.get_mut(&id).and_then(|exchange| exchange.serves.take());
        if let Some(stream) = serves.and_then(|number| self.kept.get_mut(number)) {
            stream.reader.take_if(|(reader, _)| *reader == id);
        }
    }

    /// Gives the resume that reads a stream what is there for it, as long as not too much of it waits.
    fn serve_kept(&mut self, now: Moment, number: Option<u64>) {
        let Some(number) = number else { return };
        while let Some(stream) = self.kept.get_mut(number) {
            let (rule, ended) = (stream.rule, stream.ended);
            let Some((id, given)) = stream.reader else { return };
            let Some(exchange) = self.exchanges.get_mut(&id) else { return };
            let waiting = exchange.down.bytes as u64 + exchange.flying_bytes;
            if waiting > LANE_LIMIT as u64 {
                return;
            }
            let Some(block) = stream.after(given) else {
                let ending = if stream.has_all_after(given) { ended } else { Some(Ending::Fin) };
                if let Some(ending) = ending {
                    stream.reader = None;
                    self.end_served(now, id, rule, ending);
                }
                return;
            };
            stream.reader = Some((id, given + 1));
            if given + 1 == stream.last() {
                exchange.read_end = ended;
            }
            for made in self.make_blocks(now, id, rule, &block) {
                self.put(now, made);
            }
        }
    }

    fn end_served(&mut self, now: Moment, id: ExchangeId, rule: usize, ending: Ending) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.read_end = Some(ending);
        }
        let seq = self.next_seq();
        self.server_ended(now, id, seq);
        let made = self.make_end(now, id, rule, ending);
        self.put(now, made);
    }
}

/// The head of a resume: the server's own, for the same stream.
fn resumed(head: &AnswerHead) -> AnswerHead {
    debug_assert_eq!(Media::of(head), Media::Sse, "only an event stream is kept");
    let headers = head.headers.iter().filter(|(name, _)| !FRAMING.contains(&name.as_str())).cloned().collect();
    AnswerHead { status: 200, headers, source: Source::Rule }
}
