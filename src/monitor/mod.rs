//! What crosses, watched: what became of each client request, who hangs, and what the protocol forbids.
//!
//! Pure, as the engine: it takes the entries of a run in the order in which they were recorded, while it runs or from its
//! journal, and knows no time but theirs and what it is told.
//!
//! * [`watcher`] takes the entries and hands them on;
//! * [`request`], [`requests`]: one client request, and all of them, told by the words of docs/outcomes.md;
//! * [`quiet`]: those on which nothing happens;
//! * [`expected`]: the expectations that are about requests;
//! * [`monitors`]: the table of the machines in `machines`, one file each (docs/monitors.md).
//!
//! The one rule: what is said is what is known from the wire. What a rule caused is not blamed on a peer.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod expected;
mod key;
mod machines;
pub mod monitors;
pub mod quiet;
pub mod request;
pub mod requests;
pub mod watcher;

#[cfg(test)]
mod tests;

pub use monitors::{MONITORS, Monitor};
pub use request::{Close, Closer, Outcome, Request};
pub use watcher::{Leave, Watched, Watcher};
