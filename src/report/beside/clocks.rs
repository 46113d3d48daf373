//! The two clocks: by how much they differ, so that the rows of both journals stand in one order.
//!
//! The one rule: a request left the first proxy before it came to the second, an answer the second before it came to the
//! first. What the journals say of when they began (to the millisecond, of perhaps two machines) is corrected by that.

use std::fmt;

use super::Side;
use super::joining::{Joined, Seen};
use super::span;
use crate::engine::record::PointEntry;
use crate::journal::since_1970;
use crate::report::parts::Parts;

/// What must be added to the times of both journals.
#[derive(Debug)]
pub(super) struct Clocks {
    /// Of the journal behind, in microseconds, so that it counts from the same moment.
    offset: i64,
    /// So that no time is below zero.
    lift: i64,
}

impl Clocks {
    pub(super) fn of([before, behind]: [&Parts<'_>; 2], joined: &Joined<'_>) -> Self {
        let began = |parts: &Parts<'_>| parts.run.and_then(|run| since_1970(&run.started)).unwrap_or_default();
        let micros = |parts| i64::try_from(began(parts).as_micros()).unwrap_or(0);
        let offset = corrected(micros(behind) - micros(before), joined);
        Self { offset, lift: (-offset).max(0) }
    }

    /// A moment of a journal on the clock of both.
    pub(super) fn time(&self, side: Side, at: u64) -> u64 {
        let at = i64::try_from(at).unwrap_or(i64::MAX) + self.lift;
        let at = if side == Side::Behind { at.saturating_add(self.offset) } else { at };
        u64::try_from(at).unwrap_or(0)
    }
}

impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.offset < 0 { "earlier" } else { "later" };
        write!(f, "the journal behind began {} {which}", span(self.offset.unsigned_abs()))
    }
}

fn corrected(offset: i64, joined: &Joined<'_>) -> i64 {
    let time = |time: Option<u64>| time.and_then(|time| i64::try_from(time).ok());
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for [before, behind] in &joined.pairs {
        if let (Some(sent), Some(came)) = (at(before, "request"), at(behind, "request")) {
            least = time(sent.left).zip(time(Some(came.arrived))).map_or(least, |(sent, came)| least.max(sent - came));
        }
        if let (Some(came), Some(sent)) = (at(before, "head"), at(behind, "head")) {
            most = time(sent.left).zip(time(Some(came.arrived))).map_or(most, |(sent, came)| most.min(came - sent));
        }
    }
    // What a journal calls left may be noted a little after the other side has it.
    if least <= most { offset.clamp(least, most) } else { least / 2 + most / 2 }
}

fn at<'a>(seen: &Seen<'a>, point: &str) -> Option<&'a PointEntry> {
    seen.points.iter().find(|it| it.point == point).copied()
}
