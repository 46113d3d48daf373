//! `--serve`: the server as a child, from its start over its first answer to its end.
//!
//! The one rule: readiness is a fact. It is ready when it has answered HTTP, with whatever status; it is never given time.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, BufRead as _, BufReader, PipeReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::GRACE;
use crate::guard::{Guard, Membership, Process, Start, Who};
use crate::proxy::{Clock, Upstream};
use crate::report::words::span;

/// The ports that `{port}` is one of: below those that Linux (from 32768) and RFC 6335 (from 49152) give away.
const PORTS: Range<u16> = 16_384..32_768;
/// How soon a server that refused a connection is asked again.
const AGAIN: Duration = Duration::from_millis(20);
/// How much of its first answer is read, and how long that may go on: then whoever asked has seen enough.
const ANSWER: u64 = 64 << 10;
const WHOLE: Duration = Duration::from_secs(1);
/// How many of its last lines are quoted when it dies.
const QUOTED: usize = 5;
/// How long its output may stay open after its end, when something that left its process group still holds it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A server that was started here.
#[derive(Debug)]
pub(super) struct Server {
    process: Process,
    output: Output,
    clock: Clock,
}

/// What it wrote, passed on to stderr line by line by a thread: stderr may block, and the proxy must not.
#[derive(Debug)]
struct Output {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Ends when the output does; nothing is sent.
    open: watch::Receiver<()>,
}

/// Finds a port on loopback that nobody listens on.
///
/// Between here and the server's own bind nobody holds it. So it is none of those that the system gives to connections
/// and to port 0, of which a busy machine takes thousands in that time, and each process begins to look elsewhere.
pub(super) fn free_port() -> io::Result<u16> {
    let begin = RandomState::new().hash_one(std::process::id());
    let all = u64::from(PORTS.end - PORTS.start);
    let ports = (0..all).filter_map(|step| u16::try_from((begin % all + step) % all).ok()).map(|at| PORTS.start + at);
    let free = ports.into_iter().find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.ok_or_else(|| io::ErrorKind::AddrInUse.into())
}

impl Server {
    /// Starts it through a shell, its output going to our stderr.
    pub(super) async fn start(command: &str, guard: &Guard, clock: Clock) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let start = Start {
            who: Who::Server,
            words: ["sh", "-c", command].map(str::to_owned).into(),
            env: Vec::new(),
            // The pipe's other end goes with them, and so the pipe ends with the server.
            stdio: [File::open("/dev/null")?.into(), writer.try_clone()?.into(), writer.into()],
            membership: Membership::Own,
        };
        Ok(Self { process: guard.run(start).await?, output: Output::pass_on(reader)?, clock })
    }

    /// Waits until it answers HTTP. Returns what kept it from that.
    pub(super) async fn ready(&mut self, upstream: &Upstream, limit: Duration) -> Result<(), String> {
        let clock = self.clock.clone();
        let answer = tokio::select! {
            end = self.died() => Err(format!("{end} before it answered HTTP")),
            answer = answer(upstream, &clock) => Ok(answer),
            () = clock.after(limit) => {
                let limit = span(u64::try_from(limit.as_micros()).unwrap_or(u64::MAX));
                let said = self.output.said();
                Err(format!("--serve: no HTTP answer at {upstream} within {limit}; does the server listen there? ({said})"))
            }
        };
        hear_out(answer?, &clock).await;
        Ok(())
    }

    /// Waits until it ends by itself; returns how, with its last lines. Cancel safe.
    pub(super) async fn died(&mut self) -> String {
        let status = self.process.ended().await;
        self.process.signal(Signal::KILL);
        tokio::select! {
            () = self.output.finished() => {}
            () = self.clock.after(LAST_WORDS) => {}
        }
        let said = self.output.said();
        // It may have left a daemon behind, whose end nobody here would see.
        let daemon =
            if status.as_ref().is_ok_and(ExitStatus::success) { "it must stay in the foreground; " } else { "" };
        format!("--serve: the server {} ({daemon}{said})", status.map_or_else(|error| error.to_string(), how))
    }

    /// Stops the server, if there is one.
    pub(super) async fn stop_if_any(server: Option<Self>) {
        if let Some(server) = server {
            server.stop().await;
        }
    }

    /// Asks it to end, gives it and what it started time to do so, and ends what is left.
    pub(super) async fn stop(mut self) {
        self.process.signal(Signal::TERM);
        let ended = async {
            // An error means that there is nothing to wait for.
            let _ = self.process.ended().await;
            self.output.finished().await;
        };
        tokio::select! {
            () = ended => {}
            () = self.clock.after(GRACE) => {}
        }
    }
}

fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, signal) => format!("was ended by signal {}", signal.unwrap_or_default()),
    }
}

/// Asks until there is an answer; returns what is still to be read of it.
async fn answer(upstream: &Upstream, clock: &Clock) -> TcpStream {
    loop {
        if let Ok(answer) = ask(upstream).await {
            return answer;
        }
        clock.after(AGAIN).await;
    }
}

/// Reads an answer to its end, if it has one: whoever hangs up in the middle of it resets the connection, and a plain server
/// writes a traceback about that.
async fn hear_out(answer: TcpStream, clock: &Clock) {
    let (mut rest, mut nowhere) = (answer.take(ANSWER), tokio::io::sink());
    tokio::select! {
        // A server that resets has heard what it wanted, too.
        _ = tokio::io::copy(&mut rest, &mut nowhere) => {}
        () = clock.after(WHOLE) => {}
    }
}

/// Asks for `/` as JSON: any HTTP answer will do, and no MCP server opens an event stream for it.
async fn ask(upstream: &Upstream) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect((upstream.host(), upstream.port())).await?;
    let host = upstream.authority();
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut start = [0; 5];
    stream.read_exact(&mut start).await?;
    if &start == b"HTTP/" { Ok(stream) } else { Err(io::ErrorKind::InvalidData.into()) }
}

// === Output ===

impl Output {
    fn pass_on(reader: PipeReader) -> io::Result<Self> {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last);
        let (writing, open) = watch::channel(());
        std::thread::Builder::new().name("server-output".to_owned()).spawn(move || {
            for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                // A stderr that is gone is no reason to stop reading: the server would block on a full pipe.
                let _ = io::stderr().write_all(format!("server: {line}\n").as_bytes());
                keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), line);
            }
            drop(writing);
        })?;
        Ok(Self { last, open })
    }

    /// Its last lines, in one.
    fn said(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let said = Vec::from_iter(last.iter().map(String::as_str)).join(" | ");
        if said.is_empty() { "it said nothing".to_owned() } else { format!("it said: {said}") }
    }

    /// Waits until nothing more can come. Cancel safe.
    async fn finished(&mut self) {
        while self.open.changed().await.is_ok() {}
    }
}

fn keep(last: &mut VecDeque<String>, line: String) {
    if line.is_empty() {
        return;
    }
    if last.len() == QUOTED {
        // What went wrong stands above the stack that it came from.
        let telling = last.front().is_some_and(|first| first.contains("Error"));
        last.remove(usize::from(telling));
    }
    last.push_back(line);
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::Shutdown;

    use super::*;

    /// A plain server: it answers in one piece, ends its answer if it ever does, and sees how its client goes.
    fn plain(ends: bool) -> (Upstream, std::thread::JoinHandle<io::Result<usize>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
        let served = std::thread::spawn(move || {
            let (mut client, _) = listener.accept()?;
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte)?;
                asked.push(byte[0]);
            }
            client.write_all(b"HTTP/1.1 404 Not Found\r\n\r\nnothing here")?;
            if ends {
                client.shutdown(Shutdown::Write)?;
            }
            client.read(&mut [0])
        });
        (url.parse().expect("it is a URL"), served)
    }

    #[tokio::test]
    async fn a_server_that_is_asked_whether_it_is_ready_sees_its_client_go_in_peace() {
        let (upstream, served) = plain(true);
        let answer = ask(&upstream).await.expect("it answers");
        hear_out(answer, &Clock::tokio()).await;
        assert_eq!(served.join().expect("it ends").expect("no reset"), 0);
        let (upstream, served) = plain(false);
        drop(ask(&upstream).await.expect("it answers"));
        let reset = served.join().expect("it ends").expect_err("whoever goes in the middle of it resets");
        assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_not_heard_out() {
        let (upstream, served) = plain(false);
        let answer = ask(&upstream).await.expect("it answers");
        tokio::time::pause();
        hear_out(answer, &Clock::tokio()).await;
        assert_eq!(served.join().expect("it ends").expect("all that it said was read"), 0);
    }

    #[test]
    fn of_a_stack_the_line_with_the_error_is_kept_and_no_blank_one() {
        let mut last = VecDeque::new();
        for line in ["Error: no port", "", "  at a", "  at b", "  at c", "  at d", "  at e", "", "v22"] {
            keep(&mut last, line.to_owned());
        }
        assert_eq!(last, ["Error: no port", "  at c", "  at d", "  at e", "v22"]);
    }
}
