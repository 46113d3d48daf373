//! A journal as one JSON document: what a timeline shows, event by event, and the lines it was made from.
//!
//! The one rule: its form is published (docs/report.schema.json) and only grows; readers skip what they do not know.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parts::Parts;
use super::timeline::labels::exchange_of;
use super::timeline::lanes::{Arrow, Mark, NO_BREAK, Row};
use super::timeline::rows::rows;
use crate::engine::record::{DecisionEntry, GateEntry, PointEntry, SessionEntry};
use crate::journal::{Footer, Header, Line, VerdictLine};

/// The version of the document's form.
const VERSION: u32 = 1;

/// A report: what the timeline of a journal shows, and the lines it was made from (docs/journal.md). Skip fields you do not
/// know. Times are microseconds since the run began.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Report<'a> {
    /// The version of this form: it changes when a field changes its meaning.
    report: u32,
    /// The journal's first line.
    run: Option<&'a Header>,
    /// What the run amounted to; null: it had no verdict.
    verdict: Option<&'a VerdictLine>,
    /// The journal's last line; null: the run did not end by itself, or goes on.
    closed: Option<&'a Footer>,
    /// The sessions whose initialize was answered.
    sessions: Vec<&'a SessionEntry>,
    /// The exchanges that events are on, in the order of their first event.
    streams: Vec<Stream>,
    /// The rows of the timeline: what is earlier in the list happened before.
    events: Vec<Event>,
    /// The journal's points, in order of arrival.
    points: Vec<&'a PointEntry>,
    /// What rules decided about the points that they select.
    decisions: Vec<&'a DecisionEntry>,
    /// The holds, windows and moves that came to their end.
    gates: Vec<&'a GateEntry>,
}

/// An exchange, as a stream that events are on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stream {
    /// Session and exchange, as the keys of its points begin.
    key: String,
    /// Its name, as the timeline has it.
    name: String,
    /// The kind of stream: post, get, resume, listen, legacy, delete, other.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Its session's ordinal.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
}

/// A row of the timeline: a point where it came, where it left, or both; a note; or that a session began.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Event {
    /// Its place in the run's one sequence.
    seq: u64,
    /// When.
    at: u64,
    /// Its stream, by the place among `streams` from 0; absent: it is on none.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<usize>,
    /// The `seq` of its point among `points`; absent: it is of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<u64>,
    /// Which way something went between client and proxy, `c2s` or `s2c`; absent: nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'static str>,
    /// What became of it at the proxy: `passed`, `held`, `stopped`, or `made` there by a rule.
    proxy: &'static str,
    /// Which way something went between proxy and server, `c2s` or `s2c`; absent: nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'static str>,
    /// What crossed, in words.
    text: String,
    /// What rules did to it, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<String>,
}

/// Writes a journal's lines as one JSON document, in one line.
#[must_use]
pub fn report(lines: &[Line]) -> String {
    let parts = Parts::of(lines);
    let points = parts.points();
    let rows = rows(&parts.entries);
    let streams = streams(&rows, &points);
    let places = streams.iter().enumerate().map(|(place, stream)| (stream.key.clone(), place)).collect();
    let report = Report {
        report: VERSION,
        run: parts.run,
        verdict: parts.verdict,
        closed: parts.closed,
        sessions: parts.sessions(),
        events: rows.into_iter().map(|row| event(row, &places)).collect(),
        streams,
        points,
        decisions: parts.decisions(),
        gates: parts.gates(),
    };
    serde_json::to_string(&report).expect("it has no map whose keys are not text") + "\n"
}

/// The streams that rows are on, in the order of their first.
fn streams(rows: &[Row], points: &[&PointEntry]) -> Vec<Stream> {
    let mut known: BTreeMap<&str, &PointEntry> = BTreeMap::new();
    for point in points {
        known.entry(exchange_of(&point.key)).or_insert(point);
    }
    let mut streams: Vec<Stream> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for row in rows {
        let Some(key) = row.stream.as_ref().filter(|key| seen.insert(key.as_str())) else { continue };
        let point = known.get(key.as_str());
        streams.push(Stream {
            key: key.clone(),
            name: row.label.clone(),
            kind: point.and_then(|point| point.stream.clone()),
            session: point.and_then(|point| point.session),
        });
    }
    streams
}

fn event(row: Row, places: &BTreeMap<String, usize>) -> Event {
    let plain = |text: String| text.replace(NO_BREAK, " ");
    Event {
        seq: row.seq,
        at: row.at,
        stream: row.stream.as_ref().and_then(|key| places.get(key)).copied(),
        point: row.point,
        client: direction(row.client),
        proxy: match row.mark {
            Mark::Lane => "passed",
            Mark::Held => "held",
            Mark::Stopped => "stopped",
            Mark::Made => "made",
        },
        server: direction(row.server),
        text: plain(row.text),
        faults: row.faults.into_iter().map(plain).collect(),
    }
}

fn direction(arrow: Arrow) -> Option<&'static str> {
    match arrow {
        Arrow::None => None,
        Arrow::Right => Some("c2s"),
        Arrow::Left => Some("s2c"),
    }
}

#[cfg(test)]
pub(crate) mod tests;
