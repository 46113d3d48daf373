//! What the server tells about itself, for people who watch it and for tests that need a fact to wait for.

use std::fmt;
use std::time::Duration;

/// Something that happened in the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A session's standalone GET stream was opened.
    GetOpened,
    /// A second GET was refused with 409, because the first is open.
    GetRefused,
    /// A call of this tool began.
    Entered(String),
    /// A question was written to the stream of its call.
    AskedOnCall(&'static str),
    /// A question was written to the GET stream.
    AskedOnGet(&'static str),
    /// A question was dropped, because the stream it rides is not open.
    Dropped(&'static str),
    /// A question was not answered within this time.
    Unanswered(&'static str, Duration),
    /// A call of this tool was answered.
    Ended(String),
    /// The client cancelled a request.
    Cancelled,
    /// The client ended its session.
    SessionEnded,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GetOpened => f.write_str("the GET stream is open"),
            Self::GetRefused => f.write_str("a second GET stream was refused with 409"),
            Self::Entered(tool) => write!(f, "tools/call {tool} began"),
            Self::AskedOnCall(method) => write!(f, "{method} sent on the stream of its call"),
            Self::AskedOnGet(method) => write!(f, "{method} sent on the GET stream"),
            Self::Dropped(method) => write!(f, "{method} DROPPED: the stream it rides is not open"),
            Self::Unanswered(method, after) => write!(f, "{method} had no answer within {} ms", after.as_millis()),
            Self::Ended(tool) => write!(f, "tools/call {tool} was answered"),
            Self::Cancelled => f.write_str("the client cancelled a request"),
            Self::SessionEnded => f.write_str("the client ended its session"),
        }
    }
}
