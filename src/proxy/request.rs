//! A request's body on its way to the server, and the peek into it before.
//!
//! What was peeked is sent as it came. The body tells the server's leg when its last byte was handed over.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use serde_json::value::RawValue;

use super::answer;
use super::ending::Cut;
use super::exchange::Exchange;
use super::link::{Link, Tracked};
use super::timer::{Clock, Until};
use crate::engine::event::UnitId;

/// A request's body is looked into up to this size, in bytes; above it the request is matched by its head (rule R38).
pub const PEEK_CAP: u64 = 4 * 1024 * 1024;

/// A server that was asked for leave to send and says nothing within this time is sent the body anyway (RFC 9110, 10.1.1).
const EXPECT_LIMIT: Duration = Duration::from_secs(1);

/// The body of a request as it goes to the server.
pub(crate) struct ServerBody {
    /// What was read already, in order.
    read: VecDeque<Bytes>,
    rest: Rest,
    /// The client's leg, on which the rest arrives.
    client: Option<Arc<Link>>,
    link: Option<Arc<Link>>,
    unit: Option<UnitId>,
    hold: Option<Hold>,
    /// How many bytes may still leave, if the request is to stay unfinished.
    left: Option<u64>,
    /// It leaves piece by piece, as the engine says there.
    parts: Option<Arc<Exchange>>,
}

enum Rest {
    /// There is no body at all, or nothing after what was read.
    None,
    Trailers(HeaderMap),
    Stream(Incoming),
}

/// Until the server has said that it wants the body.
struct Hold {
    leave: Arc<Leave>,
    limit: Until,
}

/// The server's leave to send the body.
#[derive(Debug, Default)]
pub(crate) struct Leave {
    given: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// What a peek found.
pub(crate) enum Peeked {
    Whole,
    BeyondCap,
    /// The client's framing is broken, or it is gone.
    Broken(hyper::Error),
}

impl ServerBody {
    /// A body that is passed on as it comes.
    pub(crate) fn streaming(body: Incoming, client: &Arc<Link>) -> Self {
        let rest = if body.is_end_stream() { Rest::None } else { Rest::Stream(body) };
        Self { rest, client: Some(Arc::clone(client)), ..Self::whole(Bytes::new()) }
    }

    /// A body that no client sends.
    pub(crate) fn whole(body: Bytes) -> Self {
        Self {
            read: Some(body).filter(|body| !body.is_empty()).into_iter().collect(),
            rest: Rest::None,
            client: None,
            link: None,
            unit: None,
            hold: None,
            left: None,
            parts: None,
        }
    }

    /// Reads on until all is known or the cap is passed.
    pub(crate) async fn peek(&mut self) -> Peeked {
        let mut len = 0;
        while let Rest::Stream(body) = &mut self.rest {
            match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
                None => self.rest = Rest::None,
                Some(Err(error)) => return Peeked::Broken(error),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        len += data.len() as u64;
                        let last = body.is_end_stream();
                        self.read.push_back(data);
                        if last {
                            self.rest = Rest::None;
                        }
                        if len > PEEK_CAP {
                            return Peeked::BeyondCap;
                        }
                    }
                    Err(frame) => self.rest = frame.into_trailers().map_or(Rest::None, Rest::Trailers),
                },
            }
        }
        Peeked::Whole
    }

    /// Returns what was read so far, in one piece.
    pub(crate) fn read(&mut self) -> Bytes {
        if self.read.len() > 1 {
            let mut all = BytesMut::with_capacity(self.read.iter().map(Bytes::len).sum());
            self.read.drain(..).for_each(|part| all.extend_from_slice(&part));
            self.read.push_back(all.freeze());
        }
        self.read.front().cloned().unwrap_or_default()
    }

    /// Sends another body in place of what came.
    pub(crate) fn replace(&mut self, body: Bytes) {
        self.read = VecDeque::from([body]);
        self.rest = Rest::None;
    }

    /// Returns the id by which an error can answer this request, reading it if nobody has. A client that waits for leave
    /// to send is not asked for its body only to be refused.
    pub(crate) async fn id(mut self) -> Option<Box<RawValue>> {
        if self.hold.is_some() {
            return None;
        }
        matches!(self.peek().await, Peeked::Whole).then(|| self.read()).and_then(|body| answer::rpc_id(&body))
    }

    /// Reports this unit when the last byte of the request has left.
    pub(crate) fn report(&mut self, unit: UnitId) {
        self.unit = Some(unit);
    }

    /// Lets only so many bytes of it leave: it never ends.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.left = Some(bytes);
    }

    /// Holds the body back until the server gives leave.
    pub(crate) fn hold(&mut self, clock: &Clock) -> Arc<Leave> {
        let leave = Arc::new(Leave::default());
        self.hold = Some(Hold { leave: Arc::clone(&leave), limit: clock.after(EXPECT_LIMIT) });
        leave
    }

    /// The request is being sent on this leg.
    pub(crate) fn sent_on(&mut self, link: &Arc<Link>) {
        self.link = Some(Arc::clone(link));
        match (self.unit, &self.rest) {
            (Some(unit), _) if self.parts.is_some() => link.mark_head(0, unit),
            (Some(unit), Rest::None) if self.left.is_none() => {
                link.mark_head(self.read.iter().map(|part| part.len() as u64).sum(), unit);
            }
            _ => {}
        }
    }

    /// Sends it in the pieces for which the engine gives leave.
    pub(crate) fn part(&mut self, exchange: &Arc<Exchange>) {
        self.parts = Some(Arc::clone(exchange));
    }

    /// Cuts off the next piece, once it may leave.
    fn poll_piece(&mut self, exchange: &Exchange, cx: &mut Context<'_>) -> Poll<Bytes> {
        let (length, unit) = ready!(exchange.poll_send(cx));
        let whole = self.read();
        let length = length.min(whole.len());
        self.read = VecDeque::from([whole.slice(length..)]);
        self.read.retain(|rest| !rest.is_empty());
        if let Some(link) = &self.link {
            link.mark(length as u64, unit);
        }
        Poll::Ready(whole.slice(..length))
    }

    fn give(&mut self, bytes: Bytes) -> Frame<Tracked> {
        let link = self.link.as_ref().expect("a body is polled only once it is sent");
        Frame::data(link.give(bytes))
    }

    /// Gives no more than may still leave, and reports the unit with the last byte that may.
    fn give_part(&mut self, mut bytes: Bytes) -> Frame<Tracked> {
        if let Some(left) = &mut self.left {
            bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= bytes.len() as u64;
        }
        let frame = self.give(bytes);
        self.unfinished();
        frame
    }

    /// Whether nothing more may leave; then the unit is reported.
    fn unfinished(&mut self) -> bool {
        let over = self.left == Some(0);
        if let (true, Some(unit), Some(link)) = (over, self.unit, &self.link) {
            link.mark_head(0, unit);
            self.unit = None;
        }
        over
    }

    /// The rest will not come. If that is because the client is gone, this leg ends as the client's did: the error alone
    /// would make it a FIN.
    fn broken(&self) {
        if let (Some(ending), Some(link)) = (self.client.as_ref().and_then(|client| client.gone()), &self.link) {
            link.cut(Cut::at_once(ending));
        }
    }

    /// The last byte of a streamed body is handed over.
    fn streamed(&mut self) {
        self.rest = Rest::None;
        if let (Some(unit), Some(link), None) = (self.unit, &self.link, &self.parts) {
            link.mark_head(0, unit);
        }
    }
}

impl Body for ServerBody {
    type Data = Tracked;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Tracked>, hyper::Error>>> {
        let this = &mut *self;
        if let Some(hold) = &mut this.hold {
            ready!(hold.poll(cx));
            this.hold = None;
        }
        if this.unfinished() {
            return Poll::Pending;
        }
        if let Some(exchange) = this.parts.clone().filter(|_| !this.read.is_empty()) {
            let piece = ready!(this.poll_piece(&exchange, cx));
            return Poll::Ready(Some(Ok(this.give(piece))));
        }
        while let Some(bytes) = this.read.pop_front() {
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(this.give_part(bytes))));
            }
        }
        let frame = match &mut this.rest {
            Rest::Stream(body) => ready!(Pin::new(body).poll_frame(cx)).transpose().inspect_err(|_| this.broken())?,
            Rest::Trailers(trailers) => Some(Frame::trailers(std::mem::take(trailers))),
            Rest::None => return Poll::Ready(None),
        };
        let Some(frame) = frame else {
            this.streamed();
            return Poll::Ready(None);
        };
        match frame.into_data() {
            Ok(data) => {
                let last = matches!(&this.rest, Rest::Stream(body) if body.is_end_stream());
                let frame = this.give_part(data);
                if last {
                    this.streamed();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Err(frame) => {
                this.streamed();
                Poll::Ready(frame.into_trailers().ok().map(|trailers| Ok(Frame::trailers(trailers))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.rest, Rest::None) && self.read.is_empty() && self.left.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            Rest::None => SizeHint::with_exact(self.read.iter().map(|part| part.len() as u64).sum()),
            Rest::Stream(body) if self.read.is_empty() => body.size_hint(),
            _ => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ServerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBody").field("unit", &self.unit).finish_non_exhaustive()
    }
}

// === leave to send ===

impl Hold {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.leave.given.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        *self.leave.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if self.leave.given.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        Pin::new(&mut self.limit).poll(cx)
    }
}

impl Leave {
    pub(crate) fn is_given(&self) -> bool {
        self.given.load(Ordering::Acquire)
    }

    /// The server wants the body.
    pub(crate) fn give(&self) {
        self.given.store(true, Ordering::Release);
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}
