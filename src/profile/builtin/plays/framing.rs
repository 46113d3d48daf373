//! Profiles about events as bytes and their order, played.

use super::{PRIMING, lost, play};
use crate::engine::playbook::tools::{answer, notification};

#[test]
fn events_out_of_order() {
    let swapped = [PRIMING, &notification(2), &notification(1), &answer(1)].concat();
    assert_eq!(lost(&["events-out-of-order,order=swap"]).0, swapped);
    assert_ne!(lost(&[]).0, swapped);
}

#[test]
fn events_out_of_order_with_progress_after_the_answer() {
    let progress =
        r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let progress = format!("{progress}\n\n");
    let order = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).streams("call").data("call", &progress).data("call", &answer(1)).ends("call");
        play.body("call").to_owned()
    };
    assert_eq!(order(&["events-out-of-order,order=progress-last"]), [answer(1), progress.clone()].concat());
    assert_eq!(order(&[]), [progress.clone(), answer(1)].concat());
}

#[test]
fn sse_awkward_events() {
    let sent = |uses: &[&str], media: &str, body: &str| {
        let mut play = play(uses);
        play.calls("call", 1).head("call", 200, &[("content-type", media)]).data("call", body).ends("call");
        play.body("call").to_owned()
    };
    let form = |form: &str| format!("sse-awkward-events,form={form}");
    let (sse, json) = (answer(1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let data = format!("data: {json}\n\n");
    for (uses, typed, ided) in
        [(vec![], true, true), (vec![form("no-type")], false, true), (vec![form("no-id")], true, false)]
    {
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        let body = sent(&uses, "text/event-stream", &format!("id: 1\n{sse}"));
        assert_eq!((body.contains("event:"), body.contains("id: 1")), (typed, ided), "{body}");
        assert!(body.ends_with(&data), "{body}");
    }
    assert!(sent(&[&form("json-as-sse")], "application/json", json).ends_with(&data));
    assert_eq!(sent(&[&form("sse-as-json")], "text/event-stream", &sse), json);
    assert!(sent(&[&form("array")], "text/event-stream", &sse).contains(&format!("[{json}]")));
    assert_eq!(sent(&[], "application/json", json), json);
}

#[test]
fn events_out_of_order_with_a_notification_that_nobody_waits_for() {
    let order = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).answers("call", 1);
        let kind = |line: &str| line.strip_prefix("data: ").map(|data| data.contains("notifications/message"));
        play.body("call").lines().filter_map(kind).collect::<Vec<_>>()
    };
    assert_eq!(order(&[]), [false]);
    assert_eq!(order(&["events-out-of-order"]), [true, false]);
    assert_eq!(order(&["events-out-of-order,order=late"]), [false, true]);
}

#[test]
fn sse_noise() {
    let body = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1)
            .streams("call")
            .data("call", &notification(1))
            .data("call", &notification(2))
            .ends("call");
        play.body("call").to_owned()
    };
    let (one, two) = (notification(1), notification(2));
    assert_eq!(body(&[]), [&*one, &two].concat());
    assert_eq!(body(&["sse-noise"]), [": noise\n\n", &one, &two].concat());
    assert_eq!(body(&["sse-noise,noise={ event = { data = '' } }"]), ["data: \n\n", &one, &two].concat());
    assert_eq!(body(&["sse-noise,noise={ event = { id = 'x' } }"]), ["id: x\n\n", &one, &two].concat());
    assert_eq!(body(&["sse-noise,noise={ raw = \"\\uFEFF\" }"]), ["\u{feff}", &one, &two].concat());
    assert_eq!(body(&["sse-noise,where=messages,every=2"]), [&*one, ": noise\n\n", &two].concat());
}

#[test]
fn sse_noise_in_silence() {
    let beats = |uses: &[&str]| {
        let mut play = play(uses);
        play.gets("get").streams("get").waits(3_500);
        play.body("get").matches("heartbeat").count()
    };
    let noise = "sse-noise,noise={ event = { data = 'heartbeat' }, when = { idle = '1s' }, repeat = true }";
    assert_eq!((beats(&[noise]), beats(&[])), (3, 0));
}

#[test]
fn sse_reframed() {
    let sent = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).streams("call").data("call", "data: {\"x\":\"é\"}\n\n").ends("call");
        (play.body("call").to_owned(), play.of("call").pieces.len())
    };
    let form = |form: &str| sent(&[&format!("sse-reframed,form={form}")]);
    let plain = "data: {\"x\":\"é\"}\n\n";
    assert_eq!(sent(&[]), (plain.to_owned(), 1));
    assert_eq!(form("crlf-parted"), (plain.replace('\n', "\r\n"), 3), "parted at both its line ends");
    assert_eq!(form("crlf"), (plain.replace('\n', "\r\n"), 1));
    assert_eq!(form("cr"), (plain.replace('\n', "\r"), 1));
    assert_eq!(form("bytes"), (plain.to_owned(), plain.len()));
    assert_eq!(form("characters"), (plain.to_owned(), 2));
    assert_eq!(form("sizes,size=4"), (plain.to_owned(), plain.len().div_ceil(4)));
}

#[test]
fn sse_awkward_events_with_a_long_line() {
    let size = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).answers("call", 1);
        play.body("call").lines().map(str::len).max()
    };
    assert_eq!(size(&["sse-awkward-events,form=long"]), Some("data: ".len() + 65_537));
    assert!(size(&[]) < Some(100));
}

#[test]
fn events_out_of_order_in_one_write() {
    let arrived = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).streams("call");
        let mut after = |n| play.data("call", &notification(n)).body("call").len() / notification(n).len();
        (1..=6).map(&mut after).collect::<Vec<_>>()
    };
    assert_eq!(arrived(&["events-out-of-order,order=burst"]), [0, 0, 0, 0, 0, 6]);
    assert_eq!(arrived(&[]), [1, 2, 3, 4, 5, 6]);
}
