//! Every field of a selector, asked of one story.

use super::super::record::Entry;
use super::super::rpc::Id;
use super::super::selector::{At, Count, Glob, MessageSelector, OwnerSelector, Presence, Selector, SessionSelector};
use super::Play;
use super::tools::{answer, at, delay, glob, notification, of, question, rule};

/// A call that asks a question and is answered, a GET, a refused ping, a reply, a resume, a DELETE, another session.
fn story(selector: &Selector) -> Play {
    let mut play = Play::new(vec![rule("r", selector.clone(), delay(0))]);
    let call =
        r#"{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"tag":"A","n":2,"on":true,"o":{}}}}"#;
    play.posts("a", call).head("a", 200, &[("content-type", "Text/Event-Stream; charset=utf-8"), ("x-y", "z")]);
    let blocks =
        ["id: e1\ndata:\n\n", ": ping\n\n", &notification(1), &question(7), "data: {\"id\":9,\"result\":1}\n\n"];
    play.data("a", &blocks.concat()).data("a", &format!("id: e2\n{}", answer(1))).ends("a");
    play.gets("g").streams("g").data("g", &notification(2));
    play.sends("p", "POST", &[("mcp-session-id", "S"), (":target", "/other?q=1")], r#"{"id":"x","method":"ping"}"#);
    play.head("p", 404, &[("content-type", "application/json")]);
    play.data("p", r#"{"id":"x","error":{"code":-32601,"message":"no"}}"#).ends("p");
    play.posts("y", r#"{"id":7,"result":{"action":"accept"}}"#).head("y", 202, &[]).ends("y");
    play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e1")], "").streams("r").leaves("r");
    play.sends("o", "POST", &[("mcp-session-id", "T")], r#"{"id":1,"method":"ping"}"#);
    play.sends("w", "OPTIONS", &[], "");
    play
}

/// The keys of the points that the selector means, without those of the connection.
#[track_caller]
fn means(selector: &Selector, expected: &[&str]) {
    let play = story(selector);
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

fn block(kind: &str) -> Selector {
    Selector { block: glob(kind), ..Selector::any(At::Block) }
}

fn said(message: MessageSelector) -> Selector {
    Selector { message: Some(message), ..Selector::any(At::Block) }
}

const REQUEST: [&str; 7] = [
    "s1/post:1/request#1",
    "s1/get:1/request#1",
    "s1/post:\"x\"/request#1",
    "s1/answer:7/request#1",
    "s1/resume:1(post:1)/request#1",
    "s2/post:1/request#1",
    "s0/other:OPTIONS:/mcp/request#1",
];
const CALL: &str = REQUEST[0];
const GET: &str = REQUEST[1];
const PING: &str = REQUEST[2];
const REPLY: &str = REQUEST[3];
const RESUME: &str = REQUEST[4];
const OTHER: &str = REQUEST[5];
const PAGE: &str = REQUEST[6];

#[test]
fn nothing_asked_means_every_point_of_its_kind() {
    means(&Selector::any(At::Request), &REQUEST);
    means(&Selector::any(At::Leave), &["s1/resume:1(post:1)/leave#1"]);
    let ends = ["s1/post:1/end#1", "s1/post:\"x\"/end#1", "s1/answer:7/end#1"];
    means(&Selector::any(At::End), &ends);
}

#[test]
fn about_the_request() {
    means(&at(At::Request, "get"), &[GET]);
    means(&at(At::Request, "!post"), &[GET, RESUME, PAGE]);
    means(&of(At::Request, "tools/*"), &[CALL, RESUME]);
    means(&of(At::Request, "!tools/call"), &[PING, OTHER]);
    means(&Selector { name: glob("ec*"), ..Selector::any(At::Request) }, &[CALL, RESUME]);
    means(&Selector { id: Some(Id::Number("1".into())), ..Selector::any(At::Request) }, &[CALL, RESUME, OTHER]);
    means(&Selector { id: Some(Id::Text("1".into())), ..Selector::any(At::Request) }, &[]);
    means(&Selector { http_method: glob("OPTIONS"), ..Selector::any(At::Request) }, &[PAGE]);
    means(&Selector { path: glob("/other"), ..Selector::any(At::Request) }, &[PING]);
    means(&Selector { resumes: glob("post"), ..Selector::any(At::Request) }, &[RESUME]);
    means(&Selector { resumes: glob("unknown"), ..Selector::any(At::Request) }, &[]);
    means(&Selector { reused: Some(true), ..Selector::any(At::Request) }, &[]);
}

#[test]
fn params_compare_by_their_text() {
    let params = |pointer: &str, pattern: &str| Selector {
        params: vec![(pointer.to_owned(), glob(pattern).expect("a pattern"))],
        ..of(At::Request, "tools/call")
    };
    for (pointer, pattern, is) in [
        ("/arguments/tag", "A", true),
        ("/arguments/tag", "a", false),
        ("/arguments/n", "2", true),
        ("/arguments/on", "true", true),
        ("/arguments/o", "*", false),
        ("/arguments/none", "*", false),
    ] {
        means(&params(pointer, pattern), if is { &[CALL, RESUME] } else { &[] });
    }
}

#[test]
fn headers_are_there_or_not_or_look_like_something() {
    let header = |presence| Selector { header: vec![("last-event-id".into(), presence)], ..Selector::any(At::Request) };
    means(&header(Presence::Present), &[RESUME]);
    means(&header(Presence::Like(Glob { any: vec!["e*".into()], none: vec![] })), &[RESUME]);
    means(&header(Presence::Like(Glob { any: vec!["x".into()], none: vec![] })), &[]);
    means(&header(Presence::Absent), &[CALL, GET, PING, REPLY, OTHER, PAGE]);
    let answer = |presence| Selector { response_header: vec![("x-y".into(), presence)], ..at(At::Head, "post") };
    means(&answer(Presence::Present), &["s1/post:1/head#1"]);
    means(&answer(Presence::Absent), &["s1/post:\"x\"/head#1", "s1/answer:7/head#1"]);
}

#[test]
fn about_the_answer() {
    means(&Selector { status: glob("4??"), ..Selector::any(At::Head) }, &["s1/post:\"x\"/head#1"]);
    means(&Selector { media: glob("none"), ..Selector::any(At::Head) }, &["s1/answer:7/head#1"]);
    let sse = ["s1/post:1/head#1", "s1/get:1/head#1", "s1/resume:1(post:1)/head#1"];
    means(&Selector { media: glob("sse"), ..Selector::any(At::Head) }, &sse);
    means(&Selector { status: glob("2??"), ..Selector::any(At::Request) }, &[]);
}

#[test]
fn about_the_session() {
    let session = |session| Selector { session: Some(session), ..Selector::any(At::Request) };
    means(&session(SessionSelector { ordinals: vec![2], ..SessionSelector::default() }), &[OTHER]);
    means(&session(SessionSelector { none: true, ..SessionSelector::default() }), &[PAGE]);
    // The ping's 404 ends the session: what follows is of a session that has ended.
    means(&session(SessionSelector { ended: true, ..SessionSelector::default() }), &[REPLY, RESUME]);
    means(&Selector { in_flight: Some(Count::AtLeast(1)), ..Selector::any(At::Request) }, &[CALL, PING, OTHER]);
    means(&Selector { exchange: vec![2], ..at(At::Request, "post") }, &[PING]);
    means(&Selector { exchange: vec![1], ..at(At::Head, "get") }, &["s1/get:1/head#1"]);
}

#[test]
fn about_a_block() {
    let messages = ["s1/post:1/block#1", "s1/post:1/block#2", "s1/post:1/block#3", "s1/post:1/block#4"];
    means(&at(At::Block, "post"), &[&messages[..], &["s1/post:\"x\"/block#1"]].concat());
    means(&block("priming"), &["s1/post:1/block.priming#1"]);
    means(&block("comment"), &["s1/post:1/block.comment#1"]);
    means(&Selector { stream: glob("post"), index: vec![2], ..Selector::any(At::Block) }, &messages[1..2]);
    means(&Selector { stream: glob("post"), index: vec![2], ..block("*") }, &["s1/post:1/block.comment#1"]);
    means(&Selector { event_id: Some(Presence::Present), ..Selector::any(At::Block) }, &messages[3..]);
    means(&Selector { event_id: Some(Presence::Present), ..block("*") }, &["s1/post:1/block.priming#1", messages[3]]);
    means(&Selector { block: glob("message"), ..Selector::any(At::Head) }, &[]);
}

#[test]
fn about_the_message_in_a_block() {
    let kind = |kind: &str| said(MessageSelector { kind: glob(kind), ..MessageSelector::default() });
    means(&kind("answer"), &["s1/post:1/block#4", "s1/post:\"x\"/block#1"]);
    means(&kind("response"), &["s1/post:1/block#3", "s1/post:1/block#4"]);
    means(&kind("error"), &["s1/post:\"x\"/block#1"]);
    means(&kind("request"), &["s1/post:1/block#2"]);
    means(&kind("notification"), &["s1/post:1/block#1", "s1/get:1/block#1"]);
    let method = |method: &str| said(MessageSelector { method: glob(method), ..MessageSelector::default() });
    means(&method("elicitation/*"), &["s1/post:1/block#2"]);
    means(&method("tools/call"), &["s1/post:1/block#4"]);
    means(&said(MessageSelector { code: glob("-326*"), ..MessageSelector::default() }), &["s1/post:\"x\"/block#1"]);
    let params = vec![("/n".to_owned(), glob("2").expect("a pattern"))];
    means(&said(MessageSelector { params, ..MessageSelector::default() }), &["s1/get:1/block#1"]);
}

#[test]
fn about_the_message_and_owner_of_a_request() {
    let message = |message| Selector { message: Some(message), ..Selector::any(At::Request) };
    means(&message(MessageSelector { kind: glob("answer"), ..MessageSelector::default() }), &[REPLY]);
    means(&message(MessageSelector { method: glob("elicitation/*"), ..MessageSelector::default() }), &[REPLY]);
    let result = vec![("/action".to_owned(), glob("accept").expect("a pattern"))];
    means(&message(MessageSelector { result, ..MessageSelector::default() }), &[REPLY]);
    let owner = OwnerSelector { name: glob("echo"), ..OwnerSelector::default() };
    means(&Selector { owner: Some(owner), ..Selector::any(At::Request) }, &[CALL, REPLY, RESUME]);
    let owner = OwnerSelector { id: Some(Id::Text("x".into())), ..OwnerSelector::default() };
    means(&Selector { owner: Some(owner), ..Selector::any(At::Request) }, &[PING]);
}

/// A field that cannot apply matches nothing.
#[test]
fn a_connection_has_nothing_but_itself() {
    means(&Selector { reused: Some(false), ..Selector::any(At::Connect) }, &[]);
    let play = story(&Selector::any(At::Connect));
    assert_eq!(play.counts("r").0, 7);
}
