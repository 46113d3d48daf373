//! `second-initialize`: an initialize in a session that another one has opened.

use super::{is_clients, session};
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::monitors::{Found, Machine, Monitor, World};

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "second-initialize",
    weight: Weight::Notice,
    finds: "an initialize in a session whose initialize had been answered; a retry of one that had not is none",
    means: "Some servers begin the session anew, and what was under way in it is lost.",
    clause: "lifecycle, Initialization: \"MUST be the first interaction between client and server\" (2025-11-25)",
    versions: "2024-11-05 to 2025-11-25",
    make: || Box::new(SecondInitialize),
};

#[derive(Debug)]
struct SecondInitialize;

impl Machine for SecondInitialize {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        let begins = |it: &&crate::engine::record::RpcEntry| it.method.as_deref() == Some("initialize");
        if !is_clients(point) || !point.rpc.iter().any(|rpc| begins(&rpc) && rpc.kind == "request") {
            return Vec::new();
        }
        let opened = world.requests.all().find(|request| {
            let answered = request.answer.as_ref().is_some_and(|it| it.error.is_none() && it.seq < point.seq);
            request.session == session(point) && request.method == "initialize" && request.seq < point.seq && answered
        });
        let Some(opened) = opened else { return Vec::new() };
        let words = format!("initialize in session {}, which {} had opened", opened.session, opened.words());
        let after = opened.touched.iter().cloned().collect();
        vec![Found { after, ..Found::at(point, words) }]
    }
}
