//! Pause slot: pauses the far end of a port.
//!
//! An [`crate::Agent`] fills it. The agent follows the memory in use by arrivals of its port, and requests
//! [`crate::Act::Pause`] and [`crate::Act::Resume`].

mod none;
mod parameters;
mod pfc;
mod port_pause;
mod thresholds;

pub use crate::headroom::{CONTROL_FRAME_BYTES, PausedLink};
pub use crate::pause_levels::{PauseLevels, Pausing};
pub use crate::watchdog::{QueueSample, QueueWatch, StormChange, Watchdog, WatchdogAction};
pub use pfc::Pfc;
pub use port_pause::PortPause;
pub use thresholds::QUANTUM_BYTES;

use crate::Mechanism;

agent_slot! {
    /// Slot `pause` of a port: an agent that pauses the far end, or none.
    PauseSlot
}

/// Mechanisms of the slot `pause`.
pub const ALL: &[Mechanism<PauseSlot>] = &[
    Mechanism::new(&none::SPEC, |_| PauseSlot::NONE),
    Mechanism::new(&port_pause::SPEC, |values| PauseSlot::new(PortPause::new(values))),
    Mechanism::new(&pfc::SPEC, |values| PauseSlot::new(Pfc::new(values))),
];

impl PauseSlot {
    /// Returns the interface of the agent that pauses the far end; `None` if no mechanism pauses.
    pub fn pausing(&self) -> Option<&dyn Pausing> {
        self.peek()?.pausing()
    }
}
