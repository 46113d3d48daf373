//! `mishap schema`: prints the JSON Schema of profile files.

use std::io::{self, Write};

use super::Exit;
use crate::profile::schema::json_schema;

/// Writes the schema.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn run(out: &mut dyn Write) -> io::Result<Exit> {
    writeln!(out, "{:#}", json_schema())?;
    Ok(Exit::DONE)
}
