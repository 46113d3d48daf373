//! Profiles about sessions and servers that are gone, played.

use super::{idle, met, play, status};
use crate::engine::event::Ending;
use crate::engine::playbook::Play;
use crate::profile::{Use, load};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"it"}}}"#;

/// Begins a session of that id.
fn begins(play: &mut Play, name: &str, session: &str) {
    play.sends(name, "POST", &[], INITIALIZE);
    play.head(name, 200, &[("content-type", "application/json"), ("mcp-session-id", session)]);
    play.data(name, r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).ends(name);
}

/// Calls a tool in that session, over a connection of its own.
fn calls(play: &mut Play, name: &str, session: &str, id: u64) {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    play.sends(name, "POST", &[("mcp-session-id", session)], &body);
}

#[test]
fn session_forgotten() {
    for (uses, refused) in [(vec!["session-forgotten"], true), (vec![], false)] {
        let mut play = play(&uses);
        begins(&mut play, "init", "S");
        calls(&mut play, "first", "S", 1);
        play.answers("first", 1);
        for (name, method) in [("second", "POST"), ("get", "GET"), ("delete", "DELETE")] {
            let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
            play.sends(name, method, &[("mcp-session-id", "S")], if method == "POST" { body } else { "" });
            assert_eq!(play.forwarded(name), !refused, "{name}");
            assert_eq!(status(&play, name), refused.then_some(404), "{name}");
        }
        begins(&mut play, "anew", "T");
        calls(&mut play, "third", "T", 3);
        assert!(play.forwarded("third"), "a new session is not the dead one");
        assert_eq!(idle(&play), Vec::<String>::new());
    }
}

#[test]
fn session_forgotten_must_be_followed_by_a_new_one() {
    let anew = |uses: &str, second: &str, begins_anew: bool| {
        let mut play = play(&[uses]);
        begins(&mut play, "init", "S");
        calls(&mut play, "first", "S", 1);
        play.answers("first", 1);
        play.sends("second", second, &[("mcp-session-id", "S")], r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        if begins_anew {
            begins(&mut play, "anew", "T");
        }
        met(&mut play, "session-forgotten/starts-anew")
    };
    assert_eq!(anew("session-forgotten", "POST", true), (1, 0));
    assert_eq!(anew("session-forgotten", "POST", false), (1, 1));
    assert_eq!(anew("session-forgotten", "DELETE", false), (0, 0), "it goes: there is nothing to begin");
    assert!(
        load(&[Use::parse("session-forgotten,status=400").expect("right")]).expect("right").expectations.is_empty()
    );
}

#[test]
fn session_forgotten_again_and_again() {
    let mut play = play(&["session-forgotten,after=initialize,status=400"]);
    for (init, call, again, session) in [("i1", "c1", "a1", "S"), ("i2", "c2", "a2", "T")] {
        begins(&mut play, init, session);
        calls(&mut play, call, session, 1);
        calls(&mut play, again, session, 2);
        assert_eq!((status(&play, call), play.forwarded(again)), (Some(400), true));
    }
}

#[test]
fn server_dies() {
    for (uses, dies) in [(vec!["server-dies"], true), (vec![], false)] {
        let mut play = play(&uses);
        begins(&mut play, "init", "S");
        begins(&mut play, "other", "T");
        play.gets("get").streams("get");
        calls(&mut play, "call", "S", 1);
        assert!(play.forwarded("call"), "it dies while it works on it");
        let reset = dies.then_some(Ending::Reset);
        assert_eq!((play.of("call").ending, play.of("get").ending), (reset, reset));
        play.waits(1_999);
        calls(&mut play, "away", "T", 2);
        assert_eq!((play.forwarded("away"), play.of("away").ending), (!dies, reset));
        play.waits(1);
        calls(&mut play, "back", "S", 3);
        assert_eq!(status(&play, "back"), dies.then_some(404));
        begins(&mut play, "anew", "U");
        calls(&mut play, "works", "U", 4);
        assert!(play.forwarded("works"));
        assert_eq!(play.of("works").ending, None, "it dies once");
    }
}

#[test]
fn auth_expires_under_load() {
    let mut expired = play(&["auth-expires-under-load"]);
    expired.calls("a", 1).calls("b", 2);
    assert_eq!((status(&expired, "a"), expired.forwarded("a")), (None, false), "they are collected");
    expired.calls("c", 3);
    for name in ["a", "b", "c"] {
        assert_eq!((status(&expired, name), expired.forwarded(name)), (Some(401), false));
    }
    expired.calls("d", 4);
    assert!(expired.forwarded("d"), "with the new token");
    let mut control = play(&[]);
    control.calls("a", 1);
    assert!(control.forwarded("a"));
}

#[test]
fn two_replicas() {
    let went = |play: &mut Play, names: [&str; 3]| {
        names.map(|name| {
            calls(play, name, "S", 1);
            play.of(name).to.server
        })
    };
    let mut spread = play(&["two-replicas"]).in_front_of(2);
    assert_eq!(went(&mut spread, ["a", "b", "c"]), [0, 1, 0]);
    let mut other = play(&["two-replicas,on=reconnect"]).in_front_of(2);
    other.gets("get").streams("get");
    assert_eq!(went(&mut other, ["a", "b", "c"]), [0, 0, 0]);
    other.waits(1_000);
    assert_eq!(other.of("get").ending, Some(Ending::Eof));
    assert_eq!((went(&mut other, ["d", "e", "f"]), idle(&other)), ([1, 1, 1], vec![]));
    let mut control = play(&[]).in_front_of(2);
    assert_eq!(went(&mut control, ["a", "b", "c"]), [0, 0, 0]);
}
