//! `delay`: a unit leaves so long after it arrived.

use std::time::Duration;

use crate::engine::condition::Time;
use crate::engine::engine::Engine;
use crate::engine::event::Moment;
use crate::engine::unit::Parcel;

/// `delay`: request, head, block, end, leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Delay {
    /// How long, counted from arrival (rule R20).
    pub time: Time,
    /// Whether later units of the stream may pass it.
    pub overtake: bool,
}

impl Engine {
    pub(in crate::engine) fn delay(&mut self, now: Moment, rule: usize, delay: &Delay, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first() else { return };
        let time = self.drawn(rule, Some(&point.key), "delay", Some(&delay.time));
        let point = point.clone();
        self.log_firing(now, rule, &point);
        if time == Duration::ZERO {
            return;
        }
        self.effective(rule);
        let due = point.arrived + time;
        if due > parcel.ready {
            self.remove_timer(parcel.timer);
            self.add_timer(Some(due));
            (parcel.ready, parcel.timer) = (due, Some(due));
        }
        parcel.overtake |= delay.overtake;
    }
}
