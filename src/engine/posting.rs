//! Requests that a rule sends to the server on connections of their own: the one in hand once more, or a message that no
//! client sent (rule R28).
//!
//! Their answers are read and thrown away, so no rule decides about them. The one rule it keeps: of one
//! exchange they are sent one after another, each when the one before was written.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::condition::Leg;
use super::engine::Engine;
use super::event::{Command, ExchangeId, Moment, RequestHead, UnitId};
use super::exchange::ServerLeg;
use super::leave::{Flight, Job};
use super::making::Made;
use super::owner::Spoken;
use super::record::PointFate;
use super::renaming::LAST_EVENT_ID;
use super::rpc;
use super::selector::{At, Stream};
use super::sparing::Posted;
use super::unit::{Key, LaneId, Out, Parcel, Point, Until, Wait};

/// Headers that are about the message they came with, and not about its session.
const OWN: [&str; 11] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    LAST_EVENT_ID,
    "mcp-method",
    "mcp-name",
    "trailer",
    "transfer-encoding",
];

/// A request that a rule sends.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) head: RequestHead,
    pub(super) body: Bytes,
    pub(super) messages: Vec<Spoken>,
    /// Whether it is the one in hand once more.
    pub(super) again: bool,
}

impl Engine {
    /// The request in hand once more; `None` if not all of it is known.
    fn same_post(&mut self, now: Moment, parcel: &Parcel) -> Option<Post> {
        let (_, point) = parcel.points.first()?;
        let exchange = self.exchanges.get(&point.exchange?)?;
        let body = match &parcel.out {
            Out::Forward(Some(body)) => body.clone(),
            _ => exchange.request_body.clone(),
        };
        let announced = exchange.header("content-length").is_some_and(|length| length.trim_ascii() != b"0");
        if body.is_empty() && (announced || exchange.header("transfer-encoding").is_some()) {
            self.note(now, format!("{}: not all of it is known, so it is not sent again", point.key));
            return None;
        }
        let (mut head, messages) = (exchange.request.clone(), exchange.messages.clone());
        if let Some(given) = self.given_event_id(exchange) {
            let told = head.headers.iter_mut().filter(|(name, _)| name == LAST_EVENT_ID);
            told.for_each(|(_, told)| *told = given.clone());
        }
        Some(Post { head, body, messages, again: true })
    }

    /// Sends the request in hand so many times more, so much apart, behind itself.
    pub(super) fn send_again(&mut self, now: Moment, rule: usize, parcel: &Parcel, (times, gap): (u64, Duration)) {
        let Some((_, point)) = parcel.points.first() else { return };
        let Some(post) = self.same_post(now, parcel) else { return };
        let mut ready = now;
        for _ in 0..times {
            ready = ready + gap;
            let Some(made) = self.make_send(now, rule, point, post.clone(), (false, ready)) else { return };
            let mut made = made.of_firing(point.seq);
            self.wait_behind(rule, &mut made.parcel, point.seq);
            self.put_behind([made]);
        }
    }

    /// A message as a POST in the session of an exchange.
    pub(super) fn post_of(&mut self, now: Moment, id: ExchangeId, body: Bytes) -> Option<Post> {
        let exchange = self.exchanges.get(&id)?;
        let messages: Vec<_> = rpc::peek(&body);
        let session = self.sessions.get(exchange.session);
        let kept = exchange.request.headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        let mut headers: Vec<(String, Bytes)> = kept.cloned().collect();
        let mut add = |name: &str, value: Bytes| headers.push((name.to_owned(), value));
        if let Some(given) =
            session.and_then(|it| it.id.clone()).filter(|_| exchange.header("mcp-session-id").is_none())
        {
            add("mcp-session-id", given);
        }
        add("accept", Bytes::from_static(b"application/json, text/event-stream"));
        add("content-type", Bytes::from_static(b"application/json"));
        add("content-length", body.len().to_string().into());
        // Where the client mirrors its message in headers, so does this.
        if let (Some(message), true) = (messages.first(), exchange.header("mcp-method").is_some()) {
            message.method.iter().for_each(|method| add("mcp-method", method.clone().into()));
            message.name.iter().for_each(|name| add("mcp-name", name.clone().into()));
        }
        let target = match exchange.stream {
            Stream::Legacy => match self.sessions.endpoint(exchange.session) {
                Some(target) => target.to_owned(),
                None => {
                    let key = self.key_of(id);
                    self.note(now, format!("{key}: no endpoint was given out, so nothing can be sent to it"));
                    return None;
                }
            },
            _ => exchange.request.target.clone(),
        };
        let spoken = |message| Spoken { message, about: None, answer: false };
        let head = RequestHead { method: "POST".to_owned(), target, headers };
        Some(Post { head, body, messages: messages.into_iter().map(spoken).collect(), again: false })
    }

    /// A request on its way to the queue, behind those that the exchange still has to send; `before`: before the unit in hand.
    pub(super) fn make_send(
        &mut self,
        now: Moment,
        rule: usize,
        point: &Point,
        post: Post,
        (before, ready): (bool, Moment),
    ) -> Option<Made> {
        let (id, seq) = (point.exchange?, self.next_seq());
        let last = self.last_send(id, before);
        let exchange = self.exchanges.get_mut(&id)?;
        exchange.sent += 1;
        let key = Key { name: "sent", ordinal: exchange.sent, ..point.key.clone() };
        let mut sent = Point::new(At::Request, seq, now, key, point.conn);
        (sent.exchange, sent.session, sent.stream) = (point.exchange, point.session, point.stream);
        (sent.belongs, sent.maker) = (Arc::clone(&point.belongs), Some(rule));
        (sent.bytes, sent.size) = (post.body.len() as u64, post.body.len() as u64);
        sent.hash = self.hashed(&post.body);
        sent.post = Some(Arc::new(post));
        let mut made = Made::new(LaneId::Up(id), Out::Post, sent);
        if ready > now {
            self.add_timer(Some(ready));
            (made.parcel.ready, made.parcel.timer) = (ready, Some(ready));
        }
        made.parcel.overtake = true;
        if let Some(last) = last {
            self.wait_behind(rule, &mut made.parcel, last);
        }
        Some(made)
    }

    /// A parcel waits until that point has passed, or never will.
    pub(super) fn wait_behind(&mut self, rule: usize, parcel: &mut Parcel, seq: u64) {
        parcel.waits.push(Wait { rule, until: Until::Behind(seq), limit: None, timer: None });
        self.awaited.insert(seq);
    }

    /// The last request of an exchange that is not written yet. One that is to be before the unit in hand waits for none that
    /// may itself wait for a unit.
    fn last_send(&self, id: ExchangeId, before: bool) -> Option<u64> {
        let waiting = self.lane_of(LaneId::Up(id)).into_iter().flat_map(|lane| &lane.parcels);
        let waiting = waiting.filter(|parcel| !before && matches!(parcel.out, Out::Post)).map(|parcel| parcel.seq);
        let flying = self.flights.values().filter(|flight| flight.exchange == id && matches!(flight.job, Job::Post));
        let flying = flying.flat_map(|flight| &flight.points).map(|(_, point)| point.seq);
        waiting.chain(flying).chain(self.around.last_send(before)).max()
    }

    /// Whether a parcel is a copy of a request that the server never gets, because a rule lost it or answers it.
    pub(super) fn is_copy_of_nothing(&self, parcel: &Parcel) -> bool {
        let Some((_, point)) = parcel.points.first() else { return false };
        let again = point.post.as_ref().is_some_and(|post| post.again);
        let original = point.exchange.filter(|_| again).and_then(|id| self.exchanges.get(&id));
        original.is_some_and(|it| it.server == ServerLeg::Idle && (it.dropped || it.answered_by.is_some()))
    }

    /// A request of a rule leaves.
    pub(super) fn send_post(&mut self, id: ExchangeId, points: Vec<(usize, Point)>) {
        let Some(post) = points.first().and_then(|(_, point)| point.post.clone()) else { return };
        let server = self.server_of(id);
        let (session, key) =
            points.first().map(|(_, point)| (point.session, point.key.to_string())).unwrap_or_default();
        let unit = self.fly(id, points, Job::Post);
        self.posts.insert(unit, Posted { exchange: id, session, key, again: post.again });
        self.out.push(Command::Post { exchange: id, unit, server, head: post.head.clone(), body: post.body.clone() });
    }

    /// The server to which an exchange goes, from 0.
    pub(super) fn server_of(&self, id: ExchangeId) -> usize {
        self.exchanges.get(&id).map_or(0, |exchange| exchange.to.server)
    }

    /// Its last byte was written. The one in hand once more is seen as that was.
    pub(super) fn post_passed(&mut self, stamp: (Moment, u64), id: ExchangeId, points: &[(usize, Point)]) {
        for (_, point) in points {
            if point.post.as_ref().is_some_and(|post| post.again) {
                self.sight(stamp, Leg::Server, point, Some(id));
            }
            self.write_point(point, PointFate::Passed, Some(stamp), None);
        }
    }

    /// It could not be sent.
    pub(super) fn unsent(&mut self, now: Moment, unit: UnitId, why: &str) {
        self.posts.remove(&unit);
        let Some(Flight { exchange: id, points, .. }) = self.flights.remove(&unit) else { return };
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.flying -= 1;
            exchange.flying_bytes -= points.iter().map(|(_, point)| point.bytes).sum::<u64>();
        }
        for (_, point) in &points {
            self.note(now, format!("{}: could not be sent: {why}", point.key));
            self.write_point(point, PointFate::Gone, None, None);
        }
        self.tidy(id);
    }
}
