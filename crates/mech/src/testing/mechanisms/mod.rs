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
