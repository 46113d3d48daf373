//! The answer on its way to the client: one body with two sources, the server's leg itself or what the engine lets go.
//!
//! It exists from the first moment of an exchange, inside the service future and then as the answer's body, and owns the
//! server's leg all the time: dropping it before the end is the client's leaving. Every byte it hands over is counted.

mod before;
mod parting;

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame};

use super::accept::Client;
use super::ending::{Cut, Tail};
use super::endpoint::Endpoint;
use super::exchange::{Exchange, Finish, Out};
use super::link::Tracked;
use super::orphan;
use super::pump;
use super::reading::{ENOUGH, Gathered, Read, Reading};
use crate::engine::event::{Ending, ExchangeId};

/// The client's side of an exchange.
pub(crate) struct ClientBody {
    client: Arc<Client>,
    /// Absent when everything just passes: then the engine is not asked.
    exchange: Option<Arc<Exchange>>,
    reading: Option<Reading>,
    /// Its bytes are relayed past the engine.
    relayed: bool,
    out: Gathered,
    finish: Option<Finish>,
    phase: Phase,
    /// How many bytes the announced length still allows.
    room: Option<u64>,
    framing: Framing,
    /// HTTP has begun to ask for the body.
    asked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// There is no body: a HEAD, a 204, a 304.
    Bodyless,
    Length,
    Chunks,
    /// It ends with the connection: a client of HTTP/1.0 knows no chunks.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The client's leg is as it should be.
    Open,
    /// The answer has ended properly.
    Ended,
    /// The connection is being ended on purpose.
    Cut,
    /// Nothing more comes.
    Stalled,
}

impl ClientBody {
    pub(crate) fn new(client: Arc<Client>, exchange: Option<Arc<Exchange>>) -> Self {
        let relayed = exchange.is_none();
        Self {
            client,
            exchange,
            reading: None,
            relayed,
            out: Gathered::default(),
            finish: None,
            phase: Phase::Open,
            room: None,
            framing: Framing::Chunks,
            asked: false,
        }
    }

    pub(crate) fn reads(&mut self, reading: Reading) {
        self.relayed = self.exchange.as_ref().is_none_or(|exchange| exchange.is_relayed());
        self.reading = Some(reading);
    }

    pub(crate) fn maps(&mut self, endpoint: Option<Endpoint>) {
        if let Some(reading) = &mut self.reading {
            reading.map(endpoint);
        }
    }

    // --- the body

    /// Takes the engine's decisions about the server's leg.
    fn obey(&mut self, exchange: &Arc<Exchange>) {
        if exchange.is_severed() {
            self.reading = None;
        }
        if let Some(reading) = self.reading.take_if(|_| exchange.has_fate()) {
            orphan::adopt(reading, exchange);
        }
    }

    /// Reads the server's leg and tells the engine.
    fn pump(&mut self, cx: &mut Context<'_>, exchange: &Arc<Exchange>) {
        self.obey(exchange);
        if let Some(reading) = &mut self.reading {
            pump::pump(reading, exchange, Some(self.client.link.untaken()), cx);
        }
        self.obey(exchange);
    }

    /// Takes what the engine has let go into one piece.
    fn collect(&mut self, exchange: &Exchange) {
        while self.finish.is_none() && self.phase == Phase::Open && self.out.len() < ENOUGH {
            match exchange.take_out() {
                None => return,
                Some(Out::Write { bytes, marks }) => {
                    for mark in marks {
                        self.client.link.mark((self.out.len() + mark.end) as u64, mark.unit);
                    }
                    if !bytes.is_empty() {
                        self.out.push(bytes);
                    }
                }
                Some(Out::Finish(finish)) => self.take_end(finish),
            }
        }
    }

    fn take_end(&mut self, mut finish: Finish) {
        // After these HTTP's framing stays whole, so that a part of a block is nothing but more of the body.
        if matches!(finish.ending, Ending::Eof | Ending::Stall)
            && let Some(inside) = finish.inside.take()
        {
            self.out.push(inside.part);
        }
        if finish.ending == Ending::Eof && !self.has_trailers() {
            // HTTP asks no more once it knows that this was all.
            self.client.link.mark(self.out.len() as u64, finish.unit);
        }
        self.finish = Some(finish);
    }

    fn has_trailers(&self) -> bool {
        self.reading.as_ref().is_some_and(Reading::has_trailers)
    }

    fn frame(&mut self, bytes: bytes::Bytes) -> Poll<Option<Result<Frame<Tracked>, Infallible>>> {
        if let Some(room) = &mut self.room {
            *room = room.saturating_sub(bytes.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(self.client.link.give(bytes)))))
    }

    fn poll_relay(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Tracked>, Infallible>>> {
        if let Some(exchange) = self.exchange.clone() {
            exchange.watch(cx.waker());
            self.obey(&exchange);
        }
        let Some(reading) = &mut self.reading else { return Poll::Pending };
        match reading.poll_read(cx) {
            Poll::Ready(Read::Data(bytes)) => self.frame(bytes),
            Poll::Ready(Read::End(Ending::Eof)) => {
                self.phase = Phase::Ended;
                Poll::Ready(reading.take_trailers().map(|trailers| Ok(Frame::trailers(trailers))))
            }
            Poll::Ready(Read::End(ending)) => {
                self.pass_on(ending);
                Poll::Pending
            }
            Poll::Ready(Read::Head(..)) | Poll::Pending => Poll::Pending,
        }
    }

    fn poll_released(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Tracked>, Infallible>>> {
        let Some(exchange) = self.exchange.clone() else { return Poll::Pending };
        exchange.unwatch();
        loop {
            self.pump(cx, &exchange);
            self.collect(&exchange);
            if !self.out.is_empty() {
                let bytes = self.out.take();
                return self.frame(bytes);
            }
            if self.finish.is_some() {
                return self.poll_finish();
            }
            if exchange.watch_if_idle(cx.waker()) {
                self.obey(&exchange);
                return Poll::Pending;
            }
        }
    }

    fn poll_finish(&mut self) -> Poll<Option<Result<Frame<Tracked>, Infallible>>> {
        match self.finish.take() {
            None => Poll::Pending,
            Some(Finish { ending: Ending::Eof, unit, .. }) => {
                self.phase = Phase::Ended;
                let trailers = self.reading.as_mut().and_then(Reading::take_trailers);
                if trailers.is_some() {
                    self.client.link.mark(0, unit);
                }
                Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
            }
            Some(finish) => {
                self.end(finish);
                Poll::Pending
            }
        }
    }

    // --- the end

    /// The server's own ending, passed on as it is.
    fn pass_on(&mut self, ending: Ending) {
        self.phase = Phase::Cut;
        self.client.link.cut(Cut::after_all(ending));
    }

    /// The engine's ending of the client's leg, other than a proper one.
    fn end(&mut self, finish: Finish) {
        if finish.ending == Ending::Stall {
            self.phase = Phase::Stalled;
            return;
        }
        self.phase = Phase::Cut;
        let tail = finish.inside.map(|inside| Tail { inside, chunked: self.framing == Framing::Chunks });
        let cut = Cut { tail, settle: finish.settle, unit: Some(finish.unit), ..Cut::after_all(finish.ending) };
        if let Some(unit) = self.client.link.cut(cut) {
            self.client.link.run().passed(unit);
        }
    }

    pub(crate) fn exchange_id(&self) -> Option<ExchangeId> {
        self.exchange.as_ref().map(|exchange| exchange.id)
    }
}

impl Body for ClientBody {
    type Data = Tracked;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Tracked>, Infallible>>> {
        self.asked = true;
        match self.phase {
            Phase::Ended => Poll::Ready(None),
            Phase::Cut => Poll::Pending,
            Phase::Stalled => {
                if let Some(exchange) = self.exchange.clone() {
                    exchange.watch(cx.waker());
                    self.pump(cx, &exchange);
                }
                Poll::Pending
            }
            Phase::Open if self.relayed => self.poll_relay(cx),
            Phase::Open => self.poll_released(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        // A body that is empty from the start makes hyper frame it in its own way, whatever was announced.
        if !self.asked {
            return self.framing == Framing::Bodyless;
        }
        if self.phase != Phase::Open {
            return self.phase == Phase::Ended;
        }
        if self.has_trailers() {
            return false;
        }
        if self.relayed {
            return self.reading.as_ref().is_some_and(|reading| reading.ended() == Some(Ending::Eof));
        }
        self.out.is_empty() && self.finish.as_ref().is_some_and(|finish| finish.ending == Ending::Eof)
    }
}

impl fmt::Debug for ClientBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBody").field("exchange", &self.exchange_id()).field("phase", &self.phase).finish()
    }
}
