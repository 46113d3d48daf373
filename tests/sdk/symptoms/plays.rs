//! What is played on a scene, and the outcome: calls.

use serde_json::{Value, json};

use super::scene::Scene;
use crate::cells::{Ask, Cell, Seen, WINDOW, word};
use crate::harness::PATIENCE;

/// A call that may take as long as it does, and one after it.
pub(super) fn call(scene: Scene) -> String {
    cell(scene, Ask::Echo, PATIENCE)
}

/// A call that the profile makes late or loses, and one after it.
pub(super) fn lost_call(scene: Scene) -> String {
    let timeout = scene.window();
    cell(scene, Ask::Echo, timeout)
}

/// A call whose answer comes when the client has given it up, and one after that.
pub(super) fn late_answer(scene: Scene) -> String {
    let cell = Cell::new(scene.client, &slug(&scene), Ask::Echo, scene.window());
    cell.connect(scene.url(), false, PATIENCE);
    assert!(cell.connected(), "{}", scene.name);
    cell.ask();
    if scene.is_on() {
        cell.is_told_an_error();
    }
    cell.end();
    let run = scene.finish();
    cell.outcome(&Seen::of(&run, &cell.slug))
}

/// A call beside one that is never answered; meanwhile the standalone GET is watched.
pub(super) fn meanwhile(scene: Scene) -> String {
    cell(scene, Ask::Meanwhile, PATIENCE)
}

fn cell(scene: Scene, ask: Ask, timeout: u64) -> String {
    let cell = Cell::new(scene.client, &slug(&scene), ask, timeout);
    cell.connect(scene.url(), false, scene.window());
    if !cell.connected() {
        scene.finish();
        return "refused".to_owned();
    }
    cell.ask();
    cell.end();
    let run = scene.finish();
    cell.outcome(&Seen::of(&run, &cell.slug))
}

fn slug(scene: &Scene) -> String {
    scene.name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// A call, and what the server knows of it.
pub(super) fn call_on_both_legs(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("call", "echo", json!({ "text": "hello" }), PATIENCE);
    let settled = scene.settled("call");
    let server = if scene.server_said("call-end", "call") { "worked" } else { "untouched" };
    scene.finish();
    format!("{}, {server}", word(&settled))
}

/// A call that the server works on until it has seen that the call's response is closed.
pub(super) fn outlived(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("call", "slow", json!({}), scene.window());
    scene.server_says("entered", "call");
    if scene.is_on() {
        scene.server_says("post-closed", "call");
    }
    scene.release("call");
    let settled = scene.settled("call");
    let server = if scene.server_said("call-end", "call") { "worked" } else { "untouched" };
    scene.finish();
    format!("{}, {server}", word(&settled))
}

/// Three calls at once.
pub(super) fn three_calls(scene: Scene) -> String {
    const CALLS: [&str; 3] = ["one", "two", "three"];
    scene.connect(&scene.name);
    CALLS.iter().for_each(|call| scene.call(call, "echo", json!({ "text": "hello" }), PATIENCE));
    let outcomes = CALLS.map(|call| word(&scene.settled(call)));
    scene.finish();
    outcomes.join(", ")
}

/// A call that sends two notifications: whether they are heard in the order they were sent in.
pub(super) fn two_notifications(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("call", "notify", json!({ "count": 2, "wait": false }), PATIENCE);
    let settled = scene.settled("call");
    let mine = |event: &Value| event["event"] == "notification" && event["id"] == scene.name;
    let heard = scene.client.driver.wait_for(2, "notifications", mine);
    let in_order = heard[0]["data"].as_str().unwrap().starts_with('1');
    scene.finish();
    if in_order { word(&settled) } else { format!("{}, reordered", word(&settled)) }
}

/// A call that sends one notification: how often it is heard.
pub(super) fn one_notification(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("call", "notify", json!({ "count": 1, "wait": false }), PATIENCE);
    let settled = scene.settled("call");
    let mine = |event: &Value| event["event"] == "notification" && event["id"] == scene.name;
    if scene.is_on() {
        scene.client.driver.wait_for(2, "notifications", mine);
    }
    let heard = scene.client.driver.places(mine).len();
    scene.finish();
    if heard == 1 { word(&settled) } else { format!("{}, duplicated", word(&settled)) }
}

/// A client that leaves in the middle of a call: whether the server learns of it before the next client has called.
pub(super) fn leave(scene: Scene) -> String {
    scene.connect(&scene.name);
    scene.call("left", "slow", json!({}), WINDOW);
    scene.server_says("entered", "left");
    scene.client.driver.send(&json!({ "cmd": "close", "id": scene.name }));
    scene.client.driver.wait("closed", |event| event["event"] == "closed" && event["id"] == scene.name);
    if !scene.is_on() {
        scene.server_says("post-closed", "left");
    }
    let next = Cell::new(scene.client, &slug(&scene), Ask::Echo, PATIENCE);
    next.connect(scene.url(), false, PATIENCE);
    assert!(next.connected(), "{}", scene.name);
    next.ask();
    next.end();
    let learned = scene.server_said("post-closed", "left");
    scene.finish();
    if learned { "answered".to_owned() } else { "answered, unheard".to_owned() }
}
