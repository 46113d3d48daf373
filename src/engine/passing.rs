//! What happens when the rim reports that something is written, and when an exchange is over (rules R2, R3, R12).
//!
//! The one rule it keeps: a point has passed when its last byte was written, not when it was let go.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::condition::Leg;
use super::engine::{Engine, LANE_LIMIT};
use super::event::{ConnId, Ending, ExchangeId, Fate, Moment, UnitId};
use super::exchange::{ClientLeg, Exchange, ServerLeg};
use super::leave::{Flight, Job};
use super::record::PointFate;
use super::selector::{At, Stream};
use super::sighting::Sighting;
use super::unit::{LaneId, Point};

/// The same where a rate is what keeps them: the server is to feel it.
const SLOW_LIMIT: usize = 256 * 1024;

impl Engine {
    /// The last byte of a unit was written. A unit whose exchange is gone is not known any more.
    pub(super) fn passed(&mut self, now: Moment, unit: UnitId) {
        let Some(flight) = self.flights.remove(&unit) else { return };
        let bytes = flight.bytes();
        let Flight { exchange: id, points, job } = flight;
        let stamp = (now, self.next_seq());
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.flying -= 1;
            exchange.flying_bytes -= bytes;
        }
        self.unguard(now, id, unit);
        match job {
            Job::Write => {
                self.heard(now, id);
                self.delivered(stamp, id, &points);
            }
            Job::Forward(cuts) => {
                for (_, point) in &points {
                    self.sight(stamp, Leg::Server, point, Some(id));
                    self.write_point(point, PointFate::Passed, Some(stamp), None);
                    if let Some(cut) = cuts.first() {
                        self.strike(now, id, cut.rule, point, None);
                    }
                }
            }
            Job::Half(rule) => {
                for (_, point) in &points {
                    self.half_sent(id, point.bytes);
                    self.write_point(point, PointFate::Cut, None, None);
                    self.cut(now, id, rule, point, None);
                }
            }
            Job::Post => self.post_passed(stamp, id, &points),
            Job::Finish => {
                self.client_over(now, id);
                self.delivered(stamp, id, &points);
            }
            Job::Close(fate) => {
                for (_, point) in &points {
                    self.sight(stamp, Leg::Server, point, Some(id));
                    self.write_point(point, PointFate::Passed, Some(stamp), None);
                }
                self.server_closed(now, id, fate);
            }
        }
        self.serve_on(now, id);
        self.tidy(id);
    }

    /// Points have reached the client.
    fn delivered(&mut self, stamp: (Moment, u64), on: ExchangeId, points: &[(usize, Point)]) {
        for (_, point) in points {
            if let Some(block) = &point.block {
                for answered in block.messages.iter().filter(|spoken| spoken.answer).filter_map(|spoken| spoken.about) {
                    self.calls.settle(answered);
                }
                if let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id)) {
                    exchange.resumable |= block.event_id.is_some();
                }
            }
            self.sight(stamp, Leg::Client, point, Some(on));
            let moved = point.exchange != Some(on);
            let fate = if moved { PointFate::Moved } else { PointFate::Passed };
            self.write_point(point, fate, Some(stamp), Some(on).filter(|_| moved));
        }
    }

    /// The client's leg is over: what nothing can answer any more is not in flight.
    pub(super) fn client_over(&mut self, now: Moment, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        let own = matches!(exchange.stream, Stream::Post | Stream::Listen);
        if own && !exchange.resumable && exchange.status() != Some(202) {
            for call in exchange.belongs.calls.clone() {
                self.calls.settle(call);
            }
        }
        let conn = exchange.conn;
        self.sessions.unanswered(self.session_of(id), id);
        self.stirred_on(now, conn);
    }

    fn server_closed(&mut self, now: Moment, id: ExchangeId, fate: Fate) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.server = ServerLeg::Over;
        if exchange.server_ended.is_none() {
            let ending = if fate == Fate::Reset { Ending::Reset } else { Ending::Fin };
            let seq = self.next_seq();
            let point = Point { ending: Some(ending), ..self.end_point(now, id, seq) };
            self.server_ended(now, id, seq);
            self.sight((now, seq), Leg::Server, &point, Some(id));
            self.kept_ended(now, id, ending);
        }
    }

    /// The next end of an exchange.
    pub(super) fn end_point(&mut self, now: Moment, id: ExchangeId, seq: u64) -> Point {
        let ends = self.exchanges.get_mut(&id).map_or(1, |exchange| {
            exchange.ends += 1;
            exchange.ends
        });
        let mut point = self.point(now, id, At::End, "end", seq);
        point.key.ordinal = ends;
        point
    }

    /// The server's answer has ended, or its leg was closed by us.
    pub(super) fn server_ended(&mut self, now: Moment, id: ExchangeId, seq: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.server_ended.get_or_insert((now, seq));
        }
        self.news = true;
    }

    /// A point was seen on a leg: every condition that waits to see it there writes it down, and every expectation.
    pub(super) fn sight(&mut self, stamp: (Moment, u64), leg: Leg, point: &Point, on: Option<ExchangeId>) {
        let plan = Arc::clone(&self.plan);
        self.expect_point(stamp, leg, point, on);
        for (number, watch) in plan.watches.iter().enumerate() {
            if watch.leg == leg && self.selects(&watch.sel, point, on) {
                let sighting = Sighting {
                    seq: stamp.1,
                    at: stamp.0,
                    key: point.key.clone(),
                    exchange: on,
                    belongs: point.belongs.clone(),
                };
                self.seen[number].add(point.session, sighting);
                self.news = true;
            }
        }
    }

    /// A rule has acted.
    pub(super) fn log_firing(&mut self, now: Moment, rule: usize, point: &Point) {
        let sighting = Sighting {
            seq: self.next_seq(),
            at: now,
            key: point.key.clone(),
            exchange: point.exchange,
            belongs: point.belongs.clone(),
        };
        self.expect_firing(rule, &sighting);
        self.fired[rule].add(point.session, sighting);
        self.news |= self.plan.rules[rule].heeded;
    }

    /// The client is gone: what was to be written to it never will be.
    pub(super) fn client_gone(&mut self, now: Moment, id: ExchangeId) {
        self.end_client(id);
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.client = ClientLeg::Left;
        }
        for lane in [LaneId::Down(id), LaneId::Up(id)] {
            self.discard_all(now, lane, PointFate::Gone);
        }
        // What is left to do for the server waits for no part of the request.
        if let Some(lane) = self.lane(LaneId::Up(id)) {
            lane.guard = None;
        }
        self.ground(id, PointFate::Gone, |job| matches!(job, Job::Write | Job::Finish));
        self.client_over(now, id);
    }

    /// The proxy answers for a server that could not be reached: the request that was let go never was written.
    pub(super) fn unreached(&mut self, id: ExchangeId) {
        self.drop_pieces(id);
        self.ground(id, PointFate::Gone, |job| matches!(job, Job::Forward(_) | Job::Half(_)));
    }

    /// The server's leg has ended before its close was reported, or while it was drained: nothing is left to close.
    pub(super) fn ended_by_itself(&mut self, id: ExchangeId) {
        self.ground(id, PointFate::Ended, |job| matches!(job, Job::Close(_)));
    }

    /// The exchanges of a client's connection for which something is still to be written to it.
    pub(super) fn unwritten_on(&self, conn: ConnId) -> BTreeSet<ExchangeId> {
        let written = |flight: &&Flight| matches!(flight.job, Job::Write | Job::Finish);
        let of_conn = |id: &ExchangeId| self.exchanges.get(id).is_some_and(|exchange| exchange.conn == conn);
        self.flights.values().filter(written).map(|flight| flight.exchange).filter(of_conn).collect()
    }

    /// What was let go on this leg of an exchange will not be reported as written any more.
    fn ground(&mut self, id: ExchangeId, fate: PointFate, leg: impl Fn(&Job) -> bool) {
        let fits = |flight: &Flight| flight.exchange == id && leg(&flight.job);
        let gone: Vec<UnitId> = self.flights.iter().filter(|(_, flight)| fits(flight)).map(|(unit, _)| *unit).collect();
        for unit in gone {
            let Some(flight) = self.flights.remove(&unit) else { continue };
            for (_, point) in &flight.points {
                self.write_point(point, fate, None, None);
            }
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.flying -= 1;
                exchange.flying_bytes -= flight.bytes();
            }
        }
    }

    /// Forgets an exchange on which nothing can happen any more.
    pub(super) fn tidy(&mut self, id: ExchangeId) {
        self.give_up_sending(id);
        let over = self.exchanges.get(&id).is_some_and(|exchange| exchange.is_over());
        if over && !self.lingers(id) {
            self.tell_sums(id);
            self.exchanges.remove(&id);
            self.news |= self.plan.cuts_connections;
            self.busy.remove(&LaneId::Up(id));
            self.busy.remove(&LaneId::Down(id));
        }
    }

    /// Both legs are over while the request still was on its way: the server did not read it to its end.
    fn give_up_sending(&mut self, id: ExchangeId) {
        let over = |exchange: &Exchange| exchange.client != ClientLeg::Open && exchange.server == ServerLeg::Over;
        let sends = |exchange: &Exchange| exchange.flying > 0 || !exchange.up.is_empty();
        if !self.exchanges.get(&id).is_some_and(|exchange| sends(exchange) && over(exchange)) {
            return;
        }
        let mut flying = self.flights.values().filter(|flight| flight.exchange == id);
        if flying.all(|flight| matches!(flight.job, Job::Forward(_) | Job::Half(_))) {
            self.unreached(id);
        }
    }

    /// Reads no more of an answer while too much of it waits, or a rule wants the server to feel it.
    pub(super) fn press(&mut self, now: Moment, id: ExchangeId) {
        let plan = Arc::clone(&self.plan);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if exchange.down.is_empty() && !exchange.paused {
            return;
        }
        let slow = exchange.down.is_slow();
        let most = if slow { SLOW_LIMIT } else { LANE_LIMIT };
        let limit = if exchange.paused { most / 2 } else { most };
        // What waits for the end of a block would wait for ever if that were not read.
        let many = exchange.down.bytes > limit && !exchange.down.torn;
        let stops = many || plan.presses && exchange.down.parcels.iter().any(|parcel| parcel.stops_reading(&plan));
        let open = exchange.server == ServerLeg::Open && exchange.client == ClientLeg::Open;
        exchange.full = many && open && !slow;
        if exchange.full {
            if self.make_room(now, id) {
                return self.press(now, id);
            }
            self.news = true;
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if stops != exchange.paused && open {
            exchange.paused = stops;
            let id = exchange.id;
            if stops && exchange.down.is_buffered() {
                let key = self.key_of(id);
                self.note(now, format!("{key}: as much of its body is kept as can be; the server is read no further"));
            }
            self.out.push(if stops {
                super::event::Command::PauseServer { exchange: id }
            } else {
                super::event::Command::ResumeServer { exchange: id }
            });
        }
    }
}
