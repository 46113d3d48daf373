//! `respond`: an answer in the server's place, whether or not the server gets the request.

mod answering;

use std::time::Duration;

use serde_json::Value;

use crate::engine::condition::{Condition, Time};
use crate::engine::effects::{Did, Instead, Outcome};
use crate::engine::engine::Engine;
use crate::engine::event::{Ending, Fate};
use crate::engine::fault::cut::{self, OtherLeg};
use crate::engine::fault::event_text::{self, EventText};
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::Params;
use crate::engine::language::{
    Asked, Complaints, EVENT, Kind, LASTING, Need, OTHER_LEG, RPC_ERROR, Spot, field, limit, words,
};
use crate::engine::rule::Rule;
use crate::engine::selector::At;

/// `respond`: request-head, request, head.
#[derive(Debug, Clone, PartialEq)]
pub struct Respond {
    /// The status.
    pub status: u16,
    /// Names in lower case and values; `None` leaves out a header that the body would bring.
    pub headers: Vec<(String, Option<String>)>,
    /// What is in it.
    pub content: Content,
    /// How the answer ends.
    pub ending: Ending,
    /// When, if not at once (rule R26).
    pub when: Option<Condition>,
    /// When a unit withheld for `when` is let go anyway, which is a failure.
    pub limit: Duration,
    /// Whether the server gets the request too.
    pub forward: bool,
    /// What becomes of the server's leg.
    pub other_leg: OtherLeg,
    /// How long drain or keep lasts (`for`); `None`: no end.
    pub lasting: Option<Duration>,
}

/// The body of a made answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// None.
    Empty,
    /// These bytes; names of the run are filled in.
    Text(String),
    /// This JSON; names of the run are filled in.
    Json(Value),
    /// A JSON-RPC result for the request's id.
    Result(Value),
    /// A JSON-RPC error for the request's id.
    Error(i64, String),
    /// Events; names of the run are filled in.
    Events(Vec<EventText>),
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "respond",
    at: &[At::RequestHead, At::Request, At::Head],
    main: Some("status"),
    doc: "answers in the server's place",
    params: &[
        field("status", Kind::Int(200, 599), Need::Default("200"), "the status"),
        field("headers", Kind::Headers, Need::Optional, "the headers; false leaves out one that the body brings"),
        field("body", Kind::Text, Need::Optional, "the body, as it is"),
        field("body-file", Kind::File, Need::Optional, "a file with the body, beside the profile"),
        field("json", Kind::Json, Need::Optional, "the body, as JSON"),
        field("result", Kind::Json, Need::Optional, "a JSON-RPC result for the request's id"),
        field("error", Kind::Table(RPC_ERROR), Need::Optional, "a JSON-RPC error for the request's id"),
        field("sse", Kind::List(&Kind::Table(EVENT)), Need::Optional, "the body, as events"),
        field("ending", Kind::Word(&["eof", "fin", "reset", "stall"]), Need::Default("\"eof\""), "how it ends"),
        field("when", Kind::Condition(Asked::Unit), Need::Optional, "when, if not at once; the unit waits so long"),
        limit("\"30s\"", "when a unit withheld for `when` is let go anyway, which is a failure"),
        field("forward", Kind::Bool, Need::Default("false"), "whether the server gets the request too"),
        OTHER_LEG,
        LASTING,
    ],
    make: |params, _| make(params).map(Fault::Respond),
    check,
};

const CONTENT: [&str; 6] = ["body", "body-file", "json", "result", "error", "sse"];

fn make(params: &Params) -> Option<Respond> {
    Some(Respond {
        status: u16::try_from(params.int("status")?).ok()?,
        headers: params.headers("headers").unwrap_or_default(),
        content: content(params),
        ending: Ending::of(&params.text("ending")?),
        when: params.condition("when"),
        limit: params.duration("limit")?,
        forward: params.flag("forward"),
        other_leg: OtherLeg::of(params)?,
        lasting: params.duration("for"),
    })
}

fn content(params: &Params) -> Content {
    let text = params.text("body").or_else(|| params.text("body-file")).map(Content::Text);
    let json = || params.json("json").map(Content::Json);
    let result = || params.json("result").map(Content::Result);
    let error = || {
        let error = params.sub_table("error")?;
        Some(Content::Error(error.int("code")?, error.text("message")?))
    };
    let events = || params.list("sse").map(|events| Content::Events(events.iter().map(EventText::of).collect()));
    text.or_else(json).or_else(result).or_else(error).or_else(events).unwrap_or(Content::Empty)
}

fn check(params: &Params, at: At, _: &Spot, slips: &mut Complaints) {
    slips.at_most_one(params, &CONTENT);
    let bodiless = matches!(params.int("status"), Some(204 | 304));
    if let (true, Some((key, spot))) = (bodiless, params.which(&CONTENT).first()) {
        slips.wrong(spot, format!("`{key}` beside a status that has no body"), "write another status, or no body");
    }
    if let Some(spot) =
        params.written("ending").filter(|_| bodiless && params.text("ending").as_deref() == Some("stall"))
    {
        let what = "a stall of an answer without a body: it has ended with its head";
        slips.wrong(spot, what, "write another status, or cut = \"stall\"");
    }
    params.list("sse").iter().flatten().for_each(|event| event_text::check(event, slips));
    let forward = params.written("forward").filter(|_| params.flag("forward"));
    if let Some(spot) = forward.filter(|_| at != At::Request) {
        let instead = if at == At::Head { "leave it out: the server has it" } else { "match at = \"request\"" };
        slips.wrong(spot, "`forward` needs a request that was read and not sent", instead);
    }
    let when = params.condition("when");
    if let Some(spot) = params.written("when").filter(|_| when == Some(Condition::Never)) {
        slips.wrong(spot, "an answer that never comes", "say cut = \"stall\"");
    }
    if let Some(spot) = params.written("when").filter(|_| at != At::Head && when == Some(Condition::End)) {
        let what = if params.flag("forward") { "it takes the place of a head" } else { "the server never gets it" };
        slips.wrong(
            spot,
            format!("`when` of the end of the answer: {what}"),
            "match at = \"head\", or wait for another",
        );
    }
    if let Some(spot) = params.written("limit").filter(|_| params.written("when").is_none()) {
        slips.wrong(spot, "`limit` without `when`: nothing waits", "remove it");
    }
    legs(params, at, slips);
    for (name, spot) in params.framing_headers("headers") {
        let instead = "remove it; `ending` says how the answer ends";
        slips.wrong(&spot, format!("`{name}` is how the proxy frames the answer"), instead);
    }
}

/// What becomes of the server's leg, where it has one.
fn legs(params: &Params, at: At, slips: &mut Complaints) {
    let forward = params.flag("forward");
    let other = params.written("other-leg");
    if let Some(spot) = other.filter(|_| at != At::Head && !forward) {
        let what = "`other-leg` of a request that the server never gets";
        slips.wrong(spot, what, "leave it out, or write forward = true");
    } else {
        let usual = at != At::Head && forward && other.is_none();
        cut::lasting(params, !usual && params.text("other-leg").as_deref() == Some("close"), slips);
    }
}

impl Respond {
    /// What becomes of the server's leg; `kept`: a rule answers the stream's resumes.
    fn fate_of_server(&self, kept: bool) -> Fate {
        let usual = if kept || self.forward { Fate::Drain(self.lasting) } else { Fate::Close };
        self.other_leg.fate(usual, self.lasting)
    }
}

impl Act for Respond {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let on = turn.parcel.points.first().and_then(|(_, point)| engine.exchanges.get(&point.exchange?));
        // The head in hand may be one that another rule has made: it is the answer.
        if on.is_some_and(|exchange| !exchange.is_answered()) {
            engine.plan_instead(turn.now, turn.rule, self.forward, self.limit, turn.parcel);
        }
    }

    fn waits_for(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    fn stands_in_for(&self) -> bool {
        !self.forward
    }

    /// A limit is a failure, not a plan (rule R21).
    fn check(&self, _: &Rule, spot: &Spot, slips: &mut Complaints) {
        if matches!(self.when, Some(Condition::After(Time::Fixed(time))) if time >= self.limit) {
            slips.wrong(spot, "the answer's time is not shorter than its `limit`", "write a longer limit");
        }
    }

    fn reaches_the_body(&self) -> bool {
        true
    }

    fn changes(&self, _: At) -> bool {
        false
    }

    fn made(&self, engine: &Engine, outcome: &Outcome<'_>) -> Option<Did> {
        let server = if engine.was_asked(outcome) { Instead::Unheard } else { Instead::Unasked };
        Some(Did::Answered { status: engine.status_instead(outcome)?, server })
    }

    fn explain(&self) -> String {
        let content = match &self.content {
            Content::Empty => "no body".to_owned(),
            Content::Text(text) => format!("a body of {} bytes", text.len()),
            Content::Json(_) => "a JSON body".to_owned(),
            Content::Result(_) => "a JSON-RPC result".to_owned(),
            Content::Error(code, _) => format!("the JSON-RPC error {code}"),
            Content::Events(events) => format!("{} events", events.len()),
        };
        let headers = self.headers.iter().map(|(name, value)| match value {
            Some(value) => format!("{name}: {value}"),
            None => format!("no {name}"),
        });
        let headers: Vec<String> = headers.collect();
        let headers = if headers.is_empty() { String::new() } else { format!(" and {}", headers.join(", ")) };
        let ending = match self.ending {
            Ending::Eof => "",
            Ending::Fin => ", then close without an end",
            Ending::Reset => ", then reset",
            Ending::Stall => ", then nothing more",
        };
        let when = self.when.as_ref().map(|when| format!(" when {}", words::condition(when))).unwrap_or_default();
        let forward = if self.forward { "let the server have it, and answer" } else { "answer" };
        let other = match self.other_leg {
            OtherLeg::Usual => String::new(),
            other => format!("; the server's leg {}", other.words(self.lasting)),
        };
        format!("{forward} {} with {content}{headers}{ending} in the server's place{when}{other}", self.status)
    }
}
