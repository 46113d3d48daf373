//! What `rewrite` does to the message of a block or a request, and to the fields of an event.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::{Form, Rewrite};
use crate::engine::engine::Engine;
use crate::engine::matching;
use crate::engine::owner::{CallId, Spoken};
use crate::engine::renaming::Name;
use crate::engine::rpc::{self, Id, Kind, Message};
use crate::engine::sse::{self, BlockKind};
use crate::engine::unit::{Out, Parcel, Point};

impl Engine {
    /// Changes the message of a block or a request, and whether it did. What is no JSON stays as it is.
    pub(super) fn rewrite_message(&mut self, rule: usize, rewrite: &Rewrite, parcel: &mut Parcel) -> bool {
        let Some((end, point)) = parcel.points.first_mut() else { return false };
        let Some(before) = self.json_of(&parcel.out, point) else { return false };
        let Some(after) = self.rewritten(rule, rewrite, point, &before).filter(|after| *after != before) else {
            return false;
        };
        if rewrite.id.is_some() {
            self.note_names(point, &before, &after);
        }
        let json_answer = self.is_json_answer(point);
        let spoken = match (&mut parcel.out, &mut point.block) {
            (Out::Bytes(bytes), Some(block)) => {
                *bytes = if json_answer { after.clone() } else { sse::with_data(bytes, &after) };
                *end = bytes.len();
                point.bytes = bytes.len() as u64;
                &mut block.messages
            }
            (out @ Out::Forward(_), _) => {
                *out = Out::Forward(Some(after.clone()));
                point.bytes = after.len() as u64;
                let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id)) else { return true };
                &mut exchange.messages
            }
            _ => return true,
        };
        renew(spoken, &before, &after);
        true
    }

    /// The JSON text that a unit carries.
    fn json_of(&self, out: &Out, point: &Point) -> Option<Bytes> {
        match out {
            Out::Forward(Some(body)) => Some(body.clone()),
            Out::Forward(None) => Some(self.exchanges.get(&point.exchange?)?.request_body.clone()),
            Out::Bytes(bytes) if self.is_json_answer(point) => Some(bytes.clone()),
            Out::Bytes(bytes) => sse::data_of(bytes),
            Out::Admit | Out::Read | Out::Post | Out::Head | Out::Gate(_) | Out::End(_) | Out::Leave(_) => None,
        }
    }

    fn spoken<'a>(&'a self, point: &'a Point) -> &'a [Spoken] {
        let of_exchange = || point.exchange.and_then(|id| self.exchanges.get(&id)).map(|it| &*it.messages);
        point.block.as_ref().map(|block| &*block.messages).or_else(of_exchange).unwrap_or_default()
    }

    fn rewritten(&self, rule: usize, rewrite: &Rewrite, point: &Point, json: &Bytes) -> Option<Bytes> {
        let mut value: Value = serde_json::from_slice(json).ok()?;
        let fill = |template: &Value| self.filled(template, point);
        match &mut value {
            Value::Array(elements) => {
                let messages = elements.iter_mut().zip(rpc::elements(json)).filter(|(_, message)| message.is_some());
                for ((element, _), spoken) in messages.zip(self.spoken(point)) {
                    if self.is_meant(rule, point, spoken) {
                        rewrite.change(element, &fill);
                    }
                }
            }
            message => rewrite.change(message, &fill),
        }
        if rewrite.form == Some(Form::Array) && !value.is_array() {
            value = Value::Array(vec![value]);
        }
        serde_json::to_vec(&value).ok().map(Bytes::from)
    }

    /// In a batch only the elements that the rule's selector means are rewritten (rule R6).
    fn is_meant(&self, rule: usize, point: &Point, spoken: &Spoken) -> bool {
        let selector = &self.plan.rules[rule].sel.selector;
        let fits = selector.message.as_ref().is_none_or(|message| matching::message_fits(message, spoken, &self.calls));
        fits && matching::one_of_batch_fits(selector, point.at, spoken, &self.calls)
    }

    /// Remembers the ids under which requests travel on, so that what comes back finds its asker (rule R27).
    fn note_names(&mut self, point: &Point, before: &Bytes, after: &Bytes) {
        let requests = changed(before, after).zip(self.spoken(point)).filter_map(|(name, spoken)| {
            let request = spoken.message.kind == Kind::Request;
            Some((spoken.about.filter(|_| request)?, name?))
        });
        let requests: Vec<(CallId, Name)> = requests.collect();
        for (call, name) in requests {
            self.calls.rename(call, name);
        }
    }

    /// Changes the SSE fields of a block, and whether it did. A JSON answer has none, and of a block that passes in parts
    /// they have gone.
    pub(super) fn rewrite_event(&mut self, rewrite: &Rewrite, parcel: &mut Parcel) -> bool {
        let Some((end, point)) = parcel.points.first_mut() else { return false };
        if rewrite.event.is_empty() || self.keeps_its_place(point) {
            return false;
        }
        let Out::Bytes(bytes) = &mut parcel.out else { return false };
        let mut after = bytes.clone();
        for (name, value) in &rewrite.event {
            let value = value.as_ref().map(|value| self.filled_line(value, point));
            after = sse::with_field(&after, name, value.as_deref());
        }
        if after == *bytes {
            return false;
        }
        (*end, point.bytes) = (after.len(), after.len() as u64);
        *bytes = after.clone();
        let read = sse::block_of(after);
        let trail = point.exchange.and_then(|id| self.exchanges.get(&id)).map(|exchange| Arc::clone(&exchange.trail));
        let came = point.block.as_ref().and_then(|block| block.event_id.clone());
        if let (Some(told), Some(trail), Some(id)) = (&read.id, &trail, point.exchange) {
            self.calls.issue(point.session, told, trail);
            self.tell_event_id(id, came.as_ref(), told);
        }
        if let Some(block) = &mut point.block {
            let unread = read.kind == BlockKind::Message && block.messages.is_empty();
            (block.kind, block.event_id) = (if unread { BlockKind::Unparsable } else { read.kind }, read.id);
        }
        true
    }
}

/// What each message of a text says after a change. Whose it is does not change with what it says, and its id stays the
/// one under which its asker knows it.
fn renew(spoken: &mut [Spoken], before: &Bytes, after: &Bytes) {
    for (spoken, message) in spoken.iter_mut().zip(pairs(before, after)) {
        if let Some(message) = message {
            spoken.message = Message { id: spoken.message.id.take(), ..message };
        }
    }
}

/// The messages of a text as they are after a change, in the order of those before it.
fn pairs(before: &Bytes, after: &Bytes) -> impl Iterator<Item = Option<Message>> {
    let mut after = rpc::elements(after).into_iter();
    rpc::elements(before).into_iter().filter_map(move |was| {
        let is = after.next().flatten();
        was.map(|_| is)
    })
}

/// The id of each message after a change, where it is another than before.
fn changed(before: &Bytes, after: &Bytes) -> impl Iterator<Item = Option<Name>> {
    let messages = rpc::elements(before).into_iter().zip(rpc::ids(after));
    let messages = messages.filter_map(|(message, is)| Some((message?.id, is)));
    let other = |(was, is): (Option<Id>, Value)| (was != Id::of(&is)).then(|| Name::new(is));
    messages.map(other).collect::<Vec<_>>().into_iter()
}
