//! Requests and events under other ids: whatever comes back finds its asker (rule R27); each beside the same story without
//! the rule.

use serde_json::json;

use super::super::fault::Fault;
use super::super::fault::resumable::Resumable;
use super::super::fault::rewrite::{NewId, Rewrite};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{answer, at, glob, message, notification, of, question, rule};

fn renaming(selector: Selector, id: NewId) -> Rule {
    rule("r", selector, Fault::Rewrite(Rewrite { id: Some(id), ..Rewrite::default() }))
}

fn null(selector: Selector) -> Rule {
    renaming(selector, NewId::Value(json!(null)))
}

fn forwarded(play: &Play, name: &str) -> String {
    String::from_utf8(play.of(name).forwarded.clone().expect("it was forwarded").to_vec()).unwrap()
}

const CALL_1: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
const ANSWER_1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn a_renamed_request_is_answered_under_the_id_it_was_asked_under() {
    for (id, sent) in [
        (NewId::Text, r#""1""#),
        (NewId::Value(json!("q-${owner.id}")), r#""q-1""#),
        (NewId::Value(json!(null)), "null"),
        (NewId::Value(json!(77)), "77"),
    ] {
        for json in [true, false] {
            let mut play = Play::new(vec![renaming(of(At::Request, "tools/call"), id.clone())]);
            play.posts("a", CALL_1);
            assert_eq!(forwarded(&play, "a"), CALL_1.replacen(":1,", &format!(":{sent},"), 1));
            assert_eq!(play.engine.calls.in_flight(1), 1);
            let reply = ANSWER_1.replacen(":1,", &format!(":{sent},"), 1);
            if json {
                play.head("a", 200, &[("content-type", "application/json")]).data("a", &reply).ends("a");
                assert_eq!(play.body("a"), ANSWER_1);
            } else {
                play.streams("a").data("a", &format!("data: {reply}\n\n")).ends("a");
                assert_eq!(play.body("a"), format!("data: {ANSWER_1}\n\n"));
            }
            assert_eq!(play.of("a").sent_head, Some(true), "the length may not stay");
            assert_eq!((play.engine.calls.in_flight(1), play.counts("r")), (0, (1, 1, 1)));
            for key in ["s1/post:1/request#1", "s1/post:1/block#1"] {
                let rpc = &play.point(key).rpc[0];
                assert_eq!(rpc.id.as_ref().map(ToString::to_string).as_deref(), Some("1"), "the asker's id: {key}");
            }
            assert!(play.point("s1/post:1/block#1").owner.is_some());
        }
    }
}

#[test]
fn an_answer_under_the_old_id_is_one_too_because_its_asker_takes_it() {
    for (id, left) in [("1", 0), (r#""1""#, 0), ("2", 1)] {
        let mut play = Play::new(vec![renaming(of(At::Request, "tools/call"), NewId::Text)]);
        play.posts("a", CALL_1).streams("a").data("a", &answer(1).replace(":1,", &format!(":{id},")));
        assert_eq!(play.engine.calls.in_flight(1), left, "{id}");
        assert_eq!(play.body("a"), answer(if left == 1 { 2 } else { 1 }));
    }
}

#[test]
fn a_renamed_request_may_be_answered_on_a_resume_and_is_cancelled_under_its_new_id() {
    for (rules, sent) in [(vec![renaming(of(At::Request, "tools/call"), NewId::Text)], r#""1""#), (vec![], "1")] {
        let mut play = Play::new(rules);
        play.posts("a", CALL_1).streams("a").data("a", "id: e1\ndata:\n\n").ends("a");
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        play.sends("b", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e1")], "").streams("b");
        play.data("b", &answer(1).replace(":1,", &format!(":{sent},")));
        assert_eq!((play.body("b"), play.engine.calls.in_flight(1)), (&*answer(1), 0));
        play.posts("c", cancel);
        assert_eq!(forwarded(&play, "c"), cancel.replace(":1}", &format!(":{sent}}}")));
    }
}

#[test]
fn what_is_named_by_its_asker_keeps_its_text_but_for_the_id() {
    let pretty = "{\n  \"result\" : { \"n\": 1.50, \"id\": \"1\" },\n  \"id\" : \"1\"\n}";
    for (json, body) in [(true, pretty.to_owned()), (false, pretty.replace('\n', " "))] {
        let mut play = Play::new(vec![renaming(of(At::Request, "tools/call"), NewId::Text)]);
        play.posts("a", CALL_1);
        if json {
            play.head("a", 200, &[("content-type", "application/json")]).data("a", pretty).ends("a");
        } else {
            play.streams("a").data("a", &format!("data: {}\n\n", pretty.replace('\n', "\ndata: ")));
        }
        let named = body.replace("\"id\" : \"1\"", "\"id\" : 1");
        assert_eq!(play.body("a"), if json { named } else { format!("data: {named}\n\n") });
    }
}

#[test]
fn an_answer_without_an_id_gets_that_of_its_asker() {
    let mut play = Play::new(vec![null(of(At::Request, "tools/call"))]);
    play.posts("a", CALL_1).streams("a").data("a", "data: {\"error\":{\"code\":1}}\n\n");
    assert_eq!(play.body("a"), "data: {\"id\":1,\"error\":{\"code\":1}}\n\n");
}

#[test]
fn in_a_batch_each_answer_finds_its_asker() {
    let first = Selector { params: vec![("/name".to_owned(), glob("a").unwrap())], ..of(At::Request, "tools/call") };
    let mut play = Play::new(vec![renaming(first, NewId::Value(json!("x")))]);
    let other = CALL_1.replace(r#""id":1"#, r#""id":2"#).replace(r#""a""#, r#""b""#);
    play.posts("a", &format!("[{CALL_1},{other}]"));
    assert_eq!(forwarded(&play, "a"), format!("[{},{other}]", CALL_1.replace(":1,", r#":"x","#)));
    let reply = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    play.head("a", 200, &[("content-type", "application/json")]);
    play.data("a", &format!("[{},{}]", reply("2"), reply(r#""x""#))).ends("a");
    assert_eq!(play.body("a"), format!("[{},{}]", reply("2"), reply("1")));
    assert_eq!(play.engine.calls.in_flight(1), 0);
}

#[test]
fn an_id_mangled_in_an_answer_stays_mangled_and_the_journal_has_the_true_one() {
    for (rules, id) in [(vec![renaming(message("answer"), NewId::Text)], r#""1""#), (vec![], "1")] {
        let mut play = Play::new(rules);
        play.posts("a", CALL_1).streams("a").data("a", &answer(1)).ends("a");
        assert_eq!(play.body("a"), answer(1).replace(":1,", &format!(":{id},")));
        assert_eq!(play.engine.calls.in_flight(1), 0, "it was delivered, whatever it says");
        let block = play.point("s1/post:1/block#1");
        assert_eq!(block.rpc[0].id.as_ref().map(ToString::to_string).as_deref(), Some("1"));
        assert!(block.owner.is_some());
    }
}

#[test]
fn a_servers_request_is_answered_under_the_id_the_server_gave_it() {
    for rules in [vec![renaming(message("request"), NewId::Value(json!("s-9")))], vec![]] {
        let sent = if rules.is_empty() { "9" } else { r#""s-9""# };
        let mut play = Play::new(rules);
        play.posts("a", CALL_1).streams("a").data("a", &question(9));
        assert_eq!(play.body("a"), question(9).replace(":9,", &format!(":{sent},")));
        let reply = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        play.posts("b", &reply(sent));
        assert_eq!(forwarded(&play, "b"), reply("9"));
        let answered = play.point("s1/answer:9/request#1");
        assert!(answered.owner.is_some(), "and it belongs to the call that asked");
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
        let before = play.body("a").len();
        play.data("a", &format!("data: {cancel}\n\n"));
        let named = cancel.replace(":9}", &format!(":{sent}}}"));
        assert_eq!(&play.body("a")[before..], format!("data: {named}\n\n"));
    }
}

// === ids that are none ===

#[test]
fn what_travels_under_no_id_is_answered_on_a_get_a_resume_or_in_json_and_cancelled_under_none() {
    let nameless = answer(1).replace(":1,", ":null,");
    for (rules, ruled) in [(vec![null(of(At::Request, "tools/call"))], true), (vec![], false)] {
        let sent = |text: &str| if ruled { text.to_owned() } else { text.replace("null", "1") };
        let mut play = Play::new(rules);
        play.gets("get").streams("get");
        play.posts("a", CALL_1).streams("a").data("a", "id: e1\ndata:\n\n").ends("a");
        play.data("get", &sent(&nameless));
        assert_eq!((play.body("get"), play.engine.calls.in_flight(1)), (&*answer(1), 0), "on a get");
        play.posts("b", CALL_1).streams("b").data("b", "id: e2\ndata:\n\n").ends("b");
        play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e2")], "").streams("r");
        play.data("r", &sent(&nameless));
        assert_eq!((play.body("r"), play.engine.calls.in_flight(1)), (&*answer(1), 0), "on a resume");
        play.posts("c", CALL_1);
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        play.posts("d", cancel);
        let named = cancel.replace(":1}", if ruled { ":null}" } else { ":1}" });
        assert_eq!(forwarded(&play, "d"), named, "a cancel");
    }
}

#[test]
fn of_several_under_no_id_the_one_that_was_asked_first_is_answered_first() {
    let mut play = Play::new(vec![null(of(At::Request, "tools/call"))]);
    play.gets("get").streams("get").calls("a", 1).calls("b", 2);
    let nameless = answer(1).replace(":1,", ":null,");
    play.data("get", &nameless.repeat(3));
    assert_eq!(play.body("get"), answer(1) + &answer(2) + &nameless, "and what answers nobody stays");
}

#[test]
fn a_refused_get_answers_no_call() {
    let json = [("content-type", "application/json"), ("content-length", "72")];
    let refusal = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Not allowed"},"id":null}"#;
    for rules in [vec![null(of(At::Request, "tools/call"))], vec![]] {
        let mut play = Play::new(rules);
        play.calls("a", 1).gets("get").head("get", 405, &json).data("get", refusal).ends("get");
        assert_eq!((play.body("get"), play.engine.calls.in_flight(1)), (refusal, 1));
    }
}

#[test]
fn a_servers_request_under_no_id_is_answered_under_its_own() {
    for (rules, id) in [(vec![null(message("request"))], "null"), (vec![], "9")] {
        let mut play = Play::new(rules);
        play.posts("a", CALL_1).streams("a").data("a", &question(9));
        let reply = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        play.posts("b", &reply(id));
        assert_eq!(forwarded(&play, "b"), reply("9"));
    }
}

// === lengths ===

#[test]
fn only_a_body_that_may_name_a_renamed_request_loses_its_length() {
    let json = [("content-type", "application/json"), ("content-length", "2")];
    let events = [("content-type", "text/event-stream"), ("content-length", "2")];
    for (rules, ruled) in [(vec![renaming(of(At::Request, "tools/call"), NewId::Text)], true), (vec![], false)] {
        let mut play = Play::new(rules);
        play.gets("get").head("get", 405, &json);
        play.sends("delete", "DELETE", &[("mcp-session-id", "S")], "").head("delete", 200, &json);
        play.posts("ping", r#"{"id":7,"method":"ping"}"#).head("ping", 200, &json);
        play.gets("stream").head("stream", 200, &events);
        play.posts("other", r#"{"id":8,"method":"ping"}"#).head("other", 200, &events);
        play.calls("a", 1).head("a", 200, &json);
        let rechunked = |name: &str| play.of(name).sent_head == Some(true);
        let all = ["get", "delete", "ping", "stream", "other", "a"].map(rechunked);
        assert_eq!(all, [false, false, false, ruled, false, ruled]);
    }
}

// === events ===

fn event_ids(selector: Selector, id: &str) -> Rule {
    let event = vec![("id", Some(id.to_owned()))];
    rule("r", selector, Fault::Rewrite(Rewrite { event, ..Rewrite::default() }))
}

fn resumes(play: &mut Play, name: &str, from: &str) -> Option<String> {
    play.sends(name, "GET", &[("mcp-session-id", "S"), ("last-event-id", from)], "");
    let edits = &play.of(name).request_edits;
    edits.iter().map(|(_, value)| String::from_utf8_lossy(value.as_ref().expect("a value")).into_owned()).next()
}

#[test]
fn a_resume_names_the_event_by_the_id_that_the_server_gave_it() {
    let first = Selector { index: vec![1], ..message("notification") };
    for (rules, told) in [(vec![event_ids(first, "made")], "made"), (vec![], "e1")] {
        let ruled = !rules.is_empty();
        let mut play = Play::new(rules);
        play.calls("a", 1).streams("a");
        play.data("a", &format!("id: e1\n{}", notification(1))).data("a", &format!("id: e2\n{}", notification(2)));
        assert!(play.body("a").starts_with(&format!("id: {told}\n")), "{}", play.body("a"));
        assert_eq!(resumes(&mut play, "r", told), ruled.then(|| "e1".to_owned()));
        assert_eq!(resumes(&mut play, "s", "e2"), None, "what the server gave is left alone");
        assert!(play.points().any(|point| point.key.contains("resume:1(post:1)")), "it is known by what was told");
    }
}

#[test]
fn of_events_with_one_id_a_resume_means_the_last_and_one_that_came_with_none_is_where_the_last_id_was() {
    let mut play = Play::new(vec![event_ids(message("notification"), "made")]);
    play.calls("a", 1).streams("a");
    assert_eq!(resumes(&mut play, "r0", "made"), None, "nobody was told it yet");
    play.data("a", &notification(0));
    assert_eq!(resumes(&mut play, "r1", "made"), None, "there is no id of the server's to go on behind");
    for (id, expected) in [("id: e1\n", "e1"), ("id: e2\n", "e2"), ("", "e2")] {
        play.data("a", &format!("{id}{}", notification(1)));
        assert_eq!(resumes(&mut play, &format!("r-{id}-{expected}"), "made").as_deref(), Some(expected));
    }
    play.data("a", "id: made\ndata: {\"id\":9,\"method\":\"x\"}\n\n");
    assert_eq!(resumes(&mut play, "last", "made"), None, "now it is the server's own");
}

#[test]
fn the_ids_of_two_rules_lead_to_the_servers_and_to_a_stream_that_a_rule_owns() {
    let other = Rule { name: "s".into(), ..event_ids(message("notification"), "made-2") };
    let mut play = Play::new(vec![event_ids(message("notification"), "made-1"), other.clone()]);
    play.calls("a", 1).streams("a").data("a", &format!("id: e1\n{}", notification(1)));
    assert_eq!(resumes(&mut play, "r", "made-2").as_deref(), Some("e1"));

    let own = Fault::Resumable(Resumable { retry: None, priming: false, prefix: String::new() });
    let owned = Selector { media: glob("sse"), ..at(At::Head, "post") };
    let mut play = Play::new(vec![rule("own", owned, own), other]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).data("a", &answer(1)).ends("a");
    play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", "made-2")], "");
    assert!(
        !play.forwarded("r") && play.body("r").contains(&answer(1)["event: message\n".len()..]),
        "{}",
        play.body("r")
    );
}
