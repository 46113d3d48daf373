//! What the engine does for an injection: what is added is made when its time has come.

use bytes::Bytes;
use serde_json::Value;

use super::{Inject, Place, To, What};
use crate::engine::answer::Media;
use crate::engine::engine::Engine;
use crate::engine::event::{ExchangeId, Moment};
use crate::engine::fault::event_text::{EventData, EventText};
use crate::engine::making::Made;
use crate::engine::unit::{Parcel, Point};

impl Engine {
    /// Adds something to the stream of the unit in hand, now or when its time has come.
    pub(super) fn inject(&mut self, now: Moment, rule: usize, inject: &Inject, point: &Point) {
        let Some(id) = point.exchange.filter(|id| self.takes_additions(*id)) else { return };
        if inject.when.is_some() {
            return self.await_addition(rule, inject, point);
        }
        self.log_firing(now, rule, point);
        for _ in 0..inject.repeat.unwrap_or(1) {
            let made = self.make(now, id, rule, inject, point);
            let made = made.into_iter().map(|made| made.of_firing(point.seq));
            match inject.place {
                Place::Before => self.put_before(now, made),
                Place::After => self.put_behind(made),
            }
        }
    }

    /// Sends the server something, now or when its time has come. Before the unit in hand: that waits until it is written.
    pub(super) fn inject_to_server(
        &mut self,
        now: Moment,
        rule: usize,
        inject: &Inject,
        point: &Point,
        parcel: &mut Parcel,
    ) {
        let Some(id) = point.exchange else { return };
        if inject.when.is_some() {
            return self.await_addition(rule, inject, point);
        }
        self.log_firing(now, rule, point);
        for _ in 0..inject.repeat.unwrap_or(1) {
            let Some(made) = self.make_post(now, id, rule, inject, point) else { return };
            let mut made = made.of_firing(point.seq);
            match inject.place {
                Place::Before => {
                    self.wait_behind(rule, parcel, made.parcel.seq);
                    self.put_before(now, [made]);
                }
                Place::After => {
                    self.wait_behind(rule, &mut made.parcel, point.seq);
                    self.put_behind([made]);
                }
            }
        }
    }

    /// The request that is sent, once.
    pub(in crate::engine) fn make_post(
        &mut self,
        now: Moment,
        id: ExchangeId,
        rule: usize,
        inject: &Inject,
        point: &Point,
    ) -> Option<Made> {
        let body = self.content(inject, point);
        let post = self.post_of(now, id, body)?;
        self.make_send(now, rule, point, post, (inject.place == Place::Before && inject.when.is_none(), now))
    }

    /// What is added, once.
    pub(in crate::engine) fn make(
        &mut self,
        now: Moment,
        id: ExchangeId,
        rule: usize,
        inject: &Inject,
        point: &Point,
    ) -> Vec<Made> {
        let bytes = self.content(inject, point);
        self.make_blocks(now, id, rule, &bytes)
    }

    /// What is added, as it goes over the wire: to the server a message is no event.
    fn content(&self, inject: &Inject, point: &Point) -> Bytes {
        match (&inject.what, inject.to) {
            (What::Event(EventText { data: Some(EventData::Message(message)), .. }), To::Server) => {
                self.filled(message, point).to_string().into()
            }
            (What::Event(event), _) => event.bytes(|value| self.filled(value, point)),
            (What::Raw(text), _) => match self.filled(&Value::from(text.as_str()), point) {
                Value::String(text) => Bytes::from(text),
                value => value.to_string().into(),
            },
        }
    }

    /// Whether something can be put between the events of an answer: a JSON answer has none (rule R32), and nobody could
    /// read it within an encoded one.
    fn takes_additions(&self, id: ExchangeId) -> bool {
        let Some((exchange, answer)) = self.exchanges.get(&id).and_then(|it| Some((it, it.answer.as_ref()?))) else {
            return false;
        };
        answer.form() == Media::Sse && !exchange.is_bodyless()
    }
}
