//! From a journal's entries to rows: what of a point is drawn where. It draws nothing itself.

use std::collections::{BTreeMap, BTreeSet};

use super::labels::{Labels, exchange_of};
use super::lanes::{Arrow, Mark, NO_BREAK, Row};
use crate::engine::record::{
    DecisionEntry, Entry, GateEntry, NoteEntry, Opened, OwnerEntry, PartyEntry, PointEntry, PointFate, RpcEntry,
    SessionEntry,
};
use crate::engine::rpc::Id;
use crate::proxy::MARKER;
use crate::report::words::span;

/// The rows of these entries, in order.
pub(super) fn rows(entries: &[&Entry]) -> Vec<Row> {
    let journal = Journal::of(entries);
    let mut rows: Vec<Row> =
        journal.points.iter().filter(|point| is_shown(point)).flat_map(|p| journal.point(p)).collect();
    rows.extend(entries.iter().filter_map(|entry| match entry {
        Entry::Note(NoteEntry { seq, at, text }) => Some(aside(*seq, *at, format!("note: {text}"))),
        Entry::Session(session) => Some(aside(session.seq, session.at, parties(session))),
        Entry::Point(_) | Entry::Decision(_) | Entry::Gate(_) => None,
    }));
    rows.sort_by_key(|row| row.seq);
    rows
}

/// The entries by what they are about.
struct Journal<'a> {
    points: Vec<&'a PointEntry>,
    fired: BTreeMap<(&'a str, &'a str), &'a DecisionEntry>,
    gates: BTreeMap<(&'a str, &'a str), &'a GateEntry>,
    /// What was made of the end of an exchange, by its key.
    made: BTreeMap<&'a str, &'a str>,
    /// The exchanges that the proxy answered itself.
    ours: BTreeSet<&'a str>,
    labels: Labels,
    short: BTreeMap<&'a str, &'a str>,
}

impl<'a> Journal<'a> {
    fn of(entries: &[&'a Entry]) -> Self {
        let (mut points, mut fired, mut gates) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for &entry in entries {
            match entry {
                Entry::Point(point) => points.push(point),
                Entry::Decision(made) if made.fired => _ = fired.insert((&*made.key, &*made.rule), made),
                Entry::Gate(gate) => _ = gates.insert((&*gate.key, &*gate.rule), gate),
                Entry::Decision(_) | Entry::Note(_) | Entry::Session(_) => {}
            }
        }
        points.sort_by_key(|point| point.seq);
        let short = short_names(points.iter().flat_map(|point| &point.rules));
        let made = points.iter().filter_map(|point| Some((exchange_of(&point.key), point.made.as_deref()?))).collect();
        let ours = points.iter().filter_map(|point| marker(point).map(|_| exchange_of(&point.key))).collect();
        Self { labels: Labels::of(&points), points, fired, gates, made, ours, short }
    }

    /// A point's row; a second one where it left later than it came, or on another stream.
    fn point(&self, point: &PointEntry) -> Vec<Row> {
        let apart = point.left.is_some() && (point.by != Some(point.seq) || point.left_on.is_some());
        let (first, second) = if apart { (Mark::Held, Arrow::None) } else { (mark(point), onward(point)) };
        let ours = self.ours.contains(exchange_of(&point.key)) && point.dir == "s2c";
        let arriving = if ours { Arrow::None } else { arriving(point) };
        let mut rows = vec![self.row(point, point.seq, point.arrived, arriving, first, second)];
        if let (true, Some(left)) = (apart, point.left) {
            let seq = point.left_seq.or(point.by).unwrap_or(point.seq);
            let mut leaving = self.row(point, seq, left, Arrow::None, Mark::Held, onward(point));
            if let Some(stream) = &point.left_on {
                leaving.label = self.labels.stream(stream);
            }
            rows.push(leaving);
        }
        if let Some(last) = rows.last_mut() {
            last.faults = self.faults(point);
        }
        rows
    }

    fn row(&self, point: &PointEntry, seq: u64, at: u64, from: Arrow, mark: Mark, to: Arrow) -> Row {
        let (client, server) = if point.dir == "c2s" { (from, to) } else { (to, from) };
        let label = match point.stream {
            Some(_) => self.labels.stream(exchange_of(&point.key)),
            None => format!("connection {}", point.conn),
        };
        Row { seq, at, label, client, mark, server, text: describe(point), faults: Vec::new() }
    }

    fn faults(&self, point: &PointEntry) -> Vec<String> {
        point.rules.iter().map(|rule| self.fault(point, rule)).collect()
    }

    /// What a rule did to a point: `hold-get: held 412 ms until end of POST 2 tools/call`. Only its name where it did
    /// that to another point of the exchange.
    fn fault(&self, point: &PointEntry, rule: &str) -> String {
        let about = (&*point.key, rule);
        let name = self.short.get(rule).copied().unwrap_or(rule);
        let Some(what) = self.fired.get(&about).map(|decision| &*decision.what) else { return name.to_owned() };
        let made = self.made.get(exchange_of(&point.key)).filter(|_| what == "cut");
        match (self.gates.get(&about), made) {
            (Some(gate), _) if what == "hold" => format!("{name}: held {}", self.opened(gate)),
            (Some(gate), _) => format!("{name}: {what}, waited {}", self.opened(gate)),
            (None, Some(ending)) => format!("{name}: {what}, {ending}"),
            (None, None) if name == what => name.to_owned(),
            (None, None) => format!("{name}: {what}"),
        }
    }

    fn opened(&self, gate: &GateEntry) -> String {
        let held = span(gate.held);
        match &gate.opened {
            Opened::By(what) => format!("{held} until {}", unbroken(&self.labels.point(what))),
            Opened::Already(what) => format!("for nothing: there had been {}", unbroken(&self.labels.point(what))),
            Opened::Limit => format!("{held}, let go at its limit"),
            Opened::Vacuous => format!("{held}, let go at its limit: nothing under way could open it"),
            Opened::Left => format!("{held} until the peer left"),
            Opened::RunEnded => format!("{held} until the run ended"),
        }
    }
}

/// A rule's name without its profile, where that is enough to tell it from the others.
fn short_names<'a>(rules: impl Iterator<Item = &'a String>) -> BTreeMap<&'a str, &'a str> {
    let all: BTreeSet<&str> = rules.map(String::as_str).collect();
    let last = |rule: &'a str| rule.rsplit_once('/').map_or(rule, |(_, name)| name);
    let alone = |name: &str| all.iter().filter(|rule| last(rule) == name).count() == 1;
    all.iter().map(|&rule| (rule, last(rule))).filter(|(_, name)| alone(name)).collect()
}

/// Why the proxy made this head itself, if it did.
fn marker(point: &PointEntry) -> Option<&str> {
    point.headers.iter().find(|(name, _)| name == MARKER.as_str()).map(|(_, word)| word.as_str())
}

/// A connection and a request's head say nothing that the request does not, unless a rule acted there.
fn is_shown(point: &PointEntry) -> bool {
    !point.rules.is_empty() || !matches!(point.point.as_str(), "connect" | "request-head")
}

// === What is drawn ===

fn forward(point: &PointEntry) -> Arrow {
    if point.dir == "c2s" { Arrow::Right } else { Arrow::Left }
}

/// An end that the proxy made came from nowhere.
fn arriving(point: &PointEntry) -> Arrow {
    let made_here = point.point == "end" && point.ending.is_none();
    if made_here { Arrow::None } else { forward(point) }
}

fn onward(point: &PointEntry) -> Arrow {
    let silent = point.made.as_deref() == Some("stall");
    let passes = matches!(point.fate, PointFate::Passed | PointFate::Moved) || (point.made.is_some() && !silent);
    if passes { forward(point) } else { Arrow::None }
}

fn mark(point: &PointEntry) -> Mark {
    match point.fate {
        _ if point.made.is_some() => Mark::Stopped,
        PointFate::Passed | PointFate::Ended | PointFate::Moved | PointFate::Gone => Mark::Lane,
        PointFate::Cut | PointFate::Dropped => Mark::Stopped,
        PointFate::Withheld => Mark::Held,
    }
}

// === What is said ===

fn aside(seq: u64, at: u64, text: String) -> Row {
    let (client, mark, server) = (Arrow::None, Mark::Lane, Arrow::None);
    Row { seq, at, label: String::new(), client, mark, server, text, faults: Vec::new() }
}

fn parties(session: &SessionEntry) -> String {
    let name = |party: &Option<PartyEntry>| match party {
        Some(PartyEntry { name, version }) => format!("{name} {version}"),
        None => "unnamed".to_owned(),
    };
    let protocol = session.protocol.as_deref().map(|version| format!(", {version}")).unwrap_or_default();
    format!("session {}: {} and {}{protocol}", session.session, name(&session.client), name(&session.server))
}

fn describe(point: &PointEntry) -> String {
    let what = match point.point.as_str() {
        "head" => head(point),
        "end" | "leave" => ending(point),
        "block" if point.rpc.is_empty() => block(point),
        _ if point.rpc.is_empty() => point.http.clone().unwrap_or_else(|| point.point.clone()),
        _ => messages(point),
    };
    let fate = match point.fate {
        PointFate::Gone => " (the other side was gone)",
        PointFate::Withheld => " (never let go)",
        PointFate::Dropped => " (dropped)",
        PointFate::Passed | PointFate::Ended | PointFate::Cut | PointFate::Moved => "",
    };
    what + fate
}

fn head(point: &PointEntry) -> String {
    let status = point.status.map_or_else(|| "head".to_owned(), |status| status.to_string());
    match (marker(point), point.headers.iter().find(|(name, _)| name == "content-type")) {
        (Some(why), _) => format!("{status} by the proxy, not injected: {why}"),
        (None, Some((_, media))) => format!("{status} {media}"),
        (None, None) => status,
    }
}

fn ending(point: &PointEntry) -> String {
    let what = if point.point == "leave" { "the client leaves" } else { "end" };
    match (point.ending.as_deref(), point.made.as_deref()) {
        (Some(ending), Some(made)) => format!("{what}: {ending}, made {made}"),
        (None, Some(made)) => format!("{what}: {made}, by a rule"),
        (Some(ending), None) => format!("{what}: {ending}"),
        (None, None) => what.to_owned(),
    }
}

fn block(point: &PointEntry) -> String {
    let kind = point.block.as_deref().unwrap_or("block");
    match &point.event_id {
        Some(id) => format!("{kind}, event id {id}"),
        None => kind.to_owned(),
    }
}

fn messages(point: &PointEntry) -> String {
    let messages = point.rpc.iter().map(message).collect::<Vec<_>>().join("; ");
    match &point.owner {
        Some(owner) if !is_own(point) => format!("{messages}, {}", owned(owner)),
        _ => messages,
    }
}

/// Whether the message is its owner, or its owner's answer: then naming the owner says nothing.
fn is_own(point: &PointEntry) -> bool {
    let from_client = point.dir == "c2s";
    point.rpc.iter().any(|rpc| match rpc.kind.as_str() {
        "request" => from_client,
        "response" | "error" => !from_client,
        _ => false,
    })
}

fn message(rpc: &RpcEntry) -> String {
    let method = rpc.method.as_deref().unwrap_or("(unknown)");
    let id = rpc.id.as_ref().map(|id| format!(" id {}", text(id))).unwrap_or_default();
    let name = rpc.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let kind = match rpc.kind.as_str() {
        "response" => "answer to",
        "error" => "error to",
        kind => kind,
    };
    format!("{kind} {method}{name}{id}")
}

fn owned(owner: &OwnerEntry) -> String {
    unbroken(&format!("owner {} id {}", owner.method, text(&owner.id)))
}

/// In one piece, so that a narrow column does not tear it.
fn unbroken(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// An id as JSON has it: 1 is not "1".
fn text(id: &Id) -> String {
    match id {
        Id::Number(number) => number.clone(),
        Id::Text(text) => format!("\"{text}\""),
    }
}
