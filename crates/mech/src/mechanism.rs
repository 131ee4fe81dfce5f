//! Registry entry of a mechanism: its declaration and its constructor.

use crate::params::{Spec, Values};

/// Registry entry of a mechanism for the slot `S`.
#[derive(Debug)]
pub struct Mechanism<S> {
    /// Declaration of the mechanism: name, description and parameters.
    pub spec: &'static Spec,
    /// Constructor of the mechanism from validated parameters. Its result belongs to no switch yet.
    pub make: fn(&Values) -> S,
    /// Parameters that are allowed only with certain values of other parameters.
    pub conditions: &'static [ParamCondition],
    /// True if the mechanism may also be used at a host's NIC.
    pub at_nic: bool,
}

/// Parameter that is allowed only if another parameter has one of certain values.
#[derive(Debug)]
pub struct ParamCondition {
    /// Name of the parameter that the condition restricts.
    pub key: &'static str,
    /// Name of the other parameter, whose value is tested.
    pub other_key: &'static str,
    /// Values of the other parameter with which this one is allowed.
    pub words: &'static [&'static str],
}

impl<S> Mechanism<S> {
    /// Creates the registry entry of a switch mechanism.
    pub const fn new(spec: &'static Spec, make: fn(&Values) -> S) -> Mechanism<S> {
        Mechanism { spec, make, conditions: &[], at_nic: false }
    }
    /// Returns the registry entry, with the mechanism also allowed at a NIC.
    #[must_use]
    pub const fn allowed_at_nic(self) -> Mechanism<S> {
        Mechanism { at_nic: true, ..self }
    }
    /// Returns the registry entry with conditions for parameters that depend on others.
    #[must_use]
    pub const fn with_conditions(self, conditions: &'static [ParamCondition]) -> Mechanism<S> {
        Mechanism { conditions, ..self }
    }
}

impl<S> Clone for Mechanism<S> {
    fn clone(&self) -> Mechanism<S> {
        *self
    }
}
impl<S> Copy for Mechanism<S> {}
