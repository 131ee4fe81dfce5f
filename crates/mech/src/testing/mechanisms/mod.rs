//! Answers that the catalogue does not hold yet, written as they will stand there.

mod abq;
mod qcn;
mod trim;

pub use abq::Abq;
pub use qcn::Qcn;
pub use trim::Trim;

use crate::ack_hold::AckHoldSlot;
use crate::notify::NotifySlot;
use crate::overflow::OverflowSlot;
use crate::params::Values;
use crate::{Mechanism, Registry};

/// The catalogue and these.
pub fn registry() -> Registry {
    Registry::catalogue()
        .with(Mechanism::new(&abq::SPEC, |values| AckHoldSlot::of(Abq::new(values))))
        .with(Mechanism::new(&qcn::SPEC, |values| NotifySlot::of(Qcn::new(values))))
        .with(Mechanism::new(&trim::SPEC, |values| OverflowSlot::custom(Trim::new(values))))
}

/// The parameters of one of them from `name=value name=value`, the rest at their defaults.
///
/// # Panics
/// Where none has this kind, or it knows no such parameter.
pub fn parameters(kind: &str, given: &str) -> Values {
    let all = [&abq::SPEC, &qcn::SPEC, &trim::SPEC];
    let spec = all.into_iter().find(|spec| spec.kind == kind).unwrap_or_else(|| panic!("no {kind}"));
    super::values(spec, given)
}
