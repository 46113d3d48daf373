//! The tables of the language that are not faults: file, variable, rule, selector, condition, expectation.

use crate::engine::language::{Asked, Field, Kind, MOST, Need, asked, field};
use crate::engine::selector::At;

/// Where there is a request.
const EXCHANGE: &[At] = &[At::RequestHead, At::Request, At::Head, At::Block, At::End, At::Leave];
/// Where the request's body has been read.
const BODY: &[At] = &[At::Request, At::Head, At::Block, At::End, At::Leave];
/// Where there may be an answer.
const ANSWER: &[At] = &[At::Head, At::Block, At::End, At::Leave];

const STREAMS: &[&str] = &["post", "get", "resume", "listen", "legacy", "delete", "other"];
const BLOCKS: &[&str] = &["message", "priming", "retry", "comment", "endpoint", "other", "unparsable", "any"];
pub(in crate::profile) const MESSAGES: &[&str] = &["answer", "response", "error", "request", "notification"];

/// A profile.
pub static FILE: [Field; 8] = [
    field("version", Kind::Version, Need::Required, "the version of the language, 1"),
    field("summary", Kind::Text, Need::Optional, "one line for the list of profiles"),
    field("group", Kind::Text, Need::Optional, "what it is about, in a word: the list of profiles is grouped by it"),
    field("provokes", Kind::Texts, Need::Optional, "reports of the bugs it provokes, as owner/repository#number"),
    field("era", Kind::Words(&["legacy", "session", "modern"]), Need::Optional, "the protocol's eras it is for (all)"),
    field("vars", Kind::Json, Need::Optional, "variables: NAME = { default, doc, choices }"),
    field("rule", Kind::Json, Need::Optional, "what is done; each is a [[rule]]"),
    field("expect", Kind::Json, Need::Optional, "what must be seen; each is an [[expect]]"),
];

/// A variable.
pub static VARIABLE: [Field; 3] = [
    field("default", Kind::Json, Need::Required, "its value if none is given"),
    field("doc", Kind::Text, Need::Required, "what it is for"),
    field("choices", Kind::List(&Kind::Json), Need::Optional, "the only values it may have"),
];

/// A rule, beside its fault.
pub static RULE: [Field; 12] = [
    field("name", Kind::Text, Need::Required, "for the verdict and for other rules; unique in the file"),
    field("if", Kind::Values, Need::Optional, "leave the rule out unless these variables have one of these values"),
    field("match", Kind::Selector, Need::Required, "the points this rule is about"),
    field("nth", Kind::Ordinals, Need::Optional, "only these of them, counted from 1 (all)"),
    field("skip", Kind::Int(0, i64::MAX), Need::Default("0"), "leave out the first so many"),
    field("every", Kind::Int(1, i64::MAX), Need::Default("1"), "of the rest every so-many-th"),
    field("probability", Kind::Share, Need::Default("1.0"), "drawn for each point by identity, not by order"),
    field("times", Kind::Int(1, i64::MAX), Need::Optional, "fire at most so often (no limit)"),
    field("from", Kind::Condition(Asked::Switch), Need::Optional, "switches the rule on (on)"),
    field("until", Kind::Condition(Asked::Switch), Need::Optional, "switches the rule off (never)"),
    field(
        "scope",
        Kind::Word(&["exchange", "owner", "connection", "session", "run"]),
        Need::Default("\"session\""),
        "what is counted together",
    ),
    field("optional", Kind::Bool, Need::Default("false"), "whether it may stay unfired"),
];

/// A selector.
pub static SELECTOR: [Field; 22] = [
    field(
        "at",
        Kind::Word(&["connect", "request-head", "request", "head", "block", "end", "leave"]),
        Need::Optional,
        "the point; may be left out beside message, block, index or event-id, and is then block",
    ),
    asked("stream", Kind::WordGlob(STREAMS), EXCHANGE, "the kind of exchange"),
    asked("method", Kind::Method, BODY, "the JSON-RPC method of the message the exchange's POST carries"),
    asked("name", Kind::Glob, BODY, "tool, prompt, resource or task"),
    asked("id", Kind::Id, BODY, "the JSON-RPC id of that message"),
    asked("params", Kind::Pointers, BODY, "JSON pointers below its params"),
    asked("owner", Kind::Owner, BODY, "the client request that the message belongs to"),
    asked("exchange", Kind::Ordinals, EXCHANGE, "the k-th exchange of the session that fits"),
    asked("header", Kind::HeaderGlobs, EXCHANGE, "the request's headers; true present, false absent"),
    asked("response-header", Kind::HeaderGlobs, ANSWER, "the answer's headers; true present, false absent"),
    asked("http-method", Kind::Glob, EXCHANGE, "the HTTP method"),
    asked("path", Kind::Glob, EXCHANGE, "the path, without the query"),
    asked("status", Kind::Status, ANSWER, "the answer's status"),
    asked("media", Kind::WordGlob(&["sse", "json", "none", "other"]), ANSWER, "the answer's content type"),
    asked("resumes", Kind::WordGlob(&["post", "get", "unknown"]), EXCHANGE, "whose stream a resume continues"),
    asked("reused", Kind::Bool, EXCHANGE, "not the first request on its connection"),
    asked("session", Kind::Session, EXCHANGE, "by order of initialize; none, or ended"),
    asked("in-flight", Kind::Count, EXCHANGE, "client requests of the session not yet settled"),
    asked("message", Kind::Message, &[At::Request, At::Block], "the message in the block or in the POST"),
    asked("block", Kind::WordGlob(BLOCKS), &[At::Block], "the kind of block (message)"),
    asked("index", Kind::Ordinals, &[At::Block], "the k-th block of those kinds in its exchange"),
    asked("event-id", Kind::Presence, &[At::Block], "the SSE id"),
];

/// A client request that a message belongs to.
pub static OWNER: [Field; 4] = [
    field("method", Kind::Method, Need::Optional, "its method"),
    field("name", Kind::Glob, Need::Optional, "its tool, prompt, resource or task"),
    field("id", Kind::Id, Need::Optional, "its id"),
    field("params", Kind::Pointers, Need::Optional, "JSON pointers below its params"),
];

/// A message.
pub static MESSAGE: [Field; 5] = [
    field("kind", Kind::WordGlob(MESSAGES), Need::Optional, "its kind; an answer is a response or an error"),
    field("method", Kind::Method, Need::Optional, "its method; of an answer, that of the request it answers"),
    field("params", Kind::Pointers, Need::Optional, "JSON pointers below its params"),
    field("result", Kind::Pointers, Need::Optional, "JSON pointers below its result"),
    field("code", Kind::Code, Need::Optional, "its error code"),
];

/// What a condition adds to a selector.
pub static SEEN: [Field; 5] = [
    field("leg", Kind::Word(&["client", "server"]), Need::Optional, "on which leg it is seen (the far one: passed)"),
    field(
        "same",
        Kind::Word(&["exchange", "call", "owner", "session", "run", "!owner", "!exchange"]),
        Need::Default("\"session\""),
        "how it relates to the unit in hand",
    ),
    field("nth", Kind::Int(1, MOST), Need::Default("1"), "the k-th such point"),
    field("next", Kind::Bool, Need::Default("false"), "only points after the unit in hand"),
    field("plus", Kind::Time, Need::Optional, "so much later"),
];

/// A condition about a rule.
pub static FIRED: [Field; 2] = [
    field("fired", Kind::Text, Need::Required, "the rule that must have acted"),
    field("plus", Kind::Time, Need::Optional, "so much later"),
];

/// A condition about what a rule holds.
pub static GATHERED: [Field; 1] = [field("gathered", Kind::Int(1, MOST), Need::Required, "this rule holds so many")];

/// The other conditions that are no selector.
pub static WAIT: [Field; 4] = [
    field("plus", Kind::Time, Need::Optional, "so long after the point in hand, or so much longer or later"),
    field(
        "idle",
        Kind::Duration,
        Need::Optional,
        "no byte of the answer for so long; at connect, and before a request is sent, nothing on the connection",
    ),
    field(
        "bytes",
        Kind::Size,
        Need::Optional,
        "so many bytes of the answer's body have passed; a cut falls exactly there",
    ),
    field("control", Kind::Text, Need::Optional, "opened through the control API (not built yet)"),
];

/// An expectation.
pub static EXPECT: [Field; 10] = [
    field("name", Kind::Text, Need::Required, "for the verdict"),
    field("if", Kind::Values, Need::Optional, "leave it out unless these variables have one of these values"),
    field("match", Kind::Expected, Need::Optional, "what is counted"),
    field("that", Kind::Word(CHECKS), Need::Optional, "a named check, in place of match"),
    field("after", Kind::Openings, Need::Optional, "for each time this comes true (the start of the scope)"),
    field("count", Kind::Count, Need::Default("\">=1\""), "how many"),
    field("within", Kind::Duration, Need::Optional, "how soon (the end of the run)"),
    field("per", Kind::Duration, Need::Optional, "a most is for any length of time like this (for all of it)"),
    field("scope", Kind::Word(&["session", "run"]), Need::Default("\"session\""), "where it begins anew"),
    field("optional", Kind::Bool, Need::Default("false"), "whether it may never be asked"),
];

/// The named checks of an expectation.
const CHECKS: &[&str] = &[
    "settled",
    "resume-id",
    "no-repeat",
    "closed",
    "connections-closed",
    "one-initialize",
    "gets",
    "resumed",
    "leave-seen",
    "no-late-cancel",
    "no-lost-request",
];

/// What a selector in an expectation's `match` adds.
pub static COUNTED: [Field; 2] = [
    field("leg", Kind::Word(&["client", "server"]), Need::Default("\"client\""), "on which leg it is seen"),
    field(
        "same",
        Kind::Word(&["exchange", "call", "owner", "session", "run", "!owner", "!exchange"]),
        Need::Optional,
        "how it relates to the point that made `after` true (the scope)",
    ),
];

/// What a selector in an expectation's `after` adds.
pub static OPENED: [Field; 4] = [
    field("leg", Kind::Word(&["client", "server"]), Need::Default("\"client\""), "on which leg it is seen"),
    field("same", Kind::Word(&["session", "run"]), Need::Optional, "through what `nth` counts (the scope)"),
    field("nth", Kind::Int(1, MOST), Need::Optional, "only the k-th such point (each)"),
    field("plus", Kind::Time, Need::Optional, "so much later"),
];
