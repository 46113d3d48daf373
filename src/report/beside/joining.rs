//! Which exchange before a gateway is which behind it: by trace context, else by session, method and id, else by session,
//! method and order.
//!
//! The one rule: a pair needs a reason that both journals hold. What has none is on one side only.

use std::collections::{BTreeMap, VecDeque};

use super::Side;
use crate::engine::record::PointEntry;
use crate::report::parts::Parts;
use crate::report::timeline::labels::exchange_of;

/// An exchange of one side.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) side: Side,
    /// Its points, in order of arrival.
    pub(super) points: Vec<&'a PointEntry>,
}

/// The exchanges of both sides.
#[derive(Debug)]
pub(super) struct Joined<'a> {
    /// Before and behind.
    pub(super) pairs: Vec<[Seen<'a>; 2]>,
    /// On one side only.
    pub(super) alone: Vec<Seen<'a>>,
    traced: usize,
}

impl<'a> Joined<'a> {
    pub(super) fn of([before, behind]: [&Parts<'a>; 2]) -> Self {
        let mut left = [exchanges(Side::Before, before), exchanges(Side::Behind, behind)];
        let mut pairs = Vec::new();
        pair(&mut left, &mut pairs, |seen| trace(seen).map(|trace| format!("{trace} {}", method(seen))));
        let traced = pairs.len();
        pair(&mut left, &mut pairs, |seen| Some(format!("{} {} {}", session(seen), method(seen), id(seen)?)));
        pair(&mut left, &mut pairs, |seen| Some(format!("{} {}", session(seen), method(seen))));
        Self { pairs, alone: left.into_iter().flatten().collect(), traced }
    }

    /// How many exchanges are on both sides.
    pub(super) fn number(&self) -> u64 {
        u64::try_from(self.pairs.len()).unwrap_or(u64::MAX)
    }

    /// How many of them were found by their trace context.
    pub(super) fn by_trace(&self) -> usize {
        self.traced
    }
}

/// Every exchange that a client began, in order.
fn exchanges<'a>(side: Side, parts: &Parts<'a>) -> Vec<Seen<'a>> {
    let mut all: BTreeMap<&str, Vec<&PointEntry>> = BTreeMap::new();
    for point in parts.points() {
        if point.maker.is_none() && !matches!(point.point.as_str(), "connect" | "request-head") {
            all.entry(exchange_of(&point.key)).or_default().push(point);
        }
    }
    let mut all: Vec<_> = all.into_values().map(|points| Seen { side, points }).collect();
    all.retain(|seen| request(seen).is_some());
    all.sort_by_key(|seen| seen.points[0].seq);
    all
}

/// Pairs what has the same name on both sides, the first with the first.
fn pair<'a>(left: &mut [Vec<Seen<'a>>; 2], pairs: &mut Vec<[Seen<'a>; 2]>, name: impl Fn(&Seen<'a>) -> Option<String>) {
    let [before, behind] = std::mem::take(left);
    let mut waiting: BTreeMap<String, VecDeque<Seen<'a>>> = BTreeMap::new();
    for seen in behind {
        match name(&seen) {
            Some(name) => waiting.entry(name).or_default().push_back(seen),
            None => left[1].push(seen),
        }
    }
    for seen in before {
        match name(&seen).and_then(|name| waiting.get_mut(&name)?.pop_front()) {
            Some(other) => pairs.push([seen, other]),
            None => left[0].push(seen),
        }
    }
    left[1].extend(waiting.into_values().flatten());
    left[1].sort_by_key(|seen| seen.points[0].seq);
}

fn request<'a>(seen: &Seen<'a>) -> Option<&'a PointEntry> {
    seen.points.iter().find(|point| point.point == "request").copied()
}

/// The trace's own part of a `traceparent` (W3C Trace Context: version, trace, parent, flags): the part that a gateway keeps.
fn trace<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    let request = request(seen)?;
    let header = request.headers.iter().find(|(name, _)| name == "traceparent").map(|(_, value)| value.as_str());
    let parent = header.or_else(|| request.rpc.first()?.trace.as_deref())?;
    parent.split('-').nth(1)
}

fn session(seen: &Seen<'_>) -> u64 {
    seen.points.iter().find_map(|point| point.session).unwrap_or(0)
}

/// What is asked for: the method of its message, else that of HTTP and its kind of stream.
fn method(seen: &Seen<'_>) -> String {
    let Some(request) = request(seen) else { return String::new() };
    let message = request.rpc.first().map(|rpc| format!("{} {}", rpc.kind, rpc.method.as_deref().unwrap_or_default()));
    message.unwrap_or_else(|| request.stream.clone().unwrap_or_default())
}

fn id(seen: &Seen<'_>) -> Option<String> {
    request(seen)?.rpc.first()?.id.as_ref().map(ToString::to_string)
}
