//! `reorder`, `move` and `rewrite`: what leaves elsewhere, in another order, or with another content.

use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::fault::moving::{Closed, Move, MoveTo};
use super::super::fault::reorder::{Order, Reorder};
use super::super::fault::rewrite::Rewrite;
use super::super::record::{Opened, PointFate};
use super::super::rpc::Id;
use super::super::rule::Rule;
use super::super::selector::{At, Selector, Stream};
use super::Play;
use super::tools::{answer, at, cut, delay, glob, hold, message, ms, notification, of, question, rule, seen};

fn reorder(window: u64, order: Order, across: bool) -> Rule {
    rule("reorder", message("notification"), Fault::Reorder(Reorder { window, order, across, limit: ms(1_000) }))
}

fn moving(to: MoveTo) -> Move {
    Move { to, copy: false, closed: Closed::Wait, limit: ms(30_000) }
}

/// Server requests go from POST streams to the GET.
fn to_get() -> Rule {
    let asked = Selector { stream: glob("post"), ..message("request") };
    rule("to-get", asked, Fault::Move(moving(MoveTo::Get)))
}

#[test]
fn a_moved_block_is_told_whole_though_its_exchange_is_over_before_it_leaves() {
    let mut play = Play::new(vec![to_get()]);
    play.calls("a", 1).streams("a").data("a", &(question(51) + &answer(1))).ends("a");
    play.gets("g").streams("g");
    let block = play.point("s1/post:1/block#1");
    assert_eq!(
        (block.fate, block.stream.as_deref(), block.block.as_deref()),
        (PointFate::Moved, Some("post"), Some("message"))
    );
    assert_eq!(block.rpc.first().and_then(|rpc| rpc.id.clone()), Some(Id::Number("51".to_owned())));
}

#[test]
fn a_full_window_leaves_in_its_order_and_others_wait_behind_it() {
    for (order, expected) in
        [(Order::Reverse, [3, 2, 1]), (Order::Swap, [2, 1, 3]), (Order::Given(vec![2, 3, 1]), [2, 3, 1])]
    {
        let mut play = Play::new(vec![reorder(3, order, false)]);
        play.calls("a", 1).streams("a");
        play.data("a", &[notification(1), question(9), notification(2)].concat());
        assert_eq!(play.body("a"), "", "nothing passes the window");
        play.data("a", &[notification(3), answer(1)].concat());
        let [first, second, third] = expected.map(notification);
        assert_eq!(play.body("a"), [first, question(9), second, third, answer(1)].concat());
        assert_eq!(play.counts("reorder"), (3, 3, 3));
    }
}

#[test]
fn without_the_rule_nothing_changes_places() {
    let mut play = Play::new(vec![]);
    let events = [notification(1), notification(2), notification(3)].concat();
    play.calls("a", 1).streams("a").data("a", &events);
    assert_eq!(play.body("a"), events);
}

#[test]
fn a_window_closes_at_its_limit_and_at_the_end_of_its_stream() {
    let mut play = Play::new(vec![reorder(3, Order::Reverse, false)]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), notification(2)].concat()).waits(999);
    assert_eq!(play.body("a"), "");
    play.waits(1);
    assert_eq!(play.body("a"), [notification(2), notification(1)].concat());
    play.data("a", &[notification(3), notification(4)].concat()).ends("a");
    let all = [notification(2), notification(1), notification(4), notification(3)].concat();
    assert_eq!((play.body("a"), play.of("a").ending), (&*all, Some(Ending::Eof)));
    assert!(play.engine.windows.is_empty() && play.engine.timers.is_empty());
}

#[test]
fn a_window_that_never_held_two_did_nothing() {
    let mut play = Play::new(vec![reorder(2, Order::Reverse, false)]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).ends("a");
    assert_eq!((play.body("a"), play.counts("reorder")), (&*notification(1), (1, 1, 0)));
}

#[test]
fn across_streams_the_order_is_that_of_leaving() {
    let mut play = Play::new(vec![reorder(3, Order::Reverse, true)]);
    play.calls("a", 1).calls("b", 2).streams("a").streams("b");
    play.data("a", &notification(1)).data("b", &notification(2));
    play.left();
    play.data("a", &notification(3));
    assert_eq!(play.left(), ["write a", "write b", "write a"]);
    assert_eq!(play.body("a"), [notification(3), notification(1)].concat());
    assert!(play.engine.awaited.is_empty() && play.engine.busy.is_empty());
}

#[test]
fn a_shuffle_follows_the_seed() {
    let orders: Vec<String> = (0..20)
        .map(|seed| {
            let rules = vec![reorder(5, Order::Shuffle, false)];
            let mut play = Play::with(super::super::engine::Setup {
                rules,
                seed,
                record: true,
                ..super::super::engine::Setup::default()
            });
            play.calls("a", 1).streams("a").data("a", &(0..5).map(notification).collect::<String>());
            play.body("a").to_owned()
        })
        .collect();
    assert_ne!(orders[0], orders[1]);
    let mut distinct = orders.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 10, "{} of 20 differ", distinct.len());
}

#[test]
fn a_moved_question_keeps_its_owner() {
    let mut play = Play::new(vec![to_get()]);
    play.gets("get").streams("get").calls("a", 1).streams("a");
    play.data("a", &[notification(1), question(7), answer(1)].concat()).ends("a");
    assert_eq!(play.body("a"), [notification(1), answer(1)].concat());
    assert_eq!(play.body("get"), question(7));
    let moved = play.point("s1/post:1/block#2");
    assert_eq!((moved.fate, moved.left_on.as_deref()), (PointFate::Moved, Some("s1/get:1")));
    assert_eq!(moved.stream.as_deref(), Some("post"));
    assert_eq!(moved.owner.as_ref().map(|owner| &owner.id), Some(&Id::Number("1".into())));
    play.posts("reply", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    let reply = play.point("s1/answer:7/request#1");
    assert_eq!(reply.owner.as_ref().map(|owner| &*owner.method), Some("tools/call"));
}

#[test]
fn a_moved_block_waits_for_a_stream_and_leaves_in_the_step_in_which_it_opens() {
    let mut play = Play::new(vec![to_get()]);
    play.calls("a", 1).streams("a").data("a", &[question(7), notification(1)].concat());
    assert_eq!(play.body("a"), notification(1));
    play.gets("get").waits(500);
    play.left();
    play.streams("get");
    assert_eq!(play.left(), ["head get", "write get"]);
    assert_eq!(play.gates()[0].opened, Opened::By("s1/get:1".into()));
}

#[test]
fn a_moved_block_that_waited_too_long_leaves_on_its_own_stream() {
    let mut play = Play::new(vec![to_get()]);
    play.calls("a", 1).streams("a").data("a", &question(7)).waits(30_000);
    assert_eq!((play.body("a"), play.opened()), (&*question(7), vec![Opened::Limit]));
    assert_eq!(play.counts("to-get"), (1, 1, 0));
}

#[test]
fn a_block_that_comes_back_to_its_own_stream_goes_before_an_end_that_is_kept_back() {
    let mut play = Play::new(vec![to_get(), rule("late-end", at(At::End, "post"), delay(40_000))]);
    play.calls("a", 1).streams("a").data("a", &question(7)).ends("a").waits(30_000);
    assert_eq!((play.body("a"), play.of("a").ending), (&*question(7), None));
    play.waits(10_000);
    assert_eq!(play.of("a").ending, Some(Ending::Eof));
}

#[test]
fn closed_may_also_mean_that_the_block_is_lost() {
    let lossy = Move { closed: Closed::Drop, ..moving(MoveTo::Get) };
    let mut play = Play::new(vec![rule("r", message("request"), Fault::Move(lossy))]);
    play.calls("a", 1).streams("a").data("a", &[question(7), answer(1)].concat());
    assert_eq!(play.body("a"), answer(1));
    assert_eq!(play.point("s1/post:1/block#1").fate, PointFate::Dropped);
}

#[test]
fn a_copy_is_on_both_streams() {
    let copying = Move { copy: true, ..moving(MoveTo::Get) };
    let mut play =
        Play::new(vec![rule("r", Selector { stream: glob("post"), ..message("request") }, Fault::Move(copying))]);
    play.gets("get").streams("get").calls("a", 1).streams("a").data("a", &question(7));
    assert_eq!((play.body("a"), play.body("get")), (&*question(7), &*question(7)));
}

#[test]
fn the_other_way_a_block_goes_to_the_oldest_open_post() {
    let rules =
        vec![rule("r", Selector { stream: glob("get"), ..message("request") }, Fault::Move(moving(MoveTo::Post)))];
    let mut play = Play::new(rules);
    play.gets("get").streams("get").calls("a", 1).calls("b", 2).streams("b").streams("a");
    play.data("get", &question(7));
    assert_eq!((play.body("get"), play.body("a")), ("", &*question(7)));
    play.data("a", &answer(1)).ends("a").data("get", &question(8));
    assert_eq!(play.body("b"), question(8), "a is over");
}

/// Put in the middle of another event, a moved block would be read as part of it.
#[test]
fn a_block_is_put_between_two_blocks_only() {
    let mut play = Play::new(vec![to_get()]);
    play.gets("get").streams("get").data("get", "data: {\"id\"");
    play.calls("a", 1).streams("a").data("a", &question(7)).data("get", ":3,\"result\":1}\n\n");
    assert_eq!(play.body("get"), [&*question(7), "data: {\"id\":3,\"result\":1}\n\n"].concat());
}

#[test]
fn a_block_is_put_before_the_end_of_a_stream_that_waits_to_end() {
    let late_end = rule("late-end", at(At::End, "get"), delay(100));
    let mut play = Play::new(vec![to_get(), late_end]);
    play.gets("get").streams("get").calls("a", 1).streams("a").ends("get");
    play.data("a", &question(7)).waits(100);
    assert_eq!((play.body("get"), play.body("a")), ("", ""), "an ending stream takes no more");
    let slow = rule("slow", at(At::Block, "get"), delay(100));
    let mut play = Play::new(vec![to_get(), slow]);
    play.gets("get").streams("get").calls("a", 1).streams("a");
    play.data("get", &notification(1)).data("a", &question(7));
    assert_eq!(play.body("get"), "", "it stands behind what was there before");
    play.ends("get").waits(100);
    assert_eq!(play.body("get"), [notification(1), question(7)].concat());
}

/// The truth about a question's origin, written into it for the client to be tested against.
fn stamp(selector: Selector) -> Rule {
    let owner = serde_json::json!({ "id": "${owner.id}", "of": "${owner.method} on ${exchange.stream}", "no": "${x}" });
    rule(
        "stamp",
        selector,
        Fault::Rewrite(Rewrite { set: vec![("/params/_meta/mishap~1owner".into(), owner)], ..Rewrite::default() }),
    )
}

#[test]
fn the_owner_is_written_into_a_question_and_other_fields_keep_their_bytes() {
    let mut play = Play::new(vec![stamp(message("request"))]);
    play.calls("a", 1).streams("a");
    play.data("a", "id:5\r\ndata:{\"id\":7,\"method\":\"roots/list\",\"x\":1.0}\r\nevent: message\r\n\r\n");
    let expected = concat!(
        "id:5\r\ndata:{\"id\":7,\"method\":\"roots/list\",\"x\":1.0,\"params\":{\"_meta\":{\"mishap/owner\":",
        "{\"id\":1,\"of\":\"tools/call on post\",\"no\":null}}}}\r\nevent: message\r\n\r\n",
    );
    assert_eq!(play.body("a"), expected);
    assert_eq!((play.of("a").sent_head, play.counts("stamp")), (Some(true), (1, 1, 1)));
}

#[test]
fn a_question_that_belongs_to_nobody_says_so() {
    let mut play = Play::new(vec![stamp(message("request"))]);
    play.gets("get").streams("get").data("get", &question(7));
    assert!(
        play.body("get").contains(r#""mishap/owner":{"id":null,"of":"null on get","no":null}"#),
        "{}",
        play.body("get")
    );
}

#[test]
fn a_request_is_rewritten_before_it_is_forwarded() {
    let mut play = Play::new(vec![stamp(of(At::Request, "tools/call"))]);
    play.calls("a", 1);
    let body = play.of("a").forwarded.clone().expect("it was forwarded");
    assert!(std::str::from_utf8(&body).unwrap().contains(r#""mishap/owner":{"id":1"#));
}

#[test]
fn a_json_answer_is_rewritten_and_neither_moved_nor_reordered() {
    let set = vec![("/result/x".to_owned(), serde_json::json!(1))];
    let rules = vec![
        rule("to-get", message("response"), Fault::Move(moving(MoveTo::Get))),
        rule("set", message("response"), Fault::Rewrite(Rewrite { set, ..Rewrite::default() })),
    ];
    let mut play = Play::new(rules);
    play.calls("a", 1).head("a", 200, &[("content-type", "application/json")]);
    play.data("a", r#"{"id":1,"result":{}}"#).ends("a");
    assert_eq!(play.body("a"), r#"{"id":1,"result":{"x":1}}"#);
    assert_eq!((play.counts("to-get").2, play.counts("set").2), (0, 1));
}

#[test]
fn a_moved_block_waits_as_its_other_rules_say() {
    let until = seen(of(At::Request, "ping"));
    let rules = vec![to_get(), rule("hold", Selector { stream: glob("post"), ..message("request") }, hold(until))];
    let mut play = Play::new(rules);
    play.gets("get").streams("get").calls("a", 1).streams("a").data("a", &question(7));
    assert_eq!((play.body("get"), play.body("a")), ("", ""));
    play.posts("p", r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
    assert_eq!(play.body("get"), question(7));
}

#[test]
fn a_late_lf_goes_where_its_block_went() {
    let mut play = Play::new(vec![to_get()]);
    play.gets("get").streams("get").calls("a", 1).streams("a");
    play.data("a", "data: {\"id\":7,\"method\":\"x\"}\r\n\r").data("a", "\n").data("a", &answer(1));
    assert_eq!(play.body("a"), answer(1));
    let held = rule("slow", message("notification"), delay(50));
    let mut play = Play::new(vec![held]);
    play.calls("b", 1).streams("b").data("b", "data: {\"method\":\"x\"}\r\n\r").data("b", "\n").waits(50);
    assert_eq!((play.body("b"), play.of("b").writes), ("data: {\"method\":\"x\"}\r\n\r\n", 1));
}

#[test]
fn a_cut_takes_what_waits_in_a_window_with_it() {
    let rules = vec![
        reorder(3, Order::Reverse, false),
        rule("cut", message("answer"), Fault::Cut(cut(Ending::Eof, Place::Before))),
    ];
    let mut play = Play::new(rules);
    play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1)].concat());
    assert_eq!(play.of("a").ending, None, "the answer waits behind the window");
    play.waits(1_000);
    assert_eq!((play.body("a"), play.of("a").ending), (&*notification(1), Some(Ending::Eof)));
    assert_eq!(Stream::Post, play.engine.exchanges.values().next().map_or(Stream::Post, |exchange| exchange.stream));
}

#[test]
fn a_block_that_moves_leaves_its_window_where_it_went() {
    for (copy, open) in [(false, true), (false, false), (true, true), (true, false)] {
        let asked = Selector { stream: glob("post"), ..message("request") };
        let order = Reorder { window: 2, order: Order::Reverse, across: false, limit: ms(1_000) };
        let rules = vec![
            rule("reorder", asked.clone(), Fault::Reorder(order)),
            rule("to-get", asked, Fault::Move(Move { copy, ..moving(MoveTo::Get) })),
        ];
        let mut play = Play::new(rules);
        if open {
            play.gets("get").streams("get");
        }
        play.calls("a", 1).streams("a").data("a", &[question(7), question(8), answer(1)].concat());
        if !open {
            play.gets("get").streams("get");
        }
        let turned = [question(8), question(7)].concat();
        let (own, moved) = match (copy, open) {
            (false, _) => (answer(1), turned),
            (true, _) => (turned + &answer(1), [question(7), question(8)].concat()),
        };
        assert_eq!((play.body("a"), play.body("get")), (&*own, &*moved), "copy {copy}, open {open}");
        assert!(play.engine.windows.is_empty() && play.engine.busy.is_empty());
    }
}

/// Two connections have no order but that of the wire.
#[test]
fn across_streams_a_block_leaves_when_the_one_before_it_was_written() {
    for gone in [false, true] {
        let mut play = Play::new(vec![reorder(2, Order::Reverse, true)]);
        play.calls("a", 1).calls("b", 2).streams("a").streams("b").stops_reading("b");
        play.data("a", &notification(1)).data("b", &notification(2));
        assert_eq!((play.body("a"), play.body("b")), ("", &*notification(2)));
        if gone {
            play.leaves("b")
        } else {
            play.reads_again()
        };
        assert_eq!(play.body("a"), notification(1));
        assert!(play.engine.awaited.is_empty() && play.engine.busy.is_empty());
    }
}

#[test]
fn of_a_batch_only_the_elements_that_a_rule_means_are_rewritten() {
    let set = vec![("/x".to_owned(), serde_json::json!(1))];
    let rewrite =
        |selector| vec![rule("set", selector, Fault::Rewrite(Rewrite { set: set.clone(), ..Rewrite::default() }))];
    let batch = r#"[7,{"id":1,"method":"ping"},{"id":2,"method":"tools/call"}]"#;
    let mut play = Play::new(rewrite(of(At::Request, "tools/call")));
    play.posts("a", batch);
    let forwarded = String::from_utf8(play.of("a").forwarded.clone().expect("it was").to_vec()).unwrap();
    assert_eq!(forwarded, r#"[7,{"id":1,"method":"ping"},{"id":2,"method":"tools/call","x":1}]"#);
    let mut play = Play::new(rewrite(Selector { method: glob("tools/call"), ..message("answer") }));
    play.posts("a", batch).streams("a").data("a", "data: [7,{\"id\":1,\"result\":{}},{\"id\":2,\"result\":{}}]\n\n");
    assert_eq!(play.body("a"), "data: [7,{\"id\":1,\"result\":{}},{\"id\":2,\"result\":{},\"x\":1}]\n\n");
}
