//! The demo's MCP server: sessions, SSE answers, one standalone GET stream a session, tools that ask the client.
//!
//! It keeps no event store, so its events carry no id and a question without a stream is dropped: that is what the
//! TypeScript servers do (founding bug conformance#407). It sends no keep-alive. The rule it keeps: what a question is
//! related to decides the stream it rides, and nothing else does.

mod events;
mod http;
mod note;
mod session;
mod tools;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinHandle, JoinSet};

pub use note::Note;
use session::Session;
pub use tools::described;

/// Which stream a tool's question to the client rides: the one argument in which faulty and fixed differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// The SSE stream of the call that asks (`extra.sendRequest` in the TypeScript SDK): the fixed way.
    Related,
    /// The session's standalone GET stream (`server.request`): lost when that is not open.
    Unrelated,
}

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How tools ask, unless a call's own argument `related` says otherwise.
    pub routing: Routing,
    /// How long it waits for the client's answer to a question.
    pub timeout: Duration,
    /// Where it tells what happens.
    pub notes: Option<UnboundedSender<Note>>,
}

impl Default for Options {
    /// Loopback on a free port, the faulty routing, one second.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            routing: Routing::Unrelated,
            timeout: Duration::from_secs(1),
            notes: None,
        }
    }
}

/// A running server; dropping it closes every connection.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    accepting: JoinHandle<io::Error>,
    state: Arc<State>,
}

/// What all connections share.
#[derive(Debug)]
struct State {
    options: Options,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

// === Server ===

impl Server {
    /// Listens and serves, on the current tokio runtime.
    ///
    /// # Errors
    ///
    /// When the address cannot be listened on.
    pub async fn bind(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State { options, sessions: Mutex::default() });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { address, accepting, state })
    }

    /// The address listened on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the MCP endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, http::PATH)
    }

    /// Waits until the server can accept no more connections, and returns why.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn failed(&mut self) -> io::Error {
        (&mut self.accepting).await.unwrap_or_else(io::Error::other)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
        for (_, session) in self.state.sessions().drain() {
            session.close();
        }
    }
}

// === State ===

impl State {
    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts until the listener fails for good. The connections end with this future, because it owns them.
async fn accept(listener: TcpListener, state: Arc<State>) -> io::Error {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(converse(stream, Arc::clone(&state)))),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return error,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one connection. How a client ends it is the client's business, so the outcome is not looked at.
async fn converse(stream: TcpStream, state: Arc<State>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| http::answer(Arc::clone(&state), request));
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _ = connection.await;
}
