//! An engine run again from a journal: the same rules and seed decide the same, and other rules show what they would have
//! decided about that traffic.
//!
//! It plays the rim: what arrived arrives when it did, what left is reported when it did. The one rule: nothing that was
//! decided is told to the engine, only what came from outside.

mod messages;
mod steps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::engine::engine::{Engine, Setup};
use crate::engine::event::{
    AnswerHead, Command, ConnId, Ending, Event, ExchangeId, Moment, RequestBody, RequestHead, Source, UnitId,
};
use crate::engine::record::{Entry, PointEntry, SessionEntry};
use crate::engine::rule::Rule;
use bytes::Bytes;

use super::Line;
use steps::{Step, Way, came_beside, exchange, leg, steps};

/// Which leg of which exchange: what leaves on one leaves in order.
type Leg = (ExchangeId, Way);

struct Rim<'a> {
    engine: Engine,
    now: Moment,
    entries: Vec<Entry>,
    sessions: BTreeMap<u64, &'a SessionEntry>,
    /// How many requests came on each connection, and the exchange of the last.
    conns: BTreeMap<u64, (u64, ExchangeId)>,
    exchanges: BTreeMap<&'a str, ExchangeId>,
    next: u64,
    /// Exchanges whose answers are event streams.
    streams: BTreeSet<ExchangeId>,
    /// Blocks of which the engine has the bytes.
    told: BTreeSet<u64>,
    /// Exchanges whose client's leaving was passed on.
    left: BTreeSet<&'a str>,
    flying: BTreeMap<Leg, VecDeque<UnitId>>,
}

/// What an engine with these rules and this seed records when the journal's traffic crosses it. Of what a journal does not
/// hold (params, results, error codes, addresses of 2024-11-05) a rule sees nothing. Lines that belong to nothing, as in a
/// journal that lost some, are left out.
#[must_use]
pub fn again(lines: &[Line], rules: Vec<Rule>, seed: u64) -> Vec<Entry> {
    let entries = lines.iter().filter_map(|line| if let Line::Entry(entry) = line { Some(&**entry) } else { None });
    let entries: Vec<&Entry> = entries.collect();
    let servers =
        lines.iter().find_map(|line| if let Line::Run(header) = line { Some(1 + header.others.len()) } else { None });
    let engine = Engine::new(Setup { rules, seed, record: true, ..Setup::default() }).in_front_of(servers.unwrap_or(1));
    let mut rim = Rim::new(engine, &entries);
    let steps: Vec<_> = steps(&entries).into_values().collect();
    for (place, step) in steps.iter().enumerate() {
        rim.take(*step, &steps[place + 1..]);
    }
    rim.feed(Event::Finish);
    rim.entries
}

// === The rim ===

impl<'a> Rim<'a> {
    fn new(engine: Engine, entries: &[&'a Entry]) -> Self {
        let mut sessions = BTreeMap::new();
        let mut left = BTreeSet::new();
        for entry in entries {
            match entry {
                Entry::Session(session) => _ = sessions.insert(session.session, session),
                Entry::Point(it) if it.point == "leave" && it.left.is_some() => _ = left.insert(exchange(&it.key)),
                Entry::Point(_)
                | Entry::Decision(_)
                | Entry::Gate(_)
                | Entry::Disconnect(_)
                | Entry::Finding(_)
                | Entry::Expectation(_)
                | Entry::Note(_) => {}
            }
        }
        Self {
            engine,
            now: Moment::default(),
            entries: Vec::new(),
            sessions,
            conns: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            next: 0,
            streams: BTreeSet::new(),
            told: BTreeSet::new(),
            left,
            flying: BTreeMap::new(),
        }
    }

    fn take(&mut self, step: Step<'a>, later: &[Step<'a>]) {
        match step {
            Step::Arrived(point) => {
                self.now = step.time().unwrap_or(self.now);
                self.arrived(point, later);
            }
            Step::Left(point) => {
                self.now = step.time().unwrap_or(self.now);
                self.departed(point);
            }
            Step::Gone(gone) => {
                self.now = step.time().unwrap_or(self.now);
                let ending = ending(Some(&gone.ending));
                self.feed(Event::Disconnect { conn: ConnId(gone.conn), ending });
            }
            Step::Noted(_) => {
                if self.engine.next_due() <= step.time() {
                    self.tick(step.time());
                }
            }
            Step::Due(point) => {
                let limit = later.iter().find_map(|step| step.time());
                while self.waits(point, later) && (limit.is_none() || self.engine.next_due() <= limit) {
                    self.tick(self.engine.next_due());
                }
            }
        }
    }

    /// Time comes, if the engine waits for any.
    fn tick(&mut self, now: Option<Moment>) {
        if self.engine.next_due().is_some() {
            self.now = now.unwrap_or(self.now).max(self.now);
            self.feed(Event::Tick);
        }
    }

    /// Whether a point that is to leave stands behind what was let go on its leg so far.
    fn waits(&self, point: &PointEntry, later: &[Step<'a>]) -> bool {
        let left = |step: &&Step<'_>| matches!(step, Step::Left(it) if leg(it) == leg(point));
        let before =
            later.iter().filter(left).take_while(|step| !matches!(step, Step::Left(it) if it.seq == point.seq));
        let (on, way) = leg(point);
        let flying = self.exchanges.get(on).and_then(|id| self.flying.get(&(*id, way))).map_or(0, VecDeque::len);
        self.engine.next_due().is_some() && flying <= before.count()
    }

    fn arrived(&mut self, point: &'a PointEntry, later: &[Step<'a>]) {
        let conn = ConnId(point.conn);
        match point.point.as_str() {
            "connect" => {
                let client = point.client.clone().unwrap_or_default();
                self.feed(Event::Connect { conn, client });
            }
            "request-head" => {
                let head = later.iter().find_map(|step| match step {
                    Step::Arrived(it) if it.point == "request" && it.conn == point.conn => Some(request_head(it)),
                    _ => None,
                });
                self.next += 1;
                let exchange = ExchangeId(self.next);
                let (count, last) = self.conns.entry(point.conn).or_insert((0, exchange));
                (*count, *last) = (*count + 1, exchange);
                let reused = *count > 1;
                let head = head.unwrap_or_else(|| request_head(point));
                self.feed(Event::RequestHead { exchange, conn, reused, head });
            }
            "request" => {
                let Some((_, id)) = self.conns.get(&point.conn).copied() else { return };
                self.exchanges.insert(exchange(&point.key), id);
                let body = messages::body(point, &self.text(point));
                self.feed(Event::Request { exchange: id, body: RequestBody::Whole(body) });
            }
            _ => {
                if let Some(id) = self.exchanges.get(exchange(&point.key)).copied() {
                    self.answered(id, point, later);
                }
            }
        }
    }

    fn answered(&mut self, id: ExchangeId, point: &'a PointEntry, later: &[Step<'a>]) {
        match point.point.as_str() {
            "head" => {
                let headers = headers(point);
                let is_stream =
                    |(name, value): &(String, Bytes)| name == "content-type" && value.starts_with(b"text/event");
                if headers.iter().any(is_stream) {
                    self.streams.insert(id);
                }
                let source =
                    if headers.iter().any(|(name, _)| name == "mishap-error") { Source::Proxy } else { Source::Server };
                let head = AnswerHead { status: point.status.unwrap_or_default(), headers, source };
                self.feed(Event::Head { exchange: id, head });
            }
            "block" => {
                if !self.told.insert(point.seq) {
                    return;
                }
                let mut bytes = self.block(id, point);
                for beside in came_beside(point, later) {
                    self.told.insert(beside.seq);
                    bytes.extend(self.block(id, beside));
                }
                self.feed(Event::Data { exchange: id, bytes: bytes.into(), last: false });
            }
            "end" => self.feed(Event::End { exchange: id, ending: ending(point.ending.as_deref()) }),
            "leave" => self.feed(Event::Left { exchange: id, ending: ending(point.ending.as_deref()) }),
            _ => {}
        }
    }

    fn departed(&mut self, point: &PointEntry) {
        let (on, way) = leg(point);
        let Some(id) = self.exchanges.get(on) else { return };
        // Nothing stands there if these rules have decided otherwise.
        if let Some(unit) = self.flying.get_mut(&(*id, way)).and_then(VecDeque::pop_front) {
            self.feed(Event::Passed { unit });
        }
    }

    fn feed(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for command in self.engine.on(self.now, event) {
                events.extend(self.obey(command));
            }
        }
    }

    /// What is let go is reported when the journal says so. A leg that a cut has closed has no line in it.
    fn obey(&mut self, command: Command) -> Option<Event> {
        let mut fly = |exchange, way, unit| self.flying.entry((exchange, way)).or_default().push_back(unit);
        match command {
            Command::Record(entry) => self.entries.push(*entry),
            Command::Forward { exchange, unit, .. }
            | Command::Send { exchange, unit, .. }
            | Command::Post { exchange, unit, .. } => {
                fly(exchange, Way::Up, unit);
            }
            Command::Head { exchange, unit, .. } | Command::Finish { exchange, unit, .. } => {
                fly(exchange, Way::Down, unit);
            }
            Command::Write { exchange, marks, .. } => marks.iter().for_each(|mark| fly(exchange, Way::Down, mark.unit)),
            Command::CloseServer { exchange, unit, .. } => {
                let key = self.exchanges.iter().find(|(_, id)| **id == exchange).map(|(key, _)| *key);
                if !key.is_some_and(|key| self.left.contains(key)) {
                    return Some(Event::Passed { unit });
                }
                fly(exchange, Way::Up, unit);
            }
            Command::Admit { .. }
            | Command::ClosePost { .. }
            | Command::CutConnection { .. }
            | Command::Read { .. }
            | Command::Relay { .. }
            | Command::Keep { .. }
            | Command::PauseServer { .. }
            | Command::ResumeServer { .. } => {}
        }
        None
    }

    // --- what it is made of

    fn text(&self, point: &PointEntry) -> String {
        messages::text(point, point.session.and_then(|session| self.sessions.get(&session)).copied())
    }

    fn block(&self, id: ExchangeId, point: &PointEntry) -> Vec<u8> {
        let text = self.text(point);
        let stream = self.streams.contains(&id);
        if stream { messages::block(point, &text) } else { messages::body(point, &text) }.to_vec()
    }
}

fn request_head(point: &PointEntry) -> RequestHead {
    let http = point.http.as_deref().unwrap_or_default();
    let (method, target) = http.split_once(' ').unwrap_or((http, "/"));
    RequestHead { method: method.to_owned(), target: target.to_owned(), headers: headers(point) }
}

fn headers(point: &PointEntry) -> Vec<(String, Bytes)> {
    point.headers.iter().map(|(name, value)| (name.clone(), Bytes::from(value.clone()))).collect()
}

fn ending(word: Option<&str>) -> Ending {
    match word {
        Some("eof") => Ending::Eof,
        Some("reset") => Ending::Reset,
        _ => Ending::Fin,
    }
}
