//! The journal: a run's record as NDJSON, one line a point or decision. Not a log: programs read it (docs/journal.md).
//!
//! The one rule: it never holds up what crosses the proxy. [`Sink::record`] puts an entry into a bounded queue and
//! returns; what finds no room is dropped and counted, and the footer says how much that was.

mod again;
mod bodies;
mod header;
mod parts;
mod read;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

pub use again::again;
pub use bodies::{Bodies, Shelf, Shelved};
pub use header::{
    ExpectationLine, ExpectationState, Footer, Header, Line, Part, ProfileUse, ReasonLine, RequestLine, RuleLine,
    SCHEMA, VerdictLine, later, since_1970, utc,
};
pub use read::{parse, read};
pub use writer::{Closed, Journal, Queue, Sink, queue};
