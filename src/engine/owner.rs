//! Whose is it: the JSON-RPC requests of a run, in both directions, and what belongs to them (rules R6, R7, R12).
//!
//! Ids keep their type and direction: a client's `1`, a server's `1` and a `"1"` are three requests. The one rule it
//! keeps: a message is about at most one request, and that request has at most one owner, a client's request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::bounded::Bounded;
use super::renaming::Names;
use super::rpc::{Id, Kind, Message};
use super::selector::Stream;

/// How many requests are remembered; above that the oldest are forgotten.
const CALLS: usize = 16 * 1024;
/// How many SSE ids are remembered.
pub(super) const EVENT_IDS: usize = 32 * 1024;
/// An SSE id longer than this is not remembered, in bytes.
pub(super) const EVENT_ID_LENGTH: usize = 1024;
/// Params longer than this are forgotten when their request is settled, in bytes; a resume is not matched by them.
/// Shorter ones are copied then, so that they keep no larger body alive.
const PARAMS_KEPT: usize = 8 * 1024;

/// One JSON-RPC request of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallId(u64);

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Client,
    Server,
}

/// What is known of a request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) side: Side,
    pub(super) session: u64,
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) name: Option<String>,
    pub(super) params: Bytes,
    /// The client request it belongs to; a client's request is its own owner.
    pub(super) owner: Option<CallId>,
    /// Whether its answer arrived, or it was cancelled: what answers it again is no answer.
    closed: bool,
}

impl Call {
    /// Whether something may still answer it.
    pub(super) fn is_open(&self) -> bool {
        !self.closed
    }
}

/// What a point belongs to: usually one of each, in a batch several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Belongs {
    pub(super) owners: Vec<CallId>,
    pub(super) calls: Vec<CallId>,
}

/// A message, and the request it is about.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub(super) message: Message,
    /// The request that it is, answers, cancels or tells the progress of.
    pub(super) about: Option<CallId>,
    /// Whether it answers a request of the other side (rule R6).
    pub(super) answer: bool,
}

/// What a stream carries: whose answers may come on it.
#[derive(Debug, Clone)]
pub(super) struct Trail {
    /// The key of the exchange that opened it.
    pub(super) key: Arc<str>,
    /// What that exchange was.
    pub(super) stream: Stream,
    /// The messages its POST carried.
    pub(super) messages: Vec<Spoken>,
    /// The client requests among them.
    pub(super) owners: Vec<CallId>,
}

/// Which replies on a stream are answers (rule R6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// Those to the requests of its own POST.
    Own,
    /// Those to any open request of the client.
    Open,
    /// All: it resumes we do not know what.
    All,
    /// None: it says what became of asking for a stream.
    None,
}

/// The requests of a run.
#[derive(Debug)]
pub(super) struct Calls {
    calls: Bounded<CallId, Call>,
    by_id: BTreeMap<(u64, Side, Id), CallId>,
    by_token: Bounded<(u64, Side, Id), CallId>,
    in_flight: BTreeMap<u64, BTreeSet<CallId>>,
    event_ids: Bounded<(u64, Box<[u8]>), Arc<Trail>>,
    /// Those that travel under another id.
    pub(super) names: Names,
    next: u64,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            calls: Bounded::new(CALLS),
            by_id: BTreeMap::new(),
            by_token: Bounded::new(CALLS),
            in_flight: BTreeMap::new(),
            event_ids: Bounded::new(EVENT_IDS),
            names: Names::default(),
            next: 0,
        }
    }
}

impl Spoken {
    /// Whether it answers or cancels a request that was never seen.
    pub(super) fn is_about_nothing(&self) -> bool {
        let message = &self.message;
        let names = message.cancels.is_some() || message.kind.is_reply() && message.id.is_some() && !self.answer;
        names && self.about.is_none()
    }

    /// What is kept of a message for the resumes of its stream: its own memory, so that no larger body is kept alive.
    pub(super) fn kept(&self) -> Self {
        let params = &self.message.params;
        let params = if params.len() > PARAMS_KEPT { Bytes::new() } else { Bytes::copy_from_slice(params) };
        Self { message: Message { params, result: Bytes::new(), ..self.message.clone() }, ..*self }
    }
}

impl Calls {
    pub(super) fn get(&self, id: CallId) -> Option<&Call> {
        self.calls.get(&id)
    }

    /// Takes a message that the client sent.
    pub(super) fn hear_client(&mut self, session: u64, mut message: Message) -> Spoken {
        let about = match (message.kind, &message.id) {
            (Kind::Request, Some(id)) => Some(self.open(session, Side::Client, id.clone(), &message, None)),
            (Kind::Response | Kind::Error, Some(id)) => self.travelling(session, Side::Server, id),
            (Kind::Response | Kind::Error, None) => self.nameless(session, Side::Server),
            _ => self.mentioned(session, Side::Client, &message),
        };
        if let Some(answered) = about.filter(|_| message.kind.is_reply()) {
            self.close(answered);
        }
        if let Some(cancelled) = about.filter(|_| message.cancels.is_some()) {
            self.close(cancelled);
            self.settle(cancelled);
        }
        self.name_as_asked(&mut message, about);
        Spoken { answer: message.kind.is_reply() && about.is_some(), about, message }
    }

    /// Takes a message that the server sent on a stream.
    pub(super) fn hear_server(
        &mut self,
        session: u64,
        mut message: Message,
        trail: &Trail,
        answers: Answers,
    ) -> Spoken {
        let about = match (message.kind, &message.id) {
            (Kind::Request, Some(id)) => {
                let owner = trail.owners.first().copied();
                Some(self.open(session, Side::Server, id.clone(), &message, owner))
            }
            (Kind::Response | Kind::Error, id) => self.answered(session, id.as_ref(), trail, answers),
            _ => self.mentioned(session, Side::Server, &message),
        };
        if let Some(answered) = about.filter(|_| message.kind.is_reply()) {
            self.close(answered);
        }
        self.name_as_asked(&mut message, about);
        let answer = message.kind.is_reply() && (about.is_some() || answers == Answers::All);
        Spoken { answer, about, message }
    }

    /// What messages belong to; `stream` owns what is about no request.
    pub(super) fn belongs(&self, spoken: &[Spoken], stream: &[CallId]) -> Belongs {
        let mut belongs = Belongs::default();
        for about in spoken.iter().filter_map(|spoken| spoken.about) {
            push(&mut belongs.calls, about);
            if let Some(owner) = self.get(about).and_then(|call| call.owner) {
                push(&mut belongs.owners, owner);
            }
        }
        if belongs.owners.is_empty() {
            belongs.owners.extend(stream.first());
        }
        belongs
    }

    /// A request was answered, cancelled, or nothing can bring its answer any more.
    pub(super) fn settle(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        let params = &call.params;
        call.params = if params.len() > PARAMS_KEPT { Bytes::new() } else { Bytes::copy_from_slice(params) };
        if let Some(open) = self.in_flight.get_mut(&call.session) {
            open.remove(&id);
            if open.is_empty() {
                self.in_flight.remove(&call.session);
            }
        }
    }

    fn close(&mut self, id: CallId) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.closed = true;
        }
    }

    /// How many of the client's requests are in flight in a session.
    pub(super) fn in_flight(&self, session: u64) -> u64 {
        self.in_flight.get(&session).map_or(0, |open| open.len() as u64)
    }

    /// The client's requests in flight in a session, or in all.
    pub(super) fn open_calls(&self, session: Option<u64>) -> impl Iterator<Item = (CallId, &Call)> {
        let open = self.in_flight.iter().filter(move |(of, _)| session.is_none_or(|session| session == **of));
        open.flat_map(|(_, open)| open).filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// How much is remembered, in entries.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        let in_flight: usize = self.in_flight.values().map(|open| 1 + open.len()).sum();
        self.calls.len()
            + self.by_id.len()
            + self.by_token.len()
            + in_flight
            + self.event_ids.len()
            + self.names.remembered()
    }

    /// Remembers which stream issued an SSE id, so that its resume is known.
    pub(super) fn issue(&mut self, session: u64, event_id: &[u8], trail: &Arc<Trail>) {
        if event_id.len() <= EVENT_ID_LENGTH {
            self.event_ids.insert((session, event_id.into()), Arc::clone(trail));
        }
    }

    /// The stream that issued an SSE id.
    pub(super) fn issuer(&self, session: u64, event_id: &[u8]) -> Option<Arc<Trail>> {
        self.event_ids.get(&(session, event_id.into())).cloned()
    }

    fn open(&mut self, session: u64, side: Side, id: Id, message: &Message, owner: Option<CallId>) -> CallId {
        let call = CallId(self.next);
        self.next += 1;
        let method = message.method.clone().unwrap_or_default();
        if side == Side::Client && method != "subscriptions/listen" {
            self.in_flight.entry(session).or_default().insert(call);
        }
        if let Some(token) = &message.asks_progress {
            self.by_token.insert((session, side, token.clone()), call);
        }
        self.by_id.insert((session, side, id.clone()), call);
        let owner = if side == Side::Client { Some(call) } else { owner };
        // Nobody asks for the params of a server's request once its block has gone.
        let params = if side == Side::Client { message.params.clone() } else { Bytes::new() };
        let name = message.name.clone();
        let known = Call { side, session, id, method, name, params, owner, closed: false };
        if let Some((forgotten, known)) = self.calls.insert(call, known) {
            self.forget(forgotten, known);
        }
        call
    }

    fn forget(&mut self, id: CallId, call: Call) {
        let key = (call.session, call.side, call.id);
        if self.by_id.get(&key) == Some(&id) {
            self.by_id.remove(&key);
        }
        if let Some(open) = self.in_flight.get_mut(&call.session) {
            open.remove(&id);
            if open.is_empty() {
                self.in_flight.remove(&call.session);
            }
        }
    }

    fn find(&self, session: u64, side: Side, id: &Id) -> Option<CallId> {
        self.by_id.get(&(session, side, id.clone())).copied()
    }

    fn answered(&self, session: u64, id: Option<&Id>, trail: &Trail, answers: Answers) -> Option<CallId> {
        match answers {
            Answers::Own => {
                let owners = || trail.owners.iter().copied();
                let named = owners().find(|owner| self.names.of(*owner).is_some_and(|name| name.id.as_ref() == id));
                named.or_else(|| owners().find(|owner| self.get(*owner).is_some_and(|call| Some(&call.id) == id)))
            }
            Answers::Open if id.is_none() => self.nameless(session, Side::Client),
            Answers::Open | Answers::All => {
                self.travelling(session, Side::Client, id?).filter(|call| self.get(*call).is_some_and(Call::is_open))
            }
            Answers::None => None,
        }
    }

    /// The request that travels under this id; or that was asked under it, for its asker takes that as well.
    fn travelling(&self, session: u64, side: Side, id: &Id) -> Option<CallId> {
        self.names.bearer(session, side, id).or_else(|| self.find(session, side, id))
    }

    /// An answer to a request that travels under another id is known by its asker's.
    fn name_as_asked(&self, message: &mut Message, about: Option<CallId>) {
        let renamed = about.filter(|call| message.kind.is_reply() && self.names.of(*call).is_some());
        if let Some(call) = renamed.and_then(|call| self.get(call)) {
            message.id = Some(call.id.clone());
        }
    }

    /// The request that a cancel or a progress of this side names: it cancels its own, it tells of the other's.
    fn mentioned(&self, session: u64, side: Side, message: &Message) -> Option<CallId> {
        if let Some(id) = &message.cancels {
            return self.find(session, side, id);
        }
        let other = if side == Side::Client { Side::Server } else { Side::Client };
        let token = message.tells_progress.as_ref()?;
        self.by_token.get(&(session, other, token.clone())).copied()
    }
}

fn push(list: &mut Vec<CallId>, id: CallId) {
    if !list.contains(&id) {
        list.push(id);
    }
}
