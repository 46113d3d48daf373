//! What the wire tests stand on: both ends of a connection written by hand, so that a test decides every byte.
//!
//! It is not a client library: there is no HTTP or MCP crate below it, because what such a crate tidies up is what these
//! tests look at. The one rule: nothing waits for a time. Every read waits for bytes or an end, and fails after
//! [`wire::PATIENCE`] with what it was waiting for.

pub(crate) mod body;
pub(crate) mod broken;
pub(crate) mod journal;
pub(crate) mod messages;
pub(crate) mod mishap;
pub(crate) mod peer;
pub(crate) mod route;
pub(crate) mod scene;
pub(crate) mod scratch;
pub(crate) mod upstream;
pub(crate) mod wire;
