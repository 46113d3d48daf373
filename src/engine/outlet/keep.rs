//! Bytes that are collected before they leave: in blocks of a size, by events, by time.

use std::time::Duration;

use crate::engine::event::Moment;
use crate::engine::selector::At;
use crate::engine::unit::{Lane, Out, Parcel, Point};

/// How long events wait at most for others to leave with: as long as a reorder window (no failure).
const PATIENCE: Duration = Duration::from_secs(1);

/// What is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Of {
    /// So many bytes. After the limit what there is goes, which is a failure, and the rest as it comes.
    Bytes { size: usize, limit: Duration },
    /// So many events: all, or those at which the rule fired.
    Events { count: usize, all: bool },
    /// What comes in so long: from the first event, or the first at which the rule fired.
    Time { time: Duration, all: bool },
}

/// Bytes are collected for a rule.
#[derive(Debug)]
pub(in crate::engine) struct Keep {
    pub(in crate::engine) rule: usize,
    /// The point at which it began.
    pub(in crate::engine) point: Point,
    of: Of,
    /// Whether the head waits with the first of them.
    pub(super) withholds_head: bool,
    /// How many bytes may leave.
    pub(super) credit: usize,
    /// Since when bytes have waited for more.
    pub(super) since: Option<Moment>,
    /// Whether it has ever kept something.
    pub(super) effective: bool,
}

/// What was collected and may leave now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collected {
    pub(super) bytes: usize,
    /// Since when its first byte had waited.
    pub(super) since: Moment,
    /// Whether it is events that leave together.
    pub(super) events: bool,
}

/// What of a queue could leave, did nothing collect it.
#[derive(Debug, Default)]
struct Ready {
    bytes: usize,
    head: bool,
    /// How many bytes stand before the first that is counted, if one is.
    before: Option<usize>,
    /// How many bytes there are to the end of the last that is wanted, if there are so many.
    full: Option<usize>,
}

impl Keep {
    pub(in crate::engine) fn new(rule: usize, point: Point, of: Of, withholds_head: bool) -> Self {
        Self { rule, point, of, withholds_head, credit: 0, since: None, effective: false }
    }

    /// Whether it is the one of this rule.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.rule == other.rule && self.of == other.of
    }

    /// Counts what has come up. If its limit is over, so is it: returns since when bytes have waited.
    pub(super) fn count(&mut self, now: Moment, lane: &Lane) -> Option<Moment> {
        let ready = self.ready(now, lane);
        if matches!(lane.parcels.back(), Some(Parcel { out: Out::End(_), .. })) {
            // Nothing will come behind it.
            (self.credit, self.since, self.withholds_head) = (ready.bytes, None, false);
        } else if self.credit == 0 {
            self.credit = ready.full.or(ready.before).unwrap_or(0);
            if ready.full.is_some() {
                self.since = None;
            } else if ready.before.is_some() || ready.head && self.withholds_head {
                self.since.get_or_insert(now);
            }
        }
        let late = self.due().filter(|due| *due <= now).and(self.since);
        if late.is_some() {
            (self.credit, self.since) = (ready.bytes, None);
        }
        late.filter(|_| matches!(self.of, Of::Bytes { .. }))
    }

    /// What of that which had waited since then may leave now that it was counted.
    pub(super) fn collected(&self, before: (usize, Option<Moment>)) -> Option<Collected> {
        let (credit, Some(since)) = before else { return None };
        let events = !matches!(self.of, Of::Bytes { .. });
        (credit == 0 && self.credit > 0).then_some(Collected { bytes: self.credit, since, events })
    }

    /// Whether the next bytes may leave, and are of events that leave together.
    pub(super) fn goes_on(&self) -> bool {
        self.credit > 0 && !matches!(self.of, Of::Bytes { .. })
    }

    pub(super) fn due(&self) -> Option<Moment> {
        let longest = match self.of {
            Of::Bytes { limit, .. } => limit,
            Of::Events { .. } => PATIENCE,
            Of::Time { time, .. } => time,
        };
        self.since.map(|since| since + longest)
    }

    fn ready(&self, now: Moment, lane: &Lane) -> Ready {
        let (mut ready, mut counted) = (Ready::default(), 0);
        for parcel in &lane.parcels {
            if !parcel.waits.is_empty() || parcel.ready > now {
                if parcel.overtake {
                    continue;
                }
                break;
            }
            ready.head |= matches!(parcel.out, Out::Head);
            for (end, _) in parcel.points.iter().filter(|(_, point)| self.counts(point)) {
                counted += 1;
                ready.before.get_or_insert(ready.bytes);
                if matches!(self.of, Of::Events { count, .. } if count == counted) {
                    ready.full = Some(ready.bytes + end);
                }
            }
            ready.bytes += parcel.bytes();
        }
        match self.of {
            Of::Bytes { size, .. } => {
                ready.before = (ready.bytes > 0).then_some(0);
                ready.full = (ready.bytes >= size).then_some(ready.bytes / size * size);
            }
            // What begins no event that is counted has nothing to wait for.
            Of::Events { .. } | Of::Time { .. } if ready.before.is_none() => ready.full = Some(ready.bytes),
            Of::Events { .. } | Of::Time { .. } => {}
        }
        ready
    }

    fn counts(&self, point: &Point) -> bool {
        match self.of {
            Of::Bytes { .. } => false,
            Of::Events { all, .. } | Of::Time { all, .. } => {
                point.at == At::Block && (all || point.rules.contains(&self.rule))
            }
        }
    }
}
