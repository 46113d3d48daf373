//! Where a request enters: connections are accepted, driven by hyper, and ended as somebody decided.
//!
//! The future that drives a connection is ours and hyper's is polled inside it, so that it can be woken and taken apart
//! from outside; how the socket then ends is `ending`'s.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinSet};

use super::connection::Slot;
use super::ending::{self, Cut};
use super::forward::Forwarding;
use super::leg::Leg;
use super::link::Link;
use super::run::Run;
use super::wire::Wire;
use crate::engine::event::{ConnId, Ending, Event};

/// More lines than any peer of the field sends; hyper's own limit is 100. Each costs 64 bytes while a head is parsed.
pub(crate) const MAX_HEADERS: usize = 1024;

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ConnId,
    pub(crate) link: Arc<Link>,
    /// For each server the one connection to it, while no exchange uses it.
    pub(crate) slots: Box<[Slot]>,
    /// Exchanges under way: one, or none.
    open: AtomicUsize,
    requests: AtomicU64,
    admitted: AtomicBool,
}

/// Drives a client's connection until it is over or to be ended; then gives the leg back.
struct Driving {
    http: Option<http1::Connection<TokioIo<Leg>, Forwarding>>,
    client: Arc<Client>,
    retired: bool,
}

/// Accepts connections until it is dropped.
pub(crate) async fn accept(listener: &TcpListener, run: &Arc<Run>, tasks: &mut JoinSet<()>) {
    let mut conns = 0;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Finished tasks are let go as they finish; a panic in one is the run's.
            Some(ended) = tasks.join_next() => match ended.map_err(JoinError::try_into_panic) {
                Err(Ok(panic)) => resume_unwind(panic),
                Ok(()) | Err(Err(_)) => continue,
            },
        };
        match accepted {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                tasks.spawn(serve(Box::new(stream), peer.ip().to_string(), ConnId(conns), Arc::clone(run)));
                conns += 1;
            }
            Err(error) => wait_for_better_times(run, &error).await,
        }
    }
}

/// Too many open files, most likely: those that are open must end first.
async fn wait_for_better_times(run: &Run, error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    run.clock().after(Duration::from_millis(20)).await;
}

/// Serves one client's connection to its end.
pub(crate) async fn serve(wire: Box<dyn Wire>, address: String, id: ConnId, run: Arc<Run>) {
    let client = Arc::new(Client::new(id, &run));
    let leg = Leg::new(wire, Arc::clone(&client.link));
    if run.is_transparent() {
        drive(leg, &client).await;
        return;
    }
    run.connect(&client);
    run.feed(Event::Connect { conn: id, client: address });
    match client.admission().await {
        Some(cut) => ending::carry_out(leg, cut).await,
        None => drive(leg, &client).await,
    }
    run.disconnect(id);
    run.feed(Event::Disconnect { conn: id, ending: client.link.gone().unwrap_or(Ending::Fin) });
}

async fn drive(leg: Leg, client: &Arc<Client>) {
    let http = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .half_close(false)
        .header_read_timeout(None)
        .max_headers(MAX_HEADERS)
        .writev(true)
        .serve_connection(TokioIo::new(leg), Forwarding::new(Arc::clone(client)));
    let (leg, cut) = Driving { http: Some(http), client: Arc::clone(client), retired: false }.await;
    let reset = client.link.gone() == Some(Ending::Reset);
    for server in client.take_kept().filter(|_| reset) {
        server.link.cut(Cut::at_once(Ending::Reset));
    }
    match cut {
        Some(cut) => ending::carry_out(leg, cut).await,
        None => ending::close(leg).await,
    }
}

/// hyper answers what is no HTTP by itself, and that answer cannot carry the marker: the journal says whose it is.
fn note(client: &Client, error: &hyper::Error) {
    let conn = client.id;
    if !error.is_parse() {
        tracing::debug!(%error, conn = conn.0, "a client's connection has ended");
        return;
    }
    tracing::warn!(%error, conn = conn.0, "a client sent what is no HTTP, and was told so");
    let run = client.link.run();
    if !run.is_transparent() {
        run.feed(Event::Refused { conn, method: None, why: format!("{}{error}", told(error)) });
    }
}

/// What hyper tells a client before it closes; one that begins with HTTP/2 is told nothing.
fn told(error: &hyper::Error) -> &'static str {
    if error.is_parse_version_h2() {
        "closed unanswered: "
    } else if !error.is_parse_too_large() {
        "400, "
    } else if error.to_string() == "URI too long" {
        // hyper tells the two apart in words only.
        "414, "
    } else {
        "431, "
    }
}

// === Client ===

impl Client {
    fn new(id: ConnId, run: &Arc<Run>) -> Self {
        Self {
            id,
            link: Link::new(Arc::clone(run)),
            slots: run.upstreams.iter().map(|_| Slot::default()).collect(),
            open: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            admitted: AtomicBool::new(false),
        }
    }

    pub(crate) fn admit(&self) {
        self.admitted.store(true, Ordering::Relaxed);
        self.link.wake();
    }

    /// Ends the connection from outside, while no exchange is open.
    pub(crate) fn cut(&self, ending: Ending) {
        self.link.cut(Cut { settle: Some(Duration::ZERO), ..Cut::after_all(ending) });
    }

    /// Waits until the connection may be read, or is to be ended unread.
    async fn admission(&self) -> Option<Cut> {
        poll_fn(|cx| {
            self.link.watch(cx.waker());
            if let Some(cut) = self.link.take_cut() {
                return Poll::Ready(Some(cut));
            }
            if self.admitted.load(Ordering::Relaxed) { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Begins an exchange. Returns whether it is not the first.
    pub(crate) fn begin(&self) -> bool {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed) > 0
    }

    /// The exchange is over for this client.
    pub(crate) fn end(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }
}

// === Driving ===

impl Driving {
    /// The server closed the connection that belongs to this one: an idle client shall see the same.
    fn retire(&mut self) -> bool {
        let Some(ending) = self.client.link.retired().filter(|_| !self.retired && self.client.is_idle()) else {
            return false;
        };
        self.retired = true;
        if ending == Ending::Reset {
            self.client.link.cut(Cut::after_all(Ending::Reset));
        } else if let Some(http) = &mut self.http {
            Pin::new(http).graceful_shutdown();
        }
        true
    }

    fn give_back(&mut self) -> Leg {
        self.http.take().expect("polled only while driving").into_parts().io.into_inner()
    }
}

impl Future for Driving {
    type Output = (Leg, Option<Cut>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.client.link.watch(cx.waker());
        loop {
            let http = self.http.as_mut().expect("polled only while driving");
            if let Poll::Ready(end) = Pin::new(http).poll(cx) {
                if let Err(error) = end {
                    note(&self.client, &error);
                }
                let cut = self.client.link.cut_due();
                self.client.link.over();
                return Poll::Ready((self.give_back(), cut));
            }
            if let Some(cut) = self.client.link.cut_due() {
                return Poll::Ready((self.give_back(), Some(cut)));
            }
            if !self.retire() {
                return Poll::Pending;
            }
        }
    }
}
