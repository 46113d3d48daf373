//! Profiles about resuming a stream, played.

use super::{OK, idle, met, play, status};
use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, notification};

/// The id of the last event in what the client has.
fn last_id(body: &str) -> Option<&str> {
    body.lines().filter_map(|line| line.strip_prefix("id: ")).next_back()
}

fn resumes(play: &mut Play, name: &str, after: &str) {
    let headers = [("mcp-session-id", "S"), ("accept", "text/event-stream"), ("last-event-id", after)];
    play.sends(name, "GET", &headers, "");
}

/// A call whose stream ended early, the id it can be resumed from, and its answer made meanwhile.
fn lost(uses: &[&str]) -> (Play, String) {
    let mut play = play(uses);
    play.calls("call", 1).streams("call");
    let seen = play.of("call");
    assert_eq!((seen.ending, seen.server), (Some(Ending::Eof), Some(Fate::Drain(None))));
    let id = last_id(play.body("call")).expect("an id was given").to_owned();
    play.data("call", &notification(1)).data("call", &answer(1)).ends("call");
    assert!(!play.body("call").contains("result"), "the answer does not come here");
    (play, id)
}

#[test]
fn resume_required() {
    let (mut play, id) = lost(&["resume-required"]);
    assert!(play.body("call").contains("retry: 500\n"), "{}", play.body("call"));
    resumes(&mut play, "resume", &id);
    assert!(!play.forwarded("resume"), "the server needs no event store");
    let body = play.body("resume");
    assert!(body.contains(r#""n":1"#) && body.contains(r#""result""#), "{body}");
    assert_eq!(play.of("resume").ending, Some(Ending::Eof));
    assert_eq!(idle(&play), Vec::<String>::new());
    play.calls("next", 2).answers("next", 2);
    assert_eq!(play.body("next"), answer(2));

    let mut control = super::play(&[]);
    control.calls("call", 1).answers("call", 1);
    assert_eq!(control.body("call"), answer(1));
}

#[test]
fn resume_required_from_the_last_id_and_not_before_its_time() {
    let judged = |after: Option<&str>, ms: u64, expectation: &str| {
        let (mut play, id) = lost(&["resume-required"]);
        play.waits(ms);
        if let Some(after) = after {
            resumes(&mut play, "resume", &after.replace("ID", &id));
        }
        met(&mut play, &format!("resume-required/{expectation}"))
    };
    assert_eq!((judged(Some("ID"), 500, "resumes"), judged(Some("ID"), 500, "waits-for-retry")), ((1, 0), (1, 0)));
    assert_eq!(judged(None, 500, "resumes"), (1, 1), "a client that does not resume");
    assert_eq!(judged(Some("x"), 500, "resumes"), (1, 1), "nor does one that resumes something else");
    assert_eq!(judged(Some("ID"), 400, "waits-for-retry"), (1, 1));
}

#[test]
fn resume_goes_nowhere() {
    let (mut play, id) = lost(&["resume-goes-nowhere"]);
    for name in ["first", "second"] {
        resumes(&mut play, name, &id);
        assert_eq!((status(&play, name), play.body(name)), (OK, "id: nowhere\ndata: \n\n"));
        assert_eq!(play.of(name).ending, Some(Ending::Eof));
    }
    let (mut play, id) = lost(&["resume-goes-nowhere,resume=empty"]);
    resumes(&mut play, "resume", &id);
    assert_eq!((status(&play, "resume"), play.body("resume")), (OK, ""));
    let (mut play, id) = lost(&["resume-goes-nowhere,resume=refused,status=400"]);
    resumes(&mut play, "resume", &id);
    assert_eq!(status(&play, "resume"), Some(400));
}

#[test]
fn resume_goes_nowhere_until_the_client_has_cancelled() {
    let (mut play, id) = lost(&["resume-goes-nowhere,resume=until-cancel"]);
    resumes(&mut play, "before", &id);
    assert_eq!(play.body("before"), "");
    play.posts("cancel", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    resumes(&mut play, "after", &id);
    assert!(play.body("after").contains(r#""result""#), "the late answer: {}", play.body("after"));
}

#[test]
fn sse_retry_values() {
    let get = |uses: &[&str]| {
        let mut play = play(uses);
        play.gets("get").streams("get");
        (play.body("get").contains("retry: 3600000\n"), play.of("get").ending, play.of("get").server)
    };
    let told = get(&["sse-retry-values,retry=3600000"]);
    assert_eq!(told, (true, Some(Ending::Eof), Some(Fate::Drain(None))), "the server notices nothing");
    assert_eq!(get(&[]), (false, None, None));
}

#[test]
fn sse_retry_values_must_be_waited_for() {
    for (ms, judged) in [(450, (1, 1)), (451, (1, 0))] {
        let mut play = play(&["sse-retry-values"]);
        play.gets("get").streams("get").waits(ms);
        let id = last_id(play.body("get")).expect("an id was given").to_owned();
        resumes(&mut play, "resume", &id);
        assert_eq!(met(&mut play, "sse-retry-values/waits-for-retry"), judged, "{ms} ms");
    }
}

#[test]
fn replay_duplicates_or_strays() {
    let (mut play, id) = lost(&["replay-duplicates-or-strays"]);
    resumes(&mut play, "resume", &id);
    play.waits(20);
    assert_eq!(play.body("resume").matches(r#""n":1"#).count(), 2, "{}", play.body("resume"));
    assert_eq!(play.body("resume").matches(r#""result""#).count(), 1);
    assert_eq!(idle(&play), Vec::<String>::new());
    let (mut control, id) = lost(&["resume-required"]);
    resumes(&mut control, "resume", &id);
    assert_eq!(control.body("resume").matches(r#""n":1"#).count(), 1);
}

#[test]
fn replay_duplicates_or_strays_of_another_call() {
    let strays = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("a", 1).streams("a");
        let id = last_id(play.body("a")).expect("an id was given").to_owned();
        resumes(&mut play, "resume", &id);
        play.calls("b", 2).streams("b").data("b", &notification(7));
        assert_eq!(play.body("b"), notification(7), "it is a copy");
        play.body("resume").contains(r#""n":7"#)
    };
    assert!(strays(&["replay-duplicates-or-strays,replay=stray"]));
    assert!(!strays(&["resume-required"]));
}
