//! The engine: one for a run, because the product is about order between streams.

use super::event::{Command, Event, Moment};
use super::record::Summary;
use super::rule::Rule;

/// What an engine is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setup {
    /// The rules, in the order in which they decide.
    pub rules: Vec<Rule>,
    /// The seed of every draw.
    pub seed: u64,
    /// Whether every point is to be recorded; then the engine sees every body.
    pub record: bool,
}

/// Decides, for all streams of a run, what leaves when and how it ends.
#[derive(Debug)]
pub struct Engine {
    setup: Setup,
}

impl Engine {
    /// Makes an engine that has seen nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }

    /// Whether it would do nothing but let everything pass: then the rim need not ask it at all.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        self.setup.rules.is_empty() && !self.setup.record
    }

    /// Takes what arrived and returns what is to be done, in order.
    pub fn on(&mut self, _now: Moment, _event: Event) -> Vec<Command> {
        Vec::new()
    }

    /// The moment at which it wants to be asked again with [`Event::Tick`].
    #[must_use]
    pub fn next_due(&self) -> Option<Moment> {
        None
    }

    /// What the run amounts to so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::default()
    }
}
