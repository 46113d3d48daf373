//! `hold`: a unit leaves only after something else has happened.

use std::time::Duration;

use crate::engine::condition::Condition;

/// `hold`: every point.
#[derive(Debug, Clone, PartialEq)]
pub struct Hold {
    /// What opens it.
    pub until: Condition,
    /// When it is let go anyway, which is a failure (rule R21); `None` with [`Condition::Never`] only.
    pub limit: Option<Duration>,
    /// Whether later units of the stream may pass it.
    pub overtake: bool,
    /// Whether the server's leg is read on meanwhile, bounded; `false`: back-pressure.
    pub reading: bool,
}
