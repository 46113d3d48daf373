//! What is told of effects: that which was written, and nothing that was only planned.

use super::super::effects::{CutEffect, Did, Effect};
use super::super::engine::Setup;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Offset, OtherLeg, Place};
use super::super::fault::moving::{Closed, Move, MoveTo};
use super::super::fault::reorder::{Order, Reorder};
use super::super::fault::resumable::Resumable;
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, at, cut, delay, glob, hold, message, ms, notification, of, question, rule, seen};

fn effects(play: &Play) -> Vec<Effect> {
    play.engine.summary().effects
}

fn cut_of(play: &Play) -> CutEffect {
    match effects(play).as_slice() {
        [Effect { did: Did::Cut(cut), .. }] => cut.clone(),
        other => panic!("one cut: {other:?}"),
    }
}

fn cutting(selector: Selector, cut: Cut) -> Vec<Rule> {
    vec![rule("cut", selector, Fault::Cut(cut))]
}

#[test]
fn a_cut_is_told_with_what_had_reached_the_client_and_what_became_of_the_server() {
    for (place, blocks, inside, answered) in [
        (Place::Before, 1, None, false),
        (Place::After, 2, None, true),
        (Place::Inside(Offset::Bytes(7)), 1, Some(7), false),
    ] {
        let mut play = Play::new(cutting(message("answer"), cut(Ending::Reset, place)));
        play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1), notification(2)].concat());
        let expected = CutEffect {
            ending: "reset".to_owned(),
            head: true,
            blocks: Some(blocks),
            inside,
            inside_answer: inside.is_some(),
            answered: Some(answered),
            since: Some(0),
            server: Some("closed".to_owned()),
            ..CutEffect::default()
        };
        assert_eq!(cut_of(&play), expected);
        let summary = play.engine.summary();
        assert_eq!((&*summary.effects[0].key, &*summary.effects[0].rule), ("s1/post:1/end#1", "cut"));
        assert_eq!(summary.methods["s1/post:1"], "tools/call");
    }
}

#[test]
fn a_cut_says_whether_the_server_ever_got_the_request_and_how_its_leg_was_left() {
    for (place, unsent, server) in [(Place::Before, true, None), (Place::After, false, Some("drained".to_owned()))] {
        let leaving = Cut { other_leg: OtherLeg::Drain, ..cut(Ending::Fin, place) };
        let mut play = Play::new(cutting(of(At::Request, "tools/call"), leaving));
        play.calls("a", 1);
        let told = cut_of(&play);
        assert_eq!((told.unsent, told.head, told.server), (unsent, false, server));
    }
}

// A stall writes nothing, and so nothing of it is reported.
#[test]
fn a_stall_is_told_too() {
    let mut play = Play::new(cutting(message("answer"), cut(Ending::Stall, Place::Before)));
    play.calls("a", 1).streams("a").data("a", &answer(1));
    assert_eq!((cut_of(&play).ending, cut_of(&play).blocks), ("stall".to_owned(), Some(0)));
}

// What is on its way when the silence begins still arrives.
#[test]
fn a_stall_behind_a_head_that_is_on_its_way_is_told_behind_it() {
    let mut play = Play::new(cutting(of(At::Head, "tools/call"), cut(Ending::Stall, Place::After)));
    play.calls("a", 1).stops_reading("a").streams("a");
    assert_eq!((cut_of(&play).head, cut_of(&play).blocks, cut_of(&play).answered), (true, Some(0), Some(false)));
}

#[test]
fn a_cut_is_told_alike_with_and_without_a_journal() {
    let when = Some(seen(of(At::Request, "ping")));
    let told = |record, body: &[String], json: bool| {
        let rules = cutting(of(At::Head, "tools/call"), Cut { when: when.clone(), ..cut(Ending::Fin, Place::After) });
        let mut play = Play::with(Setup { rules, seed: 1, record, ..Setup::default() });
        play.calls("a", 1);
        if json {
            play.head("a", 200, &[("content-type", "application/json"), ("content-length", "36")]);
        } else {
            play.streams("a");
        }
        play.data("a", &body.concat()).posts("b", r#"{"id":2,"method":"ping"}"#);
        cut_of(&play)
    };
    let json = [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()];
    for (body, is_json) in [(&[notification(1), answer(1)][..], false), (&[notification(1)], false), (&json, true)] {
        let with = told(true, body, is_json);
        assert_eq!(with, told(false, body, is_json));
        assert_eq!((with.blocks, with.answered), (Some(body.len() as u64), Some(body.len() == 2 || is_json)));
    }
}

#[test]
fn a_cut_is_told_with_its_priming_event_and_with_the_time_since_what_came_last() {
    let late = Some(after(5_000));
    let mut play = Play::new(cutting(of(At::Head, "tools/call"), Cut { when: late, ..cut(Ending::Eof, Place::After) }));
    play.calls("a", 1).streams("a").waits(3_000).data("a", "id: 1\ndata:\n\n").waits(2_000);
    let told = cut_of(&play);
    assert_eq!((told.primed, told.blocks, told.since), (true, Some(0), Some(2_000_000)));
}

#[test]
fn a_cut_of_a_resume_that_a_rule_answers_does_not_speak_of_the_server() {
    let owned = Fault::Resumable(Resumable { priming: true, ..Resumable::default() });
    let lost = rule("lost", message("answer"), Fault::Cut(cut(Ending::Eof, Place::Before)));
    for (point, place) in [(At::Head, Place::After), (At::Request, Place::Before)] {
        let resume = rule("cut", at(point, "resume"), Fault::Cut(cut(Ending::Reset, place)));
        let mut play = Play::new(vec![rule("own", of(At::Head, "tools/call"), owned.clone()), lost.clone(), resume]);
        play.calls("a", 1).streams("a").data("a", &answer(1)).ends("a");
        let id = play.body("a").lines().find_map(|line| line.strip_prefix("id: ")).expect("it has an id").to_owned();
        play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", &id)], "");
        let told = effects(&play).into_iter().find_map(|it| match it.did {
            Did::Cut(cut) if it.rule == "cut" => Some(cut),
            _ => None,
        });
        let told = told.expect("it was cut");
        assert_eq!((told.unsent, told.head, told.server), (false, point == At::Head, None));
    }
}

#[test]
fn a_cut_that_waits_and_never_falls_is_no_effect() {
    let when = Some(seen(of(At::Request, "no/such")));
    let mut play = Play::new(cutting(of(At::Head, "tools/call"), Cut { when, ..cut(Ending::Eof, Place::After) }));
    play.calls("a", 1).answers("a", 1).finishes();
    assert_eq!(effects(&play), []);
}

#[test]
fn a_moved_block_is_told_with_its_owner_and_its_new_stream_and_a_lost_one_with_none() {
    for open in [true, false] {
        let asked = Selector { stream: glob("post"), ..message("request") };
        let moving = Move { to: MoveTo::Get, copy: false, closed: Closed::Drop, limit: ms(30_000) };
        let mut play = Play::new(vec![rule("move", asked, Fault::Move(moving))]);
        if open {
            play.gets("get").streams("get");
        }
        play.calls("a", 3).streams("a").data("a", &question(9));
        let [Effect { key, did: Did::Moved { message, owner, to, copied: false }, .. }] = &effects(&play)[..] else {
            panic!("one move: {:?}", effects(&play));
        };
        assert_eq!(key, "s1/post:3/block#1");
        assert_eq!(message.as_ref().and_then(|it| it.method.as_deref()), Some("elicitation/create"));
        assert_eq!(owner.as_ref().map(|it| it.method.as_str()), Some("tools/call"));
        assert_eq!(to.as_deref(), open.then_some("s1/get:1"));
    }
}

#[test]
fn a_delay_is_told_when_its_point_has_left_and_not_when_its_client_has() {
    let mut play = Play::new(vec![rule("late", of(At::Head, "tools/call"), delay(300))]);
    play.calls("a", 1).streams("a").waits(299);
    assert_eq!(effects(&play), []);
    play.waits(1);
    assert_eq!(effects(&play)[0].did, Did::Delayed { by: 300_000 });
    play.calls("b", 2).streams("b").leaves("b").waits(1_000);
    assert_eq!(effects(&play).len(), 1);
}

#[test]
fn the_blocks_of_a_window_are_told_as_they_came_and_as_they_left() {
    let window = Reorder { window: 3, order: Order::Reverse, across: false, limit: ms(1_000) };
    let mut play = Play::new(vec![rule("reorder", message("notification"), Fault::Reorder(window))]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), notification(2), notification(3)].concat());
    let told = effects(&play);
    let order = |of: fn(&Did) -> u64| {
        let mut blocks: Vec<_> = told.iter().map(|effect| (of(&effect.did), effect.key.as_str())).collect();
        blocks.sort_unstable();
        blocks.iter().map(|(_, key)| key.rsplit('#').next().unwrap_or_default()).collect::<String>()
    };
    let arrived = |did: &Did| if let Did::Left { arrived, .. } = did { *arrived } else { 0 };
    let left = |did: &Did| if let Did::Left { left, .. } = did { *left } else { 0 };
    assert_eq!((order(arrived), order(left)), ("123".to_owned(), "321".to_owned()));
}

#[test]
fn a_hold_is_told_by_its_gate_alone() {
    let mut play = Play::new(vec![rule("hold", at(At::Request, "get"), hold(seen(of(At::End, "tools/call"))))]);
    play.gets("get").calls("a", 1).answers("a", 1);
    assert_eq!((effects(&play), play.gates().len()), (vec![], 1));
}
