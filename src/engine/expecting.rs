//! Expectations, counted: windows open when `after` comes true, what is seen falls into them, and they are judged as soon
//! as they are decided (rules R2, R33, R34).
//!
//! The one rule it keeps: nothing waits for an expectation, no timer either. A window is over when something happens after
//! its time, or the run ends.

mod checks;
mod ledger;

use std::sync::Arc;
use std::time::Duration;

use super::condition::{Leg, Same, Time};
use super::draw::Draw;
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::exchange::ServerLeg;
use super::expectation::{Check, Expectation, Opening, What};
use super::plan::{Plan, Sel};
use super::record::{Entry, ExpectationTally};
use super::selector::{At, Stream};
use super::sighting::Sighting;
use super::trigger::Scope;
use super::unit::{Key, Point};
use checks::{Checks, Finding};
use ledger::{Ledger, Window};

/// An expectation, and what it looks at.
#[derive(Debug)]
pub(super) struct Awaited {
    expectation: Expectation,
    wanted: Vec<(Sel, Leg, Same)>,
    /// The rule whose firings are counted.
    fired: Option<usize>,
    opens: Vec<Opens>,
}

/// What opens a window.
#[derive(Debug)]
enum Opens {
    Time(Time),
    Seen { sel: Box<Sel>, leg: Leg, nth: Option<u64>, across: bool, plus: Option<Time> },
    Fired { rule: Option<usize>, plus: Option<Time> },
    Leave,
}

/// What has been seen of what must be.
#[derive(Debug, Default)]
pub(super) struct Expecting {
    ledgers: Vec<Ledger>,
    checks: Checks,
    /// When the first of the open windows is over.
    due: Option<Moment>,
    /// Whether the command has ended.
    exited: bool,
}

// === Prepared ===

impl Plan {
    /// Prepares an expectation; what it asks of bodies they are read for.
    pub(super) fn awaited(&mut self, expectation: Expectation, names: &[String]) -> Awaited {
        let place = |rule: &String| names.iter().position(|name| name == rule);
        let wanted = match &expectation.what {
            What::Points(wanted) => wanted.clone(),
            What::Fired(_) | What::Exit | What::Resumed | What::Check(_) | What::Requests(_) => Vec::new(),
        };
        let wanted = wanted.into_iter().map(|it| (self.looked_for(&it.selector, it.same), it.leg, it.same)).collect();
        let fired = if let What::Fired(rule) = &expectation.what { place(rule) } else { None };
        self.looks_inside |= matches!(expectation.what, What::Resumed | What::Check(Check::ResumeId));
        let opens = |opening: &Opening| match opening {
            Opening::Time(time) => Opens::Time(*time),
            Opening::Fired { rule, plus } => Opens::Fired { rule: place(rule), plus: *plus },
            Opening::Leave => Opens::Leave,
            Opening::Seen(seen) => Opens::Seen {
                sel: Box::new(self.looked_for(&seen.selector, Same::Session)),
                leg: seen.leg,
                nth: seen.nth,
                across: seen.across,
                plus: seen.plus,
            },
        };
        let opens = expectation.after.iter().map(opens).collect();
        Awaited { wanted, fired, opens, expectation }
    }

    fn looked_for(&mut self, selector: &super::selector::Selector, same: Same) -> Sel {
        self.looks_inside |= matches!(same, Same::Call | Same::Owner | Same::NotOwner);
        self.asks_for_ends |= selector.at == At::End;
        self.sel(selector)
    }
}

impl Awaited {
    /// The selectors it looks through.
    pub(super) fn sels(&self) -> impl Iterator<Item = &Sel> {
        let opens = self.opens.iter().filter_map(|opens| match opens {
            Opens::Seen { sel, .. } => Some(&**sel),
            Opens::Time(_) | Opens::Fired { .. } | Opens::Leave => None,
        });
        self.wanted.iter().map(|(sel, _, _)| sel).chain(opens)
    }

    /// Whether its windows open with the scope, and how much later each.
    fn with_scope(&self) -> Vec<Option<Time>> {
        if self.opens.is_empty() {
            return vec![None];
        }
        let time = |opens: &Opens| if let Opens::Time(time) = opens { Some(Some(*time)) } else { None };
        self.opens.iter().filter_map(time).collect()
    }
}

impl Expecting {
    pub(super) fn new(plan: &Plan) -> Self {
        let asked = |check: Check| {
            plan.expected.iter().any(|it| match it.expectation.what {
                What::Check(asked) => asked == check,
                What::Resumed => check == Check::ResumeId,
                What::Points(_) | What::Fired(_) | What::Exit | What::Requests(_) => false,
            })
        };
        Self {
            ledgers: plan.expected.iter().map(|it| Ledger::new(&it.expectation)).collect(),
            checks: Checks::of(asked),
            due: None,
            exited: false,
        }
    }

    /// How it stands.
    pub(super) fn tallies(&self) -> Vec<ExpectationTally> {
        self.ledgers.iter().map(|ledger| ledger.tally.clone()).collect()
    }

    fn open(&mut self, number: usize, expectation: &Expectation, window: Window) {
        if let Some(until) = window.until() {
            self.due = Some(self.due.map_or(until, |due| due.min(until)));
        }
        self.ledgers[number].open(expectation, window);
    }
}

// === Seen ===

impl Engine {
    /// A point was seen on a leg: it falls into the windows that are open, then it may open others.
    pub(super) fn expect_point(&mut self, stamp: (Moment, u64), leg: Leg, point: &Point, on: Option<ExchangeId>) {
        if self.plan.expected.is_empty() {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let mut expecting = std::mem::take(&mut self.expecting);
        let sighting = Sighting {
            seq: stamp.1,
            at: stamp.0,
            key: point.key.clone(),
            exchange: on,
            belongs: Arc::clone(&point.belongs),
        };
        let found = self.look_after(&mut expecting.checks, leg, point, on);
        for (number, awaited) in plan.expected.iter().enumerate() {
            self.begin_scope(&mut expecting, number, awaited, &sighting);
            self.count_point(&mut expecting, number, awaited, (leg, point, on), &sighting);
            expecting.ledgers[number].find(&awaited.expectation, &sighting, &found);
            self.open_windows(&mut expecting, number, awaited, (leg, point, on), &sighting);
        }
        self.expecting = expecting;
        self.write_failures();
    }

    /// A rule has acted.
    pub(super) fn expect_firing(&mut self, rule: usize, firing: &Sighting) {
        if self.plan.expected.is_empty() {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let mut expecting = std::mem::take(&mut self.expecting);
        for (number, awaited) in plan.expected.iter().enumerate() {
            let expectation = &awaited.expectation;
            if awaited.fired == Some(rule) {
                let same = if expectation.scope == Scope::Run { Same::Run } else { Same::Session };
                expecting.ledgers[number].count(expectation, firing, |window| window.relates(same, firing));
            }
            for opens in &awaited.opens {
                if let Opens::Fired { rule: Some(fired), plus } = opens
                    && *fired == rule
                {
                    let later = self.later(expectation, Some(&firing.key), plus.as_ref());
                    let window = Window::after(expectation, firing, later).by_rule();
                    let window = window.on(self.trail_of(firing.exchange));
                    expecting.open(number, expectation, window);
                }
            }
        }
        self.expecting = expecting;
        self.write_failures();
    }

    /// The scope of an expectation begins with the first that is seen in it.
    fn begin_scope(&self, expecting: &mut Expecting, number: usize, awaited: &Awaited, sighting: &Sighting) {
        let expectation = &awaited.expectation;
        if matches!(expectation.what, What::Check(_) | What::Requests(_))
            || !expecting.ledgers[number].begins(expectation, sighting)
        {
            return;
        }
        for time in awaited.with_scope() {
            let later = self.later(expectation, None, time.as_ref());
            expecting.open(number, expectation, Window::of_scope(expectation, sighting, later));
        }
    }

    fn count_point(
        &self,
        expecting: &mut Expecting,
        number: usize,
        awaited: &Awaited,
        (leg, point, on): (Leg, &Point, Option<ExchangeId>),
        sighting: &Sighting,
    ) {
        let ledger = &mut expecting.ledgers[number];
        let meant =
            |(sel, wanted, same): &(Sel, Leg, Same)| (*wanted == leg && self.selects(sel, point, on)).then_some(*same);
        let sames: Vec<Same> = awaited.wanted.iter().filter_map(meant).collect();
        if !sames.is_empty() {
            let related = |window: &Window| sames.iter().any(|same| window.relates(*same, sighting));
            ledger.count(&awaited.expectation, sighting, related);
        }
        let resumes = point.at == At::Request && leg == Leg::Client && point.stream == Some(Stream::Resume);
        if awaited.expectation.what == What::Resumed && resumes {
            let trail = self.trail_of(on);
            let near = |window: &Window| window.relates(Same::Session, sighting);
            let known = on.and_then(|id| self.exchanges.get(&id)).is_some_and(|exchange| exchange.origin_known);
            match self.resume_id(&expecting.checks, on) {
                Ok(()) => ledger.count(&awaited.expectation, sighting, |it| near(it) && it.is_on(trail.as_ref())),
                // What names no known stream may be meant for this one.
                Err(why) => ledger.remark(sighting, &why, |it| near(it) && (!known || it.is_on(trail.as_ref()))),
            }
        }
    }

    fn open_windows(
        &self,
        expecting: &mut Expecting,
        number: usize,
        awaited: &Awaited,
        (leg, point, on): (Leg, &Point, Option<ExchangeId>),
        sighting: &Sighting,
    ) {
        let expectation = &awaited.expectation;
        for (place, opens) in awaited.opens.iter().enumerate() {
            let plus = match opens {
                Opens::Seen { sel, leg: wanted, nth, across, plus }
                    if *wanted == leg && self.selects(sel, point, on) =>
                {
                    let session = if *across { 0 } else { sighting.key.session };
                    let count = expecting.ledgers[number].opened(place, session);
                    if nth.is_some_and(|nth| nth != count) {
                        continue;
                    }
                    plus.as_ref()
                }
                Opens::Leave if leg == Leg::Client && self.leaves_a_server(point, on) => None,
                Opens::Seen { .. } | Opens::Time(_) | Opens::Fired { .. } | Opens::Leave => continue,
            };
            let later = self.later(expectation, Some(&sighting.key), plus);
            let window = Window::after(expectation, sighting, later).on(self.trail_of(on));
            expecting.open(number, expectation, window);
        }
    }

    /// Whether a client leaves while the server's leg is there, and nothing keeps that open on purpose.
    fn leaves_a_server(&self, point: &Point, on: Option<ExchangeId>) -> bool {
        let exchange = on.and_then(|id| self.exchanges.get(&id)).filter(|_| point.at == At::Leave);
        exchange.is_some_and(|exchange| exchange.server == ServerLeg::Open && exchange.kept.is_none())
    }

    /// The key of the stream that an exchange is, or continues.
    fn trail_of(&self, on: Option<ExchangeId>) -> Option<Arc<str>> {
        on.and_then(|id| self.exchanges.get(&id)).map(|exchange| Arc::clone(&exchange.trail.key))
    }

    /// How much later a window opens, drawn where it is a range.
    fn later(&self, expectation: &Expectation, key: Option<&Key>, plus: Option<&Time>) -> Duration {
        let key = || key.map(Key::to_string).unwrap_or_default();
        plus.map_or(Duration::ZERO, |plus| Draw::new(self.seed, &expectation.name, &key(), "plus").time(plus))
    }
}

// === Judged ===

impl Engine {
    /// Time has gone on: windows whose time is over are judged.
    pub(super) fn windows_end(&mut self, now: Moment) {
        if self.expecting.due.is_none_or(|due| now <= due) {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let stamp = (now, self.seq);
        for (awaited, ledger) in plan.expected.iter().zip(&mut self.expecting.ledgers) {
            ledger.end(&awaited.expectation, stamp, |window| window.until().is_some_and(|until| until < now));
        }
        self.expecting.due = self.expecting.ledgers.iter().filter_map(Ledger::due).min();
        self.write_failures();
    }

    /// The command behind the proxy has ended.
    pub(super) fn command_ended(&mut self, now: Moment) {
        let plan = Arc::clone(&self.plan);
        self.expecting.exited = true;
        let key = Key { session: 0, exchange: Arc::from(""), name: "exit", ordinal: 1 };
        let exit = Sighting { seq: self.next_seq(), at: now, key, exchange: None, belongs: Arc::default() };
        for (awaited, ledger) in plan.expected.iter().zip(&mut self.expecting.ledgers) {
            if awaited.expectation.what == What::Exit {
                ledger.count(&awaited.expectation, &exit, |_| true);
            }
        }
        self.write_failures();
    }

    /// The run is over: what is open is judged.
    pub(super) fn judge_expectations(&mut self, now: Moment) {
        let plan = Arc::clone(&self.plan);
        let stamp = (now, self.seq);
        let mut expecting = std::mem::take(&mut self.expecting);
        for (awaited, ledger) in plan.expected.iter().zip(&mut expecting.ledgers) {
            match awaited.expectation.what {
                What::Exit if !expecting.exited => ledger.void("no command ran behind the proxy"),
                What::Check(check) => {
                    if let Some(found) = self.open_at_the_end(check) {
                        ledger.found(stamp, found);
                    }
                }
                _ => ledger.end(&awaited.expectation, stamp, |_| true),
            }
        }
        self.expecting = expecting;
        self.write_failures();
    }

    /// What of the peers is still open, if a check asks for that; nothing, if there was none.
    fn open_at_the_end(&self, check: Check) -> Option<Finding> {
        let keys: Vec<String> = match check {
            Check::Closed => self.open_keys(),
            Check::ConnectionsClosed => self.conns.keys().map(|conn| format!("connection {}", conn.0)).collect(),
            Check::OneInitialize | Check::ResumeId | Check::NoRepeat => return None,
        };
        let wrong = (!keys.is_empty()).then(|| format!("{} open", keys.len()));
        (self.exchange_count > 0 || wrong.is_some()).then_some(Finding { check, keys, wrong })
    }

    fn write_failures(&mut self) {
        let told: Vec<_> = self.expecting.ledgers.iter_mut().flat_map(Ledger::take_told).collect();
        told.into_iter().for_each(|entry| self.record(Entry::Expectation(entry)));
    }
}
