//! Faults within one table of a scenario, without file and line.

/// Value that a table of a scenario may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Key within the table.
    pub field: String,
    /// Text that says what was found.
    pub found: String,
    /// Text that says what is allowed.
    pub rule: String,
}
