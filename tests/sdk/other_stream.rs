//! `server-request-on-other-stream`, both ways, with one SDK and rmcp: a question moved to the GET or to the call's own stream is
//! accepted and answered, the client's bytes say another stream than before, and the journal still knows the owner.

use serde_json::{Value, json};

use crate::harness::{Driver, Mishap, PATIENCE, Run};

const VERSION: &str = "1.32.2";

#[test]
fn a_question_moved_to_the_get_is_answered_and_keeps_its_owner() {
    let asked = ask(&typescript(), &["server-request-on-other-stream,to=get"], true);
    assert_eq!(asked.seen["wrapped"], "GET");
    let point = asked.question();
    assert_eq!((&point["stream"], &point["fate"]), (&json!("post"), &json!("moved")));
    assert_eq!(point["owner"]["id"], asked.call, "{point}");
}

#[test]
fn a_question_moved_to_its_calls_stream_is_answered() {
    let asked = ask(&typescript(), &["server-request-on-other-stream,to=post"], false);
    assert_eq!(asked.seen["wrapped"], TAG);
    let point = asked.question();
    assert_eq!((&point["stream"], &point["fate"]), (&json!("get"), &json!("moved")));
}

#[test]
fn without_the_profile_a_question_comes_on_the_stream_the_server_chose() {
    let related = ask(&typescript(), &[], true);
    assert_eq!(related.seen["wrapped"], TAG);
    assert_eq!(related.question()["owner"]["id"], related.call);
    let unrelated = ask(&typescript(), &[], false);
    assert_eq!(unrelated.seen["wrapped"], "GET");
    assert_eq!(unrelated.question()["owner"], Value::Null, "the standalone GET owns nothing");
}

// rmcp tells a handler the stream that a question came on, and so is misled by one that was moved.
#[test]
fn rmcp_takes_a_moved_question_for_one_of_the_stream_it_was_moved_to() {
    let rmcp = || Driver::rmcp("client", &json!({}));
    let away = ask(&rmcp(), &["server-request-on-other-stream,to=get"], true);
    assert_eq!(away.seen["origin"], "unassociated");
    let onto = ask(&rmcp(), &["server-request-on-other-stream,to=post"], false);
    assert_eq!(onto.seen["origin"], onto.call);

    let related = ask(&rmcp(), &[], true);
    assert_eq!(related.seen["origin"], related.call);
    let unrelated = ask(&rmcp(), &[], false);
    assert_eq!(unrelated.seen["origin"], "unassociated");
}

fn typescript() -> Driver {
    Driver::node("client", VERSION, &json!({}))
}

const TAG: &str = "the call";

/// A call that asked, and was answered.
struct Asked {
    /// The question as the client saw it. By its wrapped fetch it came on the stream of a call (its tag) or on the `GET`.
    seen: Value,
    /// The call's JSON-RPC id.
    call: Value,
    run: Run,
}

impl Asked {
    /// The question in the journal.
    fn question(&self) -> &Value {
        let asks = |point: &Value| point["point"] == "block" && point["rpc"][0]["method"] == "elicitation/create";
        let points = self.run.points(asks);
        assert_eq!(points.len(), 1, "{points:#?}");
        points[0]
    }
}

/// One session, whose GET is open when the tool asks.
fn ask(client: &Driver, profiles: &[&str], related: bool) -> Asked {
    let server = Driver::node("server", VERSION, &json!({ "store": false, "timeout": PATIENCE }));
    let mishap = Mishap::start(&server.url(), profiles);
    let question = json!({ "tag": TAG, "kind": "elicitation", "related": related, "wait": true });
    let call = json!({ "cmd": "call", "call": "ask", "tool": "ask", "args": question });
    client.send(&json!({
        "cmd": "connect", "id": "c", "url": mishap.url(), "timeout": PATIENCE, "fetch_wrapped": true, "then": [call],
    }));
    let entered = server.wait("entered", |event| event["event"] == "entered");
    server.wait("GET open", |event| event["event"] == "get-open");
    server.send(&json!({ "cmd": "release", "tag": TAG }));

    let seen = client.wait("the question", |event| event["event"] == "server-request");
    let settled = client.wait("settled", |event| event["event"] == "settled");
    assert_eq!(settled["outcome"], "ok", "{settled}");
    let run = mishap.finish();
    run.assert_exit(0);
    Asked { seen, call: entered["request"].clone(), run }
}
