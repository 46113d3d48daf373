//! The same content in other pieces and other forms, in both directions.

use std::time::Duration;

use super::super::condition::{Condition, Leg, Seen, Time};
use super::super::event::{Command, Ending};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Offset, Place};
use super::super::fault::reframe::{Coalesce, Newline, Reframe, Split};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, at, cut, glob, hold, message, ms, notification, of, question, rule, seen, sight};

const NOTHING: Reframe =
    Reframe { split: None, gap: Time::Fixed(Duration::ZERO), newline: None, coalesce: None, final_blank: true, pad: 0 };

fn reframe(selector: Selector, reframe: Reframe) -> Rule {
    rule("r", selector, Fault::Reframe(reframe))
}

fn split(selector: Selector, split: Split) -> Rule {
    reframe(selector, Reframe { split: Some(split), ..NOTHING })
}

fn shown(pieces: &[bytes::Bytes]) -> Vec<String> {
    pieces.iter().map(|piece| piece.escape_ascii().to_string()).collect()
}

fn head() -> Selector {
    at(At::Head, "post")
}

#[test]
fn a_body_leaves_in_pieces_each_after_the_one_before_was_written() {
    let mut play = Play::new(vec![split(head(), Split::Size(4))]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]).stops_reading("a").data("a", "0123456789");
    assert_eq!(shown(&play.of("a").pieces), ["0123"]);
    play.reads_again();
    assert_eq!(shown(&play.of("a").pieces), ["0123", "4567", "89"]);
    // The places are those of the whole body, however it comes.
    play.data("a", "ab").data("a", "cdefg").ends("a");
    assert_eq!(shown(&play.of("a").pieces)[3..], ["ab", "cdef", "g"]);
    assert_eq!((play.of("a").ending, play.counts("r")), (Some(Ending::Eof), (1, 1, 1)));
    assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
}

#[test]
fn without_the_rule_it_leaves_in_one() {
    let mut play = Play::new(vec![]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]).data("a", "0123456789").ends("a");
    assert_eq!(shown(&play.of("a").pieces), ["0123456789"]);
}

#[test]
fn a_gap_lies_between_two_pieces_and_between_the_head_and_the_first() {
    let parted = Reframe { split: Some(Split::Size(4)), gap: Time::Fixed(ms(10)), ..NOTHING };
    let mut play = Play::new(vec![reframe(head(), parted)]);
    play.calls("a", 1).head("a", 200, &[]).data("a", "0123456789").ends("a");
    let mut seen = vec![play.body("a").len()];
    for _ in 0..3 {
        play.waits(9);
        seen.push(play.body("a").len());
        play.waits(1);
        seen.push(play.body("a").len());
    }
    assert_eq!(seen, [0, 0, 4, 4, 8, 8, 10]);
    assert_eq!(play.of("a").ending, Some(Ending::Eof), "an end is no piece");
    assert!(play.engine.timers.is_empty());
}

#[test]
fn a_head_leaves_apart_from_a_body_that_is_split_and_only_then() {
    for (how, apart) in [(Some(Split::Head), true), (None, false)] {
        let rules = how.map(|how| split(head(), how)).into_iter().collect();
        let mut play = Play::new(rules);
        play.calls("a", 1).stops_reading("a").streams("a").data("a", &notification(1));
        assert_eq!(play.body("a").is_empty(), apart, "the head is not written yet");
        play.reads_again();
        assert_eq!((play.body("a"), play.of("a").writes), (&*notification(1), 1));
    }
}

#[test]
fn a_block_is_split_and_its_neighbours_are_not() {
    let mut play = Play::new(vec![split(message("request"), Split::Sizes(vec![1, 30]))]);
    let bytes = notification(1) + &question(7) + &notification(2) + &notification(3);
    play.calls("a", 1).streams("a").data("a", &bytes).ends("a");
    let lengths: Vec<usize> = play.of("a").pieces.iter().map(bytes::Bytes::len).collect();
    let (note, question) = (notification(1).len(), question(7).len());
    assert_eq!(lengths, [note, 1, 30, question - 31, note, note]);
    assert_eq!((play.body("a"), play.counts("r")), (&*bytes, (1, 1, 1)));
}

#[test]
fn characters_and_line_ends_are_torn() {
    for (how, data, pieces) in [
        (Split::Utf8, "data: \"ä€\"\n\n", &[r#"data: "\xc3"#, r"\xa4\xe2", r#"\x82\xac"\n\n"#][..]),
        (Split::Crlf, "data: 1\r\n\r\n", &[r"data: 1\r", r"\n\r", r"\n"]),
    ] {
        let pieces: Vec<String> = pieces.iter().map(|piece| piece.replace('"', "\\\"")).collect();
        for selector in [head(), Selector { block: glob("*"), ..Selector::any(At::Block) }] {
            let mut play = Play::new(vec![split(selector, how.clone())]);
            play.calls("a", 1).streams("a").data("a", data).ends("a");
            assert_eq!((shown(&play.of("a").pieces), play.body("a")), (pieces.clone(), data));
        }
    }
}

#[test]
fn what_has_no_place_to_be_split_is_not_effective() {
    for how in [Split::Utf8, Split::Crlf, Split::Size(1_000)] {
        let mut play = Play::new(vec![split(message("answer"), how)]);
        play.calls("a", 1).answers("a", 1);
        assert_eq!((play.body("a"), play.counts("r")), (&*answer(1), (1, 1, 0)));
    }
}

#[test]
fn a_request_leaves_in_pieces_behind_its_head() {
    let parted = Reframe { split: Some(Split::Size(40)), gap: Time::Fixed(ms(10)), ..NOTHING };
    let mut play = Play::new(vec![reframe(of(At::Request, "tools/call"), parted)]);
    play.calls("a", 1);
    let whole = play.of("a").request.clone();
    let mut sent = Vec::new();
    for _ in 0..3 {
        sent.push(play.of("a").sends.len());
        play.waits(10);
    }
    assert_eq!((sent, play.counts("r")), (vec![0, 1, 2], (1, 1, 1)));
    assert_eq!(play.of("a").forwarded.as_ref(), Some(&whole));
    assert_eq!(play.point("s1/post:1/request#1").left, Some(20_000), "it has left with its last piece");
    play.answers("a", 1);
    assert_eq!(play.body("a"), answer(1));
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty() && play.engine.timers.is_empty());
}

/// A server that refuses early, and a client that leaves: what was not sent never is.
#[test]
fn pieces_that_nobody_waits_for_are_forgotten() {
    let parted = Reframe { split: Some(Split::Byte), gap: Time::Fixed(ms(10)), ..NOTHING };
    let rules = vec![reframe(of(At::Request, "tools/call"), parted)];
    let mut play = Play::new(rules.clone());
    play.calls("a", 1).waits(30).head("a", 413, &[]).ends("a").waits(100);
    assert_eq!(play.of("a").sends.len(), 3);
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty() && play.engine.timers.is_empty());
    let mut play = Play::new(rules);
    play.calls("a", 1).waits(30).leaves("a").waits(100);
    assert_eq!((play.of("a").sends.len(), play.of("a").server.is_some()), (3, true));
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty() && play.engine.timers.is_empty());
}

#[test]
fn line_ends_are_others_however_they_come() {
    let bytes = "data: {\"method\":\"x\"}\r\n\r\nid: 1\r\ndata: 2\r\n\r\n: c\r\n\r\n";
    for (newline, end) in [(Newline::Lf, "\n"), (Newline::Crlf, "\r\n"), (Newline::Cr, "\r")] {
        for size in 1..bytes.len() {
            let form = Reframe { newline: Some(newline), ..NOTHING };
            let mut play = Play::new(vec![reframe(head(), form)]);
            play.calls("a", 1).streams("a");
            for piece in bytes.as_bytes().chunks(size) {
                play.bytes("a", bytes::Bytes::copy_from_slice(piece));
            }
            play.ends("a");
            assert_eq!(play.body("a"), bytes.replace("\r\n", end), "in pieces of {size}");
            assert_eq!(play.counts("r"), (1, 1, u64::from(newline != Newline::Crlf)));
        }
    }
}

#[test]
fn a_length_that_may_change_is_not_announced() {
    let shapes = [Reframe { newline: Some(Newline::Cr), ..NOTHING }, Reframe { final_blank: false, ..NOTHING }];
    let splits = [Reframe { split: Some(Split::Byte), ..NOTHING }];
    for (form, rechunk) in shapes.into_iter().map(|form| (form, true)).chain(splits.map(|form| (form, false))) {
        let mut play = Play::new(vec![reframe(head(), form)]);
        play.calls("a", 1).head("a", 200, &[("content-type", "text/event-stream"), ("content-length", "99")]);
        assert_eq!(play.of("a").sent_head, Some(rechunk));
    }
}

#[test]
fn a_blank_line_is_left_out_of_the_event_that_is_meant() {
    for size in [1, 1_000] {
        let mut play = Play::new(vec![reframe(message("answer"), Reframe { final_blank: false, ..NOTHING })]);
        play.calls("a", 1).streams("a");
        let bytes = (notification(1) + &answer(1)).replace('\n', "\r\n");
        for piece in bytes.as_bytes().chunks(size) {
            play.bytes("a", bytes::Bytes::copy_from_slice(piece));
        }
        let (body, bytes) = (play.body("a"), bytes.strip_suffix("\r\n").expect("it ends so"));
        // Where a block ends with CR, its LF is passed on late.
        assert_eq!(body.replace('\r', ""), bytes.replace('\r', ""));
        assert_eq!(play.counts("r"), (1, 1, 1));
    }
}

#[test]
fn a_message_is_made_as_long_as_is_asked_and_stays_the_same_json() {
    let pad = |selector| reframe(selector, Reframe { pad: 1_000, ..NOTHING });
    let mut play =
        Play::new(vec![pad(message("answer")), Rule { name: "s".into(), ..pad(of(At::Request, "tools/call")) }]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1)));
    let spaces = " ".repeat(1_000 - r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.len());
    assert_eq!(play.body("a"), notification(1) + &answer(1).replace("\n\n", &format!("{spaces}\n\n")));
    let (request, sent) = (play.of("a").request.clone(), play.of("a").forwarded.clone().expect("it was"));
    assert_eq!((sent.len(), sent.trim_ascii_end()), (1_000, &request[..]));
    let mut play = Play::new(vec![pad(message("answer"))]);
    play.calls("a", 1).head("a", 200, &[("content-type", "application/json"), ("content-length", "36")]);
    play.data("a", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).ends("a");
    assert_eq!((play.body("a").len(), play.of("a").sent_head), (1_000, Some(true)));
}

#[test]
fn events_leave_together() {
    let together = Reframe { coalesce: Some(Coalesce::Events(3)), ..NOTHING };
    let mut play = Play::new(vec![reframe(head(), together.clone())]);
    play.calls("a", 1).streams("a");
    let mut seen = Vec::new();
    for number in 1..=4 {
        play.data("a", &notification(number));
        seen.push(play.body("a").len() / notification(1).len());
    }
    play.waits(999);
    seen.push(play.body("a").len() / notification(1).len());
    play.waits(1);
    seen.push(play.body("a").len() / notification(1).len());
    assert_eq!((seen, play.opened().len(), play.counts("r")), (vec![0, 0, 3, 3, 3, 4], 0, (1, 1, 1)));

    // Only those that are meant are collected; what stands before the first of them has nothing to wait for.
    let mut play = Play::new(vec![reframe(message("notification"), together)]);
    play.calls("a", 1).streams("a").data("a", &(question(7) + &notification(1))).data("a", &question(8));
    assert_eq!(play.body("a"), question(7));
    play.data("a", &notification(2)).data("a", &notification(3));
    assert_eq!(play.body("a"), question(7) + &notification(1) + &question(8) + &notification(2) + &notification(3));
}

/// In how many steps something was written on this exchange.
fn steps(play: &Play, name: &str) -> usize {
    let id = play.id(name);
    let writes = |command: &Command| matches!(command, Command::Write { exchange, .. } if *exchange == id);
    play.told.iter().filter(|(_, commands)| commands.iter().any(writes)).count()
}

/// A DELETE that waits for the first of them goes behind the whole write, and not between two of its events.
#[test]
fn events_that_a_hold_lets_go_leave_together_though_something_waits_for_one_of_them() {
    let notifications = Selector { stream: glob("get"), ..message("notification") };
    let sent = Seen { leg: Some(Leg::Client), ..sight(at(At::Request, "delete")) };
    let dam = rule("dam", notifications.clone(), hold(Condition::Seen(Box::new(sent))));
    let together = Reframe { coalesce: Some(Coalesce::Events(4)), ..NOTHING };
    let behind = rule("behind", at(At::Request, "delete"), hold(seen(notifications.clone())));
    for (rules, writes) in
        [(vec![dam.clone(), reframe(notifications, together), behind.clone()], 1), (vec![dam, behind], 2)]
    {
        let mut play = Play::new(rules);
        play.gets("get").streams("get");
        for number in 1..=4 {
            play.data("get", &notification(number));
        }
        assert_eq!((play.body("get"), steps(&play, "get")), ("", 0));
        play.sends("delete", "DELETE", &[("mcp-session-id", "S")], "");
        assert_eq!(play.body("get"), (1..=4).map(notification).collect::<String>());
        assert_eq!(steps(&play, "get"), writes, "without the rule the first goes alone");
        assert!(play.forwarded("delete"));
    }
}

#[test]
fn the_events_of_some_time_leave_together() {
    let mut play = Play::new(vec![reframe(head(), Reframe { coalesce: Some(Coalesce::Time(ms(50))), ..NOTHING })]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).waits(49).data("a", &notification(2));
    assert_eq!(play.body("a"), "");
    play.waits(1);
    assert_eq!(play.body("a"), notification(1) + &notification(2));
}

/// What a dam has held leaves together, and no wait is added to its.
#[test]
fn held_events_leave_in_one_write() {
    let dam = rule("dam", message("notification"), hold(after(500)));
    let one = Rule {
        name: "s".into(),
        ..reframe(message("notification"), Reframe { coalesce: Some(Coalesce::Events(2)), ..NOTHING })
    };
    let mut play = Play::new(vec![dam, one]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).data("a", &notification(2)).waits(499);
    assert_eq!(play.body("a"), "");
    play.waits(1);
    assert_eq!(play.body("a"), notification(1) + &notification(2));
}

#[test]
fn a_cut_inside_a_block_counts_in_the_block_as_it_would_have_been_sent() {
    let cr = reframe(message("answer"), Reframe { pad: 200, split: Some(Split::Byte), ..NOTHING });
    let inside = Cut { place: Place::Inside(Offset::Bytes(-3)), ..cut(Ending::Fin, Place::Before) };
    let mut play =
        Play::new(vec![cr, Rule { name: "cut".into(), ..rule("cut", message("answer"), Fault::Cut(inside)) }]);
    play.calls("a", 1).answers("a", 1);
    let inside = play.of("a").inside.clone().expect("the cut falls inside");
    assert_eq!((inside.whole, inside.part.len()), (answer(1).len() + 164, answer(1).len() + 161));
}
