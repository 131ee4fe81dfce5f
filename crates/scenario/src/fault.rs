//! Faults within one table of a scenario, without file and line.

/// Fault of a value in a table of a scenario: its key, the text found, and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Key of the faulty value within its table.
    pub field: String,
    /// Text that says what was found.
    pub found: String,
    /// Text that says what is allowed.
    pub rule: String,
}
