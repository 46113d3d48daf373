//! `cut`: a leg ends before, after or inside a unit, and how.

use std::time::Duration;

use crate::engine::condition::{Condition, Leg};
use crate::engine::event::Ending;

/// `cut`: all points but leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// How the leg ends.
    pub ending: Ending,
    /// Where, in relation to the unit.
    pub place: Place,
    /// Which leg.
    pub leg: Leg,
    /// What becomes of the other leg.
    pub other_leg: OtherLeg,
    /// How long drain or keep lasts (`for`); `None`: no end.
    pub lasting: Option<Duration>,
    /// When, if not at once (rule R23).
    pub when: Option<Condition>,
    /// When a unit withheld for `when` is let go anyway, which is a failure.
    pub limit: Duration,
    /// Before a reset: how long the reader gets, where it cannot be seen that it has read everything.
    pub settle: Duration,
}

/// Where a cut falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// The unit does not pass.
    Before,
    /// The unit passes first.
    After,
    /// So much of the unit passes.
    Inside(Offset),
}

/// A place inside a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offset {
    /// After so many bytes; negative: so many before the end.
    Bytes(i64),
    /// After that share of its bytes, 0 to 1.
    Share(f64),
}

/// What becomes of the leg that a cut does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OtherLeg {
    /// Closed as a peer that leaves would.
    Close,
    /// Open, read and thrown away.
    Drain,
    /// Open and not read.
    Keep,
}
