//! Profiles about a call's answer, played.

use super::{OK, PRIMING, all, idle, lost, play, status};
use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::tools::{answer, notification};

#[test]
fn post_stream_lost() {
    for (ending, made) in [("eof", Ending::Eof), ("fin", Ending::Fin), ("reset", Ending::Reset)] {
        let part = |place: &str| lost(&[&format!("post-stream-lost,ending={ending},where={place},blocks=1")]);
        let cut = |body: &[&str]| (body.concat(), Some(made), Some(Fate::Close));
        let (first, second) = (notification(1), notification(2));
        assert_eq!(part("head"), cut(&[]));
        assert_eq!(part("id"), cut(&[PRIMING]));
        assert_eq!(part("after"), cut(&[PRIMING, &first]));
        assert_eq!(part("before"), cut(&[PRIMING, &first, &second]));
        assert_eq!(part("inside"), cut(&[PRIMING, &first, &second, &answer(1)[..answer(1).len() / 2]]));
    }
    assert_eq!(lost(&["transparent"]).1, None);
}

#[test]
fn post_stream_lost_while_the_server_works_on() {
    assert_eq!(lost(&["post-stream-lost,server=drain"]).2, Some(Fate::Drain(None)));
    assert_eq!(lost(&["post-stream-lost,server=keep"]).2, Some(Fate::Keep(None)));
}

#[test]
fn post_stream_lost_for_one_call_of_each_session() {
    let mut play = play(&["post-stream-lost,call=2"]);
    for (name, id) in [("first", 1), ("second", 2), ("third", 3)] {
        play.calls(name, id).answers(name, id);
    }
    assert_eq!((play.body("first"), play.body("second"), play.body("third")), (&*answer(1), "", &*answer(3)));
}

#[test]
fn post_stream_stalls() {
    let (body, ending, server) = lost(&["post-stream-stalls"]);
    assert_eq!((body, ending), (all().replace(&answer(1), ""), Some(Ending::Stall)));
    assert_eq!(server, Some(Fate::Drain(None)), "the server notices nothing");
    let (body, ending, _) = lost(&["post-stream-stalls,where=inside"]);
    assert_eq!((body.len(), ending), (all().len() - answer(1).len().div_ceil(2), Some(Ending::Stall)));
}

#[test]
fn post_stream_stalls_right_after_the_head_or_before_it() {
    let (body, ending, _) = lost(&["post-stream-stalls,where=head"]);
    assert_eq!((&*body, ending), ("", Some(Ending::Stall)));
    let mut play = play(&["post-stream-stalls,where=nothing"]);
    play.calls("call", 1).answers("call", 1);
    assert_eq!((status(&play, "call"), play.of("call").ending), (None, Some(Ending::Stall)));
}

#[test]
fn post_stream_stalls_for_a_share_of_the_calls() {
    let stalled = |uses: &[&str]| {
        let mut play = play(uses);
        let calls: Vec<_> = (1..=100).map(|id| (id, format!("call{id}"))).collect();
        for (id, name) in &calls {
            play.calls(name, *id).answers(name, *id);
        }
        calls.iter().filter(|(_, name)| play.of(name).ending == Some(Ending::Stall)).count()
    };
    let some = stalled(&["post-stream-stalls,call=all,p=0.1"]);
    assert!((1..30).contains(&some), "{some}");
    assert_eq!(stalled(&["post-stream-stalls,call=all"]), 100);
    assert_eq!(stalled(&["post-stream-stalls"]), 1);
    assert_eq!(stalled(&[]), 0);
}

#[test]
fn answer_late() {
    let begun = |uses: &[&str], waits| {
        let mut play = play(uses);
        play.calls("call", 1).answers("call", 1).waits(waits);
        (status(&play, "call"), play.body("call") == answer(1), play.of("call").ending)
    };
    let whole = (OK, true, Some(Ending::Eof));
    assert_eq!(begun(&[], 0), whole);
    for late in ["answer", "event", "head"] {
        let uses = [&*format!("answer-late,late={late}")];
        let head = if late == "head" { None } else { OK };
        assert_eq!(begun(&uses, 5_999), (head, false, None), "{late}");
        assert_eq!(begun(&uses, 6_000), whole, "{late}");
    }
}

/// What the client has seen of a call whose server answers it to the end, and whether the server could.
fn worked(uses: &[&str]) -> (Option<u16>, String, Option<Ending>, bool) {
    let mut play = play(uses);
    play.calls("call", 1).streams("call").data("call", &notification(1)).waits(5_000);
    let let_be = play.of("call").server.is_none();
    play.data("call", &answer(1)).ends("call");
    assert_eq!(idle(&play), Vec::<String>::new());
    let seen = play.of("call");
    (status(&play, "call"), play.body("call").to_owned(), seen.ending, let_be && seen.forwarded.is_some())
}

#[test]
fn answer_lost_after_work() {
    assert_eq!(worked(&[]), (OK, [notification(1), answer(1)].concat(), Some(Ending::Eof), true));
    for (seen, ending) in [("reset", Ending::Reset), ("fin", Ending::Fin), ("stall", Ending::Stall)] {
        let lost = worked(&[&format!("answer-lost-after-work,seen={seen}")]);
        assert_eq!(lost, (None, String::new(), Some(ending), true), "the server has done it all");
    }
    let empty = worked(&["answer-lost-after-work,seen=empty"]);
    assert_eq!(empty, (OK, String::new(), Some(Ending::Eof), true));
}

#[test]
fn request_lost() {
    for (ending, seen) in [("reset", Ending::Reset), ("fin", Ending::Fin), ("stall", Ending::Stall)] {
        let mut play = play(&[&format!("request-lost,ending={ending}")]);
        play.calls("first", 1).calls("second", 2);
        assert!(!play.forwarded("first"), "the server never gets it");
        assert_eq!(play.of("first").ending, Some(seen));
        assert!(play.forwarded("second"), "the next one is another matter");
    }
    let mut control = play(&[]);
    control.calls("first", 1);
    assert!(control.forwarded("first"));
}

#[test]
fn request_lost_now_and_then() {
    let mut play = play(&["request-lost,method=initialize,call=all,p=0.4"]);
    let names: Vec<_> = (1..=50).map(|n| format!("init{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        play.sends(name, "POST", &[], &format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"initialize","params":{{}}}}"#));
    }
    let lost = names.iter().filter(|name| !play.forwarded(name)).count();
    assert!((5..40).contains(&lost), "{lost}");
}

#[test]
fn stream_open_after_response() {
    let ended = |uses: &[&str], waits| {
        let mut play = play(uses);
        play.calls("call", 1).answers("call", 1).waits(waits);
        assert_eq!(play.body("call"), answer(1), "the answer is not kept back");
        assert_eq!(idle(&play), Vec::<String>::new());
        play.of("call").ending
    };
    assert_eq!(ended(&[], 0), Some(Ending::Eof));
    assert_eq!(ended(&["stream-open-after-response"], 600_000), None);
    assert_eq!(ended(&["stream-open-after-response,end=late"], 4_999), None);
    assert_eq!(ended(&["stream-open-after-response,end=late"], 5_000), Some(Ending::Eof));
}

#[test]
fn stream_open_after_response_that_lacks_its_blank_line() {
    let mut play = play(&["stream-open-after-response,end=no-blank"]);
    play.calls("call", 1).answers("call", 1).waits(600_000);
    let lacking = answer(1).strip_suffix('\n').map(str::to_owned);
    assert_eq!((Some(play.body("call").to_owned()), play.of("call").ending), (lacking, None));
}
