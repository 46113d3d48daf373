//! The rows: one for each profile that comes with the program.

use super::scene::Scene;
use super::{plays, questions, raw};

/// A row.
pub(super) struct Row {
    /// The profile.
    pub(super) profile: &'static str,
    /// Its parameters, as after its name and a comma; empty: its defaults.
    pub(super) with: &'static str,
    /// Profiles that act in both plays.
    pub(super) beside: &'static [&'static str],
    pub(super) client: &'static str,
    pub(super) server: &'static str,
    /// A second server, for rules that send requests there.
    pub(super) replica: Option<&'static str>,
    /// No SDK falls for it: the client is written by hand.
    pub(super) raw: bool,
    /// Whether the client breaks an expectation of the profile, which ends the run with 3.
    pub(super) breaks: bool,
    /// What is done, and what comes of it.
    pub(super) play: fn(Scene) -> String,
    /// What the outcome means, for the table.
    pub(super) shows: &'static str,
}

/// A row with the profile's defaults.
const fn row(profile: &'static str, client: &'static str, play: fn(Scene) -> String, shows: &'static str) -> Row {
    Row { profile, with: "", beside: &[], client, server: PLAIN, replica: None, raw: false, breaks: false, play, shows }
}

const PLAIN: &str = "sdk 1.32.2";
const TS1: &str = "sdk 1.32.2";
const TS2: &str = "client 2.4.0";
const PY1: &str = "python 1.26.0";
const PY2: &str = "python 2.3.0";
const RMCP: &str = "rmcp 3.11.0";

pub(super) static ROWS: &[Row] = &[
    // === The answer to a POST ===
    row("post-stream-lost", TS2, plays::lost_call, "the end of its stream tells the client nothing"),
    row("post-stream-stalls", TS2, plays::lost_call, "only the client's own timeout ends the call"),
    Row {
        with: "time=60s",
        ..row("answer-late", TS1, plays::lost_call, "the answer comes, and nobody waits for it any more")
    },
    row("answer-lost-after-work", TS1, plays::call_on_both_legs, "the work is done, the client is told of a failure"),
    row(
        "request-lost",
        TS1,
        plays::call_on_both_legs,
        "the same failure for the client, and the server has no trace of it",
    ),
    Row {
        raw: true,
        ..row(
            "stream-open-after-response",
            TS1,
            raw::end_after_the_answer,
            "the SDKs do not wait for the end of the stream",
        )
    },
    // === The standalone GET ===
    row("get-opens-late", TS1, questions::unrelated, "the server asks before anyone listens, and the question is lost"),
    Row { with: "time=60s", ..row("get-late-by", TS1, questions::unrelated, "the same, by time") },
    Row {
        with: "ending=reset",
        ..row("get-stream-cut", RMCP, plays::meanwhile, "a reset is followed by the next GET without a pause")
    },
    row("get-opens-then-ends", PY2, plays::meanwhile, "a GET each second, for ever"),
    row(
        "get-cut-then-unavailable",
        TS1,
        questions::unrelated_afterwards,
        "the client has given its GET up, and no one knows",
    ),
    Row {
        with: "status=200",
        ..row("get-refused", TS1, plays::meanwhile, "JSON is taken for a stream, once a second")
    },
    Row {
        raw: true,
        ..row("get-headers-held", TS1, raw::head_of_a_quiet_get, "the SDKs connect without waiting for the GET")
    },
    row(
        "get-zombie-conflict",
        TS1,
        questions::unrelated_afterwards,
        "the reconnect is refused, and the client gives its GET up",
    ),
    // === Sessions ===
    Row { breaks: true, ..row("session-forgotten", TS1, plays::call, "the client goes on with the dead id") },
    Row { with: "down=0s", ..row("server-dies", TS1, plays::call, "the next call still carries the dead id") },
    row("auth-expires-under-load", TS1, plays::three_calls, "all fail together; the drivers have no tokens to refresh"),
    Row {
        replica: Some("sdk 1.29.0"),
        ..row("two-replicas", TS1, plays::call, "the second request meets a server that does not know the session")
    },
    // === Lifecycle ===
    Row {
        raw: true,
        ..row(
            "initialized-late-or-lost",
            TS1,
            raw::initialized,
            "the SDKs' servers answer a call that comes before initialized",
        )
    },
    row("lifecycle-races", TS1, plays::late_answer, "an answer to a call that was given up is an error for the client"),
    Row { with: "when=3s", ..row("client-vanishes-mid-call", TS1, plays::outlived, "the server works for nobody") },
    row("client-left-unseen", TS1, plays::leave, "the server still writes to a client that has gone"),
    // === Gateways ===
    row("gateway-errors", PY1, plays::call, "one page ends the session"),
    Row {
        with: "idle=2s,stream=post",
        ..row("gateway-idle", TS1, plays::outlived, "a call that is quiet for long is lost")
    },
    Row {
        raw: true,
        ..row("gateway-holds-heads", TS1, raw::head_of_a_quiet_get, "the SDKs connect without waiting for the GET")
    },
    row(
        "sse-body-buffered",
        TS1,
        questions::related,
        "the question waits for the end of a call that waits for its answer",
    ),
    row("idle-connection-dies", TS1, plays::call, "the second request of the session meets a dead connection"),
    Row { with: "ack=reset", ..row("ack-not-202", TS2, plays::call, "the client does not connect") },
    Row {
        with: "headers={mcp-protocol-version='1900-01-01'}",
        ..row(
            "relay-strips-headers",
            TS2,
            plays::call,
            "400 after a successful initialize, and the client does not connect",
        )
    },
    // === Resumes ===
    row("resume-required", TS1, plays::call, "the SDKs resume; a client that does not never gets its answer"),
    row("resume-goes-nowhere", PY2, plays::lost_call, "each accepted resume is taken for progress"),
    Row {
        with: "retry=3600000",
        ..row("sse-retry-values", TS1, questions::unrelated_afterwards, "the client does not come back for an hour")
    },
    row("replay-duplicates-or-strays", TS1, plays::one_notification, "the client counts what is replayed twice"),
    // === Framing and identity ===
    Row { with: "form=cr", ..row("sse-reframed", TS1, plays::call, "the last event of a stream is never seen") },
    Row {
        with: "noise={event={data='beat'}}",
        ..row("sse-noise", PY2, plays::call, "what is no message is read as one")
    },
    Row { with: "form=array", ..row("sse-awkward-events", PY2, plays::call, "the answer, in an array, is not read") },
    Row {
        with: "id={value=7}",
        ..row("response-id-mangled", TS2, plays::lost_call, "nobody waits for an answer with that id")
    },
    Row {
        with: "order=swap",
        ..row("events-out-of-order", TS1, plays::two_notifications, "they are handled as they come")
    },
    row("answers-cross", TS1, questions::crossed, "who guesses by order asks for the wrong call"),
    row(
        "server-request-on-other-stream",
        RMCP,
        questions::origin,
        "a question is of the call on whose stream it came, for this client",
    ),
    row("owner-marked", TS1, questions::mark, "it has no symptom: it tells the truth about the question"),
    Row {
        with: "limit=60s",
        beside: &["get-late-by,time=10s"],
        ..row("get-opens-first", TS1, questions::at_once, "it has no symptom: it takes another's away")
    },
];
