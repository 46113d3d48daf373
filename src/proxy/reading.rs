//! An answer as it is read from the server: what is there is gathered into one piece before anybody looks at it.
//!
//! hyper hands chunks over one at a time and its server flushes whenever a body is pending, which costs one write and one
//! wake-up of the client for each; waiting two turns of the scheduler for one more chunk is five to ten times faster
//! (one turn gains nothing, three no more). No timer is involved: what is there leaves within those turns.

use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, response};

use super::endpoint::Endpoint;
use super::server::{Arrival, ServerLeg};
use crate::engine::event::{Ending, Source};

/// A piece that is large enough not to wait for more, in bytes.
pub(crate) const ENOUGH: usize = 64 * 1024;

/// How much is read of an answer whose head is held, in bytes.
const AHEAD: usize = 16 * 1024 * 1024;

/// How many turns of the scheduler are waited for one more chunk.
const TURNS: u8 = 2;

/// A server's leg with what was read from it and not looked at yet.
#[derive(Debug)]
pub(crate) struct Reading {
    server: ServerLeg,
    /// The stream may begin with a URL that names the server.
    endpoint: Option<Endpoint>,
    gathered: Gathered,
    waited: u8,
    trailers: Option<HeaderMap>,
    end: Option<Ending>,
    told: bool,
}

/// What was read, in order; nothing comes after the end.
#[derive(Debug)]
pub(crate) enum Read {
    Head(Box<response::Parts>, Source),
    Data(Bytes),
    End(Ending),
}

/// Bytes on their way into one piece; a single one is never copied.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    first: Option<Bytes>,
    more: BytesMut,
}

impl Reading {
    pub(crate) fn new(server: ServerLeg) -> Self {
        let gathered = Gathered::default();
        Self { server, endpoint: None, gathered, waited: 0, trailers: None, end: None, told: false }
    }

    /// The body that follows its head may begin with a URL that names the server.
    pub(crate) fn map(&mut self, endpoint: Option<Endpoint>) {
        self.endpoint = endpoint;
    }

    /// Returns the next thing that arrived, gathered.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Read> {
        loop {
            if let Some(read) = self.take_settled() {
                return Poll::Ready(read);
            }
            match self.server.poll_arrival(cx) {
                Poll::Ready(arrival) => {
                    if let Some(head) = self.receive(arrival) {
                        return Poll::Ready(head);
                    }
                }
                Poll::Pending if self.gathered.is_empty() => return Poll::Pending,
                Poll::Pending if self.waited < TURNS => {
                    self.waited += 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Pending => {
                    self.waited = 0;
                    return Poll::Ready(Read::Data(self.gathered.take()));
                }
            }
        }
    }

    /// Waits a little for what comes right behind the head, so that it can leave in one write with it.
    pub(crate) async fn prefetch(&mut self) {
        for turn in 0..=TURNS {
            let more = std::future::poll_fn(|cx| Poll::Ready(self.fill(ENOUGH, cx))).await;
            if !more || turn == TURNS {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.waited = TURNS;
    }

    /// Sees an end that is there already, without waiting for it: no byte of the answer is missing.
    pub(crate) fn settle(&mut self) {
        self.fill(ENOUGH, &mut Context::from_waker(Waker::noop()));
    }

    /// Reads on while what was read must wait: a server that is not read notices that something is held.
    pub(crate) fn read_ahead(&mut self, cx: &mut Context<'_>) {
        self.fill(AHEAD, cx);
    }

    /// Reads what is there, up to so many bytes. Returns whether more could come.
    fn fill(&mut self, limit: usize, cx: &mut Context<'_>) -> bool {
        while self.end.is_none() && self.gathered.len() < limit {
            match self.server.poll_arrival(cx) {
                Poll::Ready(arrival) => drop(self.receive(arrival)),
                Poll::Pending => return true,
            }
        }
        false
    }

    fn receive(&mut self, arrival: Arrival) -> Option<Read> {
        self.waited = 0;
        match arrival {
            Arrival::Head(head, source) => return Some(Read::Head(head, source)),
            Arrival::Data(data) => self.gather(data),
            Arrival::Trailers(trailers) => self.trailers = Some(trailers),
            Arrival::End(ending) => {
                let rest = self.endpoint.take().map(|mut endpoint| endpoint.rest());
                self.gather(rest.unwrap_or_default());
                self.end = Some(ending);
            }
        }
        None
    }

    fn gather(&mut self, mut data: Bytes) {
        if let Some(endpoint) = &mut self.endpoint {
            let (passing, done) = endpoint.push(&data);
            self.endpoint.take_if(|_| done);
            data = passing;
        }
        if !data.is_empty() {
            self.gathered.push(data);
        }
    }

    fn take_settled(&mut self) -> Option<Read> {
        if self.gathered.len() >= ENOUGH || (self.end.is_some() && !self.gathered.is_empty()) {
            return Some(Read::Data(self.gathered.take()));
        }
        let ending = self.end.filter(|_| !self.told)?;
        self.told = true;
        Some(Read::End(ending))
    }

    /// Returns how the answer ended, if nothing of it is left to be read.
    pub(crate) fn ended(&self) -> Option<Ending> {
        self.end.filter(|_| self.gathered.is_empty())
    }

    /// Whether all of the body was read, its proper end included, and nothing follows it.
    pub(crate) fn is_whole(&self) -> bool {
        self.ended() == Some(Ending::Eof) && self.trailers.is_none()
    }

    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    pub(crate) fn has_trailers(&self) -> bool {
        self.trailers.is_some()
    }

    /// The client goes on without it.
    pub(crate) fn disown(&mut self) {
        self.server.disown();
    }

    pub(crate) fn into_server(self) -> ServerLeg {
        self.server
    }
}

impl Gathered {
    pub(crate) fn push(&mut self, bytes: Bytes) {
        match self.first.take() {
            None if self.more.is_empty() => self.first = Some(bytes),
            None => self.more.extend_from_slice(&bytes),
            Some(first) => {
                self.more.reserve(first.len() + bytes.len());
                self.more.extend_from_slice(&first);
                self.more.extend_from_slice(&bytes);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.as_ref().map_or(self.more.len(), Bytes::len)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn take(&mut self) -> Bytes {
        self.first.take().unwrap_or_else(|| self.more.split().freeze())
    }
}
