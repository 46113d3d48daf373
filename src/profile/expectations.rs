//! Expectations written as in a profile and played against the engine: each rule of R33 and R34 with a case that is met
//! beside one that is not.

mod checks;
mod windows;

use super::file::read_profile;
use super::{Scale, Use};
use crate::engine::engine::Setup;
use crate::engine::playbook::Play;
use crate::engine::record::{Entry, ExpectationEntry, ExpectationTally};

/// A run with these rules and expectations, a profile without the line that says its version.
fn play(text: &str) -> Play {
    let text = format!("version = 1\n{text}");
    let (_, parts) =
        read_profile(&Use::plain("own.toml"), "own", &text, Scale::FULL).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    assert!(parts.doubts.is_empty(), "{:?}", parts.doubts);
    let (rules, expectations) = (parts.rules, parts.expectations);
    Play::with(Setup { rules, expectations, seed: 1, record: true })
}

/// The same with one expectation of these keys.
fn expecting(keys: &str) -> Play {
    play(&format!("[[expect]]\nname = \"it\"\n{keys}\n"))
}

/// A call's answer is cut before it passes, and this is expected.
fn cutting(keys: &str) -> Play {
    let rule = "name = \"cut\"\nmatch = { stream = \"post\", message = \"answer\" }\ncut = \"eof\"\n";
    play(&format!("[[rule]]\n{rule}[[expect]]\nname = \"it\"\n{keys}\n"))
}

/// What became of the first expectation at the end of the run.
fn tally(play: &mut Play) -> ExpectationTally {
    play.finishes();
    play.engine.summary().expectations.remove(0)
}

/// How often it was judged, and how often it was not met.
fn judged(play: &mut Play) -> (u64, u64) {
    let tally = tally(play);
    (tally.checked, tally.failed)
}

/// What the journal has of those that were not met.
fn told(play: &Play) -> Vec<&ExpectationEntry> {
    let entries = play.entries.iter();
    entries.filter_map(|entry| if let Entry::Expectation(failed) = entry { Some(failed) } else { None }).collect()
}

const HELD: (u64, u64) = (1, 0);
const FAILED: (u64, u64) = (1, 1);
const VACUOUS: (u64, u64) = (0, 0);
