//! `route`: which server a request goes to, in turn, and what counts as effective.

use super::Play;
use super::tools::{of, rule};
use crate::engine::event::Destination;
use crate::engine::fault::Fault;
use crate::engine::fault::route::{Route, Server};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Selector};
use crate::engine::trigger::{Scope, Trigger};

fn route(to: Server) -> Fault {
    Fault::Route(Route { to, fresh: false })
}

fn calls_to(to: Server) -> Rule {
    rule("route", of(At::Request, "tools/call"), route(to))
}

/// A run in front of so many servers.
fn before(servers: usize, rules: Vec<Rule>) -> Play {
    Play::new(rules).in_front_of(servers)
}

/// The servers that calls of these sessions went to, one after the other.
fn went(play: &mut Play, sessions: &[&str]) -> Vec<usize> {
    let call = |n: usize| format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{}}}}"#);
    let ask = |(n, session): (usize, &&str)| {
        let name = format!("{session}{n}");
        play.sends(&name, "POST", &[("mcp-session-id", session)], &call(n));
        play.of(&name).to.server
    };
    sessions.iter().enumerate().map(ask).collect()
}

#[test]
fn requests_go_to_the_first_server_unless_a_rule_says_otherwise() {
    let mut play = before(2, vec![]);
    assert_eq!(went(&mut play, &["S", "S"]), [0, 0]);
    let mut play = before(2, vec![calls_to(Server::Nth(1))]);
    play.posts("list", r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#);
    assert_eq!((play.of("list").to.server, went(&mut play, &["S"])), (0, vec![1]));
    assert_eq!(play.counts("route"), (1, 1, 1));
    assert_eq!(play.point("s1/post:9/request#1").upstream, Some(1));
    assert_eq!(play.point("s1/post:0/request#1").upstream, Some(2));
}

#[test]
fn next_takes_turns_in_its_scope() {
    let mut play = before(3, vec![calls_to(Server::Next)]);
    assert_eq!(went(&mut play, &["S", "S", "T", "S", "T", "S"]), [0, 1, 0, 2, 1, 0]);
    // The turns of the first server would have been its own anyway.
    assert_eq!(play.counts("route"), (6, 6, 3));
    let run = Rule { scope: Scope::Run, ..calls_to(Server::Next) };
    assert_eq!(went(&mut before(2, vec![run]), &["S", "T", "S", "T"]), [0, 1, 0, 1]);
}

#[test]
fn other_is_not_where_the_sessions_last_request_went() {
    let mut play = before(2, vec![calls_to(Server::Other)]);
    assert_eq!(went(&mut play, &["S", "S", "T", "S", "T"]), [0, 1, 0, 0, 1]);
}

#[test]
fn the_last_rule_counts_and_one_that_changes_nothing_has_no_effect() {
    let second = Rule { name: "second".to_owned(), ..calls_to(Server::Nth(0)) };
    let mut play = before(2, vec![calls_to(Server::Nth(1)), second]);
    assert_eq!(went(&mut play, &["S"]), [0]);
    assert_eq!((play.counts("route").2, play.counts("second").2), (0, 1));
    let mut play = before(2, vec![calls_to(Server::Nth(0))]);
    assert_eq!((went(&mut play, &["S"]), play.counts("route")), (vec![0], (1, 1, 0)));
}

#[test]
fn a_request_that_is_not_sent_went_nowhere() {
    let stop =
        rule("stop", of(At::Request, "tools/call"), super::tools::hold(crate::engine::condition::Condition::Never));
    let mut play = before(2, vec![calls_to(Server::Nth(1)), stop]);
    play.calls("call", 1).leaves("call");
    assert_eq!((play.counts("route"), play.point("s1/post:1/request#1").upstream), ((1, 1, 0), None));
}

#[test]
fn a_connection_of_its_own_is_a_change_where_there_was_another() {
    let fresh = Fault::Route(Route { to: Server::Nth(0), fresh: true });
    let once = Trigger { nth: vec![2], ..Trigger::default() };
    let again = Rule { trigger: once, ..rule("fresh", Selector::any(At::Request), fresh) };
    let mut play = before(1, vec![again]);
    for name in ["first", "second"] {
        play.sends(name, "POST", &[(":conn", "a"), ("mcp-session-id", "S")], r#"{"jsonrpc":"2.0","method":"x"}"#);
    }
    assert_eq!(play.of("first").to, Destination::default());
    assert_eq!(play.of("second").to, Destination { server: 0, fresh: true });
    assert_eq!(play.counts("fresh"), (2, 1, 1));
}
