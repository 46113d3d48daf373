//! `route`: a request goes to another of the servers, or on a connection of its own.

use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::event::{Destination, ExchangeId};
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Kind, NO_LIMIT, Need, field};
use crate::engine::record::PointFate;
use crate::engine::selector::At;

/// `route`: request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Which server.
    pub to: Server,
    /// On a connection of its own.
    pub fresh: bool,
}

/// Which of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// This one, in the order of the command line, from 0.
    Nth(usize),
    /// One after the other, in the rule's scope.
    Next,
    /// Not the one that the session's last request went to: the next one.
    Other,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "route",
    at: &[At::Request],
    main: Some("to"),
    doc: "sends a request to another server (`mishap run -u URL -u URL`), or on a connection of its own",
    params: &[
        field(
            "to",
            Kind::Either(&[Kind::Int(1, NO_LIMIT), Kind::Word(&["next", "other"])]),
            Need::Required,
            "which server: the k-th, each in turn, or not the one that the session's last request went to",
        ),
        field("fresh", Kind::Bool, Need::Default("false"), "on a connection of its own"),
    ],
    make: |params, _| make(params).map(Fault::Route),
    check: unchecked,
};

fn make(params: &Params) -> Option<Route> {
    let to = match params.datum("to")? {
        Datum::Int(number) => Server::Nth(usize::try_from(number).ok()?.checked_sub(1)?),
        Datum::Text(word) if word == "next" => Server::Next,
        _ => Server::Other,
    };
    Some(Route { to, fresh: params.flag("fresh") })
}

impl Act for Route {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Some((_, point)) = turn.parcel.points.first() else { return };
        engine.log_firing(turn.now, turn.rule, point);
        let server = match self.to {
            Server::Nth(server) => server.min(engine.servers - 1),
            Server::Next => usize::try_from(engine.take_turn(turn.rule, point) % engine.servers as u64).unwrap_or(0),
            Server::Other => {
                let last = engine.sessions.get(point.session).and_then(|session| session.server);
                last.map_or(0, |last| (last + 1) % engine.servers)
            }
        };
        let Some(exchange) = point.exchange.and_then(|id| engine.exchanges.get_mut(&id)) else { return };
        // The first request on a client's connection has one of its own anyway.
        let elsewhere = server != exchange.to.server || self.fresh && exchange.reused;
        exchange.to = Destination { server, fresh: self.fresh };
        exchange.routed = Some((turn.rule, elsewhere));
    }

    fn servers(&self) -> usize {
        match self.to {
            Server::Nth(server) => server + 1,
            Server::Next | Server::Other => 2,
        }
    }

    fn changes(&self, _: At) -> bool {
        false
    }

    /// Of several rules on one request the last sent it.
    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, rule: usize) -> Option<Did> {
        let exchange = engine.exchanges.get(&outcome.point.exchange?)?;
        let sent = outcome.fate == PointFate::Passed && exchange.routed == Some((rule, true));
        let Destination { server, fresh } = exchange.to;
        sent.then_some(Did::Routed { server: server as u64 + 1, fresh })
    }

    fn explain(&self) -> String {
        let to = match self.to {
            Server::Nth(server) => format!("to server {}", server + 1),
            Server::Next => "to each server in turn".to_owned(),
            Server::Other => "to another server than the session's last request".to_owned(),
        };
        format!("send it {to}{}", if self.fresh { ", on a connection of its own" } else { "" })
    }
}

impl Engine {
    /// Which server a request goes to that leaves now.
    pub(in crate::engine) fn destination(&mut self, id: ExchangeId) -> Destination {
        let Some(exchange) = self.exchanges.get(&id) else { return Destination::default() };
        let (to, routed) = (exchange.to, exchange.routed);
        self.sessions.went_to(exchange.session, to.server);
        if let Some((rule, true)) = routed {
            self.effective(rule);
        }
        to
    }
}
