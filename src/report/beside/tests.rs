//! Made-up journals from both sides of a gateway, and the timeline they must become.

use super::*;
use crate::engine::record::{Entry, PointEntry, RpcEntry};
use crate::engine::rpc::Id;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn run(started: &str) -> Line {
    Line::Run(Header { started: started.to_owned(), ..Header::default() })
}

fn point(seq: u64, key: &str, kind: &str, method: &str) -> PointEntry {
    let point = key.rsplit('/').next().and_then(|last| last.split('#').next()).unwrap_or_default();
    let rpc = RpcEntry {
        kind: kind.into(),
        method: Some(method.into()),
        id: Some(Id::Number("1".into())),
        ..RpcEntry::default()
    };
    PointEntry {
        seq,
        arrived: seq * 1_000,
        left: Some(seq * 1_000),
        by: Some(seq),
        left_seq: Some(seq),
        key: key.to_owned(),
        point: point.to_owned(),
        stream: Some("post".into()),
        session: Some(1),
        dir: if point == "request" { "c2s" } else { "s2c" }.into(),
        rpc: if method.is_empty() { vec![] } else { vec![rpc] },
        ..PointEntry::default()
    }
}

fn head(seq: u64, key: &str, status: u16) -> PointEntry {
    PointEntry { status: Some(status), ..point(seq, key, "", "") }
}

fn journal(started: &str, points: Vec<PointEntry>) -> Vec<Line> {
    [run(started)].into_iter().chain(points.into_iter().map(|point| Line::from(Entry::Point(point)))).collect()
}

fn drawn(before: Vec<PointEntry>, behind: Vec<PointEntry>) -> String {
    beside(&journal("2026-01-01T00:00:00.000Z", before), &journal("2026-01-01T00:00:00.002Z", behind))
}

fn call(id: u64, seq: u64) -> Vec<PointEntry> {
    let key = |point: &str| format!("s1/post:{id}/{point}#1");
    vec![
        point(seq, &key("request"), "request", "ping"),
        head(seq + 3, &key("head"), 200),
        point(seq + 4, &key("block"), "response", "ping"),
    ]
}

#[test]
fn what_both_saw_stands_in_the_order_in_which_it_went_through_the_gateway() {
    // The journal behind began 2 ms later.
    let mut behind = call(1, 1);
    (behind[1].arrived, behind[1].left) = (1_500, Some(1_500));
    (behind[2].arrived, behind[2].left) = (2_500, Some(2_500));
    let text = drawn(call(1, 1), behind);
    let rows: Vec<_> = text.lines().skip_while(|line| !line.contains("gateway")).skip(1).take(6).collect();
    let expected = [
        "   0.001  POST ping id 1        │──────▶│──────▶│       │       │  request ping id 1",
        "   0.003  POST ping id 1        │       │       │──────▶│──────▶│  request ping id 1",
        "   0.003  POST ping id 1        │       │       │◀──────│◀──────│  200",
        "   0.004  POST ping id 1        │◀──────│◀──────│       │       │  200",
        "   0.004  POST ping id 1        │       │       │◀──────│◀──────│  #1 answer to ping id 1",
        "   0.005  POST ping id 1        │◀──────│◀──────│       │       │  #1 answer to ping id 1",
    ];
    assert_eq!(rows, expected, "{text}");
    assert!(
        text.ends_with("\nboth saw the same\n") && text.contains("1 exchange on both sides, 0 of them by trace"),
        "{text}"
    );
}

#[test]
fn what_only_one_side_saw_is_marked_where_it_was_seen() {
    let notification = PointEntry {
        rpc: vec![RpcEntry { kind: "notification".into(), ..RpcEntry::default() }],
        ..point(3, "s1/post:1/block#2", "", "")
    };
    let mut behind = call(1, 1);
    behind.push(notification);
    behind.extend(call(7, 20));
    let mut before = call(1, 1);
    before[1].status = Some(502);
    let text = drawn(before, behind);
    let marks: Vec<_> = text.lines().filter_map(|line| line.split_once("│  ? ")).map(|(_, mark)| mark).collect();
    assert_eq!(marks, ["only behind", "502 here, 200 behind", "only behind: the exchange and all of it"], "{text}");
    assert!(text.ends_with("\n3 differences: 0 only before, 2 only behind\n"), "{text}");
}

// By id the wrong ones would be joined, and nothing would differ.
#[test]
fn exchanges_are_joined_by_their_trace_whatever_ids_the_gateway_gives() {
    let traced = |mut points: Vec<PointEntry>| {
        points[0].rpc[0].trace = Some(TRACE.to_owned());
        points
    };
    let header = |mut points: Vec<PointEntry>| {
        points[0].headers = vec![("traceparent".to_owned(), TRACE.replace("b7ad", "ffff"))];
        points
    };
    let mut before = traced(call(1, 1));
    before[1].status = Some(502);
    before.extend(call(2, 20));
    let mut behind = header(call(2, 1));
    behind.extend(call(1, 20));
    let text = drawn(before.clone(), behind);
    assert!(text.contains("2 exchanges on both sides, 1 of them by trace context"), "{text}");
    let untraced = drawn(before, [call(2, 1), call(1, 20)].concat());
    assert!(untraced.contains("2 exchanges on both sides, 0 of them by trace context"), "{untraced}");
}

#[test]
fn a_message_that_the_gateway_sent_on_another_stream_is_said_to_be_there() {
    let asked = |key: &str| point(3, key, "request", "roots/list");
    let mut before = call(1, 1);
    before.push(PointEntry { stream: Some("get".into()), ..point(2, "s1/get:1/request#1", "", "") });
    let mut behind = before.clone();
    before.push(asked("s1/get:1/block#1"));
    behind.push(asked("s1/post:1/block#2"));
    let text = drawn(before, behind);
    assert!(text.contains("? on another stream behind: s1/post:1/block#2"), "{text}");
    assert!(text.contains("? on another stream before: s1/get:1/block#1"), "{text}");
}

#[test]
fn a_clock_of_another_machine_is_set_by_what_cannot_be() {
    let mut behind = call(1, 1);
    behind[1].left = Some(2_000);
    let text = beside(&journal("2026-01-01T00:00:00.000Z", call(1, 1)), &journal("2026-01-01T00:01:00.000Z", behind));
    assert!(text.contains("the journal behind began 2.0 ms later"), "{text}");
}
