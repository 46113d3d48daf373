//! Each built-in profile, loaded and played against the engine: what it makes happen, and that the same traffic without
//! it comes out otherwise. What the proxy makes of the engine's commands, and real peers of that, is tested elsewhere.

use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, notification, question};
use crate::profile::{Use, load};

fn play(uses: &[&str]) -> Play {
    let uses: Vec<Use> = uses.iter().map(|text| Use::parse(text).expect("it is well formed")).collect();
    Play::new(load(&uses).unwrap_or_else(|problems| panic!("{problems:#?}")).rules)
}

/// A block with an id and no message.
const PRIMING: &str = "id: 1\ndata: \n\n";

// === The standalone GET ===

#[test]
fn get_opens_late() {
    let mut play = play(&["get-opens-late"]);
    play.gets("get").calls("call", 1);
    assert!(!play.forwarded("get"));
    play.streams("call").data("call", &answer(1));
    assert!(!play.forwarded("get"), "the answer has come, the call has not ended");
    play.ends("call");
    assert!(play.forwarded("get"));
    play.gets("again");
    assert!(play.forwarded("again"), "once in each session");
}

#[test]
fn get_opens_late_in_every_session_anew() {
    let mut play = play(&["get-opens-late"]);
    play.gets("get").calls("call", 1).answers("call", 1);
    play.sends("other", "GET", &[("mcp-session-id", "T"), ("accept", "text/event-stream")], "");
    assert!(play.forwarded("get"));
    assert!(!play.forwarded("other"), "the call of another session is not its call");
}

#[test]
fn get_opens_late_waits_for_calls_that_overlap() {
    let mut play = play(&["get-opens-late"]);
    play.gets("get").calls("a", 1).calls("b", 2).answers("a", 1);
    assert!(!play.forwarded("get"), "b is still in flight");
    play.answers("b", 2);
    assert!(play.forwarded("get"));
}

/// Python's client closes the call's stream when it has the answer, and goes on; if the end comes later, none is seen.
#[test]
fn get_opens_late_when_the_client_leaves_the_call_it_has_the_answer_of() {
    let mut play = play(&["get-opens-late"]);
    play.gets("get").calls("call", 1).streams("call").data("call", &answer(1));
    play.leaves("call");
    assert!(play.forwarded("get"));
}

/// After a cancel a TypeScript server sends nothing more and leaves the call's stream open: no end is ever seen.
#[test]
fn get_opens_late_when_the_client_gives_the_call_up() {
    let mut play = play(&["get-opens-late"]);
    play.gets("get").calls("call", 1).streams("call");
    assert!(!play.forwarded("get"));
    play.posts("cancel", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert!(play.forwarded("get"));
}

#[test]
fn get_opens_late_by_more() {
    let mut play = play(&["get-opens-late,plus=600ms"]);
    play.gets("get").calls("call", 1).answers("call", 1).waits(599);
    assert!(!play.forwarded("get"));
    play.waits(1);
    assert!(play.forwarded("get"));
}

#[test]
fn get_opens_late_after_another_method() {
    let mut play = play(&["get-opens-late,call=notifications/initialized,plus=600ms"]);
    play.posts("init", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).gets("get");
    play.head("init", 202, &[]).ends("init").waits(599);
    assert!(!play.forwarded("get"));
    play.waits(1);
    assert!(play.forwarded("get"));
}

#[test]
fn get_opens_late_not_for_ever() {
    let mut play = play(&["get-opens-late,limit=3s"]);
    play.gets("get").waits(3_000);
    assert!(play.forwarded("get"));
}

#[test]
fn get_late_by() {
    let mut play = play(&["get-late-by"]);
    play.gets("get").waits(299);
    assert!(!play.forwarded("get"));
    play.waits(1).gets("again");
    assert!(play.forwarded("get") && play.forwarded("again"));
}

#[test]
fn get_opens_first() {
    for status in [200, 405] {
        let mut play = play(&["get-opens-first"]);
        play.calls("call", 1).gets("get");
        assert!(!play.forwarded("call"));
        play.head("get", status, &[("content-type", "text/event-stream")]);
        assert!(play.forwarded("call"));
    }
}

#[test]
fn get_opens_first_takes_the_loss_of_get_late_by_away() {
    let mut play = play(&["get-late-by", "get-opens-first"]);
    play.gets("get").calls("call", 1).waits(300);
    assert!(play.forwarded("get") && !play.forwarded("call"));
    play.streams("get");
    assert!(play.forwarded("call"));
}

// === A POST's stream ===

/// What the client has of a call whose stream carries an id, two notifications and the answer.
fn lost(uses: &[&str]) -> (String, Option<Ending>, Option<Fate>) {
    let mut play = play(uses);
    play.calls("call", 1).streams("call").data("call", PRIMING);
    play.data("call", &notification(1)).data("call", &notification(2)).data("call", &answer(1));
    let seen = play.of("call");
    (play.body("call").to_owned(), seen.ending, seen.server)
}

fn all() -> String {
    [PRIMING, &notification(1), &notification(2), &answer(1)].concat()
}

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

// === Whose is it ===

/// Two calls that ask; what the first one's client has seen before and after it answered the second one's question.
fn crossed(uses: &[&str], first: &str, second: &str) -> (String, String) {
    let mut play = play(uses);
    for (name, id) in [("a", 1), ("b", 2)] {
        let tag = name.to_uppercase();
        let params = format!(r#"{{"name":"{name}","arguments":{{"tag":"{tag}"}}}}"#);
        play.posts(name, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
    }
    play.streams("a").streams("b").data(first, &question(10)).data(second, &question(20));
    assert_eq!(play.body(second), question(20));
    let before = play.body(first).to_owned();
    play.posts("reply", r#"{"jsonrpc":"2.0","id":20,"result":{"action":"accept"}}"#);
    (before, play.body(first).to_owned())
}

#[test]
fn answers_cross() {
    assert_eq!(crossed(&["answers-cross"], "a", "b"), (String::new(), question(10)));
    assert_eq!(crossed(&["transparent"], "a", "b"), (question(10), question(10)));
}

#[test]
fn answers_cross_by_an_argument() {
    let named = "answers-cross,first={ '/arguments/tag' = 'B' },second={ '/arguments/tag' = 'A' }";
    assert_eq!(crossed(&[named], "b", "a"), (String::new(), question(10)));
    let other = "answers-cross,first={ '/arguments/tag' = 'B' },second={ '/arguments/tag' = 'C' }";
    assert_eq!(crossed(&[other], "b", "a"), (String::new(), String::new()), "A's answer is not C's");
}

#[test]
fn server_request_on_other_stream() {
    for (to, from, onto) in [("get", "call", "get"), ("post", "get", "call")] {
        let mut play = play(&[&format!("server-request-on-other-stream,to={to}")]);
        play.gets("get").streams("get").calls("call", 1).streams("call");
        play.data(from, &question(10)).data(from, &notification(1));
        assert_eq!((play.body(from), play.body(onto)), (&*notification(1), &*question(10)));
        play.data(onto, &question(11));
        assert_eq!(play.body(onto), [question(10), question(11)].concat(), "what is there already stays");
    }
}

#[test]
fn owner_marked() {
    let mut play = play(&["owner-marked"]);
    play.gets("get").streams("get").calls("call", 7).streams("call");
    play.data("get", &notification(1)).data("call", &question(10)).data("call", &answer(7));
    let mark = |body: &str| {
        let data = body.lines().find_map(|line| line.strip_prefix("data: ")).expect("it is an event");
        let message: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
        message["params"]["_meta"]["mishap/owner"].to_string()
    };
    assert_eq!(mark(play.body("call")), r#"{"id":7,"method":"tools/call","name":"call","stream":"post"}"#);
    assert_eq!(mark(play.body("get")), r#"{"id":null,"method":null,"name":null,"stream":"get"}"#);
    assert!(play.body("call").ends_with(&answer(7)), "an answer is not marked");
}

#[test]
fn transparent() {
    let play = play(&["transparent"]);
    assert_eq!(play.engine.summary().rules, []);
    assert_eq!(lost(&["transparent"]).0, all());
}

/// A profile without a test of its name would be a claim that nothing checks.
#[test]
fn every_built_in_profile_is_played_here() {
    let tests = include_str!("plays.rs");
    for profile in super::all() {
        let name = format!("fn {}()", profile.name.replace('-', "_"));
        assert!(tests.contains(&name), "{name}");
    }
}
