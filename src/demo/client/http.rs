//! The client's HTTP side: a connection for each request, and the messages in its answer as they come.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::Failure;
use super::events::EventReader;
use crate::demo::PROTOCOL;

const SESSION_ID: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// What the server gave with its answer to `initialize`: the session's id, if it keeps sessions.
pub(super) type Session = Option<HeaderValue>;

/// Where the server is.
#[derive(Debug)]
pub(super) struct Endpoint {
    authority: String,
    address: String,
    target: String,
}

/// An answer with a 2xx status, read message by message.
#[derive(Debug)]
pub(super) struct Reply {
    session: Option<HeaderValue>,
    body: Incoming,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    Events(EventReader),
    /// One JSON message, or nothing.
    Json(Vec<u8>),
    Done,
}

// === Endpoint ===

impl Endpoint {
    pub(super) fn parse(url: &str) -> Result<Self, Failure> {
        let bad = || Failure::BadUrl(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(bad)?;
        let port = authority.port_u16().unwrap_or(80);
        Ok(Self {
            authority: authority.to_string(),
            address: format!("{}:{port}", authority.host()),
            target: uri.path_and_query().map_or("/", |target| target.as_str()).to_owned(),
        })
    }

    /// Sends one request, on a connection of its own, and waits for the answer's head.
    pub(super) async fn send(
        &self,
        method: Method,
        session: Option<&Session>,
        message: Option<Value>,
    ) -> Result<Reply, Failure> {
        let request = self.request(method, session, message);
        let stream = TcpStream::connect(&self.address).await.map_err(|error| self.unreachable(&error))?;
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| transport(&error))?;
        // It ends with the answer, or when the body that borrows from it is dropped.
        tokio::spawn(async move { drop(connection.await) });
        Reply::new(sender.send_request(request).await.map_err(|error| transport(&error))?)
    }

    fn unreachable(&self, error: &std::io::Error) -> Failure {
        Failure::Transport(format!("{} cannot be reached: {error}", self.address))
    }

    fn request(&self, method: Method, session: Option<&Session>, message: Option<Value>) -> Request<Full<Bytes>> {
        let accept = if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        let has_body = message.is_some();
        let body = message.map(|message| Bytes::from(message.to_string())).unwrap_or_default();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.target.parse().expect("part of a URL that was parsed");
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::try_from(&self.authority).expect("part of a URL that was parsed"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(session) = session {
            headers.insert(VERSION, HeaderValue::from_static(PROTOCOL));
            if let Some(id) = session {
                headers.insert(SESSION_ID, id.clone());
            }
        }
        request
    }
}

// === Reply ===

impl Reply {
    fn new(response: Response<Incoming>) -> Result<Self, Failure> {
        if !response.status().is_success() {
            return Err(Failure::Status(response.status().as_u16()));
        }
        let media = response.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
        let reader = match media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => Reader::Events(EventReader::default()),
            "application/json" if response.status() != StatusCode::ACCEPTED => Reader::Json(Vec::new()),
            _ => Reader::Done,
        };
        let session = response.headers().get(SESSION_ID).cloned();
        Ok(Self { session, body: response.into_body(), reader })
    }

    /// What to send with every later request.
    pub(super) fn session(&self) -> Option<Session> {
        Some(self.session.clone())
    }

    /// Reads an answer that carries nothing to its end.
    pub(super) async fn accepted(self) -> Result<(), Failure> {
        self.body.collect().await.map(drop).map_err(|error| transport(&error))
    }

    /// The next message; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Reader::Events(events) = &mut self.reader
                && let Some(data) = events.next()
            {
                return serde_json::from_str(&data).map(Some).map_err(|_| Failure::NotJsonRpc);
            }
            let Some(frame) = self.body.frame().await else { return self.last() };
            let frame = frame.map_err(|error| Failure::StreamBroke(error.to_string()))?;
            let data = frame.into_data().unwrap_or_default();
            match &mut self.reader {
                Reader::Events(events) => events.push(&data),
                Reader::Json(json) => json.extend_from_slice(&data),
                Reader::Done => {}
            }
        }
    }

    /// The end of the body: the message of a JSON answer. An event without its blank line is none.
    fn last(&mut self) -> Result<Option<Value>, Failure> {
        match std::mem::replace(&mut self.reader, Reader::Done) {
            Reader::Json(json) => serde_json::from_slice(&json).map(Some).map_err(|_| Failure::NotJsonRpc),
            Reader::Events(_) | Reader::Done => Ok(None),
        }
    }
}

fn transport(error: &hyper::Error) -> Failure {
    Failure::Transport(format!("the connection broke: {error}"))
}
