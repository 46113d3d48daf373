//! Real MCP clients and servers, pinned by version, on both sides of the real binary (`tests/run` installs them).
//!
//! What is expected here was measured, cell by cell, before there was a proxy to cause it. Each fault has its control:
//! the same cells without the profile, which must come out the other way.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "sdk/answers_cross.rs"]
mod answers_cross;
#[path = "sdk/cells/mod.rs"]
mod cells;
#[path = "sdk/conformance.rs"]
mod conformance;
#[path = "sdk/examples.rs"]
mod examples;
#[path = "sdk/findings.rs"]
mod findings;
#[path = "sdk/get_late_by.rs"]
mod get_late_by;
#[path = "sdk/get_opens_late.rs"]
mod get_opens_late;
#[path = "sdk/harness/mod.rs"]
mod harness;
#[path = "sdk/one_sdk.rs"]
mod one_sdk;
#[path = "sdk/other_stream.rs"]
mod other_stream;
#[path = "sdk/post_stream_lost/mod.rs"]
mod post_stream_lost;
#[path = "sdk/several.rs"]
mod several;
#[path = "sdk/symptoms/mod.rs"]
mod symptoms;
#[path = "sdk/wire/mod.rs"]
mod wire;
