//! What the engine writes down: every point, every decision, every gate, as data (docs/journal.md), and their sum.
//!
//! A point's line is written when it has passed or it is known that it never will. Text that may hold a secret is a
//! hash before it comes here. Times are microseconds since the run began.

use serde::{Deserialize, Serialize};

mod expected;
mod summary;

pub use expected::{ExpectationEntry, ExpectationTally, SawEntry};
pub use summary::{Foreign, Remark, RuleTally, SilenceTally, Summary};

use super::rpc::Id;

/// One line of the journal that the engine decides on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "it travels in a box, and most lines are points")]
pub enum Entry {
    /// A point of an exchange.
    Point(PointEntry),
    /// A rule's decision about a point.
    Decision(DecisionEntry),
    /// A hold, a reorder window or a move came to its end.
    Gate(GateEntry),
    /// What client and server said of themselves when a session began.
    Session(SessionEntry),
    /// A client's connection is gone.
    Disconnect(DisconnectEntry),
    /// A monitor found something in what crossed.
    Finding(FindingEntry),
    /// The proxy did something nobody asked for, or could not do something, and why.
    Note(NoteEntry),
    /// An expectation was not met.
    Expectation(ExpectationEntry),
}

/// A point: what, where, whose, when.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct PointEntry {
    /// The place of its arrival in the run's one sequence.
    pub seq: u64,
    /// When it arrived.
    pub arrived: u64,
    /// When its last byte was written to the other leg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// The sequence number of the event that let it go; its own if nothing held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<u64>,
    /// The sequence number of its leaving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_seq: Option<u64>,
    /// Its stable name: session / exchange / point # ordinal.
    pub key: String,
    /// `connect`, `request-head`, `request`, `head`, `block`, `end`, `leave`.
    pub point: String,
    /// What became of it.
    pub fate: PointFate,
    /// The kind of stream it arrived on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The key of the exchange on whose stream it left, if that is another (a move).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_on: Option<String>,
    /// The session's ordinal; none before it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// The client connection's number.
    pub conn: u64,
    /// Of a connection: the client's address, without the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Which way it goes: `c2s` or `s2c`.
    pub dir: String,
    /// The JSON-RPC messages in it (several in a batch).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpc: Vec<RpcEntry>,
    /// The client request it belongs to (rule R7), also after a move or a resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerEntry>,
    /// Of a request: method and target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// Of a request that was sent, in a run with several servers: which one it went to, in the order of the command
    /// line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<u64>,
    /// Of a head: the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Headers; secrets as hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Of a block: `message`, `priming`, `retry`, `comment`, `endpoint`, `other`, `unparsable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Of a block: its SSE id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// How many bytes of it really left.
    #[serde(default)]
    pub bytes: u64,
    /// How many bytes it came with, if that is another number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// A hash of its content, so that two runs can be compared; the content itself is not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Of an end or a leave: `eof`, `fin`, `reset`, `stall`, as it arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// Of an end or a leave: the ending that was made of it, if another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// The rule that made it; absent: a peer sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker: Option<String>,
    /// Of a head: the status that rules made of it, if another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_status: Option<u16>,
    /// Of a request or a head: the headers that rules changed, in order; without a value: removed. Secrets as hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_headers: Vec<(String, Option<String>)>,
    /// The rules that acted on it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// What became of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PointFate {
    /// It was written to the other leg.
    #[default]
    Passed,
    /// It went no further than the proxy, because that is where it ends (a client's connection, a local answer).
    Ended,
    /// A cut or a later rule kept it from passing.
    Cut,
    /// It left on another stream.
    Moved,
    /// A rule dropped it.
    Dropped,
    /// Its leg was gone before it could be written.
    Gone,
    /// It was still waiting when the run ended.
    Withheld,
}

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RpcEntry {
    /// `request`, `notification`, `response`, `error`.
    pub kind: String,
    /// Its method; of an answer, that of the request it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// Tool, prompt, resource or task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The token under which it asks for progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Id>,
    /// The token whose progress it tells, or the id of the request that it cancels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Id>,
    /// Of an answer or a cancellation: whether the request that it names was never seen in its session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// Of an answer that tells of a failure: the error's code, or `isError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of a request that says its protocol version itself (`_meta`): that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The W3C trace context in its `_meta.traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// The client request that something belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnerEntry {
    /// Its id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A rule's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct DecisionEntry {
    /// Its place in the sequence.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// The rule.
    pub rule: String,
    /// The point it decided about.
    pub key: String,
    /// How many points the rule had counted in this scope, this one included.
    pub count: u64,
    /// Whether it fired.
    pub fired: bool,
    /// Why not, or what it does: one word or a short phrase of the language.
    pub what: String,
    /// What was drawn, if anything was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<DrawEntry>,
}

/// A number drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DrawEntry {
    /// What for: `probability`, `delay`, `plus`. A shuffle shows in the order in which its points left.
    pub purpose: String,
    /// The value: 0 to 1 for a probability, else microseconds or an index.
    pub value: f64,
}

/// A gate's end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct GateEntry {
    /// Its place in the sequence.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// The rule that held.
    pub rule: String,
    /// The point that was held.
    pub key: String,
    /// What opened it.
    pub opened: Opened,
    /// How long it had held, in microseconds.
    pub held: u64,
    /// Of a gate that never opened: how many blocks it kept from the client for good, those behind it included.
    #[serde(default, skip_serializing_if = "is_none")]
    pub undelivered: u64,
    /// Of a gate that never opened: whether what it waited for stood behind it and `overtake` would have let that pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtake: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(number: &u64) -> bool {
    *number == 0
}

/// What opened a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Opened {
    /// This point (its key) or, for a time or a firing, these words.
    By(String),
    /// It was already true when the point arrived; what had made it so.
    Already(String),
    /// The limit, with the condition under way: a failure.
    Limit,
    /// The limit, and nothing that could have opened it was under way.
    Vacuous,
    /// What would have opened it can no longer come.
    Lost,
    /// No more of the answer could be kept, so that what would have opened it was not read: a failure.
    Full,
    /// The unit's leg went away first.
    Left,
    /// The run ended first.
    RunEnded,
}

/// The answer to a session's initialize arrived: who talks to whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SessionEntry {
    /// Its place in the sequence: that of the answer's arrival.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// The session's ordinal.
    pub session: u64,
    /// `clientInfo` of the initialize.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<PartyEntry>,
    /// `serverInfo` of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<PartyEntry>,
    /// `protocolVersion` of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// A client or a server, as it calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PartyEntry {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A client's connection is gone, and every exchange on it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DisconnectEntry {
    /// Its place in the sequence.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// The connection's number.
    pub conn: u64,
    /// How the client ended it: `fin` or `reset`; `fin` too if it did not.
    pub ending: String,
}

/// Something that a monitor found (docs/monitors.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct FindingEntry {
    /// The place in the sequence of what it was found in.
    pub seq: u64,
    /// When that was.
    pub at: u64,
    /// The monitor.
    pub monitor: String,
    /// The exchange that it is about (session / exchange).
    pub key: String,
    /// What was found, in words, from nothing but what crossed.
    pub words: String,
    /// The clause that it is held against, with its version.
    pub clause: String,
    /// What it counts for.
    pub weight: Weight,
}

/// What a finding counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// It fails the run.
    Failure,
    /// It is told, and fails nothing by itself.
    Notice,
}

/// Something worth knowing that is neither point nor decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteEntry {
    /// Its place in the sequence.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// What, in words.
    pub text: String,
}
