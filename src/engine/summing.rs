//! What rules do to a body as it leaves, piece by piece: summed up, and told once for each exchange (`effects.rs`).
//!
//! The one rule it keeps: it is told when the exchange is over, or with the run: by then all that was let go has left.

use super::engine::Engine;
use super::event::ExchangeId;
use super::notebook::full_key;
use super::unit::LaneId;

/// What a rule did to the body of a request or an answer, all in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BodyEffect {
    /// Whether it was the request's.
    pub request: bool,
    /// Whether it left apart from its head.
    pub apart: bool,
    /// At how many places it was parted.
    pub parted: u64,
    /// How many units have another form.
    pub shaped: u64,
    /// How many times several events left together.
    pub together: u64,
    /// How many bytes waited for others.
    pub kept: u64,
    /// How many bytes passed at a rate.
    pub slowed: u64,
    /// How long that was at most, in microseconds.
    pub time: u64,
}

/// The sums of one exchange, by rule and direction.
#[derive(Debug, Default)]
pub(super) struct Sums(Vec<(usize, BodyEffect)>);

impl Sums {
    fn of(&mut self, rule: usize, request: bool) -> &mut BodyEffect {
        let place = self.0.iter().position(|(other, sum)| *other == rule && sum.request == request);
        let place = place.unwrap_or_else(|| {
            self.0.push((rule, BodyEffect { request, ..BodyEffect::default() }));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

impl Engine {
    /// A rule did something to the body that goes this way.
    pub(super) fn sum(&mut self, lane: LaneId, rule: usize, add: impl FnOnce(&mut BodyEffect)) {
        let (LaneId::Up(id) | LaneId::Down(id)) = lane else { return };
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            add(exchange.sums.of(rule, matches!(lane, LaneId::Up(_))));
        }
    }

    /// An exchange is over: what was done to its bodies is told.
    pub(super) fn tell_sums(&mut self, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let (key, Sums(sums)) = (full_key(exchange), std::mem::take(&mut exchange.sums));
        for (rule, sum) in sums {
            let point = if sum.request { "request" } else { "end" };
            self.tell_at(rule, format!("{key}/{point}#1"), super::effects::Did::Body(sum));
        }
    }

    /// The run is over, and so is every exchange.
    pub(super) fn tell_all_sums(&mut self) {
        let ids: Vec<ExchangeId> = self.exchanges.keys().copied().collect();
        ids.into_iter().for_each(|id| self.tell_sums(id));
    }
}
