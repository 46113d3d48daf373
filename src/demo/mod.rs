//! A small real MCP server and client (protocol 2025-11-25 on Streamable HTTP), and the scenes that show the founding
//! bugs with them. No simulation: both speak HTTP over loopback sockets, and between them stands the real proxy.
//!
//! They are peers, not parts of the proxy: they share no code with `engine` or `proxy`, so that a fault in a parser
//! there cannot hide in here too. The rule they keep: one code path each; a faulty and a fixed peer differ in the value
//! of one argument ([`server::Routing`], [`client::OnStreamEnd`], [`client::Attribution`]).

pub mod client;
pub mod programme;
pub mod scene;
pub mod server;
pub mod stage;

/// The protocol version both speak.
pub const PROTOCOL: &str = "2025-11-25";
