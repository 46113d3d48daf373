//! `inject`: something is added that no peer sent.

mod acting;

use crate::engine::condition::{Condition, Time};
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::fault::event_text::{self, EventData, EventText};
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Complaints, EVENT, Kind, MOST, Need, Spot, WHEN, field, words};
use crate::engine::selector::At;

/// `inject`: request, head, block, end.
#[derive(Debug, Clone, PartialEq)]
pub struct Inject {
    /// What is added.
    pub what: What,
    /// Where to.
    pub to: To,
    /// Where, in relation to the unit.
    pub place: Place,
    /// When, if not at once.
    pub when: Option<Condition>,
    /// How often, from 1; `None`: again each time `when` comes true. The unit that was made last is then the one in hand.
    pub repeat: Option<u64>,
}

/// What is added; names of the run are filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// An event.
    Event(EventText),
    /// Bytes as they are, whether or not they end an event.
    Raw(String),
}

/// To whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Into the answer's stream.
    Client,
    /// As a POST of its own (rule R28).
    Server,
}

/// Before or after the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "inject",
    at: &[At::Request, At::Head, At::Block, At::End],
    main: None,
    doc: "adds something to a stream",
    params: &[
        field("message", Kind::Json, Need::Optional, "a JSON-RPC message"),
        field("event", Kind::Table(EVENT), Need::Optional, "an event"),
        field("comment", Kind::Text, Need::Optional, "a comment"),
        field("raw", Kind::Text, Need::Optional, "bytes, as they are"),
        field(
            "place",
            Kind::Word(&["before", "after"]),
            Need::Optional,
            "where, in relation to the unit (before; at head: after)",
        ),
        field("to", Kind::Word(&["client", "server"]), Need::Optional, "where to (client; at request: server)"),
        WHEN,
        field(
            "repeat",
            Kind::Either(&[Kind::Bool, Kind::Int(1, MOST)]),
            Need::Default("false"),
            "true: again each time `when` comes true; a number: so often in all",
        ),
    ],
    make: |params, at| make(params, at).map(Fault::Inject),
    check,
};

const CONTENT: [&str; 4] = ["message", "event", "comment", "raw"];

fn make(params: &Params, at: At) -> Option<Inject> {
    Some(Inject {
        what: what(params)?,
        to: to(params, at),
        place: match params.text("place").as_deref() {
            Some("before") => Place::Before,
            Some(_) => Place::After,
            None if at == At::Head => Place::After,
            None => Place::Before,
        },
        when: params.condition("when"),
        repeat: match params.datum("repeat")? {
            Datum::Int(times) => Some(u64::try_from(times).ok()?),
            Datum::Bool(true) => None,
            _ => Some(1),
        },
    })
}

fn to(params: &Params, at: At) -> To {
    let to_server = params.text("to").map_or(at == At::Request, |to| to == "server");
    if to_server { To::Server } else { To::Client }
}

fn what(params: &Params) -> Option<What> {
    let event = |event| Some(What::Event(event));
    if let Some(message) = params.json("message") {
        return event(EventText { data: Some(EventData::Message(message)), ..EventText::default() });
    }
    if let Some(comment) = params.text("comment") {
        return event(EventText { comment: Some(comment), ..EventText::default() });
    }
    match params.datum("event") {
        Some(table) => event(EventText::of(&table)),
        None => params.text("raw").map(What::Raw),
    }
}

fn check(params: &Params, at: At, spot: &Spot, slips: &mut Complaints) {
    if slips.at_most_one(params, &CONTENT) == 0 {
        slips.wrong(spot, "`inject` adds nothing", "write one of message, event, comment, raw");
    }
    params.datum("event").iter().for_each(|event| event_text::check(event, slips));
    match to(params, at) {
        To::Server => {
            for (key, spot) in params.which(&["event", "comment"]) {
                let what = format!("`{key}` to the server: a request carries a message, not an event");
                slips.wrong(&spot, what, "write `message` or `raw`");
            }
        }
        To::Client => check_place(params, at, slips),
    }
    if let Some(spot) = params.written("to").filter(|_| at == At::Request && to(params, at) == To::Client) {
        slips.wrong(spot, "`to = \"client\"` at a request: no answer has begun", "match at = \"head\"");
    }
    if let Some(spot) = params.written("when").filter(|_| at == At::End) {
        slips.wrong(spot, "`when` at an end: the stream does not go on", "match at = \"head\"");
    }
    let (when, repeat) = (params.condition("when"), params.written("repeat"));
    let again = params.is_again("repeat");
    match (repeat.filter(|_| again), when) {
        (Some(repeat), None) if params.datum("repeat") == Some(Datum::Bool(true)) => {
            slips.wrong(repeat, "`repeat = true` without `when` would never stop", "write `when`, or how often");
        }
        (Some(repeat), Some(when)) if !recurs(&when) => {
            let instead = "write a time, { idle }, or a selector with next = true";
            slips.wrong(repeat, "`repeat` with a `when` that stays true", instead);
        }
        _ => {}
    }
}

fn check_place(params: &Params, at: At, slips: &mut Complaints) {
    let place = params.text("place");
    match (params.written("place"), at, place.as_deref()) {
        (Some(spot), At::Head, Some("before")) => {
            slips.wrong(spot, "`before` a head: no body has begun", "write place = \"after\"");
        }
        (Some(spot), At::End, Some("after")) => {
            slips.wrong(spot, "`after` an end: nothing more is read", "write place = \"before\"");
        }
        _ => {}
    }
}

/// Whether a condition can come true again for the next unit, and not at once.
fn recurs(when: &Condition) -> bool {
    match when {
        Condition::After(Time::Fixed(time)) | Condition::Idle { time, .. } => !time.is_zero(),
        Condition::After(Time::Between(least, _)) => !least.is_zero(),
        Condition::After(Time::Around(mean, jitter)) => mean > jitter,
        Condition::Seen(seen) => seen.next,
        Condition::Any(all) => all.iter().all(recurs),
        Condition::End
        | Condition::Never
        | Condition::Fired { .. }
        | Condition::Gathered(_)
        | Condition::Bytes { .. } => false,
    }
}

impl Act for Inject {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Some((_, point)) = turn.parcel.points.first().cloned() else { return };
        match self.to {
            To::Client => engine.inject(turn.now, turn.rule, self, &point),
            To::Server => engine.inject_to_server(turn.now, turn.rule, self, &point, turn.parcel),
        }
    }

    fn waits_for(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    fn changes(&self, _: At) -> bool {
        self.to == To::Client
    }

    fn takes_the_blocks(&self) -> bool {
        self.when.is_some() && self.to == To::Client
    }

    fn reaches_the_body(&self) -> bool {
        self.to == To::Client || self.when.is_some()
    }

    fn made(&self, engine: &Engine, outcome: &Outcome<'_>) -> Option<Did> {
        Some(engine.added(outcome, false))
    }

    fn explain(&self) -> String {
        let what = match &self.what {
            What::Event(EventText { data: Some(EventData::Message(_)), .. }) => "a message".to_owned(),
            What::Event(EventText { comment: Some(_), data: None, event: None, id: None, retry: None }) => {
                "a comment".to_owned()
            }
            What::Event(_) => "an event".to_owned(),
            What::Raw(text) => format!("{} bytes", text.len()),
        };
        let place = if self.place == Place::Before { "before it" } else { "after it" };
        let when = self.when.as_ref().map(|when| format!(", when {}", words::condition(when))).unwrap_or_default();
        let again = match self.repeat {
            Some(1) => String::new(),
            Some(times) => format!(", {times} times"),
            None => ", again each time".to_owned(),
        };
        let add = if self.to == To::Client { "add" } else { "send the server" };
        format!("{add} {what} {place}{when}{again}")
    }
}
