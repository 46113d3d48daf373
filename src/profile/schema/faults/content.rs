//! The faults that change what is sent.

use super::{EVENT, EVENT_FIELD, FaultTable, GAP, NO_LIMIT, RETRY, RPC_ERROR, WHEN};
use crate::engine::selector::At::{Block, End, Head, Request};
use crate::profile::schema::{Kind, Need, field};

/// `rewrite`.
pub(super) const REWRITE: FaultTable = FaultTable {
    name: "rewrite",
    at: &[Request, Head, Block],
    main: Some("status"),
    built: true,
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
};

/// `inject`.
pub(super) const INJECT: FaultTable = FaultTable {
    name: "inject",
    at: &[Request, Head, Block, End],
    main: None,
    built: false,
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
            Kind::Either(&[Kind::Bool, Kind::Int(1, NO_LIMIT)]),
            Need::Default("false"),
            "again each time, or so often",
        ),
    ],
};

/// `reframe`.
pub(super) const REFRAME: FaultTable = FaultTable {
    name: "reframe",
    at: &[Request, Head, Block],
    main: Some("split"),
    built: false,
    doc: "sends the same content in other pieces",
    params: &[
        field(
            "split",
            Kind::Either(&[Kind::Word(&["byte", "utf8", "crlf", "head"]), Kind::Size, Kind::List(&Kind::Size)]),
            Need::Optional,
            "where the pieces part",
        ),
        GAP,
        field("newline", Kind::Word(&["lf", "crlf", "cr"]), Need::Optional, "the line ends of events"),
        field(
            "coalesce",
            Kind::Either(&[Kind::Int(2, NO_LIMIT), Kind::Duration]),
            Need::Optional,
            "so many events in one write, or those of so long",
        ),
        field("final-blank", Kind::Bool, Need::Default("true"), "whether an event ends with its blank line"),
        field("pad", Kind::Size, Need::Optional, "how long the message is made"),
    ],
};

/// `resumable`.
pub(super) const RESUMABLE: FaultTable = FaultTable {
    name: "resumable",
    at: &[Head],
    main: None,
    built: false,
    doc: "gives a stream ids and answers its resumes",
    params: &[
        RETRY,
        field("priming", Kind::Bool, Need::Default("true"), "whether it begins with an empty event with an id"),
        field("ids", Kind::Text, Need::Optional, "what the ids begin with"),
    ],
};
