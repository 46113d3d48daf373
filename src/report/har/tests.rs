//! Made-up exchanges, and what a reader of HAR 1.2 must find of them.

use boon::{Compiler, Schemas};

use super::*;
use crate::engine::record::{Entry, PointFate};
use crate::engine::rpc::Id;

/// The fields that HAR 1.2 wants, with their types (softwareishard.com, HAR 1.2 Spec).
fn schema() -> Value {
    let object = |fields: &[(&str, Value)]| {
        let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
        let properties: serde_json::Map<_, _> =
            fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
        json!({ "type": "object", "required": names, "properties": properties })
    };
    let list = |items: Value| json!({ "type": "array", "items": items });
    let (text, number, integer) = (
        json!({ "type": "string" }),
        json!({ "type": "number", "minimum": -1 }),
        json!({ "type": "integer", "minimum": -1 }),
    );
    let pair = object(&[("name", text.clone()), ("value", text.clone())]);
    let message = |own: &[(&str, Value)]| {
        let common = [
            ("httpVersion", text.clone()),
            ("cookies", list(pair.clone())),
            ("headers", list(pair.clone())),
            ("headersSize", integer.clone()),
            ("bodySize", integer.clone()),
        ];
        object(&[own, &common].concat())
    };
    let request = message(&[
        ("method", text.clone()),
        ("url", json!({ "type": "string", "format": "uri" })),
        ("queryString", list(pair.clone())),
    ]);
    let content = object(&[("size", integer.clone()), ("mimeType", text.clone())]);
    let response = message(&[
        ("status", integer.clone()),
        ("statusText", text.clone()),
        ("content", content),
        ("redirectURL", text.clone()),
    ]);
    let timings = object(&[("send", number.clone()), ("wait", number.clone()), ("receive", number.clone())]);
    let moment = json!({ "type": "string", "format": "date-time" });
    let entry = object(&[
        ("startedDateTime", moment),
        ("time", number),
        ("request", request),
        ("response", response),
        ("cache", json!({ "type": "object" })),
        ("timings", timings),
    ]);
    let creator = object(&[("name", text.clone()), ("version", text.clone())]);
    object(&[(
        "log",
        object(&[("version", json!({ "const": "1.2" })), ("creator", creator), ("entries", list(entry))]),
    )])
}

#[track_caller]
fn valid(archive: &Value) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource("har.json", schema()).expect("it is a schema");
    let index = compiler.compile("har.json", &mut schemas).expect("it is a schema");
    if let Err(error) = schemas.validate(archive, index) {
        panic!("{error:#} in {archive:#}");
    }
}

fn point(seq: u64, name: &str) -> PointEntry {
    PointEntry {
        seq,
        arrived: seq * 1_000,
        left: Some(seq * 1_000 + 500),
        by: Some(seq),
        left_seq: Some(seq),
        key: format!("s1/post:1/{name}#1"),
        point: name.to_owned(),
        stream: Some("post".to_owned()),
        dir: if name == "request" { "c2s" } else { "s2c" }.to_owned(),
        bytes: 10,
        conn: 3,
        ..PointEntry::default()
    }
}

fn request() -> PointEntry {
    PointEntry { http: Some("POST /mcp?#0011aabb".to_owned()), ..point(1, "request") }
}

fn head(media: &str) -> PointEntry {
    PointEntry { status: Some(200), headers: vec![("content-type".into(), media.into())], ..point(2, "head") }
}

fn block() -> PointEntry {
    let rpc = RpcEntry {
        kind: "response".into(),
        method: Some("ping".into()),
        id: Some(Id::Number("1".into())),
        ..RpcEntry::default()
    };
    PointEntry { rpc: vec![rpc], event_id: Some("e1".into()), block: Some("message".into()), ..point(3, "block") }
}

fn made(points: Vec<PointEntry>) -> Value {
    let run = Header {
        started: "2026-01-02T03:04:05.678Z".into(),
        listen: "127.0.0.1:1".into(),
        mishap: "1".into(),
        ..Header::default()
    };
    let points = points.into_iter().map(|point| Line::from(Entry::Point(point)));
    let archive = archive(&[Line::Run(run)].into_iter().chain(points).collect::<Vec<_>>());
    let archive = serde_json::from_str(&archive).expect("it is JSON");
    valid(&archive);
    archive
}

#[test]
fn an_exchange_is_an_entry_as_its_client_saw_it() {
    let end = PointEntry { ending: Some("eof".into()), ..point(4, "end") };
    let entry = made(vec![request(), head("application/json"), block(), end])["log"]["entries"][0].clone();
    assert_eq!(entry["startedDateTime"], "2026-01-02T03:04:05.679Z");
    assert_eq!(
        (&entry["time"], &entry["timings"]["wait"], &entry["timings"]["receive"]),
        (&json!(3.5), &json!(1.5), &json!(2.0))
    );
    assert_eq!(
        (&entry["request"]["method"], &entry["request"]["url"]),
        (&json!("POST"), &json!("http://127.0.0.1:1/mcp?%230011aabb"))
    );
    assert_eq!(entry["response"]["status"], 200);
    assert_eq!((&entry["_resourceType"], &entry["_eventSourceMessages"]), (&json!("fetch"), &Value::Null));
    assert_eq!(entry["response"].get("_error"), None);
}

#[test]
fn the_events_of_a_stream_are_where_browsers_tools_look_for_them() {
    let entry = made(vec![request(), head("text/event-stream"), block()])["log"]["entries"][0].clone();
    assert_eq!(entry["_resourceType"], "eventsource");
    let expected = json!([{
        "time": 1_767_323_045.681_5, "eventName": "message", "eventId": "e1",
        "data": r#"{"kind":"response","method":"ping","id":1}"#,
    }]);
    assert_eq!(entry["_eventSourceMessages"], expected);
}

// Where the client got nothing, a status would be invented.
#[test]
fn what_a_rule_kept_from_the_client_is_not_in_its_entry_and_what_a_rule_made_is() {
    let never = |point: PointEntry| PointEntry { left: None, left_seq: None, by: None, fate: PointFate::Cut, ..point };
    let cut = PointEntry { made: Some("reset".into()), rules: vec!["p/cut".into()], ..point(4, "end") };
    let entry =
        made(vec![request(), never(head("text/event-stream")), never(block()), cut])["log"]["entries"][0].clone();
    assert_eq!((&entry["response"]["status"], &entry["response"]["_error"]), (&json!(0), &json!("reset")));
    assert_eq!((&entry["_eventSourceMessages"], &entry["comment"]), (&json!([]), &json!("cut")));
    let edits = vec![("x".into(), Some("y".into())), ("content-type".into(), None)];
    let rewritten = PointEntry { made_status: Some(503), made_headers: edits, ..head("text/html") };
    let entry = made(vec![request(), rewritten])["log"]["entries"][0].clone();
    assert_eq!(
        (&entry["response"]["status"], &entry["response"]["headers"]),
        (&json!(503), &json!([{ "name": "x", "value": "y" }]))
    );
}
