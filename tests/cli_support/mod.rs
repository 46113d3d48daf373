//! The real binary with any words: its lines as they come, its signals, its end; and the simplest peers around it.
//!
//! The one rule: a test waits for a line or an end, never for a time; the bound only turns a hang into a failure.

use std::io::{BufRead as _, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use socket2::{Domain, Socket, Type};

use crate::common::body::Head;
use crate::common::peer::Peer;

/// After this a hang is a failure. No test comes near it.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// A running `mishap`.
#[derive(Debug)]
pub(crate) struct Mishap {
    child: Child,
    out: Lines,
    err: Lines,
}

/// What a `mishap` left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A stream of lines that is read in the background.
#[derive(Debug)]
struct Lines {
    coming: Receiver<String>,
    seen: String,
}

/// The path of the binary under test.
pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_mishap")
}

// === Mishap ===

impl Mishap {
    /// Starts it with these words.
    pub(crate) fn start<W: AsRef<str>>(words: &[W]) -> Self {
        let mut command = Command::new(binary());
        command.args(words.iter().map(AsRef::as_ref)).env_remove("RUST_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built");
        let out = Lines::of(child.stdout.take().expect("it is piped"));
        let err = Lines::of(child.stderr.take().expect("it is piped"));
        Self { child, out, err }
    }

    /// Runs it to its end.
    pub(crate) fn run<W: AsRef<str>>(words: &[W]) -> Ended {
        Self::start(words).ended()
    }

    /// The next line on stdout.
    pub(crate) fn line(&mut self) -> String {
        self.out.next().unwrap_or_else(|| panic!("stdout ended; stderr: {}", self.err.rest()))
    }

    /// The next line on stderr that begins with this text.
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.line_with(text, |line| line.starts_with(text))
    }

    /// The next line on stderr, of the log perhaps, that holds this text.
    pub(crate) fn logs(&mut self, text: &str) -> String {
        self.line_with(text, |line| line.contains(text))
    }

    fn line_with(&mut self, text: &str, fits: impl Fn(&str) -> bool) -> String {
        loop {
            match self.err.next() {
                Some(line) if fits(&line) => return line,
                Some(_) => {}
                None => panic!("stderr ended without {text:?}: {}", self.err.seen),
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends what its command reads.
    pub(crate) fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is still there");
    }

    /// Waits for its end and that of everything that holds its stdout and stderr.
    pub(crate) fn ended(mut self) -> Ended {
        let (stdout, stderr) = (self.out.rest(), self.err.rest());
        let status = self.child.wait().expect("it can be waited for");
        Ended { code: status.code().expect("it was not ended by a signal"), stdout, stderr }
    }
}

impl Drop for Mishap {
    fn drop(&mut self) {
        // After `ended` this finds it gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The last line on stderr.
    pub(crate) fn last(&self) -> &str {
        self.stderr.lines().last().unwrap_or_default()
    }
}

// === Lines ===

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (sender, coming) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
            lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| sender.send(line))
        });
        Self { coming, seen: String::new() }
    }

    fn next(&mut self) -> Option<String> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.coming.recv_timeout(BOUND) {
            Ok(line) => {
                self.seen += &line;
                self.seen.push('\n');
                Some(line)
            }
            Err(Disconnected) => None,
            Err(Timeout) => panic!("no line and no end within {BOUND:?}, after: {}", self.seen),
        }
    }

    fn rest(&mut self) -> String {
        while self.next().is_some() {}
        self.seen.clone()
    }
}

// === Peers ===

/// A server on loopback that answers every request with this JSON, until the test ends.
pub(crate) fn answering(json: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(Peer::over(stream), json));
        }
    });
    address
}

fn answer(mut peer: Peer, json: &str) {
    peer.whole_request();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    peer.send(format!("{head}content-length: {}\r\n\r\n{json}", json.len()));
    peer.leave();
}

/// A port that refuses connections while the socket lives: it is bound, so nobody gets it, and does not listen.
pub(crate) fn refusing() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(&any.into()).expect("loopback has a free port");
    let address = socket.local_addr().expect("it is bound").as_socket().expect("it is an IP address");
    (socket, address)
}

/// Connects to the authority of a URL that mishap printed.
#[track_caller]
pub(crate) fn connect(url: &str) -> Peer {
    let authority = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    Peer::connect(authority.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{url:?} is no URL")))
}

/// The head of a POST of so many bytes of JSON.
pub(crate) fn post_head(length: usize) -> String {
    let accept = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
    format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{accept}\r\ncontent-length: {length}\r\n\r\n")
}

/// Posts this JSON and reads the answer: its head, and its body as text.
#[track_caller]
pub(crate) fn post(url: &str, json: &str) -> (Head, String) {
    let mut peer = connect(url);
    peer.send(post_head(json.len()) + json);
    let (head, body) = peer.whole_answer();
    (head, String::from_utf8(body).expect("the answer is text"))
}
