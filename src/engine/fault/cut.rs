//! `cut`: a leg ends before, after or inside a unit, and how.

mod acting;

use std::time::Duration;

use bytes::Bytes;

use crate::engine::condition::{Condition, Leg};
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::event::{Ending, Fate, Inside};
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Kind, LASTING, Need, OTHER_LEG, Spot, WHEN, field, limit, words};
use crate::engine::selector::At;

/// `cut`: all points but leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// How the leg ends.
    pub ending: Ending,
    /// Where, in relation to the unit.
    pub place: Place,
    /// Which leg.
    pub leg: Leg,
    /// What becomes of the other leg.
    pub other_leg: OtherLeg,
    /// How long drain or keep lasts (`for`); `None`: no end.
    pub lasting: Option<Duration>,
    /// When, if not at once (rule R23).
    pub when: Option<Condition>,
    /// When a unit withheld for `when` is let go anyway, which is a failure.
    pub limit: Duration,
    /// Before a reset: how long the reader gets, where it cannot be seen that it has read everything.
    pub settle: Duration,
}

/// Where a cut falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// The unit does not pass.
    Before,
    /// The unit passes first.
    After,
    /// So much of the block or the request's body passes. Of another unit nothing would: no profile may ask for it.
    Inside(Offset),
}

/// A place inside a block or a request's body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offset {
    /// After so many bytes; negative: so many before the end.
    Bytes(i64),
    /// After that share of its bytes, 0 to 1.
    Share(f64),
}

/// What becomes of a leg whose other one a rule ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OtherLeg {
    /// Closed; read on where a rule answers the resumes of the stream (rule R31), or had the server get a request all the
    /// same (rule R26).
    Usual,
    /// Closed as a peer that leaves would.
    Close,
    /// Open, read and thrown away.
    Drain,
    /// Open and not read.
    Keep,
}

impl Cut {
    /// The part of a block that still leaves.
    pub(in crate::engine) fn part(&self, block: &Bytes) -> Option<Inside> {
        let whole = block.len();
        self.place_in(whole).map(|end| Inside { part: block.slice(..end), whole })
    }

    /// After how many of so many bytes it falls, if it falls inside.
    pub(in crate::engine) fn place_in(&self, whole: usize) -> Option<usize> {
        let Place::Inside(offset) = self.place else { return None };
        Some(match offset {
            Offset::Bytes(n) if n < 0 => whole.saturating_sub(usize::try_from(n.unsigned_abs()).unwrap_or(whole)),
            Offset::Bytes(n) => usize::try_from(n).unwrap_or(whole).min(whole),
            Offset::Share(share) => share_of(whole, share),
        })
    }

    /// What becomes of the server's leg when it is the other one; `kept`: a rule answers the stream's resumes.
    fn fate_of_server(&self, kept: bool) -> Fate {
        self.other_leg.fate(if kept { Fate::Drain(None) } else { Fate::Close }, self.lasting)
    }
}

impl OtherLeg {
    /// As it was written.
    pub(super) fn of(params: &Params) -> Option<Self> {
        Some(match params.text("other-leg")?.as_str() {
            _ if params.written("other-leg").is_none() => Self::Usual,
            "close" => Self::Close,
            "drain" => Self::Drain,
            _ => Self::Keep,
        })
    }

    /// What becomes of the server's leg: what is usual, unless the rule says otherwise.
    pub(super) fn fate(self, usual: Fate, lasting: Option<Duration>) -> Fate {
        match self {
            Self::Usual => usual,
            Self::Close => Fate::Close,
            Self::Drain => Fate::Drain(lasting),
            Self::Keep => Fate::Keep(lasting),
        }
    }

    /// It in words, with how long it lasts.
    pub(super) fn words(self, lasting: Option<Duration>) -> String {
        let fate = match self {
            Self::Usual | Self::Close => "is closed",
            Self::Drain => "is read on",
            Self::Keep => "is left open, unread",
        };
        lasting.map_or_else(|| fate.to_owned(), |lasting| format!("{fate} for {}", words::show_duration(lasting)))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of it"
)]
fn share_of(whole: usize, share: f64) -> usize {
    ((whole as f64 * share.clamp(0.0, 1.0)) as usize).min(whole)
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "cut",
    at: &[At::Connect, At::RequestHead, At::Request, At::Head, At::Block, At::End],
    main: Some("ending"),
    doc: "ends a leg before, after or inside a unit",
    params: &[
        field("ending", Kind::Word(&["eof", "fin", "reset", "stall"]), Need::Required, "how the leg ends"),
        field(
            "where",
            Kind::Word(&["before", "after", "inside"]),
            Need::Optional,
            "where, in relation to the unit (before; at connect and head: after)",
        ),
        field("byte", Kind::Offset, Need::Optional, "how much of the unit still leaves (\"50%\"); with inside only"),
        field("leg", Kind::Word(&["client", "server", "both"]), Need::Default("\"client\""), "which leg"),
        OTHER_LEG,
        LASTING,
        WHEN,
        limit("\"30s\"", "when a unit withheld for `when` is let go anyway, which is a failure"),
        field("settle", Kind::Duration, Need::Default("\"20ms\""), "before a reset: how long the reader gets to read"),
        field("h2-code", Kind::Text, Need::Optional, "the code of RST_STREAM (CANCEL)"),
    ],
    make: |params, at| make(params, at).map(Fault::Cut),
    check,
};

fn make(params: &Params, at: At) -> Option<Cut> {
    Some(Cut {
        ending: Ending::of(&params.text("ending")?),
        place: match params.text("where").as_deref() {
            Some("before") => Place::Before,
            Some("after") => Place::After,
            Some(_) => Place::Inside(params.offset("byte").unwrap_or(Offset::Share(0.5))),
            // A connection or a head that has come is the beginning of something; a unit is the thing itself.
            None if matches!(at, At::Connect | At::Head) => Place::After,
            None => Place::Before,
        },
        leg: match params.text("leg")?.as_str() {
            "client" => Leg::Client,
            "server" => Leg::Server,
            _ => Leg::Both,
        },
        other_leg: OtherLeg::of(params)?,
        lasting: params.duration("for"),
        when: params.condition("when"),
        limit: params.duration("limit")?,
        settle: params.duration("settle")?,
    })
}

fn check(params: &Params, at: At, _: &Spot, slips: &mut Complaints) {
    let place = params.text("where");
    let place = place.as_deref().unwrap_or(if matches!(at, At::Connect | At::Head) { "after" } else { "before" });
    end_of_nothing(params, at, place, slips);
    let inside = params.written("where").filter(|_| place == "inside");
    match (inside, params.written("byte")) {
        (None, Some(byte)) => slips.wrong(byte, "`byte` without `inside`", "write where = \"inside\""),
        (Some(spot), _) if !matches!(at, At::Block | At::Request) => {
            slips.wrong(spot, "`inside` needs a block or a request", "match at = \"block\", or write before or after");
        }
        _ => {}
    }
    if let Some(spot) = params.written("where").filter(|_| at == At::End && place == "after") {
        slips.wrong(spot, "`after` an end: nothing is left to cut", "write where = \"before\"");
    }
    legs(params, at, place, slips);
    if let Some(code) = params.written("h2-code") {
        slips.not_built(code, "`h2-code`");
    }
}

/// `eof` where there is no body of ours to end.
fn end_of_nothing(params: &Params, at: At, place: &str, slips: &mut Complaints) {
    let Some(ending) = params.written("ending").filter(|_| params.text("ending").as_deref() == Some("eof")) else {
        return;
    };
    let headless = matches!(at, At::Connect | At::RequestHead | At::Request) || (at == At::Head && place != "after");
    if params.text("leg").as_deref() == Some("server") {
        slips.wrong(ending, "`eof` of the server's leg: the body there is the server's", "write fin, reset or stall");
    } else if headless && (params.written("when").is_none() || place != "after") {
        let instead = if at == At::Head { "write where = \"after\", or" } else { "match at = \"head\", or" };
        slips.wrong(
            ending,
            "`eof` before a head: there is no body to end",
            format!("{instead} cut with fin, reset or stall"),
        );
    }
}

/// Legs that are not there, and fates that no leg could have.
fn legs(params: &Params, at: At, place: &str, slips: &mut Complaints) {
    let (leg, other) = (params.text("leg").unwrap_or_default(), params.text("other-leg").unwrap_or_default());
    let unsent = matches!(at, At::RequestHead | At::Request) && place == "before";
    let early = unsent || at == At::RequestHead && params.written("when").is_none();
    let legless = match at {
        At::Connect => Some("a connection is cut with the one that belongs to it"),
        At::End => Some("the server has ended its answer"),
        _ if early => Some("the server has not got the request yet"),
        _ => None,
    };
    let server = params.written("leg").filter(|_| leg != "client");
    let spared = params.written("other-leg").filter(|_| other != "close");
    if let (Some(why), Some(spot)) = (legless, server.or(spared)) {
        let instead = if early { "write where = \"after\" at \"request\"" } else { "leave it out" };
        return slips.wrong(spot, format!("no leg of the server's to end or to keep: {why}"), instead);
    }
    if let Some(spot) = params.written("other-leg").filter(|_| leg == "both") {
        slips.wrong(spot, "`other-leg` of a cut of both legs", "leave it out, or name the leg that is cut in `leg`");
    } else {
        lasting(params, other == "close" || leg == "both", slips);
    }
}

/// `for` of a leg that closes.
pub(super) fn lasting(params: &Params, closes: bool, slips: &mut Complaints) {
    if let Some(spot) = params.written("for").filter(|_| closes) {
        slips.wrong(spot, "`for` with a leg that closes", "write other-leg = \"drain\" or \"keep\"");
    }
}

impl Act for Cut {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.plan_instead(turn.now, turn.rule, self.place == Place::After, self.limit, turn.parcel);
    }

    fn waits_for(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    fn changes(&self, _: At) -> bool {
        true
    }

    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        engine.was_cut(outcome)
    }

    fn stands_in_for(&self) -> bool {
        self.place != Place::After
    }

    fn reaches_the_body(&self) -> bool {
        self.place != Place::Before || self.when.is_some()
    }

    fn explain(&self) -> String {
        let ending = match self.ending {
            Ending::Eof => "end",
            Ending::Fin => "close",
            Ending::Reset => "reset",
            Ending::Stall => "silence",
        };
        let (leg, other) = match self.leg {
            Leg::Client => ("the client's leg", Some("the server's")),
            Leg::Server => ("the server's leg", Some("the client's")),
            Leg::Both => ("both legs", None),
        };
        let place = match self.place {
            Place::Before => "before it".to_owned(),
            Place::After => "after it".to_owned(),
            Place::Inside(Offset::Bytes(bytes)) if bytes < 0 => {
                format!("{} bytes before its end", bytes.unsigned_abs())
            }
            Place::Inside(Offset::Bytes(bytes)) => format!("after {bytes} of its bytes"),
            Place::Inside(Offset::Share(share)) => format!("after {}% of its bytes", share * 100.0),
        };
        let when = self.when.as_ref().map(|when| format!(", when {}", words::condition(when))).unwrap_or_default();
        let other = other.map(|other| format!("; {other} {}", self.other_leg.words(self.lasting))).unwrap_or_default();
        format!("{ending} {leg} {place}{when}{other}")
    }
}
