//! The wrapper round a socket, through which HTTP reads and writes it, on either side of the proxy.
//!
//! It is the one source for what really crossed: how many bytes left, whether they are flushed, who ended the connection
//! first and how; all of that it tells its [`Link`]. It decides nothing.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::link::Link;
use super::wire::Wire;
use crate::engine::event::Ending;

/// The wrapper round a socket.
pub(crate) struct Leg {
    wire: Box<dyn Wire>,
    link: Arc<Link>,
    /// Nothing of HTTP's is half written: bytes of ours may go in between.
    between: bool,
    /// Bytes of ours that are being written.
    own: Bytes,
}

// === Leg ===

impl Leg {
    pub(crate) fn new(wire: Box<dyn Wire>, link: Arc<Link>) -> Self {
        Self { wire, link, between: true, own: Bytes::new() }
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(crate) fn wire(&self) -> &dyn Wire {
        &*self.wire
    }

    /// Writes what is ours, if HTTP is between two messages or has begun none.
    fn poll_own(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() || self.next_own() {
            let n = ready!(Pin::new(&mut self.wire).poll_write(cx, &self.own))?;
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.own.advance(n);
            self.link.wrote(n);
        }
        Poll::Ready(Ok(()))
    }

    fn next_own(&mut self) -> bool {
        if !self.between || !self.link.is_busy() {
            return false;
        }
        match self.link.next_own() {
            Some(bytes) => self.own = bytes,
            None => return false,
        }
        true
    }

    fn wrote(&mut self, n: usize) {
        self.between = false;
        self.link.wrote(n);
    }
}

impl fmt::Debug for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leg").field("link", &self.link).finish_non_exhaustive()
    }
}

impl AsyncRead for Leg {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.wire).poll_read(cx, buf));
        match &read {
            Ok(()) if buf.filled().len() == before && buf.remaining() > 0 => self.link.peer_ended(Ending::Fin),
            Ok(()) => {}
            Err(_) => self.link.peer_ended(Ending::Reset),
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Leg {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_own(cx))?;
        let wrote = ready!(Pin::new(&mut self.wire).poll_write(cx, buf));
        self.link.note(&wrote);
        let n = wrote?;
        self.wrote(n);
        Poll::Ready(Ok(n))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_own(cx))?;
        let wrote = ready!(Pin::new(&mut self.wire).poll_write_vectored(cx, bufs));
        self.link.note(&wrote);
        let n = wrote?;
        self.wrote(n);
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes only when it has nothing left to write.
        self.between = true;
        ready!(self.poll_own(cx))?;
        ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
        self.link.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
