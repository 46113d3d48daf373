//! Any rules: every fault, with whatever a profile could say of it.
//!
//! The one rule it keeps: what `check` would refuse is not made here; the loader's tests are about that.

use proptest::prelude::*;

use super::super::condition::{Condition, Leg, Same, Seen, Time};
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::buffer::{Buffer, Until};
use super::super::fault::cut::{Cut, Offset, OtherLeg, Place};
use super::super::fault::delay::Delay;
use super::super::fault::hold::Hold;
use super::super::fault::moving::{Closed, Move, MoveTo};
use super::super::fault::reframe::{Coalesce, Newline, Reframe, Split};
use super::super::fault::reorder::{Order, Reorder};
use super::super::fault::rewrite::{Form, NewId, Reply, Rewrite};
use super::super::fault::throttle::Throttle;
use super::super::rule::Rule;
use super::super::selector::{At, Count, Selector};
use super::super::trigger::{Scope, Trigger};
use super::makers::{fitted, maker};
use super::tools::{glob, ms, rule};

fn point() -> impl Strategy<Value = At> {
    prop::sample::select(vec![At::RequestHead, At::Request, At::Head, At::Block, At::Block, At::End, At::Leave])
}

/// How far conditions may look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sight {
    /// At what passed, too: when that is seen depends on how the bytes are split.
    Far,
    /// At what arrived only.
    Near,
}

fn selector(sight: Sight) -> impl Strategy<Value = Selector> {
    let stream = prop::option::of(prop::sample::select(vec!["post", "get", "*", "!get"]));
    let method = prop::option::weighted(0.3, Just("tools/call"));
    let in_flight = prop::option::weighted(0.1, (0..3u64).prop_map(Count::AtMost));
    let in_flight = in_flight.prop_map(move |count| count.filter(|_| sight == Sight::Far));
    (point(), stream, method, in_flight).prop_map(|(at, stream, method, in_flight)| Selector {
        stream: stream.and_then(glob),
        method: method.and_then(glob),
        in_flight,
        ..Selector::any(at)
    })
}

pub(super) fn condition(sight: Sight) -> impl Strategy<Value = Condition> {
    let same =
        prop::sample::select(vec![Same::Session, Same::Run, Same::Exchange, Same::Owner, Same::NotOwner, Same::Call]);
    let leg = prop::option::of(prop::sample::select(vec![Leg::Client, Leg::Server]));
    let seen = (selector(sight), same, leg, 1..3u64, any::<bool>(), prop::option::of(1..50u64));
    prop_oneof![
        1 => (1..90u64).prop_map(super::tools::after),
        1 => Just(Condition::End),
        1 => (1..4u64).prop_map(Condition::Gathered),
        if sight == Sight::Far { 1 } else { 0 } => (1..60u64).prop_map(|time| Condition::Idle { time: ms(time), plus: None }),
        if sight == Sight::Far { 1 } else { 0 } => (0..300u64).prop_map(|size| Condition::Bytes { size, plus: None }),
        5 => seen.prop_map(move |(selector, same, leg, nth, next, plus)| {
            let near = if selector.at.is_towards_server() { Leg::Client } else { Leg::Server };
            let leg = if sight == Sight::Near { Some(near) } else { leg };
            let plus = plus.map(|plus| Time::Fixed(ms(plus)));
            Condition::Seen(Box::new(Seen { selector, leg, same, nth, next, plus }))
        }),
    ]
}

fn trigger() -> impl Strategy<Value = Trigger> {
    let times = prop::option::weighted(0.3, 1..4u64);
    (0..2u64, 1..3u64, prop_oneof![Just(1.0), Just(0.5)], times).prop_map(|(skip, every, probability, times)| Trigger {
        nth: vec![],
        skip,
        every,
        probability,
        times,
    })
}

/// How long anything is held at most, in milliseconds.
pub(super) const LIMIT: u64 = 100;

/// Faults that change nothing but when something leaves.
pub(super) fn timing(sight: Sight) -> impl Strategy<Value = Fault> {
    let time = prop_oneof![
        (0..90u64).prop_map(|time| Time::Fixed(ms(time))),
        (0..40u64, 40..90u64).prop_map(|(low, high)| Time::Between(ms(low), ms(high))),
        (0..40u64, 0..50u64).prop_map(|(mean, jitter)| Time::Around(ms(mean), ms(jitter))),
    ];
    prop_oneof![
        time.prop_map(|time| Fault::Delay(Delay { time, overtake: false })),
        (condition(sight), any::<bool>()).prop_map(|(until, reading)| {
            Fault::Hold(Hold { until, limit: Some(ms(LIMIT)), overtake: false, reading })
        }),
        (buffered(sight), any::<bool>()).prop_map(|(until, head)| Fault::Buffer(Buffer {
            until,
            head,
            limit: ms(LIMIT)
        })),
        parted(sight),
        throttled(sight),
    ]
}

fn buffered(sight: Sight) -> impl Strategy<Value = Until> {
    prop_oneof![condition(sight).prop_map(Until::Condition), (1..200usize).prop_map(Until::Size)]
}

/// How much leaves at once depends on how much has come: where that must not show, there is room for all.
fn throttled(sight: Sight) -> impl Strategy<Value = Fault> {
    let room = if sight == Sight::Near { 1_000_000 } else { 0 };
    (2_000..50_000u64, 1..300u64).prop_map(move |(rate, burst)| Fault::Throttle(Throttle { rate, burst: burst + room }))
}

/// The same bytes in other pieces.
fn parted(sight: Sight) -> impl Strategy<Value = Fault> {
    let split = prop_oneof![
        Just(Split::Byte),
        Just(Split::Utf8),
        Just(Split::Crlf),
        Just(Split::Head),
        (1..40usize).prop_map(Split::Size),
        prop::collection::vec(1..40usize, 1..4).prop_map(Split::Sizes),
    ];
    let coalesce =
        prop_oneof![(2..5usize).prop_map(Coalesce::Events), (1..50u64).prop_map(|time| Coalesce::Time(ms(time))),];
    // How many pieces there are, and so how long they take, may depend on a LF that comes late.
    let gap = if sight == Sight::Near { 0..1u64 } else { 0..2 };
    let whole =
        Reframe { split: None, gap: Time::Fixed(ms(0)), newline: None, coalesce: None, final_blank: true, pad: 0 };
    let other = whole.clone();
    prop_oneof![
        2 => (split, gap).prop_map(move |(split, gap)| {
            Fault::Reframe(Reframe { split: Some(split), gap: Time::Fixed(ms(gap)), ..whole.clone() })
        }),
        1 => coalesce.prop_map(move |coalesce| Fault::Reframe(Reframe { coalesce: Some(coalesce), ..other.clone() })),
    ]
}

/// Every fault.
pub(super) fn any_fault(sight: Sight) -> impl Strategy<Value = Fault> {
    let endings = prop::sample::select(vec![Ending::Eof, Ending::Fin, Ending::Reset, Ending::Stall]);
    let places = prop_oneof![
        Just(Place::Before),
        Just(Place::After),
        (-30..30i64, 0.0..1.0, any::<bool>()).prop_map(move |(n, share, bytes)| {
            // How long a block is may depend on a LF that comes late: count from its start.
            let near = sight == Sight::Near;
            Place::Inside(if near || bytes {
                Offset::Bytes(if near { n.abs() } else { n })
            } else {
                Offset::Share(share)
            })
        }),
    ];
    let others = prop::sample::select(vec![OtherLeg::Close, OtherLeg::Drain, OtherLeg::Keep]);
    let legs = prop::sample::select(vec![Leg::Client, Leg::Client, Leg::Server, Leg::Both]);
    let cut = (endings, places, others, legs, prop::option::of(condition(sight)));
    let orders =
        prop_oneof![Just(Order::Reverse), Just(Order::Swap), Just(Order::Shuffle), Just(Order::Given(vec![2, 3, 1])),];
    let to = prop_oneof![Just(MoveTo::Get), Just(MoveTo::Post)];
    prop_oneof![
        3 => timing(sight),
        3 => cut.prop_map(|(ending, place, other_leg, leg, when)| {
            Fault::Cut(Cut { ending, place, leg, other_leg, lasting: None, when, limit: ms(LIMIT), settle: ms(1) })
        }),
        2 => (1..4u64, orders, any::<bool>()).prop_map(|(window, order, across)| {
            Fault::Reorder(Reorder { window, order, across, limit: ms(LIMIT) })
        }),
        2 => (to, any::<bool>(), any::<bool>()).prop_map(|(to, copy, wait)| {
            let closed = if wait { Closed::Wait } else { Closed::Drop };
            Fault::Move(Move { to, copy, closed, limit: ms(LIMIT) })
        }),
        1 => (prop::sample::select(vec![Newline::Lf, Newline::Crlf, Newline::Cr]), any::<bool>(), 0..200usize).prop_map(
            |(newline, final_blank, pad)| {
                let (gap, newline) = (Time::Fixed(ms(0)), Some(newline));
                Fault::Reframe(Reframe { split: None, gap, newline, coalesce: None, final_blank, pad })
            }
        ),
        2 => any_rewrite().prop_map(Fault::Rewrite),
        6 => maker(sight),
    ]
}

fn any_rewrite() -> impl Strategy<Value = Rewrite> {
    let json = serde_json::json!("${owner.id}-x");
    let set = vec![("/params/x".to_owned(), json.clone())];
    let event = vec![("id", Some("made".to_owned())), ("event", None)];
    let ids = vec![NewId::Text, NewId::Value(serde_json::Value::Null), NewId::Value(json)];
    prop_oneof![
        Just(Rewrite { set, ..Rewrite::default() }),
        prop::sample::select(ids).prop_map(|id| Rewrite { id: Some(id), ..Rewrite::default() }),
        prop::sample::select(vec![Form::Sse, Form::Json, Form::Array])
            .prop_map(|form| Rewrite { form: Some(form), ..Rewrite::default() }),
        Just(Rewrite { event, ..Rewrite::default() }),
        Just(Rewrite {
            status: Some(404),
            headers: vec![("mcp-session-id".into(), None)],
            reply: Some(Reply::Error(1, "no".into())),
            ..Rewrite::default()
        }),
    ]
}

/// Rules as a profile could have them: each fault at a point where it can act.
pub(super) fn rules(sight: Sight, fault: impl Strategy<Value = Fault> + Clone) -> impl Strategy<Value = Vec<Rule>> {
    let scopes =
        prop::sample::select(vec![Scope::Session, Scope::Run, Scope::Exchange, Scope::Owner, Scope::Connection]);
    let switch = || prop::option::weighted(0.2, condition(sight));
    let one = (selector(sight), fault, trigger(), scopes, switch(), switch());
    prop::collection::vec(one, 1..4).prop_map(|rules| {
        let named = rules.into_iter().enumerate().map(|(n, (mut selector, fault, trigger, scope, from, until))| {
            let fits = fault.table().at;
            if !fits.contains(&selector.at) {
                let near = [At::Block, At::Head, At::Request].into_iter().find(|at| fits.contains(at));
                selector.at = near.expect("a fault acts at one of these");
            }
            let fault = fitted(fault, selector.at);
            Rule { trigger, scope, from, until, ..rule(&format!("r{n}"), selector, fault) }
        });
        named.collect()
    })
}
