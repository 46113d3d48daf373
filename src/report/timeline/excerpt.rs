//! The few rows of a run in which its rules acted, for a reader who has not asked for all of it.
//!
//! It leaves out rows, and what the whole timeline says again; never what a rule did. Rows fit 80 columns.

use std::collections::BTreeSet;

use super::labels::exchange_of;
use super::lanes::draw;
use super::rows::rows;
use crate::engine::record::{Entry, Opened, PointEntry};

/// How wide an excerpt is.
const COLUMNS: usize = 80;

/// The columns of a timeline's row that hold tens of seconds: an excerpt is of a run that is over sooner.
const SPARED: usize = 2;

/// What stands before a message's id.
const ID: &str = " id\u{a0}";

/// The line above the rows.
const HEADING: &str = "  time  stream                client  proxy  server\n";

/// Draws the points at which rules acted, what opened their gates, the requests that began those exchanges, and what
/// the client cancelled.
#[must_use]
pub fn excerpt(entries: &[Entry]) -> String {
    let kept = Matters::of(entries).points(entries);
    let mut drawn = String::new();
    for mut row in rows(&entries.iter().collect::<Vec<_>>()) {
        if !row.point.is_some_and(|point| kept.contains(&point)) {
            continue;
        }
        // On the stream of a call it is clear whose a message is; among so few it is clear which one, too.
        row.text.truncate(row.text.find(", owner").unwrap_or(row.text.len()));
        row.text = without_ordinal(&row.text).to_owned();
        // The id of an answer is that of its stream's name.
        if row.text.contains("answer to ") {
            row.text.truncate(row.text.find(ID).unwrap_or(row.text.len()));
        }
        draw(&row, COLUMNS + SPARED, &mut drawn);
    }
    let shown = drawn.lines().map(|line| format!("{}\n", line.chars().skip(SPARED).collect::<String>()));
    HEADING.to_owned() + &shown.collect::<String>()
}

fn without_ordinal(text: &str) -> &str {
    text.strip_prefix('#').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, message)| message)
}

/// What an excerpt is about.
struct Matters<'a> {
    points: BTreeSet<&'a str>,
    exchanges: BTreeSet<&'a str>,
}

impl<'a> Matters<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let points = entries.iter().filter_map(|entry| match entry {
            Entry::Decision(decision) if decision.fired => Some(&*decision.key),
            Entry::Gate(gate) => match &gate.opened {
                Opened::By(key) | Opened::Already(key) => Some(&**key),
                Opened::Limit | Opened::Vacuous | Opened::Lost | Opened::Full | Opened::Left | Opened::RunEnded => None,
            },
            Entry::Point(_)
            | Entry::Decision(_)
            | Entry::Note(_)
            | Entry::Session(_)
            | Entry::Disconnect(_)
            | Entry::Finding(_)
            | Entry::Expectation(_) => None,
        });
        let points: BTreeSet<&str> = points.collect();
        Self { exchanges: points.iter().map(|key| exchange_of(key)).collect(), points }
    }

    /// The places of arrival of the points that matter.
    fn points(&self, entries: &[Entry]) -> BTreeSet<u64> {
        let points = entries.iter().filter_map(|entry| match entry {
            Entry::Point(point) if self.keeps(point) => Some(point.seq),
            Entry::Point(_)
            | Entry::Decision(_)
            | Entry::Gate(_)
            | Entry::Note(_)
            | Entry::Session(_)
            | Entry::Disconnect(_)
            | Entry::Finding(_)
            | Entry::Expectation(_) => None,
        });
        points.collect()
    }

    fn keeps(&self, point: &PointEntry) -> bool {
        self.points.contains(&*point.key) || self.begins(point) || cancels(point)
    }

    fn begins(&self, point: &PointEntry) -> bool {
        point.point == "request" && self.exchanges.contains(exchange_of(&point.key))
    }
}

fn cancels(point: &PointEntry) -> bool {
    let cancelled = |method: &String| method == "notifications/cancelled";
    point.point == "request" && point.rpc.iter().any(|message| message.method.as_ref().is_some_and(cancelled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::{DecisionEntry, GateEntry, OwnerEntry, RpcEntry};
    use crate::engine::rpc::Id;

    fn point(seq: u64, key: &str, method: &str) -> Entry {
        let point = key.rsplit('/').next().and_then(|last| last.split('#').next()).unwrap_or_default();
        let message = RpcEntry { kind: "request".into(), method: Some(method.into()), ..RpcEntry::default() };
        let owner = OwnerEntry { id: Id::Number("7".into()), method: "tools/call".into(), name: None };
        Entry::Point(PointEntry {
            seq,
            arrived: seq,
            left: Some(seq),
            by: Some(seq),
            left_seq: Some(seq),
            key: key.into(),
            point: point.into(),
            stream: Some("post".into()),
            dir: "c2s".into(),
            rpc: vec![message],
            owner: (point == "block").then_some(owner),
            ..PointEntry::default()
        })
    }

    fn fired(seq: u64, key: &str, fired: bool) -> Entry {
        let (rule, what) = ("p/late".to_owned(), "hold".to_owned());
        Entry::Decision(DecisionEntry { seq, at: 0, rule, key: key.into(), count: 1, fired, what, draws: Vec::new() })
    }

    /// A whole timeline would show all six points; one that looked at decisions only would not show what opened the
    /// gate.
    #[test]
    fn only_what_a_rule_did_what_opened_its_gate_and_how_those_exchanges_began_is_shown() {
        let opened = Opened::By("s1/post:2/request#1".to_owned());
        let key = "s1/post:1/block#1".to_owned();
        let text = excerpt(&[
            point(1, "s1/post:0/request#1", "initialize"),
            point(2, "s1/post:1/request#1", "tools/call"),
            fired(3, "s1/post:0/request#1", false),
            point(3, "s1/post:1/block#1", "elicitation/create"),
            fired(3, "s1/post:1/block#1", true),
            point(4, "s1/post:2/request#1", "ping"),
            Entry::Gate(GateEntry {
                seq: 4,
                at: 4,
                rule: "p/late".into(),
                key,
                opened,
                held: 1,
                undelivered: 0,
                overtake: false,
            }),
            point(5, "s1/post:3/request#1", "tools/list"),
            point(6, "s1/post:4/request#1", "notifications/cancelled"),
        ]);
        let shown: Vec<_> = text.lines().filter_map(|line| line.split_once("request ").map(|(_, what)| what)).collect();
        assert_eq!(shown, ["tools/call", "elicitation/create", "ping", "notifications/cancelled"], "{text}");
    }
}
