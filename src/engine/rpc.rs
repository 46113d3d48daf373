//! A tolerant look into a JSON-RPC message: what it is and whose, without building its tree.

use serde::{Deserialize, Serialize};

/// A JSON-RPC id; it keeps its type: `1` is not `"1"` (rule R10).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Id {
    /// The JSON text of a number.
    Number(String),
    /// A string.
    Text(String),
}
