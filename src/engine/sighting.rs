//! What has been seen, and whether a condition is true for a unit (rules R2, R4, R13, R22).
//!
//! Every condition looks at points from its own log, kept apart by session, so that what happened before the asking
//! began counts, and what other sessions did does not. The one rule it keeps: asking changes nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use super::bounded::Bounded;
use super::condition::{REMEMBERED, Same, Time};
use super::draw::Draw;
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::owner::{Belongs, CallId};
use super::plan::Cond;
use super::unit::{Key, Point};

/// How many sessions a log remembers.
const SESSIONS: usize = 4096;

/// Something that was seen, or a rule that acted.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    pub(super) seq: u64,
    pub(super) at: Moment,
    pub(super) key: Key,
    pub(super) exchange: Option<ExchangeId>,
    pub(super) belongs: Arc<Belongs>,
}

/// What one condition has seen.
#[derive(Debug)]
pub(super) struct Log(Bounded<u64, VecDeque<Sighting>>);

impl Default for Log {
    fn default() -> Self {
        Self(Bounded::new(SESSIONS))
    }
}

impl Log {
    pub(super) fn add(&mut self, session: u64, sighting: Sighting) {
        let seen = self.0.entry(&session, VecDeque::new);
        if seen.len() == REMEMBERED {
            seen.pop_front();
        }
        seen.push_back(sighting);
    }

    /// In the order in which they were seen, of one session or of all.
    pub(super) fn of(&self, session: Option<u64>) -> Vec<&Sighting> {
        match session {
            Some(session) => self.0.get(&session).into_iter().flatten().collect(),
            None => {
                let mut all: Vec<_> = self.0.iter().flat_map(|(_, seen)| seen).collect();
                all.sort_by_key(|sighting| sighting.seq);
                all
            }
        }
    }
}

/// What made a condition true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// Time.
    Time,
    /// This point.
    Seen(Key, u64),
    /// The end of the answer.
    End(u64),
    /// The firing of a rule.
    Fired(usize, u64),
    /// So many units are held.
    Gathered(u64),
    /// No byte for so long.
    Silence(usize, std::time::Duration),
    /// So many bytes have gone on.
    Bytes(u64, u64),
}

/// Whether a condition is true for a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Truth {
    /// Since this moment.
    Since(Moment, Cause),
    /// From this moment on.
    From(Moment),
    /// Not as far as is known.
    No,
}

impl Truth {
    fn earlier(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Since(a, _), Self::Since(b, _)) if b < a => other,
            (Self::Since(..), _) => self,
            (_, Self::Since(..)) => other,
            (Self::From(a), Self::From(b)) if b < a => other,
            (Self::From(_), _) => self,
            (Self::No, _) => other,
        }
    }

    fn at(moment: Moment, now: Moment, cause: Cause) -> Self {
        if moment <= now { Self::Since(moment, cause) } else { Self::From(moment) }
    }
}

impl Engine {
    /// Whether a condition of a rule is true for the unit in hand.
    pub(super) fn truth(&self, cond: &Cond, rule: usize, point: &Point, now: Moment) -> Truth {
        match cond {
            Cond::After(time) => {
                let after = self.drawn(rule, Some(&point.key), "plus", Some(time));
                Truth::at(point.arrived + after, now, Cause::Time)
            }
            Cond::End => match point.exchange.and_then(|id| self.exchanges.get(&id)?.server_ended) {
                Some((at, seq)) => Truth::at(at, now, Cause::End(seq)),
                None => Truth::No,
            },
            Cond::Never => Truth::No,
            Cond::Any(conds) => {
                conds.iter().map(|cond| self.truth(cond, rule, point, now)).fold(Truth::No, Truth::earlier)
            }
            Cond::Seen { watch, same, nth, next, plus } => {
                let place = usize::try_from(nth - 1).unwrap_or(usize::MAX);
                let seen = self.seen(*watch, *same, point).filter(|sighting| !next || sighting.seq > point.seq);
                seen.into_iter().nth(place).map_or(Truth::No, |sighting| {
                    let at = sighting.at + self.drawn(rule, Some(&point.key), "plus", plus.as_ref());
                    Truth::at(at, now, Cause::Seen(sighting.key.clone(), sighting.seq))
                })
            }
            Cond::Fired { rule: fired, plus } => {
                let Some(fired) = *fired else { return Truth::No };
                self.fired[fired].of(Some(point.session)).first().map_or(Truth::No, |firing| {
                    let at = firing.at + self.drawn(rule, Some(&point.key), "plus", plus.as_ref());
                    Truth::at(at, now, Cause::Fired(fired, firing.seq))
                })
            }
            Cond::Gathered(_) => match self.gathered(rule, point) {
                Some((at, seq)) => Truth::Since(at, Cause::Gathered(seq)),
                None => Truth::No,
            },
            Cond::Idle { number, time, plus } => {
                let plus = self.drawn(rule, Some(&point.key), "plus", plus.as_ref());
                self.silent_since(point).map_or(Truth::No, |since| {
                    let time = *time + plus;
                    Truth::at(since + time, now, Cause::Silence(*number, time))
                })
            }
            Cond::Bytes { number, plus } => self.has_let_go(*number, point).map_or(Truth::No, |(at, seq)| {
                let at = at + self.drawn(rule, Some(&point.key), "plus", plus.as_ref());
                Truth::at(at, now, Cause::Bytes(self.plan.sizes[*number], seq))
            }),
        }
    }

    /// When a condition that switches a rule last came true, and its place in the sequence (rule R13).
    pub(super) fn last_true(&self, cond: &Cond, rule: usize, point: &Point, now: Moment) -> Option<(Moment, u64)> {
        let latest = |sightings: Vec<&Sighting>, plus: Option<&Time>| {
            let when = |sighting: &&Sighting| {
                (sighting.at + self.drawn(rule, Some(&sighting.key), "plus", plus), sighting.seq)
            };
            sightings.iter().map(when).filter(|(at, _)| *at <= now).max()
        };
        match cond {
            Cond::After(time) => {
                let (first, seq) = self.first_of_scope(rule, point)?;
                Some((first + self.drawn(rule, None, "plus", Some(time)), seq)).filter(|(at, _)| *at <= now)
            }
            Cond::End => point.exchange.and_then(|id| self.exchanges.get(&id)?.server_ended),
            Cond::Never | Cond::Gathered(_) => None,
            Cond::Any(conds) => conds.iter().filter_map(|cond| self.last_true(cond, rule, point, now)).max(),
            Cond::Seen { watch, same, nth, next: _, plus } => {
                let skipped = usize::try_from(nth - 1).unwrap_or(usize::MAX);
                latest(self.seen(*watch, *same, point).skip(skipped).collect(), plus.as_ref())
            }
            Cond::Fired { rule: fired, plus } => latest(self.fired[(*fired)?].of(Some(point.session)), plus.as_ref()),
            Cond::Idle { number, .. } => self.last_silence(*number, point, now),
            Cond::Bytes { number, plus } => {
                let (at, seq) = self.has_let_go(*number, point)?;
                Some((at + self.drawn(rule, None, "plus", plus.as_ref()), seq)).filter(|(at, _)| *at <= now)
            }
        }
    }

    /// What a watch has seen that relates to the unit in hand.
    pub(super) fn seen<'a>(&'a self, watch: usize, same: Same, point: &'a Point) -> impl Iterator<Item = &'a Sighting> {
        let session = (same != Same::Run).then_some(point.session);
        self.seen[watch].of(session).into_iter().filter(move |sighting| related(sighting, same, point))
    }

    /// A length of time, drawn for this rule and key where it is a range.
    pub(super) fn drawn(
        &self,
        rule: usize,
        key: Option<&Key>,
        purpose: &str,
        time: Option<&Time>,
    ) -> std::time::Duration {
        match time {
            None => std::time::Duration::ZERO,
            Some(Time::Fixed(time)) => *time,
            Some(time) => {
                let key = key.map(Key::to_string).unwrap_or_default();
                Draw::new(self.seed, &self.plan.rules[rule].name, &key, purpose).time(time)
            }
        }
    }
}

/// Whether a sighting relates to the unit in hand as the condition asks.
fn related(sighting: &Sighting, same: Same, point: &Point) -> bool {
    same.joins((sighting.exchange, &sighting.belongs), (point.exchange, &point.belongs))
}

impl Same {
    /// Whether a point would relate so to the unit in hand, once it had passed on its own stream.
    pub(super) fn relates(self, point: &Point, to: &Point) -> bool {
        let joined = || self.joins((point.exchange, &point.belongs), (to.exchange, &to.belongs));
        (self == Self::Run || point.session == to.session) && joined()
    }

    /// Whether something on the first exchange, of those owners, relates so to something on the second, within its session.
    pub(super) fn joins(
        self,
        (exchange, theirs): (Option<ExchangeId>, &Belongs),
        (to, ours): (Option<ExchangeId>, &Belongs),
    ) -> bool {
        let meet = |a: &[CallId], b: &[CallId]| a.iter().any(|id| b.contains(id));
        match self {
            Self::Session | Self::Run => true,
            Self::Exchange => exchange == to,
            Self::NotExchange => exchange != to,
            Self::Owner => meet(&theirs.owners, &ours.owners),
            Self::NotOwner => !theirs.owners.is_empty() && !meet(&theirs.owners, &ours.owners),
            Self::Call => meet(&theirs.calls, &ours.calls),
        }
    }
}

impl std::ops::Add<std::time::Duration> for Moment {
    type Output = Self;

    fn add(self, time: std::time::Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}
