//! How long nothing was heard on an answer or a connection (condition `idle`).
//!
//! Any byte counts when it comes and when it goes on, comments too; one that a rule lost does not, as behind a balancer it
//! never came. On a connection an exchange that is open is something. The one rule it keeps: a unit in hand was heard when
//! it arrived, so that what waits for silence waits from there.

use std::sync::Arc;
use std::time::Duration;

use super::decide::micros;
use super::engine::Engine;
use super::event::{ConnId, ExchangeId, Moment};
use super::exchange::ClientLeg;
use super::plan::Quiet;
use super::record::SilenceTally;
use super::selector::At;
use super::sighting::Cause;
use super::unit::Point;

/// What was heard last, and which silences came before it.
#[derive(Debug, Default)]
pub(super) struct Silence {
    last: Moment,
    seq: u64,
    /// For each silence of the plan that was reached: when it was, the last time, and its place in the sequence.
    reached: Vec<(usize, Moment, u64)>,
}

/// Points at which it is the connection's silence that is asked.
fn is_early(at: At) -> bool {
    matches!(at, At::Connect | At::RequestHead | At::Request)
}

impl Silence {
    /// Silence that begins now.
    pub(super) fn from(now: Moment) -> Self {
        Self { last: now, ..Self::default() }
    }

    /// Something was heard; `lengths` are the silences that may have been reached before.
    fn hear(&mut self, now: Moment, seq: u64, lengths: &[Duration]) {
        for (number, length) in lengths.iter().enumerate() {
            let at = self.last + *length;
            if at <= now {
                self.reached.retain(|(known, _, _)| *known != number);
                self.reached.push((number, at, self.seq));
            }
        }
        (self.last, self.seq) = (now, seq);
    }

    /// When a silence of this length was reached last; `lasts`: it may be going on.
    fn reached(&self, number: usize, length: Duration, now: Moment, lasts: bool) -> Option<(Moment, u64)> {
        let before = self.reached.iter().find(|(known, _, _)| *known == number).map(|(_, at, seq)| (*at, *seq));
        Some((self.last + length, self.seq)).filter(|(at, _)| lasts && *at <= now).or(before)
    }
}

impl Engine {
    /// A byte of this exchange's answer came, or went on to the client.
    pub(super) fn heard(&mut self, now: Moment, id: ExchangeId) {
        if self.plan.silences.is_empty() {
            return;
        }
        let (seq, lengths) = (self.seq, Arc::clone(&self.silences));
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.silence.hear(now, seq, &lengths);
        }
    }

    /// A request began on this connection.
    pub(super) fn heard_on(&mut self, now: Moment, conn: ConnId) {
        if self.plan.silences.is_empty() {
            return;
        }
        let (seq, lengths) = (self.seq, Arc::clone(&self.silences));
        let Some(conn) = self.conns.get_mut(&conn) else { return };
        let length = micros(now).saturating_sub(micros(conn.silence.last));
        conn.silence.hear(now, seq, &lengths);
        for (quiet, tally) in self.plan.silences.iter().zip(&mut self.notebook.silences) {
            if is_early(self.plan.rules[quiet.rule].sel.selector.at) {
                tally.longest = tally.longest.max(length);
            }
        }
    }

    /// An exchange of this connection went on or is over: what came before was no silence.
    pub(super) fn stirred_on(&mut self, now: Moment, conn: ConnId) {
        let seq = self.seq;
        if let Some(conn) = self.conns.get_mut(&conn) {
            conn.silence.hear(now, seq, &[]);
            self.news |= self.plan.cuts_connections;
        }
    }

    /// The server said something of this answer: how long it had been silent is noted for the rules that may mean it.
    pub(super) fn spoke(&mut self, now: Moment, id: ExchangeId) {
        if self.plan.silences.is_empty() {
            return;
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if let Some(last) = exchange.spoke.replace(now) {
            self.note_silence(id, now, last, |tally| &mut tally.longest);
        }
    }

    /// The run is over: what is silent stays so.
    pub(super) fn silences_end(&mut self, now: Moment) {
        let open = self.exchanges.values().filter(|exchange| exchange.server_ended.is_none());
        let open: Vec<_> = open.filter_map(|exchange| Some((exchange.id, exchange.spoke?))).collect();
        for (id, last) in open {
            self.note_silence(id, now, last, |tally| &mut tally.open);
        }
    }

    fn note_silence(&mut self, id: ExchangeId, now: Moment, last: Moment, of: impl Fn(&mut SilenceTally) -> &mut u64) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        let length = micros(now).saturating_sub(micros(last));
        let means = |quiet: &Quiet| {
            let sel = &self.plan.rules[quiet.rule].sel;
            !is_early(sel.selector.at) && self.may_mean(sel, exchange)
        };
        let meant: Vec<bool> = self.plan.silences.iter().map(means).collect();
        for (tally, _) in self.notebook.silences.iter_mut().zip(meant).filter(|(_, meant)| *meant) {
            *of(tally) = (*of(tally)).max(length);
        }
    }

    /// A rule acts because of a silence.
    pub(super) fn silence_acted(&mut self, cause: &Cause) {
        if let Cause::Silence(number, _) = cause {
            self.notebook.silences[*number].acted += 1;
        }
    }

    /// A rule fires that a silence has switched on.
    pub(super) fn silence_switched(&mut self, rule: usize) {
        for (quiet, tally) in self.plan.silences.iter().zip(&mut self.notebook.silences) {
            tally.acted += u64::from(quiet.rule == rule && quiet.switches);
        }
    }

    /// Since when it has been silent, for the unit in hand.
    pub(super) fn silent_since(&self, point: &Point) -> Option<Moment> {
        let Some(id) = point.exchange else {
            return self
                .conns
                .get(&point.conn)
                .filter(|_| !self.is_in_use(point.conn, None))
                .map(|conn| conn.silence.last);
        };
        let last = self.exchanges.get(&id)?.silence.last;
        Some(if matches!(point.at, At::End | At::Leave) { last } else { last.max(point.arrived) })
    }

    /// When a silence was reached last, and its place in the sequence: before a request is forwarded, on its connection.
    pub(super) fn last_silence(&self, number: usize, point: &Point, now: Moment) -> Option<(Moment, u64)> {
        let length = self.length(&self.plan.silences[number]);
        match (point.at, point.exchange) {
            (at, exchange) if is_early(at) || exchange.is_none() => {
                let lasts = point.at != At::Request && !self.is_in_use(point.conn, point.exchange);
                self.conns.get(&point.conn)?.silence.reached(number, length, now, lasts)
            }
            (_, id) => self.exchanges.get(&id?)?.silence.reached(number, length, now, true),
        }
    }

    /// Whether an exchange is open on a connection, this one aside.
    pub(super) fn is_in_use(&self, conn: ConnId, but: Option<ExchangeId>) -> bool {
        let open = |exchange: &super::exchange::Exchange| exchange.conn == conn && exchange.client == ClientLeg::Open;
        self.exchanges.values().any(|exchange| open(exchange) && Some(exchange.id) != but)
    }

    /// How long each silence of the plan must be; drawn once, and the same for a whole run.
    pub(super) fn draw_silences(&self) -> Arc<[Duration]> {
        self.plan.silences.iter().map(|quiet| self.length(quiet)).collect()
    }

    /// How long a silence must be that switches a rule.
    fn length(&self, quiet: &Quiet) -> Duration {
        quiet.time + self.drawn(quiet.rule, None, "plus", quiet.plus.as_ref())
    }
}
