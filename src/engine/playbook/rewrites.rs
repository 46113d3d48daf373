//! `rewrite`: heads, messages, ids and forms, told to the engine; each beside the same story without the rule.

use bytes::Bytes;

use super::super::event::{Ending, HeadEdits};
use super::super::fault::Fault;
use super::super::fault::rewrite::{Form, NewId, Reply, Rewrite};
use super::super::record::PointFate;
use super::super::rule::Rule;
use super::super::selector::{At, MessageSelector, Selector};
use super::Play;
use super::tools::{answer, at, glob, message, notification, of, question, rule};

fn rewrite(selector: Selector, rewrite: Rewrite) -> Rule {
    rule("r", selector, Fault::Rewrite(rewrite))
}

fn renaming(selector: Selector, id: NewId) -> Rule {
    rewrite(selector, Rewrite { id: Some(id), ..Rewrite::default() })
}

fn form(selector: Selector, form: Form) -> Rule {
    rewrite(selector, Rewrite { form: Some(form), ..Rewrite::default() })
}

fn header(name: &str, value: Option<&str>) -> Rewrite {
    Rewrite { headers: vec![(name.to_owned(), value.map(str::to_owned))], ..Rewrite::default() }
}

fn forwarded(play: &Play, name: &str) -> String {
    String::from_utf8(play.of(name).forwarded.clone().expect("it was forwarded").to_vec()).unwrap()
}

const CALL_1: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
const JSON: &[(&str, &str)] = &[("content-type", "application/json"), ("content-length", "36")];
const ANSWER_1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn json_head() -> Selector {
    Selector { media: glob("json"), ..of(At::Head, "tools/call") }
}

// === heads ===

#[test]
fn a_status_and_headers_are_changed_and_what_came_is_in_the_journal() {
    let other = Rewrite { status: Some(401), ..header("www-authenticate", Some("Bearer")) };
    for (rules, status) in [(vec![rewrite(of(At::Head, "tools/call"), other)], Some(401)), (vec![], None)] {
        let ruled = !rules.is_empty();
        let mut play = Play::new(rules);
        play.calls("a", 1).head("a", 404, &[("x", "y")]).ends("a");
        let edits = &play.of("a").head_edits;
        assert_eq!(edits.status, status);
        assert_eq!(edits.headers.len(), usize::from(ruled));
        let head = play.point("s1/post:1/head#1");
        assert_eq!((head.status, head.made_status), (Some(404), status), "what came and what it became");
        assert_eq!(head.headers, [("x".to_owned(), "y".to_owned())]);
        if ruled {
            assert_eq!(head.made_headers, [("www-authenticate".to_owned(), Some("Bearer".to_owned()))]);
            assert_eq!(play.counts("r"), (1, 1, 1));
        }
    }
}

#[test]
fn later_rules_see_the_head_as_it_became_and_what_changes_nothing_is_no_effect() {
    let is = Rewrite { status: Some(503), ..Rewrite::default() };
    let seen = Selector { status: glob("503"), ..at(At::Head, "post") };
    let same = Rewrite { status: Some(503), ..header("x", Some("y")) };
    let rules = vec![rewrite(at(At::Head, "post"), is), rule("later", seen, Fault::Rewrite(same))];
    let mut play = Play::new(rules);
    play.calls("a", 1).head("a", 200, &[("x", "y")]).ends("a");
    assert_eq!(play.of("a").head_edits, HeadEdits { status: Some(503), headers: vec![] });
    assert_eq!((play.counts("r"), play.counts("later")), ((1, 1, 1), (1, 1, 0)));
}

#[test]
fn a_request_goes_on_with_other_headers() {
    for rules in [vec![rewrite(at(At::Request, "*"), header("mcp-protocol-version", None))], vec![]] {
        let ruled = !rules.is_empty();
        let mut play = Play::new(rules);
        play.sends("a", "POST", &[("mcp-session-id", "S"), ("mcp-protocol-version", "2025-11-25")], CALL_1);
        let removed = ("mcp-protocol-version".to_owned(), None::<Bytes>);
        assert_eq!(play.of("a").request_edits, if ruled { vec![removed] } else { vec![] });
        assert_eq!(forwarded(&play, "a"), CALL_1, "the body stays");
        let request = play.point("s1/post:1/request#1");
        assert!(request.headers.iter().any(|(name, _)| name == "mcp-protocol-version"), "it came with it");
        assert_eq!(request.made_headers.len(), usize::from(ruled));
    }
}

#[test]
fn a_client_that_was_told_no_session_id_goes_on_in_its_session() {
    for (value, next) in [(None, None), (Some("other"), Some("other"))] {
        let strip = rewrite(of(At::Head, "initialize"), header("mcp-session-id", value));
        let mut play = Play::new(vec![strip]);
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        play.sends("i", "POST", &[("accept", "text/event-stream")], begin);
        play.head("i", 200, &[("mcp-session-id", "S")]).ends("i");
        let headers: Vec<(&str, &str)> = next.map(|id| ("mcp-session-id", id)).into_iter().collect();
        play.sends("n", "POST", &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(play.engine.session_of(play.id("n")), 1, "{value:?}");
    }
    let mut play = Play::new(vec![]);
    play.sends("i", "POST", &[], r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    play.head("i", 200, &[("mcp-session-id", "S")]).ends("i");
    play.sends("n", "POST", &[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(play.engine.session_of(play.id("n")), 2, "who was told an id and does not use it is somebody else");
}

#[test]
fn a_refused_initialize_uses_no_session_up_whoever_refused_it() {
    let refuse = rewrite(of(At::Head, "initialize"), Rewrite { status: Some(500), ..Rewrite::default() });
    for (rules, next) in [(vec![refuse], 1), (vec![], 2)] {
        let mut play = Play::new(rules);
        for name in ["i", "j"] {
            play.sends(name, "POST", &[], r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
            if name == "j" {
                assert_eq!(play.engine.session_of(play.id("j")), next);
            }
            play.head(name, 200, &[("mcp-session-id", name)]).ends(name);
        }
    }
}

// === messages and events ===

#[test]
fn an_answer_becomes_an_error_and_keeps_its_event_id() {
    let error = Rewrite { reply: Some(Reply::Error(-32603, "no".into())), ..Rewrite::default() };
    let selects_errors = Selector {
        message: Some(MessageSelector { code: glob("-32603"), ..MessageSelector::default() }),
        ..Selector::any(At::Block)
    };
    let later = rule(
        "later",
        selects_errors,
        Fault::Rewrite(Rewrite { remove: vec!["/error/message".into()], ..Rewrite::default() }),
    );
    let mut play = Play::new(vec![rewrite(message("answer"), error), later]);
    play.posts("a", CALL_1).streams("a").data("a", &format!("id: e7\ndata: {ANSWER_1}\n\n")).ends("a");
    assert_eq!(play.body("a"), "id: e7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603}}\n\n");
    assert_eq!((play.counts("r"), play.counts("later")), ((1, 1, 1), (1, 1, 1)));
    assert_eq!(play.engine.calls.in_flight(1), 0);
    assert_eq!(play.point("s1/post:1/block#1").rpc[0].kind, "error");
}

#[test]
fn the_fields_of_an_event_are_changed_and_later_rules_and_resumes_see_them() {
    let event = vec![("event", None), ("id", Some("made-1".to_owned())), ("retry", Some("5".to_owned()))];
    let change = Rewrite { event, ..Rewrite::default() };
    let mut play = Play::new(vec![rewrite(message("answer"), change)]);
    play.posts("a", CALL_1).streams("a").data("a", &answer(1)).ends("a");
    assert_eq!(play.body("a"), format!("retry: 5\nid: made-1\ndata: {ANSWER_1}\n\n"));
    assert_eq!(play.point("s1/post:1/block#1").event_id.as_deref(), Some("made-1"));
    play.sends("b", "GET", &[("mcp-session-id", "S"), ("last-event-id", "made-1")], "").streams("b").ends("b");
    assert!(play.points().any(|point| point.key.contains("resume:1(post:1)")), "its stream is known by it");
}

#[test]
fn a_request_and_an_answer_become_batches() {
    let rules = vec![
        form(of(At::Request, "tools/call"), Form::Array),
        rule("back", message("answer"), Fault::Rewrite(Rewrite { form: Some(Form::Array), ..Rewrite::default() })),
    ];
    let mut play = Play::new(rules);
    play.posts("a", CALL_1).head("a", 200, JSON).data("a", ANSWER_1).ends("a");
    assert_eq!(forwarded(&play, "a"), format!("[{CALL_1}]"));
    assert_eq!(play.body("a"), format!("[{ANSWER_1}]"));
    assert_eq!((play.counts("r"), play.counts("back")), ((1, 1, 1), (1, 1, 1)));
    assert_eq!(play.engine.calls.in_flight(1), 0);
    play.calls("b", 2).head("b", 200, JSON).data("b", "[1]").ends("b");
    assert_eq!(play.body("b"), "[1]", "what is no message stays");
}

// === forms ===

#[test]
fn a_json_answer_becomes_an_event_and_rules_about_events_act_on_it() {
    let id = rule(
        "id",
        message("answer"),
        Fault::Rewrite(Rewrite { event: vec![("id", Some("e1".into()))], ..Rewrite::default() }),
    );
    for turned in [true, false] {
        let rules = if turned { vec![id.clone(), form(json_head(), Form::Sse)] } else { vec![id.clone()] };
        let mut play = Play::new(rules);
        let pretty = "{\n \"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
        play.posts("a", CALL_1).head("a", 200, JSON).data("a", &pretty[..9]).data("a", &pretty[9..]).ends("a");
        let seen = play.of("a");
        if turned {
            let types = vec![("content-type".to_owned(), Some(Bytes::from_static(b"text/event-stream")))];
            assert_eq!((&seen.head_edits.headers, seen.sent_head), (&types, Some(true)));
            let lines = pretty.replace('\n', "\ndata: ");
            assert_eq!(play.body("a"), format!("id: e1\nevent: message\ndata: {lines}\n\n"));
            assert_eq!((play.counts("r"), play.counts("id")), ((1, 1, 1), (1, 1, 1)));
        } else {
            assert_eq!((seen.head_edits.headers.len(), play.body("a")), (0, pretty));
            assert_eq!(play.counts("id"), (1, 1, 0), "a JSON answer has no fields");
        }
        assert_eq!((play.engine.calls.in_flight(1), play.of("a").ending), (0, Some(Ending::Eof)));
    }
}

#[test]
fn an_event_stream_becomes_one_json_answer_and_what_answers_nothing_is_lost() {
    for rules in [vec![form(of(At::Head, "tools/call"), Form::Json)], vec![]] {
        let ruled = !rules.is_empty();
        let mut play = Play::new(rules);
        play.posts("a", CALL_1).streams("a").data("a", &notification(1)).data("a", &question(9));
        if ruled {
            assert_eq!(play.body("a"), "");
        }
        play.data("a", &answer(1));
        let stream = format!("{}{}{}", notification(1), question(9), answer(1));
        assert_eq!(play.body("a"), if ruled { ANSWER_1 } else { &*stream }, "it goes out once its answer is there");
        play.data("a", &notification(2)).ends("a");
        let fate = if ruled { PointFate::Dropped } else { PointFate::Passed };
        for key in ["s1/post:1/block#1", "s1/post:1/block#2", "s1/post:1/block#4"] {
            assert_eq!(play.point(key).fate, fate, "{key}");
        }
        assert_eq!(play.engine.calls.in_flight(1), 0);
        assert_eq!(play.of("a").ending, Some(Ending::Eof));
    }
}

#[test]
fn a_batch_answered_by_events_becomes_one_array_and_what_never_came_is_missing() {
    for whole in [true, false] {
        let mut play = Play::new(vec![form(at(At::Head, "post"), Form::Json)]);
        let second = CALL_1.replace(":1,", ":2,");
        play.posts("a", &format!("[{CALL_1},{second}]")).streams("a").data("a", &answer(2));
        assert_eq!(play.body("a"), "", "one of two");
        let two = ANSWER_1.replace(":1,", ":2,");
        if whole {
            play.data("a", &answer(1));
            assert_eq!(play.body("a"), format!("[{two},{ANSWER_1}]"));
        } else {
            play.ends("a");
            assert_eq!(play.body("a"), two);
        }
    }
}

#[test]
fn a_form_that_is_there_already_or_cannot_be_is_no_effect() {
    let mut play = Play::new(vec![form(at(At::Head, "*"), Form::Json)]);
    play.calls("a", 1).head("a", 200, JSON).data("a", ANSWER_1).ends("a");
    play.gets("g").streams("g").data("g", &notification(1));
    assert_eq!((play.body("a"), play.body("g")), (ANSWER_1, &*notification(1)));
    assert_eq!(play.counts("r"), (2, 2, 0));
    let mut play = Play::new(vec![form(at(At::Head, "*"), Form::Sse)]);
    play.calls("a", 1).streams("a").data("a", &answer(1)).ends("a");
    play.calls("b", 2).head("b", 202, &[]).ends("b");
    let encoded = [("content-type", "application/json"), ("content-encoding", "gzip")];
    play.calls("c", 3).head("c", 200, &encoded).data("c", "zzz").ends("c");
    assert_eq!((play.body("a"), play.body("b"), play.body("c")), (&*answer(1), "", "zzz"));
    assert_eq!(play.counts("r"), (3, 3, 0));
}

#[test]
fn a_body_is_asked_for_without_an_encoding_where_it_gets_another_form_or_may_name_a_renamed_request() {
    let headers = [("mcp-session-id", "S"), ("accept-encoding", "gzip")];
    for (rules, identity) in [
        (vec![form(at(At::Head, "post"), Form::Sse)], true),
        (vec![renaming(of(At::Request, "tools/call"), NewId::Text)], true),
        (vec![rewrite(at(At::Head, "post"), header("x", None))], false),
    ] {
        let mut play = Play::new(rules);
        play.sends("a", "POST", &headers, CALL_1);
        assert_eq!(play.of("a").identity, identity);
    }
}
