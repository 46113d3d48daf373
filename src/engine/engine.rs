//! The engine: one for a run, because the product is about order between streams.
//!
//! It reads in the order of an event's life: `intake` makes points of what arrives, `decide` asks the rules, `schedule`
//! lets go, `leave` commands, `passing` hears that it is written. The one rule it keeps: it knows no time, chance or
//! order but what it is given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::adding::Addition;
use super::bounded::Bounded;
use super::counting::{Counter, SCOPES, ScopeKey};
use super::era;
use super::event::{Command, ConnId, Event, ExchangeId, Moment, UnitId};
use super::exchange::Exchange;
use super::expectation::Expectation;
use super::expecting::Expecting;
use super::fault::reorder::Window;
use super::fault::resumable::Streams;
use super::leave::Flight;
use super::making::Around;
use super::notebook::{Notebook, full_key};
use super::owner::Calls;
use super::plan::Plan;
use super::record::Summary;
use super::rule::Rule;
use super::session::Sessions;
use super::sighting::Log;
use super::silence::Silence;
use super::sparing::Posted;
use super::unit::{ArmedCut, Lane, LaneId};

/// How many bytes of an answer may wait before the server's leg is read no further.
pub(super) const LANE_LIMIT: usize = 16 * 1024 * 1024;
/// In how many sessions a selector counts exchanges.
const ORDINALS: usize = 4096;

/// What an engine is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setup {
    /// The rules, in the order in which they decide.
    pub rules: Vec<Rule>,
    /// What must be seen.
    pub expectations: Vec<Expectation>,
    /// The seed of every draw.
    pub seed: u64,
    /// Whether every point is to be recorded; then the engine sees every body.
    pub record: bool,
}

/// A client's connection.
#[derive(Debug, Default)]
pub(super) struct Conn {
    pub(super) client: String,
    pub(super) lane: Lane,
    /// How long nothing happened on it.
    pub(super) silence: Silence,
    /// Cuts that wait for their `when`.
    pub(super) cuts: Vec<ArmedCut>,
}

/// Decides, for all streams of a run, what leaves when and how it ends.
#[derive(Debug)]
pub struct Engine {
    pub(super) plan: Arc<Plan>,
    pub(super) seed: u64,
    /// How long each silence of the plan must be.
    pub(super) silences: Arc<[Duration]>,
    pub(super) conns: BTreeMap<ConnId, Conn>,
    pub(super) exchanges: BTreeMap<ExchangeId, Box<Exchange>>,
    pub(super) sessions: Sessions,
    pub(super) calls: Calls,
    /// How often exchanges fitted each numbered selector, in each session.
    pub(super) ordinals: Vec<Bounded<u64, u64>>,
    /// What each watch has seen.
    pub(super) seen: Vec<Log>,
    /// When each rule acted.
    pub(super) fired: Vec<Log>,
    /// What each rule has counted.
    pub(super) counters: Vec<Bounded<ScopeKey, Counter>>,
    /// Queues in which something stands.
    pub(super) busy: BTreeSet<LaneId>,
    /// Exchanges with cuts whose `when` is awaited.
    pub(super) cutting: BTreeSet<ExchangeId>,
    /// Parcels that others wait for.
    pub(super) awaited: BTreeSet<u64>,
    pub(super) astray: Lane,
    pub(super) windows: BTreeMap<u64, Window>,
    pub(super) flights: BTreeMap<UnitId, Flight>,
    pub(super) timers: BTreeMap<Moment, u64>,
    /// Whether something happened that a wait may be about.
    pub(super) news: bool,
    /// Whether something may leave that could not before.
    pub(super) stirred: bool,
    pub(super) seq: u64,
    pub(super) next_unit: u64,
    pub(super) exchange_count: u64,
    pub(super) notebook: Notebook,
    /// What has been seen of what must be.
    pub(super) expecting: Expecting,
    /// The protocol's eras that were seen.
    pub(super) eras: era::Seen,
    /// The bytes that arrived in this step.
    pub(super) chunk: Bytes,
    pub(super) out: Vec<Command>,
    /// What rules make of the unit in hand, to stand round it.
    pub(super) around: Around,
    /// What rules will add to streams.
    pub(super) additions: BTreeMap<u64, Addition>,
    /// Exchanges that are over and whose last moment additions may wait for.
    pub(super) lingering: BTreeSet<ExchangeId>,
    /// Requests that rules have sent and whose answers have not ended.
    pub(super) posts: BTreeMap<UnitId, Posted>,
    /// How many servers there are.
    pub(super) servers: usize,
    /// The streams whose resumes rules answer.
    pub(super) kept: Streams,
}

impl Engine {
    /// Makes an engine that has seen nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let plan = Plan::new(setup.rules, setup.expectations);
        let engine = Self {
            seed: setup.seed,
            silences: Arc::default(),
            conns: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            sessions: Sessions::default(),
            calls: Calls::default(),
            ordinals: plan.numbered.iter().map(|_| Bounded::new(ORDINALS)).collect(),
            seen: plan.watches.iter().map(|_| Log::default()).collect(),
            fired: plan.rules.iter().map(|_| Log::default()).collect(),
            counters: plan.rules.iter().map(|_| Bounded::new(SCOPES)).collect(),
            busy: BTreeSet::new(),
            cutting: BTreeSet::new(),
            awaited: BTreeSet::new(),
            astray: Lane::default(),
            windows: BTreeMap::new(),
            flights: BTreeMap::new(),
            timers: BTreeMap::new(),
            news: false,
            stirred: false,
            seq: 0,
            next_unit: 0,
            exchange_count: 0,
            eras: era::Seen::default(),
            notebook: Notebook::new(&plan, setup.record),
            expecting: Expecting::new(&plan),
            chunk: Bytes::new(),
            out: Vec::new(),
            around: Around::default(),
            additions: BTreeMap::new(),
            lingering: BTreeSet::new(),
            posts: BTreeMap::new(),
            servers: 1,
            kept: Streams::default(),
            plan: Arc::new(plan),
        };
        Self { silences: engine.draw_silences(), ..engine }
    }

    /// The same in front of so many servers, at least one.
    #[must_use]
    pub fn in_front_of(self, servers: usize) -> Self {
        Self { servers: servers.max(1), ..self }
    }

    /// The same, with every body that a recorded point has a hash of handed over ([`Command::Keep`]).
    #[must_use]
    pub fn keeping_bodies(mut self) -> Self {
        self.notebook.bodies = true;
        self
    }

    /// Whether it would do nothing but let everything pass: then the rim need not ask it at all.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        self.plan.rules.is_empty() && self.plan.expected.is_empty() && !self.notebook.on
    }

    /// Takes what arrived and returns what is to be done, in order. `now` never goes back.
    pub fn on(&mut self, now: Moment, event: Event) -> Vec<Command> {
        self.advance(now);
        self.windows_end(now);
        match event {
            Event::Connect { conn, client } => self.connect(now, conn, client),
            Event::Disconnect { conn, ending } => self.disconnect(now, conn, ending),
            Event::RequestHead { exchange, conn, reused, head } => self.request_head(now, exchange, conn, reused, head),
            Event::Refused { conn, method, why } => {
                let what = method.as_deref().unwrap_or("broken request of the client's");
                self.note(now, format!("connection {}: a {what} was refused: {why}", conn.0));
            }
            Event::Request { exchange, body } => self.request(now, exchange, &body),
            Event::Head { exchange, head } => self.head(now, exchange, head),
            Event::Data { exchange, bytes, last } => self.data(now, exchange, bytes, last),
            Event::End { exchange, ending } => self.end(now, exchange, ending),
            Event::Left { exchange, ending } => self.left(now, exchange, ending),
            Event::Passed { unit } => self.passed(now, unit),
            Event::Unsent { unit, why } => self.unsent(now, unit, &why),
            Event::Answered { unit } => drop(self.posts.remove(&unit)),
            Event::Relayed { exchange, ending } => self.relayed(now, exchange, ending),
            Event::Exit => self.command_ended(now),
            Event::Tick => {}
            Event::Finish => {
                self.finish(now);
                return std::mem::take(&mut self.out);
            }
        }
        self.pump(now);
        self.end_lingering();
        self.chunk = Bytes::new();
        std::mem::take(&mut self.out)
    }

    /// The moment at which it wants to be asked again with [`Event::Tick`].
    #[must_use]
    pub fn next_due(&self) -> Option<Moment> {
        self.timers.first_key_value().map(|(moment, _)| *moment)
    }

    /// What the run amounts to so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            rules: self.notebook.tallies.clone(),
            missed: self.missed(),
            unmet: self.unmet(),
            gates: self.notebook.gates.iter().cloned().collect(),
            effects: self.notebook.effects.clone(),
            more_effects: self.notebook.more_effects,
            methods: self.notebook.methods.iter().map(|(key, method)| (key.clone(), method.clone())).collect(),
            eras: self.eras.eras(),
            foreign: self.foreign(),
            silences: self.notebook.silences.clone(),
            expectations: self.expecting.tallies(),
            remarks: self.notebook.remarks.clone(),
            left_open: self.left_open(),
            sessions: self.sessions.count(),
            exchanges: self.exchange_count,
        }
    }

    /// The next number of the run's one sequence.
    pub(super) fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub(super) fn session_of(&self, id: ExchangeId) -> u64 {
        self.exchanges.get(&id).map_or(0, |exchange| exchange.session)
    }

    pub(super) fn key_of(&self, id: ExchangeId) -> String {
        self.exchanges.get(&id).map(|exchange| full_key(exchange)).unwrap_or_default()
    }
}
