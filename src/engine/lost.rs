//! Conditions that can no longer come true, so that nothing waits for them to its limit (rule R21).
//!
//! The one rule it keeps: when in doubt it says no; what may still come is waited for.

use super::condition::{Leg, Same};
use super::engine::Engine;
use super::exchange::{ClientLeg, Exchange, ServerLeg};
use super::foresight::unsent;
use super::owner::CallId;
use super::plan::Cond;
use super::selector::At;
use super::unit::{Point, Until, Wait};

impl Engine {
    /// Whether what a wait is for will certainly not come any more.
    pub(super) fn is_lost(&self, wait: &Wait, point: &Point) -> bool {
        let gate = self.plan.rules[wait.rule].gate.as_ref();
        matches!(wait.until, Until::Hold | Until::Cut) && gate.is_some_and(|cond| self.never_comes(cond, point))
    }

    fn never_comes(&self, cond: &Cond, point: &Point) -> bool {
        match cond {
            Cond::Any(conds) => conds.iter().all(|cond| self.never_comes(cond, point)),
            Cond::Seen { watch, same, .. } => {
                let watch = &self.plan.watches[*watch];
                let answers = matches!(watch.sel.selector.at, At::Head | At::Block | At::End);
                answers && self.says_no_more(*same, watch.leg, point)
            }
            Cond::After(_)
            | Cond::End
            | Cond::Never
            | Cond::Fired { .. }
            | Cond::Gathered(_)
            | Cond::Idle { .. }
            | Cond::Bytes { .. } => false,
        }
    }

    /// Whether no server says anything more that relates so to the unit in hand.
    fn says_no_more(&self, same: Same, leg: Leg, point: &Point) -> bool {
        match same {
            Same::Exchange => {
                let own = point.exchange.and_then(|id| self.exchanges.get(&id));
                leg == Leg::Server && own.is_some_and(|own| own.dropped || own.server == ServerLeg::Over)
            }
            Same::Call => self.is_unanswerable(point, &point.belongs.calls),
            Same::Owner => self.is_unanswerable(point, &point.belongs.owners),
            Same::Session | Same::Run | Same::NotOwner | Same::NotExchange => false,
        }
    }

    /// Whether these requests were lost on their way, or their session was deleted and nothing of theirs is open.
    fn is_unanswerable(&self, point: &Point, calls: &[CallId]) -> bool {
        let open = |exchange: &&Exchange| exchange.client == ClientLeg::Open || exchange.server == ServerLeg::Open;
        let of_them = |exchange: &&Exchange| exchange.belongs.owners.iter().any(|call| calls.contains(call));
        let others = self.exchanges.values().map(AsRef::as_ref).filter(|other| point.exchange != Some(other.id));
        let mut related = others.filter(|other| other.session == point.session).filter(open).filter(of_them).peekable();
        let deleted = self.sessions.get(point.session).is_some_and(|session| session.deleted);
        let begun = related.peek().is_some() || deleted;
        begun && !calls.is_empty() && unsent(point) && related.all(|exchange| exchange.dropped)
    }
}
