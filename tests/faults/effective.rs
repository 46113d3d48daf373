//! What counts as effective: a rule whose fault the client could not see fails the run, with its control beside it.

use crate::common::body::chunk;
use crate::common::messages::{answer, call, event, progress};
use crate::common::peer::End;
use crate::common::scene::{Ended, Scene};

const ANSWER: &str = "method = \"tools/call\", message = \"answer\"";
const END: &str = "at = \"end\", method = \"tools/call\"";

/// A call whose last event and end come in one write, with such a cut.
fn answered_at_once(selector: &str, how: &str) -> Ended {
    let scene = Scene::with(&format!("[[rule]]\nname = \"cut\"\nmatch = {{ {selector} }}\ncut = {{ {how} }}\n"));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    client.sees(progress(1));
    server.send([chunk(event(&answer(1))), b"0\r\n\r\n".to_vec()].concat());
    client.sees(event(&answer(1)));
    assert_eq!(client.end(), if how.contains("fin") { End::Fin } else { End::Eof });
    scene.finish()
}

#[test]
fn a_cut_that_ends_a_stream_as_the_server_has_ended_it_changes_nothing() {
    for (selector, place) in [
        (ANSWER, "where = \"after\""),
        (ANSWER, "where = \"inside\", byte = \"100%\""),
        (ANSWER, "where = \"inside\", byte = 100000"),
        (END, "where = \"before\""),
    ] {
        let ended = answered_at_once(selector, &format!("ending = \"eof\", {place}"));
        assert_eq!(ended.status, 4, "{place}: {}", ended.stderr);
        let ended = answered_at_once(selector, &format!("ending = \"fin\", {place}"));
        assert_eq!(ended.status, 0, "{place}: {}", ended.stderr);
    }
}

#[test]
fn the_end_of_an_answer_without_a_body_cannot_be_delayed() {
    for (head, status) in [("204 No Content\r\n", 4), ("202 Accepted\r\nContent-Length: 0\r\n", 0)] {
        let scene = Scene::with(&format!("[[rule]]\nname = \"late\"\nmatch = {{ {END} }}\ndelay = \"50ms\"\n"));
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(format!("HTTP/1.1 {head}\r\n"));
        assert_eq!(client.answer().value("content-length"), None, "{head}");
        assert_eq!(client.end(), End::Eof);
        scene.crossed("s1/post:1/end#1");
        // With a 202 the answer is still owed.
        client.leave();
        let ended = scene.finish();
        assert_eq!(ended.status, status, "{head}: {}", ended.stderr);
    }
}
