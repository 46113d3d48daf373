//! What arrives becomes points: whose they are, what they are called, on which queue they go.
//!
//! The one rule it keeps: a point is seen on the leg it comes from before any rule decides about it (rules R1, R2).

use std::sync::Arc;

use bytes::Bytes;

use super::condition::Leg;
use super::engine::{Conn, Engine};
use super::event::{AnswerHead, ConnId, Ending, ExchangeId, Moment, RequestBody, RequestHead};
use super::exchange::{Answer, ClientLeg, Exchange, Media, ServerLeg, header};
use super::hash;
use super::matching;
use super::owner::{Belongs, Trail};
use super::record::PointFate;
use super::rpc::{self, Message};
use super::selector::{At, Stream};
use super::session::Client;
use super::unit::{LaneId, Out, Parcel, Point};

/// Where a 2026-07-28 request names its client.
const CLIENT_INFO: &str = "/_meta/io.modelcontextprotocol~1clientInfo";

impl Engine {
    pub(super) fn connect(&mut self, now: Moment, conn: ConnId, client: String) {
        self.conns.insert(conn, Conn { client, ..Conn::default() });
        let seq = self.next_seq();
        let key = Arc::from(format!("s0/conn:{}/connect#1", conn.0));
        let point = Point::new(At::Connect, seq, now, key, conn);
        self.arrive(now, LaneId::Conn(conn), Out::Admit, point);
    }

    pub(super) fn disconnect(&mut self, now: Moment, conn: ConnId) {
        let Some(mut gone) = self.conns.remove(&conn) else { return };
        self.busy.remove(&LaneId::Conn(conn));
        for parcel in gone.lane.drain() {
            self.discard(now, &parcel, PointFate::Gone);
        }
    }

    pub(super) fn request_head(&mut self, now: Moment, id: ExchangeId, conn: ConnId, reused: bool, head: RequestHead) {
        self.exchange_count += 1;
        let mut exchange = Exchange::new(id, conn, reused, head);
        exchange.stream = self.kind_of(&exchange);
        exchange.session = self.session_before_body(&exchange);
        let n = self.sessions.use_key(exchange.session, "early");
        exchange.key = Arc::from(format!("early:{n}"));
        self.exchanges.insert(id, exchange);
        self.number(now, id, At::RequestHead);
        let seq = self.next_seq();
        let point = self.point(now, id, At::RequestHead, "request-head#1", seq);
        self.arrive(now, LaneId::Up(id), Out::Read, point);
    }

    pub(super) fn request(&mut self, now: Moment, id: ExchangeId, body: &RequestBody) {
        let Some(mut exchange) = self.exchanges.remove(&id) else { return };
        let messages = match body {
            RequestBody::Whole(bytes) => {
                exchange.request_body = bytes.clone();
                rpc::peek(bytes)
            }
            RequestBody::BeyondPeek(cap) => {
                let target = &exchange.request.target;
                self.note(now, format!("{target}: a request beyond {cap} bytes is matched by its head only"));
                Vec::new()
            }
        };
        self.identify(&mut exchange, messages, body);
        self.exchanges.insert(id, exchange);
        self.number(now, id, At::Request);
        let seq = self.next_seq();
        let mut point = self.point(now, id, At::Request, "request#1", seq);
        if let RequestBody::Whole(bytes) = body {
            point.bytes = bytes.len() as u64;
            point.hash = self.notebook.on.then(|| hash::hash(bytes));
        }
        self.arrive(now, LaneId::Up(id), Out::Forward(None), point);
    }

    pub(super) fn head(&mut self, now: Moment, id: ExchangeId, head: AnswerHead) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let media = Media::of(&head);
        let (session, status) = (exchange.session, head.status);
        let had_session_id = exchange.header("mcp-session-id").is_some();
        let deleted = exchange.stream == Stream::Delete && (200..300).contains(&status);
        let session_id = header(&head.headers, "mcp-session-id").cloned();
        exchange.answer = Some(Answer { head, media });
        if exchange.stream != Stream::Other {
            self.sessions.answered(session, id, status, session_id.as_ref());
        }
        if deleted || had_session_id && status == 404 {
            self.sessions.end(session);
        }
        self.choose_body(now, id);
        let seq = self.next_seq();
        let point = self.point(now, id, At::Head, "head#1", seq);
        self.arrive(now, LaneId::Down(id), Out::Head, point);
    }

    pub(super) fn end(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        if !self.exchanges.contains_key(&id) {
            return;
        }
        let last = self.last_of_body(now, id);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let twice = exchange.client == ClientLeg::Over;
        exchange.server = ServerLeg::Over;
        let seq = self.next_seq();
        self.server_ended(now, id, seq);
        self.end_windows(id);
        let name = if twice { "end#2" } else { "end#1" };
        let mut point = self.point(now, id, At::End, name, seq);
        point.ending = Some(ending);
        self.arrive_with(now, LaneId::Down(id), Out::End(ending), last, point);
        self.tidy(id);
    }

    pub(super) fn left(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        if !self.exchanges.contains_key(&id) {
            return;
        }
        self.client_gone(now, id);
        let seq = self.next_seq();
        let mut point = self.point(now, id, At::Leave, "leave#1", seq);
        point.ending = Some(ending);
        self.arrive(now, LaneId::Up(id), Out::Leave(ending), point);
        self.tidy(id);
    }

    /// An answer that was relayed unseen has ended on both legs.
    pub(super) fn relayed(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.server = ServerLeg::Over;
        let seq = self.next_seq();
        self.server_ended(now, id, seq);
        let mut point = self.point(now, id, At::End, "end#1", seq);
        point.ending = Some(ending);
        self.sight((now, seq), Leg::Server, &point, Some(id));
        self.end_client(id);
        self.client_over(id);
        let stamp = (now, self.next_seq());
        self.sight(stamp, Leg::Client, &point, Some(id));
        self.write_point(&point, PointFate::Passed, Some(stamp), None);
        self.tidy(id);
    }

    /// The run is over: what waits is withheld, what was let go was not seen to be written.
    pub(super) fn finish(&mut self, now: Moment) {
        for id in std::mem::take(&mut self.busy) {
            let parcels: Vec<_> = self.lane(id).map(|lane| lane.drain().collect()).unwrap_or_default();
            for parcel in parcels {
                self.discard(now, &parcel, PointFate::Withheld);
            }
        }
        for (_, flight) in std::mem::take(&mut self.flights) {
            for point in &flight.points {
                self.write_point(point, PointFate::Withheld, None, None);
            }
        }
    }

    /// A point has arrived: it is seen, decided about, and queued.
    pub(super) fn arrive(&mut self, now: Moment, lane: LaneId, out: Out, point: Point) {
        self.arrive_with(now, lane, out, None, point);
    }

    /// The same; `before` is a point whose bytes went on before it was known to be whole, and that passes with it.
    fn arrive_with(&mut self, now: Moment, mut lane: LaneId, out: Out, before: Option<Point>, point: Point) {
        for point in before.iter().chain([&point]) {
            let leg = if point.at.is_towards_server() { Leg::Client } else { Leg::Server };
            self.sight((now, point.seq), leg, point, point.exchange);
        }
        if self.is_cut_off(lane) {
            for point in before.iter().chain([&point]) {
                self.write_point(point, PointFate::Cut, None, None);
            }
            return;
        }
        let mut parcel = Parcel::new(out, point);
        self.decide(now, &mut lane, &mut parcel);
        parcel.points.extend(before.map(|point| (0, point)));
        parcel.points.sort_by_key(|(_, point)| point.seq);
        self.enqueue(now, lane, parcel);
        if let LaneId::Down(id) = lane {
            self.press(id);
        }
        if self.news {
            self.pump(now);
        }
    }

    /// Whether nothing that goes this way can arrive any more.
    pub(super) fn is_cut_off(&self, lane: LaneId) -> bool {
        match lane {
            LaneId::Down(id) => self.exchanges.get(&id).is_none_or(|exchange| exchange.client == ClientLeg::Over),
            LaneId::Conn(_) | LaneId::Up(_) | LaneId::Astray => false,
        }
    }

    /// A point of an exchange, as it arrives.
    pub(super) fn point(&self, now: Moment, id: ExchangeId, at: At, name: &str, seq: u64) -> Point {
        let Some(exchange) = self.exchanges.get(&id) else {
            return Point::new(at, seq, now, Arc::from(name), ConnId(0));
        };
        let key = Arc::from(format!("s{}/{}/{name}", exchange.session, exchange.key));
        Point {
            exchange: Some(id),
            session: exchange.session,
            belongs: exchange.belongs.clone(),
            ..Point::new(at, seq, now, key, exchange.conn)
        }
    }

    /// What kind of exchange it is, as far as its head tells.
    fn kind_of(&self, exchange: &Exchange) -> Stream {
        let accepts_events = exchange.request.headers.iter().any(|(name, value)| {
            name == "accept" && String::from_utf8_lossy(value).to_ascii_lowercase().contains("text/event-stream")
        });
        match &*exchange.request.method {
            "POST" => Stream::Post,
            "DELETE" => Stream::Delete,
            "GET" if exchange.header("last-event-id").is_some() => Stream::Resume,
            "GET" if exchange.header("mcp-session-id").is_some() => Stream::Get,
            "GET" if self.sessions.is_legacy(exchange.path()) => Stream::Legacy,
            "GET" if accepts_events => Stream::Get,
            _ => Stream::Other,
        }
    }

    /// The session, where it does not take the body to tell.
    fn session_before_body(&mut self, exchange: &Exchange) -> u64 {
        let client = self.client_of(exchange, None);
        if let Some(id) = exchange.header("mcp-session-id") {
            return self.sessions.with_id(id, client);
        }
        if let Some(session) = self.sessions.at_endpoint(&exchange.request.target) {
            return session;
        }
        match exchange.stream {
            Stream::Legacy => self.sessions.begin(client),
            Stream::Get | Stream::Resume | Stream::Delete => self.sessions.of_client(client),
            Stream::Post | Stream::Listen | Stream::Other => 0,
        }
    }

    fn client_of(&self, exchange: &Exchange, info: Option<Bytes>) -> Client {
        Client {
            address: self.conns.get(&exchange.conn).map(|conn| conn.client.clone()).unwrap_or_default(),
            authorization: exchange.header("authorization").map_or(0, |value| hash::hash(value)),
            info,
        }
    }

    /// Finds out whose a request is and what it is called, now that its messages are known.
    fn identify(&mut self, exchange: &mut Exchange, messages: Vec<Message>, body: &RequestBody) {
        let has = |method: &str| messages.iter().any(|message| message.method.as_deref() == Some(method));
        if exchange.stream == Stream::Post {
            if has("subscriptions/listen") {
                exchange.stream = Stream::Listen;
            } else if messages.is_empty() && matches!(body, RequestBody::Whole(_)) {
                exchange.stream = Stream::Other;
            }
        }
        if exchange.session == 0 && matches!(exchange.stream, Stream::Post | Stream::Listen) {
            let begins = has("initialize");
            let pointer = if begins { "/clientInfo" } else { CLIENT_INFO };
            let info = messages.iter().find_map(|message| rpc::pointer(&message.params, pointer));
            let client = self.client_of(exchange, info.map(|info| Bytes::copy_from_slice(info.get().as_bytes())));
            exchange.session =
                if begins { self.sessions.initialize(exchange.id, client) } else { self.sessions.of_client(client) };
        }
        self.follow(exchange);
        if exchange.stream != Stream::Other {
            let hear = |message| self.calls.hear_client(exchange.session, message);
            exchange.messages = messages.into_iter().map(hear).collect();
        }
        let base = exchange.base_key();
        let n = self.sessions.use_key(exchange.session, &base);
        exchange.key = Arc::from(exchange.nth_key(&base, n));
        self.give_trail(exchange);
    }

    /// A resume continues the stream that issued its event id.
    fn follow(&self, exchange: &mut Exchange) {
        if exchange.stream != Stream::Resume {
            return;
        }
        let issuer = exchange.header("last-event-id").and_then(|id| self.calls.issuer(exchange.session, id));
        if let Some(trail) = issuer {
            exchange.origin_known = true;
            exchange.trail = trail;
        }
    }

    fn give_trail(&self, exchange: &mut Exchange) {
        if exchange.origin_known {
            exchange.belongs = Belongs { owners: exchange.trail.owners.clone(), calls: Vec::new() };
            return;
        }
        exchange.belongs = self.calls.belongs(&exchange.messages, &[]);
        let requests = exchange.messages.iter().filter(|spoken| spoken.message.method.is_some());
        let owners = requests.filter(|spoken| spoken.message.id.is_some()).filter_map(|spoken| spoken.about).collect();
        exchange.trail = Arc::new(Trail {
            key: Arc::clone(&exchange.key),
            stream: exchange.stream,
            messages: exchange.messages.clone(),
            owners,
        });
    }

    /// Counts an exchange for every selector that asks for the k-th that fits.
    fn number(&mut self, now: Moment, id: ExchangeId, at: At) {
        let plan = Arc::clone(&self.plan);
        let point = self.point(now, id, at, "", 0);
        for (number, selector) in plan.numbered.iter().enumerate() {
            let early = selector.at == At::RequestHead;
            if early != (at == At::RequestHead) || !matching::counts(selector, &self.scene(&point, Some(id))) {
                continue;
            }
            let session = self.session_of(id);
            let count = self.ordinals.entry(&(number, session), || 0);
            *count += 1;
            let count = *count;
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.ordinals.push((number, count));
            }
        }
    }
}
