//! The address for posts that a server of 2024-11-05 tells its client in the stream itself: made to name the proxy.
//!
//! It is not the framer: it looks at the first event of a GET's stream only, for one URL. The one rule it keeps: no byte
//! waits but those of `http://HOST` in an `endpoint` event, and none is changed but the host in them.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, StatusCode, response};

use super::forward::Asked;
use super::headers::{SCHEME, names};
use super::run::Run;

/// So far into a stream an address is looked for, in bytes.
const REACH: usize = 4096;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A stream whose first event may be the address for posts.
#[derive(Debug)]
pub(crate) struct Endpoint {
    run: Arc<Run>,
    /// Which of the servers it is whose address is looked for.
    server: usize,
    /// The proxy, as its client knows it.
    host: HeaderValue,
    seen: Vec<u8>,
    /// How many of the bytes seen have gone on.
    passed: usize,
}

/// What the beginning of a stream tells.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// What follows decides; the bytes from here on wait for it.
    Wait(usize),
    /// Here is the host of an address.
    Host(Range<usize>),
    /// There is no address with a host.
    None,
}

impl Endpoint {
    /// Looks out for an address in this answer, if it is a stream that may begin with one.
    pub(crate) fn awaited(asked: &Asked, head: &response::Parts, run: &Arc<Run>) -> Option<Self> {
        let plain = |name| !head.headers.contains_key(name);
        let stream = asked.method == Method::GET && head.status == StatusCode::OK && is_event_stream(&head.headers);
        // An encoding hides the address, and a length that is announced allows no other.
        let readable = plain(header::CONTENT_ENCODING) && plain(header::CONTENT_LENGTH);
        let host = asked.host.clone().filter(|_| stream && readable)?;
        Some(Self { run: Arc::clone(run), server: asked.to.server, host, seen: Vec::new(), passed: 0 })
    }

    /// Takes the next bytes. Returns what goes on, and whether there is nothing more to look for.
    pub(crate) fn push(&mut self, data: &Bytes) -> (Bytes, bool) {
        self.seen.extend_from_slice(data);
        match look(&self.seen) {
            Look::Wait(_) | Look::None if self.seen.len() > REACH => (self.rest(), true),
            Look::None => (self.rest(), true),
            Look::Wait(from) => {
                let passing = Bytes::copy_from_slice(&self.seen[self.passed..from]);
                self.passed = from;
                (passing, false)
            }
            Look::Host(place) => {
                let named = std::str::from_utf8(&self.seen[place.clone()]);
                if named.is_ok_and(|host| names(host, &self.run.upstreams[self.server])) {
                    self.seen.splice(place, self.host.as_bytes().iter().copied());
                }
                (self.rest(), true)
            }
        }
    }

    /// What waits still.
    pub(crate) fn rest(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.seen).split_off(std::mem::take(&mut self.passed)))
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let essence = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Reads the first event as far as it has come.
fn look(text: &[u8]) -> Look {
    let mut rest = text.strip_prefix(BOM).unwrap_or(text);
    let mut is_endpoint = false;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let line = &rest[..end.unwrap_or(rest.len())];
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let start = text.len() - rest.len() + line.len() - value.len();
            return if is_endpoint { host(value, start, end.is_some()) } else { Look::None };
        }
        let Some(end) = end else { return Look::Wait(text.len()) };
        match line {
            b"" => return Look::None,
            b"event: endpoint" | b"event:endpoint" => is_endpoint = true,
            _ => {}
        }
        rest = &rest[end + 1 + usize::from(rest[end..].starts_with(b"\r\n"))..];
    }
}

/// Finds the host of the URL that begins here.
fn host(url: &[u8], start: usize, is_whole: bool) -> Look {
    let Some(after) = url.strip_prefix(SCHEME.as_bytes()) else {
        let may_become = !is_whole && SCHEME.as_bytes().starts_with(url);
        return if may_become { Look::Wait(start) } else { Look::None };
    };
    let end = after.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let start = start + SCHEME.len();
    match end {
        Some(end) => Look::Host(start..start + end),
        None if is_whole => Look::Host(start..start + after.len()),
        None => Look::Wait(start - SCHEME.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_in_an_endpoint_event_is_found_and_only_its_url_waits() {
        for (text, found) in [
            ("event: endpoint\ndata: http://a:1/m?s=1\n\n", Some("a:1")),
            ("\u{feff}: hello\r\nid: 1\r\nevent:endpoint\r\ndata:http://[::1]:9?s\r\n\r\n", Some("[::1]:9")),
            ("event: endpoint\rdata: http://a\r\r", Some("a")),
            ("event: endpoint\ndata: /m?to=http://a:1/\n\n", None),
            ("event: endpoint\ndata: https://a:1/\n\n", None),
            ("event: message\ndata: http://a:1/m\n\n", None),
            ("data: http://a:1/m\n\nevent: endpoint\ndata: http://a:1/m\n\n", None),
            (": ping\n\nevent: endpoint\ndata: http://a:1/m\n\n", None),
        ] {
            let url = text.find("http");
            let mut place = None;
            for length in 0..=text.len() {
                match look(&text.as_bytes()[..length]) {
                    // Up to the URL nothing waits.
                    Look::Wait(from) => assert!(from == length || Some(from) == url, "{text:?}, {length}"),
                    Look::Host(host) => place = place.or(Some(host)),
                    Look::None => break,
                }
            }
            assert_eq!(place.map(|place| &text[place]), found, "{text:?}");
        }
    }
}
