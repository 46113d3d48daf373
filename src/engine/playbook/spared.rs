//! Server's legs that outlive their clients: which do, and until when.

use super::super::condition::Time;
use super::super::event::{Ending, Event, Fate, UnitId};
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, OtherLeg, Place};
use super::super::fault::dropping::Drop;
use super::super::fault::duplicate::Duplicate;
use super::super::fault::respond::Respond;
use super::super::fault::resumable::Resumable;
use super::super::rule::Rule;
use super::super::selector::At;
use super::Play;
use super::tools::{self, answer, at, cut, message, ms, notification, of, rule};

fn responding(point: At, respond: Respond) -> Rule {
    rule("respond", of(point, "tools/call"), Fault::Respond(respond))
}

fn forward() -> Rule {
    responding(At::Request, Respond { forward: true, ..tools::respond(504) })
}

fn again() -> Rule {
    let fault = Fault::Duplicate(Duplicate { times: 2, gap: Time::Fixed(ms(0)) });
    rule("again", of(At::Request, "tools/call"), fault)
}

fn resumable() -> Rule {
    rule("own", of(At::Head, "tools/call"), Fault::Resumable(Resumable { priming: true, ..Resumable::default() }))
}

/// Deletes the session `S`, which the server answers with this status.
fn deletes(play: &mut Play, status: u16) {
    play.sends("delete", "DELETE", &[("mcp-session-id", "S")], "").head("delete", status, &[]).ends("delete");
}

#[test]
fn an_answer_that_a_rule_gives_at_the_head_closes_the_servers_leg_unless_it_says_otherwise() {
    for (other_leg, fate) in [
        (OtherLeg::Usual, Fate::Close),
        (OtherLeg::Close, Fate::Close),
        (OtherLeg::Drain, Fate::Drain(Some(ms(5)))),
        (OtherLeg::Keep, Fate::Keep(Some(ms(5)))),
    ] {
        let lasting = Some(ms(5));
        let mut play = Play::new(vec![responding(At::Head, Respond { other_leg, lasting, ..tools::respond(502) })]);
        play.calls("a", 1).streams("a");
        assert_eq!((play.of("a").server, play.of("a").ending), (Some(fate), Some(Ending::Eof)));
        assert_eq!(play.engine.exchanges.is_empty(), fate == Fate::Close);
    }
}

#[test]
fn what_is_spared_is_closed_when_its_session_is_deleted_and_not_when_that_is_refused() {
    let zombie = Fault::Cut(Cut { other_leg: OtherLeg::Drain, ..cut(Ending::Eof, Place::After) });
    let lost = Fault::Cut(Cut { other_leg: OtherLeg::Keep, ..cut(Ending::Fin, Place::Before) });
    let cuts = [rule("zombie", of(At::Head, "tools/call"), zombie), rule("lost", message("notification"), lost)];
    for spares in cuts.into_iter().chain([forward()]) {
        let mut play = Play::new(vec![spares]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        let fate = play.of("a").server;
        assert!(matches!(fate, Some(Fate::Drain(None) | Fate::Keep(None))), "{fate:?}");
        deletes(&mut play, 405);
        assert_eq!((play.of("a").server, play.engine.summary().left_open), (fate, vec!["s1/post:1".to_owned()]));
        deletes(&mut play, 200);
        assert_eq!((play.of("a").server, play.engine.summary().left_open), (Some(Fate::Close), Vec::new()));
        assert!(play.engine.flights.is_empty());
    }
}

#[test]
fn a_resumable_stream_is_read_on_until_its_session_is_deleted() {
    let mut play = Play::new(vec![resumable()]);
    play.calls("a", 1).streams("a").leaves("a").data("a", &notification(1));
    assert_eq!(play.of("a").server, Some(Fate::Drain(None)));
    deletes(&mut play, 204);
    assert_eq!(play.of("a").server, Some(Fate::Close));
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty());
}

#[test]
fn a_server_that_does_not_know_that_its_client_has_left_is_read_until_its_session_is_deleted() {
    let mut play = Play::new(vec![rule("lose", at(At::Leave, "post"), Fault::Drop(Drop))]);
    play.calls("a", 1).streams("a").leaves("a");
    assert_eq!((play.of("a").server, play.engine.summary().left_open), (None, vec!["s1/post:1".to_owned()]));
    deletes(&mut play, 200);
    assert_eq!(play.of("a").server, Some(Fate::Close));
    assert!(play.engine.exchanges.is_empty());
}

#[test]
fn of_a_session_that_was_deleted_nothing_is_spared() {
    let mut play = Play::new(vec![resumable()]);
    play.calls("a", 1).streams("a");
    deletes(&mut play, 200);
    assert_eq!(play.of("a").server, None, "its client is there still");
    play.leaves("a");
    assert_eq!(play.of("a").server, Some(Fate::Close));
    assert!(play.engine.exchanges.is_empty());
}

#[test]
fn another_session_spares_what_it_spared() {
    let mut play = Play::new(vec![forward()]);
    play.calls("a", 1).sends("other", "DELETE", &[("mcp-session-id", "T")], "").head("other", 200, &[]);
    assert_eq!(play.of("a").server, Some(Fate::Drain(None)));
}

#[test]
fn copies_are_closed_with_their_original_and_with_their_session() {
    let left = |play: &mut Play| _ = play.leaves("a");
    let deleted = |play: &mut Play| deletes(play, 200);
    for (ends, closed) in [(None, 0), (Some(&left as &dyn Fn(&mut Play)), 1), (Some(&deleted), 1)] {
        let mut play = Play::new(vec![again()]);
        play.calls("a", 7).streams("a");
        assert_eq!(play.engine.summary().left_open, ["s1/post:7/sent#1", "s1/post:7/sent#2"]);
        let [first, second]: [UnitId; 2] =
            play.engine.posts.keys().copied().collect::<Vec<_>>().try_into().expect("two");
        play.feed(Event::Answered { unit: first });
        if let Some(ends) = ends {
            ends(&mut play);
        }
        assert_eq!(play.closed_posts, vec![second; closed], "the first has been answered");
        assert_eq!(play.engine.summary().left_open.len(), 1 - closed);
    }
}

/// The original's own answer says nothing of what the server does for the copy.
#[test]
fn copies_are_read_on_when_their_original_was_answered() {
    let mut play = Play::new(vec![again()]);
    play.calls("a", 7).streams("a").data("a", &answer(7)).ends("a");
    assert_eq!((play.closed_posts.len(), play.engine.posts.len()), (0, 2));
}

#[test]
fn copies_are_closed_when_a_cut_closes_the_servers_leg() {
    let end = rule("end", message("answer"), Fault::Cut(cut(Ending::Fin, Place::Before)));
    let mut play = Play::new(vec![again(), end]);
    play.calls("a", 7).streams("a").data("a", &answer(7));
    assert_eq!((play.closed_posts.len(), play.engine.posts.len()), (2, 0));
}
