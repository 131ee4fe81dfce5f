//! The pause slot: is the upstream port paused?
//!
//! It is filled by an [`crate::Agent`] that follows the memory which its port's arrivals take, and asks for
//! [`crate::Act::Pause`] and [`crate::Act::Resume`].

mod given;
mod headroom;
mod none;
mod pfc;
mod port_pause;
mod thresholds;

pub use crate::pause_levels::{Level, Pausing};
pub use headroom::{CONTROL_FRAME, Span};
pub use pfc::Pfc;
pub use port_pause::PortPause;

use crate::Mechanism;

agent_slot! {
    /// Whether and when the far end of a port is paused.
    PauseSlot
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<PauseSlot>] = &[
    Mechanism::new(&none::SPEC, |_| PauseSlot::NONE),
    Mechanism::new(&port_pause::SPEC, |values| PauseSlot::new(PortPause::new(values))),
    Mechanism::new(&pfc::SPEC, |values| PauseSlot::new(Pfc::new(values))),
];

impl PauseSlot {
    /// How it pauses; `None` where nobody is paused.
    pub fn pausing(&self) -> Option<&dyn Pausing> {
        self.peek()?.pausing()
    }
}
