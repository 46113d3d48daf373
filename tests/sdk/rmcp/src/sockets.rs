//! The sockets of the server driver, with a log of what rmcp is given and of how each call's answer ended.
//!
//! Not HTTP by hand: hyper reads and writes, rmcp's service answers. The one rule: bytes pass unchanged.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mishap_rmcp_driver::emit;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::Tools;

type Service = Arc<StreamableHttpService<Tools, LocalSessionManager>>;

/// An answer's body that tells, when it is over, whether a tools/call got its answer.
struct Watched {
    body: BoxBody<Bytes, Infallible>,
    tag: Option<String>,
    answered: bool,
}

/// Opens a free port of the loopback and serves it as long as the driver runs.
pub async fn serve(tools: Tools, json: bool) -> SocketAddr {
    let mut config = StreamableHttpServerConfig::default();
    config.json_response = json;
    let service = Arc::new(StreamableHttpService::new(move || Ok(tools.clone()), Arc::default(), config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("the loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move {
        while let Ok((socket, _peer)) = listener.accept().await {
            let service = service.clone();
            let answer = service_fn(move |request| handle(service.clone(), request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
        }
    });
    address
}

async fn handle(service: Service, request: Request<Incoming>) -> Result<Response<Watched>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let tag = if head.method == Method::POST { tag_of(&body) } else { None };
    let get = (head.method == Method::GET).then(|| (header(&head, "mcp-session-id"), header(&head, "last-event-id")));
    if let Some((session, last)) = &get {
        emit(&json!({"event": "get", "session": session, "last": last}));
    }
    let response = service.handle(Request::from_parts(head, Full::new(body))).await;
    if let Some((session, last)) = &get {
        // From here on the stream can be written to.
        let status = response.status().as_u16();
        emit(&json!({"event": "get-open", "session": session, "last": last, "status": status}));
    }
    Ok(response.map(|body| Watched { body, tag, answered: false }))
}

fn header(head: &Parts, name: &str) -> Option<String> {
    head.headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The tag of the tools/call in a request's body.
fn tag_of(body: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(body).ok()?;
    (message["method"] == "tools/call")
        .then(|| message.pointer("/params/arguments/tag")?.as_str().map(str::to_owned))?
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let needle = b"\"result\":";
            self.answered |= frame.data_ref().is_some_and(|data| data.windows(needle.len()).any(|part| part == needle));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(tag) = &self.tag {
            emit(&json!({"event": "post-closed", "tag": tag, "answered": self.answered}));
        }
    }
}
