//! Each monitor finds what it is named after, and its control finds nothing.

use super::{Story, cancel, event};
use crate::engine::condition::Condition;
use crate::engine::event::Ending;
use crate::engine::fault::Fault;
use crate::engine::fault::cut::Place;
use crate::engine::playbook::tools::{after, answer, at, cut, hold, message, notification, question, rule, seen};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Selector};
use crate::monitor::MONITORS;

/// What is found in a story.
fn found(rules: Vec<Rule>, tell: impl Fn(&mut Story)) -> Vec<(String, String)> {
    let mut story = Story::opened(rules);
    tell(&mut story);
    story.findings()
}

#[track_caller]
fn only(found: &[(String, String)], monitor: &str, words: &str) {
    let [(by, said)] = found else { panic!("{found:#?}") };
    assert!(by == monitor && said.contains(words), "{by}: {said}");
}

fn failed(id: u64) -> String {
    event("f", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"isError":true}}}}"#)).replace("id: f\n", "")
}

#[test]
fn every_monitor_has_a_name_of_its_own_and_cites_a_clause() {
    let mut names: Vec<_> = MONITORS.iter().map(|monitor| monitor.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MONITORS.len());
    assert!(MONITORS.iter().all(|monitor| monitor.clause.contains("20")), "a version is missing");
}

// === late-cancel ===

fn stream_lost(wait: u64) -> impl Fn(&mut Story) {
    move |story| {
        story.play.calls("a", 1).streams("a").ends("a").waits(wait);
        story.cancels("c", 1);
    }
}

#[test]
fn a_cancel_for_a_stream_that_had_ended_says_how_long_the_client_had_waited() {
    let words = "tools/call id 1: its stream ended without an answer (closed by the server first (eof)), and the client \
                 cancelled it 1.0 s later: it had been waiting";
    only(&found(vec![], stream_lost(1_000)), "late-cancel", words);
}

#[test]
fn a_client_that_cancels_at_once_or_before_the_end_or_not_at_all_is_green() {
    assert_eq!(found(vec![], stream_lost(20)), []);
    let before = found(vec![], |story| {
        story.play.calls("a", 1).streams("a").waits(1_000);
        story.cancels("c", 1);
        story.play.ends("a");
    });
    assert_eq!(before, []);
    assert_eq!(found(vec![], |story| _ = story.play.calls("a", 1).streams("a").ends("a").waits(9_000)), []);
}

#[test]
fn a_stream_that_may_be_resumed_counts_when_its_resume_has_failed() {
    let resumable = |resume: bool| {
        found(vec![], move |story| {
            story.play.calls("a", 1).streams("a").data("a", &event("a-0", "")).ends("a");
            if resume {
                story.resumes("r", "a-0").head("r", 503, &[]).ends("r");
            }
            story.play.waits(1_000);
            story.cancels("c", 1);
        })
    };
    assert_eq!(resumable(false), []);
    only(&resumable(true), "late-cancel", "it had been waiting");
}

// === lost-request ===

/// The server gives up its request of that id, on the GET.
fn server_cancels(story: &mut Story, asks: bool) {
    story.play.calls("a", 1).streams("a").waits(3).gets("g").streams("g");
    if asks {
        story.play.data("g", &question(7));
    }
    story.play.waits(1_000).data("g", &event("", &cancel(7)).replace("id: \n", "")).data("a", &failed(1)).ends("a");
}

#[test]
fn a_servers_cancel_for_what_crossed_no_stream_is_a_request_that_was_lost() {
    let lost = found(vec![], |story| server_cancels(story, false));
    let words = "the server cancelled its request id 7, which had crossed no stream; tools/call id 1 was open 1.0 s and has no \
                 answer; the GET reached the server 3.0 ms after it began";
    only(&lost, "lost-request", words);
    let heard = found(vec![], |story| server_cancels(story, true));
    assert!(heard.iter().all(|(monitor, _)| monitor != "lost-request"), "{heard:?}");
}

/// The GET waits for the call's end; the call fails after so long, having asked on its own stream or nowhere.
fn late_get(wait: u64, asks: bool) -> Vec<(String, String)> {
    let ended = seen(Selector { method: crate::engine::playbook::tools::glob("tools/call"), ..at(At::End, "post") });
    let rule = rule("late/hold", at(At::Request, "get"), hold(ended));
    found(vec![rule], move |story| {
        story.play.calls("a", 1).streams("a").gets("g").waits(wait);
        if asks {
            story.play.data("a", &question(7));
        }
        story.play.data("a", &failed(1)).waits(3).ends("a").streams("g");
    })
}

#[test]
fn a_call_that_failed_while_a_rule_kept_the_get_may_have_asked_in_vain() {
    let words = "tools/call id 1 was open 1.0 s, no server request crossed any stream, it ended with isError; the GET reached \
                 the server 3.0 ms after that (late/hold acted on it): a request the server sent meanwhile had no stream";
    only(&late_get(1_000, false), "lost-request", words);
    assert_eq!(late_get(1_000, true), [], "it asked on its own stream");
    assert_eq!(late_get(10, false), [], "it failed too soon to have waited");
}

#[test]
fn a_call_that_failed_with_a_get_open_or_without_a_rule_is_its_own_affair() {
    let fails = |get: bool| {
        found(vec![], move |story| {
            if get {
                story.play.gets("g").streams("g");
            }
            story.play.calls("a", 1).streams("a").waits(1_000).data("a", &failed(1)).ends("a");
        })
    };
    assert_eq!([fails(true), fails(false)], [vec![], vec![]]);
}

// === answers ===

#[test]
fn an_answer_with_an_id_that_nobody_used_is_unknown_on_both_sides() {
    let server = found(vec![], |story| {
        _ = story.play.calls("a", 1).streams("a").data("a", &answer(9)).data("a", &answer(1)).ends("a");
    });
    only(&server, "unknown-answer", "the server answered id 9, and no request of the client's had that");
    let text = found(vec![], |story| {
        let text = event("x", r#"{"jsonrpc":"2.0","id":"1","result":{}}"#).replace("id: x\n", "");
        story.play.calls("a", 1).streams("a").data("a", &text).ends("a");
    });
    only(&text, "unknown-answer", "the server answered id \"1\"");
    let client = found(vec![], |story| {
        story.play.posts("p", r#"{"jsonrpc":"2.0","id":5,"result":{}}"#).head("p", 202, &[]).ends("p");
    });
    only(&client, "unknown-answer", "the client answered id 5");
    let crossed = found(vec![], |story| {
        story.play.calls("a", 1).streams("a").calls("b", 2).streams("b").data("b", &answer(1));
        story.play.data("a", &answer(1)).data("b", &answer(2)).ends("a").ends("b");
    });
    only(&crossed, "unknown-answer", "an answer to tools/call id 1 came on another request's stream");
}

#[test]
fn a_question_and_its_answer_are_known() {
    let asked = found(vec![], |story| {
        story.play.calls("a", 1).streams("a").data("a", &question(7));
        story.play.posts("p", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).head("p", 202, &[]).ends("p");
        story.play.data("a", &answer(1)).ends("a");
    });
    assert_eq!(asked, []);
}

#[test]
fn a_second_answer_is_one_and_a_replayed_one_is_not() {
    let twice = found(vec![], |story| {
        _ = story.play.calls("a", 1).streams("a").data("a", &[answer(1), answer(1)].concat()).ends("a");
    });
    only(&twice, "second-answer", "tools/call id 1 was answered again");
    let replayed = found(vec![], |story| {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        story.play.calls("a", 1).streams("a").data("a", &event("a-0", "")).data("a", &event("a-1", message)).ends("a");
        story.resumes("r", "a-0").streams("r").data("r", &event("a-1", message)).ends("r");
    });
    assert_eq!(replayed, []);
}

// === order ===

#[test]
fn an_event_behind_the_answer_is_found_also_where_a_rule_turned_them_round() {
    let tell = |story: &mut Story| {
        story.play.calls("a", 1).streams("a").data("a", &[answer(1), notification(1)].concat()).waits(99).ends("a");
    };
    only(
        &found(vec![], tell),
        "event-after-answer",
        "notifications/message came on the stream of tools/call id 1 after the answer",
    );
    let held = rule(
        "late",
        message("answer"),
        Fault::Hold(crate::engine::fault::hold::Hold { until: after(50), limit: None, overtake: true, reading: true }),
    );
    only(&found(vec![held], tell), "event-after-answer", "after the answer");
    let before = |story: &mut Story| {
        story.play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1)].concat()).waits(99).ends("a");
    };
    assert_eq!(found(vec![], before), []);
    let turned = rule(
        "late",
        message("notification"),
        Fault::Hold(crate::engine::fault::hold::Hold { until: after(50), limit: None, overtake: true, reading: true }),
    );
    assert_eq!(found(vec![turned], before), [], "the rule did it");
}

#[test]
fn a_resume_that_replays_another_streams_event_is_found() {
    let story = |id: &'static str| {
        found(vec![], move |story| {
            story.play.calls("a", 1).streams("a").data("a", &event("a-0", "")).ends("a");
            story.play.calls("b", 2).streams("b").data("b", &event("b-0", "")).data("b", &answer(2)).ends("b");
            let note = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
            story.resumes("r", "a-0").streams("r").data("r", &event(id, note)).data("r", &answer(1)).ends("r");
        })
    };
    only(&story("b-0"), "foreign-replay", "the resume of s1/post:1 replayed event id b-0, which is of s1/post:2");
    assert_eq!(story("a-1"), []);
}

#[test]
fn a_second_initialize_is_found_and_a_retry_is_none() {
    let again = r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}"#;
    let twice = found(vec![], |story| _ = story.play.posts("i", again).head("i", 400, &[]).ends("i"));
    only(&twice, "second-initialize", "initialize in session 1, which initialize id 0 had opened");
    let mut story = Story::with(vec![]);
    story.play.sends("i", "POST", &[], again).head("i", 503, &[]).ends("i");
    story.opens();
    assert_eq!(story.findings(), []);
}

#[test]
fn headers_that_disagree_with_the_body_are_found() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let sends = |headers: [(&'static str, &'static str); 3]| {
        let mut story = Story::with(vec![]);
        story.play.sends("a", "POST", &headers, call).answers("a", 1);
        story.findings()
    };
    let (method, name, version) =
        (("mcp-method", "tools/call"), ("mcp-name", "echo"), ("mcp-protocol-version", "2026-07-28"));
    assert_eq!(sends([method, name, version]), []);
    assert_eq!(sends([method, ("mcp-name", "=?base64?ZWNobw==?="), version]), []);
    only(
        &sends([("mcp-method", "ping"), name, version]),
        "header-mismatch",
        "Mcp-Method: ping on a request that is tools/call",
    );
    only(&sends([method, ("mcp-name", "other"), version]), "header-mismatch", "Mcp-Name: other");
    only(
        &sends([method, name, ("mcp-protocol-version", "2025-11-25")]),
        "header-mismatch",
        "MCP-Protocol-Version: 2025-11-25",
    );
}

#[test]
fn a_session_has_the_version_that_it_agreed_on() {
    let agreed = |version: &'static str| {
        found(vec![], move |story| {
            let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
            story.play.sends("a", "POST", &[super::SESSION, ("mcp-protocol-version", version)], call).answers("a", 1);
        })
    };
    assert_eq!(agreed(super::VERSION), []);
    only(&agreed("2025-03-26"), "header-mismatch", "MCP-Protocol-Version: 2025-03-26 on a request that is 2025-11-25");
}

#[test]
fn a_question_on_the_get_while_a_call_is_open_is_found_once_and_a_ping_is_not() {
    let asks = |open: bool, what: String| {
        found(vec![], move |story| {
            story.play.gets("g").streams("g");
            story.play.calls("a", 1).streams("a");
            if !open {
                story.play.data("a", &answer(1)).ends("a");
            }
            story.play.data("g", &what).data("g", &what.replace('7', "8"));
        })
    };
    only(
        &asks(true, question(7)),
        "unrelated-request",
        "elicitation/create id 7 came on the GET while tools/call id 1 was open",
    );
    assert_eq!(asks(false, question(7)), []);
    assert_eq!(asks(true, question(7).replace("elicitation/create", "ping")), []);
}

#[test]
fn gets_without_a_pause_are_a_storm_and_with_one_or_with_messages_they_are_not() {
    let gets = |pause: u64, message: bool| {
        found(vec![], move |story| {
            for n in 0..12 {
                let name = format!("g{n}");
                story.play.gets(&name).streams(&name).waits(pause);
                if message {
                    story.play.data(&name, &notification(1));
                }
                story.play.ends(&name);
            }
        })
    };
    only(&gets(1, false), "get-storm", "10 GETs within 9.0 ms, and no message on any of them");
    assert_eq!([gets(1_000, false), gets(1, true)], [vec![], vec![]]);
}

/// What a rule caused is told as that, and a rule's own message blames nobody.
#[test]
fn what_a_rule_did_is_said_and_not_blamed_on_a_peer() {
    let storm = rule("ends", at(At::Head, "get"), Fault::Cut(cut(Ending::Eof, Place::After)));
    let found = found(
        vec![
            storm,
            rule(
                "late",
                at(At::Request, "get"),
                hold(Condition::After(crate::engine::condition::Time::Fixed(crate::engine::playbook::tools::ms(1)))),
            ),
        ],
        |story| {
            for n in 0..10 {
                let name = format!("g{n}");
                story.play.gets(&name).waits(1).streams(&name);
            }
        },
    );
    only(&found, "get-storm", "(after late acted)");
}
