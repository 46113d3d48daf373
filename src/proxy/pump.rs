//! What arrives from the server, told to the engine: used by whoever reads the server's leg at the moment.
//!
//! It reads on only while what waits for the client is bounded.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::exchange::Exchange;
use super::headers;
use super::reading::{Read, Reading};
use crate::engine::event::{AnswerHead, Event};

/// Reads until nothing more is there. `untaken`: what HTTP was handed for the client and has not written; `None`: of what
/// is read nothing goes there.
pub(crate) fn pump(reading: &mut Reading, exchange: &Arc<Exchange>, untaken: Option<u64>, cx: &mut Context<'_>) {
    let id = exchange.id;
    while exchange.wants_more(untaken) {
        let event = match reading.poll_read(cx) {
            Poll::Pending => return,
            Poll::Ready(Read::Data(bytes)) => Event::Data { exchange: id, bytes, last: reading.is_whole() },
            Poll::Ready(Read::End(ending)) => Event::End { exchange: id, ending },
            // The service future awaits the head, unless a rule has answered: then the server's comes too late.
            Poll::Ready(Read::Head(head, source)) => {
                let head = AnswerHead { status: head.status.as_u16(), headers: headers::listed(&head.headers), source };
                Event::Head { exchange: id, head }
            }
        };
        exchange.run().feed(event);
    }
}
