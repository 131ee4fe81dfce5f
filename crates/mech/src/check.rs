//! Errors and warnings of a mechanism: parameters that conflict with each other, or with other mechanisms of the
//! switch.

use core::fmt::Display;
use units::Amount;

/// Other mechanisms and settings that a mechanism is checked against.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// Name of the buffer mechanism of the same switch.
    pub buffer: &'a str,
    /// Memory of that buffer, per port, or of the whole switch if ports share it; `None` is unlimited.
    pub memory: Option<Amount>,
    /// True if ports share the memory.
    pub shared: bool,
    /// True if an override of the scenario applies to this switch.
    pub overridden: bool,
    /// True if the mechanism is at a host's NIC.
    pub nic: bool,
    /// Number of ports of the switch, if known.
    pub ports: Option<u16>,
    /// True if switches have the addresses of a fat-tree.
    pub addresses: bool,
    /// Returns true if the scenario sets this parameter of the mechanism.
    pub is_set: &'a dyn Fn(&str) -> bool,
}

impl CheckContext<'_> {
    /// Mechanism without others beside it.
    pub const EMPTY: CheckContext<'static> = CheckContext {
        buffer: "",
        memory: None,
        shared: false,
        overridden: false,
        nic: false,
        ports: None,
        addresses: false,
        is_set: &|_| false,
    };
}

/// Error in one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Name of the parameter, or `kind`.
    pub key: &'static str,
    /// Value found.
    pub found: String,
    /// Value expected.
    pub rule: String,
}

/// Errors and warnings of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Errors, for which the scenario is refused.
    pub errors: Vec<ParamError>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Report {
    /// Adds an error in a parameter or in `kind`.
    pub fn add_error(&mut self, key: &'static str, found: impl Display, rule: impl Display) {
        self.errors.push(ParamError { key, found: found.to_string(), rule: rule.to_string() });
    }
    /// Adds a warning.
    pub fn add_warning(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}

/// Returns the number of an amount and its unit in words.
pub(crate) fn number_and_unit(amount: Amount) -> (u64, &'static str) {
    match amount {
        Amount::Packets(n) => (n, "packets"),
        Amount::Bytes(n) => (n, "bytes"),
    }
}
