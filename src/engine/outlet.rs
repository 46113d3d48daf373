//! The way of a body's bytes out of their queue: what is collected before it may leave.
//!
//! It comes after all waits: only what could leave is collected, so that no time is added to another's (rule R17). The one
//! rule it keeps: no byte is lost, added or changed here, and none passes another.

use std::time::Duration;

use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::record::Opened;
use super::unit::{Lane, LaneId, Out, Parcel, Point};

/// How the bytes of a body leave their queue.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// What collects them, each for a rule.
    keeps: Vec<Keep>,
    /// The timer that is set for it.
    timer: Option<Moment>,
}

/// Bytes are collected before they leave.
#[derive(Debug)]
pub(super) struct Keep {
    rule: usize,
    /// The head at which the rule fired.
    head: Point,
    /// In blocks of so many bytes.
    size: usize,
    /// How long bytes wait at most for more.
    limit: Duration,
    /// Whether the head waits with the first of them.
    withholds_head: bool,
    /// How many bytes may leave.
    credit: usize,
    /// Since when bytes have waited for more.
    since: Option<Moment>,
    /// Whether it has ever kept something.
    effective: bool,
}

/// What of a queue could leave, did nothing collect it.
#[derive(Debug, Default)]
struct Ready {
    bytes: usize,
    /// Whether nothing will come behind it.
    last: bool,
    /// Whether a head stands in it.
    head: bool,
}

// === Outlet ===

impl Outlet {
    /// Whether this parcel, the first that could leave, may.
    pub(super) fn lets_go(&self, parcel: &Parcel) -> bool {
        match &parcel.out {
            Out::Bytes(bytes) => self.portion(bytes.len()) > 0,
            Out::Head => !self.keeps.iter().any(|keep| keep.withholds_head && keep.credit == 0),
            _ => true,
        }
    }

    /// How many of the next bytes may leave now.
    fn portion(&self, len: usize) -> usize {
        self.keeps.iter().map(|keep| keep.credit).fold(len, usize::min)
    }

    /// Whether it waits for more.
    pub(super) fn keeps_back(&self) -> bool {
        self.keeps.iter().any(|keep| keep.credit == 0)
    }

    fn took(&mut self, len: usize) {
        for keep in &mut self.keeps {
            keep.credit -= len;
        }
    }
}

impl Keep {
    pub(super) fn new(rule: usize, head: Point, size: usize, limit: Duration, withholds_head: bool) -> Self {
        Self { rule, head, size, limit, withholds_head, credit: 0, since: None, effective: false }
    }

    /// Counts what has come up. Returns whether its limit is over.
    fn count(&mut self, now: Moment, ready: &Ready) -> bool {
        if ready.last {
            (self.credit, self.since, self.withholds_head) = (ready.bytes, None, false);
        } else if self.credit == 0 && ready.bytes >= self.size {
            (self.credit, self.since) = (ready.bytes / self.size * self.size, None);
        } else if self.credit == 0 && (ready.bytes > 0 || ready.head && self.withholds_head) {
            self.since.get_or_insert(now);
        }
        self.due().is_some_and(|due| due <= now)
    }

    fn due(&self) -> Option<Moment> {
        self.since.map(|since| since + self.limit)
    }
}

impl Ready {
    fn of(lane: &Lane, now: Moment) -> Self {
        let mut ready =
            Self { last: matches!(lane.parcels.back(), Some(Parcel { out: Out::End(_), .. })), ..Self::default() };
        for parcel in &lane.parcels {
            if parcel.waits.is_empty() && parcel.ready <= now {
                ready.bytes += parcel.bytes();
                ready.head |= matches!(parcel.out, Out::Head);
            } else if !parcel.overtake {
                break;
            }
        }
        ready
    }
}

// === Engine ===

impl Engine {
    /// The body behind this head leaves only in blocks of so many bytes.
    pub(super) fn collect_bytes(&mut self, id: ExchangeId, keep: Keep) {
        if let Some(lane) = self.lane(LaneId::Down(id)) {
            lane.outlet.get_or_insert_default().keeps.push(keep);
        }
    }

    /// Counts what has come up to the outlet of a queue, and sets its timer.
    pub(super) fn tend_outlet(&mut self, now: Moment, id: LaneId) {
        let Some(lane) = self.lane(id) else { return };
        let Some(mut outlet) = lane.outlet.take() else { return };
        let ready = Ready::of(lane, now);
        let (mut kept, mut late) = (Vec::new(), Vec::new());
        outlet.keeps.retain_mut(|keep| {
            let over = keep.count(now, &ready);
            if keep.since.is_some() && !std::mem::replace(&mut keep.effective, true) {
                kept.push(keep.rule);
            }
            if over {
                late.push((keep.rule, keep.head.clone()));
            }
            !over
        });
        let due = outlet.keeps.iter().filter_map(Keep::due).min();
        let before = std::mem::replace(&mut outlet.timer, due);
        lane.outlet = Some(outlet);
        if due != before {
            self.remove_timer(before);
            self.add_timer(due);
        }
        kept.into_iter().for_each(|rule| self.effective(rule));
        for (rule, head) in late {
            self.close_gate(now, rule, &head, Opened::Limit);
        }
    }

    /// Takes what of a parcel may leave from it; `None`: all of it.
    pub(super) fn portion(&mut self, id: LaneId, parcel: &mut Parcel) -> Option<Parcel> {
        let Out::Bytes(bytes) = &parcel.out else { return None };
        let whole = bytes.len();
        let outlet = self.lane(id)?.outlet.as_mut()?;
        let len = outlet.portion(whole);
        outlet.took(len);
        (len < whole).then(|| parcel.take_front(len)).flatten()
    }

    /// Nothing leaves a queue any more.
    pub(super) fn close_outlet(&mut self, id: LaneId) {
        let outlet = self.lane(id).and_then(|lane| lane.outlet.take());
        self.remove_timer(outlet.and_then(|outlet| outlet.timer));
    }

    /// A gate before a body is open. Where nothing stood behind it, nothing was kept.
    pub(super) fn open_body(&mut self, id: ExchangeId, rule: usize) {
        let stands = |lane: &Lane| lane.parcels.iter().any(|parcel| parcel.bytes() > 0);
        if self.lane_of(LaneId::Down(id)).is_some_and(stands) {
            self.effective(rule);
        }
    }
}
