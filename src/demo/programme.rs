//! What is shown of a scene: the three takes, a short timeline of the one that fails, and what to type next.
//!
//! Fewer than 15 lines of at most 80 columns, so that a scene is seen at a glance. It draws nothing itself: the timeline
//! is the report's.

use std::fmt::Write as _;
use std::time::Duration;

use super::scene::Scene;
use super::stage::{Cast, Take};
use crate::report::timeline::excerpt;
use crate::report::words::span;

/// Writes a scene that was played.
#[must_use]
pub fn programme(scene: Scene, takes: &[Take]) -> String {
    let (name, profile) = (scene.name(), scene.profile());
    let report = scene.report().trim_start_matches("modelcontextprotocol/");
    let mut text = format!("{name} ({report}): {}\n", scene.title());
    for take in takes {
        text.push_str(&line(scene, take));
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  fixed: {}", scene.fix());
    for take in takes.iter().filter(|take| take.cast == Cast::Profile) {
        text.push_str(&excerpt(&take.entries));
    }
    let _ = writeln!(text, "next: mishap demo serve; in another terminal, with the URL that it printed,");
    let _ = writeln!(text, "  mishap run -u URL -p {profile} -- mishap demo client {{url}} {name}");
    text
}

fn line(scene: Scene, take: &Take) -> String {
    let who = match take.cast {
        Cast::Direct => "direct",
        Cast::Profile => scene.profile(),
        Cast::Fixed => "the same, fixed",
    };
    let result = if take.outcome.passed { "passes" } else { "FAILS" };
    let broken = match (take.as_promised(), take.effective) {
        (true, _) => "",
        (false, true) => "; NOT AS PROMISED",
        (false, false) => "; NOT AS PROMISED: a rule had no effect",
    };
    format!("  {who:16}  {result:6}  {:>6}  {}{broken}\n", micros(take.took), take.outcome.saw)
}

fn micros(took: Duration) -> String {
    span(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
}
