//! The faults that have no bug of their own here, each shown to one real SDK, with its control: `delay` at each point of
//! a call, `reorder` in and across streams; and whose a message is after a resume.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Driver, Mishap, PATIENCE, Run, mishap};

const VERSION: &str = "1.32.2";

/// The delay that `call-delayed.toml` has unless told otherwise.
const DELAY: Duration = Duration::from_millis(200);

// === Delay ===

#[test]
fn a_call_survives_a_delay_at_each_of_its_points_and_no_point_leaves_early() {
    for point in ["request", "head", "block", "end"] {
        let profile = format!("profiles/call-delayed.toml,point={point}");
        let run = Session::open(&[&profile], false).notify(1).finish();
        let late = run.points(|it| it["point"] == point && acted(it, "call-delayed/late"));
        assert!(!late.is_empty(), "{point}: {}", run.verdict);
        for it in late {
            let stayed = it["left"].as_u64().unwrap() - it["arrived"].as_u64().unwrap();
            assert!(u128::from(stayed) >= DELAY.as_micros(), "{it}");
        }
    }
}

#[test]
fn without_the_profile_nothing_acts_on_a_call() {
    let run = Session::open(&[], false).notify(1).finish();
    assert_eq!(run.points(|point| point["rules"].is_array()), Vec::<&Value>::new());
}

#[test]
fn a_server_learns_late_that_its_client_has_left() {
    let run = Session::open(&["profiles/call-delayed.toml,point=leave"], false).leave();
    let [left] = run.points(|it| it["point"] == "leave" && acted(it, "call-delayed/late"))[..] else {
        panic!("one leave: {}", run.verdict)
    };
    let stayed = left["left"].as_u64().unwrap() - left["arrived"].as_u64().unwrap();
    assert!(u128::from(stayed) >= DELAY.as_micros(), "{left}");
}

#[test]
fn without_the_profile_a_client_leaves_undelayed() {
    let run = Session::open(&[], false).leave();
    assert!(!run.points(|it| it["point"] == "leave").is_empty(), "{}", run.verdict);
    assert_eq!(run.points(|it| acted(it, "call-delayed/late")), Vec::<&Value>::new());
}

// === Report and check ===

#[test]
fn a_report_shows_what_was_done_to_a_call_and_a_check_says_so_before() {
    let checked = mishap(&["check", "profiles/call-delayed.toml"]);
    assert!(checked.contains("delay") && checked.contains("tools/call"), "{checked}");
    let run = Session::open(&["profiles/call-delayed.toml,point=block"], false).notify(1).finish();
    let report = mishap(&["report", run.path.to_str().unwrap()]);
    assert!(report.contains("notifications/message"), "{report}");
    assert!(report.contains("call-delayed/late") || report.contains("! late"), "{report}");
}

#[test]
fn without_the_profile_a_report_shows_the_same_messages_and_no_rule() {
    let run = Session::open(&[], false).notify(1).finish();
    let report = mishap(&["report", run.path.to_str().unwrap()]);
    assert!(report.contains("notifications/message"), "{report}");
    assert!(!report.contains("late"), "{report}");
}

fn acted(point: &Value, rule: &str) -> bool {
    point["rules"].as_array().is_some_and(|rules| rules.iter().any(|it| it == rule))
}

// === Reorder ===

#[test]
fn two_notifications_of_one_call_arrive_in_reverse() {
    let session = Session::open(&["profiles/notifications-reversed.toml"], false).notify(2);
    assert_eq!(session.notifications(2), ["2 of 2 for a", "1 of 2 for a"]);
    session.finish();
}

#[test]
fn without_the_profile_two_notifications_of_one_call_arrive_as_sent() {
    let session = Session::open(&[], false).notify(2);
    assert_eq!(session.notifications(2), ["1 of 2 for a", "2 of 2 for a"]);
    session.finish();
}

/// Two streams are two sockets: which the client reads first is its own affair, so that the journal is asked.
#[test]
fn notifications_of_two_calls_leave_in_reverse() {
    let run = Session::open(&["profiles/notifications-reversed.toml,across=true"], false).notify_on_two_streams();
    let sent = notifications(&run);
    assert!(sent[0]["left-seq"].as_u64() > sent[1]["left-seq"].as_u64(), "{sent:#?}");
}

#[test]
fn without_the_profile_notifications_of_two_calls_leave_as_sent() {
    let run = Session::open(&[], false).notify_on_two_streams();
    let sent = notifications(&run);
    assert!(sent[0]["left-seq"].as_u64() < sent[1]["left-seq"].as_u64(), "{sent:#?}");
}

/// The notifications of calls in the journal, in the order they arrived at the proxy.
fn notifications(run: &Run) -> Vec<&Value> {
    let mut sent = run.points(|it| it["point"] == "block" && it["rpc"][0]["method"] == "notifications/message");
    sent.sort_by_key(|it| it["seq"].as_u64());
    assert_eq!(sent.len(), 2, "{sent:#?}");
    sent
}

// === Owner ===

#[test]
fn what_a_resume_delivers_belongs_to_the_call_it_resumes() {
    let run = Session::open(&["post-stream-lost,where=id"], true).notify(1).finish();
    assert_eq!(streams_of_the_calls_messages(&run), ["resume", "resume"], "the notification and the answer");
}

#[test]
fn without_the_profile_a_calls_messages_come_on_its_own_stream() {
    let run = Session::open(&[], true).notify(1).finish();
    assert_eq!(streams_of_the_calls_messages(&run), ["post", "post"]);
}

/// The streams on which the messages left that the journal says belong to the tools/call.
fn streams_of_the_calls_messages(run: &Run) -> Vec<String> {
    let mine = |it: &Value| it["block"] == "message" && it["fate"] == "passed" && it["owner"]["method"] == "tools/call";
    run.points(mine).iter().map(|it| it["stream"].as_str().unwrap().to_owned()).collect()
}

// === Scene ===

/// One client with one session behind one proxy.
struct Session {
    server: Driver,
    client: Driver,
    mishap: Mishap,
}

impl Session {
    fn open(profiles: &[&str], store: bool) -> Self {
        let server = Driver::node("server", VERSION, &json!({ "store": store, "timeout": PATIENCE }));
        let client = Driver::node("client", VERSION, &json!({}));
        let mishap = Mishap::start(&server.url(), profiles);
        let connect =
            json!({ "cmd": "connect", "id": "c", "url": mishap.url(), "timeout": PATIENCE, "fetch_wrapped": true });
        client.send(&connect);
        client.wait("connected", |event| event["event"] == "connected");
        Self { server, client, mishap }
    }

    /// One call that notifies so often, its answer, and the end of its stream.
    fn notify(self, count: u64) -> Self {
        self.call("a", count, false);
        self.answered("a");
        self.client.wait("the stream's end", |event| event["event"] == "stream-ended" && event["stream"] == "a");
        self
    }

    /// One call that is never answered; the client closes, and the server sees the call's stream close.
    fn leave(self) -> Run {
        self.call("a", 1, true);
        self.server.wait("notified", |event| event["event"] == "notified");
        self.notifications(1);
        self.client.send(&json!({ "cmd": "close", "id": "c" }));
        self.server.wait("the call's stream closes", |event| event["event"] == "post-closed" && event["tag"] == "a");
        self.finish()
    }

    /// Two calls in flight; the first notifies before the second is made. Both are answered.
    fn notify_on_two_streams(self) -> Run {
        for tag in ["a", "b"] {
            self.call(tag, 1, true);
            self.server.wait("notified", |event| event["event"] == "notified" && event["tag"] == tag);
        }
        self.notifications(2);
        for tag in ["a", "b"] {
            self.server.send(&json!({ "cmd": "release", "tag": tag }));
            self.answered(tag);
        }
        self.finish()
    }

    fn call(&self, tag: &str, count: u64, wait: bool) {
        let args = json!({ "tag": tag, "count": count, "wait": wait });
        self.client.send(&json!({ "cmd": "call", "id": "c", "call": tag, "tool": "notify", "args": args }));
    }

    fn answered(&self, call: &str) {
        let settled = self.client.wait("settled", |event| event["event"] == "settled" && event["call"] == call);
        assert_eq!(settled["outcome"], "ok", "{settled}");
    }

    /// What the first `count` notifications said, in the order the client heard them.
    fn notifications(&self, count: usize) -> Vec<String> {
        let heard = self.client.wait_for(count, "notifications", |event| event["event"] == "notification");
        heard.iter().map(|event| event["data"].as_str().unwrap().to_owned()).collect()
    }

    fn finish(self) -> Run {
        let run = self.mishap.finish();
        run.assert_exit(0);
        run
    }
}
