//! The mailbox of one exchange: what the engine has commanded for it and nobody has carried out yet.
//!
//! Whoever owns the exchange's legs at the moment (its service future, the answer's body, an orphan) takes from it and is
//! woken by it. It holds no socket. The one rule it keeps: the two legs may have two owners, and each command wakes both.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use super::run::Run;
use super::server::Way;
use crate::engine::event::{
    AnswerHead, Destination, Ending, ExchangeId, Fate, HeadEdits, HeaderEdit, Inside, Mark, UnitId,
};

/// So many bytes may wait to be written to one client before its server is no longer read.
const WAITING_CAP: u64 = 256 * 1024;

/// One exchange that the engine knows.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) id: ExchangeId,
    /// The server's leg, while it has one.
    pub(crate) way: Arc<Way>,
    run: Arc<Run>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    read: bool,
    relay: bool,
    paused: bool,
    forward: Option<Forward>,
    head: Option<Head>,
    out: VecDeque<Out>,
    /// Bytes in `out`.
    waiting: usize,
    fate: Option<(UnitId, Fate)>,
    /// The client's leg is over: nobody takes from `out` any more.
    parted: bool,
    /// The server's leg was ended by command: what it shows from now on is our own doing.
    severed: bool,
    /// Of the owner of the client's leg, and of the server's while they are one.
    waker: Option<Waker>,
    /// Of the owner of a server's leg that goes on by itself.
    orphan: Option<Waker>,
    /// How many more bytes of the request's body may leave, piece by piece.
    sends: VecDeque<(usize, UnitId)>,
    /// Of the connection that sends it.
    sender: Option<Waker>,
}

/// Leave to send the request.
#[derive(Debug)]
pub(crate) struct Forward {
    pub(crate) unit: UnitId,
    pub(crate) to: Destination,
    pub(crate) identity: bool,
    pub(crate) body: Option<Bytes>,
    pub(crate) parted: bool,
    pub(crate) headers: Vec<HeaderEdit>,
    /// How much of the body leaves, if not all of it.
    pub(crate) part: Option<u64>,
}

/// Leave to send the answer's head.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) unit: UnitId,
    pub(crate) rechunk: bool,
    pub(crate) edits: HeadEdits,
    /// The head that a rule made, to be sent in place of the server's.
    pub(crate) made: Option<Box<AnswerHead>>,
}

/// What the engine has decided about a request.
#[derive(Debug)]
pub(crate) enum Go {
    /// It goes to the server.
    Forward(Forward),
    /// A rule answers it.
    Answer(Head),
}

/// What is to leave on the client's leg, in order.
#[derive(Debug)]
pub(crate) enum Out {
    Write { bytes: Bytes, marks: Vec<Mark> },
    Finish(Finish),
}

impl Out {
    fn len(&self) -> usize {
        match self {
            Self::Write { bytes, .. } => bytes.len(),
            Self::Finish(_) => 0,
        }
    }
}

/// How the client's leg is to end.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) unit: UnitId,
    pub(crate) ending: Ending,
    pub(crate) inside: Option<Inside>,
    pub(crate) settle: Option<Duration>,
}

impl Exchange {
    pub(crate) fn new(id: ExchangeId, run: Arc<Run>) -> Self {
        Self { id, way: Arc::default(), run, state: Mutex::default() }
    }

    pub(crate) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a command in and wakes the owners.
    fn put(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let (owner, orphan) = (state.waker.take(), state.orphan.take());
        owner.into_iter().chain(orphan).for_each(Waker::wake);
    }

    // --- commands

    pub(crate) fn allow_read(&self) {
        self.put(|state| state.read = true);
    }

    pub(crate) fn allow_forward(&self, forward: Forward) {
        self.put(|state| state.forward = Some(forward));
    }

    pub(crate) fn send(&self, length: usize, unit: UnitId) {
        let mut state = self.state();
        state.sends.push_back((length, unit));
        if let Some(waker) = state.sender.take() {
            waker.wake();
        }
    }

    pub(crate) fn allow_head(&self, head: Head) {
        self.put(|state| state.head = Some(head));
    }

    pub(crate) fn relay(&self) {
        self.put(|state| state.relay = true);
    }

    pub(crate) fn pause(&self) {
        self.put(|state| state.paused = true);
    }

    pub(crate) fn resume(&self) {
        self.put(|state| state.paused = false);
    }

    pub(crate) fn write(&self, bytes: Bytes, marks: Vec<Mark>) {
        self.put(|state| {
            state.waiting += bytes.len();
            state.out.push_back(Out::Write { bytes, marks });
        });
    }

    pub(crate) fn finish(&self, finish: Finish) {
        self.put(|state| state.out.push_back(Out::Finish(finish)));
    }

    /// Decides on the server's leg; whoever reads it takes the decision from here.
    pub(crate) fn decide(&self, unit: UnitId, fate: Fate) {
        self.put(|state| match fate {
            Fate::Close | Fate::Reset => state.severed = true,
            // Nothing more of it is kept, so that nothing keeps it from being read.
            Fate::Drain(_) | Fate::Keep(_) => (state.fate, state.paused) = (Some((unit, fate)), false),
        });
    }

    // --- what the owner takes

    /// Registers the owner; it is woken by the next command.
    pub(crate) fn watch(&self, waker: &Waker) {
        watch(&mut self.state().waker, waker);
    }

    /// The same for the owner of a server's leg that goes on by itself: the client's may still be waited for.
    pub(crate) fn watch_as_orphan(&self, waker: &Waker) {
        watch(&mut self.state().orphan, waker);
    }

    /// The owner is at work: what is commanded now need not wake it.
    pub(crate) fn unwatch(&self) {
        self.state().waker = None;
    }

    /// Registers the owner unless something waits to leave. Returns whether it is registered.
    pub(crate) fn watch_if_idle(&self, waker: &Waker) -> bool {
        let mut state = self.state();
        let idle = state.out.is_empty();
        if idle {
            watch(&mut state.waker, waker);
        }
        idle
    }

    pub(crate) fn may_read(&self) -> bool {
        self.state().read
    }

    pub(crate) fn take_go(&self) -> Option<Go> {
        let forward = self.state().forward.take();
        forward.map(Go::Forward).or_else(|| self.take_made().map(Go::Answer))
    }

    /// Takes the head that a rule made, if it is to leave.
    pub(crate) fn take_made(&self) -> Option<Head> {
        self.state().head.take_if(|head| head.made.is_some())
    }

    /// Takes leave to send the next piece of the request's body.
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>) -> Poll<(usize, UnitId)> {
        let mut state = self.state();
        match state.sends.pop_front() {
            Some(piece) => Poll::Ready(piece),
            None => {
                state.sender = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(crate) fn take_head(&self) -> Option<Head> {
        self.state().head.take()
    }

    pub(crate) fn is_relayed(&self) -> bool {
        self.state().relay
    }

    pub(crate) fn take_out(&self) -> Option<Out> {
        let mut state = self.state();
        let out = state.out.pop_front()?;
        state.waiting -= out.len();
        Some(out)
    }

    /// Takes an end of the leg before its head: what was to leave before it has no head to follow.
    pub(crate) fn take_cut(&self) -> Option<Finish> {
        let mut state = self.state();
        let is_cut = |out: &Out| matches!(out, Out::Finish(finish) if finish.ending != Ending::Eof);
        let at = state.out.iter().position(is_cut)?;
        let lost: usize = state.out.drain(..at).map(|out| out.len()).sum();
        state.waiting -= lost;
        match state.out.pop_front()? {
            Out::Finish(finish) => Some(finish),
            Out::Write { .. } => None,
        }
    }

    /// The client's leg is over: an end that is commanded from now on has happened.
    pub(crate) fn part(&self) {
        self.state().parted = true;
    }

    pub(crate) fn is_parted(&self) -> bool {
        self.state().parted
    }

    /// Whether the server's leg is to be read on, if HTTP still has so many bytes for the client; `None`: of what is read
    /// nothing goes there.
    pub(crate) fn wants_more(&self, untaken: Option<u64>) -> bool {
        let state = self.state();
        let full = untaken.is_some_and(|untaken| untaken + state.waiting as u64 > WAITING_CAP);
        !state.paused && !state.severed && state.fate.is_none() && !full
    }

    /// Whether the server's leg is to live on without the client's.
    pub(crate) fn has_fate(&self) -> bool {
        self.state().fate.is_some()
    }

    pub(crate) fn take_fate(&self) -> Option<(UnitId, Fate)> {
        self.state().fate.take()
    }

    pub(crate) fn is_severed(&self) -> bool {
        self.state().severed
    }
}

fn watch(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) => known.clone_from(waker),
        none => *none = Some(waker.clone()),
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.run.forget(self.id);
    }
}
