//! Answers that the catalogue does not hold yet, written as they will stand there.

mod abq;
mod qcn;

pub use abq::Abq;
pub use qcn::Qcn;

use crate::ack_hold::AckHoldSlot;
use crate::notify::NotifySlot;
use crate::{Mechanism, Registry};

/// The catalogue and these.
pub fn registry() -> Registry {
    Registry::catalogue()
        .with(Mechanism::new(&abq::SPEC, |values| AckHoldSlot::of(Abq::new(values))))
        .with(Mechanism::new(&qcn::SPEC, |values| NotifySlot::of(Qcn::new(values))))
}
