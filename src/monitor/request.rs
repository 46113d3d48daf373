//! One client request: what it is, what became of it, what each leg did last, and who closed first.

use std::collections::BTreeSet;
use std::fmt;

use crate::engine::record::PointEntry;
use crate::engine::rpc::Id;
use crate::report::words::span;

/// How many rules are remembered to have acted on what belongs to a request.
const RULES: usize = 8;

/// What became of a client request, in the words of docs/outcomes.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Its answer reached the client.
    Answered,
    /// The same, on a stream that the client had resumed.
    Resumed,
    /// Its stream ended, broke or was refused, and the client could see it.
    Told,
    /// The client gave it up with a cancellation.
    Cancelled,
    /// The client left before its answer.
    Left,
    /// A rule keeps it, its answer or the end of its stream, on purpose.
    Withheld,
    /// None of that: its client waits.
    Open,
}

/// What a leg did last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark {
    /// When, in microseconds since the run began.
    pub at: u64,
    /// What, as a point's own part of its key has it: `request#1`, `block#3`.
    pub what: String,
}

/// Who ended an exchange first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closer {
    /// The client, by leaving.
    Client,
    /// The server.
    Server,
    /// A rule.
    Rule(String),
}

/// How an exchange ended first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// Its place in the sequence.
    pub seq: u64,
    /// When.
    pub at: u64,
    /// Who ended it.
    pub by: Closer,
    /// How: `eof`, `fin`, `reset`.
    pub ending: String,
}

/// An answer, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its place in the sequence.
    pub seq: u64,
    /// When it arrived.
    pub at: u64,
    /// Of one that tells of a failure: the error's code, or `isError`.
    pub error: Option<String>,
    /// The place of its leaving; none if it did not reach the client.
    pub left: Option<u64>,
}

/// A client request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The exchange that carried it: session / exchange.
    pub key: String,
    /// The session's ordinal; 0: none.
    pub session: u64,
    /// The client connection's number.
    pub conn: u64,
    /// Its JSON-RPC id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// Tool, prompt, resource or task.
    pub name: Option<String>,
    /// The place of its arrival in the sequence.
    pub seq: u64,
    /// When it arrived, in microseconds since the run began.
    pub arrived: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// When that was settled; none while it is open.
    pub settled: Option<u64>,
    /// The rule that withheld it, or ended or refused its stream.
    pub rule: Option<String>,
    /// What the client's leg did last.
    pub client: Mark,
    /// What the server's leg did last.
    pub server: Mark,
    /// Who closed first and how.
    pub closed: Option<Close>,
    /// The first answer to it.
    pub answer: Option<Answer>,
    /// When the client cancelled it.
    pub cancelled: Option<u64>,
    /// The status with which it was refused.
    pub refused: Option<u16>,
    /// Whether an event id has reached the client on its stream.
    pub resumable: bool,
    /// How often the client has resumed its stream.
    pub resumes: u64,
    /// The rules that acted on anything that belongs to it.
    pub touched: BTreeSet<String>,
    /// How many answers to it the server has sent, replays left out.
    pub(super) answers: u64,
    /// Whether it was accepted with a 202: its answer comes on another stream.
    pub(super) accepted: bool,
    /// What its answer's body is.
    pub(super) body: Body,
    /// When it was last named as quiet.
    pub(super) named: Option<u64>,
    /// When it was last found to be held by a rule, being quiet.
    pub(super) looked: u64,
}

/// What is known of an answer's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Body {
    /// No head has come.
    #[default]
    None,
    /// Events that are looked into.
    Events,
    /// JSON of which no message was read yet.
    Json,
    /// It is encoded: nobody looks into it.
    Opaque,
    /// Something else.
    Other,
}

// === Outcome ===

impl Outcome {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 7] =
        [Self::Answered, Self::Resumed, Self::Told, Self::Cancelled, Self::Left, Self::Withheld, Self::Open];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Resumed => "resumed",
            Self::Told => "told",
            Self::Cancelled => "cancelled",
            Self::Left => "left",
            Self::Withheld => "withheld",
            Self::Open => "open",
        }
    }

    /// What it means, for docs/outcomes.md.
    #[must_use]
    pub fn means(self) -> &'static str {
        match self {
            Self::Answered => "its answer reached the client, on its own stream or on another",
            Self::Resumed => "its answer reached the client on a GET that resumed its stream",
            Self::Told => "its stream ended, broke or was refused without the answer, and the client could see it",
            Self::Cancelled => "the client gave it up with `notifications/cancelled`",
            Self::Left => "the client closed its stream before the answer",
            Self::Withheld => "a rule keeps it, its answer or the end of its stream, on purpose",
            Self::Open => "none of that: its client is still there and waits",
        }
    }

    /// Whether the client got its answer.
    #[must_use]
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Answered | Self::Resumed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

// === Request ===

impl Request {
    /// The message of this method and id that came with a request's point.
    pub(super) fn new(point: &PointEntry, exchange: &str, id: Id, method: String, name: Option<String>) -> Self {
        Self {
            key: exchange.to_owned(),
            session: point.session.unwrap_or(0),
            conn: point.conn,
            id,
            method,
            name,
            seq: point.seq,
            arrived: point.arrived,
            outcome: Outcome::Open,
            settled: None,
            rule: None,
            client: Mark::default(),
            server: Mark::default(),
            closed: None,
            answer: None,
            cancelled: None,
            refused: None,
            resumable: false,
            resumes: 0,
            touched: BTreeSet::new(),
            answers: 0,
            accepted: false,
            body: Body::None,
            named: None,
            looked: 0,
        }
    }

    /// What it is called: `tools/call id 2`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} id {}", self.method, self.id)
    }

    /// When anything but a comment happened on it last.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.arrived.max(self.client.at).max(self.server.at)
    }

    /// Something of it has gone from one leg to the other, or was to.
    pub(super) fn touch(&mut self, point: &PointEntry, place: &str) {
        let (from, to) = if point.dir == "c2s" {
            (&mut self.client, &mut self.server)
        } else {
            (&mut self.server, &mut self.client)
        };
        if point.maker.is_none() && (point.point != "end" || point.ending.is_some()) {
            from.set(point.arrived, place);
        }
        point.left.into_iter().for_each(|left| to.set(left, place));
        for rule in point.rules.iter().chain(&point.maker).take(RULES.saturating_sub(self.touched.len())) {
            self.touched.insert(rule.clone());
        }
    }

    pub(super) fn settle(&mut self, outcome: Outcome, at: u64) {
        (self.outcome, self.settled) = (outcome, Some(at));
    }

    /// What each leg did last, in words: `the client sent its request 30 s ago, the server its head 29 s ago`.
    #[must_use]
    pub fn legs(&self, now: u64) -> String {
        let said = |mark: &Mark| {
            let ago = span(now.saturating_sub(mark.at));
            if mark.what.is_empty() { "nothing yet".to_owned() } else { format!("{} {ago} ago", place(&mark.what)) }
        };
        format!("last on the client's leg: {}; on the server's leg: {}", said(&self.client), said(&self.server))
    }
}

impl Mark {
    fn set(&mut self, at: u64, what: &str) {
        if at >= self.at {
            *self = Self { at, what: what.to_owned() };
        }
    }
}

/// `block#3` as a reader says it.
fn place(what: &str) -> String {
    match what.split_once('#') {
        Some((kind, number)) if kind.starts_with("block") => format!("{} {number}", kind.replace("block.", "")),
        Some((kind, _)) => kind.to_owned(),
        None => what.to_owned(),
    }
}

impl fmt::Display for Close {
    /// `server first (eof)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Closer::Client => write!(f, "closed by the client first ({})", self.ending),
            Closer::Server => write!(f, "closed by the server first ({})", self.ending),
            Closer::Rule(rule) => write!(f, "closed by {rule} ({})", self.ending),
        }
    }
}
