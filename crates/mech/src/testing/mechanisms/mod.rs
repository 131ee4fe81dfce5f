//! Answers that the catalogue does not hold yet, written as they will stand there.

mod abq;
mod qcn;
mod trim;

pub use abq::Abq;
pub use qcn::Qcn;
pub use trim::Trim;

use crate::params::Spec;

/// What tables may name besides the catalogue.
pub const SPECS: &[&Spec] = &[&abq::SPEC, &qcn::SPEC, &trim::SPEC];

/// The parameters of one of them from `name=value name=value`, the rest at their defaults.
///
/// # Panics
/// Where none has this kind, or it knows no such parameter.
pub fn parameters(kind: &str, given: &str) -> crate::params::Values {
    let spec = SPECS.iter().find(|spec| spec.kind == kind).unwrap_or_else(|| panic!("no {kind}"));
    super::values(spec, given)
}
