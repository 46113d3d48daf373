//! `cut`: every ending, before, after and inside, at every point, and what becomes of the other leg.

use super::super::condition::{Condition, Leg, Seen};
use super::super::engine::{LANE_LIMIT, Setup};
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Offset, OtherLeg, Place};
use super::super::record::{Opened, PointFate};
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, at, cut, message, ms, notification, of, rule, seen, sight};

fn cutting(point: At, cut: Cut) -> Play {
    let selector = if point == At::Block { message("answer") } else { of(point, "tools/call") };
    Play::new(vec![rule("cut", selector, Fault::Cut(cut))])
}

const ENDINGS: [Ending; 4] = [Ending::Eof, Ending::Fin, Ending::Reset, Ending::Stall];

#[test]
fn before_the_answer_everything_in_front_of_it_is_delivered_and_nothing_behind() {
    for ending in ENDINGS {
        let mut play = cutting(At::Block, cut(ending, Place::Before));
        play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1), notification(2)].concat());
        assert_eq!(play.body("a"), notification(1));
        assert_eq!((play.of("a").ending, play.of("a").sent_head), (Some(ending), Some(true)));
        assert_eq!(play.of("a").server, Some(Fate::Close));
        assert_eq!(play.point("s1/post:1/block#2").fate, PointFate::Cut);
        assert_eq!(play.counts("cut"), (1, 1, 1));
    }
}

#[test]
fn after_the_answer_it_is_delivered_and_the_stream_ends_there() {
    let mut play = cutting(At::Block, cut(Ending::Eof, Place::After));
    play.calls("a", 1).streams("a").data("a", &[answer(1), notification(2)].concat());
    assert_eq!((play.body("a"), play.of("a").ending), (&*answer(1), Some(Ending::Eof)));
}

#[test]
fn inside_a_block_so_much_of_it_leaves() {
    let whole = answer(1);
    for (offset, left) in [
        (Offset::Bytes(7), 7),
        (Offset::Bytes(-3), whole.len() - 3),
        (Offset::Share(0.5), whole.len() / 2),
        (Offset::Bytes(1_000_000), whole.len()),
        (Offset::Bytes(-1_000_000), 0),
    ] {
        let mut play = cutting(At::Block, cut(Ending::Fin, Place::Inside(offset)));
        play.calls("a", 1).streams("a").data("a", &whole);
        assert_eq!(play.body("a"), &whole[..left], "{offset:?}");
        assert_eq!(play.of("a").inside.as_ref().map(|inside| inside.whole), Some(whole.len()));
        assert_eq!(play.point("s1/post:1/block#1").bytes, left as u64);
    }
}

#[test]
fn at_a_request_before_means_that_the_server_never_gets_it() {
    for (place, reaches) in [(Place::Before, false), (Place::After, true)] {
        let mut play = cutting(At::Request, cut(Ending::Reset, place));
        play.calls("a", 1);
        assert_eq!((play.forwarded("a"), play.of("a").ending), (reaches, Some(Ending::Reset)));
        assert_eq!(play.of("a").server, reaches.then_some(Fate::Close));
    }
}

#[test]
fn at_a_head_before_hides_it_and_after_shows_it() {
    for (place, head) in [(Place::Before, None), (Place::After, Some(true))] {
        let mut play = cutting(At::Head, cut(Ending::Fin, place));
        play.calls("a", 1).streams("a").data("a", &answer(1));
        assert_eq!((play.of("a").sent_head, play.body("a")), (head, ""));
        assert_eq!(play.of("a").ending, Some(Ending::Fin));
    }
}

#[test]
fn at_the_end_another_ending_stands_for_the_servers() {
    let mut play = cutting(At::End, cut(Ending::Reset, Place::Before));
    play.calls("a", 1).answers("a", 1);
    assert_eq!((play.body("a"), play.of("a").ending), (&*answer(1), Some(Ending::Reset)));
    assert_eq!(play.of("a").server, None, "it had ended by itself");
}

/// `answer-lost-after-work`: the server works to its end, the client sees nothing of it.
#[test]
fn a_head_withheld_until_the_end_is_cut_with_all_that_came_behind_it() {
    let when = Some(Condition::End);
    let mut play = cutting(At::Head, Cut { when, ..cut(Ending::Reset, Place::Before) });
    play.calls("a", 1).streams("a").data("a", &answer(1));
    assert_eq!((play.of("a").sent_head, play.of("a").ending), (None, None));
    play.ends("a");
    assert_eq!((play.of("a").sent_head, play.of("a").ending, play.body("a")), (None, Some(Ending::Reset), ""));
}

/// `get-zombie`: the GET goes on until the call reaches the server, then the client loses it and the server does not.
#[test]
fn a_stream_goes_on_until_the_cut_is_due_and_the_server_may_be_drained() {
    let when = Some(seen(of(At::Request, "tools/call")));
    let zombie = Cut { when, other_leg: OtherLeg::Drain, lasting: Some(ms(500)), ..cut(Ending::Eof, Place::After) };
    let mut play = Play::new(vec![rule("zombie", at(At::Head, "get"), Fault::Cut(zombie))]);
    play.gets("get").streams("get").data("get", &notification(1)).data("get", "data: hal");
    assert_eq!(play.of("get").ending, None);
    play.calls("a", 1);
    assert_eq!(play.of("get").ending, Some(Ending::Eof));
    assert_eq!(play.of("get").server, Some(Fate::Drain(Some(ms(500)))));
    play.data("get", "f\n\n").data("get", &notification(2));
    assert_eq!(play.body("get"), [&*notification(1), "data: hal"].concat(), "what is drained goes nowhere");
    assert_eq!(play.point("s1/get:1/block#2").fate, PointFate::Cut);
    assert_eq!(play.counts("zombie"), (1, 1, 1));
}

/// The first bytes of the block that is waited for must not have gone before it is known.
#[test]
fn a_cut_planned_at_the_request_falls_before_the_block_it_waits_for_however_that_comes() {
    let arrived = Seen { leg: Some(Leg::Server), ..sight(message("notification")) };
    let when = Some(Condition::Seen(Box::new(arrived)));
    let mut play = cutting(At::Request, Cut { when, ..cut(Ending::Eof, Place::After) });
    play.calls("a", 1).streams("a").data("a", &answer(9));
    for byte in notification(1).chars() {
        play.data("a", &byte.to_string());
    }
    assert_eq!((play.body("a"), play.of("a").ending), (&*answer(9), Some(Ending::Eof)));
}

#[test]
fn a_cut_whose_time_never_comes_lets_its_unit_go_at_the_limit() {
    let when = Some(seen(of(At::Request, "no/such")));
    let mut play = cutting(At::Block, Cut { when, ..cut(Ending::Eof, Place::Before) });
    play.calls("a", 1).streams("a").data("a", &answer(1)).waits(10_000);
    assert_eq!((play.body("a"), play.of("a").ending), (&*answer(1), None));
    assert_eq!(play.counts("cut"), (1, 1, 0));
}

/// Half as much again as is kept of an answer, in pieces.
fn too_much(play: &mut Play) {
    let piece = "x".repeat(LANE_LIMIT / 4);
    (0..6).for_each(|_| _ = play.data("a", &piece));
}

#[test]
fn what_a_cut_throws_away_in_any_case_is_not_kept_and_its_server_is_read_to_the_end() {
    let when = Some(Condition::End);
    for when in [when.clone(), None] {
        let ends = when.is_some();
        let mut play = cutting(At::Head, Cut { when, ..cut(Ending::Reset, Place::Before) });
        play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]);
        if ends {
            too_much(&mut play);
            assert_eq!((play.of("a").ending, play.of("a").paused, play.opened()), (None, false, vec![]));
            play.ends("a");
        }
        assert_eq!((play.of("a").ending, play.of("a").sent_head, play.counts("cut").2), (Some(Ending::Reset), None, 1));
        assert!(play.engine.exchanges.is_empty());
    }
}

/// What could have been let go is not there any more.
#[test]
fn a_cut_that_has_thrown_away_what_it_waits_with_falls_at_its_limit() {
    for (large, ending, sent) in [(true, Some(Ending::Reset), None), (false, None, Some(false))] {
        let when = Some(Condition::End);
        let mut play = cutting(At::Head, Cut { when, ..cut(Ending::Reset, Place::Before) });
        play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]);
        if large {
            too_much(&mut play);
        }
        play.waits(10_000);
        assert_eq!((play.of("a").ending, play.opened()), (ending, vec![Opened::Limit]));
        assert_eq!(play.of("a").sent_head.is_some(), sent.is_some());
    }
}

#[test]
fn a_time_cuts_a_stream_that_goes_on() {
    let mut play = cutting(At::Head, Cut { when: Some(after(100)), ..cut(Ending::Eof, Place::After) });
    play.calls("a", 1).streams("a").waits(99).data("a", &notification(1)).waits(1);
    assert_eq!((play.body("a"), play.of("a").ending), (&*notification(1), Some(Ending::Eof)));
}

#[test]
fn the_servers_leg_can_be_the_one_that_is_cut() {
    let vanish =
        Cut { leg: Leg::Server, other_leg: OtherLeg::Keep, when: Some(after(200)), ..cut(Ending::Reset, Place::After) };
    let mut play = cutting(At::Request, vanish);
    play.calls("a", 1).waits(200);
    assert_eq!((play.of("a").server, play.of("a").ending), (Some(Fate::Reset), Some(Ending::Stall)));
}

#[test]
fn the_client_may_be_left_in_silence_for_a_time() {
    let vanish =
        Cut { leg: Leg::Server, other_leg: OtherLeg::Keep, lasting: Some(ms(300)), ..cut(Ending::Fin, Place::After) };
    let mut play = cutting(At::Head, vanish);
    play.calls("a", 1).streams("a").data("a", &answer(1)).waits(299);
    assert_eq!((play.of("a").server, play.of("a").ending, play.body("a")), (Some(Fate::Close), None, ""));
    play.waits(1);
    assert_eq!(play.of("a").ending, Some(Ending::Fin));
    assert!(play.engine.exchanges.is_empty());
}

#[test]
fn a_connection_is_cut_at_once_or_when_nothing_is_open_on_it() {
    let at_once = rule("r", Selector::any(At::Connect), Fault::Cut(cut(Ending::Reset, Place::After)));
    let mut play = Play::new(vec![at_once]);
    play.connects("a");
    assert_eq!(play.cut_connections, 1);
    let later = Cut { when: Some(after(100)), ..cut(Ending::Fin, Place::After) };
    let mut play = Play::new(vec![rule("r", Selector::any(At::Connect), Fault::Cut(later))]);
    play.calls("a", 1).waits(200);
    assert_eq!(play.cut_connections, 0, "a call is open on it");
    play.answers("a", 1);
    assert_eq!((play.cut_connections, play.counts("r")), (1, (1, 1, 1)));
}

#[test]
fn a_client_that_leaves_a_stalled_stream_ends_the_exchange() {
    let mut play = cutting(At::Block, cut(Ending::Stall, Place::Before));
    play.calls("a", 1).streams("a").data("a", &answer(1)).waits(60_000);
    assert_eq!((play.of("a").ending, play.engine.exchanges.len()), (Some(Ending::Stall), 1));
    play.leaves("a");
    assert!(play.engine.exchanges.is_empty());
}

#[test]
fn the_first_cut_in_written_order_happens_and_no_other() {
    let one = rule("one", message("answer"), Fault::Cut(cut(Ending::Eof, Place::After)));
    let two = rule("two", message("answer"), Fault::Cut(cut(Ending::Reset, Place::Before)));
    let mut play = Play::new(vec![one, two]);
    play.calls("a", 1).streams("a").data("a", &answer(1));
    assert_eq!((play.body("a"), play.of("a").ending), (&*answer(1), Some(Ending::Eof)));
    assert_eq!((play.counts("one").2, play.counts("two").2), (1, 0));
}

#[test]
fn a_json_answer_can_be_cut_inside() {
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let mut play = cutting(At::Block, cut(Ending::Fin, Place::Inside(Offset::Bytes(5))));
    play.calls("a", 1).head("a", 200, &[("content-type", "application/json")]).data("a", body).ends("a");
    assert_eq!((play.body("a"), play.of("a").ending), (&body[..5], Some(Ending::Fin)));
}

/// A rim that relays an answer unseen cannot end it on command.
#[test]
fn an_answer_that_a_cut_of_its_request_may_end_is_not_relayed_unseen() {
    for (when, ends_at) in [(None, 0), (Some(after(100)), 100)] {
        let fault = Fault::Cut(Cut { when, ..cut(Ending::Eof, Place::After) });
        let rules = vec![rule("cut", of(At::Request, "tools/call"), fault)];
        let mut play = Play::with(Setup { rules, seed: 1, ..Setup::default() });
        play.calls("a", 1);
        assert!(!play.of("a").relayed);
        play.streams("a").data("a", &notification(1)).waits(ends_at);
        assert!(play.of("a").ending.is_some());
    }
}
