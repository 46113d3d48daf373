//! Makes the engine's faults of parameters that were read and checked.

use crate::engine::condition::{Condition, Leg};
use crate::engine::event::Ending;
use crate::engine::fault::Fault;
use crate::engine::fault::cut::{Cut, Offset, OtherLeg, Place};
use crate::engine::fault::delay::Delay;
use crate::engine::fault::hold::Hold;
use crate::engine::fault::moving::{Closed, Move};
use crate::engine::fault::reorder::Reorder;
use crate::engine::fault::rewrite::Rewrite;
use crate::engine::selector::At;

use super::params::Params;

/// The fault of that name; `None` for one that is not built.
pub(super) fn fault(name: &str, params: &Params, at: At) -> Option<Fault> {
    match name {
        "delay" => delay(params).map(Fault::Delay),
        "hold" => hold(params).map(Fault::Hold),
        "reorder" => reorder(params).map(Fault::Reorder),
        "cut" => cut(params, at).map(Fault::Cut),
        "move" => moved(params).map(Fault::Move),
        "rewrite" => Some(Fault::Rewrite(Rewrite { set: params.set("set").unwrap_or_default() })),
        _ => None,
    }
}

fn delay(params: &Params) -> Option<Delay> {
    Some(Delay { time: params.time("time")?, overtake: params.flag("overtake") })
}

fn hold(params: &Params) -> Option<Hold> {
    let until = params.condition("until")?;
    let limit = if until == Condition::Never { None } else { params.duration("limit") };
    Some(Hold { until, limit, overtake: params.flag("overtake"), reading: params.flag("reading") })
}

fn reorder(params: &Params) -> Option<Reorder> {
    Some(Reorder {
        window: params.number("window")?,
        order: params.order("order")?,
        across: params.flag("across"),
        limit: params.duration("limit")?,
    })
}

fn cut(params: &Params, at: At) -> Option<Cut> {
    Some(Cut {
        ending: match params.text("ending")?.as_str() {
            "eof" => Ending::Eof,
            "fin" => Ending::Fin,
            "reset" => Ending::Reset,
            _ => Ending::Stall,
        },
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
        other_leg: match params.text("other-leg")?.as_str() {
            "close" => OtherLeg::Close,
            "drain" => OtherLeg::Drain,
            _ => OtherLeg::Keep,
        },
        lasting: params.duration("for"),
        when: params.condition("when"),
        limit: params.duration("limit")?,
        settle: params.duration("settle")?,
    })
}

fn moved(params: &Params) -> Option<Move> {
    Some(Move {
        to: params.target("to")?,
        copy: params.flag("copy"),
        closed: if params.text("closed")? == "drop" { Closed::Drop } else { Closed::Wait },
        limit: params.duration("limit")?,
    })
}
