//! Profiles about whose a message is, played.

use super::{met, play};
use crate::engine::playbook::tools::{answer, notification, question};

/// Two calls that ask; what the first one's client has seen before and after it answered the second one's question.
fn crossed(uses: &[&str], first: &str, second: &str) -> (String, String) {
    let mut play = play(uses);
    for (name, id) in [("a", 1), ("b", 2)] {
        let tag = name.to_uppercase();
        let params = format!(r#"{{"name":"{name}","arguments":{{"tag":"{tag}"}}}}"#);
        play.posts(name, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
    }
    play.streams("a").streams("b").data(first, &question(10)).data(second, &question(20));
    assert_eq!(play.body(second), question(20));
    let before = play.body(first).to_owned();
    play.posts("reply", r#"{"jsonrpc":"2.0","id":20,"result":{"action":"accept"}}"#);
    (before, play.body(first).to_owned())
}

#[test]
fn answers_cross() {
    assert_eq!(crossed(&["answers-cross"], "a", "b"), (String::new(), question(10)));
    assert_eq!(crossed(&["transparent"], "a", "b"), (question(10), question(10)));
}

#[test]
fn answers_cross_and_each_call_is_answered_once() {
    for (answers, judged) in [(1, (2, 1)), (2, (2, 0))] {
        let mut play = play(&["answers-cross"]);
        play.calls("a", 1).calls("b", 2);
        (1..=answers).zip(["a", "b"]).for_each(|(id, name)| _ = play.answers(name, id));
        assert_eq!(met(&mut play, "answers-cross/each-is-answered"), judged);
    }
}

#[test]
fn answers_cross_by_an_argument() {
    let named = "answers-cross,first={ '/arguments/tag' = 'B' },second={ '/arguments/tag' = 'A' }";
    assert_eq!(crossed(&[named], "b", "a"), (String::new(), question(10)));
    let other = "answers-cross,first={ '/arguments/tag' = 'B' },second={ '/arguments/tag' = 'C' }";
    assert_eq!(crossed(&[other], "b", "a"), (String::new(), String::new()), "A's answer is not C's");
}

#[test]
fn server_request_on_other_stream() {
    for (to, from, onto) in [("get", "call", "get"), ("post", "get", "call")] {
        let mut play = play(&[&format!("server-request-on-other-stream,to={to}")]);
        play.gets("get").streams("get").calls("call", 1).streams("call");
        play.data(from, &question(10)).data(from, &notification(1));
        assert_eq!((play.body(from), play.body(onto)), (&*notification(1), &*question(10)));
        play.data(onto, &question(11));
        assert_eq!(play.body(onto), [question(10), question(11)].concat(), "what is there already stays");
    }
}

#[test]
fn owner_marked() {
    let mut play = play(&["owner-marked"]);
    play.gets("get").streams("get").calls("call", 7).streams("call");
    play.data("get", &notification(1)).data("call", &question(10)).data("call", &answer(7));
    let mark = |body: &str| {
        let data = body.lines().find_map(|line| line.strip_prefix("data: ")).expect("it is an event");
        let message: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
        message["params"]["_meta"]["mishap/owner"].to_string()
    };
    assert_eq!(mark(play.body("call")), r#"{"id":7,"method":"tools/call","name":"call","stream":"post"}"#);
    assert_eq!(mark(play.body("get")), r#"{"id":null,"method":null,"name":null,"stream":"get"}"#);
    assert!(play.body("call").ends_with(&answer(7)), "an answer is not marked");
}

#[test]
fn response_id_mangled() {
    let id = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 7).answers("call", 7);
        let data = play.body("call").lines().find_map(|line| line.strip_prefix("data: ")).expect("an event").to_owned();
        serde_json::from_str::<serde_json::Value>(&data).expect("it is JSON")["id"].to_string()
    };
    assert_eq!(id(&[]), "7");
    assert_eq!(id(&["response-id-mangled"]), "\"7\"");
    assert_eq!(id(&["response-id-mangled,id=null"]), "null");
    assert_eq!(id(&["response-id-mangled,id={ value = 8 }"]), "8");
    assert_eq!(id(&["response-id-mangled,kind=error"]), "7", "this was no error");
}
