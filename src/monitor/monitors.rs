//! The monitors: what each finds, against which clause, and what that counts for. docs/monitors.md is made of this table.
//!
//! A machine sees every point once its fate is known, after the table of requests has taken it, and says what it found.
//! The one rule: a monitor is named after what it finds, and cites what it holds that against.

use std::collections::BTreeMap;
use std::fmt;

use super::machines::{
    event_after_answer, foreign_replay, get_storm, header_mismatch, late_cancel, lost_request, second_answer,
    second_initialize, unknown_answer, unrelated_request,
};
use super::requests::Requests;
use crate::engine::bounded::Bounded;
use crate::engine::record::{PointEntry, Weight};
use crate::engine::rpc::Id;

/// A monitor.
#[derive(Debug)]
pub struct Monitor {
    /// Its name.
    pub name: &'static str,
    /// What a finding of it counts for.
    pub weight: Weight,
    /// What it finds, for docs/monitors.md.
    pub finds: &'static str,
    /// What that means, and what it does not.
    pub means: &'static str,
    /// The clause that it checks, with the document's version.
    pub clause: &'static str,
    /// The protocol versions to which that applies.
    pub versions: &'static str,
    pub(super) make: fn() -> Box<dyn Machine>,
}

/// All of them: those that fail a run first.
pub static MONITORS: [&Monitor; 10] = [
    &late_cancel::MONITOR,
    &lost_request::MONITOR,
    &unknown_answer::MONITOR,
    &second_answer::MONITOR,
    &event_after_answer::MONITOR,
    &foreign_replay::MONITOR,
    &second_initialize::MONITOR,
    &header_mismatch::MONITOR,
    &unrelated_request::MONITOR,
    &get_storm::MONITOR,
];

/// What a monitor does.
pub(super) trait Machine: fmt::Debug + Send {
    /// A point's fate is known; the table of requests has taken it.
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found>;

    /// The run is over: what only its end could tell.
    fn finish(&mut self, _: &World) -> Vec<Found> {
        Vec::new()
    }
}

/// What a machine may ask about beside the point in hand.
#[derive(Debug)]
pub(super) struct World {
    pub(super) requests: Requests,
    /// The protocol version that each session agreed on.
    pub(super) protocols: Bounded<u64, String>,
    /// The server's requests that rules have made, by session and id.
    pub(super) made: Bounded<(u64, Id), ()>,
    /// The points about which a rule has decided and which have not left: point to rule.
    pub(super) held: BTreeMap<String, String>,
}

/// What a machine found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The place in the sequence of what it was found in.
    pub(super) seq: u64,
    /// When that was.
    pub(super) at: u64,
    /// The exchange that it is about.
    pub(super) key: String,
    /// In words.
    pub(super) words: String,
    /// The rules that had acted on what it is about.
    pub(super) after: Vec<String>,
}

impl Found {
    /// Found in this point, about its exchange; what rules did to it is not the peer's doing.
    pub(super) fn at(point: &PointEntry, words: String) -> Self {
        let key = super::key::exchange(&point.key).to_owned();
        Self { seq: point.seq, at: point.arrived, key, words, after: point.rules.clone() }
    }
}

impl World {
    /// Whether a session's protocol is one with a handshake.
    pub(super) fn has_handshake(&self, session: u64) -> bool {
        self.protocols.get(&session).is_some_and(|version| version.as_str() < "2026")
    }
}
