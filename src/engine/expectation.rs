//! What a run must show, as the engine takes it: checked, with every default filled in (rules R33, R34). The text form is
//! read by `profile`, the counting is done in `expecting`.

use std::time::Duration;

use super::condition::{Leg, Same, Time};
use super::selector::{Count, Selector};
use super::trigger::Scope;

/// How many windows of one expectation are followed at a time. With that many open, one whose minimum is reached is let
/// go for a new one; where there is none, the new one is not followed. The verdict says how many were not.
pub const FOLLOWED: usize = 4096;

/// Something that must be seen so often, or must not be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `PROFILE/NAME`, unique in the run.
    pub name: String,
    /// What is counted, or checked.
    pub what: What,
    /// A window opens each time that one of these comes true; none: when the scope begins.
    pub after: Vec<Opening>,
    /// How many are to be seen in each window.
    pub count: Count,
    /// How long a window is; `None`: to the end of the run.
    pub within: Option<Duration>,
    /// The most that `count` allows is for any length of time like this in the window, not for all of it.
    pub per: Option<Duration>,
    /// [`Scope::Session`] or [`Scope::Run`]: where the scope begins anew.
    pub scope: Scope,
    /// Whether it may never be asked.
    pub optional: bool,
}

/// What is counted, or checked.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Points that one of these means.
    Points(Vec<Wanted>),
    /// Firings of this rule (its full name).
    Fired(String),
    /// The end of the command behind the proxy.
    Exit,
    /// A resume of the stream on which `after` came true, with the last id that was delivered on it.
    Resumed,
    /// One of the checks that are looked after through the whole run.
    Check(Check),
    /// What became of the client's requests: judged by who watches them (`monitor`), not here.
    Requests(RequestCheck),
}

/// Points to be counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Which.
    pub selector: Selector,
    /// On which leg they are seen (rule R2).
    pub leg: Leg,
    /// How they relate to the point that made `after` true.
    pub same: Same,
}

/// What opens a window.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// So long after the scope began.
    Time(Time),
    /// Such a point is seen.
    Seen(Box<Opener>),
    /// That rule (by its full name) has acted, and so much later.
    Fired {
        /// The rule's full name.
        rule: String,
        /// How much later.
        plus: Option<Time>,
    },
    /// The client leaves an exchange whose answer the server has not ended, and nothing keeps that open on purpose.
    Leave,
}

/// A point that opens a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Opener {
    /// Which.
    pub selector: Selector,
    /// On which leg it is seen (rule R2).
    pub leg: Leg,
    /// Only the k-th such point; `None`: each.
    pub nth: Option<u64>,
    /// Whether `nth` counts through the whole run, not in each session.
    pub across: bool,
    /// So much later.
    pub plus: Option<Time>,
}

/// What is looked after through the whole run (rule R33).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// No client sends a second initialize after one that was answered.
    OneInitialize,
    /// Each `Last-Event-ID` is the last one delivered on the stream it continues.
    ResumeId,
    /// No tools/call is sent again under another id, and no id is used twice in a session.
    NoRepeat,
    /// No exchange is open at the end.
    Closed,
    /// No connection of a client is open at the end.
    ConnectionsClosed,
}

/// What is judged of the client's requests when the run is over (rule R33).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestCheck {
    /// Each was answered, cancelled, left or told.
    Settled,
    /// None was cancelled whose stream had ended: nobody had waited for what could not come.
    NoLateCancel,
    /// No request of the server was given up that had crossed no stream.
    NoLostRequest,
}

impl Expectation {
    /// The rules whose firing opens a window, if nothing else does.
    #[must_use]
    pub fn waits_for(&self) -> Vec<String> {
        let rule = |opening: &Opening| match opening {
            Opening::Fired { rule, .. } => Some(rule.clone()),
            Opening::Time(_) | Opening::Seen(_) | Opening::Leave => None,
        };
        self.after.iter().map(rule).collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

impl Count {
    /// The fewest that are enough.
    #[must_use]
    pub fn least(self) -> u64 {
        match self {
            Self::Is(number) | Self::AtLeast(number) => number,
            Self::AtMost(_) => 0,
        }
    }

    /// The most that are allowed.
    #[must_use]
    pub fn most(self) -> Option<u64> {
        match self {
            Self::Is(number) | Self::AtMost(number) => Some(number),
            Self::AtLeast(_) => None,
        }
    }
}
