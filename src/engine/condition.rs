//! Something that becomes true: what a unit is held for, when a rule is on, when a cut falls.

use std::time::Duration;

use super::selector::Selector;

/// How many points a condition remembers in a session, the latest ones: what asks for more would never come true.
pub const REMEMBERED: usize = 4096;

/// Something that becomes true (language.md, "Condition").
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// So long after the point in hand; in `from` and `until` of a rule, after the first point of the scope.
    After(Time),
    /// The server has ended this exchange's answer.
    End,
    /// Never.
    Never,
    /// Any of them.
    Any(Vec<Condition>),
    /// Such a point has been seen.
    Seen(Box<Seen>),
    /// That rule (by its full name) has acted, and so much later.
    Fired {
        /// The rule's full name.
        rule: String,
        /// How much later.
        plus: Option<Time>,
    },
    /// This rule holds so many units, at most [`REMEMBERED`].
    Gathered(u64),
    /// No byte of the answer for so long; of a connection, nothing on it. Asked at each moment (rule R4).
    Idle {
        /// For how long.
        time: Duration,
        /// And so much longer.
        plus: Option<Time>,
    },
    /// So many bytes of the answer's body have gone on to the client.
    Bytes {
        /// How many.
        size: u64,
        /// And so much later.
        plus: Option<Time>,
    },
}

/// A point that must have been seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Which points.
    pub selector: Selector,
    /// On which leg; `None`: the far one, that is, it has passed (rule R2).
    pub leg: Option<Leg>,
    /// How it relates to the unit in hand.
    pub same: Same,
    /// The k-th such point, from 1 to [`REMEMBERED`].
    pub nth: u64,
    /// Only points seen after the unit in hand arrived.
    pub next: bool,
    /// So much later.
    pub plus: Option<Time>,
}

/// One of the two legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Leg {
    /// To the client.
    Client,
    /// To the server.
    Server,
    /// Both (only in `cut.leg`).
    Both,
}

/// How a point of a condition relates to the unit in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Same {
    /// The same exchange.
    Exchange,
    /// One JSON-RPC request, its answer, its cancel, its progress, in either direction.
    Call,
    /// All that one client request owns.
    Owner,
    /// The same session.
    #[default]
    Session,
    /// Anything in the run.
    Run,
    /// The same session, another owner.
    NotOwner,
    /// The same session, another exchange.
    NotExchange,
}

impl Same {
    /// The one of that word; none other is [`Same::Session`].
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "exchange" => Self::Exchange,
            "call" => Self::Call,
            "owner" => Self::Owner,
            "run" => Self::Run,
            "!owner" => Self::NotOwner,
            "!exchange" => Self::NotExchange,
            _ => Self::Session,
        }
    }
}

/// A length of time, drawn where it is a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// Always this.
    Fixed(Duration),
    /// Anything from the first to the second, both included.
    Between(Duration, Duration),
    /// The mean plus or minus the jitter, never below zero.
    Around(Duration, Duration),
}
