//! `delay`: a unit leaves so long after it arrived.

use crate::engine::condition::Time;

/// `delay`: request, head, block, end, leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Delay {
    /// How long, counted from arrival (rule R20).
    pub time: Time,
    /// Whether later units of the stream may pass it.
    pub overtake: bool,
}
