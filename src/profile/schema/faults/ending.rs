//! The faults that end, lose, repeat or answer.

use super::{EVENT, FaultTable, GAP, NO_LIMIT, RPC_ERROR, WHEN, limit};
use crate::engine::selector::At::{Block, Connect, End, Head, Leave, Request, RequestHead};
use crate::profile::schema::{Kind, Need, field};

/// `cut`.
pub(super) const CUT: FaultTable = FaultTable {
    name: "cut",
    at: &[Connect, RequestHead, Request, Head, Block, End],
    main: Some("ending"),
    built: true,
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
        field(
            "other-leg",
            Kind::Word(&["close", "drain", "keep"]),
            Need::Default("\"close\""),
            "what becomes of the other leg",
        ),
        field("for", Kind::Duration, Need::Optional, "how long drain or keep lasts (no end)"),
        WHEN,
        limit("\"30s\"", "when a unit withheld for `when` is let go anyway, which is a failure"),
        field("settle", Kind::Duration, Need::Default("\"20ms\""), "before a reset: how long the reader gets to read"),
        field("h2-code", Kind::Text, Need::Optional, "the code of RST_STREAM (CANCEL)"),
    ],
};

/// `drop`.
pub(super) const DROP: FaultTable = FaultTable {
    name: "drop",
    at: &[Request, Block, Leave],
    main: None,
    built: false,
    doc: "loses a unit",
    params: &[],
};

/// `duplicate`.
pub(super) const DUPLICATE: FaultTable = FaultTable {
    name: "duplicate",
    at: &[Request, Block],
    main: Some("times"),
    built: false,
    doc: "lets a unit leave again",
    params: &[field("times", Kind::Int(1, NO_LIMIT), Need::Default("1"), "how often again"), GAP],
};

/// `respond`.
pub(super) const RESPOND: FaultTable = FaultTable {
    name: "respond",
    at: &[RequestHead, Request, Head],
    main: Some("status"),
    built: false,
    doc: "answers in the server's place",
    params: &[
        field("status", Kind::Int(100, 599), Need::Default("200"), "the status"),
        field("headers", Kind::Headers, Need::Optional, "the headers"),
        field("body", Kind::Text, Need::Optional, "the body, as it is"),
        field("body-file", Kind::Text, Need::Optional, "a file with the body"),
        field("json", Kind::Json, Need::Optional, "the body, as JSON"),
        field("result", Kind::Json, Need::Optional, "a JSON-RPC result for the request's id"),
        field("error", Kind::Table(RPC_ERROR), Need::Optional, "a JSON-RPC error for the request's id"),
        field("sse", Kind::List(&Kind::Table(EVENT)), Need::Optional, "the body, as events"),
        field("ending", Kind::Word(&["eof", "fin", "reset", "stall"]), Need::Default("\"eof\""), "how it ends"),
        WHEN,
        field("forward", Kind::Bool, Need::Default("false"), "whether the server gets the request too"),
    ],
};
