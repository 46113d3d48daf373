//! `move`: a block leaves on another stream of its session.

use std::time::Duration;

use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::{Engine, LANE_LIMIT};
use crate::engine::event::{ExchangeId, Moment};
use crate::engine::exchange::Late;
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Kind, Need, Spot, field, limit, words};
use crate::engine::record::{Opened, PointFate};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Glob, Selector};
use crate::engine::unit::{LaneId, Parcel, Point, Until, Wait};

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

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "move",
    at: &[At::Block],
    main: Some("to"),
    doc: "lets a block leave on another stream of its session",
    params: &[
        field("to", Kind::Target, Need::Required, "the stream it goes to"),
        field("copy", Kind::Bool, Need::Default("false"), "whether it also stays where it is"),
        field("closed", Kind::Word(&["wait", "drop"]), Need::Default("\"wait\""), "what if no such stream is open"),
        limit("\"30s\"", "when it leaves on its own stream anyway, which is a failure"),
    ],
    make: |params, _| make(params).map(Fault::Move),
    check: unchecked,
};

fn make(params: &Params) -> Option<Move> {
    Some(Move {
        to: params.target("to")?,
        copy: params.flag("copy"),
        closed: if params.text("closed")? == "drop" { Closed::Drop } else { Closed::Wait },
        limit: params.duration("limit")?,
    })
}

impl Act for Move {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.redirect(turn.now, turn.rule, self, turn.lane, turn.parcel);
    }

    /// The streams it may go to, as a selector of their heads.
    fn target(&self) -> Option<Selector> {
        let word = match &self.to {
            MoveTo::Get => "get",
            MoveTo::Post => "post",
            MoveTo::Resume => "resume",
            MoveTo::Selected(selector) => return Some(Selector { at: At::Head, ..(**selector).clone() }),
        };
        let glob = Glob { any: vec![word.to_owned()], none: Vec::new() };
        Some(Selector { stream: Some(glob), ..Selector::any(At::Head) })
    }

    /// A session has one standalone GET: what came on it cannot move there.
    fn check(&self, rule: &Rule, spot: &Spot, slips: &mut Complaints) {
        let get = rule.selector.stream.as_ref().is_some_and(|stream| stream.any == ["get"]);
        if get && self.to == MoveTo::Get {
            slips.wrong(spot, "`move` to the stream on which it came", "write to = \"post\", or match another stream");
        }
    }

    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        engine.moved(outcome, self.copy)
    }

    fn explain(&self) -> String {
        let to = match &self.to {
            MoveTo::Get => "the standalone GET".to_owned(),
            MoveTo::Post => "the oldest open POST".to_owned(),
            MoveTo::Resume => "the oldest open resume".to_owned(),
            MoveTo::Selected(to) => format!("the exchange of {}", words::selector(to)),
        };
        let copy = if self.copy { "copy" } else { "move" };
        let closed = if self.closed == Closed::Drop { ", or lose it if none is open" } else { "" };
        format!("{copy} to {to}{closed}")
    }
}

impl Engine {
    /// A selected block leaves on another stream, or a copy of it does.
    fn redirect(&mut self, now: Moment, rule: usize, moving: &Move, lane: &mut LaneId, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        if self.keeps_its_place(&point) {
            return;
        }
        let target = self.open_stream(rule, &point);
        if moving.copy {
            let mut copy = Parcel { seq: self.next_seq(), cuts: Vec::new(), ..parcel.clone() };
            // It is no member of the windows that its block stands in, and nobody would let it go.
            copy.waits.retain(|wait| !matches!(wait.until, Until::Window(_) | Until::Behind(_)));
            self.add_timer(copy.timer);
            for wait in &copy.waits {
                self.add_timer(wait.timer);
            }
            let mut its_lane = LaneId::Astray;
            self.send_to(now, rule, moving, target, &mut its_lane, &mut copy);
            return self.enqueue_moved(now, its_lane, copy);
        }
        if let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id)) {
            exchange.late = Late::Swallowed;
        }
        self.send_to(now, rule, moving, target, lane, parcel);
    }

    fn send_to(
        &mut self,
        now: Moment,
        rule: usize,
        moving: &Move,
        target: Option<ExchangeId>,
        lane: &mut LaneId,
        parcel: &mut Parcel,
    ) {
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        match target {
            Some(id) if self.unread(id) + parcel.bytes() > LANE_LIMIT => {
                self.note(now, format!("{}: its new stream is not read; it stays on its own", point.key));
            }
            Some(id) => {
                *lane = LaneId::Down(id);
                self.effective(rule);
                self.log_firing(now, rule, &point);
            }
            None if moving.closed == Closed::Drop => {
                parcel.lost = Some(PointFate::Dropped);
                self.effective(rule);
                self.log_firing(now, rule, &point);
            }
            None if self.astray.bytes + parcel.bytes() > LANE_LIMIT => {
                self.note(now, format!("{}: too much waits for a stream already; it stays on its own", point.key));
            }
            None => {
                *lane = LaneId::Astray;
                let limit = point.arrived + moving.limit;
                let mut wait = Wait { rule, until: Until::Stream, limit: Some(limit), timer: None };
                self.set_timer(&mut wait, Some(limit));
                parcel.waits.push(wait);
            }
        }
    }

    /// How much waits on a stream or was let go and is not written, in bytes: nothing slows down who moves blocks to it.
    pub(in crate::engine) fn unread(&self, id: ExchangeId) -> usize {
        let Some(exchange) = self.exchanges.get(&id) else { return 0 };
        exchange.down.bytes.saturating_add(usize::try_from(exchange.flying_bytes).unwrap_or(usize::MAX))
    }

    fn enqueue_moved(&mut self, now: Moment, lane: LaneId, parcel: Parcel) {
        if parcel.lost.is_none() {
            self.enqueue(now, lane, parcel);
        }
    }

    /// The oldest stream of the session to which the rule can move a block.
    fn open_stream(&self, rule: usize, point: &Point) -> Option<ExchangeId> {
        let target = self.plan.rules[rule].target.as_ref()?;
        let mut open = self.exchanges.values().filter(|exchange| {
            exchange.session == point.session && Some(exchange.id) != point.exchange && exchange.takes_blocks()
        });
        open.find(|exchange| self.may_mean(target, exchange)).map(|exchange| exchange.id)
    }

    /// Gives blocks that wait for a stream to one that has opened; those that waited too long go back to their own.
    pub(in crate::engine) fn find_streams(&mut self, now: Moment) {
        for mut parcel in std::mem::take(&mut self.astray).drain() {
            let (Some(index), Some((_, point))) =
                (parcel.waits.iter().position(|wait| wait.until == Until::Stream), parcel.points.first().cloned())
            else {
                continue;
            };
            let wait = parcel.waits[index].clone();
            let target = self.open_stream(wait.rule, &point);
            if target.is_none() && wait.limit.is_none_or(|limit| limit > now) {
                self.astray.push(parcel);
                continue;
            }
            parcel.waits.remove(index);
            self.clear_timer(&wait);
            parcel.ready = parcel.ready.max(now);
            self.land(now, wait.rule, target, &point, parcel);
        }
        if !self.astray.is_empty() {
            self.busy.insert(LaneId::Astray);
        }
    }

    fn land(&mut self, now: Moment, rule: usize, target: Option<ExchangeId>, point: &Point, mut parcel: Parcel) {
        let by = self.next_seq();
        if let Some((_, point)) = parcel.points.first_mut() {
            point.by = by;
        }
        match target {
            Some(id) => {
                self.effective(rule);
                self.log_firing(now, rule, point);
                self.close_gate(now, rule, point, Opened::By(self.key_of(id)));
                self.push(LaneId::Down(id), parcel);
            }
            None => {
                self.close_gate(now, rule, point, Opened::Limit);
                let copied = matches!(&self.plan.rules[rule].rule.fault, Fault::Move(moving) if moving.copy);
                match point.exchange.map(LaneId::Down).filter(|lane| !copied && self.cut_off(*lane).is_none()) {
                    Some(own) => self.push(own, parcel),
                    None => self.discard(now, &parcel, PointFate::Gone),
                }
            }
        }
    }
}
