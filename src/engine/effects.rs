//! What rules did to the wire, for the verdict: which leg was cut where, what left elsewhere, later or in another order.
//!
//! The one rule it keeps: an effect is told when the rim has reported it, or never. What was planned and did not happen
//! is no effect.

mod telling;

pub(super) use telling::Reached;

use super::decide::micros;
use super::event::{ExchangeId, Moment};
use super::record::{OwnerEntry, PointFate, RpcEntry};
use super::summing::BodyEffect;
use super::unit::Point;

/// What a rule did to the wire. What a hold did, its gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The rule's full name.
    pub rule: String,
    /// The point it was done to; of a cut, the end that it made.
    pub key: String,
    /// What was done.
    pub did: Did,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// The legs of an exchange were ended.
    Cut(CutEffect),
    /// A client's connection on which nothing was open was ended.
    CutConnection {
        /// The connection's number.
        conn: u64,
        /// How: `fin`, `reset`, `stall`.
        ending: String,
        /// How long after it was accepted, in microseconds.
        after: u64,
    },
    /// A block left on another stream, or was lost because none was open.
    Moved {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// Whose it is.
        owner: Option<OwnerEntry>,
        /// The key of the exchange it left on; `None`: it was lost.
        to: Option<String>,
        /// Whether it left on its own stream as well.
        copied: bool,
    },
    /// It was lost on purpose.
    Dropped {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// Whose it is.
        owner: Option<OwnerEntry>,
    },
    /// A rule made it, and it left.
    Added {
        /// Its message, if it has one.
        message: Option<RpcEntry>,
        /// What it is, as the journal has it.
        block: String,
        /// Whether it had left once before.
        again: bool,
        /// Whether it went to the server, as a request of its own.
        to_server: bool,
    },
    /// A rule answered in the server's place.
    Answered {
        /// The status.
        status: u16,
        /// What the server had to do with it.
        server: Instead,
    },
    /// A rule gave a stream ids of its own, so that it can be resumed.
    Owned,
    /// It left with another content.
    Rewritten {
        /// What of it is another, a phrase for each.
        what: Vec<String>,
    },
    /// A request went elsewhere than without the rule.
    Routed {
        /// To which server, in the order of the command line, from 1.
        server: u64,
        /// Whether on a connection of its own.
        fresh: bool,
    },
    /// A body left in other pieces, in another form, together, later or slower.
    Body(BodyEffect),
    /// It left later than it came.
    Delayed {
        /// So much, in microseconds.
        by: u64,
    },
    /// A block of a reorder window left.
    Left {
        /// Its session.
        session: u64,
        /// The place of its arrival in the sequence.
        arrived: u64,
        /// The place of its leaving.
        left: u64,
        /// The key of the exchange it left on, if that is another.
        to: Option<String>,
    },
}

/// What a server had to do with a request that a rule answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// It never got it.
    Unasked,
    /// It got it, and nobody got its answer.
    Unheard,
    /// It was a resume, and the answer is what was kept for it.
    Kept,
}

/// Where a cut fell and what it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CutEffect {
    /// How the client's leg ended: `eof`, `fin`, `reset`, `stall`.
    pub ending: String,
    /// Whether the server never got the request.
    pub unsent: bool,
    /// How many bytes of the request's body the server got, if the cut fell inside that.
    pub request: Option<u64>,
    /// Whether the answer's head had reached the client.
    pub head: bool,
    /// Whether an id without data had.
    pub primed: bool,
    /// How many messages had; `None`: they were not looked for.
    pub blocks: Option<u64>,
    /// How many bytes of one more had, if the cut fell inside it.
    pub inside: Option<u64>,
    /// Whether that one was the answer.
    pub inside_answer: bool,
    /// Whether the answer had, where one was owed.
    pub answered: Option<bool>,
    /// How long it fell after the last of these, or after the request where the client had got nothing, in microseconds.
    pub since: Option<u64>,
    /// What became of the server's leg: `closed`, `reset`, `drained`, `kept`; `None`: it had ended, or never began.
    pub server: Option<String>,
}

/// What became of a point.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    pub(super) point: &'a Point,
    pub(super) fate: PointFate,
    /// When it left, in time and sequence.
    pub(super) left: Option<(Moment, u64)>,
    /// The exchange on which it left, if that is another.
    pub(super) on: Option<ExchangeId>,
}

impl Outcome<'_> {
    pub(super) fn delayed(&self) -> Option<Did> {
        let by = micros(self.left?.0).saturating_sub(micros(self.point.arrived));
        (by > 0).then_some(Did::Delayed { by })
    }
}
