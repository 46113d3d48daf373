//! A transparent reverse proxy for MCP Streamable HTTP that, told by a profile, holds, delays, reorders, moves and
//! cuts chosen requests, answers and SSE events, so that a race or lifecycle bug happens on every run.
//!
//! The crate reads in the order a run does:
//!
//! * [`profile`] turns the text of a profile into the engine's rules, or says where it is wrong;
//! * [`engine`] is pure: it takes what arrives, with its time, and returns what is to be done;
//! * [`proxy`] is the rim: sockets, HTTP, the clock; it feeds the engine and carries its commands out;
//! * [`monitor`] watches what the engine recorded: what became of each request, who hangs, what the protocol forbids;
//! * [`journal`] writes what the engine recorded; [`report`] reads it back: verdict and timeline;
//! * [`demo`] is a small real server and client that show the three founding bugs;
//! * [`guard`] starts the command and the server, and leaves nothing of them behind;
//! * [`command`] holds one small file for each subcommand; [`log`] takes what they log to stderr.

pub mod cli;
pub mod command;
pub mod demo;
pub mod engine;
pub mod guard;
pub mod journal;
pub mod log;
pub mod monitor;
pub mod profile;
pub mod proxy;
pub mod report;
