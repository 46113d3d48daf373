//! Whose something is: sessions, owners, answers, resumes, what is in flight (rules R6 to R9, R12).

use super::super::condition::{Condition, Same};
use super::super::event::{Event, RequestBody};
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::record::Entry;
use super::super::selector::{At, Count, OwnerSelector, Selector, SessionSelector};
use super::Play;
use super::tools::{after, answer, at, cut, glob, hold, message, notification, of, question, rule, seen, sight};

const EVENTS: (&str, &str) = ("accept", "application/json, text/event-stream");

fn initialize(play: &mut Play, name: &str, client: &str) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
    );
    play.sends(name, "POST", &[EVENTS], &body);
}

fn accept(play: &mut Play, name: &str, session: &str) {
    play.head(name, 200, &[("content-type", "text/event-stream"), ("mcp-session-id", session)]);
    let result = r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"srv","version":"2"}}"#;
    play.data(name, &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{result}}}\n\n")).ends(name);
}

fn session_of(play: &Play, name: &str) -> u64 {
    play.engine.session_of(play.id(name))
}

#[test]
fn sessions_are_numbered_by_initialize_and_found_by_their_id() {
    let mut play = Play::new(vec![]);
    initialize(&mut play, "i1", "one");
    initialize(&mut play, "i2", "one");
    accept(&mut play, "i2", "B");
    accept(&mut play, "i1", "A");
    play.sends("b", "GET", &[("mcp-session-id", "B"), EVENTS], "").sends(
        "a",
        "GET",
        &[("mcp-session-id", "A"), EVENTS],
        "",
    );
    assert_eq!((session_of(&play, "a"), session_of(&play, "b")), (1, 2));
    let entry =
        play.entries.iter().find_map(|entry| if let Entry::Session(entry) = entry { Some(entry) } else { None });
    let entry = entry.expect("the answer says who talks to whom");
    assert_eq!(entry.client.as_ref().map(|client| &*client.name), Some("one"));
    assert_eq!((entry.server.as_ref().map(|server| &*server.name), entry.session), (Some("srv"), 2));
    assert_eq!(entry.protocol.as_deref(), Some("2025-11-25"));
}

#[test]
fn an_initialize_without_a_good_answer_does_not_use_a_session_up() {
    let mut play = Play::new(vec![]);
    initialize(&mut play, "i1", "one");
    play.head("i1", 503, &[]).ends("i1");
    initialize(&mut play, "other", "two");
    initialize(&mut play, "i2", "one");
    assert_eq!((session_of(&play, "i2"), session_of(&play, "other")), (1, 2));
    accept(&mut play, "i2", "A");
    initialize(&mut play, "i3", "one");
    assert_eq!(session_of(&play, "i3"), 3, "after a good answer the next one begins another");
}

#[test]
fn a_probe_that_was_refused_is_continued_by_the_initialize() {
    let mut play = Play::new(vec![]);
    play.sends("probe", "POST", &[EVENTS], r#"{"jsonrpc":"2.0","id":"p","method":"server/discover"}"#);
    play.head("probe", 400, &[]).ends("probe");
    initialize(&mut play, "i", "one");
    assert_eq!(session_of(&play, "i"), 1);
}

#[test]
fn without_session_ids_a_client_is_one_session_and_its_token_tells_it_from_others() {
    let mut play = Play::new(vec![]);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (name, token) in [("a1", "A"), ("b1", "B"), ("a2", "A")] {
        play.sends(name, "POST", &[EVENTS, ("authorization", token)], ping);
    }
    assert_eq!([session_of(&play, "a1"), session_of(&play, "b1"), session_of(&play, "a2")], [1, 2, 1]);
    play.sends("page", "GET", &[("accept", "text/html")], "").sends("token", "POST", &[], "grant_type=x");
    assert_eq!((session_of(&play, "page"), session_of(&play, "token")), (0, 0), "what is no MCP is of no session");
}

#[test]
fn the_2024_stream_is_known_by_its_endpoint_and_its_posts_by_their_target() {
    let mut play = Play::new(vec![]);
    play.sends("sse", "GET", &[EVENTS, (":target", "/sse")], "").streams("sse");
    play.data("sse", "event: endpoint\ndata: /msg?s=1\n\n");
    let body = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}"#;
    play.sends("call", "POST", &[(":target", "/msg?s=1")], body);
    assert_eq!((session_of(&play, "sse"), session_of(&play, "call")), (1, 1));
    play.head("call", 202, &[]).ends("call");
    assert_eq!(play.engine.calls.in_flight(1), 1, "a 202 leaves the call open");
    play.data("sse", &answer(3));
    assert_eq!(play.engine.calls.in_flight(1), 0);
    let answered = play.points().find(|point| !point.rpc.is_empty() && point.point == "block").expect("it passed");
    assert_eq!(answered.stream.as_deref(), Some("legacy"));
    assert_eq!(answered.owner.as_ref().and_then(|owner| owner.name.as_deref()), Some("x"));
    play.sends("again", "GET", &[EVENTS, (":target", "/sse")], "");
    assert_eq!(session_of(&play, "again"), 2, "the next stream at that path is a session of its own");
}

#[test]
fn a_deleted_session_has_ended_and_so_has_one_whose_id_is_unknown() {
    for delete in [true, false] {
        let ended = Selector {
            session: Some(SessionSelector { ended: true, ..SessionSelector::default() }),
            ..of(At::Request, "tools/call")
        };
        let mut play = Play::new(vec![rule("r", ended, hold(after(5)))]);
        play.calls("a", 1);
        assert!(play.forwarded("a"));
        if delete {
            play.sends("d", "DELETE", &[("mcp-session-id", "S")], "").head("d", 200, &[]).ends("d");
        } else {
            play.head("a", 404, &[]).ends("a");
        }
        play.calls("b", 2);
        assert!(!play.forwarded("b"));
    }
}

#[test]
fn a_resume_belongs_to_the_call_whose_stream_it_continues() {
    let mut play = Play::new(vec![]);
    play.calls("a", 1).streams("a").data("a", "id: e1\ndata:\n\n").ends("a");
    assert_eq!(play.engine.calls.in_flight(1), 1, "its answer may still come");
    play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e1")], "").streams("r");
    play.data("r", &["id: e2\n", &question(4)].concat()).ends("r");
    let asked = play.point("s1/resume:1(post:1)/block#1");
    assert_eq!(asked.owner.as_ref().and_then(|owner| owner.name.as_deref()), Some("a"));
    play.sends("r2", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e2")], "").streams("r2");
    play.data("r2", &answer(1));
    assert_eq!(play.engine.calls.in_flight(1), 0, "answered on the second resume");
    play.sends("r3", "GET", &[("mcp-session-id", "S"), ("last-event-id", "zzz")], "");
    assert_eq!(play.point("s1/resume:3(?)/request#1").owner, None);
}

#[test]
fn method_on_a_resume_is_that_of_the_post_it_resumes() {
    let resumed = Selector { stream: glob("resume"), ..of(At::Request, "tools/call") };
    let mut play = Play::new(vec![rule("r", resumed, hold(after(5)))]);
    play.calls("a", 1).streams("a").data("a", "id: e1\ndata:\n\n").ends("a");
    play.posts("p", r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
        .streams("p")
        .data("p", "id: p1\ndata:\n\n")
        .ends("p");
    play.sends("r1", "GET", &[("mcp-session-id", "S"), ("last-event-id", "e1")], "");
    play.sends("r2", "GET", &[("mcp-session-id", "S"), ("last-event-id", "p1")], "");
    assert!(!play.forwarded("r1") && play.forwarded("r2"));
}

#[test]
fn an_id_of_the_other_direction_or_type_is_another_request() {
    let mut play = Play::new(vec![rule("r", message("answer"), hold(after(5)))]);
    play.calls("a", 1).streams("a");
    play.data("a", "data: {\"id\":\"1\",\"result\":{}}\n\n");
    assert_eq!(play.counts("r").0, 0, "\"1\" is not 1");
    play.data("a", &question(1));
    play.posts("reply", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(play.engine.calls.in_flight(1), 1, "the client's answer to the server's 1 settles nothing of its own");
    play.data("a", &answer(1));
    assert_eq!(play.counts("r").0, 1);
}

#[test]
fn cancels_and_progress_belong_to_the_request_they_name() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t"}}}"#;
    let mut play = Play::new(vec![]);
    play.gets("get").streams("get").posts("a", call);
    play.data("get", "data: {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\"}}\n\n");
    assert_eq!(play.point("s1/get:1/block#1").owner.as_ref().and_then(|owner| owner.name.as_deref()), Some("x"));
    play.posts("c", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let cancel = play.point("s1/note:notifications/cancelled/request#1");
    assert_eq!(cancel.owner.as_ref().and_then(|owner| owner.name.as_deref()), Some("x"));
    assert_eq!(play.engine.calls.in_flight(1), 0, "cancelled");
}

#[test]
fn a_call_is_in_flight_until_its_answer_is_delivered_or_nothing_can_bring_it() {
    let mut play = Play::new(vec![]);
    play.calls("a", 1).calls("b", 2).calls("c", 3);
    assert_eq!(play.engine.calls.in_flight(1), 3);
    play.streams("a").stops_reading("a").data("a", &answer(1));
    assert_eq!(play.engine.calls.in_flight(1), 3, "written is not delivered");
    play.reads_again();
    assert_eq!(play.engine.calls.in_flight(1), 2);
    play.streams("b").ends("b");
    assert_eq!(play.engine.calls.in_flight(1), 1, "its stream ended without an id");
    play.leaves("c");
    assert_eq!(play.engine.calls.in_flight(1), 0);
    let listen = r#"{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen"}"#;
    play.posts("l", listen);
    assert_eq!(play.engine.calls.in_flight(1), 0, "listens do not count");
    assert_eq!(play.point("s1/listen:\"l\"/request#1").stream.as_deref(), Some("listen"));
}

#[test]
fn owner_selects_a_clients_answer_by_the_call_it_belongs_to() {
    let owned = |name: &str| Selector {
        owner: Some(OwnerSelector { name: glob(name), ..OwnerSelector::default() }),
        ..at(At::Request, "post")
    };
    let mut play = Play::new(vec![rule("r", owned("b"), hold(after(5)))]);
    play.calls("a", 1).streams("a").data("a", &question(7));
    play.posts("reply", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    assert!(play.forwarded("reply"), "it belongs to a");
    let mut play = Play::new(vec![rule("r", owned("a"), hold(after(5)))]);
    play.calls("x", 1).streams("x").calls("a", 2);
    assert!(play.forwarded("x") && !play.forwarded("a"), "a request owns itself");
}

#[test]
fn each_way_of_being_the_same_is_told_apart() {
    // A unit: a notification on the stream of call 1, exchange a, session S. It waits for a request.
    for (same, opens) in [
        (Same::Exchange, ""),
        (Same::Call, ""),
        (Same::Owner, "c"),
        (Same::NotOwner, "b"),
        (Same::NotExchange, "c"),
        (Same::Session, "c"),
        (Same::Run, "o"),
    ] {
        let until = Condition::Seen(Box::new(super::super::condition::Seen {
            same,
            next: true,
            ..sight(Selector::any(At::Request))
        }));
        let mut play = Play::new(vec![rule("r", message("notification"), hold(until))]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        let mut opened_by = "";
        for name in ["o", "c", "b"] {
            match name {
                "o" => play.sends("o", "POST", &[("mcp-session-id", "T")], r#"{"id":1,"method":"ping"}"#),
                "c" => play.posts("c", r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#),
                _ => play.calls("b", 2),
            };
            if opened_by.is_empty() && !play.body("a").is_empty() {
                opened_by = name;
            }
        }
        let expected = if same == Same::Call { "" } else { opens };
        assert_eq!(opened_by, expected, "{same:?}");
    }
}

#[test]
fn in_flight_is_asked_at_the_moment_the_point_is_seen() {
    let alone = Selector { in_flight: Some(Count::Is(1)), ..message("answer") };
    let mut play =
        Play::new(vec![rule("cut", alone, Fault::Cut(cut(super::super::event::Ending::Eof, Place::Before)))]);
    play.calls("a", 1).calls("b", 2).answers("a", 1).streams("b").data("b", &answer(2));
    assert_eq!((play.body("a"), play.body("b")), (&*answer(1), ""));
}

#[test]
fn a_batch_is_answered_by_several_and_any_of_them_may_match() {
    let mut play = Play::new(vec![rule("r", message("answer"), hold(after(5)))]);
    play.posts("b", r#"[{"id":1,"method":"ping"},{"id":2,"method":"tools/call","params":{"name":"x"}}]"#);
    assert_eq!(play.engine.calls.in_flight(1), 2);
    play.streams("b").data("b", "data: [{\"id\":1,\"result\":{}},{\"id\":2,\"result\":{}}]\n\n").waits(5);
    assert_eq!((play.engine.calls.in_flight(1), play.counts("r").0), (0, 1));
    assert_eq!(play.point("s1/post:1/block#1").rpc.len(), 2);
}

#[test]
fn a_condition_that_needs_a_sight_of_no_session_stays_closed() {
    let mut play = Play::new(vec![rule("r", at(At::Request, "other"), hold(seen(of(At::Request, "ping"))))]);
    play.posts("p", r#"{"id":1,"method":"ping"}"#).sends("page", "GET", &[], "");
    assert!(!play.forwarded("page"));
}

/// Its head does not tell: its blocks must be looked at from the first.
#[test]
fn a_rule_about_the_2024_stream_acts_on_the_first_of_its_path() {
    let mut play =
        Play::new(vec![rule("r", Selector { stream: glob("legacy"), ..message("response") }, hold(after(5)))]);
    play.sends("sse", "GET", &[EVENTS, (":target", "/sse")], "").streams("sse");
    play.data("sse", "event: endpoint\ndata: /msg?s=1\n\n");
    play.sends("call", "POST", &[(":target", "/msg?s=1")], r#"{"id":3,"method":"tools/call"}"#);
    play.head("call", 202, &[]).ends("call").data("sse", &answer(3));
    assert_eq!(play.counts("r"), (1, 1, 0));
    assert_eq!(play.waits(5).counts("r"), (1, 1, 1));
}

#[test]
fn a_rule_about_ended_sessions_acts_on_a_stream_that_was_opened_before_the_end() {
    let session = Some(SessionSelector { ended: true, ..SessionSelector::default() });
    let mut play = Play::new(vec![rule("r", Selector { session, ..message("notification") }, hold(after(5)))]);
    play.gets("get").streams("get").data("get", &notification(1));
    assert_eq!(play.counts("r"), (0, 0, 0), "it has not ended");
    play.sends("bye", "DELETE", &[("mcp-session-id", "S")], "").head("bye", 200, &[]).ends("bye");
    play.data("get", &notification(2));
    assert_eq!(play.waits(5).counts("r"), (1, 1, 1));
}

#[test]
fn a_note_about_a_large_request_hides_its_query_too() {
    let mut play = Play::new(vec![]);
    play.sends("a", "GET", &[(":target", "/mcp?token=S3CRET")], "");
    let body = RequestBody::BeyondPeek(1);
    let commands = play.engine.on(play.now, Event::Request { exchange: play.id("a"), body });
    let text = format!("{commands:?}");
    assert!(text.contains("a request beyond 1 bytes") && !text.contains("S3CRET"), "{text}");
}

#[test]
fn a_request_too_large_to_look_into_is_in_the_verdict_where_a_rule_might_have_looked() {
    let remarks = |rules| {
        let mut play = Play::new(rules);
        play.sends("a", "POST", &[], "");
        play.engine.on(play.now, Event::Request { exchange: play.id("a"), body: RequestBody::BeyondPeek(1) });
        play.engine.summary().remarks.into_iter().map(|remark| remark.what).collect::<Vec<_>>()
    };
    assert_eq!(remarks(vec![]), Vec::<String>::new());
    let [told] = &remarks(vec![rule("r", message("notification"), hold(after(5)))])[..] else { panic!("one remark") };
    assert!(told.ends_with("is matched by its head only: no rule and no expectation sees what is in it"), "{told}");
}
