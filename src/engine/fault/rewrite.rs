//! `rewrite`: another content for the same unit.

mod acting;
mod checks;
mod head;
mod message;
mod telling;

use serde_json::Value;

use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Complaints, EVENT_FIELD, Kind, Need, RPC_ERROR, Spot, field};
use crate::engine::record::PointFate;
use crate::engine::rule::Rule;
use crate::engine::selector::At;

/// `rewrite`: requests, heads, blocks. In what it writes `"${owner.id}"` and the other names of language.md 2, "Variables",
/// are filled in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rewrite {
    /// The status of an answer.
    pub status: Option<u16>,
    /// Headers, names in lower case; `None` removes.
    pub headers: Vec<(String, Option<String>)>,
    /// JSON pointer and the value put there; missing objects on the way are made.
    pub set: Vec<(String, Value)>,
    /// JSON pointers to what is taken away.
    pub remove: Vec<String>,
    /// The message's id.
    pub id: Option<NewId>,
    /// What an answer says.
    pub reply: Option<Reply>,
    /// Fields of an event; `None` removes.
    pub event: Vec<(&'static str, Option<String>)>,
    /// The form of the content.
    pub form: Option<Form>,
}

/// Another id for a request or an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum NewId {
    /// A number becomes its text.
    Text,
    /// The text of a number becomes that number; another text stays.
    Number,
    /// This value.
    Value(Value),
}

/// Another answer with the same id.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A result.
    Result(Value),
    /// An error's code and message.
    Error(i64, String),
}

/// Another form of the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Of a JSON answer: an event stream with one event.
    Sse,
    /// Of an event stream: one JSON body with what it answers.
    Json,
    /// Of a message: a batch with this message.
    Array,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "rewrite",
    at: &[At::Request, At::Head, At::Block],
    main: Some("status"),
    doc: "gives a unit another content",
    params: &[
        field("status", Kind::Int(100, 599), Need::Optional, "at head: the status"),
        field(
            "headers",
            Kind::Headers,
            Need::Optional,
            "at request and head: a value takes the place of all fields of its name, false removes them",
        ),
        field("set", Kind::Set, Need::Optional, "at request and block: values put into the message"),
        field("remove", Kind::PointerList, Need::Optional, "at request and block: what is taken out of the message"),
        field(
            "id",
            Kind::Either(&[
                Kind::Word(&["string", "number", "null"]),
                Kind::Table(&[field("value", Kind::Json, Need::Required, "the id")]),
            ]),
            Need::Optional,
            "at request and block: the message's id, as another type or another; undone in what answers a request",
        ),
        field("result", Kind::Json, Need::Optional, "at request and block: this result in an answer"),
        field("error", Kind::Table(RPC_ERROR), Need::Optional, "at request and block: this error in an answer"),
        field(
            "event",
            Kind::Table(&[
                field("id", EVENT_FIELD, Need::Optional, "its id, or false"),
                field("event", EVENT_FIELD, Need::Optional, "its type, or false"),
                field("retry", EVENT_FIELD, Need::Optional, "its reconnection time, or false"),
            ]),
            Need::Optional,
            "at block: the SSE fields",
        ),
        field(
            "as",
            Kind::Word(&["sse", "json", "array"]),
            Need::Optional,
            "at head: a JSON answer as an event stream, an event stream as one JSON answer; \
             at request and block: the message as a batch",
        ),
    ],
    make: |params, _| make(params).map(Fault::Rewrite),
    check: checks::params,
};

fn make(params: &Params) -> Option<Rewrite> {
    let form = |word: String| match word.as_str() {
        "sse" => Form::Sse,
        "json" => Form::Json,
        _ => Form::Array,
    };
    let error = params.sub_table("error");
    let error = error.and_then(|error| Some(Reply::Error(error.int("code")?, error.text("message")?)));
    Some(Rewrite {
        status: params.int("status").and_then(|status| u16::try_from(status).ok()),
        headers: params.headers("headers").unwrap_or_default(),
        set: params.set("set").unwrap_or_default(),
        remove: params.pointer_list("remove").unwrap_or_default(),
        id: params.datum("id").and_then(new_id),
        reply: params.json("result").map(Reply::Result).or(error),
        event: params.sub_table("event").map(|event| event_fields(&event)).unwrap_or_default(),
        form: params.text("as").map(form),
    })
}

fn new_id(datum: Datum) -> Option<NewId> {
    match datum {
        Datum::Text(word) if word == "string" => Some(NewId::Text),
        Datum::Text(word) if word == "number" => Some(NewId::Number),
        Datum::Table(table) => table.json("value").map(NewId::Value),
        _ => Some(NewId::Value(Value::Null)),
    }
}

fn event_fields(event: &Params) -> Vec<(&'static str, Option<String>)> {
    let read = |name| match event.datum(name)? {
        Datum::Text(text) => Some((name, Some(text))),
        Datum::Int(number) => Some((name, Some(number.to_string()))),
        _ => Some((name, None)),
    };
    ["event", "id", "retry"].into_iter().filter_map(read).collect()
}

impl Act for Rewrite {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        engine.log_firing(now, rule, &point);
        let messages = self.changes_messages() || self.form == Some(Form::Array);
        let changed = match point.at {
            At::Head => engine.rewrite_head(rule, self, &point),
            At::Request => {
                let head = engine.rewrite_request_head(self, &point);
                messages && engine.rewrite_message(rule, self, parcel) || head
            }
            _ => {
                let message = messages && engine.rewrite_message(rule, self, parcel);
                engine.rewrite_event(self, parcel) || message
            }
        };
        if changed {
            engine.effective(rule);
            parcel.points.iter_mut().for_each(|(_, point)| point.changed.push(rule));
        }
    }

    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, rule: usize) -> Option<Did> {
        let left = matches!(outcome.fate, PointFate::Passed | PointFate::Moved);
        let what =
            if left && outcome.point.changed.contains(&rule) { self.told_of(engine, outcome) } else { Vec::new() };
        (!what.is_empty()).then_some(Did::Rewritten { what })
    }

    fn changes(&self, at: At) -> bool {
        at == At::Block || self.turns_the_body()
    }

    fn reaches_the_body(&self) -> bool {
        self.turns_the_body()
    }

    fn turns_the_body(&self) -> bool {
        matches!(self.form, Some(Form::Sse | Form::Json))
    }

    fn renames(&self) -> bool {
        self.id.is_some()
    }

    fn check(&self, rule: &Rule, spot: &Spot, slips: &mut Complaints) {
        checks::rule(self, rule, spot, slips);
    }

    fn explain(&self) -> String {
        let mut said = Vec::new();
        said.extend(self.status.map(|status| format!("change the status to {status}")));
        said.extend(self.headers.iter().map(|(name, value)| edited(name, value.as_deref())));
        said.extend(self.reply.as_ref().map(|reply| match reply {
            Reply::Result(result) => format!("answer with the result {result}"),
            Reply::Error(code, message) => format!("answer with the error {code} {message:?}"),
        }));
        let pointers: Vec<&str> = self.set.iter().map(|(pointer, _)| pointer.as_str()).collect();
        said.extend((!pointers.is_empty()).then(|| format!("set {}", pointers.join(", "))));
        said.extend((!self.remove.is_empty()).then(|| format!("remove {}", self.remove.join(", "))));
        said.extend(self.id.as_ref().map(|id| match id {
            NewId::Text => "make the id a string".to_owned(),
            NewId::Number => "make the id a number".to_owned(),
            NewId::Value(id) => format!("change the id to {id}"),
        }));
        said.extend(self.event.iter().map(|(name, value)| edited(&format!("the event's {name}"), value.as_deref())));
        said.extend(self.form.map(|form| {
            let form = match form {
                Form::Sse => "make an event stream of the JSON answer",
                Form::Json => "make one JSON answer of the event stream",
                Form::Array => "make a batch of the message",
            };
            form.to_owned()
        }));
        said.join(", ")
    }
}

fn edited(name: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("remove {name}"), |value| format!("set {name} to {value:?}"))
}
