//! `mishap health`: whether a run is up, for whoever must ask from outside, such as a container's HEALTHCHECK.
//!
//! The one rule: it touches no socket. A connection to the proxy would be one of the run's.

use std::fs;
use std::io::{self, Write};

use super::Exit;
use crate::cli::HealthArgs;

/// Prints the URL of a run that is ready.
///
/// # Errors
///
/// When `out` cannot be written; a run that is not ready is an exit of 1.
pub fn run(args: &HealthArgs, out: &mut dyn Write) -> io::Result<Exit> {
    match fs::read_to_string(&args.file) {
        Ok(url) if url.starts_with("http") => out.write_all(url.as_bytes()).map(|()| Exit::DONE),
        Ok(_) => Ok(not_ready(args, "it holds no URL; is it that of mishap run --ready-file?")),
        Err(error) => Ok(not_ready(args, &error.to_string())),
    }
}

fn not_ready(args: &HealthArgs, why: &str) -> Exit {
    Exit::because(1, format!("not ready: {}: {why}", args.file.display()))
}
