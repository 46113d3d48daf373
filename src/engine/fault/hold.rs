//! `hold`: a unit leaves only after something else has happened.

use std::time::Duration;

use crate::engine::condition::Condition;
use crate::engine::engine::Engine;
use crate::engine::event::Moment;
use crate::engine::record::Opened;
use crate::engine::sighting::Truth;
use crate::engine::unit::{Parcel, Until, Wait};

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

impl Engine {
    pub(in crate::engine) fn hold(&mut self, now: Moment, rule: usize, hold: &Hold, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        self.log_firing(now, rule, &point);
        self.gather(now, rule, &point);
        let truth = self.plan.rules[rule].gate.as_ref().map_or(Truth::No, |cond| self.truth(cond, rule, &point, now));
        if let Truth::Since(_, cause) = truth {
            self.effective(rule);
            self.ungather(rule, &point);
            return self.close_gate(now, rule, &point, Opened::Already(self.words(&cause)));
        }
        if hold.until == Condition::Never {
            self.effective(rule);
        }
        let limit = hold.limit.map(|limit| point.arrived + limit);
        let mut wait = Wait { rule, until: Until::Hold, limit, timer: None };
        let next = if let Truth::From(at) = truth { Some(limit.map_or(at, |limit| limit.min(at))) } else { limit };
        self.set_timer(&mut wait, next);
        parcel.waits.push(wait);
        self.look_out(rule, &point);
        parcel.overtake |= hold.overtake;
    }
}
