//! The client's requests, and how what crosses changes what became of them.
//!
//! A bounded table: when it is full, the oldest that was answered is forgotten and only counted. The one rule: the
//! outcome is that of the wire; a rule's intention is never asked, only what its points came to.

use std::collections::{BTreeMap, BTreeSet};

use super::key;
use super::request::{Answer, Body, Close, Closer, Outcome, Request};
use crate::engine::record::{DisconnectEntry, PointEntry, PointFate, RpcEntry};
use crate::engine::rpc::Id;

/// How many requests are kept.
const KEPT: usize = 2_000;

/// A request's place in the order of arrival: a batch has several at one point.
pub(super) type Place = (u64, usize);

/// The requests of a run.
#[derive(Debug, Default)]
pub struct Requests {
    known: BTreeMap<Place, Request>,
    by_exchange: BTreeMap<String, Vec<Place>>,
    by_id: BTreeMap<(u64, Id), Place>,
    /// Those that may be open: who is not any more goes when somebody looks.
    waiting: BTreeSet<Place>,
    /// How many were forgotten, by what had become of them.
    forgotten: BTreeMap<Outcome, u64>,
}

// === What is known ===

impl Requests {
    /// All that are kept, in order of arrival.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Request> {
        self.known.values()
    }

    /// How many came to each outcome, the forgotten ones included.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Outcome, u64> {
        let mut counts = self.forgotten.clone();
        self.all().for_each(|request| *counts.entry(request.outcome).or_default() += 1);
        counts
    }

    /// How many were forgotten.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten.values().sum()
    }

    /// The last request of a session with this id.
    #[must_use]
    pub fn with_id(&self, session: u64, id: &Id) -> Option<&Request> {
        self.known.get(self.by_id.get(&(session, id.clone()))?)
    }

    /// Those that this exchange carried.
    pub fn of_exchange(&self, exchange: &str) -> impl Iterator<Item = &Request> {
        self.by_exchange.get(exchange).into_iter().flatten().filter_map(|place| self.known.get(place))
    }

    /// Does something with each for which a client waits.
    pub(super) fn each_open(&mut self, mut act: impl FnMut(&mut Request)) {
        let known = &mut self.known;
        self.waiting.retain(|place| {
            let open = known.get_mut(place).filter(|request| request.outcome == Outcome::Open);
            open.map(&mut act).is_some()
        });
    }
}

// === What happens ===

impl Requests {
    /// A point's fate is known.
    pub(super) fn take(&mut self, point: &PointEntry) {
        let exchange = key::exchange(&point.key);
        match point.point.as_str() {
            "request" => self.request(point, exchange),
            "head" => self.head(point, exchange),
            "block" => self.block(point, exchange),
            "end" => self.end(point, exchange),
            "leave" => self.leave(point, exchange),
            _ => {}
        }
    }

    /// Every request is settled now: what a rule still keeps is withheld.
    pub(super) fn finish(&mut self) {
        self.each_open(|request| {
            if request.rule.is_some() {
                request.outcome = Outcome::Withheld;
            }
        });
    }

    /// A client's connection is gone: nothing that is owed on another stream can be waited for there any more.
    pub(super) fn disconnect(&mut self, gone: &DisconnectEntry) {
        self.each_open(|request| {
            if request.accepted && request.conn == gone.conn {
                request.settle(Outcome::Left, gone.at);
            }
        });
    }

    fn request(&mut self, point: &PointEntry, exchange: &str) {
        for (index, rpc) in point.rpc.iter().enumerate().filter(|_| point.maker.is_none()) {
            if let Some((session, id)) = rpc.about.clone().filter(|_| is_cancel(rpc)).map(|id| (session(point), id)) {
                self.cancel(point, session, &id);
            } else if let ("request", Some(id), Some(method)) = (rpc.kind.as_str(), &rpc.id, &rpc.method) {
                // A subscription is a stream: nobody waits for its answer.
                if method != "subscriptions/listen" {
                    let request = Request::new(point, exchange, id.clone(), method.clone(), rpc.name.clone());
                    self.insert((point.seq, index), request);
                }
            }
        }
        self.touch(point, exchange);
        let (keeper, resumes) = (keeper(point), point.stream.as_deref() == Some("resume"));
        self.carried(exchange, |request| {
            if resumes {
                request.resumes += 1;
            } else {
                request.rule.clone_from(&keeper);
            }
        });
    }

    fn head(&mut self, point: &PointEntry, exchange: &str) {
        self.touch(point, exchange);
        let status = point.made_status.or(point.status).unwrap_or_default();
        let passed = point.fate == PointFate::Passed;
        let (keeper, body) = (keeper(point), body(point));
        let resumes = point.stream.as_deref() == Some("resume");
        let mut reopened = false;
        self.carried(exchange, |request| {
            if !passed {
                request.rule = request.rule.take().or_else(|| keeper.clone());
            } else if resumes {
                reopened |= reopen(request, status);
            } else {
                (request.body, request.accepted) = (body, status == 202);
                refuse(request, point, status);
            }
        });
        if reopened {
            let places = key::origin(exchange).and_then(|origin| self.by_exchange.get(&origin));
            self.waiting.extend(places.into_iter().flatten());
        }
    }

    fn block(&mut self, point: &PointEntry, exchange: &str) {
        if point.block.as_deref() != Some("comment") {
            self.touch(point, exchange);
        }
        let delivered = matches!(point.fate, PointFate::Passed | PointFate::Moved);
        self.carried(exchange, |request| {
            request.body = Body::Events;
            request.resumable |= point.event_id.is_some() && delivered;
        });
        for rpc in point.rpc.iter().filter(|rpc| is_reply(rpc)) {
            if let Some(request) = self.answered(point, exchange, rpc) {
                answer(request, point, rpc, delivered);
            }
        }
        let Some(keeper) = keeper(point).filter(|_| point.rpc.iter().any(|rpc| rpc.kind != "notification")) else {
            return;
        };
        let owner = point.owner.as_ref().and_then(|owner| self.by_id.get(&(session(point), owner.id.clone())));
        if let Some(request) = owner.copied().and_then(|place| self.known.get_mut(&place)) {
            request.rule.get_or_insert(keeper);
        }
    }

    fn end(&mut self, point: &PointEntry, exchange: &str) {
        self.touch(point, exchange);
        let ending = point.made.clone().or_else(|| point.ending.clone()).unwrap_or_default();
        let made = point.made.is_some() || point.maker.is_some();
        let by = match by_rule(point).filter(|_| made) {
            Some(rule) => Closer::Rule(rule),
            None => Closer::Server,
        };
        let close = Close { seq: point.seq, at: point.arrived, by, ending: ending.clone() };
        let passed = point.fate == PointFate::Passed;
        let keeper = keeper(point);
        let legacy = point.stream.as_deref() == Some("legacy");
        let at = point.left.unwrap_or(point.arrived);
        self.carried(exchange, |request| {
            if ending != "stall" {
                close_first(request, close.clone());
            }
            if !passed {
                request.rule = request.rule.take().or_else(|| keeper.clone());
            } else if request.outcome == Outcome::Open && !request.accepted {
                let unread = matches!(request.body, Body::Opaque | Body::Json) && ending == "eof";
                request.settle(if unread { Outcome::Answered } else { Outcome::Told }, at);
                request.rule = by_rule(point).filter(|_| made);
            }
        });
        if legacy && passed {
            self.end_legacy(session(point), Outcome::Told, at);
        }
    }

    fn leave(&mut self, point: &PointEntry, exchange: &str) {
        let ending = point.ending.clone().unwrap_or_default();
        let close = Close { seq: point.seq, at: point.arrived, by: Closer::Client, ending };
        self.carried(exchange, |request| {
            close_first(request, close.clone());
            if request.outcome == Outcome::Open {
                request.settle(Outcome::Left, point.arrived);
            }
        });
        if point.stream.as_deref() == Some("legacy") {
            self.end_legacy(session(point), Outcome::Left, point.arrived);
        }
    }

    /// The one stream on which a session of 2024-11-05 is answered is over.
    fn end_legacy(&mut self, session: u64, outcome: Outcome, at: u64) {
        self.each_open(|request| {
            if request.accepted && request.session == session {
                request.settle(outcome, at);
            }
        });
    }

    fn cancel(&mut self, point: &PointEntry, session: u64, id: &Id) {
        let place = self.by_id.get(&(session, id.clone())).copied();
        let Some(request) = place.and_then(|place| self.known.get_mut(&place)) else { return };
        request.cancelled.get_or_insert(point.arrived);
        // A client that has cancelled ignores the answer, also one that was on its way.
        let later = request.answer.as_ref().is_some_and(|answer| answer.left.is_some_and(|left| left > point.seq));
        if request.outcome == Outcome::Open || request.outcome.is_answered() && later {
            request.settle(Outcome::Cancelled, point.arrived);
        }
    }
}

// === Which request ===

impl Requests {
    fn insert(&mut self, place: Place, request: Request) {
        if self.known.len() == KEPT {
            self.forget();
        }
        self.by_exchange.entry(request.key.clone()).or_default().push(place);
        self.by_id.insert((request.session, request.id.clone()), place);
        self.waiting.insert(place);
        self.known.insert(place, request);
    }

    /// The oldest goes that was answered; if there is none, the oldest.
    fn forget(&mut self) {
        let answered = self.known.iter().find(|(_, request)| request.outcome.is_answered());
        let Some(place) = answered.or_else(|| self.known.first_key_value()).map(|(place, _)| *place) else { return };
        let Some(request) = self.known.remove(&place) else { return };
        *self.forgotten.entry(request.outcome).or_default() += 1;
        if let Some(places) = self.by_exchange.get_mut(&request.key) {
            places.retain(|it| *it != place);
            if places.is_empty() {
                self.by_exchange.remove(&request.key);
            }
        }
        let named = (request.session, request.id);
        if self.by_id.get(&named) == Some(&place) {
            self.by_id.remove(&named);
        }
    }

    /// Does something with each whose stream this exchange carries: its own, or the one that it resumes.
    fn carried(&mut self, exchange: &str, mut act: impl FnMut(&mut Request)) {
        let places = key::origin(exchange).and_then(|origin| self.by_exchange.get(&origin));
        for place in places.into_iter().flatten() {
            self.known.get_mut(place).into_iter().for_each(&mut act);
        }
    }

    /// Something happened that belongs to a request: on its stream, or elsewhere.
    fn touch(&mut self, point: &PointEntry, exchange: &str) {
        let place = key::place(&point.key);
        let mut on_stream = false;
        self.carried(exchange, |request| {
            request.touch(point, place);
            on_stream = true;
        });
        let owner = point.owner.as_ref().filter(|_| !on_stream);
        let owner = owner.and_then(|owner| self.by_id.get(&(session(point), owner.id.clone()))).copied();
        if let Some(request) = owner.and_then(|place| self.known.get_mut(&place)) {
            request.touch(point, place);
        }
    }

    /// The request that a reply answers: one of its own stream before one of its session.
    fn answered(&mut self, point: &PointEntry, exchange: &str, rpc: &RpcEntry) -> Option<&mut Request> {
        let id = rpc.id.as_ref()?;
        let own = key::origin(exchange).and_then(|origin| self.by_exchange.get(&origin));
        let own = own.into_iter().flatten().find(|place| self.known.get(place).is_some_and(|it| it.id == *id));
        let elsewhere = self.by_id.get(&(session(point), id.clone())).filter(|_| !rpc.unknown);
        let place = own.or(elsewhere).copied()?;
        self.known.get_mut(&place)
    }
}

// === What a point says ===

fn session(point: &PointEntry) -> u64 {
    point.session.unwrap_or(0)
}

pub(super) fn is_reply(rpc: &RpcEntry) -> bool {
    matches!(rpc.kind.as_str(), "response" | "error")
}

pub(super) fn is_cancel(rpc: &RpcEntry) -> bool {
    rpc.method.as_deref() == Some("notifications/cancelled")
}

/// The rule that acted last on a point, or made it.
fn by_rule(point: &PointEntry) -> Option<String> {
    point.rules.last().or(point.maker.as_ref()).cloned()
}

/// The rule that kept a point from passing.
fn keeper(point: &PointEntry) -> Option<String> {
    let kept = matches!(point.fate, PointFate::Dropped | PointFate::Withheld | PointFate::Cut);
    by_rule(point).filter(|_| kept)
}

fn body(point: &PointEntry) -> Body {
    let header = |name: &str| point.headers.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value);
    let encoded = !matches!(header("content-encoding"), "" | "identity");
    match header("content-type") {
        _ if encoded => Body::Opaque,
        media if media.starts_with("application/json") => Body::Json,
        media if media.starts_with("text/event-stream") => Body::Events,
        _ => Body::Other,
    }
}

/// An answer has arrived.
fn answer(request: &mut Request, point: &PointEntry, rpc: &RpcEntry, delivered: bool) {
    let resumed = point.stream.as_deref() == Some("resume");
    if point.maker.is_none() && !resumed {
        request.answers += 1;
    }
    let left = point.left_seq.filter(|_| delivered);
    let known = request.answer.get_or_insert(Answer { seq: point.seq, at: point.arrived, error: None, left });
    known.error = known.error.take().or_else(|| rpc.error.clone());
    known.left = known.left.or(left);
    if !delivered || request.refused.is_some() {
        return;
    }
    if matches!(request.outcome, Outcome::Open | Outcome::Told | Outcome::Left) {
        let outcome = if resumed { Outcome::Resumed } else { Outcome::Answered };
        request.settle(outcome, point.left.unwrap_or(point.arrived));
        request.rule.clone_from(&point.maker);
    }
}

/// The client was told with a status that there will be no answer.
fn refuse(request: &mut Request, point: &PointEntry, status: u16) {
    if (200..300).contains(&status) || request.outcome != Outcome::Open {
        return;
    }
    request.settle(Outcome::Told, point.left.unwrap_or(point.arrived));
    request.refused = Some(status);
    let made = point.maker.is_some() || point.made_status.is_some();
    request.rule = by_rule(point).filter(|_| made);
}

/// The client waits again, for what a resume of the stream will bring.
fn reopen(request: &mut Request, status: u16) -> bool {
    let over = matches!(request.outcome, Outcome::Told | Outcome::Left);
    let again = over && (200..300).contains(&status);
    if again {
        (request.outcome, request.settled, request.rule) = (Outcome::Open, None, None);
    }
    again
}

fn close_first(request: &mut Request, close: Close) {
    if request.closed.as_ref().is_none_or(|closed| close.seq < closed.seq) {
        request.closed = Some(close);
    }
}
