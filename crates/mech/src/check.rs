//! Errors and warnings about parameters that conflict with each other or with other mechanisms of the switch.

use core::fmt::Display;
use std::borrow::Cow;
use units::{Amount, Rate};

/// Priority groups with accounts in the memory of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriorityGroups {
    /// Kind of buffer without priority groups.
    #[default]
    Unsupported,
    /// No groups, although the kind of buffer may have some.
    Absent,
    /// Groups, none of which is lossless.
    Lossy,
    /// Groups, some or all of which are lossless.
    Lossless,
}

/// Other mechanisms and settings that a mechanism is checked against.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// Name of the buffer mechanism of the same switch.
    pub buffer: &'a str,
    /// Buffer memory of each port, or of the whole switch if ports share it; `None` is unlimited.
    pub memory: Option<Amount>,
    /// Link rates of the switch's ports, if known.
    pub rates: Option<&'a [Rate]>,
    /// Priority groups of the buffer memory, which have thresholds of their own.
    pub groups: PriorityGroups,
    /// True if ports share the buffer memory.
    pub shared: bool,
    /// True if an override of the scenario applies to this switch.
    pub overridden: bool,
    /// True if the mechanism to check is at a host's NIC.
    pub nic: bool,
    /// Number of ports of the switch, if known.
    pub ports: Option<u16>,
    /// True if switches have the addresses of a fat-tree.
    pub addresses: bool,
    /// Returns true if the scenario sets the parameter of this name.
    pub is_set: &'a dyn Fn(&str) -> bool,
}

impl CheckContext<'_> {
    /// Context of a mechanism without other mechanisms beside it.
    pub const EMPTY: CheckContext<'static> = CheckContext {
        buffer: "",
        memory: None,
        rates: None,
        groups: PriorityGroups::Unsupported,
        shared: false,
        overridden: false,
        nic: false,
        ports: None,
        addresses: false,
        is_set: &|_| false,
    };
}

/// Error in the value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Name of the parameter with the error, or `kind`. Dots separate the names and numbers of nested tables.
    pub key: Cow<'static, str>,
    /// Description of the wrong value.
    pub found: String,
    /// Description of the values that are allowed.
    pub rule: String,
}

/// Errors and warnings about the parameters of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Errors, for which the scenario is rejected.
    pub errors: Vec<ParamError>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Report {
    /// Adds an error about a parameter or about `kind`.
    pub fn add_error(&mut self, key: impl Into<Cow<'static, str>>, found: impl Display, rule: impl Display) {
        self.errors.push(ParamError { key: key.into(), found: found.to_string(), rule: rule.to_string() });
    }
    /// Adds a warning for the user.
    pub fn add_warning(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}

/// Splits an amount of memory into its number and its unit in words (`packets` or `bytes`).
pub(crate) fn number_and_unit(amount: Amount) -> (u64, &'static str) {
    match amount {
        Amount::Packets(n) => (n, "packets"),
        Amount::Bytes(n) => (n, "bytes"),
    }
}
