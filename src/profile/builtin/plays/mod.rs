//! Each built-in profile, loaded and played against the engine: what it makes happen, and that the same traffic without
//! it comes out otherwise. What the proxy makes of the engine's commands, and real peers of that, is tested elsewhere.

mod answer;
mod framing;
mod gateway;
mod get;
mod identity;
mod lifecycle;
mod resume;
mod session;

use crate::engine::engine::Setup;
use crate::engine::event::{Ending, Fate};
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, notification};
use crate::profile::{Loaded, Use, load};

/// A run with these profiles; without one, the control.
fn play(uses: &[&str]) -> Play {
    let uses: Vec<Use> = uses.iter().map(|text| Use::parse(text).expect("it is well formed")).collect();
    let Loaded { rules, expectations, .. } = load(&uses).unwrap_or_else(|problems| panic!("{problems:#?}"));
    Play::with(Setup { rules, expectations, seed: 1, record: true })
}

/// How often this expectation was judged and was not met, when the run is over.
fn met(play: &mut Play, name: &str) -> (u64, u64) {
    play.finishes();
    let tallies = play.engine.summary().expectations;
    let tally = tallies.iter().find(|tally| tally.name == name).unwrap_or_else(|| panic!("{tallies:#?}"));
    (tally.checked, tally.failed)
}

/// A block with an id and no message.
const PRIMING: &str = "id: 1\ndata: \n\n";
/// The status of a head that was sent on, if one was.
const OK: Option<u16> = Some(200);

/// The status that the client has seen.
fn status(play: &Play, name: &str) -> Option<u16> {
    let seen = play.of(name);
    seen.sent_head.and(seen.head.as_ref()).map(|head| head.status)
}

/// Every rule with this profile in front that was not effective and may not stay so.
fn idle(play: &Play) -> Vec<String> {
    let rules = play.engine.summary().rules;
    rules.into_iter().filter(|rule| rule.effective == 0 && !rule.optional).map(|rule| rule.name).collect()
}

/// What the client has of a call whose stream carries an id, two notifications and the answer.
fn lost(uses: &[&str]) -> (String, Option<Ending>, Option<Fate>) {
    let mut play = play(uses);
    play.calls("call", 1).streams("call").data("call", PRIMING);
    play.data("call", &notification(1)).data("call", &notification(2)).data("call", &answer(1));
    let seen = play.of("call");
    (play.body("call").to_owned(), seen.ending, seen.server)
}

fn all() -> String {
    [PRIMING, &notification(1), &notification(2), &answer(1)].concat()
}

#[test]
fn transparent() {
    let play = play(&["transparent"]);
    assert_eq!(play.engine.summary().rules, []);
    assert_eq!(lost(&["transparent"]).0, all());
}

const PLAYS: [&str; 9] = [
    include_str!("mod.rs"),
    include_str!("answer.rs"),
    include_str!("framing.rs"),
    include_str!("gateway.rs"),
    include_str!("get.rs"),
    include_str!("identity.rs"),
    include_str!("lifecycle.rs"),
    include_str!("resume.rs"),
    include_str!("session.rs"),
];

/// A profile without a test of its name would be a claim that nothing checks.
#[test]
fn every_built_in_profile_is_played_here() {
    for profile in super::all() {
        let name = format!("fn {}()", profile.name.replace('-', "_"));
        assert!(PLAYS.iter().any(|tests| tests.contains(&name)), "{name}");
    }
}
