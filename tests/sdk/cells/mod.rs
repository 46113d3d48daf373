//! The cells of a table: one client's session, what it asks for, and what came of it in the words of `docs/outcomes.md`.
//!
//! It knows no fault and expects nothing; rows do. The one rule it keeps: a cell is kinds, orders and counts, never a
//! time, but for one: whether a client pauses before it reconnects. Where something must be shown *not* to come, the client's own timeout of a call that nobody answers is the
//! time in which it could have.

mod cell;
mod committed;
mod seen;
mod words;

pub(crate) use cell::{Ask, Cell};
pub(crate) use committed::assert_is_committed;
pub(crate) use seen::Seen;
pub(crate) use words::{assert_published, word};

/// The timeout, in milliseconds, of a request that is expected to be lost, and of one that measures how often a client
/// reconnects meanwhile: several times the second that clients wait before they do.
pub(crate) const WINDOW: u64 = 20_000;
