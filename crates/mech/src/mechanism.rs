//! A mechanism as a registry holds it: what is declared of it, and how it is made.

use crate::params::{Spec, Values};

/// One mechanism of the slot `S`.
#[derive(Debug)]
pub struct Mechanism<S> {
    /// Its name, what it does, and its parameters.
    pub spec: &'static Spec,
    /// Makes it from validated parameters, for no switch in particular.
    pub make: fn(&Values) -> S,
    /// Parameters that belong to certain words of others.
    pub only: &'static [Only],
    /// Whether it makes sense at a host's NIC too.
    pub at_nic: bool,
}

/// A parameter that may only be given where another is one of certain words.
#[derive(Debug)]
pub struct Only {
    /// The parameter.
    pub key: &'static str,
    /// The other.
    pub by: &'static str,
    /// The words of the other.
    pub words: &'static [&'static str],
}

impl<S> Mechanism<S> {
    /// A mechanism of a switch.
    pub const fn new(spec: &'static Spec, make: fn(&Values) -> S) -> Mechanism<S> {
        Mechanism { spec, make, only: &[], at_nic: false }
    }
    /// The same, which makes sense at a NIC too.
    #[must_use]
    pub const fn at_nic(self) -> Mechanism<S> {
        Mechanism { at_nic: true, ..self }
    }
    /// The same with parameters that belong to certain words of others.
    #[must_use]
    pub const fn only(self, only: &'static [Only]) -> Mechanism<S> {
        Mechanism { only, ..self }
    }
}

impl<S> Clone for Mechanism<S> {
    fn clone(&self) -> Mechanism<S> {
        *self
    }
}
impl<S> Copy for Mechanism<S> {}
