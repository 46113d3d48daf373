//! `reorder`: blocks leave in another order than they came.

use std::time::Duration;

use crate::engine::draw::Draw;
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::event::{ExchangeId, Moment};
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Kind, MOST, Need, Spot, field, limit, words};
use crate::engine::record::Opened;
use crate::engine::rule::Rule;
use crate::engine::selector::At;
use crate::engine::unit::{LaneId, Parcel, Point, Until, Wait};

/// `reorder`: blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Reorder {
    /// How many selected blocks are collected.
    pub window: u64,
    /// In which order they leave.
    pub order: Order,
    /// Whether the window collects over all streams of the session.
    pub across: bool,
    /// When the window closes although it is not full (no failure).
    pub limit: Duration,
}

/// The order in which a reorder window is let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Last first.
    Reverse,
    /// Each pair exchanged.
    Swap,
    /// Drawn with the seed.
    Shuffle,
    /// The k-th to leave is the one that arrived as number `order[k]`, from 1.
    Given(Vec<u64>),
}

/// A window that collects blocks.
#[derive(Debug)]
pub(in crate::engine) struct Window {
    rule: usize,
    /// The stream it collects on, or the session.
    of: Of,
    /// The queue and sequence number of each block, in order of arrival.
    members: Vec<(LaneId, u64)>,
    /// The first of them, after which the window is named.
    first: Point,
    limit: Moment,
    /// Whether it closes in this step.
    closing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Lane(LaneId),
    Session(u64),
}

impl Order {
    /// The places in order of arrival, from 0, in the order in which they leave.
    fn permutation(&self, n: usize, draw: &mut Draw) -> Vec<usize> {
        match self {
            Self::Reverse => (0..n).rev().collect(),
            Self::Swap => (0..n).map(|place| if place ^ 1 < n { place ^ 1 } else { place }).collect(),
            Self::Shuffle => draw.shuffle(n),
            Self::Given(order) => {
                let given = order.iter().filter_map(|k| usize::try_from(*k).ok()?.checked_sub(1));
                let mut places: Vec<usize> = given.filter(|place| *place < n).collect();
                let rest: Vec<usize> = (0..n).filter(|place| !places.contains(place)).collect();
                places.extend(rest);
                places
            }
        }
    }
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "reorder",
    at: &[At::Block],
    main: Some("window"),
    doc: "lets blocks leave in another order than they came",
    params: &[
        field("window", Kind::Int(2, MOST), Need::Required, "how many selected blocks are collected"),
        field("order", Kind::Order, Need::Default("\"reverse\""), "the order in which they leave"),
        field("across", Kind::Bool, Need::Default("false"), "whether the window spans all streams of the session"),
        limit("\"1s\"", "when the window closes although it is not full (no failure)"),
    ],
    make: |params, _| make(params).map(Fault::Reorder),
    check: unchecked,
};

fn make(params: &Params) -> Option<Reorder> {
    Some(Reorder {
        window: params.number("window")?,
        order: params.order("order")?,
        across: params.flag("across"),
        limit: params.duration("limit")?,
    })
}

impl Act for Reorder {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.collect(turn.now, turn.rule, self, *turn.lane, turn.parcel);
    }

    fn check(&self, _: &Rule, spot: &Spot, slips: &mut Complaints) {
        let Order::Given(places) = &self.order else { return };
        if places.len() as u64 != self.window {
            let what = format!("`order` has {} places and the window {}", places.len(), self.window);
            slips.wrong(spot, what, "write a place for each block of the window");
        }
    }

    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        engine.left_a_window(outcome)
    }

    fn explain(&self) -> String {
        let order = match &self.order {
            Order::Reverse => "in reverse order".to_owned(),
            Order::Swap => "with each pair swapped".to_owned(),
            Order::Shuffle => "in a drawn order".to_owned(),
            Order::Given(places) => format!("in the order {}", words::numbers(places)),
        };
        let across = if self.across { " over all streams of the session" } else { "" };
        format!("collect {}{across}, release them {order}", self.window)
    }
}

impl Engine {
    /// A selected block joins the window of its stream or session.
    fn collect(&mut self, now: Moment, rule: usize, reorder: &Reorder, lane: LaneId, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        self.log_firing(now, rule, &point);
        if self.keeps_its_place(&point) {
            return;
        }
        let of = if reorder.across { Of::Session(point.session) } else { Of::Lane(lane) };
        let open = |window: &Window| window.rule == rule && window.of == of && !window.closing;
        let number = match self.windows.iter().find(|(_, window)| open(window)) {
            Some((number, _)) => *number,
            None => {
                let limit = point.arrived + reorder.limit;
                let window = Window { rule, of, members: Vec::new(), first: point.clone(), limit, closing: false };
                self.windows.insert(point.seq, window);
                self.add_timer(Some(limit));
                point.seq
            }
        };
        if let Some(window) = self.windows.get_mut(&number) {
            window.members.push((lane, parcel.seq));
            window.closing = window.members.len() as u64 >= reorder.window;
            self.news |= window.closing;
        }
        parcel.waits.push(Wait { rule, until: Until::Window(number), limit: None, timer: None });
    }

    /// A stream ends: its windows close.
    pub(in crate::engine) fn end_windows(&mut self, id: ExchangeId) {
        for window in self.windows.values_mut().filter(|window| window.of == Of::Lane(LaneId::Down(id))) {
            window.closing = true;
            self.news = true;
        }
    }

    /// Lets go what full, ended and late windows hold, in the new order.
    pub(in crate::engine) fn close_windows(&mut self, now: Moment) {
        let due = |window: &Window| window.closing || window.limit <= now;
        let closing: Vec<u64> =
            self.windows.iter().filter(|(_, window)| due(window)).map(|(number, _)| *number).collect();
        for number in closing {
            let Some(mut window) = self.windows.remove(&number) else { continue };
            if window.limit > now {
                self.remove_timer(Some(window.limit));
            }
            // A later rule may have moved a block since.
            window.members.retain_mut(|(lane, seq)| {
                let stands = |id: &LaneId| {
                    self.lane_of(*id).is_some_and(|lane| lane.parcels.iter().any(|parcel| parcel.seq == *seq))
                };
                let found = Some(*lane).filter(|lane| stands(lane)).or_else(|| self.busy.iter().copied().find(stands));
                *lane = found.unwrap_or(*lane);
                found.is_some()
            });
            self.close_window(now, number, &window);
        }
    }

    fn close_window(&mut self, now: Moment, number: u64, window: &Window) {
        let plan = std::sync::Arc::clone(&self.plan);
        let armed = &plan.rules[window.rule];
        let Fault::Reorder(reorder) = &armed.rule.fault else { return };
        let mut draw = Draw::new(self.seed, &armed.name, &window.first.key.to_string(), "shuffle");
        let order = reorder.order.permutation(window.members.len(), &mut draw);
        if order.iter().enumerate().any(|(place, from)| place != *from) {
            // Each that it held had its part in the order (rule R35).
            order.iter().for_each(|_| self.effective(window.rule));
        }
        let leaving: Vec<(LaneId, u64)> = order.iter().map(|from| window.members[*from]).collect();
        self.rearrange(&leaving);
        let mut before: Option<(LaneId, u64)> = None;
        for (lane, seq) in leaving {
            let behind = before.filter(|(other, _)| *other != lane).map(|(_, seq)| seq);
            self.let_go(now, number, (lane, seq), behind, window.rule);
            before = Some((lane, seq));
        }
        let full = window.members.len() as u64 >= reorder.window;
        let what = if full { "the window is full" } else { "the window was closed" };
        self.close_gate(now, window.rule, &window.first, Opened::By(what.to_owned()));
    }

    /// Puts the blocks of each queue, in the order in which they leave, into the places where they stood.
    fn rearrange(&mut self, leaving: &[(LaneId, u64)]) {
        let mut lanes: Vec<LaneId> = leaving.iter().map(|(lane, _)| *lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        for id in lanes {
            let wanted: Vec<u64> = leaving.iter().filter(|(lane, _)| *lane == id).map(|(_, seq)| *seq).collect();
            let Some(lane) = self.lane(id) else { continue };
            let stands = |(_, parcel): &(usize, &Parcel)| wanted.contains(&parcel.seq);
            let places: Vec<usize> = lane.parcels.iter().enumerate().filter(stands).map(|(place, _)| place).collect();
            for (place, seq) in places.into_iter().zip(&wanted) {
                if let Some(from) = lane.parcels.iter().position(|parcel| parcel.seq == *seq) {
                    lane.parcels.swap(place, from);
                }
            }
        }
    }

    fn let_go(&mut self, now: Moment, number: u64, (lane, seq): (LaneId, u64), behind: Option<u64>, rule: usize) {
        let by = self.seq;
        let Some(queue) = self.lane(lane) else { return };
        let Some(parcel) = queue.parcels.iter_mut().find(|parcel| parcel.seq == seq) else { return };
        parcel.waits.retain(|wait| wait.until != Until::Window(number));
        queue.gated = true;
        parcel.ready = parcel.ready.max(now);
        if let Some((_, point)) = parcel.points.first_mut() {
            point.by = by;
        }
        if let Some(before) = behind {
            parcel.waits.push(Wait { rule, until: Until::Behind(before), limit: None, timer: None });
            self.awaited.insert(before);
        }
        self.stirred = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_keeps_every_block() {
        let mut draw = Draw::new(1, "r", "k", "shuffle");
        let mut order = |order: &Order, n| order.permutation(n, &mut draw);
        assert_eq!(order(&Order::Reverse, 3), [2, 1, 0]);
        assert_eq!(order(&Order::Swap, 5), [1, 0, 3, 2, 4]);
        assert_eq!(order(&Order::Given(vec![2, 3, 1]), 3), [1, 2, 0]);
        assert_eq!(order(&Order::Given(vec![3, 1, 2]), 2), [0, 1], "a window that was not full");
        let mut shuffled = order(&Order::Shuffle, 20);
        shuffled.sort_unstable();
        assert_eq!(shuffled, (0..20).collect::<Vec<_>>());
    }
}
