//! `rewrite`: another content for the same unit.

/// `rewrite`: for now values set in a block's or a request's message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rewrite {
    /// JSON pointer and the value put there; missing objects on the way are made. `"${owner.id}"` and the other
    /// names of language.md 2, "Variables", are filled in.
    pub set: Vec<(String, serde_json::Value)>,
}
