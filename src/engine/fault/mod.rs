//! What a rule does, one file for each fault: its parameters, its doc, its behaviour, its tests.

pub mod cut;
pub mod delay;
pub mod hold;
pub mod moving;
pub mod reorder;
pub mod rewrite;

use cut::Cut;
use delay::Delay;
use hold::Hold;
use moving::Move;
use reorder::Reorder;
use rewrite::Rewrite;

/// What is done (language.md, "Faults").
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Later.
    Delay(Delay),
    /// Only after something else.
    Hold(Hold),
    /// Blocks in another order.
    Reorder(Reorder),
    /// On another stream.
    Move(Move),
    /// A leg's end.
    Cut(Cut),
    /// Another content.
    Rewrite(Rewrite),
}

impl Fault {
    /// Whether it keeps a unit for good: then it changed something when it began.
    pub(super) fn is_for_good(&self) -> bool {
        matches!(self, Self::Hold(hold) if hold.until == super::condition::Condition::Never)
    }

    /// Its word in the language.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Hold(_) => "hold",
            Self::Reorder(_) => "reorder",
            Self::Move(_) => "move",
            Self::Cut(_) => "cut",
            Self::Rewrite(_) => "rewrite",
        }
    }
}
