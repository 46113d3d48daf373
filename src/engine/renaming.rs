//! Requests that travel under another id than the one their asker gave them (rule R27).
//!
//! What answers or cancels one names it by the id that its reader knows. The one rule it keeps: everything that the engine
//! says of a request, to rules and to the journal, names it by its asker's id.

use bytes::Bytes;
use serde_json::Value;

use super::bounded::Bounded;
use super::engine::Engine;
use super::event::ExchangeId;
use super::exchange::Exchange;
use super::fault::rewrite::set;
use super::owner::{CallId, Calls, Side, Spoken};
use super::rpc::{self, Id};
use super::selector::Stream;
use super::sse::{self, Block};
use super::unit::Point;

/// How many renamed requests are remembered.
const NAMES: usize = 16 * 1024;

/// The requests that travel under another id.
#[derive(Debug)]
pub(super) struct Names {
    /// `None`: under an id that is none, such as `null`.
    by_call: Bounded<CallId, Option<Id>>,
    by_id: Bounded<(u64, Side, Id), CallId>,
}

impl Default for Names {
    fn default() -> Self {
        Self { by_call: Bounded::new(NAMES), by_id: Bounded::new(NAMES) }
    }
}

impl Names {
    /// The id under which a request travels, if that is another than its own.
    pub(super) fn of(&self, call: CallId) -> Option<&Option<Id>> {
        self.by_call.get(&call)
    }

    /// The request that travels under this id.
    pub(super) fn bearer(&self, session: u64, side: Side, id: &Id) -> Option<CallId> {
        self.by_id.get(&(session, side, id.clone())).copied()
    }

    /// How much is remembered, in entries.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.by_call.len() + self.by_id.len()
    }
}

impl Calls {
    /// From here on a request travels under this id.
    pub(super) fn rename(&mut self, call: CallId, id: Option<Id>) {
        let Some(known) = self.get(call) else { return };
        let (session, side) = (known.session, known.side);
        if let Some(id) = &id {
            self.names.by_id.insert((session, side, id.clone()), call);
        }
        self.names.by_call.insert(call, id);
    }
}

impl Engine {
    /// Takes note of a whole block that has arrived, and names the requests in it as its reader knows them.
    pub(super) fn hear_block(&mut self, now: super::event::Moment, id: ExchangeId, block: Block) -> (Point, Bytes) {
        let (mut bytes, data) = (block.bytes.clone(), block.data.clone());
        let mut point = self.block_point(now, id, block);
        let spoken = point.block.as_ref().map_or(&[][..], |block| &block.messages);
        if let Some(mapped) = data.and_then(|data| self.mapped(&data, spoken)) {
            bytes = if self.is_json_answer(&point) { mapped } else { sse::with_data(&bytes, &mapped) };
            point.bytes = bytes.len() as u64;
        }
        (point, bytes)
    }

    /// The body of a request in which something had to be named otherwise.
    pub(super) fn mapped_request(&self, id: ExchangeId) -> Option<Bytes> {
        let exchange = self.exchanges.get(&id)?;
        self.mapped(&exchange.request_body, &exchange.messages)
    }

    /// Whether what comes on this exchange may name a request that travels under another id.
    pub(super) fn maps_ids(&self, exchange: &Exchange) -> bool {
        self.plan.renames && exchange.stream != Stream::Other
    }

    /// Whether it may carry an answer to a request that travels under another id.
    pub(super) fn answers_renamed(&self, exchange: &Exchange) -> bool {
        let own = || exchange.trail.owners.iter().any(|owner| self.calls.names.of(*owner).is_some());
        self.maps_ids(exchange) && (!matches!(exchange.stream, Stream::Post | Stream::Listen) || own())
    }

    /// The JSON text with the ids that its reader knows, if some are others.
    fn mapped(&self, json: &Bytes, spoken: &[Spoken]) -> Option<Bytes> {
        let renamed = |spoken: &Spoken| spoken.about.filter(|call| self.calls.names.of(*call).is_some());
        if !spoken.iter().any(|spoken| renamed(spoken).is_some()) {
            return None;
        }
        let mut value: Value = serde_json::from_slice(json).ok()?;
        let before = value.clone();
        let places = match &mut value {
            Value::Array(elements) => elements.iter_mut().collect(),
            one => vec![one],
        };
        let messages = places.into_iter().zip(rpc::elements(json)).filter(|(_, message)| message.is_some());
        for ((element, _), spoken) in messages.zip(spoken) {
            if let Some(call) = renamed(spoken) {
                self.name_otherwise(element, spoken, call);
            }
        }
        let named = serde_json::to_vec(&value).ok().filter(|_| value != before)?;
        Some(Bytes::from(named))
    }

    /// An answer gets the id that was asked under; a cancel names the id that was passed on.
    fn name_otherwise(&self, message: &mut Value, spoken: &Spoken, call: CallId) {
        let Some(known) = self.calls.get(call) else { return };
        if spoken.message.kind.is_reply() {
            set(message, "/id", known.id.to_json());
        } else if let (true, Some(Some(id))) = (spoken.message.cancels.is_some(), self.calls.names.of(call)) {
            set(message, "/params/requestId", id.to_json());
        }
    }
}
