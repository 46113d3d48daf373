//! What may still come: how much of an exchange must be looked at, and whether a condition had a chance.
//!
//! The one rule it keeps: when in doubt it says yes; a body that is looked at needlessly costs time, one that is not
//! looked at costs a fault.

use super::condition::{Leg, Same};
use super::engine::Engine;
use super::event::ExchangeId;
use super::exchange::{ClientLeg, Exchange};
use super::expecting::Awaited;
use super::fault::Fault;
use super::matching;
use super::plan::{Armed, Cond, Sel};
use super::selector::At;
use super::unit::Point;

impl Engine {
    /// Whether the rest of the exchange can go by unseen.
    pub(super) fn may_relay(&self, id: ExchangeId) -> bool {
        let plan = &self.plan;
        let looks = self.notebook.on || plan.looks_inside || plan.asks_for_ends || plan.measures();
        let planned = self.cutting.contains(&id) || self.is_added_to(id);
        let reads = |armed: &Armed| {
            !matches!(armed.sel.selector.at, At::Head | At::Leave) || armed.rule.fault.reaches_the_body()
        };
        !looks && !planned && !self.may_act(id, reads) && !self.names_otherwise(id)
    }

    /// Whether events must be whole before they leave: a rule may act on them, or put others between them.
    pub(super) fn holds_blocks(&self, id: ExchangeId) -> bool {
        // A cut that was planned at the request is behind us as a rule, but waits still.
        let mut waiting = self.exchanges.get(&id).into_iter().flat_map(|exchange| &exchange.cuts);
        let takes = |armed: &Armed| armed.sel.selector.at == At::Block || armed.rule.fault.takes_the_blocks();
        self.may_act(id, |armed| takes(armed) || self.is_cut_by_block(id, armed))
            || waiting.any(|cut| self.is_cut_by_block(id, &self.plan.rules[cut.rule]))
            || self.is_target(id)
            || self.names_otherwise(id)
    }

    /// Whether ids in it may have to be given back.
    fn names_otherwise(&self, id: ExchangeId) -> bool {
        self.exchanges.get(&id).is_some_and(|exchange| self.maps_ids(exchange))
    }

    /// Whether a rule would cut the stream because of one of its own blocks, which must then not have begun to pass.
    fn is_cut_by_block(&self, id: ExchangeId, armed: &Armed) -> bool {
        let (Some(exchange), Fault::Cut(_), Some(cond)) = (self.exchanges.get(&id), &armed.rule.fault, &armed.gate)
        else {
            return false;
        };
        let mut watches = Vec::new();
        cond.watches(&mut watches);
        watches
            .into_iter()
            .map(|watch| &self.plan.watches[watch].sel)
            .any(|sel| sel.selector.at == At::Block && self.may_mean(sel, exchange))
    }

    /// Whether a rule may cut its answer: then it is counted what of that reaches the client, so that a cut is told with its
    /// place whether or not there is a journal.
    pub(super) fn may_be_cut(&self, id: ExchangeId) -> bool {
        self.cutting.contains(&id) || self.may_act(id, |armed| matches!(armed.rule.fault, Fault::Cut(_)))
    }

    /// Whether a JSON answer must be whole before it leaves.
    pub(super) fn holds_json(&self, id: ExchangeId) -> bool {
        let renamed = || self.exchanges.get(&id).is_some_and(|exchange| self.names_renamed(exchange));
        self.may_act(id, |armed| matches!(armed.sel.selector.at, At::Block | At::End)) || renamed()
    }

    /// Whether the body may not be what its length says.
    pub(super) fn may_change(&self, id: ExchangeId) -> bool {
        let changes = |armed: &Armed| armed.rule.fault.changes(armed.sel.selector.at);
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let turned = exchange.answer.as_ref().is_some_and(|answer| answer.turned.is_some());
        let other = turned || self.names_renamed(exchange);
        other || self.cutting.contains(&id) || self.may_act(id, changes) || self.is_target(id)
    }

    /// Whether a rule or a condition needs to read the body, which an encoding would hide.
    pub(super) fn asks_identity(&self, id: ExchangeId) -> bool {
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let encoded = exchange.header("accept-encoding").is_some_and(|value| !value.eq_ignore_ascii_case(b"identity"));
        let watched = || {
            let watches = self.plan.watches.iter().map(|watch| &watch.sel);
            let mut sels = watches.chain(self.plan.expected.iter().flat_map(Awaited::sels));
            sels.any(|sel| sel.selector.at == At::Block && self.may_mean(sel, exchange))
        };
        let turned = || self.may_act(id, |armed| armed.rule.fault.turns_the_body());
        encoded && (self.holds_blocks(id) || watched() || turned())
    }

    /// The rules that would look into the blocks of an exchange, because they act on them or wait for them.
    pub(super) fn lookers(&self, id: ExchangeId) -> Vec<String> {
        let Some(exchange) = self.exchanges.get(&id) else { return Vec::new() };
        let looks = |armed: &&Armed| {
            let mut watches = Vec::new();
            let conds = [&armed.from, &armed.until, &armed.gate].into_iter().flatten();
            conds.for_each(|cond| cond.watches(&mut watches));
            let watched = watches.into_iter().map(|watch| &self.plan.watches[watch].sel);
            let mut sels = watched.chain([&armed.sel]);
            sels.any(|sel| sel.selector.at == At::Block && self.may_mean(sel, exchange))
        };
        self.plan.rules.iter().filter(looks).map(|armed| armed.rule.name.clone()).collect()
    }

    fn may_act(&self, id: ExchangeId, how: impl Fn(&Armed) -> bool) -> bool {
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let past = |at: At| matches!(at, At::Connect | At::RequestHead | At::Request);
        self.plan
            .rules
            .iter()
            .any(|armed| how(armed) && !past(armed.sel.selector.at) && self.may_mean(&armed.sel, exchange))
    }

    fn is_target(&self, id: ExchangeId) -> bool {
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let mut targets = self.plan.rules.iter().filter_map(|armed| armed.target.as_ref());
        targets.any(|target| self.may_mean(target, exchange))
    }

    pub(super) fn may_mean(&self, sel: &Sel, exchange: &Exchange) -> bool {
        matching::may_mean(sel, exchange, &self.calls, &self.sessions)
    }

    /// Whether something was under way that could have made a condition true (rule R21).
    /// What only the unit's own exchange could bring, while the unit stands in its way, is not.
    pub(super) fn under_way(&self, cond: &Cond, rule: usize, point: &Point) -> bool {
        match cond {
            Cond::Never | Cond::Gathered(_) => false,
            Cond::After(_) | Cond::End | Cond::Idle { .. } => true,
            Cond::Bytes { .. } => !unsent(point) && point.exchange.is_some_and(|id| self.exchanges.contains_key(&id)),
            Cond::Any(conds) => conds.iter().any(|cond| self.under_way(cond, rule, point)),
            Cond::Fired { rule: fired, .. } => fired.is_some_and(|fired| {
                let sel = &self.plan.rules[fired].sel;
                let mut open = self.open_exchanges(Same::Session, point, unsent(point));
                open.any(|exchange| has_still(exchange, sel.selector.at) && self.may_mean(sel, exchange))
            }),
            Cond::Seen { watch, same, .. } => self.may_be_seen(*watch, *same, rule, point),
        }
    }

    fn may_be_seen(&self, watch: usize, same: Same, rule: usize, point: &Point) -> bool {
        let watch = &self.plan.watches[watch];
        let selector = &watch.sel.selector;
        let overtaken = matches!(&self.plan.rules[rule].rule.fault, Fault::Hold(hold) if hold.overtake);
        let in_front = watch.leg == Leg::Client && matches!(point.at, At::Head | At::Block | At::End);
        let alone = unsent(point) || in_front && !(overtaken && point.at == At::Block);
        if let Some(owner) = &selector.owner {
            let session = (same != Same::Run).then_some(point.session);
            let others = |id| !(unsent(point) && point.belongs.calls.contains(&id));
            let mut open = self.calls.open_calls(session).filter(|(id, _)| others(*id));
            return open.any(|(id, _)| matching::of_owner(Some(owner), &[id], &self.calls));
        }
        let waits = |exchange: &Exchange| match selector.at {
            At::Connect | At::RequestHead => false,
            At::Request => watch.leg == Leg::Server && !exchange.up.is_empty(),
            At::Head | At::Block | At::End | At::Leave => true,
        };
        let mut open = self.open_exchanges(same, point, alone);
        open.any(|exchange| waits(exchange) && has_still(exchange, selector.at) && self.may_mean(&watch.sel, exchange))
    }

    /// The open exchanges that relate to a unit; not its own where nothing can come on that as long as the unit waits.
    fn open_exchanges(&self, same: Same, point: &Point, not_own: bool) -> impl Iterator<Item = &Exchange> {
        self.exchanges.values().map(AsRef::as_ref).filter(move |exchange: &&Exchange| {
            let related = match same {
                Same::Run => true,
                Same::Exchange => point.exchange == Some(exchange.id),
                Same::Session | Same::Owner | Same::Call => exchange.session == point.session,
                Same::NotOwner | Same::NotExchange => {
                    exchange.session == point.session && point.exchange != Some(exchange.id)
                }
            };
            let own = point.exchange == Some(exchange.id);
            related && !(own && not_own) && exchange.client == ClientLeg::Open
        })
    }
}

/// Whether an open exchange can still have such a point, as far as that lies with its request: one that was lost is
/// answered by nobody.
fn has_still(exchange: &Exchange, at: At) -> bool {
    !(exchange.dropped && matches!(at, At::Head | At::Block | At::End))
}

/// Whether the server does not know of the exchange while this unit waits.
pub(super) fn unsent(point: &Point) -> bool {
    matches!(point.at, At::Connect | At::RequestHead | At::Request)
}
