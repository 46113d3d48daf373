//! Requests that travel under another id than the one their asker gave them, and events under another than the server's
//! (rule R27).
//!
//! What answers or cancels a request, or goes on behind an event, names it by the id that its reader knows. The one rule it
//! keeps: everything that the engine says of a request, to rules and to the journal, names it by its asker's id.

use std::ops::Range;

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::{Change, Media};
use super::bounded::Bounded;
use super::engine::Engine;
use super::event::ExchangeId;
use super::exchange::Exchange;
use super::owner::{CallId, Calls, EVENT_ID_LENGTH, EVENT_IDS, Side, Spoken};
use super::rpc::{self, Id};
use super::selector::Stream;
use super::sse::{self, Block};
use super::unit::Point;

pub(super) const LAST_EVENT_ID: &str = "last-event-id";

/// How many renamed requests are remembered.
const NAMES: usize = 16 * 1024;

/// The id under which a request travels.
#[derive(Debug)]
pub(super) struct Name {
    /// `None`: what it travels under is no id, such as `null`.
    pub(super) id: Option<Id>,
    json: Value,
}

impl Name {
    pub(super) fn new(json: Value) -> Self {
        Self { id: Id::of(&json), json }
    }
}

/// The requests and events that travel under another id.
#[derive(Debug)]
pub(super) struct Names {
    by_call: Bounded<CallId, Name>,
    by_id: Bounded<(u64, Side, Id), CallId>,
    /// The server's id of the event that a client knows by this one, or of the last before it.
    events: Bounded<(u64, Box<[u8]>), Bytes>,
}

impl Default for Names {
    fn default() -> Self {
        Self { by_call: Bounded::new(NAMES), by_id: Bounded::new(NAMES), events: Bounded::new(EVENT_IDS) }
    }
}

impl Names {
    /// The id under which a request travels, if that is another than its own.
    pub(super) fn of(&self, call: CallId) -> Option<&Name> {
        self.by_call.get(&call)
    }

    /// The requests that travel under what is no id, those that were asked first in front.
    pub(super) fn nameless(&self) -> impl Iterator<Item = CallId> {
        self.by_call.iter().filter(|(_, name)| name.id.is_none()).map(|(call, _)| *call)
    }

    /// From here on clients of this session know the event with the one id by the other.
    pub(super) fn tell_event(&mut self, session: u64, given: &Bytes, told: &[u8]) {
        if given.len() <= EVENT_ID_LENGTH && told.len() <= EVENT_ID_LENGTH {
            let given = self.given_event(session, given).unwrap_or_else(|| Bytes::copy_from_slice(given));
            self.events.insert((session, told.into()), given);
        }
    }

    /// A server gave an event this id: whoever names it means that event, and not one that a rule gave the same id before.
    pub(super) fn hear_event(&mut self, session: u64, given: &[u8]) {
        if let Some(known) = self.events.get_mut(&(session, given.into())) {
            *known = Bytes::copy_from_slice(given);
        }
    }

    /// The id that the server knows for the one that a client was told, if that is another.
    pub(super) fn given_event(&self, session: u64, told: &[u8]) -> Option<Bytes> {
        self.events.get(&(session, told.into())).filter(|given| *given != told).cloned()
    }

    /// The request that travels under this id.
    pub(super) fn bearer(&self, session: u64, side: Side, id: &Id) -> Option<CallId> {
        self.by_id.get(&(session, side, id.clone())).copied()
    }

    /// How much is remembered, in entries.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.by_call.len() + self.by_id.len() + self.events.len()
    }
}

impl Calls {
    /// From here on a request travels under this id.
    pub(super) fn rename(&mut self, call: CallId, name: Name) {
        let Some(known) = self.get(call) else { return };
        let (session, side) = (known.session, known.side);
        if let Some(id) = &name.id {
            self.names.by_id.insert((session, side, id.clone()), call);
        }
        self.names.by_call.insert(call, name);
    }

    /// The request of this side that an answer without an id answers: what travels under none is told apart by its order only.
    pub(super) fn nameless(&self, session: u64, side: Side) -> Option<CallId> {
        let open =
            |call: &CallId| self.get(*call).is_some_and(|it| it.is_open() && (it.session, it.side) == (session, side));
        self.names.nameless().find(open)
    }
}

impl Engine {
    /// Takes note of a whole block that has arrived, and names the requests in it as its reader knows them.
    pub(super) fn hear_block(&mut self, now: super::event::Moment, id: ExchangeId, block: Block) -> (Point, Bytes) {
        let (mut bytes, data) = (block.bytes.clone(), block.data.clone());
        self.hear_event_id(id, block.id.as_ref());
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

    /// The server gave an event this id; an empty one says that there is none to go on behind.
    fn hear_event_id(&mut self, id: ExchangeId, given: Option<&Bytes>) {
        let (Some(given), Some(exchange)) = (given, self.exchanges.get_mut(&id)) else { return };
        exchange.last_given =
            Some(Bytes::copy_from_slice(given)).filter(|id| (1..=EVENT_ID_LENGTH).contains(&id.len()));
        self.calls.names.hear_event(exchange.session, given);
    }

    /// An event is told to its client under this id. One that came with none is where the last that came with one is: behind
    /// that a client would go on.
    pub(super) fn tell_event_id(&mut self, id: ExchangeId, came: Option<&Bytes>, told: &[u8]) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        let before = || exchange.last_given.as_ref().or_else(|| exchange.header(LAST_EVENT_ID));
        if let Some(given) = came.or_else(before) {
            self.calls.names.tell_event(exchange.session, given, told);
        }
    }

    /// The id that the server knows for the event behind which a resume goes on, if its client knows another.
    pub(super) fn given_event_id(&self, exchange: &Exchange) -> Option<Bytes> {
        self.calls.names.given_event(exchange.session, exchange.header(LAST_EVENT_ID)?)
    }

    /// A resume goes on behind the event that its client means.
    pub(super) fn map_event_id(&mut self, id: ExchangeId) {
        let Some(given) = self.exchanges.get(&id).and_then(|exchange| self.given_event_id(exchange)) else { return };
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let came = exchange.request.headers.clone();
        let change = exchange.change.get_or_insert_with(|| Change::of(0, came));
        change.edits.headers.push((LAST_EVENT_ID.to_owned(), Some(given)));
    }

    /// Whether what comes on this exchange may name a request that travels under another id.
    pub(super) fn maps_ids(&self, exchange: &Exchange) -> bool {
        let renames = self.plan.renames_requests || self.plan.renames_blocks;
        renames && !matches!(exchange.stream, Stream::Delete | Stream::Other)
    }

    /// Whether an answer whose head is known may name one: the POST of such a request its answer, an event stream that of
    /// others and what cancels a server's.
    pub(super) fn names_renamed(&self, exchange: &Exchange) -> bool {
        let events = exchange.answer.as_ref().is_some_and(|answer| answer.form() == Media::Sse);
        let own = || exchange.trail.owners.iter().any(|owner| self.calls.names.of(*owner).is_some());
        match exchange.stream {
            Stream::Post | Stream::Listen => own() || events && self.plan.renames_blocks,
            Stream::Get | Stream::Resume | Stream::Legacy => events && self.maps_ids(exchange),
            Stream::Delete | Stream::Other => false,
        }
    }

    /// The JSON text with the ids that its reader knows, if some are others.
    fn mapped(&self, json: &Bytes, spoken: &[Spoken]) -> Option<Bytes> {
        let renamed = |spoken: &Spoken| spoken.about.filter(|call| self.calls.names.of(*call).is_some());
        if !spoken.iter().any(|spoken| renamed(spoken).is_some()) {
            return None;
        }
        let messages = rpc::texts(json).into_iter().zip(rpc::elements(json)).filter(|(_, message)| message.is_some());
        let (mut out, mut from) = (Vec::with_capacity(json.len() + 64), 0);
        for ((text, _), spoken) in messages.zip(spoken) {
            let Some((place, id)) = renamed(spoken).and_then(|call| self.name_otherwise(text, spoken, call)) else {
                continue;
            };
            // All these texts lie in the one.
            let start = text.get().as_ptr() as usize - json.as_ptr() as usize;
            out.extend_from_slice(&json[from..start + place.start]);
            out.extend_from_slice(id.as_bytes());
            from = start + place.end;
        }
        out.extend_from_slice(&json[from..]);
        Some(Bytes::from(out)).filter(|_| from > 0)
    }

    /// An answer gets the id that was asked under; a cancel names the id that was passed on. Where that stands in the
    /// message, and what is to stand there instead: so the rest keeps its text, and 15 MiB of it take no second.
    fn name_otherwise(&self, message: &RawValue, spoken: &Spoken, call: CallId) -> Option<(Range<usize>, String)> {
        let (at, id) = if spoken.message.kind.is_reply() {
            ("/id", self.calls.get(call)?.id.to_json().to_string())
        } else {
            spoken.message.cancels.as_ref()?;
            ("/params/requestId", self.calls.names.of(call)?.json.to_string())
        };
        let text = message.get();
        let Some(now) = rpc::pointer(text.as_bytes(), at) else {
            // An answer without an id has other members.
            return Some((1..1, format!("\"id\":{id},")));
        };
        let start = now.get().as_ptr() as usize - text.as_ptr() as usize;
        Some((start..start + now.get().len(), id)).filter(|(_, id)| now.get() != id)
    }
}
