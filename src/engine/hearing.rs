//! What a block says, and whose it is: read once, when it has arrived.
//!
//! The one rule it keeps: a block is heard whether or not it ever reaches the client.

use std::sync::Arc;

use super::answer::Media;
use super::decide::micros;
use super::engine::Engine;
use super::era::Era;
use super::event::{ExchangeId, Moment};
use super::exchange::Exchange;
use super::owner::{Answers, Belongs, Spoken};
use super::record::{Entry, PartyEntry, SessionEntry};
use super::rpc::{self, Message};
use super::selector::{At, Stream};
use super::session::TARGET_LENGTH;
use super::sse::{Block, BlockKind};
use super::unit::{BlockPoint, Point};

impl Engine {
    /// Takes note of a block that has arrived: what it says, whose it is, what it is called.
    pub(super) fn block_point(&mut self, now: Moment, id: ExchangeId, block: Block) -> Point {
        let seq = self.next_seq();
        let messages = match (&block.data, block.kind) {
            (Some(data), BlockKind::Message) => rpc::peek(data),
            _ => Vec::new(),
        };
        let kind =
            if block.kind == BlockKind::Message && messages.is_empty() { BlockKind::Unparsable } else { block.kind };
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return self.point(now, id, At::Block, "", seq);
        };
        exchange.counts[kind as usize] += 1;
        let counts = exchange.counts;
        let (trail, answers, session) = (Arc::clone(&exchange.trail), answers_on(exchange), exchange.session);
        let refused = answers != Answers::All && refuses_a_stream(exchange);
        if kind == BlockKind::Endpoint {
            self.learn_endpoint(now, id, &block);
        }
        if let Some(event_id) = &block.id {
            self.calls.issue(session, event_id, &trail);
        }
        let hear = |message: Message| {
            let answers = if refused && message.id.is_none() { Answers::None } else { answers };
            self.calls.hear_server(session, message, &trail, answers)
        };
        let messages: Vec<Spoken> = messages.into_iter().map(hear).collect();
        self.introduce(now, seq, (id, session), &messages);
        let mut point = self.point(now, id, At::Block, point_name(kind), seq);
        point.key.ordinal = counts[kind as usize];
        if messages.iter().any(|spoken| spoken.about.is_some()) {
            point.belongs = Arc::new(self.calls.belongs(&messages, &trail.owners));
        } else if !point.belongs.calls.is_empty() {
            point.belongs = Arc::new(Belongs { owners: point.belongs.owners.clone(), calls: Vec::new() });
        }
        point.bytes = block.bytes.len() as u64;
        point.size = point.bytes;
        point.hash = self.hashed(&block.bytes);
        point.block = Some(BlockPoint { kind, counts, event_id: block.id, messages, parted: false });
        point
    }

    /// Whether a block is a whole JSON answer, or one of which the rest has gone: it has no neighbours to change places
    /// with (rule R32).
    pub(super) fn keeps_its_place(&self, point: &Point) -> bool {
        point.block.as_ref().is_some_and(|block| block.parted) || self.is_json_answer(point)
    }

    pub(super) fn is_json_answer(&self, point: &Point) -> bool {
        let answer = point.exchange.and_then(|id| self.exchanges.get(&id)?.answer.as_ref());
        answer.is_some_and(|answer| answer.form() == Media::Json)
    }

    /// An `endpoint` block: its stream is that of 2024-11-05, and tells where the posts of its session will go.
    fn learn_endpoint(&mut self, now: Moment, id: ExchangeId, block: &Block) {
        let target = String::from_utf8_lossy(block.data.as_deref().unwrap_or_default());
        let target = match target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => &target,
        };
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.stream = Stream::Legacy;
        self.eras.add(Era::Legacy, None);
        let session = exchange.session;
        if !self.sessions.give_endpoint(target, exchange.path(), session) {
            let key = self.key_of(id);
            self.note(now, format!("{key}: an endpoint beyond {TARGET_LENGTH} bytes is not remembered"));
        }
    }

    /// The answer to an initialize says who talks to whom.
    fn introduce(&mut self, now: Moment, seq: u64, (id, session): (ExchangeId, u64), messages: &[Spoken]) {
        for spoken in messages.iter().filter(|spoken| spoken.answer) {
            let Some(call) = spoken.about.and_then(|call| self.calls.get(call)) else { continue };
            if call.method != "initialize" || spoken.message.result.is_empty() {
                continue;
            }
            let party = |json: &[u8], at: &str| {
                let text =
                    |member: &str| Some(rpc::text_of(rpc::pointer(json, &format!("{at}/{member}"))?)?.into_owned());
                Some(PartyEntry { name: text("name")?, version: text("version").unwrap_or_default() })
            };
            let result = &spoken.message.result;
            let protocol = rpc::pointer(result, "/protocolVersion").and_then(rpc::text_of);
            let legacy = self.exchanges.get(&id).is_some_and(|exchange| exchange.stream == Stream::Legacy);
            self.eras.add(if legacy { Era::Legacy } else { Era::Session }, protocol.as_deref());
            let entry = SessionEntry {
                seq,
                at: micros(now),
                session,
                client: party(&call.params, "/clientInfo"),
                server: party(result, "/serverInfo"),
                protocol: protocol.map(std::borrow::Cow::into_owned),
            };
            self.record(Entry::Session(entry));
        }
    }
}

/// `block#3` for the third message, `block.comment#1` for the first comment.
fn point_name(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Message => "block",
        BlockKind::Priming => "block.priming",
        BlockKind::Retry => "block.retry",
        BlockKind::Comment => "block.comment",
        BlockKind::Endpoint => "block.endpoint",
        BlockKind::Other => "block.other",
        BlockKind::Unparsable => "block.unparsable",
    }
}

/// Whether it has a body where a stream was asked for: an error without an id in it answers no call.
fn refuses_a_stream(exchange: &Exchange) -> bool {
    let json = exchange.answer.as_ref().is_some_and(|answer| answer.body == Media::Json);
    json && matches!(exchange.stream, Stream::Get | Stream::Resume | Stream::Legacy)
}

fn answers_on(exchange: &Exchange) -> Answers {
    match exchange.stream {
        Stream::Resume if !exchange.origin_known => Answers::All,
        Stream::Resume if matches!(exchange.trail.stream, Stream::Post | Stream::Listen) => Answers::Own,
        Stream::Resume | Stream::Get | Stream::Legacy => Answers::Open,
        Stream::Post | Stream::Listen | Stream::Delete | Stream::Other => Answers::Own,
    }
}
