//! What arrives becomes points: whose they are, what they are called, on which queue they go.
//!
//! The one rule it keeps: a point is seen on the leg it comes from before any rule decides about it (rules R1, R2).

use std::sync::Arc;

use super::answer::{Answer, header};
use super::condition::Leg;
use super::decide::micros;
use super::engine::{Conn, Engine};
use super::event::{AnswerHead, ConnId, Ending, ExchangeId, Moment, RequestBody, RequestHead, Source};
use super::exchange::{ClientLeg, Exchange, ServerLeg};
use super::making::Made;
use super::notebook::redacted_target;
use super::record::{DisconnectEntry, Entry, PointFate};
use super::rpc;
use super::selector::{At, Stream};
use super::silence::Silence;
use super::unit::{Key, LaneId, Out, Point};

impl Engine {
    pub(super) fn connect(&mut self, now: Moment, conn: ConnId, client: String) {
        self.conns.insert(conn, Conn { client, silence: Silence::from(now), ..Conn::default() });
        let seq = self.next_seq();
        let exchange = Arc::from(format!("conn:{}", conn.0));
        let key = Key { session: 0, exchange, name: "connect", ordinal: 1 };
        let point = Point::new(At::Connect, seq, now, key, conn);
        self.arrive(now, LaneId::Conn(conn), Out::Admit, point);
    }

    pub(super) fn disconnect(&mut self, now: Moment, conn: ConnId, ending: Ending) {
        for id in self.unwritten_on(conn) {
            self.left(now, id, ending);
        }
        let Some(mut gone) = self.conns.remove(&conn) else { return };
        self.busy.remove(&LaneId::Conn(conn));
        for parcel in gone.lane.drain() {
            self.discard(now, &parcel, PointFate::Gone);
        }
        for cut in gone.cuts {
            self.remove_timer(cut.timer);
        }
        let (seq, at, ending) = (self.next_seq(), micros(now), ending.word().to_owned());
        self.record(Entry::Disconnect(DisconnectEntry { seq, at, conn: conn.0, ending }));
    }

    pub(super) fn request_head(&mut self, now: Moment, id: ExchangeId, conn: ConnId, reused: bool, head: RequestHead) {
        self.exchange_count += 1;
        let mut exchange = Box::new(Exchange::new(id, conn, reused, head));
        exchange.silence = Silence::from(now);
        exchange.stream = self.kind_of(&exchange);
        exchange.session = self.session_before_body(&exchange);
        let n = self.sessions.count_exchange(exchange.session);
        exchange.key = Arc::from(format!("early:{n}"));
        self.exchanges.insert(id, exchange);
        self.number(now, id, At::RequestHead);
        let seq = self.next_seq();
        let point = self.point(now, id, At::RequestHead, "request-head", seq);
        self.arrive(now, LaneId::Up(id), Out::Read, point);
        self.heard_on(now, conn);
    }

    pub(super) fn request(&mut self, now: Moment, id: ExchangeId, body: &RequestBody) {
        let Some(mut exchange) = self.exchanges.remove(&id) else { return };
        let messages = match body {
            RequestBody::Whole(bytes) => {
                exchange.request_body = bytes.clone();
                rpc::peek(bytes)
            }
            RequestBody::BeyondPeek(_) => Vec::new(),
        };
        self.identify(&mut exchange, messages, body);
        self.exchanges.insert(id, exchange);
        if let RequestBody::BeyondPeek(cap) = body {
            self.beyond_peek(now, id, *cap);
        }
        self.number(now, id, At::Request);
        self.map_event_id(id);
        let seq = self.next_seq();
        let mut point = self.point(now, id, At::Request, "request", seq);
        if let RequestBody::Whole(bytes) = body {
            point.bytes = bytes.len() as u64;
            point.size = point.bytes;
            point.hash = self.hashed(bytes);
        }
        let conn = point.conn;
        let body = self.mapped_request(id);
        self.arrive(now, LaneId::Up(id), Out::Forward(body), point);
        self.stirred_on(now, conn);
    }

    /// A request is too large to be looked into (rule R38). Where there are rules or expectations the verdict says so.
    fn beyond_peek(&mut self, now: Moment, id: ExchangeId, cap: u64) {
        let target =
            self.exchanges.get(&id).map(|exchange| redacted_target(&exchange.request.target)).unwrap_or_default();
        let what = format!("{target}: a request beyond {cap} bytes is matched by its head only");
        if self.plan.rules.is_empty() && self.plan.expected.is_empty() {
            return self.note(now, what);
        }
        let key = self.key_of(id);
        self.remark(now, key, what + ": no rule and no expectation sees what is in it");
    }

    pub(super) fn head(&mut self, now: Moment, id: ExchangeId, head: AnswerHead) {
        if head.source == Source::Proxy {
            self.unreached(id);
        }
        if self.exchanges.get(&id).is_some_and(|exchange| exchange.answered_by.is_some()) {
            return self.overruled(now, id, At::Head, "head", None);
        }
        self.take_head(id, head);
        if let Some(exchange) = self.exchanges.get(&id) {
            self.eras.answered(exchange);
        }
        self.choose_body(id);
        self.note_encoding(now, id);
        self.spoke(now, id);
        self.news |= !self.astray.is_empty();
        let seq = self.next_seq();
        let point = self.point(now, id, At::Head, "head", seq);
        self.arrive(now, LaneId::Down(id), Out::Head, point);
    }

    /// A part of the server's own answer, where a rule has answered: it is seen on the server's leg and goes no further.
    fn overruled(&mut self, now: Moment, id: ExchangeId, at: At, name: &'static str, ending: Option<Ending>) {
        let seq = self.next_seq();
        let mut point = self.point(now, id, at, name, seq);
        // Those that the client gets are the first.
        (point.ending, point.key.ordinal) = (ending, 2);
        self.sight((now, seq), Leg::Server, &point, Some(id));
        self.write_point(&point, PointFate::Cut, None, None);
    }

    /// The answer has a head, the server's or one that a rule made: what it says of the session.
    pub(super) fn take_head(&mut self, id: ExchangeId, head: AnswerHead) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let (session, status) = (exchange.session, head.status);
        let had_session_id = exchange.header("mcp-session-id").is_some();
        let deleted = exchange.stream == Stream::Delete && (200..300).contains(&status);
        let session_id = header(&head.headers, "mcp-session-id").cloned();
        exchange.answer = Some(Answer::new(head));
        exchange.read_end = exchange.is_empty().then_some(Ending::Eof);
        if exchange.stream != Stream::Other {
            self.sessions.answered(session, id, status, session_id.as_ref());
        }
        if deleted {
            self.sessions.delete(session);
            self.end_spared(session);
        } else if had_session_id && status == 404 {
            self.sessions.end(session);
        }
    }

    pub(super) fn end(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        if !self.exchanges.contains_key(&id) {
            return;
        }
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.read_end = Some(ending);
        }
        self.spoke(now, id);
        let last = self.last_of_body(now, id);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let (closing, overruled) = (exchange.server == ServerLeg::Closing, exchange.answered_by.is_some());
        exchange.server = ServerLeg::Over;
        if closing {
            self.ended_by_itself(id);
        }
        let seq = self.next_seq();
        self.server_ended(now, id, seq);
        if overruled {
            self.overruled(now, id, At::End, "end", Some(ending));
        } else {
            self.end_windows(id);
            let mut point = self.end_point(now, id, seq);
            point.ending = Some(ending);
            self.arrive_with(now, LaneId::Down(id), Out::End(ending), last, point);
        }
        self.kept_ended(now, id, ending);
        self.tidy(id);
    }

    pub(super) fn left(&mut self, now: Moment, id: ExchangeId, ending: Ending) {
        if !self.exchanges.contains_key(&id) {
            return;
        }
        self.client_gone(now, id);
        let seq = self.next_seq();
        let mut point = self.point(now, id, At::Leave, "leave", seq);
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
        let mut point = self.end_point(now, id, seq);
        point.ending = Some(ending);
        self.sight((now, seq), Leg::Server, &point, Some(id));
        self.end_client(id);
        self.client_over(now, id);
        let stamp = (now, self.next_seq());
        self.sight(stamp, Leg::Client, &point, Some(id));
        self.write_point(&point, PointFate::Passed, Some(stamp), None);
        self.tidy(id);
    }

    /// The run is over: what waits is withheld, what was let go was not seen to be written.
    pub(super) fn finish(&mut self, now: Moment) {
        self.silences_end(now);
        for id in std::mem::take(&mut self.busy) {
            self.discard_all(now, id, PointFate::Withheld);
        }
        for (_, flight) in std::mem::take(&mut self.flights) {
            for (_, point) in &flight.points {
                self.write_point(point, PointFate::Withheld, None, None);
            }
        }
        self.tell_all_sums();
        self.judge_expectations(now);
    }

    /// A point has arrived: it is seen, decided about, and queued.
    pub(super) fn arrive(&mut self, now: Moment, lane: LaneId, out: Out, point: Point) {
        self.arrive_with(now, lane, out, None, point);
    }

    /// The same; `before` is a point whose bytes went on before it was known to be whole, and that passes with it.
    fn arrive_with(&mut self, now: Moment, lane: LaneId, out: Out, before: Option<Point>, point: Point) {
        // What a rule makes is no peer's doing: it is seen where it goes, not where it would come from (rule R3).
        for point in before.iter().chain([&point]).filter(|point| point.maker.is_none()) {
            let leg = if point.at.is_towards_server() { Leg::Client } else { Leg::Server };
            self.sight((now, point.seq), leg, point, point.exchange);
        }
        self.take_in(now, Made::new(lane, out, point), before);
    }

    /// A unit that has arrived, or was made, is decided about and queued.
    pub(super) fn take_in(&mut self, now: Moment, mut made: Made, before: Option<Point>) {
        if let Some(fate) = self.cut_off(made.lane) {
            if let Some((_, point)) = made.parcel.points.first_mut() {
                self.keep_unsent(now, &made.parcel.out, point);
            }
            let points = made.parcel.points.iter().map(|(_, point)| point);
            for point in before.iter().chain(points) {
                self.cut_is_seen_by(made.lane, point);
                self.write_point(point, fate, None, None);
            }
            return;
        }
        let mut decided = self.decided(now, made);
        self.withhold_head(&mut decided.own.parcel);
        let points = &mut decided.own.parcel.points;
        points.extend(before.map(|point| (0, point)));
        points.sort_by_key(|(_, point)| point.seq);
        let (lane, answerer) = (decided.own.lane, self.answerer(decided.own.lane));
        for made in decided.all() {
            // In place of a head a rule has answered: what was to follow that head does not follow another.
            if made.lane == lane && self.answerer(lane) != answerer {
                self.discard(now, &made.parcel, PointFate::Cut);
            } else {
                self.stand(now, made);
            }
        }
    }

    /// The rule that has answered the exchange of a queue.
    fn answerer(&self, lane: LaneId) -> Option<usize> {
        let LaneId::Down(id) = lane else { return None };
        self.exchanges.get(&id).and_then(|exchange| exchange.answered_by)
    }

    /// Queues what rules have decided about.
    pub(super) fn stand(&mut self, now: Moment, Made { lane, parcel }: Made) {
        // The leg may have been ended by what came before it.
        if let Some(fate) = self.cut_off(lane) {
            return self.discard(now, &parcel, fate);
        }
        self.enqueue(now, lane, parcel);
        if let LaneId::Down(id) = lane {
            self.press(now, id);
        }
        if self.news {
            self.pump(now);
        }
    }

    /// What becomes of everything that goes this way, if its client's leg is over.
    pub(super) fn cut_off(&self, lane: LaneId) -> Option<PointFate> {
        let LaneId::Down(id) = lane else { return None };
        match self.exchanges.get(&id).map(|exchange| exchange.client) {
            Some(ClientLeg::Open) => None,
            Some(ClientLeg::Over) => Some(PointFate::Cut),
            Some(ClientLeg::Left) | None => Some(PointFate::Gone),
        }
    }

    /// A point of an exchange, as it arrives.
    pub(super) fn point(&self, now: Moment, id: ExchangeId, at: At, name: &'static str, seq: u64) -> Point {
        let Some(exchange) = self.exchanges.get(&id) else {
            let key = Key { session: 0, exchange: Arc::from(""), name, ordinal: 1 };
            return Point::new(at, seq, now, key, ConnId(0));
        };
        let key = Key { session: exchange.session, exchange: Arc::clone(&exchange.key), name, ordinal: 1 };
        let mut point = Point::new(at, seq, now, key, exchange.conn);
        (point.exchange, point.session, point.stream) = (Some(id), exchange.session, Some(exchange.stream));
        point.belongs = Arc::clone(&exchange.belongs);
        point
    }
}
