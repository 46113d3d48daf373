//! The sum of what the engine wrote down, for the verdict.
//!
//! The one rule: it is counted whether or not lines are written.

use std::collections::BTreeMap;

use super::{ExpectationTally, GateEntry};
use crate::engine::effects::Effect;
use crate::engine::era::{Era, Eras};
use crate::engine::missed::{Missed, Unmet};

/// What a run amounts to, as far as the engine knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// One for each rule, in written order.
    pub rules: Vec<RuleTally>,
    /// What those lacked that selected points and never fired.
    pub missed: Vec<Missed>,
    /// Those that fired, and whose `when` never came true.
    pub unmet: Vec<Unmet>,
    /// One for each gate that was closed at least once, in order of its end.
    pub gates: Vec<GateEntry>,
    /// What rules did to the wire, in the order in which it happened; the first ten thousand.
    pub effects: Vec<Effect>,
    /// How many effects there were beyond those.
    pub more_effects: u64,
    /// The method of the request that an exchange's POST carries, by the exchange's key (session / exchange).
    pub methods: BTreeMap<String, String>,
    /// The protocol's eras that were seen.
    pub eras: Eras,
    /// Rules that selected nothing and can select nothing in these eras, and by what they are bound to others.
    pub foreign: Vec<Foreign>,
    /// What became of the silences that rules wait for.
    pub silences: Vec<SilenceTally>,
    /// One for each expectation, in written order.
    pub expectations: Vec<ExpectationTally>,
    /// What rules could not do, or did otherwise than they say; the first hundred.
    pub remarks: Vec<Remark>,
    /// The keys of exchanges, and of requests that rules sent, whose server's legs rules had left open and that were open
    /// still.
    pub left_open: Vec<String>,
    /// How many sessions there were.
    pub sessions: u64,
    /// How many exchanges there were.
    pub exchanges: u64,
}

/// Something a rule could not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The point or the exchange it is about.
    pub key: String,
    /// What, in words.
    pub what: String,
}

/// A rule of another era than those seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The rule's full name.
    pub rule: String,
    /// The eras in which it could select something.
    pub of: Vec<Era>,
    /// What binds it to them.
    pub by: &'static str,
}

/// A silence that a rule waits for, and how silent its peer was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SilenceTally {
    /// The rule's full name.
    pub rule: String,
    /// How long the silence must be, in microseconds, what is drawn not included.
    pub time: u64,
    /// How often the rule acted because of it.
    pub acted: u64,
    /// The longest silence that ended by itself, in microseconds: between two bytes of the server, or two exchanges of a
    /// connection.
    pub longest: u64,
    /// The longest that had not ended when the run did.
    pub open: u64,
}

/// How often a rule was selected, fired and changed something (rule R35).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleTally {
    /// The rule's full name.
    pub name: String,
    /// How many points it selected.
    pub matched: u64,
    /// How often it fired.
    pub fired: u64,
    /// How often the wire changed, or the order it stands for was ensured.
    pub effective: u64,
    /// Whether it may stay unfired.
    pub optional: bool,
}
