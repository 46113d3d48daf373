//! A proxy in a thread of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use mishap::engine::engine::{Engine, Setup};
use mishap::engine::record::{Entry, PointEntry, Summary};
use mishap::engine::rule::Rule;
use mishap::profile::{self, Use};
use mishap::proxy::{Clock, Config, HostPolicy, Proxy, Stop};
use tokio::sync::oneshot;

use crate::common::peer::Peer;
use crate::common::scratch::Scratch;
use crate::common::upstream::Upstream;
use crate::common::wire::{PATIENCE, Wire};

/// The head of a stream of events.
pub(crate) const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A running proxy.
#[derive(Debug)]
pub(crate) struct Rim {
    address: SocketAddr,
    stop: Option<oneshot::Sender<Stop>>,
    thread: Option<JoinHandle<Summary>>,
}

/// Returns what a proxy in front of `upstream` is made of.
pub(crate) fn config(upstream: SocketAddr) -> Config {
    Config {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        upstream: format!("http://{upstream}/mcp").parse().unwrap(),
        others: Vec::new(),
        engine: Engine::new(Setup::default()),
        records: Box::new(|_| {}),
        host: HostPolicy::Map,
        public_hosts: Vec::new(),
        clock: Clock::system().unwrap(),
    }
}

/// Reads rules as a profile has them.
pub(crate) fn rules(text: &str) -> Vec<Rule> {
    let scratch = Scratch::new();
    let file = scratch.file("test.toml", &format!("version = 1\nsummary = \"a test\"\n{text}"));
    profile::load(&[Use::plain(&file)]).unwrap_or_else(|problems| panic!("{problems:?}")).rules
}

/// Waits for the record of a point whose key ends so.
pub(crate) fn point(entries: &Receiver<Entry>, key: &str) -> PointEntry {
    loop {
        let entry = entries.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{key} is never recorded"));
        match entry {
            Entry::Point(point) if point.key.ends_with(key) => return point,
            _ => {}
        }
    }
}

impl Rim {
    /// Starts a proxy with one rule: this, after `[[rule]]` and a name.
    pub(crate) fn ruled(upstream: &Upstream, rule: &str) -> Self {
        let rules = rules(&format!("[[rule]]\nname = \"rule\"\n{rule}"));
        let engine = Engine::new(Setup { rules, ..Setup::default() });
        Self::start(Config { engine, ..config(upstream.address()) })
    }

    /// Starts a proxy with these rules, and hands out what is recorded.
    pub(crate) fn recorded(upstream: &Upstream, text: &str) -> (Self, Receiver<Entry>) {
        let (sender, entries) = std::sync::mpsc::channel();
        let engine = Engine::new(Setup { rules: rules(text), record: true, ..Setup::default() });
        let records = Box::new(move |entry| drop(sender.send(entry)));
        (Self::start(Config { engine, records, ..config(upstream.address()) }), entries)
    }

    /// The two ways in which everything just passes: past the engine, and through it.
    pub(crate) fn both(upstream: &Upstream) -> [Self; 2] {
        Self::both_before(upstream.address())
    }

    /// The same, in front of whatever is there.
    pub(crate) fn both_before(address: SocketAddr) -> [Self; 2] {
        [false, true].map(|record| {
            let engine = Engine::new(Setup { record, ..Setup::default() });
            Self::start(Config { engine, ..config(address) })
        })
    }

    /// Starts a proxy without any rule.
    pub(crate) fn transparent(upstream: &Upstream) -> Self {
        Self::start(config(upstream.address()))
    }

    /// Starts a proxy.
    pub(crate) fn start(config: Config) -> Self {
        let (bound, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let proxy = Proxy::bind(config).await.unwrap();
                bound.send(proxy.local_addr()).unwrap();
                proxy.serve(async { stopped.await.unwrap_or(Stop::Asked) }).await
            })
        });
        Self { address: address.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    /// Waits until the proxy has ended without being told to. Returns how.
    pub(crate) fn ends_by_itself(mut self) -> std::thread::Result<Summary> {
        let mut stop = self.stop.take().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, stop.closed()).await });
        assert!(ended.is_ok(), "the proxy goes on");
        self.thread.take().unwrap().join()
    }

    /// Connects a client.
    pub(crate) fn client(&self) -> Peer {
        Peer::connect(self.address)
    }

    /// Connects a client of which every byte is of interest.
    pub(crate) fn wire(&self) -> Wire {
        Wire::connect(self.address)
    }

    /// Connects a client as bare as can be.
    pub(crate) fn socket(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Writes a request's bytes, with `@` for the proxy's authority.
    pub(crate) fn request(&self, text: &str) -> Vec<u8> {
        text.replace('@', &self.address.to_string()).into_bytes()
    }

    /// Connects a client that has sent a GET.
    pub(crate) fn getting(&self) -> Peer {
        let mut client = self.client();
        client.send(self.request("GET /mcp HTTP/1.1\r\nHost: @\r\nAccept: text/event-stream\r\n\r\n"));
        client
    }

    /// Opens a stream on both legs. Returns its client and its server.
    pub(crate) fn streaming(&self, upstream: &Upstream) -> (Peer, Peer) {
        let mut client = self.getting();
        let mut server = upstream.next();
        server.request();
        server.send(SSE);
        client.answer();
        (client, server)
    }
}

impl Drop for Rim {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the proxy panicked");
        }
    }
}
