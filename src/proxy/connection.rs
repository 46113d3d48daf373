//! A connection to the server: made, driven by hyper, and kept for a client's next exchange.
//!
//! There is one for each client's connection, or a fresh one when that is not ready. A client's connection that is idle
//! ends as its server's does.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::accept::{Client, MAX_HEADERS};
use super::ending::{self, Cut};
use super::leg::Leg;
use super::link::Link;
use super::request::ServerBody;
use super::run::Run;
use super::upstream::Upstream;
use super::wire::Wire;
use crate::engine::event::{Destination, Ending};

/// A socket to the server in the making.
pub(crate) type Dialing = Pin<Box<dyn Future<Output = io::Result<Box<dyn Wire>>> + Send>>;

/// How a socket to the server is made.
pub(crate) type Dial = Box<dyn Fn(Upstream) -> Dialing + Send + Sync>;

/// How many turns of the scheduler a connection gets to become ready.
const TURNS: usize = 8;

/// A connection to the server.
pub(crate) struct Connection {
    pub(crate) sender: SendRequest<ServerBody>,
    pub(crate) link: Arc<Link>,
    to: Destination,
}

/// Where a client's connection keeps its connection to the server between two exchanges.
#[derive(Debug, Default)]
pub(crate) struct Slot(Mutex<Option<Connection>>);

/// Drives a connection to the server until it is over or to be ended; then gives the leg back.
struct Driving {
    http: Option<http1::Connection<TokioIo<Leg>, ServerBody>>,
    link: Arc<Link>,
}

/// Makes a connection for this client, or for none.
pub(crate) async fn connect(run: &Arc<Run>, client: Weak<Client>, to: Destination) -> io::Result<Connection> {
    let wire = (run.dial)(run.upstreams[to.server].clone()).await?;
    open(wire, run, client, to).await
}

/// Dials over TCP.
pub(crate) fn over_tcp(upstream: Upstream) -> Dialing {
    Box::pin(async move {
        let stream = match upstream.address() {
            Some(address) => TcpStream::connect(address).await?,
            None => TcpStream::connect((upstream.host(), upstream.port())).await?,
        };
        stream.set_nodelay(true)?;
        Ok(Box::new(stream) as Box<dyn Wire>)
    })
}

async fn open(wire: Box<dyn Wire>, run: &Arc<Run>, client: Weak<Client>, to: Destination) -> io::Result<Connection> {
    let link = Link::new(Arc::clone(run));
    let io = TokioIo::new(Leg::new(wire, Arc::clone(&link)));
    let (sender, http) = http1::Builder::new()
        .preserve_header_case(true)
        .max_headers(MAX_HEADERS)
        .writev(true)
        .handshake(io)
        .await
        .map_err(io::Error::other)?;
    tokio::spawn(drive(Driving { http: Some(http), link: Arc::clone(&link) }, client));
    Ok(Connection { sender, link, to })
}

// === driving ===

/// Drives a connection to its end, and tells an idle client's connection that its server's is gone.
async fn drive(driving: Driving, client: Weak<Client>) {
    let link = Arc::clone(&driving.link);
    let (leg, cut) = driving.await;
    let gone = link.gone();
    if let Some(client) =
        client.upgrade().filter(|client| client.slots.iter().any(|slot| slot.take_if(&link).is_some()))
    {
        client.link.retire(gone.unwrap_or(Ending::Fin));
    }
    match cut {
        Some(cut) => ending::carry_out(leg, cut).await,
        None => ending::close(leg).await,
    }
}

impl Future for Driving {
    type Output = (Leg, Option<Cut>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.link.watch(cx.waker());
        // hyper ends a connection of its own accord when its exchange is dropped: a cut comes first.
        let mut cut = self.link.cut_due();
        if cut.is_none() {
            let http = self.http.as_mut().expect("polled only while driving");
            let over = Pin::new(http).poll(cx);
            cut = self.link.cut_due();
            if over.is_pending() && cut.is_none() {
                return Poll::Pending;
            }
            self.link.over();
        }
        let http = self.http.take().expect("polled only while driving");
        Poll::Ready((http.into_parts().io.into_inner(), cut))
    }
}

// === Slot ===

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Option<Connection> {
        self.lock().take()
    }

    fn take_if(&self, link: &Arc<Link>) -> Option<Connection> {
        self.lock().take_if(|kept| Arc::ptr_eq(&kept.link, link))
    }

    /// Takes the kept connection if it can carry a request now, or in a few turns of the scheduler: its driver may not
    /// have seen yet that the last answer is over. One that is busy (a body the server does not read) is let go.
    pub(crate) async fn ready(&self) -> Option<Connection> {
        let kept = self.take()?;
        for _ in 0..TURNS {
            if kept.sender.is_closed() {
                return None;
            }
            if kept.sender.is_ready() {
                return Some(kept);
            }
            tokio::task::yield_now().await;
        }
        None
    }

    fn put(&self, connection: Connection) {
        *self.lock() = Some(connection);
    }
}

impl Client {
    /// Takes the connections that are kept, one to each server at most.
    pub(crate) fn take_kept(&self) -> impl Iterator<Item = Connection> {
        self.slots.iter().filter_map(Slot::take)
    }

    /// Keeps a connection for the next exchange; one that is closed already ends the client's too, in time.
    pub(crate) fn keep(&self, connection: Connection) {
        // One that carries nothing else closes by being dropped.
        if connection.to.fresh {
            return;
        }
        if connection.sender.is_closed() {
            self.link.retire(connection.link.gone().unwrap_or(Ending::Fin));
        } else {
            self.slots[connection.to.server].put(connection);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("link", &self.link).finish_non_exhaustive()
    }
}
