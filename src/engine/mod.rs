//! The pure core: events in, commands out, one sequence for all streams of a run.
//!
//! Nothing in here knows a runtime, a clock, a generator of chance or a socket: time and seed are arguments. A test
//! compiles this folder alone, with only the crates it may use in reach; clippy.toml lists what it must not reach for in
//! the standard library.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod condition;
pub mod draw;
pub mod effects;
#[expect(clippy::module_inception, reason = "the folder is named after what it holds")]
pub mod engine;
pub mod era;
pub mod event;
pub mod expectation;
pub mod fault;
pub mod hash;
pub mod language;
pub mod missed;
pub mod record;
pub mod rpc;
pub mod rule;
pub mod selector;
pub mod sse;
pub mod summing;
pub mod trigger;

mod adding;
mod amount;
mod answer;
mod body;
pub(crate) mod bounded;
mod counting;
mod decide;
mod exchange;
mod expecting;
mod filling;
mod foresight;
mod forwarding;
mod full;
mod gates;
mod glob;
mod guard;
mod hearing;
mod identity;
mod instead;
mod intake;
mod leave;
mod lost;
mod making;
mod matching;
mod notebook;
mod outcome;
mod outlet;
mod owner;
mod passing;
mod plan;
mod posting;
mod renaming;
mod schedule;
mod sending;
mod session;
mod sighting;
mod silence;
mod sparing;
mod turning;
mod unit;
mod withheld;

#[cfg(test)]
pub(crate) mod playbook;
