//! What is written down: a line for each point, decision and gate, and the tallies of the rules (docs/journal.md).
//!
//! The one rule it keeps: nothing secret leaves the engine. Tokens, cookies and session ids are stand-ins here.

use std::collections::VecDeque;

use bytes::Bytes;

use super::answer::Change;
use super::bounded::Bounded;
use super::decide::micros;
use super::effects::{Effect, Outcome};
use super::engine::Engine;
use super::event::{Command, Ending, ExchangeId, HeaderEdit, Moment};
use super::exchange::{Exchange, ServerLeg, stream_word};
use super::hash;
use super::missed::Missed;
use super::owner::{CallId, Spoken};
use super::plan::{Armed, Plan, Quiet};
use super::record::{
    Entry, GateEntry, NoteEntry, Opened, OwnerEntry, PointEntry, PointFate, Remark, RpcEntry, RuleTally, SilenceTally,
};
use super::rpc;
use super::rule::Rule;
use super::selector::At;
use super::unit::Point;
use super::withheld::Kept;

/// How many ends of gates the summary keeps; the oldest that opened go first.
const GATES: usize = 10_000;
/// How many remarks it keeps.
const REMARKS: usize = 100;

/// Of how many firings, for each rule, it is known that they were effective.
const FIRINGS: usize = 16 * 1024;

/// The tallies, and whether lines are written.
#[derive(Debug)]
pub(super) struct Notebook {
    pub(super) on: bool,
    /// Whether bodies are handed over under their hashes.
    pub(super) bodies: bool,
    pub(super) tallies: Vec<RuleTally>,
    /// At which units each rule fired with an effect that may show again.
    pub(super) effective: Vec<Bounded<u64, ()>>,
    /// What each rule lacked where it did not fire.
    pub(super) missed: Vec<Missed>,
    /// Whether what each rule waits for has ever come.
    pub(super) came_true: Vec<bool>,
    /// One for each silence of the plan.
    pub(super) silences: Vec<SilenceTally>,
    pub(super) gates: VecDeque<GateEntry>,
    pub(super) effects: Vec<Effect>,
    /// How many effects there was no place for.
    pub(super) more_effects: u64,
    pub(super) remarks: Vec<Remark>,
    /// The methods of exchanges, by key.
    pub(super) methods: Bounded<String, String>,
    /// Whether it was said that identity encoding is asked for.
    pub(super) identity: bool,
}

impl Notebook {
    pub(super) fn new(plan: &Plan, on: bool) -> Self {
        let tally = |armed: &Armed| {
            let Rule { name, optional, .. } = &armed.rule;
            RuleTally { name: name.clone(), optional: *optional, ..RuleTally::default() }
        };
        let silence = |quiet: &Quiet| SilenceTally {
            rule: plan.rules[quiet.rule].rule.name.clone(),
            time: micros(Moment(quiet.time)),
            ..SilenceTally::default()
        };
        let silences = plan.silences.iter().map(silence).collect();
        Self {
            silences,
            on,
            bodies: false,
            tallies: plan.rules.iter().map(tally).collect(),
            effective: plan.rules.iter().map(|_| Bounded::new(FIRINGS)).collect(),
            missed: plan.rules.iter().map(|armed| Missed::of(&armed.rule)).collect(),
            came_true: vec![false; plan.rules.len()],
            gates: VecDeque::new(),
            effects: Vec::new(),
            more_effects: 0,
            remarks: Vec::new(),
            methods: Bounded::new(GATES),
            identity: false,
        }
    }
}

impl Engine {
    pub(super) fn record(&mut self, entry: Entry) {
        if self.notebook.on {
            self.out.push(Command::Record(Box::new(entry)));
        }
    }

    /// The hash of a body, if points are recorded; the body is handed over with it, if bodies are kept.
    pub(super) fn hashed(&mut self, body: &Bytes) -> Option<u64> {
        let hash = self.notebook.on.then(|| hash::hash(body))?;
        if self.notebook.bodies && !body.is_empty() {
            self.out.push(Command::Keep { hash, body: body.clone() });
        }
        Some(hash)
    }

    pub(super) fn note(&mut self, now: Moment, text: String) {
        let seq = self.next_seq();
        self.record(Entry::Note(NoteEntry { seq, at: micros(now), text }));
    }

    /// The same, for the verdict too.
    pub(super) fn remark(&mut self, now: Moment, key: String, what: String) {
        self.note(now, format!("{key}: {what}"));
        let remark = Remark { key, what };
        if self.notebook.remarks.len() < REMARKS && !self.notebook.remarks.contains(&remark) {
            self.notebook.remarks.push(remark);
        }
    }

    /// A rule changed the wire, or ensured the order it stands for (rule R35).
    pub(super) fn effective(&mut self, rule: usize) {
        self.notebook.tallies[rule].effective += 1;
    }

    /// The same for one of several things that a rule does or makes when it fires, at the unit with this place in the
    /// sequence: together they count once (rule R35).
    pub(super) fn effective_once(&mut self, rule: usize, firing: u64) {
        let known = &mut self.notebook.effective[rule];
        if known.get(&firing).is_none() {
            known.insert(firing, ());
            self.effective(rule);
        }
    }

    /// The end of a gate that has let its unit go.
    pub(super) fn close_gate(&mut self, now: Moment, rule: usize, point: &Point, opened: Opened) {
        self.end_gate(now, rule, point, opened, Kept::default());
    }

    /// A gate's end, for the journal and the summary.
    pub(super) fn end_gate(&mut self, now: Moment, rule: usize, point: &Point, opened: Opened, kept: Kept) {
        let gate = GateEntry {
            seq: self.next_seq(),
            at: micros(now),
            rule: self.plan.rules[rule].rule.name.clone(),
            key: point.key.to_string(),
            opened,
            held: micros(now).saturating_sub(micros(point.arrived)),
            undelivered: kept.undelivered,
            overtake: kept.overtake,
        };
        if self.notebook.gates.len() == GATES {
            // One that failed is the last to go: without it the run would pass.
            let fine = |gate: &GateEntry| matches!(gate.opened, Opened::By(_) | Opened::Already(_));
            let oldest = self.notebook.gates.iter().position(fine).unwrap_or(0);
            self.notebook.gates.remove(oldest);
        }
        self.notebook.gates.push_back(gate.clone());
        self.record(Entry::Gate(gate));
    }

    /// A point's fate is known; what waits behind it may go.
    pub(super) fn write_point(
        &mut self,
        point: &Point,
        fate: PointFate,
        left: Option<(Moment, u64)>,
        on: Option<ExchangeId>,
    ) {
        self.news |= self.awaited.remove(&point.seq);
        self.tell_effects(&Outcome { point, fate, left, on });
        if !self.notebook.on {
            return;
        }
        let mut entry = PointEntry {
            seq: point.seq,
            arrived: micros(point.arrived),
            left: left.map(|(moment, _)| micros(moment)),
            by: left.map(|_| point.by),
            left_seq: left.map(|(_, seq)| seq),
            key: point.key.to_string(),
            point: point.at.word().to_owned(),
            fate,
            stream: point.stream.map(|stream| stream_word(stream).to_owned()),
            left_on: on.and_then(|id| self.exchanges.get(&id)).map(|exchange| full_key(exchange)),
            session: Some(point.session).filter(|session| *session != 0),
            conn: point.conn.0,
            client: self.conns.get(&point.conn).filter(|_| point.at == At::Connect).map(|conn| conn.client.clone()),
            dir: if point.at.is_towards_server() { "c2s" } else { "s2c" }.to_owned(),
            owner: point.belongs.owners.first().and_then(|owner| self.owner_entry(*owner)),
            bytes: if fate == PointFate::Passed || fate == PointFate::Moved || fate == PointFate::Cut {
                point.bytes
            } else {
                0
            },
            size: Some(point.size),
            hash: point.hash.map(|hash| format!("{hash:016x}")),
            ending: point.ending.map(|ending| ending.word().to_owned()),
            made: point.made.map(|ending| ending.word().to_owned()),
            maker: point.maker.map(|rule| self.plan.rules[rule].rule.name.clone()),
            rules: point.rules.iter().map(|rule| self.plan.rules[*rule].rule.name.clone()).collect(),
            ..PointEntry::default()
        };
        entry.size = entry.size.filter(|size| *size != entry.bytes);
        if let Some(block) = &point.block {
            entry.block = Some(block.kind.word().to_owned());
            entry.event_id = block.event_id.as_ref().map(|id| String::from_utf8_lossy(id).into_owned());
            entry.rpc = self.rpc_entries(&block.messages);
        } else if let Some(post) = &point.post {
            entry.http = Some(format!("{} {}", post.head.method, redacted_target(&post.head.target)));
            entry.headers = redacted(&post.head.headers);
            entry.rpc = self.rpc_entries(&post.messages);
            let server = point.exchange.filter(|_| self.servers > 1).map(|id| self.server_of(id) as u64 + 1);
            entry.upstream = server.filter(|_| fate == PointFate::Passed);
        } else if let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get(&id)) {
            self.describe(&mut entry, point, exchange);
        }
        self.record(Entry::Point(entry));
    }

    fn describe(&self, entry: &mut PointEntry, point: &Point, exchange: &Exchange) {
        match point.at {
            At::RequestHead | At::Request => {
                entry.http = Some(format!("{} {}", exchange.request.method, redacted_target(&exchange.request.target)));
                // The request's line has them too: once is enough, unless there will be no request.
                if point.at == At::Request || entry.fate != PointFate::Ended || !point.rules.is_empty() {
                    let came = exchange.change.as_ref().map_or(&exchange.request.headers, |change| &change.headers);
                    entry.headers = redacted(came);
                }
                if point.at == At::Request {
                    let sent = self.servers > 1 && exchange.server != ServerLeg::Idle;
                    entry.upstream = sent.then_some(exchange.to.server as u64 + 1);
                    entry.rpc = self.rpc_entries(&exchange.messages);
                    describe_change(entry, exchange.change.as_ref());
                }
            }
            At::Head => {
                let Some(answer) = &exchange.answer else { return };
                let came = answer.change.as_ref().map_or(&answer.head.headers, |change| &change.headers);
                entry.headers = redacted(came);
                entry.status = Some(answer.change.as_ref().map_or(answer.head.status, |change| change.status));
                describe_change(entry, answer.change.as_ref());
            }
            At::Block | At::Connect | At::End | At::Leave => {}
        }
    }

    fn rpc_entries(&self, messages: &[Spoken]) -> Vec<RpcEntry> {
        messages.iter().map(|spoken| self.rpc_entry(spoken)).collect()
    }

    pub(super) fn rpc_entry(&self, spoken: &Spoken) -> RpcEntry {
        let message = &spoken.message;
        let answered = spoken.about.filter(|_| message.kind.is_reply()).and_then(|call| self.calls.get(call));
        RpcEntry {
            kind: message.kind.word().to_owned(),
            method: answered.map(|call| call.method.clone()).or_else(|| message.method.clone()),
            id: message.id.clone(),
            name: answered.map_or_else(|| message.name.clone(), |call| call.name.clone()),
            token: message.asks_progress.clone(),
            about: message.tells_progress.clone().or_else(|| message.cancels.clone()),
            unknown: spoken.is_about_nothing(),
            error: message.failure(),
            version: message.version(),
            trace: rpc::traceparent(&message.params),
        }
    }

    pub(super) fn owner_entry(&self, owner: CallId) -> Option<OwnerEntry> {
        let call = self.calls.get(owner)?;
        Some(OwnerEntry { id: call.id.clone(), method: call.method.clone(), name: call.name.clone() })
    }
}

/// What rules made of a head.
fn describe_change(entry: &mut PointEntry, change: Option<&Change>) {
    let Some(change) = change else { return };
    let shown = |(name, value): &HeaderEdit| (name.clone(), value.as_ref().map(|value| shown(name, value)));
    entry.made_status = change.edits.status.filter(|status| *status != change.status);
    entry.made_headers = change.edits.headers.iter().map(shown).collect();
}

/// Session and exchange of a key.
pub(super) fn full_key(exchange: &Exchange) -> String {
    format!("s{}/{}", exchange.session, exchange.key)
}

/// Whether a header's value is a secret.
fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 6] = ["authorization", "cookie", "session-id", "token", "secret", "api-key"];
    WORDS.iter().any(|word| name.contains(word))
}

fn redacted(headers: &[(String, Bytes)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect()
}

/// A header's value as the journal has it.
fn shown(name: &str, value: &[u8]) -> String {
    if is_secret(name) { hash::stand_in(value) } else { String::from_utf8_lossy(value).into_owned() }
}

/// A query may carry a session id, as that of 2024-11-05 does.
pub(super) fn redacted_target(target: &str) -> String {
    match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", hash::stand_in(query.as_bytes())),
        None => target.to_owned(),
    }
}

impl At {
    /// Its word in the language and the journal.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::RequestHead => "request-head",
            Self::Request => "request",
            Self::Head => "head",
            Self::Block => "block",
            Self::End => "end",
            Self::Leave => "leave",
        }
    }

    pub(super) fn is_towards_server(self) -> bool {
        match self {
            Self::Connect | Self::RequestHead | Self::Request | Self::Leave => true,
            Self::Head | Self::Block | Self::End => false,
        }
    }
}

impl Ending {
    /// The ending of that word.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "eof" => Self::Eof,
            "fin" => Self::Fin,
            "reset" => Self::Reset,
            _ => Self::Stall,
        }
    }

    /// Its word in the language and the journal.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Eof => "eof",
            Self::Fin => "fin",
            Self::Reset => "reset",
            Self::Stall => "stall",
        }
    }
}
