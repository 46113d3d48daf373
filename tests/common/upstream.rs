//! The scripted upstream: a listener whose connections are handed to the test, which then plays the server on them.
//!
//! It answers nothing by itself. A connection is handed over when its first byte has come, so the order is that of
//! requests, not of connects.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use super::peer::Peer;
use super::wire::PATIENCE;

/// A listener on a free loopback port.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: SocketAddr,
    connections: Receiver<TcpStream>,
    accepted: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    patience: Duration,
}

impl Upstream {
    /// Listens.
    pub(crate) fn listen() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (sender, connections) = mpsc::channel();
        let (accepted, stopped) = (Arc::default(), Arc::default());
        let (counter, stop) = (Arc::clone(&accepted), Arc::clone(&stopped));
        std::thread::spawn(move || accept(&listener, &sender, &counter, &stop));
        Self { address, connections, accepted, stopped, patience: PATIENCE }
    }

    /// Waits no longer than this for a request, and hands out ends that do not either.
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection on which something was sent; what was sent is still unread.
    #[track_caller]
    pub(crate) fn next(&self) -> Peer {
        let waited = self.connections.recv_timeout(self.patience);
        let stream = waited.unwrap_or_else(|_| panic!("waited {:?} for a request on a new connection", self.patience));
        Peer::over(stream).with_patience(self.patience)
    }

    /// Listens no more: who connects from now on is refused. What is connected stays so.
    pub(crate) fn refuse(&self) {
        self.stop();
        while TcpStream::connect(self.address).is_ok() {}
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }

    /// Whether no connection waits on which something was sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.connections.try_recv().is_err()
    }

    /// How many connections it has accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(listener: &TcpListener, ready: &Sender<TcpStream>, accepted: &AtomicUsize, stopped: &AtomicBool) {
    for stream in listener.incoming().map_while(Result::ok) {
        if stopped.load(Ordering::SeqCst) {
            return;
        }
        accepted.fetch_add(1, Ordering::SeqCst);
        let ready = ready.clone();
        std::thread::spawn(move || {
            if first_byte(&stream) {
                drop(ready.send(stream));
            }
        });
    }
}

/// Waits until something has come, or the connection is over.
fn first_byte(stream: &TcpStream) -> bool {
    loop {
        match stream.peek(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            peeked => return peeked.is_ok_and(|count| count > 0),
        }
    }
}
