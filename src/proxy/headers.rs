//! What happens to a head on its way through: hop-by-hop fields, `Host`, and URLs that name the server.
//!
//! Everything else passes as it came. `HeaderMap::remove` is never used: it moves the last field into the hole, so a map
//! that loses a field is built anew, in order.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::upstream::Upstream;
use crate::engine::event::HeaderEdit;

/// What becomes of a request's `Host`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostPolicy {
    /// A name of the proxy becomes the server's; any other passes to a server on loopback (whose DNS-rebinding check must
    /// still see it) and becomes the server's for a remote one.
    #[default]
    Map,
    /// Passes as it came.
    Keep,
    /// Always becomes the server's.
    Upstream,
}

/// The names of the proxy and of the server, and what is done with them.
#[derive(Debug)]
pub(crate) struct Hosts {
    policy: HostPolicy,
    ours: Vec<String>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
pub(super) const SCHEME: &str = "http://";

impl Hosts {
    /// The proxy's own names: where it listens, loopback with its port, and what its user calls it.
    pub(crate) fn new(policy: HostPolicy, listen: SocketAddr, public: Vec<String>) -> Self {
        let mut ours = public;
        ours.push(listen.to_string());
        ours.extend(LOOPBACK.map(|name| format!("{name}:{}", listen.port())));
        if listen.port() == 80 {
            ours.extend(LOOPBACK.map(str::to_owned));
        }
        Self { policy, ours }
    }

    fn is_ours(&self, host: &str) -> bool {
        self.ours.iter().any(|name| host.eq_ignore_ascii_case(name))
    }

    /// Returns the `Host` that the server is to see, if it is another.
    fn mapped(&self, host: &HeaderValue, upstream: &Upstream) -> Option<HeaderValue> {
        let ours = host.to_str().is_ok_and(|host| self.is_ours(host));
        let change = match self.policy {
            HostPolicy::Map => ours || !upstream.is_loopback(),
            HostPolicy::Keep => false,
            HostPolicy::Upstream => true,
        };
        change.then(|| HeaderValue::from_str(upstream.authority()).ok()).flatten()
    }
}

/// Makes a request's head fit for the server. Returns the `Host` under which the client knows the proxy.
pub(crate) fn to_server(headers: &mut HeaderMap, hosts: &Hosts, upstream: &Upstream) -> Option<HeaderValue> {
    strip_hop_by_hop(headers, Leg::Server);
    let host = headers.get(header::HOST).cloned();
    if let Some(mapped) = host.as_ref().and_then(|host| hosts.mapped(host, upstream)) {
        // `insert` on a name that is there keeps its place.
        headers.insert(header::HOST, mapped);
    }
    host
}

/// Makes an answer's head fit for the client that knows the proxy as `host`.
pub(crate) fn to_client(headers: &mut HeaderMap, host: Option<&HeaderValue>, upstream: &Upstream) {
    strip_hop_by_hop(headers, Leg::Client);
    let Some(host) = host else { return };
    for (name, value) in headers.iter_mut() {
        if matches!(*name, header::LOCATION | header::CONTENT_LOCATION | header::WWW_AUTHENTICATE)
            && let Some(mapped) = with_origin(value, host, upstream)
        {
            *value = mapped;
        }
    }
}

/// Drops the length: the body will be sent in chunks.
pub(crate) fn drop_length(headers: &mut HeaderMap) {
    retain(headers, |name, _| name != header::CONTENT_LENGTH);
}

/// Announces another length, where one was announced.
pub(crate) fn change_length(headers: &mut HeaderMap, length: usize) {
    if headers.contains_key(header::CONTENT_LENGTH) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// Changes headers as rules say: a value takes the place of all fields of its name, at the first of them.
pub(crate) fn edit(headers: &mut HeaderMap, edits: &[HeaderEdit]) {
    for (name, value) in edits {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
        match value.as_deref().map(HeaderValue::from_bytes) {
            // `insert` on a name that is there keeps its place.
            Some(Ok(value)) => drop(headers.insert(name, value)),
            // The engine makes none of those.
            Some(Err(_)) => {}
            None => retain(headers, |named, _| *named != name),
        }
    }
}

/// Asks for an answer that can be looked into (rule R38).
pub(crate) fn ask_identity(headers: &mut HeaderMap) {
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

/// Whether the client waits for leave to send its body.
pub(crate) fn expects_leave(headers: &HeaderMap) -> bool {
    headers.get(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Drops the question for leave: the body was read already.
pub(crate) fn drop_expect(headers: &mut HeaderMap) {
    if headers.contains_key(header::EXPECT) {
        retain(headers, |name, _| name != header::EXPECT);
    }
}

/// Returns every field's name in lower case and its value, in order, for the engine.
pub(crate) fn listed(headers: &HeaderMap) -> Vec<(String, Bytes)> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), Bytes::copy_from_slice(value.as_bytes()))).collect()
}

/// The headers of a head that a rule made. A name or a value that HTTP has no room for was refused when the profile was
/// read, but for what a run fills in: that is left out.
pub(crate) fn of(listed: &[(String, Bytes)]) -> HeaderMap {
    let field = |(name, value): &(String, Bytes)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_maybe_shared(value.clone()).ok()?))
    };
    listed.iter().filter_map(field).collect()
}

// === hop by hop ===

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leg {
    Client,
    Server,
}

/// What a head has that may be meant for one hop only; most heads have none of it.
#[derive(Debug, Default)]
struct Found {
    connection: bool,
    length: bool,
    chunks: bool,
    /// `TE: trailers`, which passes.
    te: bool,
    /// Something that never passes.
    special: bool,
}

impl Found {
    fn in_head(headers: &HeaderMap, to: Leg) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            match *name {
                header::CONNECTION => found.connection = true,
                header::CONTENT_LENGTH => found.length = true,
                header::TRANSFER_ENCODING => found.chunks = true,
                header::TE => {
                    found.te = to == Leg::Server && value.as_bytes().eq_ignore_ascii_case(b"trailers");
                    found.special = true;
                }
                _ => found.special |= *name == header::UPGRADE || *name == KEEP_ALIVE || *name == PROXY_CONNECTION,
            }
        }
        found
    }
}

/// Drops what is meant for the next hop only (RFC 9110, 7.6.1). `close` and `keep-alive` stay in `Connection`: with one
/// server connection for each client connection they mean the same on both. `Transfer-Encoding` stays where it stands;
/// hyper frames the message by it. `TE: trailers` and `Trailer` stay, because trailers do pass.
fn strip_hop_by_hop(headers: &mut HeaderMap, to: Leg) {
    let found = Found::in_head(headers, to);
    let both_framings = found.length && found.chunks;
    let options = if found.connection { named_options(headers, found.te) } else { Vec::new() };
    if !found.special && !both_framings && options.is_empty() {
        return;
    }
    retain(headers, |name, _| {
        // With both framings the length does not count (RFC 9112, 6.3); hyper refuses such an answer.
        if *name == header::CONTENT_LENGTH {
            return !both_framings;
        }
        if *name == header::TE {
            return found.te;
        }
        *name != KEEP_ALIVE
            && *name != PROXY_CONNECTION
            && *name != header::UPGRADE
            && !options.iter().any(|option| option.eq_ignore_ascii_case(name.as_str()))
    });
    let lost = |option: &str| options.iter().any(|named| named.eq_ignore_ascii_case(option));
    for (_, value) in headers.iter_mut().filter(|(name, _)| **name == header::CONNECTION) {
        if let Some(kept) = without(value, &lost) {
            *value = kept;
        }
    }
    if headers.get_all(header::CONNECTION).iter().any(HeaderValue::is_empty) {
        retain(headers, |name, value| *name != header::CONNECTION || !value.is_empty());
    }
}

/// Returns what `Connection` names besides `close`, `keep-alive` and, if it stays, `TE`.
fn named_options(headers: &HeaderMap, te: bool) -> Vec<String> {
    let stays = |option: &str| {
        let option = option.to_ascii_lowercase();
        option.is_empty() || option == "close" || option == "keep-alive" || (te && option == "te")
    };
    headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|option| !stays(option))
        .map(str::to_owned)
        .collect()
}

/// Returns a list without some of its elements, if it had any of them.
fn without(value: &HeaderValue, lost: &impl Fn(&str) -> bool) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    if !text.split(',').any(|option| lost(option.trim())) {
        return None;
    }
    let kept: Vec<&str> = text.split(',').map(str::trim).filter(|option| !lost(option)).collect();
    HeaderValue::from_str(&kept.join(", ")).ok()
}

/// Builds the map anew without some fields, keeping the order of the others.
fn retain(headers: &mut HeaderMap, keep: impl Fn(&HeaderName, &HeaderValue) -> bool) {
    let mut kept = HeaderMap::with_capacity(headers.len());
    let mut name = None;
    for (next, value) in headers.drain() {
        name = next.or(name);
        if let Some(name) = name.as_ref().filter(|name| keep(name, &value)) {
            kept.append(name, value);
        }
    }
    *headers = kept;
}

// === URLs that name the server ===

/// Returns the value with the server's origin replaced by the proxy's, if it names it.
fn with_origin(value: &HeaderValue, host: &HeaderValue, upstream: &Upstream) -> Option<HeaderValue> {
    let (text, host) = (value.to_str().ok()?, host.to_str().ok()?);
    let mut mapped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(SCHEME) {
        let (before, url) = rest.split_at(at + SCHEME.len());
        mapped.push_str(before);
        let end = url.find(['/', '?', '#', '"', '\'', ',', ';', ' ', '>']).unwrap_or(url.len());
        let (authority, after) = url.split_at(end);
        mapped.push_str(if names(authority, upstream) { host } else { authority });
        rest = after;
    }
    mapped.push_str(rest);
    (mapped != text).then(|| HeaderValue::from_str(&mapped).ok()).flatten()
}

/// Whether an authority is the server's; on loopback by any of its names.
pub(super) fn names(authority: &str, upstream: &Upstream) -> bool {
    let port = upstream.port();
    authority.eq_ignore_ascii_case(upstream.authority())
        || (upstream.is_loopback()
            && LOOPBACK.iter().any(|name| authority.eq_ignore_ascii_case(&format!("{name}:{port}"))))
}
