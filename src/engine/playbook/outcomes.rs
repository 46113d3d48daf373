//! What counts as effective: what the client could see, and nothing else (rule R35).

use super::super::condition::Condition;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Offset, OtherLeg, Place};
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, cut, delay, hold, message, notification, of, rule, seen};

/// A call with this answer's head, its end kept back for a while.
fn kept(fault: Fault, method: &str, head: (u16, &[(&str, &str)])) -> (u64, u64, u64) {
    let mut play = Play::new(vec![rule("r", Selector::any(At::End), fault)]);
    let body = if method == "HEAD" { "" } else { r#"{"id":1,"method":"ping"}"# };
    play.sends("a", method, &[("mcp-session-id", "S")], body).head("a", head.0, head.1).ends("a").waits(20_000);
    assert_eq!(play.of("a").ending, Some(Ending::Eof));
    play.counts("r")
}

#[test]
fn an_end_that_the_head_had_told_already_cannot_be_kept_back() {
    let faults = || [delay(50), hold(after(50)), hold(seen(of(At::Request, "ping")))];
    for fault in faults() {
        for (method, status) in [("POST", 204), ("GET", 304), ("HEAD", 200)] {
            assert_eq!(kept(fault.clone(), method, (status, &[])), (1, 1, 0), "{method} {status}");
        }
        // Its length goes, and its end is a chunk that comes late.
        let empty: &[_] = &[("content-length", "0")];
        assert_eq!(kept(fault, "POST", (202, empty)), (1, 1, 1));
    }
}

/// A stream of two events and its end, cut: the counts, and what arrived.
fn cut_as(selector: Selector, fault: Cut, told: impl FnOnce(&mut Play)) -> (u64, String, Option<Ending>) {
    let mut play = Play::new(vec![rule("cut", selector, Fault::Cut(fault))]);
    play.calls("a", 1).streams("a").data("a", &notification(1));
    told(&mut play);
    (play.counts("cut").2, play.body("a").to_owned(), play.of("a").ending)
}

fn at_once(play: &mut Play) {
    play.ends_with("a", &answer(1));
}

#[test]
fn a_cut_that_ends_a_stream_as_it_ends_anyway_is_not_effective() {
    let whole = [notification(1), answer(1)].concat();
    for (selector, place) in [
        (message("answer"), Place::After),
        (message("answer"), Place::Inside(Offset::Share(1.0))),
        (message("answer"), Place::Inside(Offset::Bytes(1_000_000))),
        (of(At::End, "tools/call"), Place::Before),
    ] {
        let eof = cut(Ending::Eof, place);
        assert_eq!(cut_as(selector.clone(), eof, at_once), (0, whole.clone(), Some(Ending::Eof)), "{place:?}");
        let (effective, body, _) = cut_as(selector, cut(Ending::Fin, place), at_once);
        assert_eq!((effective, body), (1, whole.clone()), "{place:?}");
    }
}

#[test]
fn a_cut_that_keeps_a_byte_back_is_effective() {
    for place in [Place::Before, Place::Inside(Offset::Bytes(-1))] {
        assert_eq!(cut_as(message("answer"), cut(Ending::Eof, place), at_once).0, 1, "{place:?}");
    }
    for other_leg in [OtherLeg::Close, OtherLeg::Drain] {
        let eof = || Cut { other_leg, ..cut(Ending::Eof, Place::After) };
        assert_eq!(cut_as(message("notification"), eof(), |_| {}).0, 1);
        for rest in [notification(2), "data: hal".to_owned(), ":".to_owned()] {
            let last = |play: &mut Play| _ = play.ends_with("a", &[&answer(1), &*rest].concat());
            assert_eq!(cut_as(message("answer"), eof(), last).0, 1, "{rest:?}");
        }
    }
}

/// The client saw an end that the server had not made.
#[test]
fn a_cut_before_the_server_has_ended_is_effective() {
    for other_leg in [OtherLeg::Close, OtherLeg::Drain, OtherLeg::Keep] {
        let eof = Cut { other_leg, ..cut(Ending::Eof, Place::After) };
        let told = |play: &mut Play| _ = play.data("a", &answer(1));
        assert_eq!(cut_as(message("answer"), eof, told).0, 1, "{other_leg:?}");
    }
}

#[test]
fn a_cut_that_moves_the_end_in_time_is_effective() {
    let late = Cut { when: Some(after(50)), ..cut(Ending::Eof, Place::Before) };
    let told = |play: &mut Play| _ = play.ends_with("a", &answer(1)).waits(50);
    assert_eq!(cut_as(of(At::End, "tools/call"), late, told).0, 1, "later");

    let early = Cut { when: Some(Condition::End), ..cut(Ending::Eof, Place::After) };
    let slow = rule("slow", of(At::End, "tools/call"), delay(50));
    let mut play = Play::new(vec![slow, rule("cut", message("answer"), Fault::Cut(early))]);
    play.calls("a", 1).streams("a").ends_with("a", &answer(1));
    assert_eq!(
        (play.of("a").ending, play.counts("cut").2),
        (Some(Ending::Eof), 1),
        "earlier than the other rule would"
    );
}

#[test]
fn an_answer_without_a_body_has_nothing_that_a_proper_end_could_cut_off() {
    for (status, ending, effective) in [
        (204, Ending::Eof, 0),
        (204, Ending::Stall, 0),
        (204, Ending::Fin, 1),
        (204, Ending::Reset, 1),
        (202, Ending::Eof, 0),
        (202, Ending::Stall, 1),
    ] {
        let after_head = Fault::Cut(cut(ending, Place::After));
        let mut play = Play::new(vec![rule("cut", of(At::Head, "ping"), after_head)]);
        play.posts("a", r#"{"id":1,"method":"ping"}"#).head("a", status, &[("content-length", "0")]);
        assert_eq!((play.of("a").ending, play.counts("cut").2), (Some(ending), effective), "{status}");
    }
}

#[test]
fn a_json_answer_that_is_cut_after_all_of_it_is_whole() {
    for (length, place, effective) in [
        ("36", Place::After, 0),
        ("36", Place::Before, 1),
        ("", Place::After, 0),
        ("", Place::Inside(Offset::Share(1.0)), 0),
    ] {
        let mut play = Play::new(vec![rule("cut", message("answer"), Fault::Cut(cut(Ending::Eof, place)))]);
        let head = [("content-type", "application/json"), ("content-length", length)];
        let head = if length.is_empty() { &head[..1] } else { &head };
        play.calls("a", 1).head("a", 200, head).ends_with("a", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!((play.of("a").ending, play.counts("cut").2), (Some(Ending::Eof), effective), "{length:?} {place:?}");
    }
}
