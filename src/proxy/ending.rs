//! How a connection is ended on purpose, so that nothing is lost before the end and the end is the one that was meant.
//!
//! By the time this is reached HTTP is out of the way: the driver of the connection has taken the leg back from hyper
//! after the first two fences (every byte of the body taken by HTTP's writer, then one whole flush). What is left are
//! the tail inside a chunk, the third fence before a reset, and the lingering close.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::leg::Leg;
use super::timer::Clock;
use crate::engine::event::{Ending, Fate, Inside, Moment, UnitId};

/// A real FIN needs the peer's bytes read away: closing with unread input is a RST.
const LINGER: Duration = Duration::from_millis(500);
/// And so many of them at most: more than what was on its way when the FIN left. One that sends on has not heard it, and
/// is reset.
const LINGER_BYTES: usize = 16 * 1024 * 1024;
/// A reset waits so long at most for bytes that a slow reader keeps in our queue or its own.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the queues are looked at.
const LOOK: Duration = Duration::from_millis(1);

/// What a connection is to end with.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) ending: Ending,
    /// Everything handed to HTTP leaves first.
    pub(crate) fence: bool,
    /// Completed flushes when it was asked for; set by the link.
    pub(crate) flushes: u64,
    /// Bytes that still leave, past HTTP.
    pub(crate) tail: Option<Tail>,
    /// How long a reader gets that cannot be seen to have read; `None`: the reset is passed on at once.
    pub(crate) settle: Option<Duration>,
    /// Reported when it has happened.
    pub(crate) unit: Option<UnitId>,
}

/// The part of a block that leaves before the cut, and what the body would have needed for all of it.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) inside: Inside,
    pub(crate) chunked: bool,
}

impl Cut {
    /// Ends the connection once all that was handed over has left.
    pub(crate) fn after_all(ending: Ending) -> Self {
        Self { ending, fence: true, flushes: 0, tail: None, settle: None, unit: None }
    }

    /// Ends the connection whatever waits to leave.
    pub(crate) fn at_once(ending: Ending) -> Self {
        Self { fence: false, ..Self::after_all(ending) }
    }

    /// Closes a server's leg as a client that leaves would.
    pub(crate) fn of(fate: Fate) -> Self {
        Self::at_once(if fate == Fate::Reset { Ending::Reset } else { Ending::Fin })
    }
}

/// Carries a cut out, to the close of the socket.
pub(crate) async fn carry_out(mut leg: Leg, cut: Cut) {
    let link = leg.link().clone();
    let clock = link.run().clock().clone();
    if let Some(tail) = cut.tail {
        write_tail(&mut leg, tail).await;
    }
    match cut.ending {
        Ending::Eof | Ending::Fin => {
            let _ = leg.shutdown().await;
            report(&link, cut.unit);
            linger(&mut leg, &clock).await;
        }
        Ending::Reset => {
            leave_queues(&leg, &clock, cut.settle).await;
            leg.wire().reset_on_close();
            drop(leg);
            report(&link, cut.unit);
        }
        Ending::Stall => swallow(&mut leg, usize::MAX).await,
    }
}

/// Closes a connection that HTTP is done with.
pub(crate) async fn close(mut leg: Leg) {
    if leg.link().gone().is_none() {
        let clock = leg.link().run().clock().clone();
        let _ = leg.shutdown().await;
        linger(&mut leg, &clock).await;
    }
}

fn report(link: &super::link::Link, unit: Option<UnitId>) {
    if let Some(unit) = unit {
        link.run().passed(unit);
    }
}

/// Begins a chunk of the whole block's size and leaves it unfinished.
async fn write_tail(leg: &mut Leg, tail: Tail) {
    let size = if tail.chunked { format!("{:X}\r\n", tail.inside.whole) } else { String::new() };
    // A peer that is gone has nothing to lose by the rest.
    let _ = leg.write_all(&[size.as_bytes(), &tail.inside.part].concat()).await;
    let _ = leg.flush().await;
}

/// Waits until a reset can throw nothing away: the third fence and, for an injected one, the reader.
async fn leave_queues(leg: &Leg, clock: &Clock, settle: Option<Duration>) {
    let limit = Moment(clock.now().0 + PATIENCE);
    leg.wire().watch_sending();
    while leg.wire().all_sent() == Some(false) && clock.now() < limit {
        clock.after(LOOK).await;
    }
    let Some(settle) = settle else { return };
    loop {
        match leg.wire().all_read() {
            Some(true) => return,
            Some(false) if clock.now() < limit => clock.after(LOOK).await,
            Some(false) => return,
            None => return clock.after(settle).await,
        }
    }
}

/// Reads and throws away until the peer has closed too, for a while.
async fn linger(leg: &mut Leg, clock: &Clock) {
    tokio::select! {
        () = swallow(leg, LINGER_BYTES) => {}
        () = clock.after(LINGER) => {}
    }
}

/// Reads and throws away until the peer has closed, so many bytes at most.
async fn swallow(leg: &mut Leg, most: usize) {
    let (mut buf, mut left) = (vec![0; 16 * 1024], most);
    while let Ok(read @ 1..) = leg.read(&mut buf).await
        && left > read
    {
        left -= read;
    }
}
