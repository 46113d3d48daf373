//! The watcher of a run and its clock: entries in as they are recorded, the names of quiet requests out, to the log.
//!
//! The one rule: nobody waits for it on the data path, and it polls nothing: it sleeps until the watcher's next moment.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::engine::event::Moment;
use crate::engine::record::{Entry, FindingEntry};
use crate::monitor::{Watched, Watcher};
use crate::proxy::Clock;

/// A watcher that is being told the time.
#[derive(Debug)]
pub(super) struct Watching {
    state: Mutex<State>,
    woken: Notify,
}

#[derive(Debug)]
struct State {
    watcher: Watcher,
    /// Whether somebody sleeps until its next moment: that only moves away.
    armed: bool,
}

impl Watching {
    /// Names requests that are quiet for so long.
    pub(super) fn new(quiet: Duration) -> Self {
        Self { state: Mutex::new(State { watcher: Watcher::new(Some(quiet)), armed: false }), woken: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next entry; returns what the monitors found in it.
    pub(super) fn take(&self, entry: &Entry) -> Vec<FindingEntry> {
        let mut state = self.state();
        let found = state.watcher.take(entry);
        if !state.armed && state.watcher.next_due().is_some() {
            self.woken.notify_one();
        }
        found
    }

    /// Tells the time when the watcher asks for it, and names who is quiet then.
    pub(super) async fn keep_time(&self, clock: &Clock) -> Infallible {
        loop {
            match self.arm() {
                None => self.woken.notified().await,
                Some(due) => {
                    clock.until(Moment(due)).await;
                    for line in self.state().watcher.tick(clock.now().0) {
                        tracing::warn!("{line}");
                    }
                }
            }
        }
    }

    fn arm(&self) -> Option<Duration> {
        let mut state = self.state();
        let due = state.watcher.next_due();
        state.armed = due.is_some();
        due
    }

    /// The requests for which a client waits, a line each.
    pub(super) fn open_requests(&self, now: Moment) -> Vec<String> {
        self.state().watcher.open_requests(now.0)
    }

    /// The run is over: what it came to, and what only its end could tell.
    pub(super) fn finish(&self, now: Moment) -> (Watched, Vec<FindingEntry>) {
        let mut state = self.state();
        let found = state.watcher.finish(now.0);
        (state.watcher.watched(), found)
    }
}
