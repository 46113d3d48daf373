//! The events that rules make: their words, and their bytes on the wire.
//!
//! It is no fault of its own; `respond` and `inject` write with it. The one rule it keeps: an event ends with its blank line.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::Value;

use crate::engine::filling::without_control;
use crate::engine::language::Complaints;
use crate::engine::language::params::{Datum, Params};

/// One event that a rule makes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventText {
    /// Its id.
    pub id: Option<String>,
    /// Its type.
    pub event: Option<String>,
    /// Its reconnection time in milliseconds.
    pub retry: Option<u64>,
    /// A comment line before it.
    pub comment: Option<String>,
    /// Its data.
    pub data: Option<EventData>,
}

/// The data of an event that a rule makes.
#[derive(Debug, Clone, PartialEq)]
pub enum EventData {
    /// Text, one data line for each of its lines.
    Text(String),
    /// A JSON-RPC message in one line.
    Message(Value),
}

impl EventText {
    /// An event of a table of `EVENT`.
    pub(in crate::engine) fn of(datum: &Datum) -> Self {
        let Datum::Table(params) = datum else { return Self::default() };
        let data = params.text("data").map(EventData::Text);
        Self {
            id: params.text("id"),
            event: params.text("event"),
            retry: params.number("retry"),
            comment: params.text("comment"),
            data: data.or_else(|| params.json("message").map(EventData::Message)),
        }
    }

    /// As it goes over the wire; `fill` fills in the names of the run.
    pub(in crate::engine) fn bytes(&self, fill: impl Fn(&Value) -> Value) -> Bytes {
        let text = |text: &str| match fill(&Value::from(text)) {
            Value::String(text) => text,
            value => value.to_string(),
        };
        let mut out = BytesMut::new();
        let mut line = |name: &str, value: &str| {
            out.put_slice(name.as_bytes());
            out.put_slice(value.as_bytes());
            out.put_u8(b'\n');
        };
        if let Some(comment) = &self.comment {
            lines(&text(comment)).for_each(|comment| line(": ", comment));
        }
        if let Some(event) = &self.event {
            line("event: ", &without_control(&text(event)));
        }
        if let Some(id) = &self.id {
            line("id: ", &without_control(&text(id)));
        }
        if let Some(retry) = self.retry {
            line("retry: ", &retry.to_string());
        }
        match &self.data {
            Some(EventData::Text(data)) => lines(&text(data)).for_each(|data| line("data: ", data)),
            Some(EventData::Message(message)) => line("data: ", &fill(message).to_string()),
            None => {}
        }
        out.put_u8(b'\n');
        out.freeze()
    }
}

/// Values of an event that are one line of it.
pub(in crate::engine) fn check(event: &Datum, slips: &mut Complaints) {
    if let Datum::Table(event) = event {
        ["id", "event"].into_iter().for_each(|key| one_line(event, key, slips));
    }
}

/// Complains of a value that would be more than one line of its event; an id with a NUL in it is none.
pub(in crate::engine) fn one_line(event: &Params, key: &str, slips: &mut Complaints) {
    if let (Some(Datum::Text(text)), Some(spot)) = (event.datum(key), event.written(key))
        && text.contains(['\r', '\n', '\0'])
    {
        slips.wrong(spot, format!("`{key}` is one line of an event"), "write it without a line end");
    }
}

/// The lines of a text, however they end: on the wire each of CR, LF and both begins another.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).flat_map(|line| line.split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_into_a_line_of_an_event_does_not_end_it() {
        let event = EventText { id: Some("${id}".into()), event: Some("${id}".into()), ..EventText::default() };
        assert_eq!(event.bytes(|_| Value::from("a\r\nb\0")), "event: a  b \nid: a  b \n\n");
    }

    #[test]
    fn every_line_of_the_data_is_a_line_of_the_event() {
        let event = EventText { data: Some(EventData::Text("a\rb\r\nc\n\nd".to_owned())), ..EventText::default() };
        assert_eq!(event.bytes(Value::clone), "data: a\ndata: b\ndata: c\ndata: \ndata: d\n\n");
    }
}
