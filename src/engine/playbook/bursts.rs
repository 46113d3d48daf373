//! What the server sends in one burst: what a unit releases goes before what stands behind that unit (rule R5).

use super::super::condition::Condition;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::fault::hold::Hold;
use super::super::rule::Rule;
use super::super::selector::{At, MessageSelector, Selector};
use super::Play;
use super::tools::{answer, at, cut, glob, ms, notification, rule, seen};

/// The notification with this number.
fn numbered(n: u64) -> Selector {
    let params = vec![("/n".to_owned(), glob(&n.to_string()).expect("a pattern"))];
    let message = MessageSelector { params, ..MessageSelector::default() };
    Selector { message: Some(message), ..Selector::any(At::Block) }
}

fn passed_by_all(until: Condition) -> Fault {
    Fault::Hold(Hold { until, limit: Some(ms(10_000)), overtake: true, reading: true })
}

/// Plays these events of one call, in bursts of so many.
fn in_bursts(rules: &[Rule], events: &[String], size: usize) -> Play {
    let mut play = Play::new(rules.to_vec());
    play.gets("get").streams("get").calls("a", 1).streams("a");
    for burst in events.chunks(size) {
        play.data("a", &burst.concat());
    }
    play.ends("a");
    play
}

#[test]
fn what_a_block_releases_goes_before_the_next_block_of_the_burst() {
    let rules = [rule("r", numbered(1), passed_by_all(seen(numbered(2))))];
    let events = [notification(1), notification(2), notification(3), answer(1)];
    for size in 1..=4 {
        let play = in_bursts(&rules, &events, size);
        assert_eq!(play.body("a"), [notification(2), notification(1), notification(3), answer(1)].concat(), "{size}");
        assert_eq!(play.of("a").ending, Some(Ending::Eof));
    }
}

#[test]
fn a_block_on_its_way_is_looked_out_for_by_what_comes_behind_it() {
    let rules = [rule("r", numbered(2), passed_by_all(seen(numbered(1))))];
    let events = [notification(1), notification(2), notification(3), answer(1)];
    for size in 1..=4 {
        assert_eq!(in_bursts(&rules, &events, size).body("a"), events.concat(), "{size}");
    }
}

#[test]
fn what_a_block_releases_on_another_stream_goes_before_the_next_block_of_the_burst() {
    let rules = [rule("r", at(At::Block, "get"), passed_by_all(seen(numbered(2))))];
    for size in [1, 3] {
        let mut play = Play::new(rules.to_vec());
        play.gets("get").streams("get").data("get", &notification(9)).calls("a", 1).streams("a");
        play.left();
        for burst in [notification(2), notification(3), answer(1)].chunks(size) {
            play.data("a", &burst.concat());
        }
        assert_eq!(play.body("a"), [notification(2), notification(3), answer(1)].concat());
        assert_eq!(play.left()[..2], ["write a", "write get"], "{size}");
    }
}

#[test]
fn what_a_head_releases_goes_before_the_body() {
    let rules = [rule("r", at(At::Block, "get"), passed_by_all(seen(at(At::Head, "post"))))];
    let mut play = Play::new(rules.to_vec());
    play.gets("get").streams("get").data("get", &notification(9)).calls("a", 1);
    play.stops_reading("a").streams("a").data("a", &answer(1));
    assert_eq!((play.body("a"), play.body("get")), ("", ""), "the head is not known to have passed");
    play.left();
    play.reads_again();
    assert_eq!(play.left(), ["write get", "write a"]);
}

#[test]
fn a_cut_falls_before_the_next_block_of_the_burst() {
    let mut reset = cut(Ending::Reset, Place::After);
    reset.when = Some(seen(numbered(1)));
    let rules = [rule("r", at(At::Head, "post"), Fault::Cut(reset))];
    for size in 1..=3 {
        let play = in_bursts(&rules, &[notification(1), notification(2), answer(1)], size);
        assert_eq!((play.body("a"), play.of("a").ending), (&*notification(1), Some(Ending::Reset)), "{size}");
    }
}

#[test]
fn a_client_that_leaves_while_more_is_kept_for_it_leaves_nothing_behind() {
    let rules = [rule("r", at(At::Block, "get"), passed_by_all(seen(numbered(2))))];
    let mut play = Play::new(rules.to_vec());
    play.gets("get").streams("get").data("get", &notification(9)).calls("a", 1).streams("a").stops_reading("a");
    play.data("a", &[notification(2), notification(3), answer(1)].concat());
    assert_eq!(play.body("a"), notification(2));
    play.leaves("a").leaves("get");
    assert!(play.engine.exchanges.is_empty() && play.engine.busy.is_empty() && play.engine.flights.is_empty());
}

#[test]
fn where_nothing_waits_to_see_a_block_the_burst_is_one_write() {
    let rules = [rule("r", at(At::Block, "get"), passed_by_all(seen(numbered(2))))];
    let play = in_bursts(&rules, &[notification(2), notification(3), answer(1)], 3);
    assert_eq!(play.of("a").writes, 1, "nothing is held");
    let mut play = Play::new(rules.to_vec());
    play.gets("get").streams("get").data("get", &notification(9)).calls("a", 1).streams("a");
    play.data("a", &[notification(1), notification(3), answer(1)].concat());
    assert_eq!(play.of("a").writes, 1, "what is held waits for another block");
}
