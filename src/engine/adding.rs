//! What rules add to a stream later: their `when` is awaited while the stream goes on, once or again and again.
//!
//! Nothing stands in a queue for it: it arrives when its time has come, and then comes before all that waits there. The
//! one rule it keeps: what was to be added is dropped with its stream.

use std::sync::Arc;

use super::engine::{Engine, LANE_LIMIT};
use super::event::{ExchangeId, Moment};
use super::fault::Fault;
use super::fault::inject::{Inject, Place, To};
use super::making::Made;
use super::sighting::Truth;
use super::unit::{Lane, LaneId, Out, Point};

/// Something that a rule will add.
#[derive(Debug)]
pub(super) struct Addition {
    pub(super) rule: usize,
    /// The unit in hand: that at which the rule fired, or the one made last.
    pub(super) point: Point,
    /// The place in the sequence of the unit at which the rule fired.
    firing: u64,
    place: Place,
    timer: Option<Moment>,
    /// How often it is still to be added; `None`: again and again.
    left: Option<u64>,
}

impl Engine {
    /// A rule adds something to the stream of this unit when its time has come.
    pub(super) fn await_addition(&mut self, rule: usize, inject: &Inject, point: &Point) {
        let (place, left) = (inject.place, inject.repeat);
        self.wait_to_add(Addition { rule, point: point.clone(), firing: point.seq, place, timer: None, left });
    }

    fn wait_to_add(&mut self, addition: Addition) {
        self.look_out(addition.rule, &addition.point);
        let number = self.next_seq();
        self.additions.insert(number, addition);
        self.news = true;
    }

    /// Adds what is due.
    pub(super) fn add_due(&mut self, now: Moment) {
        let plan = Arc::clone(&self.plan);
        let waiting: Vec<u64> = self.additions.keys().copied().collect();
        for number in waiting {
            let Some(mut addition) = self.additions.remove(&number) else { continue };
            let Some(cond) = &plan.rules[addition.rule].gate else { continue };
            match self.truth(cond, addition.rule, &addition.point, now) {
                Truth::Since(_, cause) => {
                    self.remove_timer(addition.timer.take());
                    self.came_true(addition.rule, &cause);
                    let by = self.by(&cause);
                    self.add(now, by, addition);
                }
                truth => {
                    if let Truth::From(at) = truth
                        && addition.timer != Some(at)
                    {
                        self.remove_timer(addition.timer);
                        self.add_timer(Some(at));
                        addition.timer = Some(at);
                    }
                    self.additions.insert(number, addition);
                }
            }
        }
    }

    /// Whether something is still to be added because of this exchange.
    pub(super) fn is_added_to(&self, id: ExchangeId) -> bool {
        self.additions.values().any(|addition| addition.point.exchange == Some(id))
    }

    /// Nothing more is added to this stream.
    pub(super) fn end_additions(&mut self, id: ExchangeId) {
        let plan = Arc::clone(&self.plan);
        let to_client = |rule: usize| matches!(&plan.rules[rule].rule.fault, Fault::Inject(it) if it.to == To::Client);
        self.drop_additions(id, |addition| to_client(addition.rule));
    }

    /// Whether an exchange that is over stays for the rest of this step: what its end makes true may send something yet.
    pub(super) fn lingers(&mut self, id: ExchangeId) -> bool {
        let lingers = self.is_added_to(id);
        if lingers {
            self.lingering.insert(id);
        }
        lingers
    }

    /// The step is over, and so are the exchanges that stayed for it.
    pub(super) fn end_lingering(&mut self) {
        for id in std::mem::take(&mut self.lingering) {
            self.drop_additions(id, |_| true);
            self.tidy(id);
        }
    }

    fn drop_additions(&mut self, id: ExchangeId, which: impl Fn(&Addition) -> bool) {
        let of = |addition: &Addition| addition.point.exchange == Some(id) && which(addition);
        let gone: Vec<u64> = self.additions.iter().filter(|(_, it)| of(it)).map(|(number, _)| *number).collect();
        for number in gone {
            let addition = self.additions.remove(&number);
            self.remove_timer(addition.and_then(|addition| addition.timer));
        }
    }

    fn add(&mut self, now: Moment, by: u64, addition: Addition) {
        let Addition { rule, point, firing, place, left, .. } = addition;
        let plan = Arc::clone(&self.plan);
        let (Fault::Inject(inject), Some(id)) = (&plan.rules[rule].rule.fault, point.exchange) else { return };
        self.log_firing(now, rule, &point);
        if inject.to == To::Server {
            let made = self.make_post(now, id, rule, inject, &point).map(|made| made.of_firing(firing));
            let last = made.as_ref().and_then(|made| made.parcel.points.first()).map(|(_, point)| point.clone());
            made.into_iter().for_each(|made| self.stand(now, made));
            return self.add_again(Addition { rule, point: last.unwrap_or(point), firing, place, timer: None, left });
        }
        if self.unread(id) > LANE_LIMIT {
            // Nothing slows down who adds.
            return self
                .note(now, format!("{}: its client does not read; {} adds no more", point.key, plan.rules[rule].name));
        }
        let made = self.make(now, id, rule, inject, &point).into_iter().map(|made| made.of_firing(firing));
        let mut made: Vec<Made> = made.collect();
        for (_, point) in made.iter_mut().flat_map(|made| &mut made.parcel.points) {
            point.by = by;
        }
        let last = made.last().and_then(|made| made.parcel.points.first()).map(|(_, point)| point.clone());
        self.insert(now, id, made, (&point, place));
        let (point, place) = (last.unwrap_or(point), Place::After);
        self.add_again(Addition { rule, point, firing, place, timer: None, left });
    }

    /// It was added once; `point` is the unit that is in hand now.
    fn add_again(&mut self, mut addition: Addition) {
        addition.left = addition.left.map(|left| left - 1);
        if addition.left != Some(0) {
            self.wait_to_add(addition);
        }
    }

    /// Puts what was made before all that waits on its stream, but behind a head, and behind the unit in hand.
    fn insert(&mut self, now: Moment, id: ExchangeId, made: Vec<Made>, (point, place): (&Point, Place)) {
        let decided: Vec<Made> = made.into_iter().flat_map(|made| self.decided(now, made).all()).collect();
        let (own, elsewhere): (Vec<_>, Vec<_>) =
            decided.into_iter().partition(|made| made.lane == LaneId::Down(id) && made.parcel.lost.is_none());
        let front = self.lane(LaneId::Down(id)).map_or(0, |lane| front(lane, point.seq, place));
        for made in own.into_iter().rev() {
            self.stirred = true;
            self.busy.insert(made.lane);
            if let Some(lane) = self.lane(made.lane) {
                lane.insert(front, made.parcel);
            }
        }
        for made in elsewhere {
            self.stand(now, made);
        }
    }
}

/// The place in a queue before all that may wait for something that was added.
fn front(lane: &Lane, hand: u64, place: Place) -> usize {
    let heads = lane.parcels.iter().rposition(|parcel| matches!(parcel.out, Out::Head | Out::Gate(_)));
    let hand = lane.parcels.iter().position(|parcel| place == Place::After && parcel.seq == hand);
    heads.max(hand).map_or(0, |place| place + 1)
}
