//! What is shown of a scene: the three takes, a short timeline of the one that fails, and what to type next.
//!
//! Fewer than 15 lines of at most 80 columns, so that a scene is seen at a glance. It draws nothing itself: the timeline
//! is the report's.

use std::fmt::Write as _;
use std::time::Duration;

use super::scene::Scene;
use super::stage::{Cast, Take};
use crate::report::words::span;

/// Writes a scene that was played.
#[must_use]
pub fn programme(scene: Scene, takes: &[Take]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}: {}", scene.name(), scene.title());
    let _ = writeln!(text, "  reported as {}", scene.report());
    for take in takes {
        let _ = writeln!(text, "  {}", line(scene, take));
    }
    let _ = writeln!(text, "  fixed: {}", scene.fix());
    let _ = writeln!(text, "next: mishap demo serve, and in another terminal, with the URL that it printed:");
    let _ = writeln!(text, "  mishap run -u URL -p {} -- mishap demo client {{url}} {}", scene.profile(), scene.name());
    text
}

fn line(scene: Scene, take: &Take) -> String {
    let who = match take.cast {
        Cast::Direct => "direct".to_owned(),
        Cast::Profile => format!("-p {}", scene.profile()),
        Cast::Fixed => format!("-p {}, fixed", scene.profile()),
    };
    let result = if take.outcome.passed { "passes" } else { "FAILS" };
    let mut line = format!("{who:26} {result:6} {:>7}  {}", micros(take.took), take.outcome.saw);
    if !take.as_promised() {
        line.push_str(if take.effective { "  NOT AS PROMISED" } else { "  NOT AS PROMISED: a rule had no effect" });
    }
    line
}

fn micros(took: Duration) -> String {
    span(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
}
