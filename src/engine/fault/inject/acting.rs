//! What the engine does for an injection: what is added is made when its time has come.

use bytes::Bytes;
use serde_json::Value;

use super::{Inject, Place, What};
use crate::engine::answer::Media;
use crate::engine::engine::Engine;
use crate::engine::event::{ExchangeId, Moment};
use crate::engine::making::Made;
use crate::engine::unit::Point;

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
            match inject.place {
                Place::Before => self.put_before(now, made),
                Place::After => self.put_behind(made),
            }
        }
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
        let bytes = match &inject.what {
            What::Event(event) => event.bytes(|value| self.filled(value, point)),
            What::Raw(text) => match self.filled(&Value::from(text.as_str()), point) {
                Value::String(text) => Bytes::from(text),
                value => value.to_string().into(),
            },
        };
        self.make_blocks(now, id, rule, &bytes)
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
