//! `reorder`: blocks leave in another order than they came.

use std::time::Duration;

/// `reorder`: blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Reorder {
    /// How many selected blocks are collected.
    pub window: u64,
    /// In which order they leave.
    pub order: Order,
    /// Whether the window collects over all streams of the session.
    pub across: bool,
    /// When the window closes although it is not full (no failure).
    pub limit: Duration,
}

/// The order in which a reorder window is let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Last first.
    Reverse,
    /// Each pair exchanged.
    Swap,
    /// Drawn with the seed.
    Shuffle,
    /// The k-th to leave is the one that arrived as number `order[k]`, from 1.
    Given(Vec<u64>),
}
