//! Made-up journals and the rows they must become.

use super::*;
use crate::engine::record::{
    DecisionEntry, Entry, GateEntry, NoteEntry, Opened, OwnerEntry, PartyEntry, PointEntry, PointFate, RpcEntry,
    SessionEntry,
};
use crate::engine::rpc::Id;
use crate::journal::ExpectationLine;
use crate::proxy::MARKER;

mod doing;

/// A journal in the making: each call is one thing that happened, a millisecond after the one before.
#[derive(Default)]
struct Story {
    lines: Vec<Line>,
    seq: u64,
}

impl Story {
    fn next(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// A point that passed at once; `change` makes it another.
    fn point(&mut self, key: &str, stream: &str, change: impl FnOnce(&mut PointEntry)) -> u64 {
        let seq = self.next();
        let point = key.rsplit('/').next().and_then(|last| last.split('#').next()).unwrap_or("");
        let mut entry = PointEntry {
            seq,
            arrived: seq * 1_000,
            left: Some(seq * 1_000),
            by: Some(seq),
            left_seq: Some(seq),
            key: key.to_owned(),
            point: point.to_owned(),
            stream: Some(stream.to_owned()),
            session: Some(1),
            conn: 1,
            dir: if matches!(point, "request" | "leave" | "request-head") { "c2s" } else { "s2c" }.to_owned(),
            ..PointEntry::default()
        };
        change(&mut entry);
        self.lines.push(Line::from(Entry::Point(entry)));
        seq
    }

    fn fired(&mut self, rule: &str, key: &str, what: &str) {
        let (rule, key, what) = (rule.to_owned(), key.to_owned(), what.to_owned());
        let made = DecisionEntry { seq: self.seq, at: 0, rule, key, count: 1, fired: true, what, draws: Vec::new() };
        self.lines.push(Line::from(Entry::Decision(made)));
    }

    fn gate(&mut self, rule: &str, key: &str, opened: Opened, held: u64) {
        let (rule, key) = (rule.to_owned(), key.to_owned());
        self.lines.push(Line::from(Entry::Gate(GateEntry {
            seq: self.seq,
            at: 0,
            rule,
            key,
            opened,
            held,
            undelivered: 0,
            overtake: false,
        })));
    }

    /// The rows, without the heading.
    fn rows(&self) -> Vec<String> {
        let text = timeline(&self.lines);
        text.lines().skip_while(|line| !line.contains("client  proxy  server")).skip(1).map(str::to_owned).collect()
    }
}

fn rpc(kind: &str, method: &str, id: Option<&str>) -> Vec<RpcEntry> {
    let id = id.map(|id| Id::Number(id.to_owned()));
    vec![RpcEntry { kind: kind.to_owned(), method: Some(method.to_owned()), id, ..RpcEntry::default() }]
}

fn call(id: &str) -> Option<OwnerEntry> {
    Some(OwnerEntry { id: Id::Number(id.to_owned()), method: "tools/call".to_owned(), name: None })
}

/// What get-opens-late does: the GET waits until the call has ended, and the question for the client with it.
fn get_opens_late() -> Story {
    let mut story = Story::default();
    let header =
        Header { mishap: "0.1.0".into(), started: "2026-01-02T03:04:05.678Z".into(), seed: 42, ..Header::default() };
    story.lines.push(Line::Run(Header {
        listen: "127.0.0.1:4000".into(),
        upstream: "http://127.0.0.1:3000/mcp".into(),
        ..header
    }));
    let initialize = |point: &mut PointEntry| point.rpc = rpc("request", "initialize", Some("0"));
    story.point("s1/post:0/request#1", "post", initialize);
    let get = story.point("s1/get:1/request#1", "get", |point| {
        point.http = Some("GET /mcp".to_owned());
        point.rules = vec!["late/hold-get".to_owned()];
        (point.left, point.left_seq, point.by) = (Some(9_000), Some(9), Some(8));
    });
    assert_eq!(get, 2);
    story.fired("late/hold-get", "s1/get:1/request#1", "hold");
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    story.point("s1/post:1/head#1", "post", |point| {
        point.status = Some(200);
        point.headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    });
    story.point("s1/post:1/block#1", "post", |point| {
        point.rpc = rpc("request", "sampling/createMessage", Some("0"));
        point.owner = call("1");
    });
    story.point("s1/answer:0/request#1", "post", |point| {
        point.rpc = rpc("response", "sampling/createMessage", Some("0"));
        point.owner = call("1");
    });
    story.point("s1/post:1/block#2", "post", |point| {
        point.rpc = rpc("response", "tools/call", Some("1"));
        point.owner = call("1");
    });
    story.point("s1/post:1/end#1", "post", |point| point.ending = Some("eof".to_owned()));
    story.gate("late/hold-get", "s1/get:1/request#1", Opened::By("s1/post:1/end#1".to_owned()), 7_000);
    story
}

#[test]
fn a_held_request_is_drawn_where_it_came_and_where_it_left_with_what_let_it_go() {
    let expected = "\
mishap 0.1.0, 2026-01-02T03:04:05.678Z, seed 42
http://127.0.0.1:4000 -> http://127.0.0.1:3000/mcp

    time  stream                client  proxy  server  ■ held   ✗ stopped   + made   ! what a rule did
   0.001  POST initialize id 0  │──────▶│──────▶│  request initialize id 0
   0.002  GET                   │──────▶■       │  GET /mcp
   0.003  POST tools/call id 1  │──────▶│──────▶│  request tools/call id 1
   0.004  POST tools/call id 1  │◀──────│◀──────│  200 text/event-stream
   0.005  POST tools/call id 1  │◀──────│◀──────│  #1 request sampling/createMessage id 0
   0.006  POST answer id 0      │──────▶│──────▶│  answer to sampling/createMessage id 0,
                                │       │       │    owner tools/call id 1
   0.007  POST tools/call id 1  │◀──────│◀──────│  #2 answer to tools/call id 1
   0.008  POST tools/call id 1  │◀──────│◀──────│  end: eof
   0.009  GET                   │       ■──────▶│  GET /mcp
                                │       │       │  ! hold-get: held 7.0 ms until
                                │       │       │    end of POST tools/call id 1
no last line: the run did not end by itself, entries may be missing
";
    assert_eq!(timeline(&get_opens_late().lines), expected);
}

/// What a delay of the first of three blocks does: the others and the end come through at once and leave after it.
fn waits_behind() -> Story {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    let progress = |point: &mut PointEntry| {
        point.rpc = rpc("notification", "notifications/progress", None);
        point.owner = call("1");
    };
    let left = |point: &mut PointEntry, seq: u64| (point.left, point.left_seq) = (Some(seq * 1_000), Some(seq));
    story.point("s1/post:1/block#1", "post", |point| {
        progress(point);
        left(point, 10);
        (point.by, point.rules) = (Some(9), vec!["p/late".to_owned()]);
    });
    story.fired("p/late", "s1/post:1/block#1", "delay");
    story.point("s1/post:1/block#2", "post", |point| {
        progress(point);
        left(point, 11);
    });
    story.point("s1/post:1/end#1", "post", |point| {
        point.ending = Some("eof".to_owned());
        left(point, 12);
    });
    story
}

#[test]
fn what_waits_behind_a_held_block_is_drawn_after_it_and_says_so() {
    let rows = waits_behind().rows();
    let drawn: Vec<_> = rows.iter().map(|row| row.chars().skip(32).collect::<String>()).collect();
    let expected = [
        "│──────▶│──────▶│  request tools/call id 1",
        "│       ■◀──────│  #1 notification notifications/progress",
        "│       ■◀──────│  #2 notification notifications/progress",
        "│       │       │    (waits behind #1)",
        "│       ■◀──────│  end: eof (waits behind #1)",
        "│◀──────■       │  #1 notification notifications/progress",
        "│       │       │  ! late: delay",
        "│◀──────■       │  #2 notification notifications/progress",
        "│◀──────■       │  end: eof",
    ];
    assert_eq!(drawn[..9], expected, "{rows:#?}");
}

#[test]
fn what_a_client_that_left_never_got_is_drawn_where_it_waited_and_where_the_client_left() {
    let mut story = Story::default();
    let gone = |point: &mut PointEntry| {
        (point.fate, point.left, point.left_seq, point.by) = (PointFate::Gone, None, None, None);
    };
    story.point("s1/post:1/block#1", "post", |point| {
        gone(point);
        point.rules = vec!["p/r".to_owned()];
    });
    story.fired("p/r", "s1/post:1/block#1", "hold");
    story.point("s1/post:1/block#2", "post", gone);
    story.gate("p/r", "s1/post:1/block#1", Opened::Left, 2_000);
    story.point("s1/post:1/leave#1", "post", |point| point.ending = Some("fin".to_owned()));
    let rows = story.rows();
    let drawn: Vec<_> = rows.iter().map(|row| row.chars().skip(32).collect::<String>()).collect();
    let expected = [
        "│       ■◀──────│  #1 block",
        "│       ■◀──────│  #2 block (waits behind #1)",
        "│──────▶│──────▶│  the client leaves: fin",
        "│       ✗       │  #1 block (never delivered: the client left)",
        "│       │       │  ! r: held 2.0 ms until the client left",
        "│       ✗       │  #2 block (never delivered: the client left)",
    ];
    assert_eq!(drawn[..6], expected, "{rows:#?}");
}

#[test]
fn an_end_that_the_proxy_made_is_drawn_where_it_left_and_a_cut_that_waits_is_armed() {
    let mut story = Story::default();
    story.point("s1/get:1/head#1", "get", |point| {
        point.status = Some(200);
        point.rules = vec!["p/kill".to_owned()];
    });
    story.fired("p/kill", "s1/get:1/head#1", "cut");
    story.point("s1/get:1/end#1", "get", |point| {
        point.made = Some("reset".to_owned());
        point.rules = vec!["p/kill".to_owned()];
        (point.left, point.left_seq) = (Some(413_000), Some(9));
    });
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    let rows = story.rows();
    assert!(rows[1].ends_with("! kill: armed, reset 412 ms later"), "{rows:#?}");
    assert!(rows[2].contains("request tools/call"), "{rows:#?}");
    assert!(rows[3].starts_with("   0.413  ") && rows[3].ends_with("end: reset, by a rule"), "{rows:#?}");
}

#[test]
fn a_cut_stops_the_block_at_the_proxy_and_its_end_says_what_was_made_of_it() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    story.point("s1/post:1/block#1", "post", |point| {
        point.rpc = rpc("response", "tools/call", Some("1"));
        (point.fate, point.left, point.left_seq) = (PointFate::Cut, None, None);
        point.rules = vec!["lost/cut".to_owned()];
    });
    story.fired("lost/cut", "s1/post:1/block#1", "cut");
    story.point("s1/post:1/end#1", "post", |point| {
        point.made = Some("reset".to_owned());
        point.rules = vec!["lost/cut".to_owned()];
    });
    let rows = story.rows();
    assert_eq!(rows[1], "   0.002  POST tools/call id 1  │       ✗◀──────│  #1 answer to tools/call id 1");
    assert_eq!(rows[2], "                                │       │       │  ! cut: cut, reset");
    assert_eq!(rows[3], "   0.003  POST tools/call id 1  │◀──────✗       │  end: reset, by a rule");
}

#[test]
fn a_moved_message_arrives_on_one_stream_and_leaves_on_the_other() {
    let mut story = Story::default();
    story.point("s1/get:1/request#1", "get", |point| point.http = Some("GET /mcp".to_owned()));
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    story.point("s1/post:1/block#1", "post", |point| {
        point.rpc = rpc("request", "elicitation/create", Some("0"));
        point.owner = call("1");
        (point.fate, point.left_on) = (PointFate::Moved, Some("s1/get:1".to_owned()));
        point.rules = vec!["other/move".to_owned()];
    });
    story.fired("other/move", "s1/post:1/block#1", "move");
    let rows = story.rows();
    assert_eq!(rows[2], "   0.003  POST tools/call id 1  │       ■◀──────│  #1 request elicitation/create id 0,");
    assert_eq!(rows[4], "   0.003  GET                   │◀──────■       │  #1 request elicitation/create id 0,");
    assert_eq!(rows[6], "                                │       │       │  ! move");
}

#[test]
fn an_answer_of_the_proxy_itself_comes_from_no_server_and_says_that_no_rule_made_it() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "ping", Some("1")));
    story.point("s1/post:1/head#1", "post", |point| {
        point.status = Some(502);
        point.headers = vec![(MARKER.to_string(), "upstream-refused".to_owned())];
    });
    story.point("s1/post:1/end#1", "post", |point| point.ending = Some("eof".to_owned()));
    let rows = story.rows();
    assert_eq!(
        rows[1],
        "   0.002  POST ping id 1        │◀──────│       │  502 by the proxy, not injected: upstream-refused"
    );
    assert_eq!(rows[2], "   0.003  POST ping id 1        │◀──────│       │  end: eof");
}

#[test]
fn what_was_never_let_go_and_what_came_too_late_is_said() {
    let mut story = Story::default();
    let nowhere = |fate| move |point: &mut PointEntry| (point.fate, point.left, point.left_seq) = (fate, None, None);
    story.point("s1/get:1/request#1", "get", nowhere(PointFate::Withheld));
    story.point("s1/get:1/block#1", "get", nowhere(PointFate::Gone));
    let rows = story.rows();
    assert_eq!(rows[0], "   0.001  GET                   │──────▶■       │  request (never let go)");
    assert_eq!(
        rows[1],
        "   0.002  GET                   │       │◀──────│  #1 block (never delivered: the client was gone)"
    );
}

#[test]
fn sessions_are_named_only_where_there_are_several() {
    let mut story = Story::default();
    story.point("s1/get:1/request#1", "get", |_| ());
    assert!(story.rows()[0].contains("  GET  "));
    story.point("s2/get:1/request#1", "get", |point| point.session = Some(2));
    let rows = story.rows();
    assert!(rows[0].contains("  s1 GET  ") && rows[1].contains("  s2 GET  "), "{rows:?}");
}

#[test]
fn notes_parties_and_losses_are_in_it() {
    let party = |name: &str| Some(PartyEntry { name: name.to_owned(), version: "1.2".to_owned() });
    let session = SessionEntry {
        seq: 1,
        at: 5_000,
        session: 1,
        client: party("probe"),
        server: party("shop"),
        protocol: Some("2025-06-18".to_owned()),
    };
    let lines = [
        Line::from(Entry::Note(NoteEntry { seq: 2, at: 6_000, text: "asked for identity".to_owned() })),
        Line::from(Entry::Session(session)),
        Line::Closed(Footer { written: 2, dropped: 3 }),
    ];
    let text = timeline(&lines);
    let rows: Vec<_> = text.lines().skip(2).collect();
    assert_eq!(
        rows[0],
        "   0.005                        │       │       │  session 1: probe 1.2 and shop 1.2, 2025-06-18"
    );
    assert_eq!(rows[1], "   0.006                        │       │       │  note: asked for identity");
    assert!(rows[2].starts_with("missing: 3 "), "{text}");
}

#[test]
fn the_verdict_stands_at_the_end() {
    let rule = RuleLine { name: "p/a".to_owned(), matched: 2, fired: 1, ..RuleLine::default() };
    let met = ExpectationLine { name: "p/e".to_owned(), why: "a call".to_owned(), checked: 1, ..Default::default() };
    let line = VerdictLine {
        exit: 4,
        why: "so".to_owned(),
        rules: vec![rule],
        gates: vec!["p/a: 1".to_owned()],
        effects: vec!["p/a: cut GET".to_owned()],
        expectations: vec![met],
        outcomes: [("told".to_owned(), 2)].into(),
        ..VerdictLine::default()
    };
    let text = timeline(&[Line::Verdict(line), Line::Closed(Footer::default())]);
    let expected = "\nverdict\n  p/a: matched 2, fired 1, effective 0\n  gate p/a: 1\n  did  p/a: cut GET\n  expect p/e: held, 1 time: a call\n  requests: 2 told\n  exit 4: so\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_resume_is_named_after_the_stream_it_continues() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| point.rpc = rpc("request", "tools/call", Some("1")));
    story.point("s1/resume:1(post:1)/request#1", "resume", |_| ());
    assert!(story.rows()[1].contains("  resume of POST id 1  "), "{:?}", story.rows());
}
