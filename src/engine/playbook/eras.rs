//! The same selectors in all eras: the stream of 2024-11-05, batches of 2025-03-26, requests of 2026-07-28 that stand for
//! themselves; and rules that an era leaves without anything to match.

use super::super::era::{Era, possible};
use super::super::record::Entry;
use super::super::rpc::Id;
use super::super::selector::{At, Count, Glob, MessageSelector, Presence, Selector, SessionSelector};
use super::Play;
use super::tools::{answer, at, delay, glob, notification, of, question, rule};

/// The points that a selector means in a story, by key.
#[track_caller]
fn means(story: impl Fn(&mut Play), selector: &Selector, expected: &[&str]) {
    let mut play = Play::new(vec![rule("r", selector.clone(), delay(0))]);
    story(&mut play);
    let decided = play.entries.iter().filter_map(|entry| match entry {
        Entry::Decision(decision) => Some(&*decision.key),
        Entry::Point(_)
        | Entry::Gate(_)
        | Entry::Session(_)
        | Entry::Note(_)
        | Entry::Disconnect(_)
        | Entry::Finding(_)
        | Entry::Expectation(_) => None,
    });
    assert_eq!(decided.collect::<Vec<_>>(), expected, "{selector:?}");
}

fn said(kind: &str, method: &str) -> Selector {
    let message = MessageSelector { kind: glob(kind), method: glob(method), ..MessageSelector::default() };
    Selector { message: Some(message), ..Selector::any(At::Block) }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

// === 2024-11-05 ===

/// A stream that says where to post; an initialize and a call, answered on it; a second stream.
fn legacy(play: &mut Play) {
    let sse = [(":target", "/sse"), ("accept", "text/event-stream")];
    play.sends("g", "GET", &sse, "").streams("g").data("g", "event: endpoint\ndata: /messages?s=1\n\n");
    let post = |play: &mut Play, name: &str, body: &str| {
        play.sends(name, "POST", &[(":target", "/messages?s=1")], body).head(name, 202, &[]).ends(name);
    };
    post(play, "i", INITIALIZE);
    play.data("g", "data: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2024-11-05\",\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n\n");
    post(play, "c", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    play.data("g", &[question(9), answer(1)].concat());
    post(play, "y", r#"{"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}"#);
    play.sends("h", "GET", &sse, "").streams("h");
}

#[test]
fn a_legacy_stream_is_told_by_its_endpoint_and_the_next_by_its_path() {
    means(legacy, &at(At::Request, "get"), &["s1/get:1/request#1"]);
    means(legacy, &at(At::Request, "legacy"), &["s2/legacy:1/request#1"]);
    means(legacy, &Selector { block: glob("endpoint"), ..at(At::Block, "legacy") }, &["s1/get:1/block.endpoint#1"]);
    means(legacy, &Selector { path: glob("/messages"), ..of(At::Request, "tools/call") }, &["s1/post:1/request#1"]);
}

#[test]
fn on_a_legacy_stream_method_is_that_of_the_request_answered() {
    let answers = |method| Selector { method: glob(method), ..said("answer", "*") };
    means(legacy, &answers("tools/call"), &["s1/get:1/block#3"]);
    means(legacy, &answers("initialize"), &["s1/get:1/block#1"]);
    means(legacy, &Selector { stream: glob("legacy"), ..said("request", "elicitation/*") }, &["s1/get:1/block#2"]);
    means(
        legacy,
        &Selector { stream: glob("legacy"), ..said("response", "*") },
        &["s1/get:1/block#1", "s1/get:1/block#3"],
    );
    let replies = MessageSelector { kind: glob("answer"), ..MessageSelector::default() };
    means(legacy, &Selector { message: Some(replies), ..Selector::any(At::Request) }, &["s1/answer:9/request#1"]);
}

#[test]
fn a_legacy_call_is_in_flight_until_its_stream_answers_although_its_post_is_accepted() {
    let asks = Selector { in_flight: Some(Count::AtLeast(1)), ..said("request", "*") };
    means(legacy, &asks, &["s1/get:1/block#2"]);
    let settled =
        Selector { in_flight: Some(Count::Is(0)), message: said("answer", "*").message, ..Selector::any(At::Request) };
    means(legacy, &settled, &["s1/answer:9/request#1"]);
}

// === 2025-03-26: batches ===

/// A batch of two calls and a notification, answered with a notification, and both answers in one array; a batch of replies.
fn batches(play: &mut Play) {
    let call = |id: u64, tag: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"tag":"{tag}"}}}}}}"#
        )
    };
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    play.posts("b", &format!("[{},{},{note}]", call(1, "A"), call(2, "B"))).streams("b");
    play.data("b", &[question(8), question(9), notification(1)].concat());
    play.posts(
        "y",
        r#"[{"jsonrpc":"2.0","id":8,"result":{}},{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"no"}}]"#,
    );
    play.head("y", 202, &[]).ends("y");
    play.data("b", "data: [{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"x\"}}]\n\n");
    play.ends("b");
}

const BATCH: &str = "s1/post:1/request#1";

#[test]
fn a_batch_is_meant_if_one_of_its_messages_is() {
    for tag in ["A", "B"] {
        let params = vec![("/arguments/tag".to_owned(), glob(tag).expect("a pattern"))];
        means(batches, &Selector { params, ..of(At::Request, "tools/call") }, &[BATCH]);
    }
    means(batches, &of(At::Request, "notifications/progress"), &[BATCH]);
    means(batches, &of(At::Request, "ping"), &[]);
    means(batches, &Selector { id: Some(Id::Number("2".into())), ..Selector::any(At::Request) }, &[BATCH]);
    let code = MessageSelector { code: glob("-32*"), ..MessageSelector::default() };
    means(batches, &Selector { message: Some(code), ..Selector::any(At::Block) }, &["s1/post:1/block#4"]);
    means(batches, &said("answer", "tools/call"), &["s1/post:1/block#4"]);
    let replies = |kind: &str| Selector { message: said(kind, "*").message, ..Selector::any(At::Request) };
    for kind in ["answer", "response", "error"] {
        means(batches, &replies(kind), &["s1/answer:8/request#1"]);
    }
    means(
        batches,
        &Selector { in_flight: Some(Count::Is(2)), ..Selector::any(At::Request) },
        &[BATCH, "s1/answer:8/request#1"],
    );
}

// === 2026-07-28 ===

const INFO: &str = r#""_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}"#;

/// A discover, a listen with its acknowledgement and a change, two calls of two clients: no session id, no GET.
fn modern(play: &mut Play) {
    let headers = [("mcp-protocol-version", "2026-07-28"), ("accept", "application/json, text/event-stream")];
    let send = |play: &mut Play, name: &str, id: &str, method: &str, more: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{{more}{INFO}}}}}"#);
        play.sends(name, "POST", &headers, &body);
    };
    send(play, "d", "d", "server/discover", "");
    play.head("d", 200, &[("content-type", "application/json")]);
    play.data("d", r#"{"jsonrpc":"2.0","id":"d","result":{}}"#).ends("d");
    send(play, "l", "l", "subscriptions/listen", "");
    play.streams("l");
    play.data(
        "l",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{}}\n\n",
    );
    send(play, "c", "c", "tools/call", r#""name":"t","#);
    play.streams("c")
        .data("c", "data: {\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{\"resultType\":\"input_required\"}}\n\n")
        .ends("c");
    play.data("l", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{}}\n\n");
    play.leaves("l");
}

#[test]
fn a_listen_is_a_stream_of_its_own_that_is_never_in_flight() {
    means(modern, &at(At::Request, "listen"), &["s1/listen:\"l\"/request#1"]);
    means(modern, &of(At::Request, "subscriptions/listen"), &["s1/listen:\"l\"/request#1"]);
    means(modern, &at(At::Leave, "listen"), &["s1/listen:\"l\"/leave#1"]);
    means(modern, &at(At::Block, "listen"), &["s1/listen:\"l\"/block#1", "s1/listen:\"l\"/block#2"]);
    means(modern, &said("notification", "notifications/subscriptions/acknowledged"), &["s1/listen:\"l\"/block#1"]);
    let alone = Selector { in_flight: Some(Count::Is(1)), ..at(At::Request, "post") };
    means(modern, &alone, &["s1/post:\"d\"/request#1", "s1/post:\"c\"/request#1"]);
}

#[test]
fn modern_requests_of_one_client_are_one_session() {
    let session = |session| Selector { session: Some(session), ..at(At::Request, "post") };
    let first = SessionSelector { ordinals: vec![1], ..SessionSelector::default() };
    means(modern, &session(first), &["s1/post:\"d\"/request#1", "s1/post:\"c\"/request#1"]);
    means(modern, &session(SessionSelector { none: true, ..SessionSelector::default() }), &[]);
    let required = vec![("/resultType".to_owned(), glob("input_required").expect("a pattern"))];
    let message = MessageSelector { result: required, ..MessageSelector::default() };
    means(modern, &Selector { message: Some(message), ..Selector::any(At::Block) }, &["s1/post:\"c\"/block#1"]);
    let version = Presence::Like(Glob { any: vec!["2026-*".into()], none: vec![] });
    let head = Selector { header: vec![("mcp-protocol-version".into(), version)], ..at(At::RequestHead, "post") };
    means(modern, &head, &["s0/early:1/request-head#1", "s0/early:2/request-head#1", "s0/early:3/request-head#1"]);
}

// === Fields that a streamable session has ===

/// Two requests on one connection, a deleted session, a request in it, one in none.
fn session(play: &mut Play) {
    play.sends("i", "POST", &[(":conn", "c")], INITIALIZE);
    play.head("i", 200, &[("content-type", "application/json"), ("mcp-session-id", "S")]);
    play.data("i", r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}"#).ends("i");
    let s = ("mcp-session-id", "S");
    play.sends("p", "POST", &[s, (":conn", "c")], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .head("p", 500, &[("content-type", "text/html; charset=x")])
        .ends("p");
    play.sends("g", "GET", &[s], "")
        .streams("g")
        .data("g", "id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n")
        .ends("g");
    play.sends("r", "GET", &[s, ("last-event-id", "e1")], "").head("r", 405, &[]).ends("r");
    play.sends("u", "GET", &[s, ("last-event-id", "zzz")], "").head("u", 400, &[]).ends("u");
    play.sends("d", "DELETE", &[s], "").head("d", 204, &[]).ends("d");
    play.sends("late", "POST", &[s], r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).head("late", 404, &[]).ends("late");
    play.sends("page", "GET", &[(":target", "/.well-known/x")], "");
}

#[test]
fn a_second_request_on_a_connection_is_reused_and_no_other() {
    means(session, &Selector { reused: Some(true), ..Selector::any(At::RequestHead) }, &["s1/early:1/request-head#1"]);
    means(session, &Selector { reused: Some(true), ..Selector::any(At::End) }, &["s1/post:1/end#1"]);
}

#[test]
fn sessions_none_and_ended_and_the_http_of_a_request() {
    let of_session = |session| Selector { session: Some(session), ..Selector::any(At::Request) };
    means(
        session,
        &of_session(SessionSelector { ended: true, ..SessionSelector::default() }),
        &["s1/post:2/request#1"],
    );
    let none = SessionSelector { none: true, ..SessionSelector::default() };
    means(session, &of_session(none), &["s0/other:GET:/.well-known/x/request#1"]);
    means(session, &at(At::Request, "delete"), &["s1/delete:1/request#1"]);
    means(session, &Selector { http_method: glob("DELETE"), ..Selector::any(At::Request) }, &["s1/delete:1/request#1"]);
    means(
        session,
        &Selector { path: glob("/.well-known/*"), ..Selector::any(At::Request) },
        &["s0/other:GET:/.well-known/x/request#1"],
    );
}

#[test]
fn resumes_say_whose_stream_they_continue() {
    let resumes = |of: &str| Selector { resumes: glob(of), ..Selector::any(At::Request) };
    means(session, &resumes("get"), &["s1/resume:1(get:1)/request#1"]);
    means(session, &resumes("unknown"), &["s1/resume:2(?)/request#1"]);
    means(session, &resumes("post"), &[]);
    means(session, &resumes("!unknown"), &["s1/resume:1(get:1)/request#1"]);
}

#[test]
fn an_answer_by_status_media_and_event_id() {
    let status = |status: &str| Selector { status: glob(status), ..Selector::any(At::Head) };
    means(session, &status("500"), &["s1/post:1/head#1"]);
    means(session, &Selector { media: glob("other"), ..Selector::any(At::Head) }, &["s1/post:1/head#1"]);
    means(session, &Selector { media: glob("json"), ..Selector::any(At::Block) }, &["s1/post:0/block#1"]);
    let like = |id: &str| Some(Presence::Like(Glob { any: vec![id.into()], none: vec![] }));
    means(session, &Selector { event_id: like("e*"), ..Selector::any(At::Block) }, &["s1/get:1/block#1"]);
    means(session, &Selector { event_id: like("f*"), ..Selector::any(At::Block) }, &[]);
    let given =
        Selector { response_header: vec![("mcp-session-id".into(), Presence::Present)], ..Selector::any(At::Head) };
    means(session, &given, &["s1/post:0/head#1"]);
}

// === Rules of another era ===

#[test]
fn a_run_says_which_eras_it_has_seen() {
    for (story, era, versions) in [
        (legacy as fn(&mut Play), Era::Legacy, vec!["2024-11-05"]),
        (session, Era::Session, vec!["2025-06-18"]),
        (modern, Era::Modern, vec!["2026-07-28"]),
    ] {
        let mut play = Play::new(vec![]);
        story(&mut play);
        let eras = play.engine.summary().eras;
        assert_eq!(eras.keys().collect::<Vec<_>>(), [&era]);
        assert_eq!(eras[&era].iter().collect::<Vec<_>>(), versions, "{era:?}");
    }
}

#[test]
fn a_selector_is_of_the_eras_in_which_it_can_mean_something() {
    use Era::{Legacy, Modern, Session};
    let headed = Selector { header: vec![("mcp-session-id".into(), Presence::Present)], ..at(At::Request, "post") };
    for (selector, eras) in [
        (Selector::any(At::Request), vec![Legacy, Session, Modern]),
        (at(At::Request, "post"), vec![Legacy, Session, Modern]),
        (at(At::Request, "listen"), vec![Modern]),
        (at(At::Block, "legacy"), vec![Legacy]),
        (at(At::Request, "get"), vec![Legacy, Session]),
        (at(At::Block, "get"), vec![Session]),
        (at(At::Request, "!post"), vec![Legacy, Session, Modern]),
        (at(At::Request, "delete"), vec![Session]),
        (Selector { resumes: glob("post"), ..Selector::any(At::Request) }, vec![Session]),
        (of(At::Request, "initialize"), vec![Legacy, Session]),
        (of(At::Head, "server/discover"), vec![Modern]),
        (of(At::Request, "!initialize"), vec![Legacy, Session, Modern]),
        (said("notification", "notifications/subscriptions/acknowledged"), vec![Modern]),
        (headed, vec![Session]),
    ] {
        assert_eq!(possible(&selector).0, eras, "{selector:?}");
    }
}

#[test]
fn a_rule_that_can_match_nothing_in_the_era_seen_is_told_apart_from_one_that_has_not() {
    let rules = vec![
        rule("listen", at(At::Request, "listen"), delay(0)),
        rule("other", of(At::Request, "tools/list"), delay(0)),
        rule("delete", at(At::Request, "delete"), delay(0)),
    ];
    let foreign = |story: fn(&mut Play)| {
        let mut play = Play::new(rules.clone());
        story(&mut play);
        play.engine.summary().foreign.into_iter().map(|it| it.rule).collect::<Vec<_>>()
    };
    assert_eq!(foreign(session), ["listen"]);
    assert_eq!(foreign(modern), ["delete"]);
    assert_eq!(foreign(legacy), ["listen", "delete"]);
    assert!(Play::new(rules.clone()).engine.summary().foreign.is_empty(), "nothing was seen");
}
