//! The faults that change when and where a unit passes.

use super::{FaultTable, NO_LIMIT, OVERTAKE, limit};
use crate::engine::selector::At::{Block, Connect, End, Head, Leave, Request, RequestHead};
use crate::profile::schema::{Asked, Kind, MOST, Need, field};

/// `delay`.
pub(super) const DELAY: FaultTable = FaultTable {
    name: "delay",
    at: &[Request, Head, Block, End, Leave],
    main: Some("time"),
    built: true,
    doc: "lets a unit leave so long after it arrived",
    params: &[field("time", Kind::Time, Need::Required, "how long, counted from arrival"), OVERTAKE],
};

/// `hold`.
pub(super) const HOLD: FaultTable = FaultTable {
    name: "hold",
    at: &[Connect, RequestHead, Request, Head, Block, End, Leave],
    main: Some("until"),
    built: true,
    doc: "lets a unit leave only after something else has happened",
    params: &[
        field("until", Kind::Condition(Asked::Unit), Need::Required, "what opens it"),
        limit("\"30s\"", "when it is let go anyway, which is a failure"),
        OVERTAKE,
        field("reading", Kind::Bool, Need::Default("true"), "whether the server's leg is read on meanwhile, bounded"),
    ],
};

/// `buffer`.
pub(super) const BUFFER: FaultTable = FaultTable {
    name: "buffer",
    at: &[Head],
    main: Some("until"),
    built: false,
    doc: "keeps an answer's body back and lets it go in one piece",
    params: &[
        field(
            "until",
            Kind::Either(&[Kind::Size, Kind::Condition(Asked::Unit)]),
            Need::Default("\"end\""),
            "what lets it go; a size: in blocks of that size",
        ),
        field("head", Kind::Bool, Need::Default("false"), "whether the head goes on at once"),
        limit("\"30s\"", "when it is let go anyway, which is a failure"),
    ],
};

/// `reorder`.
pub(super) const REORDER: FaultTable = FaultTable {
    name: "reorder",
    at: &[Block],
    main: Some("window"),
    built: true,
    doc: "lets blocks leave in another order than they came",
    params: &[
        field("window", Kind::Int(2, MOST), Need::Required, "how many selected blocks are collected"),
        field("order", Kind::Order, Need::Default("\"reverse\""), "the order in which they leave"),
        field("across", Kind::Bool, Need::Default("false"), "whether the window spans all streams of the session"),
        limit("\"1s\"", "when the window closes although it is not full (no failure)"),
    ],
};

/// `throttle`.
pub(super) const THROTTLE: FaultTable = FaultTable {
    name: "throttle",
    at: &[Request, Head],
    main: Some("rate"),
    built: false,
    doc: "lets a body pass only so fast",
    params: &[
        field("rate", Kind::Rate, Need::Required, "how fast"),
        field("burst", Kind::Size, Need::Optional, "how much may pass at once (one second's worth)"),
    ],
};

/// `move`.
pub(super) const MOVE: FaultTable = FaultTable {
    name: "move",
    at: &[Block],
    main: Some("to"),
    built: true,
    doc: "lets a block leave on another stream of its session",
    params: &[
        field("to", Kind::Target, Need::Required, "the stream it goes to"),
        field("copy", Kind::Bool, Need::Default("false"), "whether it also stays where it is"),
        field("closed", Kind::Word(&["wait", "drop"]), Need::Default("\"wait\""), "what if no such stream is open"),
        limit("\"30s\"", "when it leaves on its own stream anyway, which is a failure"),
    ],
};

/// `route`.
pub(super) const ROUTE: FaultTable = FaultTable {
    name: "route",
    at: &[Request],
    main: Some("to"),
    built: false,
    doc: "sends a request to another server",
    params: &[
        field(
            "to",
            Kind::Either(&[Kind::Int(1, NO_LIMIT), Kind::Word(&["next", "other"])]),
            Need::Required,
            "which server",
        ),
        field("fresh", Kind::Bool, Need::Default("false"), "on a connection of its own"),
    ],
};
