//! An SSE answer that is written as it happens: a sender for the handler, a body for hyper.
//!
//! The body ends, well-formed, when the last sender is gone. Nothing is kept: what is sent after the client has left
//! is lost, and the sender is told.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Writes events to one SSE answer.
#[derive(Debug, Clone)]
pub(super) struct Events(UnboundedSender<Bytes>);

/// The body of that answer.
#[derive(Debug)]
pub(super) struct EventsBody(UnboundedReceiver<Bytes>);

/// Makes the two ends of an SSE answer.
pub(super) fn channel() -> (Events, EventsBody) {
    let (sender, receiver) = unbounded_channel();
    (Events(sender), EventsBody(receiver))
}

// === Events ===

impl Events {
    /// Writes a message as one event; whether there was still a body to write it to.
    pub(super) fn send(&self, message: &Value) -> bool {
        self.0.send(Bytes::from(format!("event: message\ndata: {message}\n\n"))).is_ok()
    }

    /// Whether the client still reads.
    pub(super) fn is_open(&self) -> bool {
        !self.0.is_closed()
    }
}

// === EventsBody ===

impl Body for EventsBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
