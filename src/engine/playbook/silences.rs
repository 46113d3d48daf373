//! `idle`: no byte for so long, asked at each moment.

use super::super::condition::{Condition, Time};
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Place};
use super::super::missed::Unmet;
use super::super::record::Opened;
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::super::trigger::Scope;
use super::Play;
use super::tools::{answer, at, cut, delay, hold, ms, notification, rule};

fn idle(time: u64) -> Condition {
    Condition::Idle { time: ms(time), plus: None }
}

/// A balancer's timer on the standalone stream.
fn timer() -> Rule {
    let fault = Cut { when: Some(idle(60)), ..cut(Ending::Eof, Place::After) };
    rule("idle", at(At::Head, "get"), Fault::Cut(fault))
}

#[test]
fn a_stream_is_cut_after_so_long_without_a_byte_and_not_before() {
    let mut play = Play::new(vec![timer()]);
    play.gets("g").waits(1_000).streams("g").waits(59);
    assert_eq!(play.of("g").ending, None);
    play.waits(1);
    assert_eq!((play.of("g").ending, play.of("g").server), (Some(Ending::Eof), Some(Fate::Close)));
    assert_eq!(play.counts("idle"), (1, 1, 1));
    assert!(play.engine.timers.is_empty());
}

#[test]
fn a_silence_that_never_came_is_told_and_one_that_did_is_not() {
    let after = |time| {
        let mut play = Play::new(vec![timer()]);
        play.gets("g").streams("g").waits(time).finishes();
        play.engine.summary().unmet.pop()
    };
    assert_eq!(after(59), Some(Unmet { rule: "idle".to_owned(), silence: Some(ms(60)) }));
    assert_eq!(after(60), None);
}

#[test]
fn any_byte_counts_a_comment_and_a_part_of_a_line_too() {
    for piece in [": ping\n\n", "da", "\n"] {
        let mut play = Play::new(vec![timer(), rule("reader", at(At::Block, "get"), delay(0))]);
        play.gets("g").streams("g");
        for _ in 0..5 {
            play.waits(59).data("g", piece);
        }
        play.waits(59);
        assert_eq!(play.of("g").ending, None, "{piece:?}");
        play.waits(1);
        assert_eq!(play.of("g").ending, Some(Ending::Eof), "{piece:?}");
    }
}

/// A byte counts when it comes and when it goes on.
#[test]
fn what_was_delayed_counts_when_it_passes_too() {
    let mut play = Play::new(vec![timer(), rule("late", at(At::Block, "get"), delay(50))]);
    play.gets("g").streams("g").waits(50).data("g", &notification(1)).waits(50);
    assert_eq!(play.body("g"), notification(1));
    play.waits(59);
    assert_eq!(play.of("g").ending, None);
    play.waits(1);
    assert_eq!(play.of("g").ending, Some(Ending::Eof));
}

#[test]
fn another_stream_is_another_silence() {
    let mut play = Play::new(vec![timer()]);
    play.gets("g").streams("g").waits(30).calls("a", 1).answers("a", 1).waits(30);
    assert_eq!(play.of("g").ending, Some(Ending::Eof));
}

#[test]
fn so_much_longer_is_drawn_and_written_down() {
    let plus = Some(Time::Between(ms(10), ms(40)));
    let fault = Cut { when: Some(Condition::Idle { time: ms(60), plus }), ..cut(Ending::Eof, Place::After) };
    let mut play = Play::new(vec![rule("idle", at(At::Head, "get"), Fault::Cut(fault))]);
    play.gets("g").streams("g").waits(69);
    assert_eq!(play.of("g").ending, None);
    play.waits(31);
    assert_eq!(play.of("g").ending, Some(Ending::Eof));
    let drawn = play
        .entries
        .iter()
        .any(|entry| matches!(entry, super::super::record::Entry::Decision(decision) if decision.draws.len() == 1));
    assert!(drawn);
}

#[test]
fn a_held_block_waits_for_silence_from_its_own_arrival() {
    let mut play = Play::new(vec![rule("hold", at(At::Block, "get"), hold(idle(20)))]);
    play.gets("g").streams("g").waits(500).data("g", &notification(1)).waits(15).data("g", &notification(2)).waits(19);
    assert_eq!(play.body("g"), "");
    play.waits(1);
    assert_eq!(play.body("g"), [notification(1), notification(2)].concat());
    assert_eq!(play.opened(), vec![Opened::By("20ms of silence".to_owned()); 2]);
}

#[test]
fn a_hold_at_its_limit_while_bytes_keep_coming_has_failed() {
    let mut play = Play::new(vec![rule("hold", at(At::End, "get"), hold(idle(20_000)))]);
    play.gets("g").streams("g").data("g", &notification(1)).ends("g").waits(10_000);
    assert_eq!(play.opened(), [Opened::Limit]);
}

/// `from` came true last (rule R13): the silence may be over.
#[test]
fn a_silence_switches_a_rule_on_for_what_comes_after_it() {
    for (from, until, delayed) in [
        (Some(idle(30)), None, [false, false, true, true]),
        (None, Some(idle(30)), [true, true, false, false]),
        (
            Some(idle(30)),
            Some(Condition::Bytes { size: 3 * notification(1).len() as u64, plus: None }),
            [false, false, true, false],
        ),
    ] {
        let mut play = Play::new(vec![Rule { from, until, ..rule("r", at(At::Block, "get"), delay(1)) }]);
        play.gets("g").streams("g");
        for (n, (pause, late)) in [5, 5, 30, 5].into_iter().zip(delayed).enumerate() {
            play.waits(pause).data("g", &notification(1));
            assert_eq!(play.body("g").len() == n * notification(1).len(), late, "block {n}");
            play.waits(1);
        }
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn dies(time: u64) -> Rule {
    let fault = Cut { when: Some(idle(time)), ..cut(Ending::Fin, Place::After) };
    Rule { scope: Scope::Connection, ..rule("dies", Selector::any(At::Connect), Fault::Cut(fault)) }
}

#[test]
fn a_connection_is_idle_when_no_exchange_is_open_on_it_for_so_long() {
    let mut play = Play::new(vec![dies(50)]);
    play.connects("c");
    play.waits(49).sends("p", "POST", &[("mcp-session-id", "S"), (":conn", "c")], PING).waits(500);
    assert_eq!(play.cut_connections, 0, "a request is open");
    play.answers("p", 1).waits(49);
    play.sends("q", "POST", &[("mcp-session-id", "S"), (":conn", "c")], PING).answers("q", 1).waits(49);
    assert_eq!(play.cut_connections, 0, "the second request began anew");
    play.waits(1);
    assert_eq!((play.cut_connections, play.counts("dies")), (1, (1, 1, 1)));
}

#[test]
fn a_connection_on_which_nothing_ever_came_is_idle_from_its_beginning() {
    let mut play = Play::new(vec![dies(50)]);
    play.connects("c");
    play.waits(49);
    assert_eq!(play.cut_connections, 0);
    play.waits(1);
    assert_eq!(play.cut_connections, 1);
}

/// C11, as the next request arrives: only where the connection had been idle for so long.
#[test]
fn a_request_on_a_connection_that_was_idle_is_told_from_one_that_was_not() {
    for point in [At::RequestHead, At::Request] {
        let race = Rule {
            from: Some(idle(50)),
            scope: Scope::Connection,
            ..rule(
                "race",
                Selector { reused: Some(true), ..Selector::any(point) },
                Fault::Cut(cut(Ending::Reset, Place::Before)),
            )
        };
        let mut play = Play::new(vec![race]);
        let send = |play: &mut Play, conn: &str, name: &str| {
            play.sends(name, "POST", &[("mcp-session-id", "S"), (":conn", conn)], PING);
            play.of(name).ending
        };
        assert_eq!(send(&mut play, "c", "first"), None);
        play.waits(100).answers("first", 1).waits(49);
        assert_eq!(send(&mut play, "c", "early"), None, "a slow answer is no silence of the connection");
        play.answers("early", 1).waits(50);
        assert_eq!(send(&mut play, "new", "other"), None, "a new connection was never idle");
        assert_eq!(send(&mut play, "c", "late"), Some(Ending::Reset));
    }
}

#[test]
fn an_answer_that_is_silent_before_its_head_is_silent_from_the_request() {
    let fault = Cut { when: Some(idle(30)), ..cut(Ending::Reset, Place::After) };
    let mut play = Play::new(vec![rule("r", at(At::Request, "post"), Fault::Cut(fault))]);
    play.calls("a", 1).waits(29);
    assert_eq!(play.of("a").ending, None);
    play.waits(1);
    assert_eq!(play.of("a").ending, Some(Ending::Reset));
    play.calls("b", 2).waits(20).streams("b").waits(20).data("b", &answer(2)).ends("b");
    assert_eq!(play.of("b").ending, Some(Ending::Eof));
}

/// How silent the server is by itself, for the verdict of a run whose times are scaled.
#[test]
fn the_longest_silence_of_the_server_is_noted_beside_what_the_rule_did() {
    let kept = Cut {
        when: Some(idle(60)),
        other_leg: super::super::fault::cut::OtherLeg::Drain,
        ..cut(Ending::Eof, Place::After)
    };
    let mut play = Play::new(vec![
        rule("idle", at(At::Head, "get"), Fault::Cut(kept)),
        rule("other", at(At::Head, "post"), delay(0)),
    ]);
    play.gets("g").streams("g").waits(20).data("g", ": a\n\n").waits(400).data("g", ": b\n\n").waits(900).finishes();
    let silence = play.engine.summary().silences.remove(0);
    assert_eq!((&*silence.rule, silence.time, silence.acted), ("idle", 60_000, 1));
    assert_eq!((silence.longest, silence.open), (400_000, 900_000));
}

#[test]
fn for_a_connection_it_is_the_time_between_its_exchanges() {
    let mut play = Play::new(vec![dies(500)]);
    play.sends("p", "POST", &[("mcp-session-id", "S"), (":conn", "c")], PING).waits(300).answers("p", 1).waits(200);
    play.sends("q", "POST", &[("mcp-session-id", "S"), (":conn", "c")], PING);
    let silence = play.engine.summary().silences.remove(0);
    assert_eq!((silence.acted, silence.longest), (0, 200_000));
    play.answers("q", 1).waits(500);
    assert_eq!(play.engine.summary().silences[0].acted, 1);
}
