//! What is too large to be looked into: which rules can do nothing with it, and that the verdict says so.

use super::super::engine::Setup;
use super::super::event::Ending;
use super::super::exchange::JSON_LIMIT;
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, Place};
use super::super::fault::dropping::Drop;
use super::super::record::Remark;
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::super::sse::BLOCK_LIMIT;
use super::Play;
use super::tools::{answer, at, cut, delay, glob, hold, message, notification, of, rule, seen};

/// Rules of which the first three would look into a call's answer, and the last two would not.
fn rules() -> Vec<Rule> {
    let block = |kind| Selector { method: glob("tools/call"), ..message(kind) };
    vec![
        rule("late", block("answer"), delay(1)),
        rule("waits", of(At::Request, "ping"), hold(seen(block("answer")))),
        Rule { from: Some(seen(block("notification"))), ..rule("switched", of(At::Request, "ping"), delay(1)) },
        rule("other", Selector { method: glob("tools/list"), ..message("answer") }, delay(1)),
        rule("head", of(At::Head, "tools/list"), delay(1)),
    ]
}

fn remarks(play: &Play) -> Vec<(String, String)> {
    play.engine.summary().remarks.into_iter().map(|Remark { key, what }| (key, what)).collect()
}

#[test]
fn a_json_answer_too_large_to_be_looked_into_names_the_rules_that_would_have_without_a_journal() {
    for (length, said) in [(JSON_LIMIT + 1, true), (1_000, false)] {
        let mut play = Play::with(Setup { rules: rules(), seed: 1, ..Setup::default() });
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(length));
        play.calls("a", 1).head("a", 200, &[("content-type", "application/json")]).data("a", &body).ends("a").waits(1);
        assert_eq!(play.body("a").len(), body.len());
        let what = format!(
            "a JSON answer beyond {JSON_LIMIT} bytes is not looked into: what \"late\", \"waits\", \"switched\" would do \
             with it is not done"
        );
        let remark = said.then(|| ("s1/post:1".to_owned(), what));
        assert_eq!(remarks(&play), Vec::from_iter(remark));
    }
}

#[test]
fn a_body_that_is_encoded_names_them_too() {
    let mut play = Play::new(rules());
    play.calls("a", 1).head("a", 200, &[("content-type", "application/json"), ("content-encoding", "gzip")]);
    assert!(matches!(&*remarks(&play), [(_, what)] if what.starts_with("a body encoded as gzip is not looked into")));
}

/// An event of two parts, and a small one behind it.
fn large(rules: Vec<Rule>) -> (Play, usize) {
    let mut play = Play::new(rules);
    let begun = format!("data: {}", "x".repeat(BLOCK_LIMIT));
    play.calls("a", 1).streams("a").data("a", &begun).data("a", "more").data("a", "\n\n");
    play.data("a", &notification(1)).data("a", &answer(1));
    (play, begun.len() + 4)
}

#[test]
fn an_event_too_large_to_be_kept_names_them_once() {
    let (play, _) = large(rules());
    let [(key, what)] = &*remarks(&play) else { panic!("{:?}", remarks(&play)) };
    assert!(key == "s1/post:1" && what.starts_with("an event beyond 16777216 bytes is not looked into"), "{what}");
    let (small, _) = large(vec![rule("head", of(At::Head, "tools/call"), delay(0))]);
    assert_eq!(remarks(&small), []);
}

#[test]
fn a_rule_that_meets_the_end_of_such_an_event_says_what_it_did() {
    let any = || Selector { block: glob("unparsable"), ..at(At::Block, "post") };
    let cuts = Fault::Cut(Cut { ..cut(Ending::Fin, Place::Before) });
    for (fault, did, ending) in
        [(cuts, "fell in its last part", Some(Ending::Fin)), (Fault::Drop(Drop), "did nothing to it", None)]
    {
        let (play, begun) = large(vec![rule("r", any(), fault)]);
        assert_eq!(play.of("a").ending, ending);
        assert_eq!(play.body("a").len() == begun, ending.is_some());
        let said = remarks(&play);
        let on_it = said.iter().find(|(key, _)| key == "s1/post:1/block.unparsable#1").expect("it is said");
        assert!(on_it.1.contains(&format!("\"r\" {did}")), "{said:?}");
    }
}
