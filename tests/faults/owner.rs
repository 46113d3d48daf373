//! Whose a message is: in the journal on every stream, and in the message itself where a rule writes it there.

use mishap::engine::rpc::Id;
use serde_json::Value;

use crate::common::messages::{SSE_HEAD, answer, event, question};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;

/// The opt-in rule: the truth about a question's origin, under a name of our own.
const TRUTH: &str = r#"
[[rule]]
name = "truth"
match = { stream = ["post", "get", "resume"], message = "request" }
rewrite.set = { "/params/_meta/mishap~1owner" = "${owner.id}", "/params/_meta/mishap~1method" = "${owner.method}" }
"#;

/// What the next event on this stream carries as `params`.
fn next_params(client: &mut Peer) -> Value {
    let event = client.event();
    let data = event.split_once("data: ").expect("the event has data").1;
    let message: Value = serde_json::from_str(data).expect("an event carries JSON");
    message["params"].clone()
}

#[test]
fn a_rule_writes_the_owner_into_the_question() {
    let scene = Scene::with(TRUTH);
    let calls = [scene.call(1), scene.call(2)];
    for ((mut client, mut server), id) in calls.into_iter().zip([1, 2]) {
        server.send_chunk(question(50 + id));
        let params = next_params(&mut client);
        assert_eq!(params["_meta"]["mishap/owner"], id, "{params}");
        assert_eq!(params["_meta"]["mishap/method"], "tools/call", "{params}");
        assert_eq!(params["message"], "well?", "what was there stays: {params}");
    }
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn without_the_rule_the_question_arrives_as_it_was_sent() {
    let scene = Scene::without();
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(question(51));
    client.sees(question(51));
}

/// The call's stream gave an id, ended, and was resumed: the question on the resume is still the call's.
#[test]
fn the_owner_survives_a_resume() {
    for rules in [Some(TRUTH), None] {
        let scene = Scene::run(rules, &[]);
        let (mut client, mut server) = scene.call(3);
        server.send_chunk("id: s1-0\ndata: \n\n");
        server.send_last_chunk();
        client.sees("id: s1-0\ndata: \n\n");
        assert_eq!(client.end(), End::Eof);
        let mut resumed = scene.resume("s1-0");
        let mut server = scene.served("");
        server.send(SSE_HEAD);
        resumed.answer();
        server.send_chunk(question(51));
        if rules.is_some() {
            assert_eq!(next_params(&mut resumed)["_meta"]["mishap/owner"], 3);
        } else {
            resumed.sees(question(51));
        }
        server.send_chunk(event(&answer(3)));
        resumed.sees(event(&answer(3)));
        let journal = scene.finish().journal;
        let on_resume = journal.points(|point| point.stream.as_deref() == Some("resume") && point.point == "block");
        let owners: Vec<_> = on_resume.iter().filter_map(|point| point.owner.as_ref()).collect();
        assert_eq!(owners.len(), 2, "the question and the answer: {on_resume:#?}");
        assert!(owners.iter().all(|owner| owner.id == Id::Number("3".to_owned()) && owner.method == "tools/call"));
    }
}

/// The client's answer carries no method; it belongs to the call whose question it answers.
#[test]
fn a_clients_answer_belongs_to_the_call_that_asked() {
    let scene = Scene::without();
    let (mut client, mut server) = scene.call(4);
    server.send_chunk(question(51));
    client.sees(question(51));
    scene.accepted(scene.post(&answer(51)), &answer(51));
    let answer = scene.finish().journal.point("s1/answer:51/request#1");
    assert_eq!(answer.owner.expect("the call").id, Id::Number("4".to_owned()));
}
