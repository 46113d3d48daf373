//! What opens a hold: every kind of condition. One request is held, the condition comes true, and the request leaves in
//! that step; the journal says what opened the gate.

use mishap::engine::record::{GateEntry, Opened};

use crate::common::messages::{ACCEPTED, answer, call, event, question, request};
use crate::common::scene::{Ended, Scene};

/// The request that is held.
fn list() -> String {
    request(9, "tools/list", "{}")
}

fn hold(until: &str) -> String {
    format!(
        "[[rule]]\nname = \"hold\"\nmatch = {{ at = \"request\", method = \"tools/list\" }}\nhold = {{ until = {until}, limit = \"60s\" }}\n"
    )
}

/// Holds the request, lets `opener` happen, sees the request arrive at the server. The connections that `opener` returns
/// stay open until then.
#[track_caller]
fn opened<Ends>(rules: &str, opener: impl FnOnce(&Scene) -> Ends) -> GateEntry {
    let scene = Scene::with(rules);
    let client = scene.post(&list());
    scene.fired("hold");
    let _ends = opener(&scene);
    arrives(scene, client).journal.gates("test/hold").remove(0)
}

#[track_caller]
fn arrives(scene: Scene, client: crate::common::peer::Peer) -> Ended {
    let server = scene.served(&list());
    scene.answered(client, server, 9);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    ended
}

fn by(key: &str) -> Opened {
    Opened::By(key.to_owned())
}

/// The control of every test here.
#[test]
fn without_a_rule_the_request_reaches_the_server_at_once() {
    let scene = Scene::without();
    let client = scene.post(&list());
    let ended = arrives(scene, client);
    let request = ended.journal.point("s1/post:9/request#1");
    assert_eq!(request.by, Some(request.seq));
}

#[test]
fn a_time_counts_from_arrival() {
    let gate = opened(&hold("\"80ms\""), |_| {});
    assert!(gate.held >= 80_000, "early: {gate:?}");
}

#[test]
fn a_request_that_passed_opens() {
    let gate = opened(&hold("{ at = \"request\", method = \"ping\" }"), |scene| scene.ping(1));
    assert_eq!(gate.opened, by("s1/post:1/request#1"));
}

#[test]
fn a_head_that_passed_opens() {
    let gate = opened(&hold("{ stream = \"get\", at = \"head\" }"), Scene::open_get);
    assert_eq!(gate.opened, by("s1/get:1/head#1"));
}

#[test]
fn a_block_that_passed_opens_and_no_other_block() {
    let gate = opened(&hold("{ message = \"answer\", method = \"tools/call\" }"), |scene| {
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(question(50));
        client.sees(question(50));
        scene.ping(2);
        assert!(scene.is_idle(), "a question is no answer");
        server.send_chunk(event(&answer(1)));
        client.sees(event(&answer(1)));
    });
    assert_eq!(gate.opened, by("s1/post:1/block#2"));
}

#[test]
fn a_leave_opens() {
    let gate = opened(&hold("{ at = \"leave\", method = \"tools/call\" }"), |scene| {
        let (client, mut server) = scene.call(1);
        client.leave();
        server.closed();
    });
    assert_eq!(gate.opened, by("s1/post:1/leave#1"));
}

#[test]
fn a_clients_answer_opens_by_whose_question_it_answers() {
    let until = "{ at = \"request\", message = \"answer\", owner = { params = { '/arguments/tag' = \"2\" } } }";
    let gate = opened(&hold(until), |scene| {
        let calls = [scene.call(1), scene.call(2)];
        for ((mut client, mut server), id) in calls.into_iter().zip([51, 52]) {
            assert!(scene.is_idle());
            server.send_chunk(question(id));
            client.sees(question(id));
            scene.accepted(scene.post(&answer(id)), &answer(id));
        }
    });
    assert_eq!(gate.opened, by("s1/answer:52/request#1"));
}

#[test]
fn the_clients_leg_sees_a_request_that_has_not_passed() {
    let rules = hold("{ at = \"request\", method = \"ping\", leg = \"client\" }")
        + "[[rule]]\nname = \"stop\"\nmatch = { at = \"request\", method = \"ping\" }\nhold = \"never\"\n";
    let gate = opened(&rules, |scene| scene.post(&request(1, "ping", "{}")));
    assert_eq!(gate.opened, by("s1/post:1/request#1"));
}

#[test]
fn the_k_th_point_opens_and_not_the_one_before() {
    let gate =
        opened(&hold("{ at = \"end\", method = \"ping\", nth = 3 }"), |scene| (1..=3).for_each(|id| scene.ping(id)));
    assert_eq!(gate.opened, by("s1/post:3/end#1"));
}

#[test]
fn what_happened_before_counts_unless_only_the_next_does() {
    for (until, expected) in [
        ("{ at = \"end\", method = \"ping\" }", Opened::Already("s1/post:1/end#1".to_owned())),
        ("{ at = \"end\", method = \"ping\", next = true }", by("s1/post:2/end#1")),
    ] {
        let scene = Scene::with(&hold(until));
        scene.ping(1);
        let client = scene.post(&list());
        scene.fired("hold");
        if matches!(expected, Opened::By(_)) {
            scene.ping(2);
        }
        assert_eq!(arrives(scene, client).journal.gates("test/hold")[0].opened, expected);
    }
}

#[test]
fn a_time_after_a_point_counts_from_that_point() {
    let scene = Scene::with(&hold("{ at = \"end\", method = \"ping\", plus = \"80ms\" }"));
    let client = scene.post(&list());
    scene.fired("hold");
    scene.ping(1);
    let journal = arrives(scene, client).journal;
    let (list, ping) = (journal.point("s1/post:9/request#1"), journal.point("s1/post:1/end#1"));
    assert!(list.left >= ping.left.map(|left| left + 80_000), "early: {list:#?} {ping:#?}");
}

#[test]
fn any_condition_of_a_list_opens() {
    let until = "[\"60s\", { at = \"end\", method = \"tools/call\" }, { at = \"end\", method = \"ping\" }]";
    assert_eq!(opened(&hold(until), |scene| scene.ping(1)).opened, by("s1/post:1/end#1"));
}

#[test]
fn a_rule_that_fired_opens() {
    let rules = hold("{ fired = \"other\" }")
        + "[[rule]]\nname = \"other\"\nmatch = { at = \"end\", method = \"ping\" }\ndelay = \"1ms\"\n";
    let gate = opened(&rules, |scene| scene.ping(1));
    assert!(matches!(gate.opened, Opened::By(_)), "{gate:?}");
}

/// The second held request opens the gate for both.
#[test]
fn so_many_gathered_units_open_and_leave_together() {
    let scene = Scene::with(
        "[[rule]]\nname = \"hold\"\nmatch = { at = \"request\", method = \"tools/call\" }\nhold = { until = { gathered = 2 }, limit = \"60s\" }\n",
    );
    let _first = scene.post(&call(1));
    scene.fired("hold");
    scene.ping(9);
    assert!(scene.is_idle());
    let _second = scene.post(&call(2));
    let _servers = [1, 2].map(|id| scene.served(&call(id)));
    scene.crossed("s1/post:2/request#1");
    let journal = scene.finish().journal;
    let calls = [1, 2].map(|id| journal.point(&format!("s1/post:{id}/request#1")));
    assert_eq!((calls[0].by, calls[1].by), (Some(calls[1].seq), Some(calls[1].seq)));
}

#[test]
fn nothing_in_flight_opens_when_the_last_of_two_calls_is_over() {
    let until = "{ at = \"end\", method = \"tools/call\", in-flight = 0 }";
    let scene = Scene::with(&format!(
        "[[rule]]\nname = \"hold\"\nmatch = {{ stream = \"get\", at = \"request\" }}\nhold = {{ until = {until}, limit = \"60s\" }}\n"
    ));
    let get = scene.get();
    scene.fired("hold");
    let calls = [scene.call(1), scene.call(2)];
    for ((mut client, mut server), id) in calls.into_iter().zip([1, 2]) {
        assert!(scene.is_idle());
        server.send_chunk(event(&answer(id)));
        server.send_last_chunk();
        client.sees(event(&answer(id)));
        client.end();
    }
    let (_get, _server) = scene.streaming(get, "");
    assert_eq!(scene.finish().journal.gates("test/hold")[0].opened, by("s1/post:2/end#1"));
}

/// A cancel names the call it is about; another's cancel, and another session's, open nothing.
#[test]
fn the_same_owner_or_session_is_asked_for() {
    let cancel =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    let scene = Scene::with(
        "[[rule]]\nname = \"hold\"\nmatch = { message = \"answer\", params = { '/arguments/tag' = \"1\" } }\nhold = { until = { at = \"request\", method = \"notifications/cancelled\", same = \"owner\" }, limit = \"60s\" }\n",
    );
    let (mut client, mut server) = scene.call(1);
    let (_other, _other_server) = scene.call(2);
    server.send_chunk(event(&answer(1)));
    scene.fired("hold");
    scene.accepted(scene.post(&cancel(2)), &cancel(2));
    assert!(client.is_silent(), "another call's cancel opened it");
    let cancelling = scene.post(&cancel(1));
    let mut cancelled = scene.served(&cancel(1));
    client.sees(event(&answer(1)));
    cancelled.send(ACCEPTED);
    drop(cancelling);
    let gate = scene.finish().journal.gates("test/hold").remove(0);
    assert_eq!(gate.opened, by("s1/note:notifications/cancelled(2)/request#1"));
}
