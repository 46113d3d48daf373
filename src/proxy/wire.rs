//! What the rim needs of a socket beyond reading and writing: resetting it, and knowing what has become of its bytes.
//!
//! Not every kind of socket can tell; then the answer is `None` and whoever asked waits by time instead.

#[cfg(target_os = "linux")]
use std::{io, net::SocketAddr};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A socket.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Sync + Unpin {
    /// Makes the close that follows a reset (RST).
    fn reset_on_close(&self) {}

    /// Asks the kernel to tell, in [`Wire::all_sent`], what it has not sent yet.
    fn watch_sending(&self) {}

    /// Whether everything written has left the kernel's queue, so that a reset cannot throw it away.
    fn all_sent(&self) -> Option<bool> {
        None
    }

    /// Whether the program at the other end has read everything that was sent.
    fn all_read(&self) -> Option<bool> {
        None
    }
}

impl Wire for TcpStream {
    fn reset_on_close(&self) {
        // Fails only on a socket that is broken already; then there is nothing to reset.
        let _ = self.set_zero_linger();
    }

    fn watch_sending(&self) {
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(self).set_tcp_notsent_lowat(1);
    }

    #[cfg(target_os = "linux")]
    fn all_sent(&self) -> Option<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut fds = [PollFd::new(self, PollFlags::OUT)];
        let ready = poll(&mut fds, Some(&Timespec::default())).ok()?;
        Some(ready > 0)
    }

    #[cfg(target_os = "linux")]
    fn all_read(&self) -> Option<bool> {
        let (own, peer) = (self.local_addr().ok()?, self.peer_addr().ok()?);
        ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .find_map(|table| unread(table, peer, own).ok().flatten())
            .map(|n| n == 0)
    }
}

/// In-memory pipes, for tests with time paused.
#[cfg(test)]
impl Wire for tokio::io::DuplexStream {}

/// Looks up how many bytes the socket from `own` to `peer` has received and its program has not read.
#[cfg(target_os = "linux")]
fn unread(table: &str, own: SocketAddr, peer: SocketAddr) -> io::Result<Option<u64>> {
    let text = std::fs::read_to_string(table)?;
    Ok(text.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let ends = (fields.next().and_then(address)?, fields.next().and_then(address)?);
        let queues = fields.nth(1)?;
        let (_, received) = queues.split_once(':')?;
        (ends == (canonical(own), canonical(peer))).then(|| u64::from_str_radix(received, 16).ok()).flatten()
    }))
}

/// An IPv4 address is the same whether the socket speaks IPv6 or not.
#[cfg(target_os = "linux")]
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Reads an address of the kernel's table: groups of 32 bits in the machine's byte order, in hexadecimal.
#[cfg(target_os = "linux")]
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => std::net::IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (n, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(n * 8)?);
            }
            std::net::IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    // A broken build would find no socket, or another one.
    #[tokio::test]
    async fn what_the_peer_has_not_read_is_seen() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(listen).await.unwrap();
            let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut own, _) = listener.accept().await.unwrap();
            assert_eq!(own.all_read(), Some(true));
            own.write_all(b"twelve bytes").await.unwrap();
            assert_eq!(own.all_read(), Some(false));
            peer.read_exact(&mut [0; 12]).await.unwrap();
            assert_eq!(own.all_read(), Some(true));
        }
    }

    // A broken build would call a full queue sent.
    #[tokio::test]
    async fn what_the_kernel_has_not_sent_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (own, _) = listener.accept().await.unwrap();
        own.watch_sending();
        assert_eq!(own.all_sent(), Some(true));
        while own.all_sent() == Some(true) {
            own.try_write(&[0; 65536]).unwrap();
        }
        let mut buf = vec![0; 65536];
        while own.all_sent() == Some(false) {
            assert_ne!(peer.read(&mut buf).await.unwrap(), 0);
        }
    }
}
