//! What the SDK tests stand on: drivers (processes that run a real SDK) and the real `mishap` binary between them.
//!
//! It holds no claim about any SDK; those are in the tests. The one rule it keeps: a wait is for a fact, bounded by
//! [`BOUND`], and what was not seen by then fails the test with everything that was seen.

mod clients;
mod driver;
mod mishap;
mod process;

use std::time::Duration;

pub(crate) use clients::{Client, Owner, client, clients};
pub(crate) use driver::{Driver, node, node_dir, python};
pub(crate) use mishap::{Mishap, Run, mishap};

/// How long a fact that must come may take. Nothing is expected to take so long; a slow machine may.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// The timeout, in milliseconds, of a request that is expected to be lost.
pub(crate) const LOSS: u64 = 1200;

/// The timeout, in milliseconds, of a request that is expected to be answered.
pub(crate) const PATIENCE: u64 = 60_000;
