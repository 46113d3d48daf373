//! A request on its way to the server: whole, or so much of it as a cut inside it lets pass.
//!
//! The one rule it keeps: of a request that is cut inside, exactly that many bytes of the body are sent.

use bytes::Bytes;

use super::engine::Engine;
use super::event::{Command, ExchangeId, Moment, UnitId};
use super::exchange::ServerLeg;
use super::fault::Fault;
use super::leave::Job;
use super::unit::{CutPlan, Out, Parcel};

/// What goes to the server.
pub(super) struct Sent {
    pub(super) body: Option<Bytes>,
    /// How much of it, if not all.
    pub(super) part: Option<u64>,
    /// Whether it goes piece by piece.
    pub(super) parted: bool,
}

impl Engine {
    /// So much of a request goes to the server as a cut inside it lets pass.
    pub(super) fn send_half(&mut self, now: Moment, id: ExchangeId, rule: usize, mut parcel: Parcel) {
        let Out::Forward(body) = parcel.out else { return };
        if let Some(place) = self.place_of(id) {
            return self.serve(now, id, place, &parcel.points, &[CutPlan { rule, later: false }]);
        }
        let part = match &self.plan.rules[rule].rule.fault {
            Fault::Cut(cut) => cut.place_in(self.length_of_request(id, body.as_ref())),
            _ => None,
        };
        for (_, point) in &mut parcel.points {
            point.bytes = part.unwrap_or(0) as u64;
        }
        let unit = self.fly(id, parcel.points, Job::Half(rule));
        self.forward(now, id, unit, Sent { body, part: part.map(|part| part as u64), parted: false });
    }

    /// How long a request's body is; one beyond the peek cap has said so, or is not known.
    fn length_of_request(&self, id: ExchangeId, body: Option<&Bytes>) -> usize {
        let Some(exchange) = self.exchanges.get(&id) else { return 0 };
        let known = body.unwrap_or(&exchange.request_body).len();
        let announced = || std::str::from_utf8(exchange.header("content-length")?).ok()?.trim().parse().ok();
        if known > 0 { known } else { announced().unwrap_or(0) }
    }

    pub(super) fn forward(&mut self, now: Moment, id: ExchangeId, unit: UnitId, Sent { body, part, parted }: Sent) {
        let identity = self.asks_identity(id);
        if identity && !std::mem::replace(&mut self.notebook.identity, true) {
            let key = self.key_of(id);
            self.note(
                now,
                format!("{key}: identity encoding is asked of the server, here and wherever a rule looks inside"),
            );
        }
        let to = self.destination(id);
        let change = self.exchanges.get(&id).and_then(|exchange| exchange.change.as_ref());
        let headers = change.map(|change| change.edits.headers.clone()).unwrap_or_default();
        self.out.push(Command::Forward { exchange: id, unit, to, identity, body, parted, headers, part });
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.server = ServerLeg::Open;
            exchange.request_body = Bytes::new();
        }
    }
}
