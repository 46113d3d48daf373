//! The four truths that only a proxy with two legs can tell apart, a built-in profile each. To the client the first three
//! look alike; each is proved by what the *other* leg saw.

use crate::common::messages::{SSE_HEAD, answer, call, event, progress};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn scene(profile: Option<&str>) -> Scene {
    match profile {
        Some(profile) => Scene::run(None, &["-p", profile]),
        None => Scene::without(),
    }
}

/// A call that the server has got; its end of it.
fn got(scene: &Scene) -> (Peer, Peer) {
    scene.exchange(&call(1))
}

/// The server answers the call to its end, and nobody stops it.
fn works(server: &mut Peer) {
    server.send(SSE_HEAD);
    server.send_chunk(progress(1));
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
}

/// A reset, and no request at the server.
#[test]
fn the_server_never_got_it() {
    let lost = scene(Some("request-lost"));
    let mut client = lost.post(&call(1));
    assert_eq!(client.closed(), Closed::Reset);
    lost.ping(90);
    assert!(lost.is_idle(), "nothing but the ping has come to the server");
    let ended = lost.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);

    let control = scene(None);
    let (_client, mut server) = got(&control);
    works(&mut server);
}

/// The same reset; but the server has answered all of it on a connection that nobody took from it.
#[test]
fn the_server_did_the_work_and_the_client_never_learned() {
    let lost = scene(Some("answer-lost-after-work"));
    let (mut client, mut server) = got(&lost);
    server.send(SSE_HEAD);
    server.send_chunk(progress(1));
    lost.ping(90);
    assert!(server.is_silent(), "its connection is there while it works");
    assert!(client.is_silent(), "and the client learns nothing of that");
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    assert_eq!(client.closed(), Closed::Reset);
    let ended = lost.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);

    let control = scene(None);
    let (mut client, mut server) = got(&control);
    works(&mut server);
    assert_eq!(client.answer().status(), 200);
    client.sees(progress(1) + &event(&answer(1)));
    assert_eq!(client.end(), End::Eof);
}

/// The server has answered and ended its stream; the client has an open connection and no answer.
#[test]
fn the_server_left_and_the_client_still_waits() {
    let stalled = scene(Some("post-stream-stalls"));
    let (mut client, mut server) = got(&stalled);
    works(&mut server);
    assert_eq!(client.answer().status(), 200);
    client.sees(progress(1));
    stalled.ping(90);
    assert!(client.is_silent(), "neither the answer nor an end");
    client.leave();
    let ended = stalled.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

/// The client has gone; the server's connection is open and takes what it writes until its lateness is over.
#[test]
fn the_client_left_and_the_server_still_writes() {
    let unseen = scene(Some("client-left-unseen,late=300ms"));
    let (client, mut server) = unseen.call(1);
    client.leave();
    unseen.ping(90);
    assert!(server.is_silent(), "it was not told");
    server.send_chunk(progress(1));
    assert_eq!(server.closed(), Closed::Fin);
    let ended = unseen.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let left = ended.journal.points(|point| point.key.contains("/leave"));
    assert_eq!(left.len(), 1, "{left:?}");

    let control = scene(None);
    let (client, mut server) = control.call(1);
    client.leave();
    assert_eq!(server.closed(), Closed::Fin);
}
