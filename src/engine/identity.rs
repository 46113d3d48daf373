//! Who a request is: its kind, its session, its key, whose stream it continues (rules R6 to R9).
//!
//! The one rule it keeps: what is derived from a request depends on that request and its session, not on when others
//! arrive.

use std::sync::Arc;

use bytes::Bytes;

use super::engine::Engine;
use super::event::{ExchangeId, Moment, RequestBody};
use super::exchange::Exchange;
use super::hash;
use super::matching;
use super::owner::{Belongs, Spoken, Trail};
use super::renaming::LAST_EVENT_ID;
use super::rpc::{self, Message};
use super::selector::{At, Stream};
use super::session::Client;

/// Where a 2026-07-28 request names its client.
const CLIENT_INFO: &str = "/_meta/io.modelcontextprotocol~1clientInfo";

impl Engine {
    /// What kind of exchange it is, as far as its head tells.
    pub(super) fn kind_of(&self, exchange: &Exchange) -> Stream {
        let accepts_events = exchange.request.headers.iter().any(|(name, value)| {
            name == "accept" && String::from_utf8_lossy(value).to_ascii_lowercase().contains("text/event-stream")
        });
        match &*exchange.request.method {
            "POST" => Stream::Post,
            "DELETE" => Stream::Delete,
            "GET" if exchange.header(LAST_EVENT_ID).is_some() => Stream::Resume,
            "GET" if exchange.header("mcp-session-id").is_some() => Stream::Get,
            "GET" if self.sessions.is_legacy(exchange.path()) => Stream::Legacy,
            "GET" if accepts_events => Stream::Get,
            _ => Stream::Other,
        }
    }

    /// The session, where it does not take the body to tell.
    pub(super) fn session_before_body(&mut self, exchange: &Exchange) -> u64 {
        let client = self.client_of(exchange, None);
        if let Some(id) = exchange.header("mcp-session-id") {
            return self.sessions.with_id(id, client);
        }
        if let Some(session) = self.sessions.at_endpoint(&exchange.request.target) {
            return session;
        }
        match exchange.stream {
            Stream::Legacy => self.sessions.begin(client),
            Stream::Get | Stream::Resume | Stream::Delete => self.sessions.of_client(client),
            Stream::Post | Stream::Listen | Stream::Other => 0,
        }
    }

    fn client_of(&self, exchange: &Exchange, info: Option<Bytes>) -> Client {
        Client {
            address: self.conns.get(&exchange.conn).map(|conn| conn.client.clone()).unwrap_or_default(),
            authorization: exchange.header("authorization").map_or(0, |value| hash::hash(value)),
            info,
        }
    }

    /// Finds out whose a request is and what it is called, now that its messages are known.
    pub(super) fn identify(&mut self, exchange: &mut Exchange, messages: Vec<Message>, body: &RequestBody) {
        let has = |method: &str| messages.iter().any(|message| message.method.as_deref() == Some(method));
        if exchange.stream == Stream::Post {
            if has("subscriptions/listen") {
                exchange.stream = Stream::Listen;
            } else if messages.is_empty() && matches!(body, RequestBody::Whole(_)) && !speaks_mcp(exchange) {
                exchange.stream = Stream::Other;
            }
        }
        let begins = has("initialize");
        let ended = self.sessions.get(exchange.session).is_some_and(|session| session.ended);
        if begins && ended {
            exchange.session = 0;
        }
        let heard = !messages.is_empty() || matches!(body, RequestBody::BeyondPeek(_));
        if exchange.session == 0 && heard && matches!(exchange.stream, Stream::Post | Stream::Listen) {
            let pointer = if begins { "/clientInfo" } else { CLIENT_INFO };
            let info = messages.iter().find_map(|message| rpc::pointer(&message.params, pointer));
            let client = self.client_of(exchange, info.map(|info| Bytes::copy_from_slice(info.get().as_bytes())));
            exchange.session =
                if begins { self.sessions.initialize(exchange.id, client) } else { self.sessions.of_client(client) };
        }
        self.follow(exchange);
        if exchange.stream != Stream::Other {
            let hear = |message| self.calls.hear_client(exchange.session, message);
            exchange.messages = messages.into_iter().map(hear).collect();
        }
        let base = exchange.base_key();
        let n = self.sessions.use_key(exchange.session, &base);
        exchange.key = Arc::from(exchange.nth_key(&base, n));
        self.give_trail(exchange);
        self.name_exchange(exchange);
    }

    /// A resume continues the stream that issued its event id.
    fn follow(&self, exchange: &mut Exchange) {
        if exchange.stream != Stream::Resume {
            return;
        }
        let issuer = exchange.header(LAST_EVENT_ID).and_then(|id| self.calls.issuer(exchange.session, id));
        if let Some(trail) = issuer {
            exchange.origin_known = true;
            exchange.trail = trail;
        }
    }

    fn give_trail(&self, exchange: &mut Exchange) {
        if exchange.origin_known {
            exchange.belongs = Arc::new(Belongs { owners: exchange.trail.owners.clone(), calls: Vec::new() });
            return;
        }
        exchange.belongs = Arc::new(self.calls.belongs(&exchange.messages, &[]));
        let requests = exchange.messages.iter().filter(|spoken| spoken.message.method.is_some());
        let owners = requests.filter(|spoken| spoken.message.id.is_some()).filter_map(|spoken| spoken.about).collect();
        exchange.trail = Arc::new(Trail {
            key: Arc::clone(&exchange.key),
            stream: exchange.stream,
            messages: exchange.messages.iter().map(Spoken::kept).collect(),
            owners,
        });
    }

    /// Counts an exchange for every selector that asks for the k-th that fits.
    pub(super) fn number(&mut self, now: Moment, id: ExchangeId, at: At) {
        let plan = Arc::clone(&self.plan);
        let point = self.point(now, id, at, "", 0);
        for (number, selector) in plan.numbered.iter().enumerate() {
            let early = selector.at == At::RequestHead;
            if early != (at == At::RequestHead) || !matching::counts(selector, &self.scene(&point, Some(id))) {
                continue;
            }
            let session = self.session_of(id);
            let count = self.ordinals[number].entry(&session, || 0);
            *count += 1;
            let count = *count;
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.ordinals.push((number, count));
            }
        }
    }
}

/// Whether a request without a message is MCP all the same, and not one to an authorization server behind us.
fn speaks_mcp(exchange: &Exchange) -> bool {
    exchange.header("mcp-session-id").is_some() || exchange.header("mcp-protocol-version").is_some()
}
