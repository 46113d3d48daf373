//! The rim over real sockets on loopback: both peers are written by hand, the proxy runs in a thread of this process.
//!
//! Nothing here knows a rule: with no engine work the proxy must be invisible, and with hand-written commands the wire
//! must show exactly what was commanded.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]

mod broken;
mod cuts;
mod endings;
mod heads;
mod holds;
mod relay;
mod rim;

#[allow(dead_code, reason = "shared with other tests, which use the rest")]
#[path = "../common"]
mod common {
    pub(crate) mod body;
    pub(crate) mod peer;
    pub(crate) mod scratch;
    pub(crate) mod upstream;
    pub(crate) mod wire;
}
