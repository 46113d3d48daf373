//! The named checks (rule R33).

use super::{FAILED, HELD, VACUOUS, expecting, judged, play, tally};
use crate::engine::event::{ConnId, Ending, Event};
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::answer;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"NAME"}}}"#;

fn check(name: &str) -> Play {
    expecting(&format!("that = \"{name}\""))
}

fn initializes(play: &mut Play, name: &str, client: &str, status: u16) {
    play.sends(name, "POST", &[], &INITIALIZE.replace("NAME", client));
    let json = [("content-type", "application/json"), ("mcp-session-id", name)];
    play.head(name, status, &json).ends(name);
}

#[test]
fn one_initialize() {
    let sent = |clients: &[(&str, u16)]| {
        let mut play = check("one-initialize");
        for (number, (client, status)) in clients.iter().enumerate() {
            initializes(&mut play, &format!("i{number}"), client, *status);
        }
        judged(&mut play)
    };
    assert_eq!(sent(&[("a", 200), ("b", 200)]), (2, 0), "two clients");
    assert_eq!(sent(&[("a", 200), ("a", 200)]), (2, 1));
    assert_eq!(sent(&[("a", 503), ("a", 200)]), (2, 0), "one that was refused does not use the session up");
    let mut inside = check("one-initialize");
    inside.posts("again", INITIALIZE);
    assert_eq!(judged(&mut inside), FAILED, "in a session that had begun");
}

#[test]
fn no_repeat() {
    let sent = |bodies: &[&str]| {
        let mut play = check("no-repeat");
        for (number, body) in bodies.iter().enumerate() {
            play.posts(&format!("p{number}"), body);
        }
        judged(&mut play)
    };
    let call = |id: u64, x: u64, token: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"x":{x}}},"_meta":{{"progressToken":{token}}}}}}}"#
        )
    };
    assert_eq!(sent(&[&call(1, 1, 1), &call(2, 2, 2)]), (2, 0));
    assert_eq!(sent(&[&call(1, 1, 1), &call(2, 1, 2)]), (2, 1), "the same call under another id");
    assert_eq!(sent(&[&call(1, 1, 1), &call(1, 2, 2)]), (2, 1), "one id twice");
    let ping = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    assert_eq!(sent(&[&ping(1), &ping(2)]), (2, 0), "a ping is no work");
}

const PRIMING: &str = "id: 1\ndata: \n\n";

/// A stream that gave the ids 1 and 2, and a resume from this one.
fn resumed_from(play: &mut Play, id: &str) {
    play.calls("call", 1)
        .streams("call")
        .data("call", PRIMING)
        .data("call", "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
    play.ends("call");
    let headers = [("mcp-session-id", "S"), ("accept", "text/event-stream"), ("last-event-id", id)];
    play.sends("again", "GET", &headers, "");
}

#[test]
fn resume_id() {
    let from = |id: &str| {
        let mut play = check("resume-id");
        resumed_from(&mut play, id);
        tally(&mut play)
    };
    assert_eq!((from("2").checked, from("2").failed), HELD);
    let early = from("1");
    assert_eq!((early.checked, early.failed), FAILED);
    let what = early.failures[0].what.as_deref();
    assert_eq!(what, Some("it names the id \"1\", and the last one delivered was \"2\""));
    let strange = from("9").failures.remove(0).what;
    assert_eq!(strange.as_deref(), Some("it names the id \"9\", which no stream of its session had given"));
    let mut none = check("resume-id");
    none.calls("call", 1).answers("call", 1);
    assert_eq!(judged(&mut none), VACUOUS);
}

#[test]
fn resumed() {
    let keys =
        "that = \"resumed\"\nafter = { at = \"end\", method = \"tools/call\", stream = \"post\" }\nwithin = \"5s\"";
    let from = |id: &str, wait: u64| {
        let mut play = expecting(keys);
        play.calls("call", 1).streams("call").data("call", PRIMING).ends("call").waits(wait);
        let headers = [("mcp-session-id", "S"), ("accept", "text/event-stream"), ("last-event-id", id)];
        play.sends("again", "GET", &headers, "");
        tally(&mut play)
    };
    let counts = |id, wait| (from(id, wait).checked, from(id, wait).failed);
    assert_eq!((counts("1", 5_000), counts("1", 5_001), counts("7", 0)), (HELD, FAILED, FAILED));
    let why = from("7", 0).failures.remove(0);
    assert_eq!(why.saw[0].key, "s1/resume:1(?)/request#1");
    assert_eq!(why.what.as_deref(), Some("it names the id \"7\", which no stream of its session had given"));
}

#[test]
fn leave_seen() {
    let rule = "[[rule]]\nname = \"deaf\"\nmatch = { at = \"leave\" }\ndelay = \"2s\"\n";
    let leaves = |rule: &str, ended: bool| {
        let mut play = play(&format!("{rule}[[expect]]\nname = \"it\"\nthat = \"leave-seen\"\nwithin = \"1s\"\n"));
        play.calls("a", 1).streams("a");
        if ended {
            play.stops_reading("a").data("a", &answer(1)).ends("a");
        }
        play.leaves("a").waits(3_000).gets("later");
        judged(&mut play)
    };
    assert_eq!(leaves("", false), HELD);
    assert_eq!(leaves(rule, false), FAILED);
    assert_eq!(leaves("", true), VACUOUS, "the server had ended it: there is nobody to see it");
}

#[test]
fn closed() {
    let mut open = check("closed");
    open.calls("a", 1).streams("a");
    let tally = tally(&mut open);
    assert_eq!((tally.checked, tally.failed), FAILED);
    assert_eq!((tally.failures[0].seen, &*tally.failures[0].saw[0].key), (1, "s1/post:1"));
    let (mut ended, mut left) = (check("closed"), check("closed"));
    ended.calls("a", 1).answers("a", 1);
    left.calls("a", 1).streams("a").leaves("a");
    assert_eq!((judged(&mut ended), judged(&mut left)), (HELD, HELD));
    assert_eq!(judged(&mut check("closed")), VACUOUS);
}

#[test]
fn connections_closed() {
    let run = |gone: bool| {
        let mut play = check("connections-closed");
        play.calls("a", 1).answers("a", 1);
        if gone {
            let conn: ConnId = play.connects("a");
            let _ = play.engine.on(play.now, Event::Disconnect { conn, ending: Ending::Fin });
        }
        judged(&mut play)
    };
    assert_eq!((run(true), run(false)), (HELD, FAILED));
}

#[test]
fn gets() {
    let run = |keys: &str, gets: usize| {
        let mut play = expecting(&format!("that = \"gets\"\n{keys}"));
        (0..gets).for_each(|number| _ = play.gets(&format!("g{number}")));
        judged(&mut play)
    };
    assert_eq!((run("", 5), run("", 6)), (HELD, FAILED));
    assert_eq!((run("count = \"<=1\"\nper = \"1s\"", 1), run("count = \"<=1\"", 2)), (HELD, FAILED));
}
