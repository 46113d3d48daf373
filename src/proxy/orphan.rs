//! A server's leg that outlives the client's: read on until the engine has decided what becomes of it, then drained, kept
//! or closed.
//!
//! What still arrives is told to the engine as before; only nobody waits for it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::ending::Cut;
use super::exchange::Exchange;
use super::pump;
use super::reading::Reading;
use super::timer::Until;
use crate::engine::event::{Ending, Fate, UnitId};

/// A server's leg without a client's.
struct Orphan {
    reading: Reading,
    exchange: Arc<Exchange>,
    state: State,
    /// Until then the leg may live on.
    limit: Option<Pin<Box<Until>>>,
}

enum State {
    /// The engine has not decided.
    Waiting,
    /// Read to its end. The unit is reported when it is closed.
    Draining(UnitId),
    /// Not read.
    Kept(UnitId),
}

/// Gives a server's leg a task of its own.
pub(crate) fn adopt(mut reading: Reading, exchange: &Arc<Exchange>) {
    // Outside a runtime (the run is being torn down) there is nobody to read it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    reading.disown();
    let orphan = Orphan { reading, exchange: Arc::clone(exchange), state: State::Waiting, limit: None };
    runtime.spawn(orphan.live());
}

impl Orphan {
    async fn live(mut self) {
        let run = Arc::clone(self.exchange.run());
        tokio::select! {
            () = poll_fn(|cx| self.poll(cx)) => {}
            () = run.ended() => {}
        }
        let unit = match self.state {
            State::Waiting => None,
            State::Draining(unit) | State::Kept(unit) => Some(unit),
        };
        let unreported = match self.exchange.way.link() {
            Some(link) if !self.exchange.is_severed() => link.cut(Cut { unit, ..Cut::at_once(Ending::Fin) }),
            Some(_) => None,
            None => unit,
        };
        if let Some(unit) = unreported {
            run.passed(unit);
        }
    }

    /// Ready when the leg is over or to be closed.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.exchange.watch_as_orphan(cx.waker());
        self.decide();
        if self.exchange.is_severed() || self.limit.as_mut().is_some_and(|limit| limit.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(());
        }
        if !matches!(self.state, State::Kept(_)) {
            self.read(cx);
            self.decide();
        }
        if self.reading.ended().is_some() || self.exchange.is_severed() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn decide(&mut self) {
        let Some((unit, fate)) = self.exchange.take_fate() else { return };
        let (state, limit) = match fate {
            Fate::Drain(limit) => (State::Draining(unit), limit),
            Fate::Keep(limit) => (State::Kept(unit), limit),
            // Carried out on the leg itself.
            Fate::Close | Fate::Reset => return,
        };
        self.state = state;
        self.limit = limit.map(|limit| Box::pin(self.exchange.run().clock().after(limit)));
    }

    fn read(&mut self, cx: &mut Context<'_>) {
        if !self.exchange.is_relayed() {
            return pump::pump(&mut self.reading, &self.exchange, None, cx);
        }
        // For the engine a relayed answer is over with its client: only the leg's close is reported.
        while self.reading.poll_read(cx).is_ready() {}
    }
}
