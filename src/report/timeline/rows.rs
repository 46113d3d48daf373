//! From a journal's entries to rows: what of a point is drawn where. It draws nothing itself.

use std::collections::{BTreeMap, BTreeSet};

use super::describe::{describe, marker, unbroken};
use super::doing::{done, done_since, making};
use super::labels::{Labels, exchange_of};
use super::lanes::{Arrow, Mark, Row};
use super::order::{Order, behind, comes_from_nowhere};
use crate::engine::record::{
    DecisionEntry, Entry, ExpectationEntry, GateEntry, NoteEntry, Opened, PartyEntry, PointEntry, PointFate,
    SessionEntry,
};
use crate::report::words::span;

/// The rows of these entries, in order.
pub(in crate::report) fn rows(entries: &[&Entry]) -> Vec<Row> {
    let journal = Journal::of(entries);
    let mut rows: Vec<Row> =
        journal.points.iter().filter(|point| is_shown(point)).flat_map(|p| journal.point(p)).collect();
    rows.extend(journal.points.iter().filter_map(|point| journal.lost(point)));
    rows.extend(entries.iter().filter_map(|entry| match entry {
        Entry::Note(NoteEntry { seq, at, text }) => Some(aside(*seq, *at, format!("note: {text}"))),
        Entry::Session(session) => Some(aside(session.seq, session.at, parties(session))),
        Entry::Expectation(failed) => Some(aside(failed.seq, failed.at, journal.not_met(failed))),
        Entry::Finding(found) => Some(aside(found.seq, found.at, format!("{}: {}", found.monitor, found.words))),
        Entry::Point(_) | Entry::Decision(_) | Entry::Gate(_) | Entry::Disconnect(_) => None,
    }));
    rows.sort_by_key(|row| row.seq);
    rows
}

/// The entries by what they are about.
struct Journal<'a> {
    points: Vec<&'a PointEntry>,
    fired: BTreeMap<(&'a str, &'a str), &'a DecisionEntry>,
    /// What each rule does, by the word of its fault.
    does: BTreeMap<&'a str, &'a str>,
    gates: BTreeMap<(&'a str, &'a str), &'a GateEntry>,
    /// The ends that were made something else, by the key of the exchange.
    made: BTreeMap<&'a str, &'a PointEntry>,
    /// The exchanges that the proxy answered itself.
    ours: BTreeSet<&'a str>,
    /// The clients' leaving, by the key of the exchange.
    leaves: BTreeMap<&'a str, &'a PointEntry>,
    order: Order,
    labels: Labels,
    short: BTreeMap<&'a str, &'a str>,
}

impl<'a> Journal<'a> {
    fn of(entries: &[&'a Entry]) -> Self {
        let (mut points, mut fired, mut gates) = (Vec::new(), BTreeMap::<_, &DecisionEntry>::new(), BTreeMap::new());
        for &entry in entries {
            match entry {
                Entry::Point(point) => points.push(point),
                Entry::Decision(made) if made.fired => _ = fired.insert((&*made.key, &*made.rule), made),
                Entry::Gate(gate) => _ = gates.insert((&*gate.key, &*gate.rule), gate),
                Entry::Decision(_)
                | Entry::Note(_)
                | Entry::Session(_)
                | Entry::Disconnect(_)
                | Entry::Finding(_)
                | Entry::Expectation(_) => {}
            }
        }
        points.sort_by_key(|point| point.seq);
        let short = short_names(points.iter().flat_map(|point| point.rules.iter().chain(&point.maker)));
        let does = fired.values().map(|made| (&*made.rule, &*made.what)).collect();
        let made = points.iter().filter(|point| point.made.is_some()).map(|&point| (exchange_of(&point.key), point));
        let made = made.collect();
        let ours = points.iter().filter_map(|point| marker(point).map(|_| exchange_of(&point.key))).collect();
        let leaves =
            points.iter().filter(|point| point.point == "leave").map(|&point| (exchange_of(&point.key), point));
        let leaves = leaves.collect();
        let (labels, order) = (Labels::of(&points), Order::of(&points));
        Self { points, fired, does, gates, made, ours, leaves, order, labels, short }
    }

    /// A point's row; a second one where it left later than it came, or on another stream.
    fn point(&self, point: &PointEntry) -> Vec<Row> {
        if self.is_lost(point) {
            let mut waiting = self.arrival(point, Mark::Held, Arrow::None);
            waiting.text.push_str(&self.wait(point));
            return vec![waiting];
        }
        if !self.order.is_apart(point) {
            let mut row = self.arrival(point, mark(point), onward(point));
            if let (true, Some(left), Some(seq)) = (comes_from_nowhere(point), point.left, point.left_seq) {
                (row.at, row.seq) = (left, seq);
            }
            row.text.push_str(self.fate(point));
            row.faults = self.faults(point);
            return vec![row];
        }
        let wait = self.wait(point);
        let held = point.by != Some(point.seq) || point.left_on.is_some() || !wait.is_empty();
        let at_proxy = if held { Mark::Held } else { Mark::Lane };
        let mut coming = self.arrival(point, at_proxy, Arrow::None);
        coming.text.push_str(&wait);
        let seq = point.left_seq.or(point.by).unwrap_or(point.seq);
        let leaves_as = if point.made.is_some() { Mark::Stopped } else { at_proxy };
        let mut leaving =
            self.row(point, seq, point.left.unwrap_or(point.arrived), Arrow::None, leaves_as, onward(point));
        if let Some(stream) = &point.left_on {
            leaving.label = self.labels.stream(stream);
            leaving.stream = Some(stream.clone());
        }
        leaving.faults = self.faults(point);
        vec![coming, leaving]
    }

    /// Where something that waited at the proxy turned out to wait for ever: its client left.
    fn lost(&self, point: &PointEntry) -> Option<Row> {
        let leave = self.leaves.get(exchange_of(&point.key)).filter(|_| self.is_lost(point))?;
        let mut row = self.row(point, leave.seq, leave.arrived, Arrow::None, Mark::Stopped, Arrow::None);
        row.text.push_str(" (never delivered: the client left)");
        row.faults = self.faults(point);
        Some(row)
    }

    fn is_lost(&self, point: &PointEntry) -> bool {
        let leave = self.leaves.get(exchange_of(&point.key));
        point.fate == PointFate::Gone && leave.is_some_and(|leave| leave.seq > point.seq)
    }

    /// What a point waits behind, if no rule of its own holds it.
    fn wait(&self, point: &PointEntry) -> String {
        let own = point.left.is_some() && point.by != Some(point.seq) || !point.rules.is_empty();
        let behind = if own { None } else { behind(&self.points, point) };
        behind.map(|ahead| format!(" ({})", unbroken(&format!("waits behind {ahead}")))).unwrap_or_default()
    }

    fn fate(&self, point: &PointEntry) -> &'static str {
        let exchange = exchange_of(&point.key);
        match point.fate {
            PointFate::Gone if point.dir == "c2s" => " (no server took it)",
            PointFate::Gone if self.leaves.contains_key(exchange) => " (never delivered: the client had left)",
            PointFate::Gone if self.made.contains_key(exchange) => " (never delivered: the stream had been cut)",
            PointFate::Gone => " (never delivered: the client was gone)",
            PointFate::Withheld => " (never let go)",
            PointFate::Dropped => " (dropped)",
            PointFate::Passed | PointFate::Ended | PointFate::Cut | PointFate::Moved => "",
        }
    }

    fn arrival(&self, point: &PointEntry, mark: Mark, onward: Arrow) -> Row {
        let ours = self.ours.contains(exchange_of(&point.key)) && point.dir == "s2c";
        let arriving = if ours { Arrow::None } else { arriving(point) };
        self.row(point, point.seq, point.arrived, arriving, mark, onward)
    }

    fn row(&self, point: &PointEntry, seq: u64, at: u64, from: Arrow, mark: Mark, to: Arrow) -> Row {
        let (client, server) = if point.dir == "c2s" { (from, to) } else { (to, from) };
        let label = match point.stream {
            Some(_) => self.labels.stream(exchange_of(&point.key)),
            None => format!("connection {}", point.conn),
        };
        let stream = point.stream.as_ref().map(|_| exchange_of(&point.key).to_owned());
        let text = describe(point);
        Row { seq, at, point: Some(point.seq), stream, label, client, mark, server, text, faults: Vec::new() }
    }

    fn faults(&self, point: &PointEntry) -> Vec<String> {
        let made = point.maker.iter().map(|maker| {
            let how = making(point, self.does.get(&**maker).copied());
            format!("{}: {how}", self.short.get(&**maker).copied().unwrap_or(maker))
        });
        made.chain(point.rules.iter().map(|rule| self.fault(point, rule))).collect()
    }

    /// What a rule did to a point: `hold-get: held 412 ms until end of POST 2 tools/call`. Only its name where it did
    /// that to another point of the exchange.
    fn fault(&self, point: &PointEntry, rule: &str) -> String {
        let about = (&*point.key, rule);
        let name = self.short.get(rule).copied().unwrap_or(rule);
        let Some(what) = self.fired.get(&about).map(|decision| &*decision.what) else {
            let since = done_since(point, self.does.get(rule).copied());
            return since.map_or_else(|| name.to_owned(), |done| format!("{name}: {done}"));
        };
        let made = self.made.get(exchange_of(&point.key)).filter(|_| what == "cut");
        if let Some(end) = made.filter(|_| point.fate != PointFate::Cut && point.point != "end") {
            let later = span(end.left.unwrap_or(end.arrived).saturating_sub(point.left.unwrap_or(point.arrived)));
            return format!("{name}: armed, {} {later} later", end.made.as_deref().unwrap_or("end"));
        }
        let made = made.and_then(|end| end.made.as_deref());
        match (self.gates.get(&about), made) {
            (Some(gate), _) if what == "hold" => format!("{name}: held {}", self.opened(gate)),
            (Some(gate), _) => format!("{name}: {what}, waited {}", self.opened(gate)),
            (None, Some(ending)) => format!("{name}: {what}, {ending}"),
            (None, None) => match done(point, what) {
                done if name == done => done,
                done => format!("{name}: {done}"),
            },
        }
    }

    fn not_met(&self, failed: &ExpectationEntry) -> String {
        let after = failed.after.as_ref().map(|key| format!(", asked after {}", unbroken(&self.labels.point(key))));
        let what = failed.what.as_ref().map_or_else(|| format!("saw {}", failed.seen), Clone::clone);
        format!("not met: {}: {what}{}", failed.name, after.unwrap_or_default())
    }

    fn opened(&self, gate: &GateEntry) -> String {
        let held = span(gate.held);
        match &gate.opened {
            Opened::By(what) => format!("{held} until {}", unbroken(&self.labels.point(what))),
            Opened::Already(what) => format!("for nothing: there had been {}", unbroken(&self.labels.point(what))),
            Opened::Limit => format!("{held}, let go at its limit"),
            Opened::Vacuous => format!("{held}, let go at its limit: nothing under way could open it"),
            Opened::Lost => format!("{held}, let go: what it waited for could no longer come"),
            Opened::Full => format!("{held}, let go because no more of the answer could be kept"),
            Opened::Left => format!("{held} until the client left"),
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

/// A connection and a request's head say nothing that the request does not, unless a rule acted there.
fn is_shown(point: &PointEntry) -> bool {
    !point.rules.is_empty() || !matches!(point.point.as_str(), "connect" | "request-head")
}

// === What is drawn ===

fn forward(point: &PointEntry) -> Arrow {
    if point.dir == "c2s" { Arrow::Right } else { Arrow::Left }
}

/// An end that the proxy made came from nowhere, and so did what a rule made.
fn arriving(point: &PointEntry) -> Arrow {
    if comes_from_nowhere(point) { Arrow::None } else { forward(point) }
}

fn onward(point: &PointEntry) -> Arrow {
    let silent = point.made.as_deref() == Some("stall");
    let passes = matches!(point.fate, PointFate::Passed | PointFate::Moved) || (point.made.is_some() && !silent);
    if passes { forward(point) } else { Arrow::None }
}

fn mark(point: &PointEntry) -> Mark {
    match point.fate {
        _ if point.made.is_some() => Mark::Stopped,
        PointFate::Passed | PointFate::Moved if point.maker.is_some() => Mark::Made,
        PointFate::Passed | PointFate::Ended | PointFate::Moved | PointFate::Gone => Mark::Lane,
        PointFate::Cut | PointFate::Dropped => Mark::Stopped,
        PointFate::Withheld => Mark::Held,
    }
}

// === What is said ===

fn aside(seq: u64, at: u64, text: String) -> Row {
    let (client, mark, server) = (Arrow::None, Mark::Lane, Arrow::None);
    Row { seq, at, point: None, stream: None, label: String::new(), client, mark, server, text, faults: Vec::new() }
}

fn parties(session: &SessionEntry) -> String {
    let name = |party: &Option<PartyEntry>| match party {
        Some(PartyEntry { name, version }) => format!("{name} {version}"),
        None => "unnamed".to_owned(),
    };
    let protocol = session.protocol.as_deref().map(|version| format!(", {version}")).unwrap_or_default();
    format!("session {}: {} and {}{protocol}", session.session, name(&session.client), name(&session.server))
}
