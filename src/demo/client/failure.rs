//! Why a request of the client has no result.

use std::fmt;
use std::time::Duration;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The URL is not `http://HOST[:PORT]/PATH`.
    BadUrl(String),
    /// The server could not be reached, or the connection broke before the answer's head.
    Transport(String),
    /// The answer's status.
    Status(u16),
    /// The answer's stream ended, well-formed, without the answer.
    StreamEnded,
    /// The answer's stream broke off before the answer.
    StreamBroke(String),
    /// The answer is no JSON-RPC.
    NotJsonRpc,
    /// The server answered with an error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// Nothing came in this time.
    Timeout(Duration),
    /// The client was closed.
    Closed,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadUrl(url) => write!(f, "{url:?} is no URL of an MCP server; write http://HOST:PORT/PATH"),
            Self::Transport(why) => f.write_str(why),
            Self::Status(status) => write!(f, "HTTP status {status}"),
            Self::StreamEnded => f.write_str("the stream ended without the answer"),
            Self::StreamBroke(why) => write!(f, "the stream broke before the answer: {why}"),
            Self::NotJsonRpc => f.write_str("the answer is no JSON-RPC"),
            Self::Error { code, message } => write!(f, "error {code}: {message}"),
            Self::Timeout(after) => write!(f, "no answer in {} ms", after.as_millis()),
            Self::Closed => f.write_str("the client was closed"),
        }
    }
}

impl std::error::Error for Failure {}
