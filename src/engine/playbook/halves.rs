//! Requests that are cut inside: exactly so much of the body goes to the server, then the legs end as the rule says.

use super::super::condition::Leg;
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Offset, OtherLeg, Place};
use super::super::record::PointFate;
use super::super::selector::At;
use super::Play;
use super::tools::{cut, hold, ms, of, rule, seen};

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;

fn inside(offset: Offset) -> Cut {
    cut(Ending::Fin, Place::Inside(offset))
}

fn halved(cut: Cut) -> Play {
    let mut play = Play::new(vec![rule("cut", of(At::Request, "tools/call"), Fault::Cut(cut))]);
    play.calls("a", 1);
    play
}

#[test]
fn exactly_so_much_of_the_body_reaches_the_server() {
    let len = BODY.len();
    for (offset, part) in [
        (Offset::Bytes(0), 0),
        (Offset::Bytes(10), 10),
        (Offset::Bytes(-1), len - 1),
        (Offset::Share(0.5), len / 2),
        (Offset::Bytes(100_000), len),
    ] {
        let play = halved(inside(offset));
        assert_eq!(play.of("a").forwarded.as_deref(), Some(&BODY.as_bytes()[..part]), "{offset:?}");
        assert!(play.of("a").half, "even all of it is not the end of the request");
        let point = play.point("s1/post:1/request#1");
        assert_eq!((point.fate, point.bytes), (PointFate::Cut, part as u64));
        assert_eq!(play.counts("cut"), (1, 1, 1));
    }
}

/// Client's ending, server's fate: the leg that is named ends as the rule says, the other as it says of that.
#[test]
fn then_the_legs_end_as_the_rule_says() {
    let inside = |ending| Cut { ending, ..inside(Offset::Bytes(7)) };
    let server = |ending, other_leg| Cut { leg: Leg::Server, other_leg, ..inside(ending) };
    let kept = Cut { other_leg: OtherLeg::Keep, lasting: Some(ms(5)), ..inside(Ending::Reset) };
    for (cut, client, fate) in [
        (inside(Ending::Fin), Ending::Fin, Fate::Close),
        (inside(Ending::Reset), Ending::Reset, Fate::Close),
        (kept, Ending::Reset, Fate::Keep(Some(ms(5)))),
        (server(Ending::Reset, OtherLeg::Close), Ending::Fin, Fate::Reset),
        (server(Ending::Reset, OtherLeg::Keep), Ending::Stall, Fate::Reset),
        (server(Ending::Stall, OtherLeg::Close), Ending::Fin, Fate::Keep(None)),
        (Cut { leg: Leg::Both, ..inside(Ending::Reset) }, Ending::Reset, Fate::Reset),
    ] {
        let play = halved(cut.clone());
        assert_eq!((play.of("a").ending, play.of("a").server), (Some(client), Some(fate)), "{cut:?}");
    }
}

/// What the server got half of has not passed (rule R3).
#[test]
fn a_condition_does_not_take_it_for_a_request_that_passed() {
    let first = rule("cut", of(At::Request, "tools/call"), Fault::Cut(inside(Offset::Bytes(7))));
    let waits = rule("hold", of(At::Request, "ping"), hold(seen(of(At::Request, "tools/call"))));
    let mut play = Play::new(vec![first, waits]);
    play.calls("a", 1).posts("p", r#"{"id":2,"method":"ping"}"#);
    assert!(!play.forwarded("p"));
}

/// The proxy answers for a server that cannot be reached: nothing was sent, so nothing is cut.
#[test]
fn a_server_that_refuses_early_is_not_cut() {
    let mut play = Play::new(vec![rule("cut", of(At::Request, "tools/call"), Fault::Cut(inside(Offset::Bytes(7))))]);
    play.reads_no_request_whole().calls("a", 1).head("a", 413, &[]).ends("a");
    assert_eq!((play.of("a").ending, play.counts("cut")), (Some(Ending::Eof), (1, 1, 0)));
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty());
}
