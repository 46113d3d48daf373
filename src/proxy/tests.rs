//! The whole rim over in-memory pipes with time paused: what depends on time, without waiting for it.

mod leaving;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc;

use super::headers::{HostPolicy, Hosts};
use super::run::Run;
use super::timer::Clock;
use super::wire::Wire;
use super::{Records, Upstream, accept};
use crate::engine::condition::{Leg, Time};
use crate::engine::engine::{Engine, Setup};
use crate::engine::event::{ConnId, Ending, Moment};
use crate::engine::fault::Fault;
use crate::engine::fault::cut::{Cut, OtherLeg, Place};
use crate::engine::fault::delay::Delay;
use crate::engine::record::Entry;
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Glob, Selector};
use crate::engine::trigger::{Scope, Trigger};

const PIPE: usize = 1 << 16;

/// A proxy between pipes.
struct Rim {
    run: Arc<Run>,
    servers: mpsc::UnboundedReceiver<DuplexStream>,
    clients: u64,
}

impl Rim {
    fn new(setup: Setup) -> Self {
        Self::with(setup, Box::new(|_| {}))
    }

    /// Hands out what is recorded.
    fn recorded(setup: Setup) -> (Self, mpsc::UnboundedReceiver<Entry>) {
        let (sender, entries) = mpsc::unbounded_channel();
        let record = move |entry| drop(sender.send(entry));
        (Self::with(Setup { record: true, ..setup }, Box::new(record)), entries)
    }

    fn with(setup: Setup, records: Box<dyn Records>) -> Self {
        let (dialled, servers) = mpsc::unbounded_channel();
        let dial = Box::new(move |_: Upstream| -> super::connection::Dialing {
            let (ours, theirs) = duplex(PIPE);
            dialled.send(theirs).unwrap();
            Box::pin(async { Ok(Box::new(ours) as Box<dyn Wire>) })
        });
        let upstream = vec!["http://127.0.0.1:1/mcp".parse().unwrap()];
        let hosts = Hosts::new(HostPolicy::Map, SocketAddr::from((Ipv4Addr::LOCALHOST, 2)), Vec::new());
        let run = Run::new(Engine::new(setup), records, Clock::tokio(), upstream, dial, hosts);
        let timed = Arc::clone(&run);
        tokio::spawn(async move { timed.keep_time().await });
        Self { run, servers, clients: 0 }
    }

    /// Connects a client that has sent this.
    async fn client(&mut self, request: &str) -> DuplexStream {
        let (mut ours, theirs) = duplex(PIPE);
        let id = ConnId(self.clients);
        self.clients += 1;
        tokio::spawn(accept::serve(Box::new(theirs), "client".to_owned(), id, Arc::clone(&self.run)));
        ours.write_all(request.as_bytes()).await.unwrap();
        ours
    }

    async fn server(&mut self) -> DuplexStream {
        self.servers.recv().await.unwrap()
    }

    fn now(&self) -> Duration {
        self.run.clock().now().0
    }
}

/// Reads exactly this.
async fn sees(wire: &mut DuplexStream, expected: &str) {
    let mut seen = vec![0; expected.len()];
    wire.read_exact(&mut seen).await.unwrap();
    assert_eq!(String::from_utf8(seen).unwrap(), expected);
}

// A proxy that waits for ever for a silent server's leave hangs a client that sends unasked.
#[tokio::test(start_paused = true)]
async fn a_server_that_gives_no_leave_is_sent_the_body_after_one_second() {
    let mut rim = Rim::new(Setup::default());
    let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    let mut client = rim.client(head).await;
    let mut server = rim.server().await;
    sees(&mut server, head).await;
    assert_eq!(rim.now(), Duration::ZERO);
    client.write_all(b"body").await.unwrap();
    sees(&mut server, "body").await;
    assert_eq!(rim.now(), Duration::from_secs(1));
}

// A proxy that closes at once turns its FIN into a RST; one that waits for ever leaks the connection.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_close_is_waited_for_half_a_second() {
    let mut rim = Rim::new(Setup::default());
    let mut client = rim.client("GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n").await;
    let server = rim.server().await;
    drop(server);
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(rim.now(), Duration::ZERO);
    while client.write_all(b"more").await.is_ok() {
        tokio::time::advance(Duration::from_millis(1)).await;
        // Whoever waited for this moment has its turn before the next write.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        assert!(rim.now() < Duration::from_secs(1));
    }
    assert_eq!(rim.now(), Duration::from_millis(500));
}

const MINUTE: Duration = Duration::from_secs(60);

/// One rule, for every point of this kind.
fn ruled(at: At, fault: Fault) -> Setup {
    let mut selector = Selector::any(at);
    if at == At::Block {
        selector.block = Some(Glob { any: vec!["*".to_owned()], none: Vec::new() });
    }
    let rule = Rule {
        name: "test/rule".to_owned(),
        selector,
        trigger: Trigger::default(),
        scope: Scope::Session,
        from: None,
        until: None,
        optional: false,
        fault,
    };
    Setup { rules: vec![rule], ..Setup::default() }
}

/// Delays every point of this kind by a minute.
fn delayed(at: At) -> Setup {
    ruled(at, Fault::Delay(Delay { time: Time::Fixed(MINUTE), overtake: false }))
}

/// Cuts the client's leg after the head.
fn cut(ending: Ending, other_leg: OtherLeg, lasting: Option<Duration>) -> Setup {
    let cut = Cut {
        ending,
        place: Place::After,
        leg: Leg::Client,
        other_leg,
        lasting,
        when: None,
        limit: MINUTE,
        settle: Duration::from_millis(20),
    };
    ruled(At::Head, Fault::Cut(cut))
}

const GET: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept: text/event-stream\r\n\r\n";
const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// When each part of one exchange came through: request, head, two events that arrive half a minute apart, end.
async fn times(setup: Setup) -> [Duration; 5] {
    let mut rim = Rim::new(setup);
    let mut client = rim.client(GET).await;
    let mut server = rim.server().await;
    sees(&mut server, GET).await;
    let request = rim.now();
    server.write_all(format!("{SSE}9\r\ndata: 1\n\n\r\n").as_bytes()).await.unwrap();
    let clock = rim.run.clock().clone();
    tokio::spawn(async move {
        clock.until(Moment(request + MINUTE / 2)).await;
        server.write_all(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    let mut times = [request; 5];
    let mut got = Vec::new();
    for (n, part) in [SSE, "data: 1\n\n", "data: 2\n\n", "\r\n0\r\n\r\n"].into_iter().enumerate() {
        while !String::from_utf8_lossy(&got).contains(part) {
            assert_ne!(client.read_buf(&mut got).await.unwrap(), 0);
        }
        times[n + 1] = rim.now();
    }
    times
}

// A delay that is a sleep in the loop, or counted from the last departure, shows other moments.
#[tokio::test(start_paused = true)]
async fn a_delay_is_counted_from_arrival_at_every_point() {
    let half = MINUTE / 2;
    let zero = Duration::ZERO;
    for (at, expected) in [
        (At::Request, [MINUTE, MINUTE, MINUTE, MINUTE + half, MINUTE + half]),
        (At::Head, [zero, MINUTE, MINUTE, MINUTE, MINUTE]),
        (At::Block, [zero, zero, MINUTE, MINUTE + half, MINUTE + half]),
        (At::End, [zero, zero, zero, half, MINUTE + half]),
        (At::Leave, [zero, zero, zero, half, half]),
    ] {
        assert_eq!(times(delayed(at)).await, expected, "{at:?}");
    }
}

// The client is gone at once; the server learns it a minute later, and may write until then.
#[tokio::test(start_paused = true)]
async fn a_delayed_leave_reaches_the_server_when_it_is_due() {
    let mut rim = Rim::new(delayed(At::Leave));
    let client = rim.client(GET).await;
    let mut server = rim.server().await;
    sees(&mut server, GET).await;
    drop(client);
    server.write_all(SSE.as_bytes()).await.unwrap();
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(rim.now(), MINUTE);
}

// A leg that is kept for ever leaks; one that is closed at once is no zombie.
#[tokio::test(start_paused = true)]
async fn the_other_leg_lives_on_for_as_long_as_was_said() {
    for other in [OtherLeg::Drain, OtherLeg::Keep] {
        let mut rim = Rim::new(cut(Ending::Eof, other, Some(MINUTE)));
        let mut client = rim.client(GET).await;
        let mut server = rim.server().await;
        sees(&mut server, GET).await;
        server.write_all(format!("{SSE}9\r\ndata: 1\n\n\r\n").as_bytes()).await.unwrap();
        sees(&mut client, &format!("{SSE}0\r\n\r\n")).await;
        assert_eq!(rim.now(), Duration::ZERO);
        assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(rim.now(), MINUTE, "{other:?}");
    }
}

// A pipe does not tell what its reader has read: a reset that is ours gives it the time that was said.
#[tokio::test(start_paused = true)]
async fn a_reset_of_ours_gives_a_reader_time() {
    let mut rim = Rim::new(cut(Ending::Reset, OtherLeg::Close, None));
    let mut client = rim.client(GET).await;
    let mut server = rim.server().await;
    sees(&mut server, GET).await;
    server.write_all(SSE.as_bytes()).await.unwrap();
    sees(&mut client, SSE).await;
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(rim.now(), Duration::from_millis(20));
}
