//! `resumable`: ids of ours on a stream, what the client was not sent kept, and resumes answered without the server.

use super::Play;
use super::tools::{
    after, answer, at, cut, delay, glob, hold, message, notification, of, question, respond, rule, seen,
};
use crate::engine::condition::Condition;
use crate::engine::event::{Ending, Fate};
use crate::engine::fault::Fault;
use crate::engine::fault::cut::{Cut, OtherLeg, Place};
use crate::engine::fault::event_text::EventText;
use crate::engine::fault::inject::{self, Inject};
use crate::engine::fault::respond::{Content, Respond};
use crate::engine::fault::resumable::Resumable;
use crate::engine::fault::rewrite::{Form, Rewrite};
use crate::engine::record::{Entry, PointFate};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Selector};
use crate::engine::trigger::Trigger;

fn own(resumable: Resumable) -> Rule {
    rule("own", Selector { media: glob("sse"), ..of(At::Head, "tools/call") }, Fault::Resumable(resumable))
}

fn priming() -> Resumable {
    Resumable { retry: Some(500), priming: true, prefix: "p-".to_owned() }
}

/// Cuts the POST's stream behind the priming event, and says nothing of the server's leg.
fn end_early(other_leg: OtherLeg) -> Rule {
    let first = Trigger { nth: vec![1], ..Trigger::default() };
    let priming = Selector { block: glob("priming"), ..at(At::Block, "post") };
    let fault = Fault::Cut(Cut { other_leg, ..cut(Ending::Eof, Place::After) });
    Rule { trigger: first, ..rule("end-early", priming, fault) }
}

/// The ids in a body, in order.
fn ids(body: &str) -> Vec<&str> {
    body.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
}

/// A body without its ids.
fn plain(body: &str) -> String {
    body.split_inclusive('\n').filter(|line| !line.starts_with("id: ")).collect()
}

fn resumes<'a>(play: &'a mut Play, name: &str, id: &str) -> &'a mut Play {
    let headers = [("mcp-session-id", "S"), ("accept", "text/event-stream"), ("last-event-id", id)];
    play.sends(name, "GET", &headers, "")
}

fn last_id(play: &Play, name: &str) -> String {
    ids(play.body(name)).last().expect("there is one").to_string()
}

/// A call whose stream has begun.
fn begun(rules: Vec<Rule>) -> Play {
    let mut play = Play::new(rules);
    play.calls("call", 1).streams("call");
    play
}

/// The same, cut behind its priming event.
fn cut_early(more: Vec<Rule>) -> Play {
    let mut rules = vec![own(priming()), end_early(OtherLeg::Usual)];
    rules.extend(more);
    let play = begun(rules);
    assert_eq!(play.of("call").ending, Some(Ending::Eof));
    play
}

#[test]
fn a_stream_begins_with_a_priming_event_and_each_message_has_an_id() {
    let mut play = begun(vec![own(priming())]);
    play.data("call", &(notification(1) + ": ping\n\n" + &answer(1))).ends("call");
    let body = play.body("call");
    let first = ids(body)[0];
    assert!(body.starts_with(&format!("id: {first}\nretry: 500\ndata: \n\n")), "{body}");
    assert_eq!(plain(body), format!("retry: 500\ndata: \n\n{}: ping\n\n{}", notification(1), answer(1)));
    let mut all = ids(body);
    assert_eq!(all.len(), 3);
    all.dedup();
    assert!(all.len() == 3 && all.iter().all(|id| id.starts_with("p-") && id.len() == 18), "{all:?}");
    assert_eq!(play.counts("own"), (1, 1, 1));
    assert_eq!(play.of("call").ending, Some(Ending::Eof));
}

#[test]
fn without_a_priming_event_the_first_id_comes_with_the_first_message() {
    let mut play = begun(vec![own(Resumable::default())]);
    assert_eq!((play.body("call"), play.counts("own")), ("", (1, 1, 0)));
    play.data("call", &answer(1)).ends("call");
    assert_eq!((ids(play.body("call")).len(), plain(play.body("call"))), (1, answer(1)));
    assert_eq!(play.counts("own"), (1, 1, 1));
}

#[test]
fn the_servers_own_ids_and_its_reconnection_time_give_way() {
    let mut play = begun(vec![own(priming())]);
    play.data("call", "id: s1\nretry: 3000\ndata:\n\nid: s2\nevent: message\ndata: 1\nid: s3\n\n");
    let body = play.body("call");
    assert!(!body.contains("s1") && !body.contains("s2") && !body.contains("s3") && !body.contains("3000"), "{body}");
    assert_eq!(plain(body), "retry: 500\ndata: \n\ndata:\n\nevent: message\ndata: 1\n\n");
}

#[test]
fn after_a_cut_the_server_is_read_on_and_a_resume_gets_what_was_not_sent() {
    let mut play = cut_early(vec![]);
    assert_eq!(play.of("call").server, Some(Fate::Drain(None)));
    play.data("call", &notification(1));
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert!(!play.forwarded("again"));
    assert!(play.of("again").sent_head.is_some());
    assert_eq!(plain(play.body("again")), notification(1));
    assert_eq!(play.of("again").ending, None);
    play.data("call", &answer(1)).ends("call");
    assert_eq!(plain(play.body("again")), notification(1) + &answer(1));
    assert_eq!(play.of("again").ending, Some(Ending::Eof));
    let point = play.point("s1/resume:1(post:1)/block#2");
    assert_eq!(point.owner.as_ref().map(|owner| owner.method.as_str()), Some("tools/call"));
    assert_eq!((point.maker.as_deref(), point.fate), (Some("own"), PointFate::Passed));
    assert_eq!(play.point("s1/post:1/block#2").fate, PointFate::Cut);
    assert_eq!(play.point("s1/resume:1(post:1)/request#1").fate, PointFate::Ended);
}

#[test]
fn what_is_stated_of_the_other_leg_counts() {
    let mut play = begun(vec![own(priming()), end_early(OtherLeg::Close)]);
    assert_eq!(play.of("call").server, Some(Fate::Close));
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert_eq!((play.body("again"), play.of("again").ending), ("", Some(Ending::Fin)), "nothing will come any more");
}

/// The control: an id that is not ours goes to the server, as does every resume without the rule.
#[test]
fn a_resume_of_another_id_is_the_servers() {
    let mut play = cut_early(vec![]);
    resumes(&mut play, "other", "s1");
    assert!(play.forwarded("other"));
    let mut play = begun(vec![]);
    play.data("call", "id: s1\ndata: 1\n\n");
    resumes(&mut play, "again", "s1");
    assert!(play.forwarded("again"));
}

#[test]
fn another_sessions_resume_is_not_given_what_is_not_its() {
    let mut play = cut_early(vec![]);
    play.data("call", &answer(1));
    let id = last_id(&play, "call");
    play.sends("thief", "GET", &[("mcp-session-id", "T"), ("last-event-id", &id)], "");
    assert!(play.forwarded("thief") && play.body("thief").is_empty());
}

#[test]
fn each_resume_goes_on_after_its_own_id_and_a_finished_stream_ends_at_once() {
    let mut play = cut_early(vec![]);
    play.data("call", &(notification(1) + &notification(2) + &answer(1))).ends("call");
    let first = last_id(&play, "call");
    resumes(&mut play, "all", &first);
    let given: Vec<String> = ids(play.body("all")).into_iter().map(str::to_owned).collect();
    assert_eq!(given.len(), 3);
    resumes(&mut play, "rest", &given[0]);
    assert_eq!(plain(play.body("rest")), notification(2) + &answer(1));
    assert_eq!(ids(play.body("rest")), given[1..], "an event keeps its id");
    resumes(&mut play, "nothing", &given[2]);
    assert_eq!((play.body("nothing"), play.of("nothing").ending), ("", Some(Ending::Eof)));
}

#[test]
fn a_client_that_leaves_by_itself_may_come_back() {
    let mut play = begun(vec![own(priming())]);
    play.leaves("call");
    assert_eq!(play.of("call").server, Some(Fate::Drain(None)));
    play.data("call", &answer(1)).ends("call");
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert_eq!(plain(play.body("again")), answer(1));
    let mut play = begun(vec![delay_everything()]);
    play.leaves("call");
    assert_eq!(play.of("call").server, Some(Fate::Close), "the control");
}

fn delay_everything() -> Rule {
    rule("late", message("*"), delay(1))
}

#[test]
fn a_resume_takes_the_stream_over() {
    let mut play = begun(vec![own(priming())]);
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert_eq!((play.of("call").ending, play.of("call").server), (Some(Ending::Eof), Some(Fate::Drain(None))));
    resumes(&mut play, "third", &id);
    assert_eq!(play.of("again").ending, Some(Ending::Eof));
    play.data("call", &answer(1)).ends("call");
    assert_eq!((play.body("again"), plain(play.body("third"))), ("", answer(1)));
}

#[test]
fn a_resume_that_is_cut_loses_nothing() {
    let answers = Selector { stream: glob("resume"), ..message("answer") };
    let once = Trigger { times: Some(1), ..Trigger::default() };
    let lose = Rule { trigger: once, ..rule("lose", answers, Fault::Cut(cut(Ending::Fin, Place::Before))) };
    let mut play = cut_early(vec![lose]);
    let id = last_id(&play, "call");
    resumes(&mut play, "first", &id);
    play.data("call", &(notification(1) + &answer(1))).ends("call");
    assert_eq!((plain(play.body("first")), play.of("first").ending), (notification(1), Some(Ending::Fin)));
    let id = last_id(&play, "first");
    resumes(&mut play, "second", &id);
    assert_eq!((plain(play.body("second")), play.of("second").ending), (answer(1), Some(Ending::Eof)));
    assert_eq!(play.counts("lose"), (2, 1, 1));
}

/// Rules before and after the owner act on its resumes alike, as on any other.
#[test]
fn rules_act_on_the_resumes_wherever_they_are_written() {
    let late = |name, point| rule(name, at(point, "resume"), delay(50));
    let rules = vec![
        late("request", At::Request),
        late("head", At::Head),
        own(priming()),
        end_early(OtherLeg::Usual),
        late("block", At::Block),
        late("end", At::End),
    ];
    let mut play = begun(rules);
    play.data("call", &answer(1)).ends("call");
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id).waits(49);
    assert_eq!(play.of("again").sent_head, None);
    play.waits(50);
    assert_eq!(play.of("again").sent_head, None, "the head is late too, from its own arrival");
    play.waits(1);
    assert!(play.of("again").sent_head.is_some());
    assert_eq!((plain(play.body("again")), play.of("again").ending), (answer(1), Some(Ending::Eof)));
    for name in ["request", "head", "block", "end"] {
        assert_eq!(play.counts(name), (1, 1, 1), "{name}");
    }
}

#[test]
fn a_resume_can_be_answered_otherwise_at_its_request_and_at_its_head() {
    for point in [At::Request, At::Head] {
        let once = Trigger { times: Some(1), ..Trigger::default() };
        let gone = Rule { trigger: once, ..rule("gone", at(point, "resume"), Fault::Respond(respond(503))) };
        let mut play = cut_early(vec![gone]);
        play.data("call", &answer(1)).ends("call");
        let id = last_id(&play, "call");
        resumes(&mut play, "first", &id);
        assert_eq!((play.body("first"), play.of("first").ending), ("", Some(Ending::Eof)), "{point:?}");
        assert_eq!(play.counts("gone").2, 1);
        resumes(&mut play, "second", &id);
        assert_eq!(plain(play.body("second")), answer(1), "{point:?}");
    }
}

/// A question that comes on a resume belongs to the call, and so does the client's answer to it.
#[test]
fn owners_stay_right_on_a_resume() {
    let answered = Selector { message: message("answer").message, ..Selector::any(At::Request) };
    let waits = rule("wait", message("answer"), hold(seen(answered)));
    let mut play = cut_early(vec![waits]);
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    play.data("call", &(question(7) + &answer(1))).ends("call");
    assert_eq!(plain(play.body("again")), question(7));
    play.posts("reply", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).head("reply", 202, &[]);
    assert_eq!(plain(play.body("again")), question(7) + &answer(1));
    let owner = play.point("s1/answer:7/request#1").owner.clone().expect("it belongs to the call");
    assert_eq!(owner.method, "tools/call");
    assert_eq!(play.engine.calls.in_flight(1), 0);
}

#[test]
fn the_calls_answer_is_in_flight_until_a_resume_has_brought_it() {
    let mut play = cut_early(vec![]);
    assert_eq!(play.engine.calls.in_flight(1), 1);
    play.data("call", &answer(1)).ends("call");
    assert_eq!(play.engine.calls.in_flight(1), 1);
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert_eq!(play.engine.calls.in_flight(1), 0);
}

#[test]
fn what_a_later_rule_keeps_from_the_client_a_resume_brings() {
    let stuck = rule("stuck", Selector { stream: glob("post"), ..message("answer") }, hold(Condition::Never));
    let mut play = begun(vec![own(priming()), stuck]);
    play.data("call", &answer(1)).ends("call");
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    assert_eq!(plain(play.body("again")), answer(1));
    assert_eq!(play.of("call").ending, Some(Ending::Eof), "it was taken over");
}

#[test]
fn a_server_that_breaks_off_breaks_the_resume_off() {
    let mut play = cut_early(vec![]);
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id);
    play.data("call", &notification(1)).ends_as("call", Ending::Reset);
    assert_eq!((plain(play.body("again")), play.of("again").ending), (notification(1), Some(Ending::Reset)));
}

#[test]
fn a_slow_resume_is_given_no_more_than_may_wait() {
    let mut play = cut_early(vec![]);
    let id = last_id(&play, "call");
    resumes(&mut play, "again", &id).stops_reading("again");
    let mebibyte = format!("data: {}\n\n", "x".repeat(1 << 20));
    for _ in 0..24 {
        play.data("call", &mebibyte);
    }
    play.ends("call");
    let given = play.body("again").len() >> 20;
    assert!((16..20).contains(&given), "{given} MiB");
    play.reads_again();
    assert_eq!((play.body("again").len() >> 20, play.of("again").ending), (24, Some(Ending::Eof)));
}

#[test]
fn beyond_the_bound_the_oldest_events_are_forgotten_which_is_said_and_their_resume_is_refused() {
    let mut play = cut_early(vec![]);
    let id = last_id(&play, "call");
    let mebibyte = format!("data: {}\n\n", "x".repeat(1 << 20));
    for _ in 0..70 {
        play.data("call", &mebibyte);
    }
    resumes(&mut play, "again", &id);
    assert_eq!(play.of("again").head.as_ref().map(|head| head.status), Some(400));
    assert!(play.body("again").contains("kept no more"), "{}", play.body("again"));
    let notes: Vec<&String> = play
        .entries
        .iter()
        .filter_map(|entry| if let Entry::Note(note) = entry { Some(&note.text) } else { None })
        .filter(|text| text.contains("forgotten") || text.contains("kept no more"))
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn on_a_json_answer_it_has_no_effect() {
    let mut play = Play::new(vec![rule("own", of(At::Head, "tools/call"), Fault::Resumable(priming()))]);
    play.calls("call", 1).head("call", 200, &[("content-type", "application/json")]);
    play.data("call", "{}").ends("call");
    assert_eq!((play.body("call"), play.counts("own")), ("{}", (1, 1, 0)));
}

#[test]
fn the_standalone_stream_can_be_owned_too() {
    let get = Selector { media: glob("sse"), ..at(At::Head, "get") };
    let mut play = Play::new(vec![rule("own", get, Fault::Resumable(priming()))]);
    play.gets("get").streams("get").leaves("get").data("get", &notification(1));
    let id = last_id(&play, "get");
    resumes(&mut play, "again", &id);
    assert_eq!(plain(play.body("again")), notification(1));
    play.data("get", &notification(2));
    assert_eq!(plain(play.body("again")), notification(1) + &notification(2));
}

// === beside rules that leave no stream ===

fn comment(when: Option<Condition>) -> Rule {
    let event = EventText { comment: Some("c".to_owned()), ..EventText::default() };
    let (to, place) = (inject::To::Client, inject::Place::After);
    let inject = Inject { what: inject::What::Event(event), to, place, when, repeat: Some(1) };
    rule("own", of(At::Head, "tools/call"), Fault::Inject(inject))
}

/// What an earlier rule adds to a stream has no place in the JSON answer that a later one makes of it.
#[test]
fn of_a_stream_that_becomes_json_nobody_owns_the_events_and_nothing_is_added() {
    let json = Rewrite { form: Some(Form::Json), ..Rewrite::default() };
    let json = rule("json", of(At::Head, "tools/call"), Fault::Rewrite(json));
    for first in [own(priming()), comment(None), comment(Some(after(5)))] {
        for turns in [true, false] {
            let mut play = begun([vec![first.clone()], vec![json.clone(); usize::from(turns)]].concat());
            play.waits(10).data("call", &answer(1)).ends("call");
            let made = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
            assert_eq!((play.body("call") == made, play.counts("own").2), (turns, u64::from(!turns)), "{first:?}");
            assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
        }
    }
}

#[test]
fn an_answer_in_place_of_the_head_is_no_part_of_the_stream() {
    let made = Respond { content: Content::Text("hello".to_owned()), ..respond(500) };
    let made = rule("made", of(At::Head, "tools/call"), Fault::Respond(made));
    for first in [own(priming()), own(Resumable::default()), comment(None)] {
        for rules in [[made.clone(), first.clone()], [first.clone(), made.clone()]] {
            let mut play = begun(rules.to_vec());
            assert_eq!((play.body("call"), play.of("call").ending), ("hello", Some(Ending::Eof)), "{rules:?}");
            assert_eq!((play.counts("made").2, play.counts("own").2), (1, 0), "{rules:?}");
            play.data("call", &answer(1)).ends("call");
            assert_eq!(play.body("call"), "hello");
        }
    }
}
