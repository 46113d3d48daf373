//! Profiles that are gateways between client and server, played.

use super::{OK, idle, play, status};
use crate::engine::event::Ending;
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, question};

/// What a client that calls three times gets, and what the server.
fn three(uses: &[&str]) -> [(Option<u16>, bool); 3] {
    let mut play = play(uses);
    [("a", 1), ("b", 2), ("c", 3)].map(|(name, id)| {
        play.calls(name, id);
        (status(&play, name), play.forwarded(name))
    })
}

fn header<'a>(play: &'a Play, name: &str, header: &str) -> Option<&'a [u8]> {
    let head = play.of(name).head.as_ref()?;
    head.headers.iter().find(|(name, _)| name == header).map(|(_, value)| &value[..])
}

#[test]
fn gateway_errors() {
    let passes = (None, true);
    assert_eq!(three(&[]), [passes; 3]);
    for (how, status) in [("page", 503), ("error", 503), ("redirect", 307), ("redirect-early", 307), ("empty", 200)] {
        let refused = (Some(status), false);
        assert_eq!(three(&[&format!("gateway-errors,how={how}")]), [refused, refused, passes], "{how}");
    }
    let mut page = play(&["gateway-errors,status=429"]);
    page.calls("call", 1);
    assert_eq!((status(&page, "call"), page.body("call")), (Some(429), "<html><h1>429</h1></html>"));
    assert_eq!(header(&page, "call", "retry-after"), Some(&b"1"[..]));
    let mut error = play(&["gateway-errors,how=error"]);
    error.calls("call", 7);
    assert!(error.body("call").contains(r#""id":7"#), "{}", error.body("call"));
}

#[test]
fn gateway_errors_when_the_server_is_too_slow() {
    let mut slow = play(&["gateway-errors,how=too-slow,status=504"]);
    slow.calls("call", 1).waits(4_999);
    assert_eq!((slow.forwarded("call"), status(&slow, "call")), (true, None));
    slow.waits(1);
    assert_eq!(status(&slow, "call"), Some(504));
}

#[test]
fn gateway_errors_for_a_while() {
    let mut outage = play(&["gateway-errors,how=outage"]);
    outage.gets("get").waits(4_999).calls("call", 1);
    assert_eq!((status(&outage, "get"), status(&outage, "call")), (Some(503), Some(503)));
    outage.waits(1).calls("later", 2);
    assert!(outage.forwarded("later"));
}

#[test]
fn gateway_idle() {
    let cut_at = |uses: &[&str], heartbeat: &str| {
        let mut play = play(uses);
        play.gets("get").streams("get");
        (1..=400_u64).find(|second| {
            play.waits(1_000);
            if second.is_multiple_of(15) && play.of("get").server.is_none() {
                play.data("get", heartbeat);
            }
            play.of("get").ending == Some(Ending::Fin)
        })
    };
    assert_eq!(cut_at(&["gateway-idle"], ""), Some(60));
    assert_eq!(cut_at(&["gateway-idle,idle=350s"], ""), Some(350));
    assert_eq!(cut_at(&["gateway-idle"], ": ping\n\n"), None, "a comment is a byte, as a real balancer has it");
    assert_eq!(cut_at(&["gateway-idle,heartbeats=swallow"], ": ping\n\n"), Some(60));
    assert_eq!(cut_at(&[], ""), None);
}

#[test]
fn gateway_holds_heads() {
    for (name, uses) in [("held", vec!["gateway-holds-heads"]), ("control", vec![])] {
        let mut play = play(&uses);
        play.gets("get").streams("get").calls("call", 1).streams("call").waits(59_999);
        let held = if name == "held" { None } else { OK };
        assert_eq!((status(&play, "get"), status(&play, "call")), (held, held), "{name}");
        play.data("call", &answer(1));
        assert_eq!((status(&play, "get"), status(&play, "call")), (held, OK), "{name}");
        play.waits(1);
        assert_eq!(status(&play, "get"), OK, "{name}");
    }
}

#[test]
fn sse_body_buffered() {
    let arrived = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).streams("call").data("call", &question(10)).waits(1_000);
        let before = play.body("call").to_owned();
        play.data("call", &answer(1)).ends("call");
        assert_eq!(play.body("call"), [question(10), answer(1)].concat(), "nothing is lost");
        before
    };
    assert_eq!(arrived(&["sse-body-buffered"]), "", "the question is stuck in the buffer");
    assert_eq!(arrived(&[]), question(10));
}

#[test]
fn sse_body_buffered_in_blocks() {
    let mut play = play(&["sse-body-buffered,until=4KiB"]);
    play.calls("call", 1).streams("call");
    let note = format!("data: {}\n\n", "x".repeat(992));
    for _ in 0..4 {
        play.data("call", &note);
    }
    assert_eq!(play.body("call"), "", "4 kB are not 4 KiB");
    play.data("call", &note);
    assert_eq!(play.body("call").len(), 4096);
    play.ends("call");
    assert_eq!(play.body("call").len(), 5000);
}

#[test]
fn idle_connection_dies() {
    let reused = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("first", 1).answers("first", 1);
        let again = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#;
        play.sends("again", "POST", &[("mcp-session-id", "S"), (":conn", "first")], again);
        assert!(play.forwarded("first"));
        let seen = (play.forwarded("again"), play.of("again").ending);
        play.calls("fresh", 3);
        assert!(play.forwarded("fresh"), "a new connection works");
        seen
    };
    assert_eq!(reused(&["idle-connection-dies"]), (false, Some(Ending::Reset)));
    assert_eq!(reused(&["idle-connection-dies,how=hole"]), (false, None));
    assert_eq!(reused(&[]), (true, None));
}

#[test]
fn idle_connection_dies_after_a_while() {
    let mut play = play(&["idle-connection-dies,how=idle"]);
    play.calls("call", 1).answers("call", 1).waits(4_999);
    assert_eq!(play.cut_connections, 0);
    play.waits(1);
    assert_eq!(play.cut_connections, 1);
}

#[test]
fn ack_not_202() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let acked = |uses: &[&str]| {
        let mut play = play(uses);
        play.posts("note", note);
        if play.of("note").ending.is_none() {
            play.head("note", 202, &[]).ends("note");
        }
        assert_eq!(idle(&play), Vec::<String>::new());
        (status(&play, "note"), play.body("note").to_owned())
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(acked(&[]), (Some(202), text("")));
    assert_eq!(acked(&["ack-not-202"]), (OK, text("null")));
    assert_eq!(acked(&["ack-not-202,ack=empty"]), (OK, text("")));
    assert_eq!(acked(&["ack-not-202,ack=no-content"]), (Some(204), text("")));
    assert_eq!(acked(&["ack-not-202,ack=text"]), (Some(202), text("Accepted")));
    assert_eq!(acked(&["ack-not-202,ack=reset"]), (None, text("")));
}

#[test]
fn gateway_errors_under_which_the_servers_own_answer_comes() {
    let mut play = play(&["gateway-errors,how=status,status=500"]);
    play.calls("call", 1).answers("call", 1);
    assert_eq!((play.of("call").head_edits.status, play.body("call")), (Some(500), &*answer(1)));
}

#[test]
fn relay_strips_headers() {
    let headers = [("mcp-session-id", "S"), ("mcp-protocol-version", "2025-11-25")];
    let stripped = |uses: &[&str]| {
        let mut play = play(uses);
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
        play.sends("init", "POST", &headers, initialize).sends("list", "POST", &headers, list);
        play.sends("get", "GET", &headers, "");
        play.head("init", 200, &[("mcp-session-id", "S")]);
        let edits = |name: &str| play.of(name).request_edits.len();
        ["init", "list", "get"]
            .map(edits)
            .into_iter()
            .chain([play.of("init").head_edits.headers.len()])
            .collect::<Vec<_>>()
    };
    assert_eq!(stripped(&[]), [0, 0, 0, 0]);
    assert_eq!(stripped(&["relay-strips-headers"]), [0, 1, 1, 0]);
    assert_eq!(stripped(&["relay-strips-headers,of=answer"]), [0, 0, 0, 1]);
}

#[test]
fn relay_strips_headers_of_a_preflight() {
    let allows = |uses: &[&str]| {
        let mut play = play(uses);
        play.sends("preflight", "OPTIONS", &[("origin", "http://page")], "");
        play.head("preflight", 204, &[("access-control-allow-headers", "content-type, mcp-protocol-version")]);
        play.of("preflight").head_edits.headers.len()
    };
    assert_eq!((allows(&["relay-strips-headers,of=preflight"]), allows(&[])), (1, 0));
}
