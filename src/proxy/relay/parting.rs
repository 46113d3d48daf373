//! The client's side of an exchange is dropped: it has ended, or it was ended, or the client has left.

use std::sync::Arc;
use std::task::{Context, Waker};

use hyper::body::Body;

use super::{ClientBody, Phase};
use crate::engine::event::{Ending, Event};
use crate::proxy::exchange::Exchange;
use crate::proxy::reading::Reading;
use crate::proxy::{orphan, pump};

impl Drop for ClientBody {
    fn drop(&mut self) {
        self.part();
        self.client.end();
    }
}

impl ClientBody {
    fn is_complete(&self) -> bool {
        self.phase == Phase::Ended || (self.phase == Phase::Open && (self.room == Some(0) || self.is_end_stream()))
    }

    /// Whether it was the client who ended its leg. A cut that was not carried out came too late.
    fn is_left(&self) -> bool {
        self.phase != Phase::Cut || self.client.link.take_cut().is_some()
    }

    /// The client's leg is over, one way or the other; the server's may not be.
    fn part(&mut self) {
        let complete = self.is_complete();
        if let (true, Some(reading)) = (complete, &mut self.reading) {
            reading.settle();
        }
        let left = (!complete && self.is_left()).then(|| self.client.link.gone().unwrap_or(Ending::Fin));
        let Some(exchange) = self.exchange.take() else {
            if let (Some(reading), Some(ending)) = (self.reading.take(), left) {
                reading.into_server().leave(ending);
            }
            return;
        };
        if let Some(ending) = left {
            exchange.run().feed(Event::Left { exchange: exchange.id, ending });
        }
        if self.relayed {
            self.part_relayed(&exchange, left);
        } else {
            self.part_engaged(&exchange, complete);
        }
    }

    fn part_relayed(&mut self, exchange: &Arc<Exchange>, left: Option<Ending>) {
        let ended = self.reading.as_ref().and_then(Reading::ended);
        match (ended, left) {
            (Some(ending), None) => exchange.run().feed(Event::Relayed { exchange: exchange.id, ending }),
            _ => self.hand_over(exchange),
        }
    }

    fn part_engaged(&mut self, exchange: &Arc<Exchange>, complete: bool) {
        if complete {
            if let Some(reading) = &mut self.reading {
                pump::pump(reading, exchange, Some(0), &mut Context::from_waker(Waker::noop()));
            }
            self.collect(exchange);
            if let Some(finish) = self.finish.take().filter(|finish| finish.ending != Ending::Eof) {
                self.end(finish);
            }
        }
        self.hand_over(exchange);
    }

    /// Gives the server's leg, if it is not over, to a task of its own until the engine has decided.
    fn hand_over(&mut self, exchange: &Arc<Exchange>) {
        exchange.part();
        if let Some(reading) = self.reading.take().filter(|reading| reading.ended().is_none() && !exchange.is_severed())
        {
            orphan::adopt(reading, exchange);
        }
    }
}
