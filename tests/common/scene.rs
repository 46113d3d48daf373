//! An MCP session through the real binary, its client and its server both played by the test.
//!
//! Every scene has a journal, with a profile or without, so that the control differs in the profile alone. Each request
//! goes out on a connection of its own; so each exchange is two ends that the test holds.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;

use mishap::engine::record::PointEntry;
use mishap::journal::Line;

use super::body::Head;
use super::journal::{Journal, Live, crossed, fired};
use super::messages::{ACCEPTED, INITIALIZED, SSE_HEAD, answer, call, initialize, json_head, request};
use super::mishap::Mishap;
use super::peer::Peer;
use super::scratch::Scratch;
use super::upstream::Upstream;

/// The name of the profile that [`Scene::with`] writes: rule `x` of it is `test/x`.
const PROFILE: &str = "test";

/// A running proxy with one session open.
#[derive(Debug)]
pub(crate) struct Scene {
    /// The server of the scene.
    pub(crate) upstream: Upstream,
    mishap: Mishap,
    address: SocketAddr,
    journal: RefCell<Live>,
    session: Cell<u32>,
    /// Requests that have reached the server, with their heads and bodies.
    waiting: RefCell<Vec<(Head, Vec<u8>, Peer)>>,
    _scratch: Scratch,
}

/// How a scene ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit status.
    pub(crate) status: i32,
    /// What was written to stderr.
    pub(crate) stderr: String,
    /// The whole journal.
    pub(crate) journal: Journal,
}

impl Scene {
    /// With a profile that has these rules, and a session open.
    #[track_caller]
    pub(crate) fn with(rules: &str) -> Self {
        Self::run(Some(rules), &[])
    }

    /// The same without a profile.
    #[track_caller]
    pub(crate) fn without() -> Self {
        Self::run(None, &[])
    }

    /// With a profile or without, and these arguments besides.
    #[track_caller]
    pub(crate) fn run(rules: Option<&str>, more: &[&str]) -> Self {
        let (scratch, upstream) = (Scratch::new(), Upstream::listen());
        let path = scratch.path("journal");
        let journal = RefCell::new(Live::at(&path));
        let mut args = vec!["--journal".to_owned(), path.display().to_string()];
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        if let Some(rules) = rules {
            let text = format!("version = 1\nsummary = \"a test's own\"\n{rules}");
            args.extend(["-p".to_owned(), scratch.file(&format!("{PROFILE}.toml"), &text)]);
        }
        let (mishap, address) = Mishap::in_front_of(upstream.address(), &args);
        let (session, waiting) = (Cell::new(0), RefCell::default());
        let scene = Self { upstream, mishap, address, journal, session, waiting, _scratch: scratch };
        scene.open_session();
        scene
    }

    /// Ends the run and collects its verdict and journal.
    #[track_caller]
    pub(crate) fn finish(self) -> Ended {
        let ended = self.mishap.finish();
        Ended { status: ended.code, stderr: ended.stderr, journal: self.journal.into_inner().whole() }
    }
}

// === What the client does ===

impl Scene {
    /// Opens a session; what follows belongs to it.
    #[track_caller]
    pub(crate) fn open_session(&self) {
        let number = self.session.take() + 1;
        let (mut client, mut server) = self.exchange(&initialize());
        server.send(json_head(INITIALIZED.len(), &format!("Mcp-Session-Id: session-{number}\r\n")) + INITIALIZED);
        client.whole_answer();
        self.session.set(number);
        let message = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.accepted(self.post(message), message);
    }

    /// Goes on with the session of this number.
    pub(crate) fn in_session(&self, number: u32) {
        self.session.set(number);
    }

    /// A client connection on which nothing was sent.
    #[track_caller]
    pub(crate) fn connect(&self) -> Peer {
        Peer::connect(self.address)
    }

    /// POSTs a message and reads nothing yet.
    #[track_caller]
    pub(crate) fn post(&self, message: &str) -> Peer {
        let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", message.len());
        self.send("POST", &fields, message)
    }

    /// The same with a body in one chunk.
    #[track_caller]
    pub(crate) fn post_chunked(&self, message: &str) -> Peer {
        let mut client = self.send("POST", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "");
        client.send_chunk(message);
        client.send_last_chunk();
        client
    }

    /// Opens the standalone stream and reads nothing yet.
    #[track_caller]
    pub(crate) fn get(&self) -> Peer {
        self.send("GET", "", "")
    }

    /// Resumes a stream after an event and reads nothing yet.
    #[track_caller]
    pub(crate) fn resume(&self, last_event_id: &str) -> Peer {
        self.send("GET", &format!("Last-Event-ID: {last_event_id}\r\n"), "")
    }

    #[track_caller]
    fn send(&self, method: &str, fields: &str, body: &str) -> Peer {
        let mut client = self.connect();
        let session = match self.session.get() {
            0 => String::new(),
            number => format!("Mcp-Session-Id: session-{number}\r\nMCP-Protocol-Version: 2025-11-25\r\n"),
        };
        let accept = "Accept: application/json, text/event-stream\r\n";
        let host = self.address;
        client.send(format!("{method} /mcp HTTP/1.1\r\nHost: {host}\r\n{accept}{session}{fields}\r\n{body}"));
        client
    }
}

// === What both do ===

impl Scene {
    /// A POST that has reached the server: both its ends.
    #[track_caller]
    pub(crate) fn exchange(&self, message: &str) -> (Peer, Peer) {
        let client = self.post(message);
        (client, self.served(message))
    }

    /// A tools/call with this id and the tool `tool-ID`, whose event stream has begun on both ends.
    #[track_caller]
    pub(crate) fn call(&self, id: u32) -> (Peer, Peer) {
        self.streaming(self.post(&call(id)), &call(id))
    }

    /// The standalone stream, begun on both ends.
    #[track_caller]
    pub(crate) fn open_get(&self) -> (Peer, Peer) {
        self.streaming(self.get(), "")
    }

    /// Lets the server answer what this client sent with an event stream.
    #[track_caller]
    pub(crate) fn streaming(&self, mut client: Peer, message: &str) -> (Peer, Peer) {
        let mut server = self.served(message);
        server.send(SSE_HEAD);
        assert_eq!(client.answer().status(), 200);
        (client, server)
    }

    /// The server's end of the request that carries this message; a GET carries none. What reaches the server before it
    /// waits: two requests that leave together arrive in the order of their connections, which is nobody's.
    #[track_caller]
    pub(crate) fn served(&self, message: &str) -> Peer {
        self.served_with(message).1
    }

    /// The same, and the head of the request.
    #[track_caller]
    pub(crate) fn served_with(&self, message: &str) -> (Head, Peer) {
        let mut waiting = self.waiting.borrow_mut();
        loop {
            if let Some(index) = waiting.iter().position(|(_, body, _)| body == message.as_bytes()) {
                let (head, _, server) = waiting.remove(index);
                return (head, server);
            }
            let mut server = self.upstream.next();
            let (head, body) = server.whole_request();
            waiting.push((head, body, server));
        }
    }

    /// Whether no request has reached the server that the test has not asked for.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.borrow().is_empty() && self.upstream.is_idle()
    }

    /// Deletes the session; the server answers with this status.
    #[track_caller]
    pub(crate) fn delete(&self, status: u16) {
        let mut client = self.send("DELETE", "", "");
        self.served("").send(format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(client.whole_answer().0.status(), status);
    }

    /// Lets the server accept a notification or an answer that this client sent.
    #[track_caller]
    pub(crate) fn accepted(&self, mut client: Peer, message: &str) {
        self.served(message).send(ACCEPTED);
        assert_eq!(client.whole_answer().0.status(), 202);
    }

    /// A ping that is answered: what was sent before it on other connections has been taken up when it comes back.
    #[track_caller]
    pub(crate) fn ping(&self, id: u32) {
        let (client, server) = self.exchange(&request(id, "ping", "{}"));
        self.answered(client, server, id);
    }

    /// Lets the server answer this request in JSON, and the client get the answer.
    #[track_caller]
    pub(crate) fn answered(&self, mut client: Peer, mut server: Peer, id: u32) {
        let body = answer(id);
        server.send(json_head(body.len(), "") + &body);
        assert_eq!(client.whole_answer().1, body.as_bytes());
    }
}

// === What the proxy says ===

impl Scene {
    /// Waits until this rule has fired.
    #[track_caller]
    pub(crate) fn fired(&self, rule: &str) {
        self.journal.borrow_mut().wait(&format!("rule {rule} to fire"), fired(&format!("{PROFILE}/{rule}")));
    }

    /// Waits until the point with this key (`s1/post:1/block#1`) is done with.
    #[track_caller]
    pub(crate) fn crossed(&self, key: &str) -> PointEntry {
        self.journal.borrow_mut().wait(key, crossed(key))
    }

    /// Waits for a line of which `pick` makes something.
    #[track_caller]
    pub(crate) fn journalled<T>(&self, what: &str, pick: impl Fn(&Line) -> Option<T>) -> T {
        self.journal.borrow_mut().wait(what, pick)
    }
}
