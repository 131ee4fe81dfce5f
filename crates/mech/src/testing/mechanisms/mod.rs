//! Answers that the catalogue does not hold yet, written as they will stand there.

mod abq;
mod evict;
mod qcn;
mod srpt;
mod trim;

pub use abq::Abq;
pub use evict::Evict;
pub use qcn::Qcn;
pub use srpt::Srpt;
pub use trim::Trim;

use crate::params::Spec;

/// What tables may name besides the catalogue.
pub const SPECS: &[&Spec] = &[&abq::SPEC, &evict::SPEC, &qcn::SPEC, &srpt::SPEC, &trim::SPEC];
