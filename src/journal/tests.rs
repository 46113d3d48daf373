//! A journal written, read back, torn and grown: through real files, because a crash leaves a file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::engine::record::{
    DecisionEntry, DisconnectEntry, DrawEntry, Entry, ExpectationEntry, FindingEntry, GateEntry, NoteEntry, Opened,
    OwnerEntry, PartyEntry, PointEntry, PointFate, RpcEntry, SawEntry, SessionEntry, Weight,
};
use crate::engine::rpc::Id;

/// A file that is gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("mishap-journal-{}-{name}.ndjson", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn header() -> Header {
    let used = ProfileUse {
        name: "get-opens-late".to_owned(),
        path: Some("profiles/get-opens-late.toml".to_owned()),
        vars: [("plus".to_owned(), "\"600ms\"".to_owned())].into(),
        hash: "9f86d081".to_owned(),
    };
    Header {
        time_scale: Some(0.01),
        schema: SCHEMA,
        mishap: "0.1.0".to_owned(),
        started: "2026-01-02T03:04:05.678Z".to_owned(),
        seed: u64::MAX,
        profiles: vec![used],
        expect: vec!["settled".to_owned()],
        listen: "127.0.0.1:40001".to_owned(),
        upstream: "http://127.0.0.1:3000/mcp".to_owned(),
        others: vec!["http://127.0.0.1:3001/".to_owned()],
        command: vec!["npm".to_owned(), "test".to_owned()],
        serve: Some("node server.js 3000".to_owned()),
        part: Some(Part { number: 3, gone: 40 }),
    }
}

/// One entry of every kind with every field filled in.
pub(crate) fn entries() -> Vec<Entry> {
    let rpc = RpcEntry {
        kind: "request".to_owned(),
        method: Some("sampling/createMessage".to_owned()),
        id: Some(Id::Number("0".to_owned())),
        name: Some("ask".to_owned()),
        token: Some(Id::Text("t".to_owned())),
        about: Some(Id::Number("7".to_owned())),
        unknown: true,
        error: Some("isError".to_owned()),
        version: Some("2026-07-28".to_owned()),
        trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
    };
    let owner =
        OwnerEntry { id: Id::Text("2".to_owned()), method: "tools/call".to_owned(), name: Some("ask".to_owned()) };
    let point = PointEntry {
        seq: 7,
        arrived: 1_000,
        left: Some(2_000),
        by: Some(8),
        left_seq: Some(9),
        key: "s1/get:1/block#1".to_owned(),
        point: "block".to_owned(),
        fate: PointFate::Moved,
        stream: Some("get".to_owned()),
        left_on: Some("s1/post:2".to_owned()),
        session: Some(1),
        conn: 3,
        client: Some("127.0.0.1".to_owned()),
        dir: "s2c".to_owned(),
        rpc: vec![rpc],
        owner: Some(owner),
        http: Some("GET /mcp".to_owned()),
        upstream: Some(2),
        status: Some(200),
        headers: vec![("accept".to_owned(), "text/event-stream".to_owned())],
        block: Some("message".to_owned()),
        event_id: Some("e1".to_owned()),
        bytes: 120,
        size: Some(150),
        hash: Some("ab".to_owned()),
        ending: Some("eof".to_owned()),
        made: Some("reset".to_owned()),
        maker: Some("p/inject".to_owned()),
        made_status: Some(401),
        made_headers: vec![("x".to_owned(), None)],
        rules: vec!["p/r".to_owned()],
    };
    let decision = DecisionEntry {
        seq: 7,
        at: 1_000,
        rule: "p/r".to_owned(),
        key: "s1/get:1/block#1".to_owned(),
        count: 1,
        fired: true,
        what: "move to post".to_owned(),
        draws: vec![DrawEntry { purpose: "probability".to_owned(), value: 0.125 }],
    };
    let gate = GateEntry {
        seq: 9,
        at: 2_000,
        rule: "p/r".to_owned(),
        key: "s1/get:1/block#1".to_owned(),
        opened: Opened::By("s1/post:2/end#1".to_owned()),
        held: 1_000,
        undelivered: 0,
        overtake: false,
    };
    let party = PartyEntry { name: "probe".to_owned(), version: "1".to_owned() };
    let session = SessionEntry {
        seq: 2,
        at: 10,
        session: 1,
        client: Some(party.clone()),
        server: Some(party),
        protocol: Some("2025-06-18".to_owned()),
    };
    let failed = ExpectationEntry {
        seq: 12,
        at: 4_000,
        name: "late/soon".to_owned(),
        after: Some("s1/post:1/request#1".to_owned()),
        session: Some(1),
        since: 1_000,
        seen: 1,
        saw: vec![SawEntry { key: "s1/get:1/request#1".to_owned(), at: 2_000 }],
        what: Some("the wrong id".to_owned()),
    };
    vec![
        Entry::Point(point),
        Entry::Decision(decision),
        Entry::Gate(gate),
        Entry::Session(session),
        Entry::Disconnect(DisconnectEntry { seq: 10, at: 2_500, conn: 3, ending: "fin".to_owned() }),
        Entry::Finding(finding()),
        Entry::Note(NoteEntry { seq: 11, at: 3_000, text: "asked for identity".to_owned() }),
        Entry::Expectation(failed),
    ]
}

fn finding() -> FindingEntry {
    FindingEntry {
        seq: 7,
        at: 1_000,
        monitor: "late-cancel".to_owned(),
        key: "s1/post:2".to_owned(),
        words: "it had been waiting".to_owned(),
        clause: "cancellation".to_owned(),
        weight: Weight::Failure,
    }
}

fn request() -> RequestLine {
    RequestLine {
        key: "s1/post:2".to_owned(),
        id: Id::Text("2".to_owned()),
        method: "tools/call".to_owned(),
        outcome: "told".to_owned(),
        rule: Some("late/cut".to_owned()),
        arrived: 1,
        settled: Some(2),
    }
}

pub(crate) fn verdict() -> VerdictLine {
    let rule = RuleLine { name: "late/hold".to_owned(), matched: 2, fired: 1, effective: 0, optional: true };
    let gates = vec!["late/hold: 1 still closed".to_owned()];
    let held = ExpectationLine {
        name: "late/soon".to_owned(),
        state: ExpectationState::Vacuous,
        why: "never".to_owned(),
        checked: 0,
    };
    VerdictLine {
        exit: 4,
        why: "it never fired".to_owned(),
        rules: vec![rule],
        gates,
        expectations: vec![held],
        outcomes: BTreeMap::from([("told".to_owned(), 1)]),
        requests: vec![request()],
        more_requests: 1,
        findings: vec![finding()],
        more_findings: 1,
        reconnects: 2,
        reconnects_a_minute: 1,
        ..VerdictLine::default()
    }
}

fn written(scratch: &Scratch) -> Vec<u8> {
    let (sink, queue) = queue();
    let journal = Journal::create(&scratch.0, header(), None, queue).expect("the scratch folder can be written");
    entries().into_iter().for_each(|entry| sink.record(entry));
    let closed = journal.close(Some(verdict()));
    assert_eq!((closed.written, closed.dropped, closed.error.is_none()), (8, 0, true));
    std::fs::read(&scratch.0).expect("the journal was written")
}

#[test]
fn what_was_recorded_is_read_back_between_its_header_and_its_footer() {
    let scratch = Scratch::new("round");
    written(&scratch);
    let mut expected = vec![Line::Run(header())];
    expected.extend(entries().into_iter().map(Line::from));
    expected.push(Line::Verdict(verdict()));
    expected.push(Line::Closed(Footer { written: 8, dropped: 0 }));
    assert_eq!(read(&scratch.0).expect("it is a journal"), expected);
}

// Cut at every byte: what a crash or a full disk can leave.
#[test]
fn a_torn_journal_is_read_to_its_last_whole_line_wherever_it_was_torn() {
    let scratch = Scratch::new("torn");
    let text = written(&scratch);
    let whole = parse(&text);
    for end in 0..text.len() {
        let lines = parse(&text[..end]);
        let complete = text[..end].iter().filter(|&&byte| byte == b'\n').count();
        assert!(lines.len() == complete || lines.len() == complete + 1, "cut at {end}: {} lines", lines.len());
        assert_eq!(lines, whole[..lines.len()], "cut at {end}");
    }
}

#[test]
fn unknown_kinds_and_unknown_fields_are_skipped_and_what_is_around_them_is_read() {
    let text = br#"{"kind":"run","schema":9,"mishap":"9.0.0","started":"","seed":1,"profiles":[],"listen":"","upstream":"","new":{"a":1}}
{"kind":"weather","is":"fine"}
not json at all
{"kind":"point","seq":"not a number"}
{"kind":"note","seq":1,"at":2,"text":"kept","new":3}
"#;
    let lines = parse(text);
    assert!(matches!(&lines[0], Line::Run(header) if header.schema == 9));
    let kept = Entry::Note(NoteEntry { seq: 1, at: 2, text: "kept".to_owned() });
    assert_eq!(lines[1..], [Line::from(kept)]);
}

#[test]
fn a_file_that_is_no_journal_is_refused_with_what_to_give_instead() {
    let scratch = Scratch::new("other");
    std::fs::write(&scratch.0, "hello\n").expect("the scratch folder can be written");
    let error = read(&scratch.0).expect_err("not a journal");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(error.to_string().contains("mishap run --journal FILE"), "{error}");
}

// The schema is published; a field that is not in it would be one that nobody can rely on.
#[test]
fn every_field_of_every_line_is_in_the_published_schema() {
    let scratch = Scratch::new("schema");
    let published = include_str!("../../docs/journal.md");
    for line in written(&scratch).split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let value: serde_json::Value = serde_json::from_slice(line).expect("every line is JSON");
        let kind = value["kind"].as_str().expect("every line has a kind").to_owned();
        let section = published
            .split("\n## ")
            .find(|section| section.starts_with(&format!("`{kind}`")))
            .unwrap_or_else(|| panic!("docs/journal.md has no section for {kind}"));
        for field in value.as_object().expect("every line is an object").keys() {
            assert!(section.contains(&format!("| `{field}` |")), "docs/journal.md, {kind}: {field} is missing");
        }
    }
}
