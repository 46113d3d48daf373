//! Playbooks: stories told to the engine, events in, commands out, without a socket or a clock.
//!
//! [`Play`] is a rim that does at once what it is told and says so, so that a test reads as what client and server do.
//! The one rule it keeps: it never does what it was not told.

mod additions;
mod amounts;
mod answers;
mod anything;
mod bodies;
mod bounds;
mod buffers;
mod bursts;
mod counting;
mod cuts;
mod drops;
mod effects;
mod eras;
mod halves;
mod holds;
mod limits;
mod lost;
mod makers;
mod moves;
mod orders;
mod outcomes;
mod posts;
mod properties;
mod reframes;
mod renames;
mod resumes;
mod rewrites;
mod rim;
mod routes;
mod selectors;
mod silences;
mod spared;
mod streaming;
mod throttles;
pub(crate) mod tools;
mod traffic;
mod whose;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use super::engine::{Engine, Setup};
use super::event::{
    AnswerHead, Command, ConnId, Destination, Ending, Event, ExchangeId, Fate, HeadEdits, HeaderEdit, Inside, Moment,
    RequestHead, Source, UnitId,
};
use super::record::{DecisionEntry, Entry, GateEntry, Opened, PointEntry, RuleTally};
use super::rule::Rule;

/// What became of an exchange, as its two peers saw it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) asked: RequestHead,
    pub(crate) request: Bytes,
    /// The body that was forwarded, if the request was.
    pub(crate) forwarded: Option<Bytes>,
    /// Whether what was forwarded stays unfinished.
    pub(crate) half: bool,
    pub(crate) to: Destination,
    pub(crate) identity: bool,
    pub(crate) request_edits: Vec<HeaderEdit>,
    pub(crate) head_edits: HeadEdits,
    pub(crate) head: Option<AnswerHead>,
    /// Whether the head was sent on, and whether its length had to go.
    pub(crate) sent_head: Option<bool>,
    pub(crate) body: Vec<u8>,
    /// How many writes made the body.
    pub(crate) writes: usize,
    /// Each of them.
    pub(crate) pieces: Vec<Bytes>,
    /// What of a request that leaves in parts has not left, and what has.
    unsent: Bytes,
    pub(crate) sends: Vec<Bytes>,
    pub(crate) ending: Option<Ending>,
    pub(crate) inside: Option<Inside>,
    pub(crate) server: Option<Fate>,
    pub(crate) relayed: bool,
    pub(crate) paused: bool,
}

/// A rim of one's own.
pub(crate) struct Play {
    pub(crate) engine: Engine,
    pub(crate) now: Moment,
    pub(crate) seen: BTreeMap<ExchangeId, Seen>,
    exchanges: u64,
    names: BTreeMap<String, ExchangeId>,
    conns: BTreeMap<String, ConnId>,
    /// Connections that have carried a request.
    used: BTreeSet<ConnId>,
    pub(crate) entries: Vec<Entry>,
    /// Bodies that are to be kept, by hash.
    pub(crate) bodies: Vec<(u64, Bytes)>,
    pub(crate) cut_connections: usize,
    /// Everything that left, in order: `forward a`, `head a`, `write a`, `finish a`, `close a`.
    pub(crate) left: Vec<String>,
    /// Everything that was commanded, step by step, and when.
    pub(crate) told: Vec<(Moment, Vec<Command>)>,
    /// Units whose last byte is not written, while the client of their exchange does not read.
    stuck: Vec<(ExchangeId, UnitId)>,
    slow: Option<ExchangeId>,
    /// Whether the server reads no request to its end.
    refuses: bool,
    /// What rules have sent to the server.
    pub(crate) sent: Vec<(RequestHead, Bytes)>,
    /// Those whose connections were closed.
    pub(crate) closed_posts: Vec<UnitId>,
    /// Whether that cannot be sent.
    pub(crate) fails_to_send: bool,
}

impl Play {
    /// A run with these rules in which everything is recorded.
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        Self::with(Setup { rules, seed: 1, record: true, ..Setup::default() })
    }

    pub(crate) fn with(setup: Setup) -> Self {
        Self {
            engine: Engine::new(setup),
            now: Moment::default(),
            seen: BTreeMap::new(),
            exchanges: 0,
            names: BTreeMap::new(),
            conns: BTreeMap::new(),
            used: BTreeSet::new(),
            entries: Vec::new(),
            bodies: Vec::new(),
            cut_connections: 0,
            left: Vec::new(),
            told: Vec::new(),
            stuck: Vec::new(),
            slow: None,
            refuses: false,
            sent: Vec::new(),
            closed_posts: Vec::new(),
            fails_to_send: false,
        }
    }

    /// The same in front of so many servers.
    pub(crate) fn in_front_of(self, servers: usize) -> Self {
        Self { engine: self.engine.in_front_of(servers), ..self }
    }

    // --- what the client does ---

    /// Sends a request, the connection being named after it. Two headers are none: `:target`, where it is not `/mcp`,
    /// and `:conn`, the name of another connection.
    pub(crate) fn sends(&mut self, name: &str, method: &str, headers: &[(&str, &str)], body: &str) -> &mut Self {
        self.exchanges += 1;
        let id = ExchangeId(self.exchanges);
        self.names.insert(name.to_owned(), id);
        let pseudo = |pseudo: &str| headers.iter().find(|(header, _)| *header == pseudo).map(|(_, value)| *value);
        let conn = self.connects(pseudo(":conn").unwrap_or(name));
        let (target, reused) = (pseudo(":target").unwrap_or("/mcp"), !self.used.insert(conn));
        let headers = headers.iter().filter(|(header, _)| !header.starts_with(':'));
        let headers = headers.map(|(header, value)| ((*header).to_owned(), Bytes::copy_from_slice(value.as_bytes())));
        let head = RequestHead { method: method.to_owned(), target: target.to_owned(), headers: headers.collect() };
        let request = Bytes::copy_from_slice(body.as_bytes());
        self.seen.insert(id, Seen { asked: head.clone(), request, ..Seen::default() });
        self.feed(Event::RequestHead { exchange: id, conn, reused, head });
        self
    }

    pub(crate) fn connects(&mut self, name: &str) -> ConnId {
        if let Some(conn) = self.conns.get(name) {
            return *conn;
        }
        let conn = ConnId(self.conns.len() as u64 + 1);
        self.conns.insert(name.to_owned(), conn);
        self.feed(Event::Connect { conn, client: "127.0.0.1".to_owned() });
        conn
    }

    /// POSTs a message in session `S`.
    pub(crate) fn posts(&mut self, name: &str, body: &str) -> &mut Self {
        self.sends(name, "POST", &[("mcp-session-id", "S")], body)
    }

    /// Calls a tool that is named after the exchange.
    pub(crate) fn calls(&mut self, name: &str, id: u64) -> &mut Self {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
        self.posts(name, &body)
    }

    /// Opens the standalone GET of session `S`.
    pub(crate) fn gets(&mut self, name: &str) -> &mut Self {
        self.sends(name, "GET", &[("mcp-session-id", "S"), ("accept", "text/event-stream")], "")
    }

    pub(crate) fn leaves(&mut self, name: &str) -> &mut Self {
        let exchange = self.id(name);
        self.feed(Event::Left { exchange, ending: Ending::Fin });
        self
    }

    /// The client stops reading the answer to this exchange: nothing written to it is reported.
    pub(crate) fn stops_reading(&mut self, name: &str) -> &mut Self {
        self.slow = Some(self.id(name));
        self
    }

    pub(crate) fn reads_again(&mut self) -> &mut Self {
        self.slow = None;
        for (_, unit) in std::mem::take(&mut self.stuck) {
            self.feed(Event::Passed { unit });
        }
        self
    }

    // --- what the server does ---

    /// From now on it answers before it has read a request to its end.
    pub(crate) fn reads_no_request_whole(&mut self) -> &mut Self {
        self.refuses = true;
        self
    }

    /// Whether the server has the request, and its leg is open.
    pub(crate) fn server_is_open(&self, name: &str) -> bool {
        let seen = self.of(name);
        seen.forwarded.is_some() && !matches!(seen.server, Some(Fate::Close | Fate::Reset))
    }

    pub(crate) fn head(&mut self, name: &str, status: u16, headers: &[(&str, &str)]) -> &mut Self {
        let exchange = self.id(name);
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), Bytes::copy_from_slice(value.as_bytes())));
        let head = AnswerHead { status, headers: headers.collect(), source: Source::Server };
        self.seen.get_mut(&exchange).expect("it was sent").head = Some(head.clone());
        self.feed(Event::Head { exchange, head });
        self
    }

    /// Answers with an event stream.
    pub(crate) fn streams(&mut self, name: &str) -> &mut Self {
        self.head(name, 200, &[("content-type", "text/event-stream")])
    }

    pub(crate) fn data(&mut self, name: &str, bytes: &str) -> &mut Self {
        self.bytes(name, Bytes::copy_from_slice(bytes.as_bytes()))
    }

    /// What is relayed unseen goes past the engine.
    pub(crate) fn bytes(&mut self, name: &str, bytes: Bytes) -> &mut Self {
        let exchange = self.id(name);
        let seen = self.seen.get_mut(&exchange).expect("it was sent");
        if seen.relayed {
            seen.body.extend_from_slice(&bytes);
        } else {
            self.feed(Event::Data { exchange, bytes, last: false });
        }
        self
    }

    /// Sends the last bytes of an answer and its end in one go; a leg that is closed in between is not read on.
    pub(crate) fn ends_with(&mut self, name: &str, bytes: &str) -> &mut Self {
        let exchange = self.id(name);
        self.feed(Event::Data { exchange, bytes: Bytes::copy_from_slice(bytes.as_bytes()), last: true });
        if self.of(name).server.is_none() { self.ends(name) } else { self }
    }

    pub(crate) fn ends(&mut self, name: &str) -> &mut Self {
        self.ends_as(name, Ending::Eof)
    }

    pub(crate) fn ends_as(&mut self, name: &str, ending: Ending) -> &mut Self {
        let exchange = self.id(name);
        let seen = self.seen.get_mut(&exchange).expect("it was sent");
        if seen.relayed {
            seen.ending = Some(ending);
            self.feed(Event::Relayed { exchange, ending });
        } else {
            self.feed(Event::End { exchange, ending });
        }
        self
    }

    /// Answers the call of that id with an event stream of one event, and ends it.
    pub(crate) fn answers(&mut self, name: &str, id: u64) -> &mut Self {
        self.streams(name).data(name, &tools::answer(id)).ends(name)
    }

    // --- time ---

    /// Lets so many milliseconds go by.
    pub(crate) fn waits(&mut self, ms: u64) -> &mut Self {
        let end = self.now + Duration::from_millis(ms);
        while let Some(due) = self.engine.next_due().filter(|due| *due <= end) {
            assert!(due > self.now || self.engine.next_due() == Some(due), "time never goes back");
            self.now = self.now.max(due);
            self.feed(Event::Tick);
            assert_ne!(self.engine.next_due(), Some(due), "a tick that changes nothing would be asked for ever");
        }
        self.now = end;
        self
    }

    /// The command behind the proxy ends.
    pub(crate) fn exits(&mut self) -> &mut Self {
        self.feed(Event::Exit);
        self
    }

    pub(crate) fn finishes(&mut self) -> &mut Self {
        self.feed(Event::Finish);
        self
    }

    // --- what was seen ---

    pub(crate) fn id(&self, name: &str) -> ExchangeId {
        self.names[name]
    }

    pub(crate) fn name(&self, exchange: ExchangeId) -> &str {
        self.names.iter().find(|(_, id)| **id == exchange).map_or("?", |(name, _)| name)
    }

    pub(crate) fn conn_name(&self, conn: ConnId) -> &str {
        self.conns.iter().find(|(_, id)| **id == conn).map_or("?", |(name, _)| name)
    }

    pub(crate) fn of(&self, name: &str) -> &Seen {
        &self.seen[&self.id(name)]
    }

    pub(crate) fn body(&self, name: &str) -> &str {
        std::str::from_utf8(&self.of(name).body).expect("the tests write text")
    }

    pub(crate) fn forwarded(&self, name: &str) -> bool {
        self.of(name).forwarded.is_some()
    }

    /// What has left since this was asked last.
    pub(crate) fn left(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left)
    }

    pub(crate) fn tally(&self, rule: &str) -> RuleTally {
        let summary = self.engine.summary();
        summary.rules.into_iter().find(|tally| tally.name == rule).expect("the rule is there")
    }

    /// Matched, fired, effective.
    pub(crate) fn counts(&self, rule: &str) -> (u64, u64, u64) {
        let tally = self.tally(rule);
        (tally.matched, tally.fired, tally.effective)
    }

    pub(crate) fn gates(&self) -> Vec<GateEntry> {
        self.engine.summary().gates
    }

    pub(crate) fn opened(&self) -> Vec<Opened> {
        self.gates().into_iter().map(|gate| gate.opened).collect()
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &PointEntry> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Point(point) => Some(point),
            Entry::Decision(_)
            | Entry::Gate(_)
            | Entry::Session(_)
            | Entry::Note(_)
            | Entry::Disconnect(_)
            | Entry::Finding(_)
            | Entry::Expectation(_) => None,
        })
    }

    pub(crate) fn decisions(&self, key: &str) -> impl Iterator<Item = &DecisionEntry> {
        self.entries.iter().filter_map(move |entry| match entry {
            Entry::Decision(decision) if decision.key == key => Some(decision),
            _ => None,
        })
    }

    pub(crate) fn point(&self, key: &str) -> &PointEntry {
        self.points().find(|point| point.key == key).unwrap_or_else(|| {
            let keys: Vec<_> = self.points().map(|point| &point.key).collect();
            panic!("no point {key} in {keys:?}")
        })
    }
}
