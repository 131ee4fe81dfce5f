//! What is wrong with one table of a scenario.

/// One thing that a scenario's table may not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// key within the table
    pub field: String,
    /// what was found
    pub found: String,
    /// what is allowed
    pub rule: String,
}
