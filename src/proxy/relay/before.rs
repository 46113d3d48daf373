//! The client's side of an exchange before its head leaves: waiting for the engine's leave and for the server's head.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use http::{HeaderMap, Method, StatusCode, Version, header, response};

use super::{ClientBody, Framing};
use crate::engine::event::{Ending, Event, Source};
use crate::proxy::exchange::{Exchange, Head};
use crate::proxy::forward::Asked;
use crate::proxy::reading::Read;

/// An answer's head, and whose it is.
pub(crate) type AnswerHead = (Box<response::Parts>, Source);

impl ClientBody {
    /// Waits until the engine has given what `take` looks for. It may end the client's leg instead: then this never
    /// returns.
    pub(crate) async fn permit<T>(&mut self, mut take: impl FnMut(&Exchange) -> Option<T>) -> T {
        poll_fn(|cx| {
            let Some(exchange) = self.exchange.clone() else { return Poll::Pending };
            exchange.watch(cx.waker());
            if let Some(permit) = take(&exchange) {
                return Poll::Ready(permit);
            }
            if let Some(finish) = exchange.take_cut() {
                self.end(finish);
            }
            Poll::Pending
        })
        .await
    }

    /// For the engine the client has left; what it gets now is not the engine's concern.
    pub(crate) fn disengage(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            let ending = self.client.link.gone().unwrap_or(Ending::Fin);
            exchange.run().feed(Event::Left { exchange: exchange.id, ending });
        }
        self.relayed = true;
    }

    /// Waits for the answer's head. An end in its place ends the client's leg, and this never returns.
    ///
    /// # Errors
    ///
    /// A rule answers first: the head of that answer.
    pub(crate) async fn head(&mut self) -> Result<AnswerHead, Head> {
        poll_fn(|cx| {
            // Before anything is looked for: what comes in between wakes it.
            self.exchange.iter().for_each(|exchange| exchange.watch(cx.waker()));
            // What a rule answers may end in a cut, which comes behind its head.
            if let Some(made) = self.exchange.as_ref().and_then(|exchange| exchange.take_made()) {
                return Poll::Ready(Err(made));
            }
            // A cut comes before what the server's leg shows: one that was closed by command is no end of its own.
            if self.poll_cut() {
                return Poll::Pending;
            }
            match self.reading.as_mut().map(|reading| reading.poll_read(cx)) {
                Some(Poll::Ready(Read::Head(head, source))) => return Poll::Ready(Ok((head, source))),
                Some(Poll::Ready(Read::End(ending))) => {
                    self.ended_before_head(ending);
                    self.poll_cut();
                }
                Some(Poll::Ready(Read::Data(_)) | Poll::Pending) | None => {}
            }
            Poll::Pending
        })
        .await
    }

    /// Does what the engine has decided about the legs. Returns whether the client's is cut.
    fn poll_cut(&mut self) -> bool {
        let Some(exchange) = self.exchange.clone() else { return false };
        self.obey(&exchange);
        let cut = exchange.take_cut();
        let is_cut = cut.is_some();
        if let Some(finish) = cut {
            self.end(finish);
        }
        is_cut
    }

    fn ended_before_head(&mut self, ending: Ending) {
        match self.exchange.clone().filter(|_| !self.relayed) {
            Some(exchange) => exchange.run().feed(Event::End { exchange: exchange.id, ending }),
            None => self.pass_on(ending),
        }
    }

    /// Waits for leave to send the head, while the body that follows it is read on.
    pub(crate) async fn head_permit(&mut self) -> Option<Head> {
        poll_fn(|cx| {
            let Some(exchange) = self.exchange.clone() else { return Poll::Ready(None) };
            exchange.watch(cx.waker());
            if let Some(head) = exchange.take_head() {
                return Poll::Ready(Some(head));
            }
            if let Some(finish) = exchange.take_cut() {
                self.end(finish);
            }
            if self.relayed {
                if let Some(reading) = self.reading.as_mut().filter(|_| exchange.wants_more(Some(0))) {
                    reading.read_ahead(cx);
                }
            } else {
                self.pump(cx, &exchange);
                if let Some(head) = exchange.take_head() {
                    return Poll::Ready(Some(head));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The head is about to be handed over: knows the body's framing, and gathers what goes with the head.
    pub(crate) async fn seal(&mut self, asked: &Asked, status: StatusCode, fields: &HeaderMap, head: Option<Head>) {
        let bodyless =
            asked.method == Method::HEAD || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        let length = fields.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        (self.framing, self.room) = match length {
            _ if bodyless => (Framing::Bodyless, Some(0)),
            Some(length) => (Framing::Length, Some(length)),
            None if asked.version < Version::HTTP_11 => (Framing::Close, None),
            None => (Framing::Chunks, None),
        };
        if self.relayed {
            if let Some(reading) = &mut self.reading {
                reading.prefetch().await;
            }
        } else if let Some(exchange) = self.exchange.clone() {
            self.pump_turns(&exchange).await;
        }
        // From here to the head's writing nothing is flushed: no await may follow.
        if let Some(head) = head {
            self.client.link.mark_head(0, head.unit);
        }
        if let Some(exchange) = self.exchange.clone().filter(|_| !self.relayed) {
            self.collect(&exchange);
        }
    }

    async fn pump_turns(&mut self, exchange: &Arc<Exchange>) {
        poll_fn(|cx| {
            self.pump(cx, exchange);
            Poll::Ready(())
        })
        .await;
    }
}
