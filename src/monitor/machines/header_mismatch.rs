//! `header-mismatch`: a request's headers say something else than its body.

use super::is_clients;
use crate::engine::record::{PointEntry, RpcEntry, Weight};
use crate::monitor::monitors::{Found, Machine, Monitor, World};

/// The requests of which `Mcp-Name` mirrors the name.
const NAMED: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];
/// How a value begins that no header could hold as it is.
const ENCODED: &str = "=?base64?";

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "header-mismatch",
    weight: Weight::Notice,
    finds: "a request whose `Mcp-Method`, `Mcp-Name` or `MCP-Protocol-Version` differs from its body; in a session, a \
            version other than the one agreed on",
    means: "What stands before the server (a gateway, a router) takes it for another request than the server does. A header \
            that is missing, and a name in Base64, are not looked at.",
    clause: "streamable-http, Request Metadata: \"MUST match\" (2026-07-28); transports, Protocol Version Header: \"SHOULD be \
             the one negotiated\" (2025-11-25)",
    versions: "2025-06-18 and later",
    make: || Box::new(HeaderMismatch),
};

#[derive(Debug)]
struct HeaderMismatch;

impl Machine for HeaderMismatch {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        let [rpc] = &point.rpc[..] else { return Vec::new() };
        if !is_clients(point) {
            return Vec::new();
        }
        let agreed = point.session.and_then(|session| world.protocols.get(&session)).map(String::as_str);
        let words = differences(point, rpc, agreed);
        words.into_iter().map(|words| Found::at(point, words)).collect()
    }
}

fn differences(point: &PointEntry, rpc: &RpcEntry, agreed: Option<&str>) -> Vec<String> {
    let named = rpc.method.as_deref().is_some_and(|method| NAMED.contains(&method));
    // A session's version is agreed on by the initialize itself.
    let agreed = agreed.filter(|_| rpc.method.as_deref() != Some("initialize"));
    let version = rpc.version.as_deref().or(agreed);
    let pairs = [
        ("mcp-method", "Mcp-Method", rpc.method.as_deref()),
        ("mcp-name", "Mcp-Name", rpc.name.as_deref().filter(|_| named)),
        ("mcp-protocol-version", "MCP-Protocol-Version", version),
    ];
    let differs = |(header, shown, body): (&str, &str, Option<&str>)| {
        let said = point.headers.iter().find(|(name, _)| name == header).map(|(_, value)| value.as_str())?;
        let body = body.filter(|body| *body != said && !said.starts_with(ENCODED))?;
        Some(format!("{shown}: {said} on a request that is {body}"))
    };
    pairs.into_iter().filter_map(differs).collect()
}
