//! Bodies that are handed over: each under the hash that its point names, as it came, and only when they are asked for.

use super::super::hash;
use super::super::record::Entry;
use super::Play;
use super::tools::answer;

fn played(mut play: Play) -> Play {
    play.calls("a", 1).streams("a").data("a", ": comment\n\n").data("a", &answer(1)).ends("a");
    play
}

#[test]
fn every_hash_of_a_point_has_its_body() {
    let play = Play::new(vec![]);
    let play = played(Play { engine: play.engine.keeping_bodies(), ..play });
    let point = |entry: &Entry| if let Entry::Point(point) = entry { point.hash.clone() } else { None };
    let mut named: Vec<_> = play.entries.iter().filter_map(point).collect();
    let mut kept: Vec<_> = play.bodies.iter().map(|(hash, _)| format!("{hash:016x}")).collect();
    named.sort();
    kept.sort();
    assert_eq!(named, kept);
    assert_eq!(kept.len(), 3, "the request and two blocks");
    assert!(play.bodies.iter().all(|(hash, body)| hash::hash(body) == *hash));
    assert_eq!(play.bodies[2].1, answer(1));
}

#[test]
fn none_is_handed_over_unasked() {
    assert!(played(Play::new(vec![])).bodies.is_empty());
}
