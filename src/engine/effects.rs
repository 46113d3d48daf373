//! What rules did to the wire, for the verdict: which leg was cut where, what left elsewhere, later or in another order.
//!
//! The one rule it keeps: an effect is told when the rim has reported it, or never. What was planned and did not happen
//! is no effect.

use super::decide::micros;
use super::engine::Engine;
use super::event::{ConnId, Ending, ExchangeId, Fate, Inside, Moment};
use super::exchange::{Body, Exchange, ServerLeg};
use super::notebook::full_key;
use super::plan::Plan;
use super::record::{OwnerEntry, PointFate, RpcEntry};
use super::rpc::Kind;
use super::selector::{At, Stream};
use super::sse::BlockKind;
use super::unit::Point;

/// How many effects are kept for the verdict; of more only the number is.
const EFFECTS: usize = 10_000;

/// What a rule did to the wire. What a hold did, its gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The rule's full name.
    pub rule: String,
    /// The point it was done to; of a cut, the end that it made.
    pub key: String,
    /// What was done.
    pub did: Did,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// The legs of an exchange were ended.
    Cut(CutEffect),
    /// A client's connection on which nothing was open was ended.
    CutConnection {
        /// The connection's number.
        conn: u64,
        /// How: `fin`, `reset`, `stall`.
        ending: String,
    },
    /// A block left on another stream, or was lost because none was open.
    Moved {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// Whose it is.
        owner: Option<OwnerEntry>,
        /// The key of the exchange it left on; `None`: it was lost.
        to: Option<String>,
        /// Whether it left on its own stream as well.
        copied: bool,
    },
    /// It was lost on purpose.
    Dropped {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// Whose it is.
        owner: Option<OwnerEntry>,
    },
    /// A rule made it, and it left.
    Added {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// What it is, as the journal has it.
        block: String,
        /// Whether it had left once before.
        again: bool,
        /// Whether it went to the server, as a request of its own.
        to_server: bool,
    },
    /// It left later than it came.
    Delayed {
        /// So much, in microseconds.
        by: u64,
    },
    /// A block of a reorder window left.
    Left {
        /// Its session.
        session: u64,
        /// The place of its arrival in the sequence.
        arrived: u64,
        /// The place of its leaving.
        left: u64,
        /// The key of the exchange it left on, if that is another.
        to: Option<String>,
    },
}

/// Where a cut fell and what it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CutEffect {
    /// How the client's leg ended: `eof`, `fin`, `reset`, `stall`.
    pub ending: String,
    /// Whether the server never got the request.
    pub unsent: bool,
    /// How many bytes of the request's body the server got, if the cut fell inside that.
    pub request: Option<u64>,
    /// Whether the answer's head had reached the client.
    pub head: bool,
    /// How many messages had; `None`: they were not looked for.
    pub blocks: Option<u64>,
    /// How many bytes of one more had, if the cut fell inside it.
    pub inside: Option<u64>,
    /// Whether that one was the answer.
    pub inside_answer: bool,
    /// Whether the answer had, where one was owed.
    pub answered: Option<bool>,
    /// What became of the server's leg: `closed`, `reset`, `drained`, `kept`; `None`: it had ended, or never began.
    pub server: Option<String>,
}

/// How far the client's leg of an exchange has come, and what a cut made of the server's.
#[derive(Debug, Default)]
pub(super) struct Reached {
    head: bool,
    blocks: u64,
    answered: bool,
    /// The bytes that left of a block in which the cut fell, and whether that was the answer.
    part: Option<(u64, bool)>,
    /// What was commanded for the server's leg when the client's was cut.
    server: Option<Fate>,
    unsent: bool,
    request: Option<u64>,
}

/// What became of a point.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    pub(super) point: &'a Point,
    pub(super) fate: PointFate,
    /// When it left, in time and sequence.
    pub(super) left: Option<(Moment, u64)>,
    /// The exchange on which it left, if that is another.
    pub(super) on: Option<ExchangeId>,
}

impl Outcome<'_> {
    pub(super) fn delayed(&self) -> Option<Did> {
        let by = micros(self.left?.0).saturating_sub(micros(self.point.arrived));
        (by > 0).then_some(Did::Delayed { by })
    }
}

impl Engine {
    /// A point's fate is known: what its rules have done to it is an effect now.
    pub(super) fn tell_effects(&mut self, outcome: &Outcome<'_>) {
        self.reached(outcome);
        let plan = std::sync::Arc::clone(&self.plan);
        for rule in &outcome.point.rules {
            if let Some(did) = plan.rules[*rule].rule.fault.told(self, outcome) {
                self.tell(*rule, outcome.point, did);
            }
        }
        self.tell_made(&plan, outcome);
    }

    /// What a rule made has left: that is its effect.
    fn tell_made(&mut self, plan: &Plan, outcome: &Outcome<'_>) {
        let passed = matches!(outcome.fate, PointFate::Passed | PointFate::Moved);
        let Some(maker) = outcome.point.maker.filter(|_| passed) else { return };
        if let Some(did) = plan.rules[maker].rule.fault.made(self, outcome) {
            self.effective(maker);
            self.tell(maker, outcome.point, did);
        }
    }

    pub(super) fn added(&self, outcome: &Outcome<'_>, again: bool) -> Did {
        let block = outcome.point.block.as_ref().map(|block| block.kind.word()).unwrap_or_default();
        let (message, _) = self.message_of(outcome.point);
        Did::Added { message, block: block.to_owned(), again, to_server: outcome.point.post.is_some() }
    }

    /// A client's connection on which nothing was open was ended; the rim does not report it.
    pub(super) fn tell_connection_cut(&mut self, rule: usize, point: &Point, conn: ConnId, ending: Ending) {
        self.tell(rule, point, Did::CutConnection { conn: conn.0, ending: ending.word().to_owned() });
    }

    fn tell(&mut self, rule: usize, point: &Point, did: Did) {
        if self.notebook.effects.len() == EFFECTS {
            self.notebook.more_effects += 1;
            return;
        }
        let rule = self.plan.rules[rule].rule.name.clone();
        self.notebook.effects.push(Effect { rule, key: point.key.to_string(), did });
    }

    /// What a cut finds: how the server's leg stands, and the part of a block that still leaves.
    pub(super) fn cut_finds(&mut self, id: ExchangeId, point: &Point, inside: Option<&Inside>, fate: Fate) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.reached.part = inside.map(|inside| (inside.part.len() as u64, is_answer(point)));
            exchange.reached.unsent = exchange.server == ServerLeg::Idle;
            exchange.reached.server = Some(fate).filter(|_| exchange.server == ServerLeg::Open);
        }
    }

    /// The server got so much of a request's body, and no more.
    pub(super) fn half_sent(&mut self, id: ExchangeId, bytes: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.reached.request = Some(bytes);
        }
    }

    /// Keeps count of what has reached the client on each exchange.
    fn reached(&mut self, outcome: &Outcome<'_>) {
        let Outcome { point, fate, on, .. } = outcome;
        let Some(exchange) = on.or(point.exchange).and_then(|id| self.exchanges.get_mut(&id)) else { return };
        let message = point.block.as_ref().is_some_and(|block| block.kind == BlockKind::Message);
        let reached = &mut exchange.reached;
        if matches!(fate, PointFate::Passed | PointFate::Moved) {
            reached.head |= point.at == At::Head;
            reached.blocks += u64::from(message);
            reached.answered |= is_answer(point);
        }
    }

    pub(super) fn left_a_window(&self, outcome: &Outcome<'_>) -> Option<Did> {
        let Outcome { point, left, on, .. } = outcome;
        let to = on.map(|id| self.key_of(id));
        Some(Did::Left { session: point.session, arrived: point.seq, left: (*left)?.1, to })
    }

    /// The message of a block, and whose it is.
    fn message_of(&self, point: &Point) -> (Option<RpcEntry>, Option<OwnerEntry>) {
        let posted = point.post.as_ref().and_then(|post| post.messages.first());
        let spoken = point.block.as_ref().and_then(|block| block.messages.first()).or(posted);
        let owner = point.belongs.owners.first().and_then(|owner| self.owner_entry(*owner));
        (spoken.map(|spoken| self.rpc_entry(spoken)), owner)
    }

    pub(super) fn dropped(&self, outcome: &Outcome<'_>) -> Option<Did> {
        let (message, owner) = self.message_of(outcome.point);
        (outcome.fate == PointFate::Dropped).then_some(Did::Dropped { message, owner })
    }

    pub(super) fn moved(&self, outcome: &Outcome<'_>, copied: bool) -> Option<Did> {
        let Outcome { point, fate, on, .. } = outcome;
        let (message, owner) = self.message_of(point);
        match fate {
            PointFate::Moved => Some(Did::Moved { message, owner, to: Some(self.key_of((*on)?)), copied }),
            PointFate::Dropped => Some(Did::Moved { message, owner, to: None, copied }),
            _ => None,
        }
    }

    /// The end that a cut made was written; of a stall nothing is.
    pub(super) fn was_cut(&self, outcome: &Outcome<'_>) -> Option<Did> {
        let (point, fate) = (outcome.point, outcome.fate);
        let ending = point.made.filter(|_| point.at == At::End)?;
        let happened = fate == PointFate::Passed || (ending == Ending::Stall && fate == PointFate::Cut);
        let exchange = point.exchange.filter(|_| happened).and_then(|id| self.exchanges.get(&id))?;
        let reached = &exchange.reached;
        let owes = matches!(exchange.stream, Stream::Post | Stream::Listen) && !exchange.belongs.calls.is_empty();
        let blocks = Some(reached.blocks).filter(|_| reached.head && !matches!(exchange.body, Body::Opaque));
        Some(Did::Cut(CutEffect {
            ending: ending.word().to_owned(),
            unsent: reached.unsent,
            request: reached.request,
            head: reached.head,
            blocks,
            inside: reached.part.map(|(bytes, _)| bytes),
            inside_answer: reached.part.is_some_and(|(_, answer)| answer),
            answered: owes.then_some(reached.answered),
            server: reached.server.map(|fate| server_word(fate).to_owned()),
        }))
    }

    /// The method that an exchange's POST carries, under its key: names are made with it.
    pub(super) fn name_exchange(&mut self, exchange: &Exchange) {
        let messages = if exchange.stream == Stream::Resume { &exchange.trail.messages } else { &exchange.messages };
        let request = messages.iter().find(|spoken| spoken.message.kind == Kind::Request);
        if let Some(method) = request.and_then(|spoken| spoken.message.method.clone()) {
            self.notebook.methods.insert(full_key(exchange), method);
        }
    }
}

fn is_answer(point: &Point) -> bool {
    point.block.as_ref().is_some_and(|block| block.messages.iter().any(|spoken| spoken.answer))
}

fn server_word(fate: Fate) -> &'static str {
    match fate {
        Fate::Close => "closed",
        Fate::Reset => "reset",
        Fate::Drain(_) => "drained",
        Fate::Keep(_) => "kept",
    }
}
