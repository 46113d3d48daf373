//! Answers that the proxy makes itself, because no server could: each carries one marker header, and a JSON-RPC error when
//! the request was JSON-RPC. None of them is a fault that a rule asked for.

use std::collections::VecDeque;
use std::fmt;
use std::io;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::accept::MAX_HEADERS;
use super::server::Arrival;
use crate::engine::event::{Ending, Source};

/// The header that tells an answer of the proxy from one of the server; its value says what happened in one word.
pub const MARKER: HeaderName = HeaderName::from_static("mishap-error");

/// JSON-RPC's code for an error of the implementation's own.
const CODE: i64 = -32000;

/// Why the proxy answers instead of the server.
#[derive(Debug)]
pub(crate) enum Fault {
    /// No connection to the server could be made.
    Unreachable { upstream: String, error: io::Error },
    /// What the server sent is no HTTP answer.
    BadAnswer(String),
    /// The head of the server's answer is beyond what is read of one.
    HeadTooLarge,
    /// What the client sent cannot be forwarded.
    BadRequest(String),
}

impl Fault {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unreachable { .. } | Self::BadAnswer(_) | Self::HeadTooLarge => StatusCode::BAD_GATEWAY,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Unreachable { error, .. } => match error.kind() {
                io::ErrorKind::ConnectionRefused => "upstream-refused",
                io::ErrorKind::TimedOut => "upstream-timed-out",
                _ => "upstream-unreachable",
            },
            Self::BadAnswer(_) => "upstream-bad-answer",
            Self::HeadTooLarge => "upstream-head-too-large",
            Self::BadRequest(_) => "bad-request",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { upstream, error } if error.kind() == io::ErrorKind::ConnectionRefused => {
                write!(f, "upstream {upstream} refused the connection; is the server running? (not injected)")
            }
            Self::Unreachable { upstream, error } => {
                write!(f, "upstream {upstream} cannot be reached: {error} (not injected)")
            }
            Self::BadAnswer(what) => write!(f, "the upstream's answer is not HTTP: {what} (not injected)"),
            Self::HeadTooLarge => write!(
                f,
                "the head of the upstream's answer is too large: more than {MAX_HEADERS} header lines, or 400 KiB \
                 (not injected)"
            ),
            Self::BadRequest(what) => write!(f, "the request cannot be forwarded: {what} (not injected)"),
        }
    }
}

/// Makes the answer. `id` is the JSON-RPC request's, as it was written.
pub(crate) fn refuse(fault: &Fault, id: Option<Box<RawValue>>) -> Response<Bytes> {
    let text = format!("mishap: {fault}");
    tracing::warn!("{fault}");
    let (media, body) = match id {
        None => ("text/plain; charset=utf-8", format!("{text}\n")),
        Some(id) => {
            let message = serde_json::Value::String(text);
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{CODE},"message":{message}}}}}"#);
            ("application/json", body)
        }
    };
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = fault.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(MARKER, HeaderValue::from_static(fault.word()));
    if matches!(fault, Fault::BadRequest(_)) {
        // Where the next request would begin is not certain.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    *response.body_mut() = body.into();
    response
}

/// Takes a made answer apart into what would arrive from a server.
pub(crate) fn arrivals(response: Response<Bytes>) -> VecDeque<Arrival> {
    let (head, body) = response.into_parts();
    VecDeque::from([Arrival::Head(Box::new(head), Source::Proxy), Arrival::Data(body), Arrival::End(Ending::Eof)])
}

/// Returns the id with which an error can answer a body, if the body is a JSON-RPC message: `null` if it has none.
pub(crate) fn rpc_id(body: &[u8]) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Message {
        jsonrpc: String,
        #[serde(default)]
        id: Option<Box<RawValue>>,
    }
    let null = || RawValue::from_string("null".to_owned()).ok();
    if body.trim_ascii_start().first() == Some(&b'[') {
        return serde_json::from_slice::<Vec<Message>>(body).ok().and_then(|_| null());
    }
    let message: Message = serde_json::from_slice(body).ok()?;
    (message.jsonrpc == "2.0").then_some(message.id).map(|id| id.or_else(null))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_request_is_kept_as_it_was_written() {
        let id = |body: &str| rpc_id(body.as_bytes()).map(|id| id.get().to_owned());
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#).as_deref(), Some("1.0"));
        assert_eq!(id(r#"{"id":"\u0061","jsonrpc":"2.0"}"#).as_deref(), Some(r#""\u0061""#));
        assert_eq!(id(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).as_deref(), Some("null"));
        assert_eq!(id(r#" [{"jsonrpc":"2.0","id":1}]"#).as_deref(), Some("null"));
        assert_eq!(id(r#"{"id":1}"#), None);
        assert_eq!(id("hello"), None);
    }
}
