//! `bytes`: so much of a body has passed. A cut falls exactly there, however the bytes came.

use super::super::condition::{Condition, Time};
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Place};
use super::super::record::{Opened, PointFate};
use super::super::rule::Rule;
use super::super::selector::At;
use super::Play;
use super::tools::{answer, at, cut, delay, hold, ms, notification, rule};

fn bytes(size: usize) -> Condition {
    Condition::Bytes { size: size as u64, plus: None }
}

fn limited(when: Condition) -> Rule {
    let fault = Cut { when: Some(when), ..cut(Ending::Reset, Place::After) };
    rule("cut", at(At::Head, "post"), Fault::Cut(fault))
}

/// One that reads whole events, so that they are held to whole blocks.
fn reader() -> Rule {
    Rule { optional: true, ..rule("reader", at(At::Block, "post"), delay(0)) }
}

#[test]
fn a_cut_falls_exactly_there_at_every_place_and_however_the_bytes_came() {
    let body = [notification(1), answer(1)].concat();
    for rules in [vec![], vec![reader()]] {
        for size in 0..=body.len() {
            for piece in [1, 7, body.len()] {
                let mut play = Play::new([rules.clone(), vec![limited(bytes(size))]].concat());
                play.calls("a", 1).streams("a");
                for part in body.as_bytes().chunks(piece) {
                    play.data("a", std::str::from_utf8(part).expect("ASCII"));
                }
                let seen = play.of("a");
                assert_eq!(std::str::from_utf8(&seen.body), Ok(&body[..size]), "{size} in pieces of {piece}");
                assert_eq!((seen.ending, seen.server), (Some(Ending::Reset), Some(Fate::Close)));
                assert_eq!(play.counts("cut"), (1, 1, 1));
            }
        }
    }
}

#[test]
fn a_body_that_is_shorter_ends_by_itself_and_the_rule_had_no_effect() {
    let body = [notification(1), answer(1)].concat();
    let mut play = Play::new(vec![limited(bytes(body.len() + 1))]);
    play.calls("a", 1).streams("a").data("a", &body).ends("a");
    assert_eq!((play.body("a"), play.of("a").ending), (&*body, Some(Ending::Eof)));
    assert_eq!(play.counts("cut"), (1, 1, 0));
}

#[test]
fn the_block_that_is_cut_inside_has_not_passed_and_says_how_much_of_it_left() {
    let (first, second) = (notification(1), answer(1));
    let mut play = Play::new(vec![limited(bytes(first.len() + 5))]);
    play.calls("a", 1).streams("a").data("a", &[first, second.clone()].concat());
    assert_eq!(play.point("s1/post:1/block#1").fate, PointFate::Passed);
    let point = play.point("s1/post:1/block#2");
    assert_eq!((point.fate, point.bytes), (PointFate::Cut, 5));
    assert_eq!(play.of("a").inside.as_ref().map(|inside| (inside.part.len(), inside.whole)), Some((5, second.len())));
}

#[test]
fn it_can_be_one_of_several_conditions_and_the_first_of_them_counts() {
    for (time, left) in [(50, 0), (500, 9)] {
        let when = Condition::Any(vec![bytes(9), Condition::After(Time::Fixed(ms(time)))]);
        let mut play = Play::new(vec![limited(when)]);
        play.calls("a", 1).streams("a").waits(100).data("a", &answer(1));
        assert_eq!((play.of("a").ending, play.of("a").body.len()), (Some(Ending::Reset), left));
    }
}

/// Counted as it is sent: what a rule made longer counts as long as that.
#[test]
fn so_much_later_than_that_the_stream_goes_on_until_then() {
    let when = Condition::Bytes { size: 9, plus: Some(Time::Fixed(ms(20))) };
    let mut play = Play::new(vec![limited(when)]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).waits(19).data("a", &notification(2));
    assert_eq!((play.body("a"), play.of("a").ending), (&*[notification(1), notification(2)].concat(), None));
    play.waits(1);
    assert_eq!(play.of("a").ending, Some(Ending::Reset));
}

#[test]
fn it_switches_a_rule_on_and_off() {
    let first = notification(1);
    let late = |from, until| Rule { from, until, ..rule("late", at(At::Block, "post"), delay(10)) };
    for (rule, delayed) in [
        (late(Some(bytes(first.len())), None), [false, true, true]),
        (late(None, Some(bytes(first.len() * 2))), [true, true, false]),
    ] {
        let mut play = Play::new(vec![rule]);
        play.calls("a", 1).streams("a");
        for (n, late) in delayed.into_iter().enumerate() {
            play.data("a", &first);
            assert_eq!(play.body("a").len() == first.len() * n, late, "block {n}");
            play.waits(10);
        }
    }
}

#[test]
fn it_opens_a_hold_of_the_end() {
    for (size, held) in [(5, 0), (500, 10_000_000)] {
        let mut play = Play::new(vec![rule("hold", at(At::End, "post"), hold(bytes(size)))]);
        play.calls("a", 1).answers("a", 1).waits(10_000);
        assert_eq!(play.gates()[0].held, held);
        assert_eq!(matches!(&play.opened()[0], Opened::Already(by) if by == "5 bytes"), held == 0);
    }
}

#[test]
fn what_is_not_looked_at_otherwise_is_not_relayed_past_it() {
    let rules = vec![Rule { from: Some(bytes(1)), ..rule("r", at(At::Leave, "post"), delay(5)) }];
    let mut play = Play::with(super::super::engine::Setup { rules, seed: 1, ..super::super::engine::Setup::default() });
    play.calls("a", 1);
    assert!(!play.of("a").relayed);
    play.streams("a").data("a", &answer(1)).leaves("a");
    assert_eq!((play.of("a").server, play.counts("r")), (None, (1, 1, 1)));
    play.waits(5);
    assert_eq!(play.of("a").server, Some(Fate::Close));
}
