//! Profiles about the order of a session's life, played.

use std::time::Duration;

use super::{idle, play, status};
use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::answer;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

fn forwarded(play: &Play, names: [&str; 2]) -> [bool; 2] {
    names.map(|name| play.forwarded(name))
}

#[test]
fn initialized_late_or_lost() {
    let names = ["initialized", "list"];
    let mut late = play(&["initialized-late-or-lost"]);
    late.posts("initialized", INITIALIZED);
    assert_eq!(forwarded(&late, names.map(|_| "initialized")), [false; 2]);
    late.posts("list", LIST);
    assert_eq!(late.left(), ["forward list", "forward initialized"], "the order that nobody expects");

    let mut together = play(&["initialized-late-or-lost,how=together"]);
    together.posts("initialized", INITIALIZED);
    assert!(!together.forwarded("initialized"));
    together.posts("list", LIST);
    assert_eq!(forwarded(&together, names), [true; 2]);

    let mut lost = play(&["initialized-late-or-lost,how=lost"]);
    lost.posts("initialized", INITIALIZED).posts("list", LIST);
    assert_eq!((status(&lost, "initialized"), forwarded(&lost, names)), (Some(202), [false, true]));

    let mut control = play(&[]);
    control.posts("initialized", INITIALIZED);
    assert!(control.forwarded("initialized"));
}

/// A TypeScript client sends nothing more before it has the 202.
#[test]
fn initialized_late_or_lost_does_not_hang_a_client_that_waits_for_the_202() {
    for how in ["late", "together"] {
        let mut play = play(&[&format!("initialized-late-or-lost,how={how}")]);
        play.posts("initialized", INITIALIZED).waits(1_999);
        assert!(!play.forwarded("initialized"));
        play.waits(1);
        assert!(play.forwarded("initialized"));
        assert_eq!(idle(&play), Vec::<String>::new());
    }
}

#[test]
fn lifecycle_races() {
    let race = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).answers("call", 1);
        let before = play.body("call").to_owned();
        play.posts("cancel", CANCEL);
        assert_eq!(play.body("call"), answer(1));
        before
    };
    assert_eq!(race(&["lifecycle-races"]), "", "the answer comes after the cancel");
    assert_eq!(race(&[]), answer(1));
}

#[test]
fn lifecycle_races_of_a_cancel_that_comes_after_the_answer() {
    let mut play = play(&["lifecycle-races,race=cancel-after-answer,lag=3ms"]);
    play.calls("call", 1).streams("call").posts("cancel", CANCEL).waits(1_000);
    assert!(!play.forwarded("cancel"));
    play.data("call", &answer(1)).waits(2);
    assert!(!play.forwarded("cancel"));
    play.waits(1);
    assert!(play.forwarded("cancel"));
}

#[test]
fn lifecycle_races_of_a_delete() {
    let delete = |play: &mut Play| {
        play.sends("delete", "DELETE", &[("mcp-session-id", "S")], "");
    };
    let mut after = play(&["lifecycle-races,race=answer-after-delete"]);
    after.calls("call", 1).answers("call", 1);
    assert_eq!(status(&after, "call"), None);
    delete(&mut after);
    after.head("delete", 200, &[]);
    assert_eq!((status(&after, "call"), after.body("call")), (Some(200), &*answer(1)));

    let mut lost = play(&["lifecycle-races,race=delete-lost"]);
    delete(&mut lost);
    assert_eq!((status(&lost, "delete"), lost.forwarded("delete")), (Some(200), false));
}

#[test]
fn lifecycle_races_of_two_first_calls() {
    let mut play = play(&["lifecycle-races,race=first-calls-together"]);
    play.calls("a", 1);
    assert!(!play.forwarded("a"));
    play.calls("b", 2).calls("c", 3);
    assert!(["a", "b", "c"].iter().all(|name| play.forwarded(name)));
}

#[test]
fn client_vanishes_mid_call() {
    for (ending, fate) in [("fin", Fate::Close), ("reset", Fate::Reset)] {
        let mut play = play(&[&format!("client-vanishes-mid-call,ending={ending},when=200ms")]);
        play.calls("call", 1).waits(199);
        assert_eq!(play.of("call").server, None);
        play.waits(1);
        assert_eq!(play.of("call").server, Some(fate), "the server sees the client go");
        assert_eq!(play.of("call").ending, Some(Ending::Stall), "the client still waits");
        play.calls("next", 2);
        assert_eq!(play.of("next").server, None);
    }
    let mut at_once = play(&["client-vanishes-mid-call"]);
    at_once.calls("call", 1);
    assert_eq!((at_once.forwarded("call"), at_once.of("call").server), (true, Some(Fate::Close)));
    let mut control = play(&[]);
    control.calls("call", 1).waits(1_000);
    assert_eq!(control.of("call").server, None);
}

#[test]
fn client_left_unseen() {
    let told = |uses: &[&str]| {
        let mut play = play(uses);
        play.gets("get").streams("get").leaves("get");
        let mut learned = Duration::ZERO;
        while play.of("get").server.is_none() && learned < Duration::from_secs(60) {
            play.waits(1_000);
            learned += Duration::from_secs(1);
        }
        learned.as_secs()
    };
    assert_eq!((told(&["client-left-unseen"]), told(&[])), (30, 0));
    let mut writes = play(&["client-left-unseen"]);
    writes.calls("call", 1).streams("call").leaves("call");
    writes.data("call", &answer(1)).ends("call");
    assert_eq!((writes.body("call"), writes.of("call").ending), ("", None::<Ending>), "the server writes to nobody");
}

#[test]
fn lifecycle_races_with_what_no_client_sent() {
    let got = |uses: &[&str], body: &str| {
        let mut play = play(uses);
        play.posts("it", body);
        assert!(play.forwarded("it"));
        assert_eq!(idle(&play), Vec::<String>::new());
        let sent = play.sent.iter().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).collect::<String>();
        (play.left(), sent)
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    let (order, cancel) = got(&["lifecycle-races,race=cancel-before-request"], call);
    assert_eq!(order, ["post it", "forward it"]);
    assert!(cancel.contains(r#""requestId":1"#), "{cancel}");
    let (order, again) = got(&["lifecycle-races,race=second-initialize"], INITIALIZED);
    assert_eq!(order, ["forward it", "post it"]);
    assert!(again.contains(r#""method":"initialize""#), "{again}");
    assert_eq!(got(&[], call), (vec!["forward it".to_owned()], String::new()));
}
