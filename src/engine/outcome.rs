//! Whether what a rule did can be seen at the wire (rule R35).
//!
//! The one rule it keeps: a client that gets the same bytes and the same end, no later and no earlier, saw no fault.

use super::answer::header;
use super::engine::Engine;
use super::event::{Ending, ExchangeId, Inside, Moment};
use super::exchange::{Body, Exchange};
use super::fault::cut::{Cut, Place};
use super::selector::At;
use super::unit::{LaneId, Parcel, Point};

impl Exchange {
    /// Whether its answer has ended, for its client, with its head: nothing that is done to its end can be seen.
    pub(super) fn is_bodyless(&self) -> bool {
        self.answer.is_some() && (self.request.method == "HEAD" || matches!(self.status(), Some(204 | 304)))
    }

    /// Whether its answer is known, from its head, to have no body.
    pub(super) fn is_empty(&self) -> bool {
        let length = self.answer.as_ref().and_then(|answer| header(&answer.head.headers, "content-length"));
        self.is_bodyless() || length.is_some_and(|length| length.trim_ascii() == b"0")
    }
}

impl Engine {
    /// A rule kept a unit back, or ensured an order: effective, unless nobody could see it.
    pub(super) fn effective_at(&mut self, rule: usize, point: &Point) {
        let exchange = point.exchange.and_then(|id| self.exchanges.get(&id));
        if point.at != At::End || !exchange.is_some_and(|exchange| exchange.is_bodyless()) {
            self.effective(rule);
        }
    }

    /// A cut makes this ending for the client: effective, unless all has reached it and it would have ended so by now.
    pub(super) fn judge_cut(
        &mut self,
        now: Moment,
        id: ExchangeId,
        rule: usize,
        (cut, point): (&Cut, &Point),
        (ending, inside): (Ending, Option<&Inside>),
    ) {
        let passes = match cut.place {
            Place::After => true,
            Place::Before => point.at == At::End,
            Place::Inside(_) => inside.is_some_and(|inside| inside.part.len() == inside.whole),
        };
        let waited = cut.when.is_some() && cut.place != Place::After && now > point.arrived;
        let waits = |parcel: &Parcel| parcel.bytes() > 0 || !parcel.waits.is_empty() || parcel.ready > now;
        let unseen = self.exchanges.get_mut(&id).filter(|exchange| exchange.head_left && passes).filter(|exchange| {
            let late = waited || exchange.down.parcels.iter().any(waits);
            match ending {
                _ if exchange.is_bodyless() => matches!(ending, Ending::Eof | Ending::Stall),
                Ending::Eof => exchange.read_end == Some(Ending::Eof) && !late,
                Ending::Fin | Ending::Reset | Ending::Stall => false,
            }
        });
        match unseen {
            Some(exchange) => exchange.unseen_cut = Some(rule),
            None => self.effective(rule),
        }
    }

    /// Bytes have come that a cut keeps from the client.
    pub(super) fn cut_is_seen(&mut self, id: ExchangeId) {
        if let Some(rule) = self.exchanges.get_mut(&id).and_then(|exchange| exchange.unseen_cut.take()) {
            self.effective(rule);
        }
    }

    /// The same for what goes this way, if it has bytes.
    pub(super) fn cut_is_seen_by(&mut self, lane: LaneId, point: &Point) {
        if let (LaneId::Down(id), At::Block) = (lane, point.at) {
            self.cut_is_seen(id);
        }
    }

    /// The bytes of this step have been gone through: those of a block that was not whole were kept as well.
    pub(super) fn judge_rest(&mut self, id: ExchangeId) {
        let framer = self.exchanges.get(&id).map(|exchange| &exchange.body);
        if matches!(framer, Some(Body::Blocks(framer)) if framer.is_open()) {
            self.cut_is_seen(id);
        }
    }
}
