//! Holds whose condition can no longer come true: let go at once where that is certain, and only there.

use super::super::condition::{Condition, Leg, Same, Seen};
use super::super::fault::Fault;
use super::super::fault::dropping::Drop;
use super::super::record::Opened;
use super::super::rule::Rule;
use super::super::selector::At;
use super::Play;
use super::tools::{answer, hold, message, notification, of, rule, sight};

fn lose() -> Rule {
    rule("lose", of(At::Request, "tools/call"), Fault::Drop(Drop))
}

/// Holds cancels until the answer to the request that they cancel has ended.
fn late_cancel() -> Rule {
    let ended = Seen { same: Same::Call, ..sight(of(At::End, "tools/call")) };
    rule("hold", of(At::Request, "notifications/cancelled"), hold(Condition::Seen(Box::new(ended))))
}

fn cancels(play: &mut Play) {
    play.posts("cancel", r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#);
}

/// A cancel that is to come after what answers its call.
#[test]
fn what_waits_for_the_answer_to_a_lost_request_is_let_go_at_once() {
    for loses in [true, false] {
        let mut play = Play::new([late_cancel()].into_iter().chain(loses.then(lose)).collect());
        play.calls("a", 1);
        cancels(&mut play);
        assert_eq!(play.opened(), Vec::from_iter(loses.then_some(Opened::Lost)));
        assert_eq!((play.forwarded("cancel"), play.counts("hold").2), (loses, 0));
    }
}

#[test]
fn what_waits_for_an_answer_is_let_go_when_its_session_is_deleted_and_the_request_is_not_open() {
    for open in [false, true] {
        let mut play = Play::new(vec![late_cancel()]);
        play.calls("a", 1);
        cancels(&mut play);
        if !open {
            play.leaves("a");
        }
        assert!(!play.forwarded("cancel"), "a session goes on: its answer may come by a resume");
        play.sends("delete", "DELETE", &[("mcp-session-id", "S")], "").head("delete", 200, &[]);
        assert_eq!((play.forwarded("cancel"), play.opened()), (!open, Vec::from_iter((!open).then_some(Opened::Lost))));
    }
}

/// A notification that is to come after the server has sent the answer.
#[test]
fn what_waits_for_a_block_of_an_answer_is_let_go_when_that_ends_without_it() {
    for (condition, opened) in [
        (Seen { leg: Some(Leg::Server), same: Same::Exchange, ..sight(message("answer")) }, Some(Opened::Lost)),
        // It may come on any other stream.
        (Seen { leg: Some(Leg::Server), ..sight(message("answer")) }, None),
    ] {
        let until = Condition::Seen(Box::new(condition));
        let mut play = Play::new(vec![rule("hold", message("notification"), hold(until.clone()))]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        assert_eq!(play.opened(), []);
        play.ends("a");
        assert_eq!((play.opened(), play.counts("hold").2), (Vec::from_iter(opened), 0));
        let mut control = Play::new(vec![rule("hold", message("notification"), hold(until))]);
        control.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1)));
        assert!(matches!(&*control.opened(), [Opened::By(_)]), "{:?}", control.opened());
    }
}
