//! The demo's client and server on their own, with no proxy between: what each does, and that the one argument in which
//! faulty and fixed differ is what makes the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use mishap::demo::client::{Client, Failure, OnStreamEnd, Options};
use mishap::demo::server::{self, Note, Routing, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Nothing in these tests may take as long; what does has hung.
const HUNG: Duration = Duration::from_secs(20);

async fn server(routing: Routing, timeout: Duration) -> (Server, UnboundedReceiver<Note>) {
    let (sender, notes) = unbounded_channel();
    let options = server::Options { routing, timeout, notes: Some(sender), ..Default::default() };
    (Server::bind(options).await.unwrap(), notes)
}

async fn until(notes: &mut UnboundedReceiver<Note>, wanted: &Note) {
    let found = async { while notes.recv().await.expect("the server lives") != *wanted {} };
    tokio::time::timeout(HUNG, found).await.unwrap_or_else(|_| panic!("the server never noted {wanted:?}"));
}

fn text(result: &Value) -> (&str, bool) {
    (result["content"][0]["text"].as_str().unwrap(), result["isError"].as_bool().unwrap())
}

/// One request as raw bytes; the whole answer. The server closes because it is told to.
async fn raw(server: &Server, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let length = body.len();
    let request = format!("{head}\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    rest(&mut stream).await
}

/// What comes until the other side closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    tokio::time::timeout(HUNG, stream.read_to_string(&mut text)).await.expect("it closes").unwrap();
    text
}

#[tokio::test]
async fn a_session_initializes_lists_calls_and_closes() {
    let (server, mut notes) = server(Routing::Related, HUNG).await;
    let client = Client::connect(&server.url(), Options::default()).await.unwrap();
    let tools = client.request("tools/list", &json!({})).answer().await.unwrap();
    let names: Vec<_> = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "ask", "notify"]);
    let echo = client.call("echo", &json!({ "text": "hello" })).answer().await.unwrap();
    assert_eq!(text(&echo), ("hello", false));
    client.close().await.unwrap();
    until(&mut notes, &Note::SessionEnded).await;
}

#[tokio::test]
async fn a_related_question_rides_its_call_and_needs_no_get() {
    let (server, mut notes) = server(Routing::Related, HUNG).await;
    let client = Client::connect(&server.url(), Options::default()).await.unwrap();
    for (kind, method) in
        [("elicitation", "elicitation/create"), ("sampling", "sampling/createMessage"), ("roots", "roots/list")]
    {
        let answer = client.call("ask", &json!({ "tag": kind, "kind": kind })).answer().await.unwrap();
        assert_eq!(text(&answer), (kind, false));
        until(&mut notes, &Note::AskedOnCall(method)).await;
    }
}

#[tokio::test]
async fn an_unrelated_question_rides_the_get_once_that_is_open() {
    let (server, mut notes) = server(Routing::Unrelated, HUNG).await;
    let client = Client::connect(&server.url(), Options::default()).await.unwrap();
    until(&mut notes, &Note::GetOpened).await;
    let answer = client.call("ask", &json!({ "tag": "A" })).answer().await.unwrap();
    assert_eq!(text(&answer), ("A", false));
    until(&mut notes, &Note::AskedOnGet("elicitation/create")).await;
}

/// The founding bug in its smallest form. A server that stored the question would answer the second call, if not the
/// first.
#[tokio::test]
async fn an_unrelated_question_is_dropped_for_good_when_no_get_is_open() {
    let (server, mut notes) = server(Routing::Unrelated, Duration::from_millis(50)).await;
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "capabilities": { "elicitation": {} } } });
    let answer = raw(&server, "POST /mcp HTTP/1.1", &initialize.to_string()).await;
    let session = answer.lines().find(|line| line.starts_with("mcp-session-id")).unwrap().to_owned();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ask" } });
    let answer = raw(&server, &format!("POST /mcp HTTP/1.1\r\n{session}"), &call.to_string()).await;
    assert!(answer.contains("no answer to elicitation/create in 50 ms"), "{answer}");
    until(&mut notes, &Note::Dropped("elicitation/create")).await;
    until(&mut notes, &Note::Unanswered("elicitation/create", Duration::from_millis(50))).await;
}

/// The demo's order of facts: with `wait` the question comes only after a round trip that begins when the call's head
/// is at the client. A tool that did not wait would lose some of these to the race for the GET.
#[tokio::test]
async fn a_waiting_tool_asks_only_after_the_next_ping() {
    let (server, _notes) = server(Routing::Unrelated, HUNG).await;
    for _ in 0..20 {
        let client = Client::connect(&server.url(), Options::default()).await.unwrap();
        let mut call = client.call("ask", &json!({ "tag": "A", "wait": true }));
        call.started().await;
        client.request("ping", &json!({})).answer().await.unwrap();
        assert_eq!(text(&call.answer().await.unwrap()), ("A", false));
    }
}

#[tokio::test]
async fn notifications_come_before_the_answer_on_its_stream() {
    let (server, _notes) = server(Routing::Related, HUNG).await;
    let client = Client::connect(&server.url(), Options::default()).await.unwrap();
    let answer = client.call("notify", &json!({ "count": 3 })).answer().await.unwrap();
    assert_eq!(text(&answer), ("done", false));
}

#[tokio::test]
async fn a_second_get_is_refused_and_the_sessions_end_ends_the_first() {
    let (server, mut notes) = server(Routing::Related, HUNG).await;
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} }).to_string();
    let answer = raw(&server, "POST /mcp HTTP/1.1", &initialize).await;
    let session = answer.lines().find(|line| line.starts_with("mcp-session-id")).unwrap().to_owned();
    let get = format!("GET /mcp HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{session}\r\n\r\n");
    let mut first = TcpStream::connect(server.address()).await.unwrap();
    first.write_all(get.as_bytes()).await.unwrap();
    until(&mut notes, &Note::GetOpened).await;
    assert!(raw(&server, &format!("GET /mcp HTTP/1.1\r\n{session}"), "").await.starts_with("HTTP/1.1 409 "));
    let ended = raw(&server, &format!("DELETE /mcp HTTP/1.1\r\n{session}"), "").await;
    assert!(ended.starts_with("HTTP/1.1 200 "), "{ended}");
    let first = rest(&mut first).await;
    assert!(first.ends_with("0\r\n\r\n"), "the session's end ends its GET properly: {first}");
    let gone = raw(&server, &format!("GET /mcp HTTP/1.1\r\n{session}"), "").await;
    assert!(gone.starts_with("HTTP/1.1 404 "), "{gone}");
}

#[tokio::test]
async fn what_is_no_mcp_is_refused_by_status() {
    let (server, _notes) = server(Routing::Related, HUNG).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (head, body, status) in [
        ("POST /other HTTP/1.1", ping, "404"),
        ("PUT /mcp HTTP/1.1", ping, "405"),
        ("POST /mcp HTTP/1.1", ping, "400"),
        ("POST /mcp HTTP/1.1", "{", "400"),
        ("POST /mcp HTTP/1.1\r\nmcp-session-id: unknown", ping, "404"),
        ("POST /mcp HTTP/1.1\r\norigin: http://evil.example", ping, "403"),
        ("POST /mcp HTTP/1.1\r\norigin: http://localhost:1", ping, "400"),
    ] {
        let answer = raw(&server, head, body).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
    }
}

/// A server that answers the handshake and then ends, resets or refuses the call's answer: what a client can meet.
async fn poor_server(last: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let body = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
            let length = body.len();
            let answer = match request.as_str() {
                text if text.contains("initialize\"") => {
                    format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                    )
                }
                text if text.contains("tools/call") => last.to_owned(),
                text if text.starts_with("GET") => "HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n".to_owned(),
                _ => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
            };
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

async fn fails(last: &'static str, on_stream_end: OnStreamEnd) -> Failure {
    let options = Options { timeout: Duration::from_millis(300), on_stream_end, ..Options::default() };
    let client = Client::connect(&poor_server(last).await, options).await.unwrap();
    let answer = client.call("echo", &json!({})).answer();
    tokio::time::timeout(HUNG, answer).await.expect("bounded").unwrap_err()
}

/// The founding bug typescript-sdk#2739 in its smallest form, in both ways a stream can end.
#[tokio::test]
async fn an_ended_stream_fails_its_request_only_in_the_fixed_client() {
    let ended = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n";
    let broken = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\n";
    let timeout = Failure::Timeout(Duration::from_millis(300));
    assert_eq!(fails(ended, OnStreamEnd::KeepWaiting).await, timeout);
    assert_eq!(fails(ended, OnStreamEnd::Fail).await, Failure::StreamEnded);
    assert_eq!(fails(broken, OnStreamEnd::KeepWaiting).await, timeout);
    assert!(matches!(fails(broken, OnStreamEnd::Fail).await, Failure::StreamBroke(_)));
}

/// As every SDK does, both clients fail at once where no stream had begun.
#[tokio::test]
async fn a_refusal_fails_its_request_in_both_clients() {
    let refused = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    for way in [OnStreamEnd::KeepWaiting, OnStreamEnd::Fail] {
        assert_eq!(fails(refused, way).await, Failure::Status(502));
    }
}

#[tokio::test]
async fn a_url_that_is_none_is_named() {
    let failure = Client::connect("127.0.0.1:3000/mcp", Options::default()).await.unwrap_err();
    assert_eq!(failure.to_string(), "\"127.0.0.1:3000/mcp\" is no URL of an MCP server; write http://HOST:PORT/PATH");
}
