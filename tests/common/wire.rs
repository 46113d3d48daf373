//! One TCP connection under exact control: what is written, what has been read, how it closes.
//!
//! It knows nothing of HTTP. Writes go out as they are given, one `write` each; an end is told apart as FIN or RST.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::SockRef;

/// How long a read waits before the test fails. It bounds a broken run; no passing run comes near it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How the other side closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// With a FIN.
    Fin,
    /// With a RST.
    Reset,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
    patience: Duration,
}

impl Wire {
    /// Connects to `address`.
    #[track_caller]
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).expect("the listener accepts connections"))
    }

    /// Takes over an accepted connection.
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a TCP socket takes TCP_NODELAY");
        Self { stream, unread: Vec::new(), patience: PATIENCE }
    }

    /// Waits no longer than this for anything from now on: for checks that are meant to fail.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Writes all of it. Fails if the other side is gone.
    #[track_caller]
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.set_write_timeout(Some(self.patience)).expect("a timeout above zero is accepted");
        self.stream.write_all(bytes.as_ref()).expect("the other side takes what is sent");
    }

    /// Writes all of it from a thread of its own, for bodies larger than the socket buffers between here and there.
    /// Join the thread before closing: its copy of the socket keeps the connection open.
    pub(crate) fn send_beside(&self, bytes: Vec<u8>) -> JoinHandle<std::io::Result<()>> {
        let mut stream = self.stream.try_clone().expect("a socket can be cloned");
        std::thread::spawn(move || stream.write_all(&bytes))
    }

    /// Writes from a thread of its own until the other side is gone; the thread ends with how many bytes were taken.
    pub(crate) fn send_for_ever(&self) -> JoinHandle<usize> {
        let mut stream = self.stream.try_clone().expect("a socket can be cloned");
        stream.set_write_timeout(Some(self.patience)).expect("a timeout above zero is accepted");
        std::thread::spawn(move || {
            let mut written = 0;
            loop {
                match stream.write(&[b'-'; 65536]) {
                    Ok(count) => written += count,
                    Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                        return written;
                    }
                    Err(error) => panic!("after {written} bytes the other side neither reads nor is gone: {error}"),
                }
            }
        })
    }

    /// Writes until nothing more is taken without waiting; returns how many bytes were.
    pub(crate) fn fill(&mut self) -> usize {
        self.stream.set_nonblocking(true).expect("a socket can be made non-blocking");
        let written = std::iter::from_fn(|| self.stream.write(&[b'-'; 65536]).ok()).sum();
        self.stream.set_nonblocking(false).expect("a socket can be made blocking");
        written
    }

    /// Reads once; the bytes are in [`Wire::unread`]. `Err` says how the other side closed.
    #[track_caller]
    pub(crate) fn read_more(&mut self, awaited: &dyn Fn() -> String) -> Result<(), Closed> {
        self.stream.set_read_timeout(Some(self.patience)).expect("a timeout above zero is accepted");
        let mut buffer = [0; 65536];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Closed::Fin),
                Ok(count) => {
                    self.unread.extend_from_slice(&buffer[..count]);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::ConnectionReset => return Err(Closed::Reset),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        panic!("waited {:?} for {}; unread so far: {}", self.patience, awaited(), text(&self.unread))
                    }
                    _ => panic!("reading failed while waiting for {}: {error}", awaited()),
                },
            }
        }
    }

    /// What was read and not yet taken.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.unread
    }

    /// Takes the first `count` bytes of what was read.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        self.unread.drain(..count).collect()
    }

    /// Whether neither a byte nor an end has arrived that was not read: what the kernel holds now, without waiting.
    pub(crate) fn is_silent(&self) -> bool {
        self.unread.is_empty() && self.peek().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    fn peek(&self) -> std::io::Result<usize> {
        self.stream.set_nonblocking(true).expect("a socket can be made non-blocking");
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).expect("a socket can be made blocking");
        peeked
    }

    /// Makes the kernel take little in advance here, so that the other side has to wait for this one to read.
    pub(crate) fn with_small_buffer(self) -> Self {
        SockRef::from(&self.stream).set_recv_buffer_size(64 << 10).expect("a receive buffer can be made small");
        self
    }

    /// Says that nothing more will be written; reading goes on.
    #[track_caller]
    pub(crate) fn fin(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("an open connection can be shut down");
    }

    /// Closes it. The other side sees a FIN: everything received was read, so the kernel has no reason for a RST.
    #[track_caller]
    pub(crate) fn leave(self) {
        let unread = !self.unread.is_empty() || self.peek().is_ok_and(|count| count > 0);
        assert!(!unread, "bytes are unread, so closing would be a RST; read so far: {}", text(&self.unread));
    }

    /// Closes it with a RST.
    pub(crate) fn reset(self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).expect("a TCP socket takes SO_LINGER");
    }
}

/// Bytes as text for a failure message, shortened in the middle.
pub(crate) fn text(bytes: &[u8]) -> String {
    let shown = |part: &[u8]| part.escape_ascii().to_string();
    match bytes.len() {
        0 => "nothing".to_owned(),
        1..=400 => format!("\"{}\"", shown(bytes)),
        long => format!("\"{}\" ... \"{}\" ({long} bytes)", shown(&bytes[..200]), shown(&bytes[long - 200..])),
    }
}
