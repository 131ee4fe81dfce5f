//! Registry entry of a mechanism: its declaration and its constructor.

use crate::params::{Spec, Values};

/// Mechanism of the slot `S`.
#[derive(Debug)]
pub struct Mechanism<S> {
    /// Declaration: name, description and parameters.
    pub spec: &'static Spec,
    /// Constructor from validated parameters. Its result belongs to no switch yet.
    pub make: fn(&Values) -> S,
    /// Parameters that require certain words of other parameters.
    pub conditions: &'static [ParamCondition],
    /// True if the mechanism may also be used at a host's NIC.
    pub at_nic: bool,
}

/// Parameter that is allowed only if another one has one of certain words.
#[derive(Debug)]
pub struct ParamCondition {
    /// Name of the parameter.
    pub key: &'static str,
    /// Name of the other parameter.
    pub other_key: &'static str,
    /// Words of the other parameter that allow this one.
    pub words: &'static [&'static str],
}

impl<S> Mechanism<S> {
    /// Creates the entry of a switch mechanism.
    pub const fn new(spec: &'static Spec, make: fn(&Values) -> S) -> Mechanism<S> {
        Mechanism { spec, make, conditions: &[], at_nic: false }
    }
    /// Returns the entry, also allowed at a NIC.
    #[must_use]
    pub const fn allowed_at_nic(self) -> Mechanism<S> {
        Mechanism { at_nic: true, ..self }
    }
    /// Returns the entry with parameters that require words of others.
    #[must_use]
    pub const fn with_conditions(self, only: &'static [ParamCondition]) -> Mechanism<S> {
        Mechanism { conditions: only, ..self }
    }
}

impl<S> Clone for Mechanism<S> {
    fn clone(&self) -> Mechanism<S> {
        *self
    }
}
impl<S> Copy for Mechanism<S> {}
