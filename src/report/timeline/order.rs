//! Which points need two rows, because one would show an order of leaving that was not, and what each waited behind.
//!
//! The one rule: of two rows that show a leaving, the one above left first.

use std::collections::BTreeSet;

use super::describe::place;
use super::labels::exchange_of;
use crate::engine::record::{PointEntry, PointFate};

/// The order in which points left.
#[derive(Debug)]
pub(super) struct Order {
    /// The places of arrival of the points that are drawn where they came and where they left.
    apart: BTreeSet<u64>,
}

impl Order {
    /// Finds the points that left after something that is drawn below their arrival, until there are no more.
    pub(super) fn of(points: &[&PointEntry]) -> Self {
        let mut apart = BTreeSet::new();
        let from_nowhere = points.iter().filter(|point| comes_from_nowhere(point));
        let mut leavings: BTreeSet<u64> = from_nowhere.filter_map(|point| point.left_seq).collect();
        loop {
            let known = apart.len();
            for point in points.iter().filter(|point| !made_here(point)) {
                let Some(left) = point.left_seq.or(point.by) else { continue };
                let arrives = point.maker.is_none() && point.seq < left;
                let between = arrives && leavings.range(point.seq + 1..left).next().is_some();
                if (was_held(point) || between) && apart.insert(point.seq) {
                    leavings.insert(left);
                }
            }
            if apart.len() == known {
                return Self { apart };
            }
        }
    }

    /// Whether a point is drawn where it came and where it left.
    pub(super) fn is_apart(&self, point: &PointEntry) -> bool {
        self.apart.contains(&point.seq)
    }
}

/// Whether a point is an end that the proxy made, which arrived from nowhere.
pub(super) fn made_here(point: &PointEntry) -> bool {
    point.point == "end" && point.ending.is_none()
}

/// Whether it never arrived: an end that the proxy made, or what a rule made. It is drawn where it left.
pub(super) fn comes_from_nowhere(point: &PointEntry) -> bool {
    made_here(point) || point.maker.is_some()
}

/// Whether an event other than its own arrival let a point go, or it left as something else than it came.
fn was_held(point: &PointEntry) -> bool {
    let remade = point.ending.is_some() && point.made.is_some();
    point.left.is_some() && (point.by != Some(point.seq) || point.left_on.is_some() || remade)
}

/// What a point that no rule held waits behind on its own stream: the last to leave of those that a rule held.
pub(super) fn behind(points: &[&PointEntry], point: &PointEntry) -> Option<String> {
    let last = |left: Option<u64>| left.unwrap_or(u64::MAX);
    let ahead = points.iter().filter(|other| {
        exchange_of(&other.key) == exchange_of(&point.key)
            && (other.dir == point.dir && other.seq < point.seq && other.left_on.is_none())
            && matches!(other.fate, PointFate::Passed | PointFate::Gone | PointFate::Withheld)
            && (!other.rules.is_empty() && other.by != Some(other.seq))
            && (point.seq..=last(point.left_seq)).contains(&last(other.left_seq))
    });
    // Of several that never left, the first is what the others wait behind too.
    ahead.rev().max_by_key(|other| last(other.left_seq)).map(|other| place(other))
}
