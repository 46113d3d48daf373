//! Tiny proxies that copy bytes, one of them sound and the others broken in one way each: they show that a check can
//! fail. They are no example of anything.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// What is wrong with a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// Nothing.
    Sound,
    /// An answer is sent on when it is complete.
    Buffers,
    /// An answer's head is sent on when the first byte of the body has come.
    HoldsHead,
    /// The server's leg stays open when the client leaves.
    KeepsServer,
}

/// Starts one on a free port; it runs until the test process ends.
pub(crate) fn start(upstream: SocketAddr, sabotage: Sabotage) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            drop(serve(client, upstream, sabotage));
        }
    });
    address
}

fn serve(mut client: TcpStream, upstream: SocketAddr, sabotage: Sabotage) -> std::io::Result<()> {
    let mut server = TcpStream::connect(upstream)?;
    let (mut from_client, mut from_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        drop(std::io::copy(&mut from_client, &mut server));
        if sabotage != Sabotage::KeepsServer {
            drop(server.shutdown(Shutdown::Write));
        }
    });
    std::thread::spawn(move || {
        drop(answer(&mut from_server, &mut client, sabotage));
        drop(client.shutdown(Shutdown::Write));
    });
    Ok(())
}

fn answer(server: &mut TcpStream, client: &mut TcpStream, sabotage: Sabotage) -> std::io::Result<()> {
    let (mut held, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = server.read(&mut buffer)?;
        held.extend_from_slice(&buffer[..count]);
        if count == 0 || may_go(&held, sabotage) {
            client.write_all(&held)?;
            held.clear();
        }
        if count == 0 {
            return Ok(());
        }
    }
}

fn may_go(held: &[u8], sabotage: Sabotage) -> bool {
    match sabotage {
        Sabotage::Sound | Sabotage::KeepsServer => true,
        Sabotage::Buffers => held.ends_with(b"0\r\n\r\n"),
        Sabotage::HoldsHead => !held.ends_with(b"\r\n\r\n"),
    }
}
