//! Answers before the answer (1xx): hyper's server cannot send one, so its bytes go in beside HTTP.
//!
//! The names of their fields arrive in lower case: hyper's callback does not tell how they were written.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode, Version};
use hyper::ext::on_informational;

use super::link::Link;
use super::request::{Leave, ServerBody};

/// Passes the server's 1xx answers to this request on to the client. A 100 that somebody waits for gives leave instead,
/// and hyper then sends the client's 100 itself.
pub(crate) fn pass(request: &mut Request<ServerBody>, client: &Arc<Link>, leave: Option<Arc<Leave>>) {
    if request.version() != Version::HTTP_11 {
        return;
    }
    let client = Arc::clone(client);
    on_informational(request, move |answer| match (answer.status(), &leave) {
        (StatusCode::CONTINUE, Some(leave)) => leave.give(),
        // Nobody asked for it.
        (StatusCode::CONTINUE, None) => {}
        (status, _) => client.insert(written(status, answer.headers())),
    });
}

fn written(status: StatusCode, headers: &http::HeaderMap) -> Bytes {
    let mut text = format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("")).into_bytes();
    for (name, value) in headers {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text.into()
}
