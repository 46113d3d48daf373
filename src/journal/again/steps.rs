//! What happened outside the engine, read from the points of a journal and put in order.
//!
//! The one rule: a decision is not among it; of an entry that tells one only its time counts.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::event::Moment;
use crate::engine::record::{DisconnectEntry, Entry, PointEntry};

/// Something that happened outside the engine, at its place in the sequence.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Arrived(&'a PointEntry),
    Left(&'a PointEntry),
    /// A client's connection went.
    Gone(&'a DisconnectEntry),
    /// An entry has this time; it may have been time itself that brought it about.
    Noted(u64),
    /// A wait of this point was over; when is for the engine to know.
    Due(&'a PointEntry),
}

/// Which way something goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Up,
    Down,
}

/// The steps of a run, each at its place in the sequence.
pub(super) fn steps<'a>(entries: &[&'a Entry]) -> BTreeMap<u64, Step<'a>> {
    let mut steps = BTreeMap::new();
    let points = || entries.iter().filter_map(|entry| if let Entry::Point(point) = entry { Some(point) } else { None });
    for point in points() {
        // An end that a cut has made did not arrive, nor did what a rule made.
        if point.maker.is_none() && (point.point != "end" || point.ending.is_some()) {
            steps.insert(point.seq, Step::Arrived(point));
        }
        steps.extend(point.left_seq.map(|seq| (seq, Step::Left(point))));
    }
    for entry in entries {
        match entry {
            Entry::Gate(gate) => _ = steps.entry(gate.seq).or_insert(Step::Noted(gate.at)),
            Entry::Decision(made) => _ = steps.entry(made.seq).or_insert(Step::Noted(made.at)),
            Entry::Disconnect(gone) => _ = steps.insert(gone.seq, Step::Gone(gone)),
            Entry::Point(_) | Entry::Session(_) | Entry::Note(_) | Entry::Finding(_) | Entry::Expectation(_) => {}
        }
    }
    for point in points() {
        point.by.map(|by| steps.entry(by).or_insert(Step::Due(point)));
    }
    steps
}

impl Step<'_> {
    /// When it happened, where the journal says so.
    pub(super) fn time(self) -> Option<Moment> {
        let micros = match self {
            Self::Arrived(point) => point.arrived,
            Self::Left(point) => point.left?,
            Self::Gone(gone) => gone.at,
            Self::Noted(at) => at,
            Self::Due(_) => return None,
        };
        Some(Moment(Duration::from_micros(micros)))
    }
}

/// Where a point left.
pub(super) fn leg(point: &PointEntry) -> (&str, Way) {
    let on = point.left_on.as_deref().unwrap_or_else(|| exchange(&point.key));
    (on, if point.dir == "c2s" { Way::Up } else { Way::Down })
}

/// The session and the exchange of a key.
pub(super) fn exchange(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(exchange, _)| exchange)
}

/// The blocks that came in one piece with this one.
pub(super) fn came_beside<'a>(first: &PointEntry, later: &[Step<'a>]) -> Vec<&'a PointEntry> {
    let mut blocks = Vec::new();
    for step in later {
        match step {
            Step::Arrived(it)
                if it.point == "block" && it.arrived == first.arrived && exchange(&it.key) == exchange(&first.key) =>
            {
                blocks.push(*it);
            }
            Step::Noted(_) | Step::Due(_) => {}
            Step::Arrived(_) | Step::Left(_) | Step::Gone(_) => break,
        }
    }
    blocks
}
