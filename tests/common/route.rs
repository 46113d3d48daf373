//! The way from client to upstream: directly, through the real binary, or through a proxy broken on purpose.
//!
//! A check takes a route and never asks which; so whatever holds directly must hold through the proxy.

use std::net::SocketAddr;
use std::time::Duration;

use super::broken::{self, Sabotage};
use super::messages::SSE_HEAD;
use super::mishap::{Ended, Mishap};
use super::peer::Peer;
use super::scratch::Scratch;
use super::upstream::Upstream;
use super::wire::PATIENCE;

/// How long a check that is meant to fail waits for what will not come.
const IMPATIENCE: Duration = Duration::from_secs(3);

/// An upstream, and where clients reach it.
#[derive(Debug)]
pub(crate) struct Route {
    /// The scripted upstream.
    pub(crate) upstream: Upstream,
    address: SocketAddr,
    mishap: Option<Mishap>,
    scratch: Scratch,
    patience: Duration,
}

impl Route {
    /// Nothing in between.
    pub(crate) fn directly() -> Self {
        let upstream = Upstream::listen();
        let address = upstream.address();
        Self { upstream, address, mishap: None, scratch: Scratch::new(), patience: PATIENCE }
    }

    /// Through `mishap run`, without a profile and without a journal.
    pub(crate) fn through_mishap() -> Self {
        Self::directly().with(|_| Vec::new())
    }

    /// Through `mishap run --journal`: the engine sees every stream and must let all of it be.
    pub(crate) fn through_a_journalling_mishap() -> Self {
        Self::directly().with(|scratch| {
            let journal = scratch.path("journal.ndjson");
            vec!["--journal".to_owned(), journal.display().to_string()]
        })
    }

    /// Through `mishap run` with a rule for which every answer must be looked into, and which means none.
    pub(crate) fn through_a_looking_mishap() -> Self {
        Self::directly().with(|scratch| {
            let selector = "{ message = { result = { '/there/is/no/such' = \"*\" } } }";
            let rule = format!("[[rule]]\nname = \"none\"\nmatch = {selector}\ndelay = \"1s\"\noptional = true\n");
            vec!["-p".to_owned(), scratch.file("looking.toml", &format!("version = 1\n{rule}"))]
        })
    }

    fn with(self, args: impl FnOnce(&Scratch) -> Vec<String>) -> Self {
        let (mishap, address) = Mishap::in_front_of(self.upstream.address(), &args(&self.scratch));
        Self { address, mishap: Some(mishap), ..self }
    }

    /// Through a tiny proxy with this fault of its own; nothing waits long on a route that is meant to fail.
    pub(crate) fn broken(sabotage: Sabotage) -> Self {
        let patience = if sabotage == Sabotage::Sound { PATIENCE } else { IMPATIENCE };
        let route = Self::directly();
        let address = broken::start(route.upstream.address(), sabotage);
        Self { address, patience, upstream: route.upstream.with_patience(patience), ..route }
    }

    /// Where clients connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new client connection.
    #[track_caller]
    pub(crate) fn client(&self) -> Peer {
        Peer::connect(self.address).with_patience(self.patience)
    }

    /// What a client of this route writes as `Host`.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// A request's head as a client of this route writes it, without a body.
    pub(crate) fn head(&self, method_and_target: &str, headers: &[&str]) -> String {
        let fields: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        format!("{method_and_target} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address)
    }

    /// An exchange on a new connection whose request has reached the upstream: both its ends.
    #[track_caller]
    pub(crate) fn exchange(&self, method_and_target: &str) -> (Peer, Peer) {
        let mut client = self.client();
        client.send(self.head(method_and_target, &[]));
        let mut server = self.upstream.next();
        server.request();
        (client, server)
    }

    /// A request of which one half is with the upstream and the other half never comes: both its ends.
    #[track_caller]
    pub(crate) fn half_a_request(&self) -> (Peer, Peer) {
        let half = vec![b'-'; 6 << 20];
        let mut client = self.client();
        client.send(self.head("POST /mcp", &[&format!("Content-Length: {}", 2 * half.len())]));
        let writing = client.send_beside(half.clone());
        let mut server = self.upstream.next();
        server.request();
        server.sees(half);
        writing.join().expect("the writer does not panic").expect("all of it is taken");
        (client, server)
    }

    /// An exchange whose answer has begun on both ends: an event stream in chunks.
    #[track_caller]
    pub(crate) fn stream(&self) -> (Peer, Peer) {
        let (mut client, mut server) = self.exchange("GET /mcp");
        server.send(SSE_HEAD);
        client.answer();
        (client, server)
    }

    /// Tells the proxy to finish and returns its verdict; `None` where there is no `mishap`.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Option<Ended> {
        self.mishap.take().map(Mishap::finish)
    }
}
