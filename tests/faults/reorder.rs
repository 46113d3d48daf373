//! `reorder`: blocks leave in another order than they came, on one stream and across the streams of a session.

use crate::common::messages::{answer, event, progress, question};
use crate::common::peer::End;
use crate::common::scene::Scene;

fn reorder(how: &str) -> String {
    format!(
        "[[rule]]\nname = \"shuffle\"\nmatch = {{ method = \"tools/call\", message = \"notification\" }}\nreorder = {{ {how} }}\n"
    )
}

/// The order in which four notifications and the answer reach the client.
fn order(rules: Option<&str>, more: &[&str]) -> Vec<u32> {
    let scene = Scene::run(rules, more);
    let (mut client, mut server) = scene.call(1);
    server.send_chunk((1..=4).map(progress).collect::<String>() + &event(&answer(1)));
    server.send_last_chunk();
    let (body, end) = client.rest();
    assert_eq!(end, End::Eof);
    let text = String::from_utf8(body).expect("it was sent as UTF-8");
    let mut places: Vec<_> = (1..=4).map(|number| (text.find(&progress(number)), number)).collect();
    places.push((text.find(&event(&answer(1))), 0));
    places.sort_unstable();
    let bytes: usize = (1..=4).map(|number| progress(number).len()).sum::<usize>() + event(&answer(1)).len();
    assert_eq!(text.len(), bytes, "a byte too many or too few in {text}");
    places.into_iter().map(|(place, number)| place.map(|_| number).expect("every block arrives whole")).collect()
}

#[test]
fn without_a_rule_blocks_leave_as_they_came() {
    assert_eq!(order(None, &[]), [1, 2, 3, 4, 0]);
}

#[test]
fn a_window_leaves_in_the_order_asked_for() {
    assert_eq!(order(Some(&reorder("window = 2")), &[]), [2, 1, 4, 3, 0]);
    assert_eq!(order(Some(&reorder("window = 4")), &[]), [4, 3, 2, 1, 0]);
    assert_eq!(order(Some(&reorder("window = 4, order = \"swap\"")), &[]), [2, 1, 4, 3, 0]);
    assert_eq!(order(Some(&reorder("window = 3, order = [2, 3, 1]")), &[]), [2, 3, 1, 4, 0]);
}

/// What is not selected waits behind the window, and the stream's end closes it.
#[test]
fn the_end_of_the_stream_closes_a_window_that_is_not_full() {
    assert_eq!(order(Some(&reorder("window = 9, limit = \"60s\"")), &[]), [4, 3, 2, 1, 0]);
}

#[test]
fn a_shuffle_is_drawn_with_the_seed() {
    let rules = reorder("window = 4, order = \"shuffle\"");
    let orders: Vec<_> = (0..6).map(|seed| order(Some(&rules), &["--seed", &seed.to_string()])).collect();
    assert!(orders.iter().any(|order| *order != orders[0]), "six seeds, one order: {orders:?}");
    assert_eq!(order(Some(&rules), &["--seed", "3"]), orders[3]);
}

#[test]
fn the_limit_closes_a_window_and_is_no_failure() {
    let scene = Scene::with(&reorder("window = 9, limit = \"50ms\""));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(progress(1) + &progress(2));
    client.sees(progress(2) + &progress(1));
    client.leave();
    server.closed();
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

/// The question of the first call leaves after the second call's, on another connection.
#[test]
fn a_window_across_streams_turns_the_order_of_two_calls_round() {
    let crossing = |rules: Option<&str>| {
        let scene = Scene::run(rules, &[]);
        let ((mut first, mut first_server), (mut second, mut second_server)) = (scene.call(1), scene.call(2));
        first_server.send_chunk(question(51));
        if rules.is_some() {
            scene.fired("cross");
            scene.ping(9);
            assert!(first.is_silent(), "the window holds one");
        } else {
            first.sees(question(51));
        }
        second_server.send_chunk(question(52));
        second.sees(question(52));
        if rules.is_some() {
            first.sees(question(51));
        }
        let journal = scene.finish().journal;
        [1, 2].map(|id| journal.point(&format!("s1/post:{id}/block#1")).left_seq)
    };
    let rule = "[[rule]]\nname = \"cross\"\nmatch = { stream = \"post\", message = \"request\" }\nreorder = { window = 2, across = true, limit = \"60s\" }\n";
    let [first, second] = crossing(Some(rule));
    assert!(second < first, "{second:?} and then {first:?}");
    let [first, second] = crossing(None);
    assert!(first < second, "{first:?} and then {second:?}");
}
