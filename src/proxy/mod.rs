//! The rim: sockets, HTTP/1.1 and the clock around the engine, in the order in which a request meets them.
//!
//! * [`accept`]: connections in, driven and ended; [`wire`], [`leg`], [`link`]: the sockets, and what is known of them;
//! * [`forward`]: one exchange, from the request's head to the answer's; [`headers`] maps both heads,
//!   [`endpoint`] the one URL that a stream may begin with;
//! * [`request`]: the peek and the request's body; [`connection`], [`server`]: what goes to the server and arrives from it;
//! * [`reading`], [`pump`]: what arrived, gathered and told to the engine; [`relay`]: the answer's body;
//! * [`ending`]: how a connection ends on purpose; [`orphan`]: a server's leg that outlives the client's; [`posting`]: a
//!   request of a rule's own;
//! * [`run`], [`exchange`]: what all share: the engine behind its lock, and the mailboxes of its commands.
//!
//! No decision is taken here: what arrives goes to the engine, what it commands is done.

mod accept;
mod answer;
mod connection;
mod ending;
mod endpoint;
mod exchange;
mod forward;
mod headers;
mod informational;
mod leg;
mod link;
mod orphan;
mod posting;
mod pump;
mod reading;
mod relay;
mod request;
mod run;
mod server;
#[cfg(test)]
mod tests;
mod timer;
mod upstream;
mod wire;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::engine::engine::Engine;
use crate::engine::record::{Entry, Summary};

pub use answer::MARKER;
pub use headers::HostPolicy;
pub use request::PEEK_CAP;
pub use timer::{Clock, Until};
pub use upstream::{Upstream, UpstreamError};

/// Takes what the engine records.
///
/// It is called under the engine's lock: it must not block and not call back.
pub trait Records: Send {
    /// Takes one line.
    fn record(&self, entry: Entry);

    /// Takes a body under its hash; unless bodies are kept there are none.
    fn keep(&self, _hash: u64, _body: &[u8]) {}
}

impl<F: Fn(Entry) + Send> Records for F {
    fn record(&self, entry: Entry) {
        self(entry);
    }
}

/// What a proxy is made of.
pub struct Config {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The server.
    pub upstream: Upstream,
    /// Further servers, to which rules may send requests.
    pub others: Vec<Upstream>,
    /// What decides.
    pub engine: Engine,
    /// Where its records go.
    pub records: Box<dyn Records>,
    /// What becomes of a request's `Host`.
    pub host: HostPolicy,
    /// Further names under which clients know the proxy, as they stand in `Host`: with the port unless it is 80.
    pub public_hosts: Vec<String>,
    /// The run's clock.
    pub clock: Clock,
}

/// What ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody asked for it.
    Asked,
    /// The command behind the proxy has ended.
    Exit,
}

/// A proxy that listens.
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    local: SocketAddr,
    run: Arc<run::Run>,
}

/// Why a proxy cannot listen.
#[derive(Debug)]
pub struct BindError {
    listen: SocketAddr,
    cause: io::Error,
}

impl Proxy {
    /// Listens. Connections wait until [`Proxy::serve`].
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on: it is in use, or not one of this machine.
    pub async fn bind(config: Config) -> Result<Self, BindError> {
        let failed = |cause| BindError { listen: config.listen, cause };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        let hosts = headers::Hosts::new(config.host, local, config.public_hosts);
        let dial = Box::new(connection::over_tcp);
        let upstreams = std::iter::once(config.upstream).chain(config.others).collect();
        let run = run::Run::new(config.engine, config.records, config.clock, upstreams, dial, hosts);
        Ok(Self { listener, local, run })
    }

    /// Returns the address it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Returns the URL to give to clients: the proxy's address, the upstream's path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.local, self.run.upstreams[0].path())
    }

    /// Serves until `stop` is ready; then accepts no more, ends the run for the engine, closes every connection, and
    /// returns what the run amounts to.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connections too, but the engine is not told that the run is over.
    pub async fn serve(self, stop: impl Future<Output = Stop>) -> Summary {
        let mut connections = JoinSet::new();
        let stopped = tokio::select! {
            () = accept::accept(&self.listener, &self.run, &mut connections) => Stop::Asked,
            () = self.run.keep_time() => Stop::Asked,
            stopped = stop => stopped,
        };
        if stopped == Stop::Exit {
            self.run.exited();
        }
        drop(self.listener);
        self.run.settle().await;
        let summary = self.run.finish();
        connections.shutdown().await;
        summary
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listen, cause } = self;
        match cause.kind() {
            io::ErrorKind::AddrInUse => write!(f, "{listen} is in use; choose another port, or 0 for a free one"),
            io::ErrorKind::AddrNotAvailable => write!(f, "{listen} is not an address of this machine"),
            _ => write!(f, "cannot listen on {listen}: {cause}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
