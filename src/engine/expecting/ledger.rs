//! The windows of one expectation and what has been seen in each, and how often it was met.
//!
//! The one rule it keeps: memory is bounded, and what was not followed for that reason is counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::checks::Finding;
use crate::engine::bounded::Bounded;
use crate::engine::condition::Same;
use crate::engine::decide::micros;
use crate::engine::event::Moment;
use crate::engine::expectation::{Expectation, FOLLOWED, What};
use crate::engine::language::expected;
use crate::engine::record::{ExpectationEntry, ExpectationTally, SawEntry};
use crate::engine::sighting::Sighting;
use crate::engine::trigger::Scope;

/// How many of the things seen in a window are named.
const NAMED: usize = 3;
/// How many failures are kept for the verdict; of more only the number is.
const FAILURES: usize = 100;
/// In how many sessions points are counted, for each opening that asks for the k-th.
const SESSIONS: usize = 4096;

/// A time in which something is to be seen.
#[derive(Debug)]
pub(super) struct Window {
    /// What made `after` true; none: its scope began.
    since: Option<Sighting>,
    /// Whether a rule's firing did: then its own point does not count on its way either.
    by_rule: bool,
    session: u64,
    /// The key of the stream on which `after` came true.
    trail: Option<Arc<str>>,
    from: Moment,
    until: Option<Moment>,
    seen: u64,
    saw: VecDeque<SawEntry>,
    /// With `per`: when the latest were seen.
    recent: VecDeque<Moment>,
    what: Option<String>,
}

/// What a window has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Met,
    Missed,
}

/// One expectation's windows and sums.
#[derive(Debug)]
pub(super) struct Ledger {
    windows: VecDeque<Window>,
    /// The latest scope that has begun: sessions are numbered as they begin.
    begun: Option<u64>,
    /// How often each opening was seen, in each session.
    opened: Vec<Bounded<u64, u64>>,
    pub(super) tally: ExpectationTally,
    /// Failures that are not in the journal yet.
    told: Vec<ExpectationEntry>,
}

// === Window ===

impl Window {
    /// One that opens with its scope.
    pub(super) fn of_scope(expectation: &Expectation, first: &Sighting, later: Duration) -> Self {
        let session = if expectation.scope == Scope::Run { 0 } else { first.key.session };
        Self::from(expectation, None, session, first.at + later)
    }

    /// One that this has opened.
    pub(super) fn after(expectation: &Expectation, since: &Sighting, later: Duration) -> Self {
        Self::from(expectation, Some(since.clone()), since.key.session, since.at + later)
    }

    fn from(expectation: &Expectation, since: Option<Sighting>, session: u64, from: Moment) -> Self {
        Self {
            since,
            by_rule: false,
            session,
            trail: None,
            from,
            until: expectation.within.map(|within| from + within),
            seen: 0,
            saw: VecDeque::new(),
            recent: VecDeque::new(),
            what: None,
        }
    }

    /// The same, opened by a rule's firing.
    pub(super) fn by_rule(self) -> Self {
        Self { by_rule: true, ..self }
    }

    /// The same, opened on this stream.
    pub(super) fn on(self, trail: Option<Arc<str>>) -> Self {
        Self { trail, ..self }
    }

    /// The last moment that counts.
    pub(super) fn until(&self) -> Option<Moment> {
        self.until
    }

    /// Whether what was seen relates so to what opened it.
    pub(super) fn relates(&self, same: Same, seen: &Sighting) -> bool {
        let joined = self
            .since
            .as_ref()
            .is_none_or(|since| same.joins((seen.exchange, &seen.belongs), (since.exchange, &since.belongs)));
        (same == Same::Run || seen.key.session == self.session) && joined
    }

    /// Whether it was opened on this stream; one that was opened on none is on every stream.
    pub(super) fn is_on(&self, trail: Option<&Arc<str>>) -> bool {
        self.trail.is_none() || self.trail.as_ref() == trail
    }

    fn takes(&self, seen: &Sighting) -> bool {
        let own = self.by_rule && self.since.as_ref().is_some_and(|since| since.key == seen.key);
        !own && self.from <= seen.at && self.until.is_none_or(|until| seen.at <= until)
    }

    fn add(&mut self, expectation: &Expectation, seen: &Sighting) -> State {
        self.seen += 1;
        self.saw.push_back(SawEntry { key: seen.key.to_string(), at: micros(seen.at) });
        if self.saw.len() > NAMED {
            self.saw.pop_front();
        }
        if let Some(per) = expectation.per {
            self.recent.push_back(seen.at);
            while self.recent.front().is_some_and(|first| *first + per < seen.at) {
                self.recent.pop_front();
            }
        }
        let most = expectation.count.most();
        let number = if expectation.per.is_some() { self.recent.len() as u64 } else { self.seen };
        match most {
            Some(most) if number > most => {
                self.seen = number;
                State::Missed
            }
            None if self.is_met(expectation) => State::Met,
            Some(_) | None => State::Open,
        }
    }

    /// Whether it would be met if nothing more came.
    fn is_met(&self, expectation: &Expectation) -> bool {
        self.seen >= expectation.count.least()
    }
}

// === Ledger ===

impl Ledger {
    pub(super) fn new(expectation: &Expectation) -> Self {
        let tally = ExpectationTally {
            name: expectation.name.clone(),
            expected: expected::wanted(expectation),
            after: expected::after(expectation),
            waits_for: expectation.waits_for(),
            optional: expectation.optional,
            ..ExpectationTally::default()
        };
        let opened = expectation.after.iter().map(|_| Bounded::new(SESSIONS)).collect();
        Self { windows: VecDeque::new(), begun: None, opened, tally, told: Vec::new() }
    }

    /// Whether the scope of what was seen begins with it. What belongs to no session begins none.
    pub(super) fn begins(&mut self, expectation: &Expectation, seen: &Sighting) -> bool {
        let scope = if expectation.scope == Scope::Run { 0 } else { seen.key.session };
        let new = self.begun.is_none_or(|begun| scope > begun) && (scope > 0 || expectation.scope == Scope::Run);
        if new {
            self.begun = Some(scope);
        }
        new
    }

    /// What opens a window was seen; how often, with this time, in the session.
    pub(super) fn opened(&mut self, opening: usize, session: u64) -> u64 {
        let count = self.opened[opening].entry(&session, || 0);
        *count += 1;
        *count
    }

    pub(super) fn open(&mut self, expectation: &Expectation, window: Window) {
        if self.windows.len() >= FOLLOWED {
            self.tally.unfollowed += 1;
            let Some(met) = self.windows.iter().position(|window| window.is_met(expectation)) else { return };
            self.windows.remove(met);
        }
        self.windows.push_back(window);
    }

    /// Something was seen that counts in these windows.
    pub(super) fn count(&mut self, expectation: &Expectation, seen: &Sighting, fits: impl Fn(&Window) -> bool) {
        let mut place = 0;
        while let Some(window) = self.windows.get_mut(place) {
            let state = if window.takes(seen) && fits(window) { window.add(expectation, seen) } else { State::Open };
            if state == State::Open {
                place += 1;
            } else {
                self.close(place, state, (seen.at, seen.seq));
            }
        }
    }

    /// Something was seen that would count in these windows if it were not wrong.
    pub(super) fn remark(&mut self, seen: &Sighting, wrong: &str, fits: impl Fn(&Window) -> bool) {
        for window in self.windows.iter_mut().filter(|window| window.takes(seen) && fits(window)) {
            window.what = Some(wrong.to_owned());
            window.saw = VecDeque::from([SawEntry { key: seen.key.to_string(), at: micros(seen.at) }]);
        }
    }

    /// These windows are over.
    pub(super) fn end(&mut self, expectation: &Expectation, stamp: (Moment, u64), over: impl Fn(&Window) -> bool) {
        let mut place = 0;
        while let Some(window) = self.windows.get(place) {
            match (over(window), window.is_met(expectation)) {
                (false, _) => place += 1,
                (true, true) => self.close(place, State::Met, stamp),
                (true, false) => self.close(place, State::Missed, stamp),
            }
        }
    }

    fn close(&mut self, place: usize, state: State, stamp: (Moment, u64)) {
        let Some(window) = self.windows.remove(place) else { return };
        self.tally.checked += 1;
        if state == State::Missed {
            let entry = ExpectationEntry {
                after: window.since.as_ref().map(|since| since.key.to_string()),
                session: Some(window.session).filter(|session| *session != 0),
                since: micros(window.from),
                seen: window.seen,
                saw: window.saw.into(),
                what: window.what,
                ..ExpectationEntry::default()
            };
            self.fail(entry, stamp);
        }
    }

    /// What the checks have found in what was seen.
    pub(super) fn find(&mut self, expectation: &Expectation, seen: &Sighting, found: &[Finding]) {
        let What::Check(check) = expectation.what else { return };
        for finding in found.iter().filter(|finding| finding.check == check) {
            self.found((seen.at, seen.seq), finding.clone());
        }
    }

    pub(super) fn found(&mut self, stamp: (Moment, u64), Finding { check: _, keys, wrong }: Finding) {
        self.tally.checked += 1;
        if wrong.is_some() {
            let at = micros(stamp.0);
            let seen = keys.len() as u64;
            let saw = keys.into_iter().take(NAMED).map(|key| SawEntry { key, at }).collect();
            self.fail(ExpectationEntry { since: at, seen, saw, what: wrong, ..ExpectationEntry::default() }, stamp);
        }
    }

    fn fail(&mut self, entry: ExpectationEntry, stamp: (Moment, u64)) {
        let entry = ExpectationEntry { seq: stamp.1, at: micros(stamp.0), name: self.tally.name.clone(), ..entry };
        self.tally.failed += 1;
        if self.tally.failures.len() < FAILURES {
            self.tally.failures.push(entry.clone());
        }
        self.told.push(entry);
    }

    /// It cannot be judged.
    pub(super) fn void(&mut self, why: &str) {
        self.windows.clear();
        self.tally.void = Some(why.to_owned());
    }

    /// When the first window is over.
    pub(super) fn due(&self) -> Option<Moment> {
        self.windows.iter().filter_map(Window::until).min()
    }

    pub(super) fn take_told(&mut self) -> Vec<ExpectationEntry> {
        std::mem::take(&mut self.told)
    }
}
