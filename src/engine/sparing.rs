//! Server's legs for whose bytes nobody waits any more, and how long they are spared.
//!
//! A leg is spared so that the server works on, or does not notice that its client is gone (rules R25, R26, R31), that of
//! a request which a rule sent because nobody else has to do with it (rule R28). The one rule it keeps: none outlives its
//! session.

use super::engine::Engine;
use super::event::{Command, ExchangeId, Fate, UnitId};
use super::exchange::{ClientLeg, Exchange, ServerLeg};
use super::notebook::full_key;

/// A request that a rule sent, until its answer has ended: one for each open connection.
#[derive(Debug)]
pub(super) struct Posted {
    /// The exchange in whose name it was sent.
    pub(super) exchange: ExchangeId,
    pub(super) session: u64,
    pub(super) key: String,
    /// Whether it is a copy of that exchange's own request.
    pub(super) again: bool,
}

impl Engine {
    /// A rule has ended the client's leg: the server's is ended too, or spared.
    pub(super) fn end_server(&mut self, id: ExchangeId, fate: Fate) {
        let deleted = self.sessions.get(self.session_of(id)).is_some_and(|session| session.deleted);
        let spares = matches!(fate, Fate::Drain(_) | Fate::Keep(_)) && !deleted;
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.spared = spares;
        }
        let fate = if deleted && fate != Fate::Reset { Fate::Close } else { fate };
        self.close_server(id, fate, Vec::new());
    }

    /// A session was deleted: what was spared in it is closed.
    pub(super) fn end_spared(&mut self, session: u64) {
        let spared = |exchange: &Exchange| exchange.session == session && exchange.is_spared();
        let spared: Vec<_> = self.exchanges.iter().filter(|(_, it)| spared(it)).map(|(id, _)| *id).collect();
        for id in spared {
            self.ended_by_itself(id);
            self.end_server(id, Fate::Close);
        }
        self.close_posts(|posted| posted.session == session);
        self.news = true;
    }

    /// The server's leg of an exchange is closed, or its client has left: that goes for copies of its request too.
    pub(super) fn close_copies(&mut self, id: ExchangeId) {
        self.close_posts(|posted| posted.exchange == id && posted.again);
    }

    fn close_posts(&mut self, which: impl Fn(&Posted) -> bool) {
        let over: Vec<UnitId> = self.posts.iter().filter(|(_, it)| which(it)).map(|(unit, _)| *unit).collect();
        for unit in over {
            self.posts.remove(&unit);
            self.out.push(Command::ClosePost { unit });
        }
    }

    /// The keys of what is spared and still open.
    pub(super) fn left_open(&self) -> Vec<String> {
        let spared = self.exchanges.values().filter(|exchange| exchange.is_spared());
        let posted = self.posts.values().map(|posted| posted.key.clone());
        spared.map(|exchange| full_key(exchange)).chain(posted).collect()
    }
}

impl Exchange {
    /// Whether its server's leg is open for the server's sake alone: a rule said so, or lost the client's leave.
    fn is_spared(&self) -> bool {
        let unaware = self.client == ClientLeg::Left && self.server == ServerLeg::Open && self.up.is_empty();
        unaware || self.spared && self.server == ServerLeg::Closing
    }
}
