//! What happens when a parcel leaves: its command, or what stands in its place (rules R18, R23).
//!
//! The one rule it keeps: of the cuts planned for a parcel the first in written order happens, and nothing after it.

use std::time::Duration;

use bytes::Bytes;

use super::engine::Engine;
use super::event::{Command, ConnId, Ending, ExchangeId, Fate, HeadEdits, Mark, Moment, UnitId};
use super::exchange::{ClientLeg, ServerLeg};
use super::fault::Fault;
use super::fault::cut::{Cut, Place};
use super::forwarding::Sent;
use super::record::PointFate;
use super::unit::{ArmedCut, CutPlan, LaneId, Out, Parcel, Piece, Point};

/// How long the reader gets before a reset that a rule made, where it cannot be seen that it has read: as for a cut.
const SETTLE: Duration = Duration::from_millis(20);

/// Something that was let go and whose last byte the rim will report.
#[derive(Debug)]
pub(super) struct Flight {
    /// The exchange on whose leg it is written.
    pub(super) exchange: ExchangeId,
    pub(super) points: Vec<(usize, Point)>,
    pub(super) job: Job,
}

/// What the rim was told to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Write a head or a part of a body.
    Write,
    /// Send a request; these cuts fall when it is sent.
    Forward(Vec<CutPlan>),
    /// Send a part of a request; then this rule cuts.
    Half(usize),
    /// Send a request of a rule's own.
    Post,
    /// End the client's leg.
    Finish,
    /// End the server's leg.
    Close(Fate),
}

impl Engine {
    /// A parcel's turn has come.
    pub(super) fn leave(&mut self, now: Moment, id: LaneId, mut parcel: Parcel) {
        if self.instead(&parcel.cuts).is_none() {
            let Some(portion) = self.portion(now, id, parcel) else { return };
            parcel = portion;
        }
        let cuts = std::mem::take(&mut parcel.cuts);
        if let Some(lane) = self.lane(id).filter(|_| parcel.piece != Piece::Whole) {
            lane.torn = parcel.piece == Piece::Begun;
        }
        match (id, self.instead(&cuts)) {
            (LaneId::Up(exchange), Some(cut)) if matches!(parcel.out, Out::Forward(_)) && self.is_inside(cut.rule) => {
                self.send_half(now, exchange, cut.rule, parcel);
            }
            (LaneId::Up(exchange), None) if matches!(parcel.out, Out::Bytes(_)) => self.send(exchange, parcel, cuts),
            (LaneId::Conn(conn), _) => self.leave_connection(now, conn, &parcel, &cuts),
            (LaneId::Up(exchange) | LaneId::Down(exchange), Some(cut)) => {
                self.cut_instead(now, exchange, cut.rule, parcel);
            }
            (LaneId::Up(exchange) | LaneId::Down(exchange), None) => self.pass(now, exchange, parcel, cuts),
            (LaneId::Astray, _) => self.discard(now, &parcel, PointFate::Gone),
        }
    }

    fn is_inside(&self, rule: usize) -> bool {
        matches!(&self.plan.rules[rule].rule.fault, Fault::Cut(Cut { place: Place::Inside(_), .. }))
    }

    /// What happens in the place of a parcel.
    fn instead<'a>(&self, cuts: &'a [CutPlan]) -> Option<&'a CutPlan> {
        cuts.iter().find(|cut| !cut.later).filter(|cut| self.plan.rules[cut.rule].rule.fault.stands_in_for())
    }

    fn leave_connection(&mut self, now: Moment, conn: ConnId, parcel: &Parcel, cuts: &[CutPlan]) {
        let Some((_, point)) = parcel.points.first() else { return };
        self.write_point(point, PointFate::Ended, None, None);
        if let Some(cut) = cuts.iter().find(|cut| !cut.later) {
            return self.cut_connection(now, conn, cut.rule, point);
        }
        self.out.push(Command::Admit { conn });
        if let Some(connection) = self.conns.get_mut(&conn) {
            let armed = |cut: &CutPlan| ArmedCut { rule: cut.rule, point: point.clone(), timer: None };
            connection.cuts = cuts.iter().map(armed).collect();
            self.news |= !cuts.is_empty();
        }
        for cut in cuts {
            self.look_out(cut.rule, point);
        }
    }

    fn pass(&mut self, now: Moment, id: ExchangeId, parcel: Parcel, cuts: Vec<CutPlan>) {
        if cuts.is_empty() {
            return self.command(now, id, parcel, Vec::new());
        }
        let point = parcel.points.last().map(|(_, point)| point.clone());
        let forwarded = matches!(parcel.out, Out::Forward(_));
        let (now_cuts, later): (Vec<_>, Vec<_>) = cuts.into_iter().partition(|cut| !cut.later);
        let arm = |engine: &mut Self, point: &Point| {
            for cut in &later {
                engine.arm_cut(id, ArmedCut { rule: cut.rule, point: point.clone(), timer: None });
            }
        };
        // Before a request is sent: whether its answer may be relayed unseen depends on the cuts that wait for it.
        if let Some(point) = point.as_ref().filter(|_| forwarded) {
            arm(self, point);
        }
        self.command(now, id, parcel, if forwarded { now_cuts.clone() } else { Vec::new() });
        let Some(point) = point else { return };
        if !forwarded {
            arm(self, &point);
        }
        if let Some(cut) = now_cuts.first().filter(|_| !forwarded) {
            self.strike(now, id, cut.rule, &point, None);
        }
    }

    /// The command that lets a parcel pass.
    fn command(&mut self, now: Moment, id: ExchangeId, parcel: Parcel, cuts: Vec<CutPlan>) {
        match parcel.out {
            Out::Admit => {}
            Out::Read => {
                self.out.push(Command::Read { exchange: id });
                for (_, point) in &parcel.points {
                    self.write_point(point, PointFate::Ended, None, None);
                }
            }
            Out::Forward(body) => {
                if let Some(place) = self.place_of(id) {
                    return self.serve(now, id, place, &parcel.points, &cuts);
                }
                let unseen = cuts.is_empty() && self.may_relay(id);
                let parts = self.parted_request(now, id, body.as_ref());
                let parted = parts.is_some();
                let unit = match parts {
                    Some(whole) => self.fly_head(id, whole, parcel.points, cuts),
                    None => self.fly(id, parcel.points, Job::Forward(cuts)),
                };
                self.forward(now, id, unit, Sent { body, part: None, parted });
                if unseen {
                    self.out.push(Command::Relay { exchange: id });
                }
            }
            Out::Post => self.send_post(id, parcel.points),
            Out::Head => {
                let rechunk = self.may_change(id);
                let guards = parcel.points.iter().any(|(_, point)| self.is_looked_for(id, point));
                let unit = self.fly(id, parcel.points, Job::Write);
                if guards {
                    self.guard(id, unit);
                }
                self.part_head(LaneId::Down(id), unit);
                let (mut made, mut edits) = (None, HeadEdits::default());
                if let Some(exchange) = self.exchanges.get_mut(&id) {
                    exchange.head_left = true;
                    let answer = exchange.answer.as_ref();
                    made =
                        answer.filter(|_| exchange.answered_by.is_some()).map(|answer| Box::new(answer.head.clone()));
                    let change = answer.and_then(|answer| answer.change.as_ref());
                    edits = change.map(|change| change.edits.clone()).unwrap_or_default();
                }
                self.out.push(Command::Head { exchange: id, unit, rechunk, edits, made });
            }
            Out::Gate(rule) => self.open_body(now, id, rule, &parcel.points),
            Out::Bytes(_) => self.let_write(now, id, parcel),
            Out::End(ending) => {
                // What could only have gone inside a block that never became whole.
                self.discard_all(now, LaneId::Down(id), PointFate::Gone);
                let made = parcel.points.iter().any(|(_, point)| point.maker.is_some());
                let settle = (made && ending == Ending::Reset).then_some(SETTLE);
                let unit = self.fly(id, parcel.points, Job::Finish);
                self.end_client(id);
                self.out.push(Command::Finish { exchange: id, unit, ending, inside: None, settle });
            }
            Out::Leave(ending) => self.leave_server(id, ending, parcel.points),
        }
    }

    /// What was split from a parcel that leaves is the next to leave.
    pub(super) fn put_back(&mut self, id: LaneId, rest: Parcel) {
        let Some(lane) = self.lane(id) else { return };
        lane.put_back(rest);
        self.busy.insert(id);
        self.stirred = true;
    }

    /// Writes bytes to the client, up to a unit that must have passed before more may leave: the rest stays until then.
    fn let_write(&mut self, now: Moment, id: ExchangeId, parcel: Parcel) {
        let Parcel { seq, ready, mut points, apart, out: Out::Bytes(mut bytes), .. } = parcel else { return };
        let guarding = self.stop_behind(id, &points);
        if let Some(place) = guarding {
            let end = points[place].0;
            let behind = points.split_off(place + 1).into_iter().map(|(at, point)| (at - end, point)).collect();
            let rest = Parcel::of_bytes(seq, ready, bytes.split_off(end), behind);
            if rest.bytes() > 0 {
                self.put_back(LaneId::Down(id), rest);
            }
        }
        let last = self.write_up_to_cut(now, id, bytes, points);
        if let Some(unit) = last.filter(|_| guarding.is_some()) {
            self.guard(id, unit);
        }
        if let Some(gap) = apart {
            self.stand_apart(id, gap);
        }
    }

    /// What was just written leaves by itself: nothing goes behind it before it is written and so long has gone by.
    fn stand_apart(&mut self, id: ExchangeId, gap: Duration) {
        let last = |command: Option<&Command>| match command {
            Some(Command::Write { exchange, bytes, marks }) if *exchange == id => {
                Some((bytes.len(), marks.last().filter(|mark| mark.end == bytes.len()).map(|mark| mark.unit)))
            }
            // It was cut off.
            _ => None,
        };
        let Some((end, unit)) = last(self.out.last()) else { return };
        let unit = unit.unwrap_or_else(|| self.fly(id, Vec::new(), Job::Write));
        if let Some(Command::Write { marks, .. }) = self.out.last_mut()
            && marks.last().is_none_or(|mark| mark.end < end)
        {
            marks.push(Mark { end, unit });
        }
        self.guard_lane(LaneId::Down(id), unit, gap);
    }

    /// Writes bytes to the client; those that stood side by side when they came go in one write.
    pub(super) fn write(&mut self, id: ExchangeId, bytes: Bytes, marks: Vec<Mark>) {
        if let Some(Command::Write { exchange, bytes: last, marks: before }) = self.out.last_mut()
            && *exchange == id
            && let Some(joined) = joined(&self.chunk, last, &bytes)
        {
            let shift = last.len();
            before.extend(marks.into_iter().map(|mark| Mark { end: mark.end + shift, ..mark }));
            *last = joined;
            return;
        }
        self.out.push(Command::Write { exchange: id, bytes, marks });
    }

    /// The client has left: the server's leg goes too, if there is one.
    fn leave_server(&mut self, id: ExchangeId, ending: Ending, points: Vec<(usize, Point)>) {
        self.close_copies(id);
        let exchange = self.exchanges.get(&id).filter(|exchange| exchange.server == ServerLeg::Open);
        let kept = exchange.is_some_and(|exchange| exchange.kept.is_some());
        if exchange.is_none() || kept {
            for (_, point) in &points {
                self.write_point(point, PointFate::Ended, None, None);
            }
            if kept {
                // Its client may come back for the rest (rule R31).
                self.end_server(id, Fate::Drain(None));
            }
            self.tidy(id);
            return;
        }
        let fate = if ending == Ending::Reset { Fate::Reset } else { Fate::Close };
        self.close_server(id, fate, points);
    }

    /// Commands what becomes of the server's leg.
    pub(super) fn close_server(&mut self, id: ExchangeId, fate: Fate, points: Vec<(usize, Point)>) {
        let unit = self.fly(id, points, Job::Close(fate));
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.server = ServerLeg::Closing;
        }
        self.out.push(Command::CloseServer { exchange: id, unit, fate });
        if matches!(fate, Fate::Close | Fate::Reset) {
            self.close_copies(id);
        }
    }

    /// Nothing more will be written to the client.
    pub(super) fn end_client(&mut self, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.client = ClientLeg::Over;
        }
        self.disarm_cuts(id);
        self.end_additions(id);
        self.serve_no_more(id);
    }

    /// What was planned for this exchange and waits for its `when` will not happen.
    pub(super) fn disarm_cuts(&mut self, id: ExchangeId) {
        let cuts = self.exchanges.get_mut(&id).map(|exchange| std::mem::take(&mut exchange.cuts));
        for cut in cuts.unwrap_or_default() {
            self.remove_timer(cut.timer);
        }
        self.cutting.remove(&id);
    }

    /// Gives a unit its number; its last byte will be reported.
    pub(super) fn fly(&mut self, id: ExchangeId, points: Vec<(usize, Point)>, job: Job) -> UnitId {
        let unit = UnitId(self.next_unit);
        self.next_unit += 1;
        let flight = Flight { exchange: id, points, job };
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.flying += 1;
            exchange.flying_bytes += flight.bytes();
        }
        self.flights.insert(unit, flight);
        unit
    }
}

impl Flight {
    pub(super) fn bytes(&self) -> u64 {
        self.points.iter().map(|(_, point)| point.bytes).sum()
    }
}

/// Two neighbours in one piece of memory as one, without copying them.
fn joined(whole: &Bytes, first: &Bytes, second: &Bytes) -> Option<Bytes> {
    let place = |bytes: &Bytes| (bytes.as_ptr() as usize).checked_sub(whole.as_ptr() as usize);
    let (start, middle) = (place(first)?, place(second)?);
    let end = middle + second.len();
    (start + first.len() == middle && end <= whole.len()).then(|| whole.slice(start..end))
}
