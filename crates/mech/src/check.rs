//! What a mechanism is refused or warned with, where its parameters do not go together or it does not go
//! with what it stands beside.

use core::fmt::Display;
use units::Amount;

/// What a mechanism stands beside.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    /// The name of the buffer of the same switch.
    pub buffer: &'a str,
    /// The memory of that buffer: of a port, or of the switch where ports share; `None` is endless.
    pub memory: Option<Amount>,
    /// Whether ports share it.
    pub shared: bool,
    /// Whether the scenario has replaced some slots of this switch and not others.
    pub overridden: bool,
    /// Whether this is a host's NIC.
    pub nic: bool,
    /// The ports of the switch, where they are known.
    pub ports: Option<u16>,
    /// Whether switches have the addresses of a fat-tree.
    pub addresses: bool,
    /// Whether one of the mechanism's own parameters was written in the scenario.
    pub given: &'a dyn Fn(&str) -> bool,
}

impl Beside<'_> {
    /// A mechanism by itself.
    pub const NOTHING: Beside<'static> = Beside {
        buffer: "",
        memory: None,
        shared: false,
        overridden: false,
        nic: false,
        ports: None,
        addresses: false,
        given: &|_| false,
    };
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The parameter, or `kind`.
    pub key: &'static str,
    /// What was found.
    pub found: String,
    /// What is expected.
    pub rule: String,
}

/// What a mechanism has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What it is refused with.
    pub wrong: Vec<Wrong>,
    /// What a user should know.
    pub notes: Vec<String>,
}

impl Report {
    /// Something is wrong with a parameter, or with `kind`.
    pub fn wrong(&mut self, key: &'static str, found: impl Display, rule: impl Display) {
        self.wrong.push(Wrong { key, found: found.to_string(), rule: rule.to_string() });
    }
    /// Something is worth knowing.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

/// The number of an amount, and its unit in words.
pub(crate) fn in_words(amount: Amount) -> (u64, &'static str) {
    match amount {
        Amount::Packets(n) => (n, "packets"),
        Amount::Bytes(n) => (n, "bytes"),
    }
}
