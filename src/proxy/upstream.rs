//! The server that the proxy stands in front of, as its user names it.
//!
//! The URL names an origin; its path is no prefix (paths pass byte for byte), it completes the URL that is printed.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::Uri;

/// An MCP server's origin, and the path under which its users know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    host: String,
    port: u16,
    path: String,
    authority: String,
}

/// Why a URL cannot be an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamError(String);

impl Upstream {
    /// Returns the server's authority, as it goes into `Host`: with the port unless it is 80.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns path and query, as given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The address, if the host is one: then nothing needs to be looked up.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.host.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, self.port))
    }

    /// Whether it is named by a loopback name or address.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        let err = |why: &str| UpstreamError(format!("upstream URL {text:?}: {why}"));
        let hint = "write http://HOST:PORT or http://HOST:PORT/PATH";
        match text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
            Some("http") => {}
            Some("https") => return Err(err("https is not supported yet; use http")),
            Some(scheme) => return Err(err(&format!("the scheme {scheme:?} is not supported; use http"))),
            None => return Err(err(&format!("the scheme is missing; {hint}"))),
        }
        let uri: Uri = text.parse().map_err(|cause| err(&format!("{cause}; {hint}")))?;
        let authority = uri.authority().ok_or_else(|| err(&format!("the host is missing; {hint}")))?;
        if authority.as_str().contains('@') {
            return Err(err("a user name or password is not supported; leave it out"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16();
        if host.is_empty() || (port.is_none() && authority.as_str() != authority.host()) || port == Some(0) {
            return Err(err("the port is not a number from 1 to 65535"));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { host, port: port.unwrap_or(80), path, authority: authority.as_str().to_owned() })
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UpstreamError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_an_origin_and_a_path() {
        for (text, host, port, path, shown) in [
            ("http://127.0.0.1:3000/mcp", "127.0.0.1", 3000, "/mcp", "http://127.0.0.1:3000/mcp"),
            ("http://localhost", "localhost", 80, "/", "http://localhost/"),
            ("http://[::1]:9/a?b=%20", "::1", 9, "/a?b=%20", "http://[::1]:9/a?b=%20"),
        ] {
            let upstream: Upstream = text.parse().unwrap();
            assert_eq!((upstream.host(), upstream.port(), upstream.path()), (host, port, path));
            assert_eq!(upstream.to_string(), shown);
        }
    }

    #[test]
    fn what_cannot_be_reached_is_refused_with_what_to_write() {
        for (text, why) in [
            ("127.0.0.1:3000", "the scheme is missing"),
            ("https://a/mcp", "https is not supported yet"),
            ("unix:///run/x", "is not supported; use http"),
            ("http://me:secret@a/", "user name or password"),
            ("http://a:0/", "port"),
            ("http://a:99999/", "port"),
            ("", "http://HOST:PORT"),
        ] {
            let message = text.parse::<Upstream>().unwrap_err().to_string();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
