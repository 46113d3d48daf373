//! What a rule did to a point, beside what held or cut it: what it rewrote, made, sent elsewhere, kept for a resume.
//!
//! The one rule: what the point itself says is not said again.

use crate::engine::record::{PointEntry, PointFate};

/// What rules made of a head or a request, behind what came: `, made 401, mcp-session-id removed`.
pub(super) fn remade(point: &PointEntry) -> String {
    let status = point.made_status.map(|status| format!(", made {status}")).unwrap_or_default();
    let edits = point.made_headers.iter();
    let edits = edits.map(|(name, value)| format!(", {name} {}", if value.is_some() { "set" } else { "removed" }));
    status + &edits.collect::<String>()
}

/// What a rule that fired at this point did, by the word of its fault.
pub(super) fn done(point: &PointEntry, what: &str) -> String {
    let left = matches!(point.fate, PointFate::Passed | PointFate::Moved);
    match (what, point.size, point.upstream) {
        ("rewrite" | "reframe", Some(size), _) if left => format!("{what}, {size} bytes made {}", point.bytes),
        ("route", _, Some(server)) => format!("{what}, to server {server}"),
        _ => what.to_owned(),
    }
}

/// What a rule did to this point that had fired at another of its exchange; nothing but its name where that says enough.
pub(super) fn done_since(point: &PointEntry, what: Option<&str>) -> Option<&'static str> {
    (point.point == "block" && what == Some("resumable")).then_some("kept for a resume")
}

/// What a rule made, by the word of its fault.
pub(super) fn making(point: &PointEntry, what: Option<&str>) -> &'static str {
    match what {
        Some("inject") => "added by the rule",
        Some("duplicate") => "the same again",
        Some("respond") => "in the server's place",
        Some("resumable") if point.stream.as_deref() == Some("resume") => "from what was kept",
        _ => "made by the rule",
    }
}
