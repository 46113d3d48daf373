//! What mishap and its guard say to each other: one JSON object a line over a socket, descriptors going along with a line's end.
//!
//! The one rule: a line is said whole before the next, and hearing may be given up at any point without losing any.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// How many descriptors go with one line: stdin, stdout, stderr.
const STDIO: usize = 3;

/// What is received must not go on to what is started next.
#[cfg(target_os = "linux")]
const RECEIVING: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVING: RecvFlags = RecvFlags::empty();

/// What a guard is asked to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Order {
    /// Start this program, with these variables beside our own, and the descriptors that come along.
    Start {
        /// What it is called from then on.
        who: Who,
        /// Its name and its arguments.
        words: Vec<String>,
        /// Variables and their values.
        env: Vec<(String, String)>,
        /// The process group it joins; none: it leads one of its own.
        group: Option<i32>,
    },
    /// Send this signal to it, and to its group if that is its own.
    Signal { who: Who, signal: i32 },
    /// End all that is left, now.
    End,
}

/// What a guard says.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Report {
    /// It runs, under this process id.
    Started { who: Who, pid: i32 },
    /// It could not be started: the system's error number.
    Refused { who: Who, error: i32 },
    /// It has ended, with this wait status.
    Ended { who: Who, status: i32 },
}

/// Who is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Who {
    /// The server (`--serve`).
    Server,
    /// The command behind the proxy.
    Command,
}

/// One end of the socket between them.
#[derive(Debug)]
pub(super) struct Talk {
    socket: UnixStream,
    heard: Vec<u8>,
    received: VecDeque<OwnedFd>,
}

impl Talk {
    /// Talks over this socket. Call it inside the runtime.
    pub(super) fn over(socket: std::os::unix::net::UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UnixStream::from_std(socket)?, heard: Vec::new(), received: VecDeque::new() })
    }

    /// Says a line, descriptors with it. Not cancel safe.
    pub(super) async fn say(&self, line: &impl Serialize, stdio: Option<&[OwnedFd; STDIO]>) -> io::Result<()> {
        let text = serde_json::to_vec(line)?;
        let mut said = 0;
        while said < text.len() {
            let write = || self.socket.try_write(&text[said..]);
            self.socket.writable().await?;
            match write() {
                Ok(number) => said += number,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        self.socket.async_io(Interest::WRITABLE, || self.end_line(stdio)).await
    }

    fn end_line(&self, stdio: Option<&[OwnedFd; STDIO]>) -> io::Result<()> {
        let fds = stdio.map(|stdio| stdio.each_ref().map(|fd| fd.as_fd()));
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(STDIO))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        if let Some(fds) = &fds {
            along.push(SendAncillaryMessage::ScmRights(fds));
        }
        sendmsg(&self.socket, &[IoSlice::new(b"\n")], &mut along, SendFlags::empty())?;
        Ok(())
    }

    /// Waits for the next line; none when the other side has gone. Cancel safe.
    pub(super) async fn hear<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let Self { socket, heard, received } = self;
            if socket.async_io(Interest::READABLE, || receive(socket, heard, received)).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The descriptors that came with the line heard last.
    pub(super) fn stdio(&mut self) -> Option<[OwnedFd; STDIO]> {
        self.received.drain(..).collect::<Vec<_>>().try_into().ok()
    }
}

fn receive(socket: &UnixStream, heard: &mut Vec<u8>, received: &mut VecDeque<OwnedFd>) -> io::Result<usize> {
    let mut bytes = [0; 4096];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(STDIO))];
    let mut along = RecvAncillaryBuffer::new(&mut space);
    let number = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut along, RECEIVING)?.bytes;
    for message in along.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            received.extend(fds);
        }
    }
    heard.extend_from_slice(&bytes[..number]);
    Ok(number)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[tokio::test]
    async fn a_long_line_arrives_whole_with_its_descriptors_and_the_end_is_seen() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("there are sockets");
        let (ours, mut theirs) =
            (Talk::over(ours).expect("it is a socket"), Talk::over(theirs).expect("it is a socket"));
        let (mut reader, writer) = io::pipe().expect("there are pipes");
        let stdio = [(); STDIO].map(|()| writer.try_clone().expect("it can be doubled").into());
        // More than a socket holds, so that it is written and read in parts.
        let words = vec!["x".repeat(1 << 20)];
        let order = Order::Start { who: Who::Command, words: words.clone(), env: Vec::new(), group: None };
        let (said, heard) = tokio::join!(ours.say(&order, Some(&stdio)), theirs.hear::<Order>());
        said.expect("it was said");
        let Ok(Some(Order::Start { words: got, .. })) = heard else { panic!("{heard:?}") };
        assert_eq!(got, words);
        assert!(theirs.stdio().is_some());
        assert!(theirs.stdio().is_none(), "they belong to that line alone");
        drop((ours, stdio, writer));
        assert_eq!(reader.read(&mut [0]).expect("it can be read"), 0, "nobody holds the pipe any more");
        assert!(theirs.hear::<Order>().await.expect("it ended in order").is_none());
    }
}
