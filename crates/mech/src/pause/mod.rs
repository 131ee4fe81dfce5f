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

pub use headroom::{CONTROL_FRAME, Span};
pub use pause_for::PauseFor;
pub use pfc::Pfc;
pub use port_pause::PortPause;
pub use rules::Level;

use crate::{AgentSlot, ClassSet, Mechanism};
use units::Dur;

/// How an agent holds back what the device behind its port sends.
pub trait Pausing {
    /// The classes that are counted, paused and resumed together with one; none where that one never
    /// is stopped.
    fn pause_group(&self, class: u8) -> ClassSet;
    /// The classes that the device behind the port has been told not to send.
    fn stopped(&self) -> ClassSet;
    /// Bytes from which it says stop, and down to which it says go, with so many free in the shared memory.
    fn thresholds(&self, free: Option<u64>) -> (u64, u64);
    /// How long a stop lasts, and after how long it is said again, if ever.
    fn duration(&self) -> (Dur, Option<Dur>);
    /// Whether it says stop again before the quanta of the last stop have run out, by more than so much.
    fn holds(&self, margin: Dur) -> bool {
        let (duration, again) = self.duration();
        again.is_some_and(|again| again.saturating_add(margin) < duration)
    }
    /// Whether it is a fault where a packet of a class that it stops finds no memory.
    fn lossless(&self) -> bool;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<PauseFor>] = &[
    Mechanism::new(&none::SPEC, |_| PauseFor::nobody()),
    Mechanism::new(&port_pause::SPEC, |values| {
        PauseFor::new(values, |v, clock| AgentSlot::of(PortPause::new(v, clock)))
    }),
    Mechanism::new(&pfc::SPEC, |values| PauseFor::new(values, |v, clock| AgentSlot::of(Pfc::new(v, clock)))),
];
