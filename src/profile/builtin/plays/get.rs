//! Profiles about the standalone GET, played.

use super::{OK, met, play, status};
use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::tools::{answer, notification};

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

#[test]
fn get_stream_cut() {
    let lives = |uses: &[&str], name: &str, ms| {
        let mut play = play(uses);
        for name in ["first", "second"] {
            play.gets(name).streams(name).data(name, ": ping\n\n");
        }
        play.waits(ms);
        (play.of(name).ending, play.of(name).server)
    };
    for name in ["first", "second"] {
        assert_eq!(lives(&["get-stream-cut"], name, 1_999), (None, None));
        assert_eq!(lives(&["get-stream-cut"], name, 2_000), (Some(Ending::Eof), Some(Fate::Close)));
        assert_eq!(lives(&[], name, 2_000), (None, None));
    }
    assert_eq!(lives(&["get-stream-cut,which=1,ending=reset"], "first", 2_000).0, Some(Ending::Reset));
    assert_eq!(lives(&["get-stream-cut,which=1"], "second", 2_000).0, None);
    assert_eq!(lives(&["get-stream-cut,server=drain"], "first", 2_000).1, Some(Fate::Drain(None)));
}

#[test]
fn get_stream_cut_after_silence() {
    let mut play = play(&["get-stream-cut,when={ idle = '60s' }"]);
    play.gets("get").streams("get").waits(50_000);
    play.data("get", ": a comment is a byte\n\n").waits(59_999);
    assert_eq!(play.of("get").ending, None);
    play.waits(1);
    assert_eq!(play.of("get").ending, Some(Ending::Eof));
}

#[test]
fn get_stream_cut_while_calls_are_in_flight() {
    let mut play = play(&["get-stream-cut,when={ at = 'request', in-flight = '>=3' }"]);
    play.gets("get").streams("get").calls("a", 1).calls("b", 2).waits(60_000);
    assert_eq!(play.of("get").ending, None);
    play.calls("c", 3);
    assert_eq!(play.of("get").ending, Some(Ending::Eof));
}

#[test]
fn get_zombie_conflict() {
    let (mut zombie, mut control) = (play(&["get-zombie-conflict"]), play(&[]));
    for play in [&mut zombie, &mut control] {
        play.gets("get").streams("get").waits(60_000);
        assert_eq!(play.of("get").ending, None, "nothing happens without a call");
        play.calls("call", 1).waits(20);
    }
    let seen = |play: &crate::engine::playbook::Play| (play.of("get").ending, play.of("get").server);
    let linger = std::time::Duration::from_secs(30);
    assert_eq!(
        seen(&zombie),
        (Some(Ending::Eof), Some(Fate::Drain(Some(linger)))),
        "the server still thinks it listens"
    );
    assert_eq!(seen(&control), (None, None));
    zombie.gets("again").head("again", 409, &[]).ends("again");
    assert_eq!(status(&zombie, "again"), Some(409), "the server's own refusal passes");
}

#[test]
fn get_zombie_conflict_is_no_reason_to_give_up_a_call() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for (ms, judged) in [(5_000, (1, 1)), (5_001, (1, 0))] {
        let mut play = play(&["get-zombie-conflict"]);
        play.gets("get").streams("get").calls("call", 1).waits(20).waits(ms).posts("cancel", cancel);
        assert_eq!(met(&mut play, "get-zombie-conflict/gives-up-no-call"), judged, "{ms} ms");
    }
}

#[test]
fn get_refused() {
    for wanted in [405, 404, 200] {
        let mut play = play(&[&format!("get-refused,status={wanted}")]);
        play.gets("get").gets("again");
        assert!(!play.forwarded("get") && !play.forwarded("again"));
        assert_eq!(status(&play, "again"), Some(wanted));
        assert!(play.body("get").contains("Method not allowed"), "{}", play.body("get"));
        play.calls("call", 1);
        assert!(play.forwarded("call"));
    }
    let mut first = play(&["get-refused,which=1"]);
    first.gets("get").gets("again");
    assert!(!first.forwarded("get") && first.forwarded("again"));
    let mut control = play(&[]);
    control.gets("get");
    assert!(control.forwarded("get"));
}

#[test]
fn get_headers_held() {
    let head = |uses: &[&str], byte: &str, ms| {
        let mut play = play(uses);
        play.gets("get").streams("get").waits(5_000).data("get", byte).waits(ms);
        status(&play, "get")
    };
    let ping = ": ping\n\n";
    assert_eq!(head(&[], "", 0), OK);
    assert_eq!(head(&["get-headers-held"], "", 0), None);
    assert_eq!(head(&["get-headers-held"], ping, 0), OK, "a comment is a byte");
    assert_eq!(head(&["get-headers-held"], "", 54_999), None);
    assert_eq!(head(&["get-headers-held"], "", 55_000), OK);
    assert_eq!(head(&["get-headers-held,until=message"], ping, 0), None);
    assert_eq!(head(&["get-headers-held,until=message"], &notification(1), 0), OK);
    assert_eq!(head(&["get-headers-held,until=time,time=10s"], ping, 4_999), None);
    assert_eq!(head(&["get-headers-held,until=time,time=10s"], ping, 5_000), OK);
    assert_eq!(head(&["get-headers-held,until=never"], ping, 3_600_000), None);
}

#[test]
fn get_opens_then_ends() {
    let (mut flaps, mut control) = (play(&["get-opens-then-ends"]), play(&[]));
    for play in [&mut flaps, &mut control] {
        play.gets("get");
    }
    assert!(!flaps.forwarded("get") && control.forwarded("get"));
    let seen = flaps.of("get");
    let sse = seen.head.as_ref().and_then(|head| head.headers.iter().find(|(name, _)| name == "content-type"));
    assert_eq!(sse.map(|(_, value)| &value[..]), Some(&b"text/event-stream"[..]));
    assert_eq!((status(&flaps, "get"), flaps.body("get"), seen.ending), (OK, "", Some(Ending::Eof)));
    let mut ping = play(&["get-opens-then-ends,events=[{ event = 'ping', data = '' }]"]);
    ping.gets("get");
    assert_eq!(ping.body("get"), "event: ping\ndata: \n\n");
}

#[test]
fn get_cut_then_unavailable() {
    let fates = |uses: &[&str]| {
        let mut play = play(uses);
        play.gets("get").streams("get").waits(100);
        let lost = play.of("get").ending;
        for name in ["one", "two", "three"] {
            play.gets(name);
        }
        (lost, ["one", "two", "three"].map(|name| (play.forwarded(name), status(&play, name))))
    };
    let (passes, fails) = ((true, None), (false, Some(502)));
    assert_eq!(fates(&["get-cut-then-unavailable"]), (Some(Ending::Eof), [fails, fails, passes]));
    assert_eq!(fates(&[]), (None, [passes; 3]));
}

#[test]
fn get_zombie_conflict_of_two_clients() {
    let gets = |uses: &[&str]| {
        let mut play = play(uses);
        play.gets("get").waits(100);
        play.sent.iter().filter(|(head, _)| head.method == "GET").count()
    };
    assert_eq!((gets(&["get-zombie-conflict,how=second"]), gets(&[])), (1, 0));
}
