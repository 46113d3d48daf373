//! How effects are found and told: what has reached the peers of an exchange, and what each rule did to it.
//!
//! The one rule it keeps: it changes nothing but what is told.

use super::{CutEffect, Did, Effect, Outcome};
use crate::engine::decide::micros;
use crate::engine::engine::Engine;
use crate::engine::event::{Ending, ExchangeId, Fate, Inside, Moment};
use crate::engine::exchange::{Exchange, ServerLeg};
use crate::engine::fault::Fault;
use crate::engine::leave::{Flight, Job};
use crate::engine::notebook::full_key;
use crate::engine::plan::Plan;
use crate::engine::record::{OwnerEntry, PointFate, RpcEntry};
use crate::engine::rpc::Kind;
use crate::engine::selector::{At, Stream};
use crate::engine::sse::BlockKind;
use crate::engine::unit::{LaneId, Point};

/// How many effects are kept for the verdict; of more only the number is.
const EFFECTS: usize = 10_000;

/// How far the client's leg of an exchange has come, and what a cut made of the server's.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Reached {
    head: bool,
    primed: bool,
    blocks: u64,
    answered: bool,
    /// Whether the server got the request.
    sent: bool,
    /// Whether blocks are looked for in the body.
    pub(in crate::engine) looked: bool,
    /// When something reached its peer last: what is counted here or, before it, the request.
    last: Option<Moment>,
    /// When the client's leg was cut.
    cut: Option<Moment>,
    /// The bytes that left of a block in which the cut fell, and whether that was the answer.
    part: Option<(u64, bool)>,
    /// What was commanded for the server's leg when the client's was cut.
    server: Option<Fate>,
    unsent: bool,
    request: Option<u64>,
}

impl Reached {
    /// A point has reached its peer, at that time if it is known.
    fn note(&mut self, point: &Point, when: Option<Moment>) {
        let kind = point.block.as_ref().map(|block| block.kind);
        self.head |= point.at == At::Head;
        self.primed |= kind == Some(BlockKind::Priming);
        self.blocks += u64::from(kind == Some(BlockKind::Message));
        self.answered |= is_answer(point);
        self.sent |= point.at == At::Request;
        let counts = matches!(point.at, At::Request | At::Head) || kind == Some(BlockKind::Message);
        self.last = when.filter(|_| counts || kind == Some(BlockKind::Priming)).or(self.last);
    }
}

impl Engine {
    /// A point's fate is known: what its rules have done to it is an effect now.
    pub(in crate::engine) fn tell_effects(&mut self, outcome: &Outcome<'_>) {
        self.reached(outcome);
        let plan = std::sync::Arc::clone(&self.plan);
        for rule in &outcome.point.rules {
            if let Some(did) = plan.rules[*rule].rule.fault.told(self, outcome, *rule) {
                self.tell(*rule, outcome.point, did);
            }
        }
        self.tell_made(&plan, outcome);
        self.sum_shaped(&plan, outcome);
    }

    /// A unit in another form has left; one that was kept from it is none.
    fn sum_shaped(&mut self, plan: &Plan, outcome: &Outcome<'_>) {
        let Outcome { point, fate, on, .. } = outcome;
        let passed = matches!(fate, PointFate::Passed | PointFate::Moved);
        let Some(id) = on.or(point.exchange).filter(|_| passed) else { return };
        let lane = if point.at == At::Request { LaneId::Up(id) } else { LaneId::Down(id) };
        for rule in &point.changed {
            if matches!(plan.rules[*rule].rule.fault, Fault::Reframe(_)) {
                self.sum(lane, *rule, |sum| sum.shaped += 1);
            }
        }
    }

    /// What a rule made has left: that is its effect, once for all that it made when it fired.
    fn tell_made(&mut self, plan: &Plan, outcome: &Outcome<'_>) {
        let passed = matches!(outcome.fate, PointFate::Passed | PointFate::Moved);
        let Some(maker) = outcome.point.maker.filter(|_| passed) else { return };
        if let Some(did) = plan.rules[maker].rule.fault.made(self, outcome) {
            if let Some(firing) = outcome.point.firing {
                self.effective_once(maker, firing);
            }
            self.tell(maker, outcome.point, did);
        }
    }

    pub(in crate::engine) fn added(&self, outcome: &Outcome<'_>, again: bool) -> Did {
        let block = outcome.point.block.as_ref().map(|block| block.kind.word()).unwrap_or_default();
        let (message, _) = self.message_of(outcome.point);
        Did::Added { message, block: block.to_owned(), again, to_server: outcome.point.post.is_some() }
    }

    /// The status of a head that a rule made in the server's place.
    pub(in crate::engine) fn status_instead(&self, outcome: &Outcome<'_>) -> Option<u16> {
        let exchange = self.exchanges.get(&outcome.point.exchange?).filter(|_| outcome.point.at == At::Head)?;
        let answer = exchange.answer.as_ref()?;
        Some(answer.change.as_ref().map_or(answer.head.status, |change| change.status))
    }

    /// Whether the server has got the request of a point.
    pub(in crate::engine) fn was_asked(&self, outcome: &Outcome<'_>) -> bool {
        outcome.point.exchange.and_then(|id| self.exchanges.get(&id)).is_some_and(|exchange| exchange.reached.sent)
    }

    /// A client's connection on which nothing was open was ended; the rim does not report it.
    pub(in crate::engine) fn tell_connection_cut(&mut self, now: Moment, rule: usize, point: &Point, ending: Ending) {
        let after = micros(now).saturating_sub(micros(point.arrived));
        self.tell(rule, point, Did::CutConnection { conn: point.conn.0, ending: ending.word().to_owned(), after });
    }

    fn tell(&mut self, rule: usize, point: &Point, did: Did) {
        self.tell_at(rule, point.key.to_string(), did);
    }

    pub(in crate::engine) fn tell_at(&mut self, rule: usize, key: String, did: Did) {
        if self.notebook.effects.len() == EFFECTS {
            self.notebook.more_effects += 1;
            return;
        }
        let rule = self.plan.rules[rule].rule.name.clone();
        self.notebook.effects.push(Effect { rule, key, did });
    }

    /// What a cut finds: how the server's leg stands, and the part of a block that still leaves. A resume that a rule
    /// answers is not for the server.
    pub(in crate::engine) fn cut_finds(
        &mut self,
        now: Moment,
        id: ExchangeId,
        point: &Point,
        inside: Option<&Inside>,
        fate: Fate,
    ) {
        let ours = self.place_of(id).is_some();
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.reached.cut = Some(now);
            exchange.reached.part = inside.map(|inside| (inside.part.len() as u64, is_answer(point)));
            exchange.reached.unsent = exchange.server == ServerLeg::Idle && !ours;
            exchange.reached.server = Some(fate).filter(|_| exchange.server == ServerLeg::Open);
        }
    }

    /// The server got so much of a request's body, and no more.
    pub(in crate::engine) fn half_sent(&mut self, id: ExchangeId, bytes: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.reached.request = Some(bytes);
        }
    }

    /// Keeps count of what has reached the client on each exchange.
    fn reached(&mut self, outcome: &Outcome<'_>) {
        let Outcome { point, fate, left, on } = outcome;
        let Some(exchange) = on.or(point.exchange).and_then(|id| self.exchanges.get_mut(&id)) else { return };
        if matches!(fate, PointFate::Passed | PointFate::Moved) && point.post.is_none() {
            exchange.reached.note(point, left.map(|(moment, _)| moment));
        }
    }

    pub(in crate::engine) fn left_a_window(&self, outcome: &Outcome<'_>) -> Option<Did> {
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

    pub(in crate::engine) fn dropped(&self, outcome: &Outcome<'_>) -> Option<Did> {
        let (message, owner) = self.message_of(outcome.point);
        (outcome.fate == PointFate::Dropped).then_some(Did::Dropped { message, owner })
    }

    pub(in crate::engine) fn moved(&self, outcome: &Outcome<'_>, copied: bool) -> Option<Did> {
        let Outcome { point, fate, on, .. } = outcome;
        let (message, owner) = self.message_of(point);
        match fate {
            PointFate::Moved => Some(Did::Moved { message, owner, to: Some(self.key_of((*on)?)), copied }),
            PointFate::Dropped => Some(Did::Moved { message, owner, to: None, copied }),
            _ => None,
        }
    }

    /// What the client of an exchange will have got of what was let go before a cut. Nothing of a stall is reported, so
    /// that there what is on its way counts.
    fn got_by(&self, exchange: &Exchange, ending: Ending) -> Reached {
        let mut reached = exchange.reached.clone();
        let written = |flight: &&Flight| flight.exchange == exchange.id && matches!(flight.job, Job::Write);
        let flying = self.flights.values().filter(written).filter(|_| ending == Ending::Stall);
        flying.flat_map(|flight| &flight.points).for_each(|(_, point)| reached.note(point, reached.cut));
        reached
    }

    /// The end that a cut made was written; of a stall nothing is.
    pub(in crate::engine) fn was_cut(&self, outcome: &Outcome<'_>) -> Option<Did> {
        let (point, fate) = (outcome.point, outcome.fate);
        let ending = point.made.filter(|_| point.at == At::End)?;
        let happened = fate == PointFate::Passed || (ending == Ending::Stall && fate == PointFate::Cut);
        let exchange = point.exchange.filter(|_| happened).and_then(|id| self.exchanges.get(&id))?;
        let reached = self.got_by(exchange, ending);
        let owes = matches!(exchange.stream, Stream::Post | Stream::Listen) && !exchange.belongs.calls.is_empty();
        let blocks = Some(reached.blocks).filter(|_| reached.head && reached.looked);
        Some(Did::Cut(CutEffect {
            ending: ending.word().to_owned(),
            unsent: reached.unsent,
            request: reached.request,
            head: reached.head,
            primed: reached.primed,
            blocks,
            inside: reached.part.map(|(bytes, _)| bytes),
            inside_answer: reached.part.is_some_and(|(_, answer)| answer),
            answered: owes.then_some(reached.answered),
            since: reached.cut.zip(reached.last).map(|(cut, last)| micros(cut).saturating_sub(micros(last))),
            server: reached.server.map(|fate| server_word(fate).to_owned()),
        }))
    }

    /// The method that an exchange's POST carries, under its key: names are made with it.
    pub(in crate::engine) fn name_exchange(&mut self, exchange: &Exchange) {
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
