//! The machines of the monitors, one file each: small, bounded, and each knows one clause.
//!
//! The one rule: what a rule has made is nobody's fault, and is not looked at.

pub(super) mod event_after_answer;
pub(super) mod foreign_replay;
pub(super) mod get_storm;
pub(super) mod header_mismatch;
pub(super) mod late_cancel;
pub(super) mod lost_request;
pub(super) mod second_answer;
pub(super) mod second_initialize;
pub(super) mod unknown_answer;
pub(super) mod unrelated_request;

use crate::engine::record::PointEntry;

/// How many things of a kind a machine remembers.
const REMEMBERED: usize = 4096;

/// The session of a point; 0: none.
fn session(point: &PointEntry) -> u64 {
    point.session.unwrap_or(0)
}

/// Whether a server's block came from the server itself.
fn is_servers(point: &PointEntry) -> bool {
    point.point == "block" && point.maker.is_none()
}

/// Whether a client's request came from the client itself.
fn is_clients(point: &PointEntry) -> bool {
    point.point == "request" && point.maker.is_none()
}
