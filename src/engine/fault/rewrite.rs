//! `rewrite`: another content for the same unit.

use bytes::Bytes;
use serde_json::Value;

use crate::engine::engine::Engine;
use crate::engine::event::Moment;
use crate::engine::exchange::stream_word;
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, EVENT_FIELD, Kind, Need, RPC_ERROR, Spot, field};
use crate::engine::matching;
use crate::engine::owner::Spoken;
use crate::engine::rpc;
use crate::engine::selector::At;
use crate::engine::sse;
use crate::engine::unit::{Out, Parcel, Point};

/// `rewrite`: for now values set in a block's or a request's message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rewrite {
    /// JSON pointer and the value put there; missing objects on the way are made. `"${owner.id}"` and the other
    /// names of language.md 2, "Variables", are filled in.
    pub set: Vec<(String, Value)>,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "rewrite",
    at: &[At::Request, At::Head, At::Block],
    main: Some("status"),
    doc: "gives a unit another content",
    params: &[
        field("status", Kind::Int(100, 599), Need::Optional, "the status"),
        field("headers", Kind::Headers, Need::Optional, "headers: a value sets, false removes"),
        field("set", Kind::Set, Need::Optional, "values put into the message"),
        field("remove", Kind::PointerList, Need::Optional, "what is taken out of the message"),
        field(
            "id",
            Kind::Either(&[
                Kind::Word(&["string", "number", "null"]),
                Kind::Table(&[field("value", Kind::Json, Need::Required, "the id")]),
            ]),
            Need::Optional,
            "the message's id: as another type, or another",
        ),
        field("result", Kind::Json, Need::Optional, "the message's result"),
        field("error", Kind::Table(RPC_ERROR), Need::Optional, "an error in place of the result"),
        field(
            "event",
            Kind::Table(&[
                field("id", EVENT_FIELD, Need::Optional, "its id, or false"),
                field("event", EVENT_FIELD, Need::Optional, "its type, or false"),
                field("retry", EVENT_FIELD, Need::Optional, "its reconnection time, or false"),
            ]),
            Need::Optional,
            "the SSE fields",
        ),
        field("as", Kind::Word(&["sse", "json", "array"]), Need::Optional, "another form of the same content"),
    ],
    make: Some(|params, _| Some(Fault::Rewrite(make(params)))),
    check,
};

fn make(params: &Params) -> Rewrite {
    Rewrite { set: params.set("set").unwrap_or_default() }
}

fn check(params: &Params, at: At, spot: &Spot, slips: &mut Complaints) {
    let other = params.which(&["status", "headers", "remove", "id", "result", "error", "event", "as"]);
    for (key, spot) in &other {
        slips.not_built(spot, &format!("`rewrite` of `{key}`"));
    }
    match params.written("set") {
        Some(set) if at == At::Head => {
            slips.wrong(set, "`set` changes a message, and a head has none", "match at = \"block\" or \"request\"");
        }
        None if other.is_empty() => slips.wrong(spot, "`rewrite` changes nothing", "write `set`"),
        _ => {}
    }
}

impl Act for Rewrite {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.rewrite(turn.now, turn.rule, self, turn.parcel);
    }

    fn explain(&self) -> String {
        let pointers: Vec<&str> = self.set.iter().map(|(pointer, _)| pointer.as_str()).collect();
        format!("set {}", pointers.join(", "))
    }
}

impl Engine {
    /// Puts values into the message of a block or a request. What is no JSON stays as it is.
    fn rewrite(&mut self, now: Moment, rule: usize, rewrite: &Rewrite, parcel: &mut Parcel) {
        let Some((end, point)) = parcel.points.first_mut() else { return };
        self.log_firing(now, rule, point);
        let Some(before) = self.json_of(&parcel.out, point) else { return };
        let Some(after) = self.rewritten(rule, rewrite, point, &before).filter(|after| *after != before) else {
            return;
        };
        self.effective(rule);
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
                let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id)) else { return };
                &mut exchange.messages
            }
            _ => return,
        };
        for (spoken, message) in spoken.iter_mut().zip(rpc::peek(&after)) {
            spoken.message = message;
        }
    }

    /// The JSON text that a unit carries.
    fn json_of(&self, out: &Out, point: &Point) -> Option<Bytes> {
        match out {
            Out::Forward(Some(body)) => Some(body.clone()),
            Out::Forward(None) => Some(self.exchanges.get(&point.exchange?)?.request_body.clone()),
            Out::Bytes(bytes) if self.is_json_answer(point) => Some(bytes.clone()),
            Out::Bytes(bytes) => sse::data_of(bytes),
            Out::Admit | Out::Read | Out::Head | Out::Gate(_) | Out::End(_) | Out::Leave(_) => None,
        }
    }

    fn rewritten(&self, rule: usize, rewrite: &Rewrite, point: &Point, json: &Bytes) -> Option<Bytes> {
        let mut value: Value = serde_json::from_slice(json).ok()?;
        let spoken = match &point.block {
            Some(block) => &block.messages,
            None => &self.exchanges.get(&point.exchange?)?.messages,
        };
        match &mut value {
            Value::Array(elements) => {
                let messages = elements.iter_mut().zip(rpc::elements(json)).filter(|(_, message)| message.is_some());
                for ((element, _), spoken) in messages.zip(spoken) {
                    if self.is_meant(rule, point, spoken) {
                        self.set_all(rewrite, point, element);
                    }
                }
            }
            message => self.set_all(rewrite, point, message),
        }
        serde_json::to_vec(&value).ok().map(Bytes::from)
    }

    /// In a batch only the elements that the rule's selector means are rewritten (rule R6).
    fn is_meant(&self, rule: usize, point: &Point, spoken: &Spoken) -> bool {
        let selector = &self.plan.rules[rule].sel.selector;
        let fits = selector.message.as_ref().is_none_or(|message| matching::message_fits(message, spoken, &self.calls));
        fits && matching::one_of_batch_fits(selector, point.at, spoken, &self.calls)
    }

    fn set_all(&self, rewrite: &Rewrite, point: &Point, message: &mut Value) {
        for (pointer, template) in &rewrite.set {
            set(message, pointer, self.filled(template, point));
        }
    }

    /// A value with the names of the run filled in; a string that is one name whole takes the value's own type.
    pub(in crate::engine) fn filled(&self, template: &Value, point: &Point) -> Value {
        match template {
            Value::String(text) => self.filled_text(text, point),
            Value::Array(elements) => elements.iter().map(|element| self.filled(element, point)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.filled(value, point))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    fn filled_text(&self, text: &str, point: &Point) -> Value {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = split_name(rest) {
            let value = self.named(name, point);
            if before.is_empty() && after.is_empty() && out.is_empty() {
                return value;
            }
            out.push_str(before);
            match value {
                Value::String(text) => out.push_str(&text),
                value => out.push_str(&value.to_string()),
            }
            rest = after;
        }
        out.push_str(rest);
        Value::String(out)
    }

    /// What a name of the run stands for; null when there is none, and also for a name that does not exist.
    fn named(&self, name: &str, point: &Point) -> Value {
        let owner = point.belongs.owners.first().and_then(|owner| self.calls.get(*owner));
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        match name {
            "owner.id" => owner.map_or(Value::Null, |owner| owner.id.to_json()),
            "owner.method" => text(owner.map(|owner| &*owner.method)),
            "owner.name" => text(owner.and_then(|owner| owner.name.as_deref())),
            "exchange.stream" => {
                text(point.exchange.and_then(|id| self.exchanges.get(&id)).map(|exchange| stream_word(exchange.stream)))
            }
            "session.id" => {
                let id = self.sessions.get(point.session).and_then(|session| session.id.as_ref());
                id.map_or(Value::Null, |id| Value::from(String::from_utf8_lossy(id)))
            }
            _ => Value::Null,
        }
    }
}

/// The text before a `${name}`, the name, and the text after it.
fn split_name(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("${")?;
    let end = start + text[start..].find('}')?;
    Some((&text[..start], &text[start + 2..end], &text[end + 1..]))
}

/// Puts a value at a JSON pointer; objects that are missing on the way are made, arrays are not made longer.
fn set(root: &mut Value, pointer: &str, value: Value) {
    let mut place = root;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        if let Value::Array(elements) = place {
            let Some(element) = token.parse::<usize>().ok().and_then(|index| elements.get_mut(index)) else { return };
            place = element;
            continue;
        }
        if !place.is_object() {
            *place = Value::Object(serde_json::Map::new());
        }
        let Value::Object(members) = place else { return };
        place = members.entry(token).or_insert(Value::Null);
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_makes_the_objects_on_its_way_and_keeps_the_rest() {
        let mut message: Value = serde_json::from_str(r#"{"b":1.50,"params":{"x":[1,2]}}"#).unwrap();
        set(&mut message, "/params/_meta/mishap~1owner", Value::from(7));
        set(&mut message, "/params/x/1", Value::from("two"));
        set(&mut message, "/params/x/9", Value::from("not there"));
        assert_eq!(message.to_string(), r#"{"b":1.50,"params":{"x":[1,"two"],"_meta":{"mishap/owner":7}}}"#);
    }

    #[test]
    fn names_are_found_in_their_text() {
        assert_eq!(split_name("a${b}c"), Some(("a", "b", "c")));
        assert_eq!((split_name("a$b"), split_name("${b")), (None, None));
    }
}
