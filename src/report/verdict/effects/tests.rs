//! Made-up effects and the lines they must become.

use super::*;

fn effect(rule: &str, key: &str, did: Did) -> Effect {
    Effect { rule: rule.to_owned(), key: key.to_owned(), did }
}

fn cut(ending: &str) -> CutEffect {
    let server = Some("closed".to_owned());
    CutEffect { ending: ending.to_owned(), head: true, blocks: Some(2), server, ..CutEffect::default() }
}

fn told(effects: Vec<Effect>) -> Vec<String> {
    let methods = [("s1/post:1", "tools/call"), ("s1/post:3", "tools/call")];
    let methods = methods.map(|(key, method)| (key.to_owned(), method.to_owned())).into();
    lines(&Summary { effects, methods, ..Summary::default() })
}

#[test]
fn a_cut_is_told_with_its_place_its_answer_and_the_other_leg() {
    for (cut, says) in [
        (
            CutEffect { answered: Some(false), ..cut("reset") },
            "reset after block 2, before its answer; the server's leg closed",
        ),
        (CutEffect { answered: Some(true), server: None, ..cut("eof") }, "eof after block 2, after its answer"),
        (
            CutEffect { inside: Some(40), inside_answer: true, answered: Some(false), ..cut("fin") },
            "fin after 40 bytes of its answer, block 3; the server's leg closed",
        ),
        (
            CutEffect { blocks: Some(0), answered: Some(false), server: Some("drained".to_owned()), ..cut("stall") },
            "stall after its head, before its answer; the server's leg read on",
        ),
        (
            CutEffect { head: false, answered: Some(false), ..cut("reset") },
            "reset before its head; the server's leg closed",
        ),
        (CutEffect { head: false, unsent: true, server: None, ..cut("reset") }, "reset before the server got it"),
        (
            CutEffect { head: false, request: Some(9), ..cut("fin") },
            "fin after 9 bytes of the request; the server's leg closed",
        ),
        (CutEffect { blocks: None, ..cut("eof") }, "eof in its body; the server's leg closed"),
        (
            CutEffect { primed: true, blocks: Some(0), answered: Some(false), ..cut("fin") },
            "fin after the priming event, before its answer; the server's leg closed",
        ),
    ] {
        let line = told(vec![effect("lost/cut", "s1/post:1/end#1", Did::Cut(cut))]);
        assert_eq!(line, [format!("lost/cut: cut POST tools/call id 1: {says}")]);
    }
}

#[test]
fn a_cut_is_told_with_how_long_it_fell_after_what_came_last() {
    let told = |since, cut: CutEffect| {
        let cut = Did::Cut(CutEffect { since: Some(since), server: None, ..cut });
        told(vec![effect("k", "s1/post:1/end#1", cut)]).concat().replace("k: cut POST tools/call id 1: ", "")
    };
    let head = || CutEffect { blocks: Some(0), ..cut("eof") };
    assert_eq!(told(999, cut("eof")), "eof after block 2");
    assert_eq!(told(60_000_000, cut("eof")), "eof 1 m 0 s after block 2");
    assert_eq!(told(412_000, head()), "eof 412 ms after its head");
    assert_eq!(told(2_000_000, CutEffect { primed: true, ..head() }), "eof 2.0 s after the priming event");
    let inside = CutEffect { inside: Some(7), ..cut("fin") };
    assert_eq!(told(5_000_000, inside.clone()), "fin after 7 bytes of block 3, 5.0 s after block 2");
    assert_eq!(told(10, inside), "fin after 7 bytes of block 3");
    assert_eq!(
        told(5_000_000, CutEffect { head: false, ..cut("fin") }),
        "fin before its head, 5.0 s after the request"
    );
}

#[test]
fn a_move_a_delay_and_a_connection_are_told_in_words() {
    let rpc = RpcEntry { kind: "request".into(), method: Some("elicitation/create".into()), ..RpcEntry::default() };
    let owner = OwnerEntry { id: Id::Number("3".into()), method: "tools/call".into(), name: None };
    let moved = |to: Option<&str>, copied| Did::Moved {
        message: Some(rpc.clone()),
        owner: Some(owner.clone()),
        to: to.map(str::to_owned),
        copied,
    };
    let told = told(vec![
        effect("a", "s1/post:3/block#1", moved(Some("s1/get:1"), false)),
        effect("b", "s1/post:3/block#1", moved(None, false)),
        effect("c", "s1/post:1/request#1", Did::Delayed { by: 300_000 }),
        effect("e", "s1/post:3/block#1", Did::Dropped { message: Some(rpc.clone()), owner: None }),
        effect("f", "s1/post:3/leave#1", Did::Dropped { message: None, owner: None }),
        effect("d", "s0/connect#1", Did::CutConnection { conn: 4, ending: "reset".into(), after: 5_000_000 }),
    ]);
    let expected = [
        "a: moved elicitation/create (owner tools/call id 3) from POST tools/call id 3 to GET",
        "b: lost elicitation/create (owner tools/call id 3) of POST tools/call id 3: no stream was open to take it",
        "c: delayed request of POST tools/call id 1 by 300 ms",
        "e: lost elicitation/create of POST tools/call id 3",
        "f: lost leave of POST tools/call id 3",
        "d: cut connection 4: reset 5.0 s after it was accepted",
    ];
    assert_eq!(told, expected);
}

fn left(key: &str, arrived: u64, left: u64) -> Effect {
    effect("r", key, Did::Left { session: 1, arrived, left, to: None })
}

#[test]
fn only_blocks_that_left_in_another_order_are_told() {
    let in_order = vec![left("s1/post:1/block#1", 1, 11), left("s1/post:1/block#2", 2, 12)];
    assert_eq!(told(in_order), [""; 0]);
    let own = [(1, 13), (2, 12), (3, 11), (4, 14), (5, 16), (6, 15)];
    let own = own.map(|(n, out)| left(&format!("s1/post:1/block#{n}"), n, out)).to_vec();
    let name = "r: reordered POST tools/call id 1: its blocks left as";
    assert_eq!(told(own), [format!("{name} 3, 2, 1"), format!("{name} 6, 5")]);
    let across = vec![left("s1/post:1/block#1", 1, 12), left("s1/get:1/block#1", 2, 11)];
    assert_eq!(told(across), ["r: reordered: block 1 of GET, then block 1 of POST tools/call id 1"]);
}

#[test]
fn many_effects_are_folded_and_all_is_one_screen() {
    let late = |rule: &str, n: u64| effect(rule, &format!("s1/get:{n}/request#1"), Did::Delayed { by: 1_000 * n });
    assert_eq!(told((1..=3).map(|n| late("late", n)).collect()).len(), 3);
    let folded = told((1..=19).map(|n| late("late", n)).collect());
    assert_eq!(folded.len(), 3);
    assert_eq!(folded[2], "late: ... and 17 more alike");
    let all = (1..=6).flat_map(|rule| (1..=9).map(move |n| late(&format!("r{rule}"), n))).collect();
    assert_eq!(told(all).len(), 12, "a line and a fold for each");
    let more = lines(&Summary { more_effects: 7, ..Summary::default() });
    assert_eq!(more, ["... and 7 more, not kept"]);
}
