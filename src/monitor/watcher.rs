//! The watcher: takes each entry of a run in the order recorded, keeps what became of the client's requests, and asks the
//! monitors.
//!
//! It is told what time it is as the engine is: [`Watcher::next_due`] says when, [`Watcher::tick`] is then called. The
//! one rule: its memory is bounded whatever crosses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::key;
use super::monitors::{Found, MONITORS, Machine, Monitor, World};
use super::quiet::{Quiet, waiting};
use super::request::{Outcome, Request};
use super::requests::Requests;
use crate::engine::bounded::Bounded;
use crate::engine::record::{Entry, FindingEntry, PointEntry, PointFate};

/// How many findings, leaves and points that rules hold are kept.
const KEPT: usize = 1_000;
/// How many sessions, and how many requests that rules have made.
const SESSIONS: usize = 4_096;
/// In what time reconnects are counted, in microseconds, and how many at most.
const MINUTE: u64 = 60_000_000;
const RECENT: usize = 100_000;

/// A client's leaving before its answer had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leave {
    /// The exchange: session / exchange.
    pub key: String,
    /// When the client left, in microseconds since the run began.
    pub at: u64,
    /// When the server's leg was closed for it; none: it was not, or the server had ended before.
    pub seen: Option<u64>,
}

/// What a watched run amounts to.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// The client's requests that are kept, in order of arrival.
    pub requests: Vec<Request>,
    /// How many requests came to each outcome, forgotten ones included.
    pub counts: BTreeMap<Outcome, u64>,
    /// How many requests were forgotten.
    pub forgotten: u64,
    /// What the monitors found, in the order in which they found it.
    pub findings: Vec<FindingEntry>,
    /// How many findings there were beyond those.
    pub more_findings: u64,
    /// How many GETs and resumes there were beyond the first of each session.
    pub reconnects: u64,
    /// The most of them within a minute.
    pub reconnects_a_minute: u64,
    /// When the run ended, in microseconds since it began.
    pub ended: u64,
}

/// Watches a run.
#[derive(Debug)]
pub struct Watcher {
    world: World,
    machines: Vec<(&'static Monitor, Box<dyn Machine>)>,
    quiet: Option<Quiet>,
    findings: Vec<FindingEntry>,
    more_findings: u64,
    leaves: VecDeque<Leave>,
    connections: BTreeSet<u64>,
    /// The sessions that have had a GET.
    streaming: Bounded<u64, ()>,
    reconnects: u64,
    recent: VecDeque<u64>,
    peak: usize,
    now: u64,
}

impl Watcher {
    /// Makes a watcher that has seen nothing yet; with a limit it names requests that are quiet for so long.
    #[must_use]
    pub fn new(quiet: Option<Duration>) -> Self {
        let world = World {
            requests: Requests::default(),
            protocols: Bounded::new(SESSIONS),
            made: Bounded::new(SESSIONS),
            held: BTreeMap::new(),
        };
        Self {
            world,
            machines: MONITORS.iter().map(|monitor| (*monitor, (monitor.make)())).collect(),
            quiet: quiet.map(Quiet::new),
            findings: Vec::new(),
            more_findings: 0,
            leaves: VecDeque::new(),
            connections: BTreeSet::new(),
            streaming: Bounded::new(SESSIONS),
            reconnects: 0,
            recent: VecDeque::new(),
            peak: 0,
            now: 0,
        }
    }

    /// Takes the next entry; returns what the monitors found in it.
    pub fn take(&mut self, entry: &Entry) -> Vec<FindingEntry> {
        match entry {
            Entry::Point(point) => return self.point(point),
            Entry::Decision(made) => {
                self.now = self.now.max(made.at);
                if made.fired && self.world.held.len() < KEPT {
                    self.world.held.insert(made.key.clone(), made.rule.clone());
                }
            }
            Entry::Session(session) => {
                let version = session.protocol.clone().unwrap_or_default();
                self.world.protocols.insert(session.session, version);
            }
            Entry::Disconnect(gone) => {
                self.now = self.now.max(gone.at);
                self.connections.remove(&gone.conn);
                self.world.requests.disconnect(gone);
            }
            Entry::Gate(_) | Entry::Note(_) | Entry::Finding(_) | Entry::Expectation(_) => {}
        }
        Vec::new()
    }

    /// The run is over: every request is settled. Returns what only its end could tell.
    pub fn finish(&mut self, now: Duration) -> Vec<FindingEntry> {
        self.now = self.now.max(micros(now));
        self.world.requests.finish();
        let found = self.machines.iter_mut().map(|(monitor, machine)| (*monitor, machine.finish(&self.world)));
        let found: Vec<_> = found.collect();
        self.keep(found)
    }

    fn point(&mut self, point: &PointEntry) -> Vec<FindingEntry> {
        self.now = self.now.max(point.left.unwrap_or(point.arrived));
        self.world.held.remove(&point.key);
        self.world.requests.take(point);
        match point.point.as_str() {
            "connect" => _ = self.connections.insert(point.conn),
            "leave" => self.leave(point),
            "request" if point.maker.is_none() && matches!(point.stream.as_deref(), Some("get" | "resume")) => {
                self.reconnect(point);
            }
            "block" if point.maker.is_some() => self.made(point),
            _ => {}
        }
        let found = self.machines.iter_mut().map(|(monitor, machine)| (*monitor, machine.see(point, &self.world)));
        let found: Vec<_> = found.filter(|(_, found)| !found.is_empty()).collect();
        if found.is_empty() { Vec::new() } else { self.keep(found) }
    }

    fn keep(&mut self, found: Vec<(&'static Monitor, Vec<Found>)>) -> Vec<FindingEntry> {
        let entries = found.into_iter().flat_map(|(monitor, found)| found.into_iter().map(|it| entry(monitor, it)));
        let entries: Vec<FindingEntry> = entries.collect();
        for entry in &entries {
            if self.findings.len() < KEPT {
                self.findings.push(entry.clone());
            } else {
                self.more_findings += 1;
            }
        }
        entries
    }

    fn leave(&mut self, point: &PointEntry) {
        if self.leaves.len() == KEPT {
            self.leaves.pop_front();
        }
        let seen = point.left.filter(|_| point.fate == PointFate::Passed);
        self.leaves.push_back(Leave { key: key::exchange(&point.key).to_owned(), at: point.arrived, seen });
    }

    /// A GET or a resume, if it is not the first of its session.
    fn reconnect(&mut self, point: &PointEntry) {
        let session = point.session.unwrap_or(0);
        if self.streaming.insert_new(session) {
            return;
        }
        self.reconnects += 1;
        self.recent.push_back(point.arrived);
        let stale = |first: &u64| first.saturating_add(MINUTE) < point.arrived;
        while self.recent.front().is_some_and(stale) || self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        self.peak = self.peak.max(self.recent.len());
    }

    /// A rule has made a server's request.
    fn made(&mut self, point: &PointEntry) {
        for id in point.rpc.iter().filter(|rpc| rpc.kind == "request").filter_map(|rpc| rpc.id.clone()) {
            self.world.made.insert((point.session.unwrap_or(0), id), ());
        }
    }
}

// === What is known ===

impl Watcher {
    /// The client's requests that are kept, in order of arrival. `Withheld` is known when the run has finished.
    pub fn requests(&self) -> impl DoubleEndedIterator<Item = &Request> {
        self.world.requests.all()
    }

    /// What the monitors found so far.
    #[must_use]
    pub fn findings(&self) -> &[FindingEntry] {
        &self.findings
    }

    /// How many client connections are open.
    #[must_use]
    pub fn connections_open(&self) -> usize {
        self.connections.len()
    }

    /// The clients' leavings, the last thousand.
    pub fn leaves(&self) -> impl Iterator<Item = &Leave> {
        self.leaves.iter()
    }

    /// The requests for which a client waits, a line each; and those that a rule keeps from the server.
    #[must_use]
    pub fn open_requests(&self, now: Duration) -> Vec<String> {
        let now = micros(now);
        let open = self.requests().filter(|request| request.outcome == Outcome::Open).map(|request| {
            let rule = self.holder(request).map(|rule| format!(", held by {rule}")).unwrap_or_default();
            format!("{}{rule}: {}", request.words(), waiting(request, now))
        });
        let unsent = self.world.held.iter().filter(|(point, _)| key::place(point).starts_with("request#"));
        let unsent = unsent.map(|(point, rule)| format!("{}: not sent yet, held by {rule}", key::exchange(point)));
        open.chain(unsent).collect()
    }

    /// What it all amounts to.
    #[must_use]
    pub fn watched(&self) -> Watched {
        Watched {
            requests: self.requests().cloned().collect(),
            counts: self.world.requests.counts(),
            forgotten: self.world.requests.forgotten(),
            findings: self.findings.clone(),
            more_findings: self.more_findings,
            reconnects: self.reconnects,
            reconnects_a_minute: self.peak as u64,
            ended: self.now,
        }
    }

    /// The rule that keeps something of a request from moving on.
    fn holder<'a>(&'a self, request: &'a Request) -> Option<&'a str> {
        holder(&self.world.held, request)
    }
}

// === Time ===

impl Watcher {
    /// When it wants to be told the time, if nothing happens before; since the run began.
    pub fn next_due(&mut self) -> Option<Duration> {
        let due = self.quiet.as_ref()?.next_due(&mut self.world.requests)?;
        Some(Duration::from_micros(due))
    }

    /// It is so late: names the requests that are quiet, a line each.
    pub fn tick(&mut self, now: Duration) -> Vec<String> {
        let World { requests, held, .. } = &mut self.world;
        let Some(quiet) = &self.quiet else { return Vec::new() };
        quiet.tick(micros(now), requests, |request| holder(held, request).is_some())
    }
}

fn holder<'a>(held: &'a BTreeMap<String, String>, request: &'a Request) -> Option<&'a str> {
    let of_request = |point: &str| point.strip_prefix(&*request.key).is_some_and(|rest| rest.starts_with('/'));
    let held = held.range(format!("{}/", request.key)..).next().filter(|(point, _)| of_request(point));
    held.map(|(_, rule)| rule.as_str()).or(request.rule.as_deref())
}

fn entry(monitor: &Monitor, found: Found) -> FindingEntry {
    let Found { seq, at, key, mut words, after } = found;
    if !after.is_empty() {
        words = format!("{words} (after {} acted)", after.join(" and "));
    }
    let (name, clause) = (monitor.name.to_owned(), monitor.clause.to_owned());
    FindingEntry { seq, at, monitor: name, key, words, clause, weight: monitor.weight }
}

/// A length of time as the journal has it.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
