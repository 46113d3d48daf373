//! What the tests of the command line stand on beside [`crate::common::mishap`]: the simplest peers around the binary.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

use crate::common::body::Head;
use crate::common::peer::Peer;

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
