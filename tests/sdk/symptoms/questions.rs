//! What is played on a scene, and the outcome: calls that ask the client.

use serde_json::{Value, json};

use super::scene::Scene;
use crate::cells::{WINDOW, word};
use crate::harness::{LOSS, PATIENCE};

/// A tool asks on the standalone GET, once that is open; with a profile that keeps it closed, a round trip later.
pub(super) fn unrelated(scene: Scene) -> String {
    scene.connect(&scene.name);
    ask(&scene, false);
    if scene.is_on() {
        scene.ping();
    } else {
        get_is_open(&scene);
    }
    asked(scene)
}

/// The same, after a call that is never answered has given the client the time to reconnect, if it does.
pub(super) fn unrelated_afterwards(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("before", "slow", json!({}), WINDOW);
    scene.settled("before");
    ask(&scene, false);
    asked(scene)
}

/// A tool asks on the stream of its own call.
pub(super) fn related(scene: Scene) -> String {
    scene.connect(&scene.name);
    ask(&scene, true);
    asked(scene)
}

/// A tool asks on the standalone GET as soon as it is called, and it is called as soon as the session is there. With
/// the profile that is never too early.
pub(super) fn at_once(scene: Scene) -> String {
    scene.connect(&scene.name);
    let patience = if scene.is_on() { PATIENCE } else { LOSS };
    let question = json!({ "kind": "elicitation", "related": false, "wait": false, "timeout": patience });
    scene.call("ask", "ask", question, PATIENCE);
    heard(scene)
}

/// Two calls ask, each on its own stream: whether a client that hands the first question to the first call is right.
pub(super) fn crossed(scene: Scene) -> String {
    scene.connect(&scene.name);
    for call in ["first", "second"] {
        scene.call(call, "ask", question(PATIENCE), PATIENCE);
        scene.server_says("entered", call);
    }
    scene.release("first");
    scene.server_says("asked", "first");
    if !scene.is_on() {
        scene.question("first");
    }
    scene.release("second");
    for call in ["first", "second"] {
        assert_eq!(scene.settled(call)["outcome"], "ok");
    }
    let mine = |event: &Value| event["event"] == "server-request" && event["id"] == scene.name;
    let questions = scene.client.driver.wait_for(2, "questions", mine);
    let right = questions[0]["tag"] == scene.tag("first");
    scene.finish();
    if right { "answered".to_owned() } else { "answered, misled".to_owned() }
}

/// A tool asks on its call's stream: whether what the SDK says of the question's origin is that call.
pub(super) fn origin(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("ask", "ask", question(PATIENCE), PATIENCE);
    let call = scene.server_says("entered", "ask")["request"].clone();
    get_is_open(&scene);
    scene.release("ask");
    let told = scene.question("ask")["origin"].clone();
    assert_eq!(scene.settled("ask")["outcome"], "ok");
    scene.finish();
    if told == call { "answered".to_owned() } else { "answered, misled".to_owned() }
}

/// A tool asks on its call's stream: whether the client is told whose the question is.
pub(super) fn mark(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("ask", "ask", question(PATIENCE), PATIENCE);
    scene.release("ask");
    let meta = scene.question("ask")["meta"].clone();
    assert_eq!(scene.settled("ask")["outcome"], "ok");
    scene.finish();
    if meta["mishap/owner"].is_object() { "answered, marked".to_owned() } else { "answered".to_owned() }
}

fn question(patience: u64) -> Value {
    json!({ "kind": "elicitation", "related": true, "wait": true, "timeout": patience })
}

/// Calls the tool, which asks when it is released.
fn ask(scene: &Scene, related: bool) {
    let mut question = question(scene.loss());
    question["related"] = json!(related);
    scene.call("ask", "ask", question, PATIENCE);
    scene.server_says("entered", "ask");
}

fn asked(scene: Scene) -> String {
    scene.release("ask");
    heard(scene)
}

/// Whether the question reached the client, by the end of the call.
fn heard(scene: Scene) -> String {
    let settled = scene.settled("ask");
    let heard = scene.was_asked("ask");
    scene.finish();
    let word = word(&settled);
    if heard { word } else { format!("{word}, unheard") }
}

fn get_is_open(scene: &Scene) {
    let session = scene.server_says("entered", "ask")["session"].clone();
    scene.server.wait("GET open", |event| event["event"] == "get-open" && event["session"] == session);
}
