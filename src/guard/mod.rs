//! The guard: a process of our own that starts the command and the server and ends with them whatever mishap dies of.
//!
//! * [`talk`]: what mishap and its guard say to each other, and how descriptors go along;
//! * [`run`]: mishap's side: start the guard, have it start something, wait, signal, end;
//! * [`keep`]: the guard's side.
//!
//! The guard is the parent of what it starts, so there is no moment in which something runs and is not known to it, and
//! on Linux it adopts what its children leave behind, so that a process that left their group is ended too. It stands in a
//! process group of its own, where neither Ctrl-C nor a `kill` of mishap's group reaches it, and holds nothing of ours
//! open: not stdout, not stderr. The one rule: when the socket ends, whatever the reason, nothing is left.
//!
//! A limit: where mishap and its guard are killed in the same moment nobody is left to do it.

mod keep;
mod run;
mod talk;

use std::ffi::OsString;
use std::process::ExitCode;

pub use run::{Guard, Membership, Process, Start};
pub use talk::Who;

/// The word that makes this program a guard. Not for users, and so not among the subcommands.
const WORD: &str = "__guard";

/// Does a guard's work, if that is what the program was started for.
#[must_use]
pub fn instead(mut words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    (words.nth(1)? == WORD).then(|| if keep::keep().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
