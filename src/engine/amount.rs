//! How many bytes of an answer's body have gone on to the client (condition `bytes`), and the cut that falls exactly
//! there.
//!
//! Bytes are counted when they are let go, as they are sent: after every rule. The one rule it keeps: where a cut waits for
//! so many bytes, not one more is let go.

use bytes::Bytes;

use super::engine::Engine;
use super::event::{ExchangeId, Inside, Mark, Moment, UnitId};
use super::fault::Fault;
use super::leave::Job;
use super::plan::Cond;
use super::record::PointFate;
use super::unit::{ArmedCut, Point};

/// How much of a body has gone on.
#[derive(Debug, Default)]
pub(super) struct Amount {
    sent: u64,
    /// For each size of the plan that was reached: when, and its place in the sequence.
    reached: Vec<(usize, Moment, u64)>,
}

impl Cond {
    /// At how many bytes a cut that waits for this falls exactly.
    fn exact(&self, sizes: &[u64]) -> Option<u64> {
        match self {
            Self::Bytes { number, plus: None } => Some(sizes[*number]),
            Self::Any(conds) => conds.iter().filter_map(|cond| cond.exact(sizes)).min(),
            Self::After(_)
            | Self::End
            | Self::Never
            | Self::Seen { .. }
            | Self::Fired { .. }
            | Self::Gathered(_)
            | Self::Idle { .. }
            | Self::Bytes { .. } => None,
        }
    }
}

impl Engine {
    /// Since when so much of the body of a unit's exchange has gone on.
    pub(super) fn has_let_go(&self, number: usize, point: &Point) -> Option<(Moment, u64)> {
        let amount = &self.exchanges.get(&point.exchange?)?.amount;
        if self.plan.sizes[number] == 0 {
            return Some((point.arrived, point.seq));
        }
        amount.reached.iter().find(|(known, _, _)| *known == number).map(|(_, at, seq)| (*at, *seq))
    }

    /// Writes bytes of a body to the client with the units that end in them, up to where a cut falls.
    /// Returns the last of these units, unless it was cut.
    pub(super) fn write_up_to_cut(
        &mut self,
        now: Moment,
        id: ExchangeId,
        bytes: Bytes,
        points: Vec<(usize, Point)>,
    ) -> Option<UnitId> {
        let Some((cut, end)) = self.cut_within(id, bytes.len()) else {
            self.count(now, id, bytes.len());
            let marks = self.marks(id, points);
            let last = marks.last().map(|mark| mark.unit);
            self.write(id, bytes, marks);
            return last;
        };
        let (passing, stopped): (Vec<_>, Vec<_>) = points.into_iter().partition(|(at, _)| *at <= end);
        let whole = passing.last().map_or(0, |(at, _)| *at);
        let next = stopped.first().map_or(bytes.len(), |(at, _)| *at);
        self.count(now, id, end);
        if whole > 0 {
            let marks = self.marks(id, passing);
            self.write(id, bytes.slice(..whole), marks);
        }
        let inside = (whole < end).then(|| Inside { part: bytes.slice(whole..end), whole: next - whole });
        let block = stopped.first().filter(|_| inside.is_some()).map(|(_, point)| point.clone());
        for (place, (_, mut point)) in stopped.into_iter().enumerate() {
            point.bytes = if place == 0 { (end - whole) as u64 } else { 0 };
            self.write_point(&point, PointFate::Cut, None, None);
        }
        self.strike(now, id, cut.rule, block.as_ref().unwrap_or(&cut.point), inside);
        if end < bytes.len() {
            self.cut_is_seen(id);
        }
        None
    }

    fn marks(&mut self, id: ExchangeId, points: Vec<(usize, Point)>) -> Vec<Mark> {
        let mark = |(end, point)| Mark { end, unit: self.fly(id, vec![(end, point)], Job::Write) };
        points.into_iter().map(mark).collect()
    }

    /// The first cut that falls within the next bytes of a body, and after how many of them.
    fn cut_within(&self, id: ExchangeId, len: usize) -> Option<(ArmedCut, usize)> {
        let exchange = self.exchanges.get(&id)?;
        let place = |cut: &ArmedCut| {
            let armed = &self.plan.rules[cut.rule];
            let size =
                armed.gate.as_ref().filter(|_| matches!(armed.rule.fault, Fault::Cut(_)))?.exact(&self.plan.sizes)?;
            usize::try_from(size.saturating_sub(exchange.amount.sent)).ok().filter(|place| *place <= len)
        };
        let cuts = exchange.cuts.iter().filter_map(|cut| Some((cut.clone(), place(cut)?)));
        cuts.min_by_key(|(_, place)| *place)
    }

    fn count(&mut self, now: Moment, id: ExchangeId, bytes: usize) {
        if self.plan.sizes.is_empty() {
            return;
        }
        let (seq, sizes) = (self.seq, std::sync::Arc::clone(&self.plan));
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let before = exchange.amount.sent;
        let sent = before + bytes as u64;
        exchange.amount.sent = sent;
        for (number, _) in sizes.sizes.iter().enumerate().filter(|(_, size)| before < **size && **size <= sent) {
            exchange.amount.reached.push((number, now, seq));
            self.news = true;
        }
    }
}
