//! `duplicate`: what leaves again, as its receiver gets it.

use crate::common::messages::{answer, call, event, progress, question};
use crate::common::peer::End;
use crate::common::scene::Scene;

fn again(selector: &str, how: &str) -> String {
    format!("[[rule]]\nname = \"again\"\nmatch = {{ {selector} }}\nduplicate = {how}\n")
}

#[test]
fn a_block_arrives_again_behind_itself_and_once_without_the_rule() {
    for (rules, copies) in [(Some(again("method = \"tools/call\", message = \"request\"", "2")), 2), (None, 0)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(question(51) + &progress(1) + &event(&answer(1)));
        server.send_last_chunk();
        client.sees(question(51).repeat(1 + copies) + &progress(1) + &event(&answer(1)));
        assert_eq!(client.end(), End::Eof);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let made = ended.journal.points(|point| point.maker.as_deref() == Some("test/again"));
        assert_eq!(made.len(), copies);
        assert!(made.iter().all(|copy| copy.owner.as_ref().is_some_and(|owner| owner.method == "tools/call")));
        let told = "test/again: repeated elicitation/create on POST tools/call id 1";
        assert_eq!(ended.stderr.contains(told), copies > 0, "{}", ended.stderr);
    }
}

#[test]
fn a_copy_arrives_so_much_later_and_never_early() {
    let scene = Scene::with(&again("method = \"tools/call\", message = \"answer\"", "{ times = 1, gap = \"40ms\" }"));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(event(&answer(1)).repeat(2));
    assert_eq!(client.end(), End::Eof);
    let ended = scene.finish();
    let (first, copy) = (ended.journal.point("s1/post:1/block#1"), ended.journal.point("s1/post:1/block#2"));
    assert!(copy.left.expect("it left") - first.arrived >= 40_000, "{first:#?} {copy:#?}");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

#[test]
fn a_json_answer_is_not_repeated_and_the_run_says_that_nothing_happened() {
    let scene = Scene::with(&again("method = \"tools/call\", message = \"answer\"", "true"));
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
    assert_eq!(scene.finish().status, 4);
}
