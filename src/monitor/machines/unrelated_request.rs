//! `unrelated-request`: the server asks on the standalone GET while a call of the client is open.

use super::{REMEMBERED, is_servers, session};
use crate::engine::bounded::Bounded;
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::key;
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::request::Request;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "unrelated-request",
    weight: Weight::Notice,
    finds: "a server's request (a ping aside) on the standalone GET while a call of the client was open, once in a session \
            for each method",
    means: "If it belongs to that call it should be on the call's stream: it is lost while no GET is open, and the client \
            cannot tell whose it is. Whether it belongs to it is not known.",
    clause: "transports, Listening for Messages from the Server 4: \"SHOULD be unrelated to any concurrently-running JSON-RPC \
             request\" (2025-11-25); SEP-2260",
    versions: "2025-03-26 to 2025-11-25",
    make: || Box::new(UnrelatedRequest(Bounded::new(REMEMBERED))),
};

/// What was told already, by session and method.
#[derive(Debug)]
struct UnrelatedRequest(Bounded<(u64, String), ()>);

impl Machine for UnrelatedRequest {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        let origin = key::origin(key::exchange(&point.key)).unwrap_or_default();
        if !is_servers(point) || !origin.contains("/get:") {
            return Vec::new();
        }
        let asked = point.rpc.iter().find(|rpc| rpc.kind == "request" && rpc.method.as_deref() != Some("ping"));
        let Some((rpc, method)) = asked.and_then(|rpc| Some((rpc, rpc.method.clone()?))) else { return Vec::new() };
        let open = world.requests.all().rev().find(|request| is_open(request, point));
        let named = (session(point), method);
        let Some(open) = open.filter(|_| self.0.get(&named).is_none()) else { return Vec::new() };
        let id = rpc.id.as_ref().map(|id| format!(" id {id}")).unwrap_or_default();
        let words = format!("{}{id} came on the GET while {} was open", named.1, open.words());
        self.0.insert(named, ());
        vec![Found::at(point, words)]
    }
}

/// Whether a call was under way when the point arrived.
fn is_open(request: &Request, point: &PointEntry) -> bool {
    let begun = request.session == session(point) && request.seq < point.seq && request.method != "ping";
    let answered = request.answer.as_ref().is_some_and(|answer| answer.seq < point.seq);
    begun && !answered && request.settled.is_none_or(|settled| settled > point.arrived)
}
