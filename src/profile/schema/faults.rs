//! The faults: where each can act, its parameters, whether this version can do it.

use super::{Asked, Field, Kind, Need, field};
use crate::engine::selector::At::{self, Block, Connect, End, Head, Leave, Request, RequestHead};

/// A fault.
#[derive(Debug)]
pub struct FaultTable {
    /// Its key in a rule.
    pub name: &'static str,
    /// The points at which it can act.
    pub at: &'static [At],
    /// The parameter that a value which is no table of parameters stands for.
    pub main: Option<&'static str>,
    /// Its parameters.
    pub params: &'static [Field],
    /// Whether this version can do it.
    pub built: bool,
    /// What it does, without a full stop.
    pub doc: &'static str,
}

/// The fault of that name.
#[must_use]
pub fn fault(name: &str) -> Option<&'static FaultTable> {
    FAULTS.iter().find(|fault| fault.name == name)
}

const NO_LIMIT: i64 = i64::MAX;
const OVERTAKE: Field =
    field("overtake", Kind::Bool, Need::Default("false"), "whether later units of the stream may pass it");
const WHEN: Field = field("when", Kind::Condition(Asked::Unit), Need::Optional, "when, if not at once");
const GAP: Field = field("gap", Kind::Time, Need::Default("\"0s\""), "the time between two parts");
const RETRY: Field = field("retry", Kind::Int(0, NO_LIMIT), Need::Optional, "reconnection time, in milliseconds");

const fn limit(default: &'static str, doc: &'static str) -> Field {
    field("limit", Kind::Duration, Need::Default(default), doc)
}

/// One SSE event that a fault makes.
const EVENT: &[Field] = &[
    field("id", Kind::Text, Need::Optional, "its id"),
    field("event", Kind::Text, Need::Optional, "its type"),
    field("data", Kind::Text, Need::Optional, "its data"),
    field("message", Kind::Json, Need::Optional, "its data, as a JSON-RPC message"),
    RETRY,
    field("comment", Kind::Text, Need::Optional, "a comment line"),
];
const RPC_ERROR: &[Field] = &[
    field("code", Kind::Int(i64::MIN, i64::MAX), Need::Required, "the JSON-RPC error code"),
    field("message", Kind::Text, Need::Required, "the JSON-RPC error message"),
];
const EVENT_FIELD: Kind = Kind::Either(&[Kind::Text, Kind::Int(0, NO_LIMIT), Kind::Bool]);

/// All of them, in the order of the manual.
pub static FAULTS: [FaultTable; 15] = [
    FaultTable {
        name: "delay",
        at: &[Request, Head, Block, End, Leave],
        main: Some("time"),
        built: true,
        doc: "lets a unit leave so long after it arrived",
        params: &[field("time", Kind::Time, Need::Required, "how long, counted from arrival"), OVERTAKE],
    },
    FaultTable {
        name: "hold",
        at: &[Connect, RequestHead, Request, Head, Block, End, Leave],
        main: Some("until"),
        built: true,
        doc: "lets a unit leave only after something else has happened",
        params: &[
            field("until", Kind::Condition(Asked::Unit), Need::Required, "what opens it"),
            limit("\"30s\"", "when it is let go anyway, which is a failure"),
            OVERTAKE,
            field(
                "reading",
                Kind::Bool,
                Need::Default("true"),
                "whether the server's leg is read on meanwhile, bounded",
            ),
        ],
    },
    FaultTable {
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
    },
    FaultTable {
        name: "reorder",
        at: &[Block],
        main: Some("window"),
        built: true,
        doc: "lets blocks leave in another order than they came",
        params: &[
            field("window", Kind::Int(2, 1_000_000), Need::Required, "how many selected blocks are collected"),
            field("order", Kind::Order, Need::Default("\"reverse\""), "the order in which they leave"),
            field("across", Kind::Bool, Need::Default("false"), "whether the window spans all streams of the session"),
            limit("\"1s\"", "when the window closes although it is not full (no failure)"),
        ],
    },
    FaultTable {
        name: "throttle",
        at: &[Request, Head],
        main: Some("rate"),
        built: false,
        doc: "lets a body pass only so fast",
        params: &[
            field("rate", Kind::Rate, Need::Required, "how fast"),
            field("burst", Kind::Size, Need::Optional, "how much may pass at once (one second's worth)"),
        ],
    },
    FaultTable {
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
            field(
                "byte",
                Kind::Offset,
                Need::Optional,
                "how much of the unit still leaves (\"50%\"); with inside only",
            ),
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
            field(
                "settle",
                Kind::Duration,
                Need::Default("\"20ms\""),
                "before a reset: how long the reader gets to read",
            ),
            field("h2-code", Kind::Text, Need::Optional, "the code of RST_STREAM (CANCEL)"),
        ],
    },
    FaultTable {
        name: "drop",
        at: &[Request, Block, Leave],
        main: None,
        built: false,
        doc: "loses a unit",
        params: &[],
    },
    FaultTable {
        name: "duplicate",
        at: &[Request, Block],
        main: Some("times"),
        built: false,
        doc: "lets a unit leave again",
        params: &[field("times", Kind::Int(1, NO_LIMIT), Need::Default("1"), "how often again"), GAP],
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
    FaultTable {
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
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_main_parameter_is_a_parameter() {
        for fault in &FAULTS {
            if let Some(main) = fault.main {
                assert_eq!(fault.params.first().map(|field| field.key), Some(main), "{}", fault.name);
            }
        }
    }
}
