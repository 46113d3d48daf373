//! What is known of one leg, and what is asked of it: the face of a socket towards the rest of the rim.
//!
//! Bytes of bodies are counted when they are handed to HTTP and when HTTP writes them; a unit has passed when its last
//! byte is written and one whole flush is complete. It never reports while it is locked: the engine may command this leg.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bytes::{Buf, Bytes};

use super::ending::Cut;
use super::run::Run;
use crate::engine::event::{Ending, UnitId};

/// A leg as the rest of the rim sees it.
#[derive(Debug)]
pub(crate) struct Link {
    run: Arc<Run>,
    /// Bytes written to the socket.
    written: AtomicU64,
    /// How often everything that HTTP had was written and flushed.
    flushes: AtomicU64,
    /// Bytes of bodies handed to HTTP, and how many of them it has written.
    given: AtomicU64,
    taken: AtomicU64,
    /// There are marks or bytes of ours: look into the state.
    busy: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How the peer ended the connection, once it has.
    gone: Option<Ending>,
    marks: VecDeque<Due>,
    own: VecDeque<Bytes>,
    cut: Option<Cut>,
    /// Nothing can be asked of the connection any more.
    over: bool,
    retired: Option<Ending>,
    /// Of the future that drives the connection.
    waker: Option<Waker>,
}

/// A unit and what must have left before it has passed.
#[derive(Debug, Clone, Copy)]
struct Due {
    taken: u64,
    written: u64,
    unit: UnitId,
}

// === Link ===

impl Link {
    pub(crate) fn new(run: Arc<Run>) -> Arc<Self> {
        Arc::new(Self {
            run,
            written: AtomicU64::new(0),
            flushes: AtomicU64::new(0),
            given: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            state: Mutex::new(State::default()),
        })
    }

    pub(crate) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Whether there is more to do than count.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // --- what the leg saw

    pub(crate) fn wrote(&self, n: usize) {
        self.written.fetch_add(n as u64, Ordering::Relaxed);
    }

    pub(crate) fn peer_ended(&self, ending: Ending) {
        self.state().gone.get_or_insert(ending);
    }

    pub(crate) fn note(&self, wrote: &io::Result<usize>) {
        if wrote.is_err() {
            self.peer_ended(Ending::Reset);
        }
    }

    /// Returns how the peer ended the connection, if it has and that was seen.
    pub(crate) fn gone(&self) -> Option<Ending> {
        self.state().gone
    }

    /// A flush is complete: reports the units whose bytes have left with it.
    pub(crate) fn flushed(&self) {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        if !self.is_busy() {
            return;
        }
        // The engine may command this very leg: never report under its lock.
        while let Some(unit) = self.next_passed() {
            self.run.passed(unit);
        }
    }

    fn next_passed(&self) -> Option<UnitId> {
        let (taken, written) = (self.taken.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed));
        let mut state = self.state();
        let due = state.marks.front().is_some_and(|due| due.taken <= taken && due.written <= written);
        let unit = due.then(|| state.marks.pop_front()).flatten().map(|due| due.unit);
        self.busy.store(!state.marks.is_empty() || !state.own.is_empty(), Ordering::Relaxed);
        unit
    }

    // --- bodies

    /// Counts bytes of a body as handed to HTTP.
    pub(crate) fn give(self: &Arc<Self>, bytes: Bytes) -> Tracked {
        self.given.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Tracked { bytes, link: Arc::clone(self) }
    }

    /// Returns how many bytes of bodies HTTP was handed and has not written yet.
    pub(crate) fn untaken(&self) -> u64 {
        self.given.load(Ordering::Relaxed) - self.taken.load(Ordering::Relaxed)
    }

    /// The unit has passed when `ahead` bytes more of bodies than were handed over have been written and flushed.
    pub(crate) fn mark(&self, ahead: u64, unit: UnitId) {
        self.push(Due { taken: self.given.load(Ordering::Relaxed) + ahead, written: 0, unit });
    }

    /// The same for a unit that begins with a head, which is not counted as body: something must have been written too.
    pub(crate) fn mark_head(&self, ahead: u64, unit: UnitId) {
        let written = self.written.load(Ordering::Relaxed) + 1;
        self.push(Due { taken: self.given.load(Ordering::Relaxed) + ahead, written, unit });
    }

    fn push(&self, due: Due) {
        self.state().marks.push_back(due);
        self.busy.store(true, Ordering::Relaxed);
    }

    // --- what is asked of the connection

    /// Sends bytes of our own before whatever HTTP writes next.
    pub(crate) fn insert(&self, bytes: Bytes) {
        let mut state = self.state();
        state.own.push_back(bytes);
        self.busy.store(true, Ordering::Relaxed);
        state.wake();
    }

    pub(crate) fn next_own(&self) -> Option<Bytes> {
        self.state().own.pop_front()
    }

    /// Ends the connection. The first cut counts; of a later one only the unit does. Returns the unit if nobody else will
    /// report it, because the connection has ended already.
    pub(crate) fn cut(&self, mut cut: Cut) -> Option<UnitId> {
        cut.flushes = self.flushes.load(Ordering::Relaxed);
        let mut state = self.state();
        if state.over {
            return cut.unit;
        }
        match &mut state.cut {
            Some(first) if first.unit.is_none() => first.unit = cut.unit,
            Some(_) => return cut.unit,
            none => *none = Some(cut),
        }
        state.wake();
        None
    }

    /// Takes the cut if everything that was to leave before it has left.
    pub(crate) fn cut_due(&self) -> Option<Cut> {
        let flushes = self.flushes.load(Ordering::Relaxed);
        let fenced = self.untaken() == 0;
        let mut state = self.state();
        let due = state.cut.take_if(|cut| !cut.fence || (fenced && cut.flushes < flushes));
        state.over |= due.is_some();
        due
    }

    /// The connection has ended by itself.
    pub(crate) fn over(&self) {
        self.state().over = true;
    }

    /// Takes a cut of a connection on which HTTP has not begun.
    pub(crate) fn take_cut(&self) -> Option<Cut> {
        self.state().cut.take()
    }

    /// The other leg ended so while nothing was under way: the connection is of no more use.
    pub(crate) fn retire(&self, ending: Ending) {
        let mut state = self.state();
        state.retired.get_or_insert(ending);
        state.wake();
    }

    pub(crate) fn retired(&self) -> Option<Ending> {
        self.state().retired
    }

    /// Registers the future that drives the connection.
    pub(crate) fn watch(&self, waker: &Waker) {
        let mut state = self.state();
        match &mut state.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Has the future that drives the connection look again.
    pub(crate) fn wake(&self) {
        self.state().wake();
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

// === Tracked ===

/// Bytes of a body, counted as HTTP writes them.
#[derive(Debug)]
pub(crate) struct Tracked {
    bytes: Bytes,
    link: Arc<Link>,
}

impl Buf for Tracked {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, n: usize) {
        self.bytes.advance(n);
        self.link.taken.fetch_add(n as u64, Ordering::Relaxed);
    }
}
