//! The pause slot: is the upstream port stopped?
//!
//! It is filled by an [`crate::Agent`] that follows the memory which its port's arrivals take, and asks for
//! [`crate::Act::Pause`] and [`crate::Act::Resume`].

mod headroom;
mod none;
mod pause_for;
mod pfc;
mod port_pause;
mod rules;

pub use crate::pausing::Pausing;
pub use headroom::{CONTROL_FRAME, Span};
pub use pause_for::PauseFor;
pub use pfc::Pfc;
pub use port_pause::PortPause;
pub use rules::Level;

use crate::{AgentSlot, Mechanism};

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<PauseFor>] = &[
    Mechanism::new(&none::SPEC, |_| PauseFor::nobody()),
    Mechanism::new(&port_pause::SPEC, |values| {
        PauseFor::new(values, |v, clock| AgentSlot::of(PortPause::new(v, clock)))
    }),
    Mechanism::new(&pfc::SPEC, |values| PauseFor::new(values, |v, clock| AgentSlot::of(Pfc::new(v, clock)))),
];
