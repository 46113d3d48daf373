//! `move`: a block leaves on another stream of its session.

use std::time::Duration;

use crate::engine::selector::Selector;

/// `move`: blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Where it goes.
    pub to: MoveTo,
    /// Whether it also stays where it is.
    pub copy: bool,
    /// What happens while no such stream is open.
    pub closed: Closed,
    /// How long it waits for one; then it leaves on its own stream and the verdict says so.
    pub limit: Duration,
}

/// The stream a block is moved to, in the same session.
#[derive(Debug, Clone, PartialEq)]
pub enum MoveTo {
    /// The open standalone GET.
    Get,
    /// The oldest open POST stream (rule R30).
    Post,
    /// The oldest open resume.
    Resume,
    /// The oldest open exchange whose head this selects.
    Selected(Box<Selector>),
}

/// What a moved block does while its stream is not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closed {
    /// It waits until one opens.
    Wait,
    /// It is lost.
    Drop,
}
