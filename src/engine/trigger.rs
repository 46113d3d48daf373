//! Which of the selected points a rule fires at (rule R11), and what is counted together.

/// Which of the selected points a rule fires at (rule R11).
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// Only these, counted from 1; empty: all.
    pub nth: Vec<u64>,
    /// Leave out the first so many.
    pub skip: u64,
    /// Of the rest every so-many-th; 1: all.
    pub every: u64,
    /// Drawn for each point by identity, 0 to 1.
    pub probability: f64,
    /// Fire at most so often; `None`: no limit.
    pub times: Option<u64>,
}

impl Default for Trigger {
    fn default() -> Self {
        Self { nth: Vec::new(), skip: 0, every: 1, probability: 1.0, times: None }
    }
}

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// One exchange.
    Exchange,
    /// All that one client request owns.
    Owner,
    /// One client connection.
    Connection,
    /// One MCP session.
    #[default]
    Session,
    /// The whole run.
    Run,
}
