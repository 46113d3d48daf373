//! What differs between the two sides: an exchange, a message, a status or an end that only one of them saw.

use std::collections::{BTreeMap, VecDeque};

use super::Side;
use super::joining::{Joined, Seen};
use crate::engine::record::PointEntry;

/// The marks, by side and the place of arrival of the point.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: BTreeMap<(Side, u64), String>,
    only: [u64; 2],
}

impl Marks {
    pub(super) fn of(joined: &Joined<'_>) -> Self {
        let mut marks = Self::default();
        let mut strays: [Vec<&PointEntry>; 2] = [Vec::new(), Vec::new()];
        for pair in &joined.pairs {
            marks.compare(pair, &mut strays);
        }
        for seen in &joined.alone {
            marks.alone(seen);
        }
        marks.stray(strays);
        marks
    }

    pub(super) fn at(&self, side: Side, seq: u64) -> Option<&str> {
        self.marks.get(&(side, seq)).map(String::as_str)
    }

    /// How many things only this side saw.
    pub(super) fn only(&self, side: Side) -> u64 {
        self.only[side as usize]
    }

    pub(super) fn differences(&self) -> u64 {
        u64::try_from(self.marks.len()).unwrap_or(u64::MAX)
    }

    fn mark(&mut self, side: Side, point: &PointEntry, text: String) {
        self.marks.insert((side, point.seq), text);
    }

    fn only_here(&mut self, side: Side, point: &PointEntry) {
        self.only[side as usize] += 1;
        self.mark(side, point, format!("only {}", side.word()));
    }

    /// The points of an exchange that is on both sides. Messages without a counterpart are strays: the gateway may have sent
    /// them on another stream.
    fn compare<'a>(&mut self, [before, behind]: &[Seen<'a>; 2], strays: &mut [Vec<&'a PointEntry>; 2]) {
        let (pairs, left) = paired(&before.points, &behind.points, place);
        for (here, there) in pairs {
            self.differ(here, there);
        }
        for (side, points) in [Side::Before, Side::Behind].into_iter().zip(left) {
            for point in points {
                if point.point == "block" && !point.rpc.is_empty() {
                    strays[side as usize].push(point);
                } else {
                    self.only_here(side, point);
                }
            }
        }
    }

    /// A status or an ending that the other side saw otherwise: what came to the first proxy is what left the second.
    fn differ(&mut self, before: &PointEntry, behind: &PointEntry) {
        let sent = behind.made_status.or(behind.status);
        if let (Some(came), Some(sent)) = (before.status, sent.filter(|sent| before.status != Some(*sent))) {
            self.mark(Side::Before, before, format!("{came} here, {sent} behind"));
        }
        let ended = behind.made.as_ref().or(behind.ending.as_ref());
        if let (Some(came), Some(sent)) = (&before.ending, ended.filter(|sent| before.ending.as_ref() != Some(sent))) {
            self.mark(Side::Before, before, format!("{came} here, {sent} behind"));
        }
    }

    fn alone(&mut self, seen: &Seen<'_>) {
        let Some(request) = seen.points.first() else { return };
        self.only[seen.side as usize] += 1;
        self.mark(seen.side, request, format!("only {}: the exchange and all of it", seen.side.word()));
    }

    /// Messages that left the stream they came on: on another one of the other side, or nowhere.
    fn stray(&mut self, [before, behind]: [Vec<&PointEntry>; 2]) {
        let (pairs, left) = paired(&before, &behind, |point| format!("{:?} {:?}", point.session, point.rpc));
        for (here, there) in pairs {
            self.mark(Side::Before, here, format!("on another stream behind: {}", there.key));
            self.mark(Side::Behind, there, format!("on another stream before: {}", here.key));
        }
        for (side, points) in [Side::Before, Side::Behind].into_iter().zip(left) {
            points.into_iter().for_each(|point| self.only_here(side, point));
        }
    }
}

/// What a point is within its exchange, as far as a gateway lets it be.
fn place(point: &PointEntry) -> String {
    let messages: Vec<_> = point.rpc.iter().map(|rpc| (&rpc.kind, &rpc.method)).collect();
    let kind = point.block.as_deref().unwrap_or_default();
    format!("{} {kind} {messages:?}", point.point)
}

type Points<'a> = Vec<&'a PointEntry>;

/// Points of the same name, the first with the first; and those that are left.
fn paired<'a>(
    before: &[&'a PointEntry],
    behind: &[&'a PointEntry],
    name: impl Fn(&PointEntry) -> String,
) -> (Vec<(&'a PointEntry, &'a PointEntry)>, [Points<'a>; 2]) {
    let mut waiting: BTreeMap<String, VecDeque<&PointEntry>> = BTreeMap::new();
    for point in behind {
        waiting.entry(name(point)).or_default().push_back(point);
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for point in before {
        match waiting.get_mut(&name(point)).and_then(VecDeque::pop_front) {
            Some(other) => pairs.push((*point, other)),
            None => alone.push(*point),
        }
    }
    (pairs, [alone, waiting.into_values().flatten().collect()])
}
