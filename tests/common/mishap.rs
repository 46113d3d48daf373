//! The real binary with any words: its lines as they come, its signals, its end.
//!
//! The one rule: a test waits for a line or an end, never for a time; the bound only turns a hang into a failure.

use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

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
    /// Dropped when the reading is to begin.
    unread: Option<Sender<()>>,
}

/// The path of the binary under test.
pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_mishap")
}

// === Mishap ===

impl Mishap {
    /// Starts it with these words.
    pub(crate) fn start<W: AsRef<str>>(words: &[W]) -> Self {
        let mut mishap = Self::start_unread(words);
        mishap.err.unread = None;
        mishap
    }

    /// The same, its stderr unread until something is asked of it.
    pub(crate) fn start_unread<W: AsRef<str>>(words: &[W]) -> Self {
        let mut command = Command::new(binary());
        command.args(words.iter().map(AsRef::as_ref));
        Self::spawn_unread(command, Stdio::piped())
    }

    /// Starts it as this command, with this stdin.
    pub(crate) fn spawn(command: Command, stdin: Stdio) -> Self {
        let mut mishap = Self::spawn_unread(command, stdin);
        mishap.err.unread = None;
        mishap
    }

    fn spawn_unread(mut command: Command, stdin: Stdio) -> Self {
        command.env_remove("RUST_LOG").env_remove("GITHUB_ACTIONS");
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built");
        let mut out = Lines::of(child.stdout.take().expect("it is piped"));
        out.unread = None;
        let err = Lines::of(child.stderr.take().expect("it is piped"));
        Self { child, out, err }
    }

    /// Starts `mishap run` in front of a server, on a free port, with more words; returns also where it listens.
    #[track_caller]
    pub(crate) fn in_front_of(upstream: SocketAddr, more: &[String]) -> (Self, SocketAddr) {
        let url = format!("http://{upstream}");
        let words = ["run", "-u", &url, "-l", "127.0.0.1:0"].into_iter().chain(more.iter().map(String::as_str));
        let mut mishap = Self::start(&words.collect::<Vec<_>>());
        let printed = mishap.line();
        let authority = printed.strip_prefix("http://").and_then(|rest| rest.split('/').next());
        let address = authority.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{printed:?} is no URL"));
        (mishap, address)
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

    /// The next lines on stderr that begin with these texts, whichever comes first: a server's lines come by a thread of
    /// their own.
    pub(crate) fn says_both(&mut self, texts: [&str; 2]) -> [String; 2] {
        let either = |line: &str| texts.iter().any(|text| line.starts_with(text));
        let one = self.line_with(texts[0], either);
        if one.starts_with(texts[0]) { [one, self.says(texts[1])] } else { [self.says(texts[0]), one] }
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

    /// Tells a run in the foreground to finish, and waits for its verdict.
    pub(crate) fn finish(self) -> Ended {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Kills it, and waits for the end of everything that holds its stdout and stderr.
    pub(crate) fn killed(mut self) {
        // It may have been killed by other means.
        let _ = self.child.kill();
        self.out.rest();
        self.err.rest();
    }

    /// Waits for its end and that of everything that holds its stdout and stderr.
    pub(crate) fn ended(mut self) -> Ended {
        self.err.unread = None;
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
        let (unread, begun) = channel();
        std::thread::spawn(move || {
            let _ = begun.recv();
            let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
            lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| sender.send(line))
        });
        Self { coming, seen: String::new(), unread: Some(unread) }
    }

    fn next(&mut self) -> Option<String> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        self.unread = None;
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
