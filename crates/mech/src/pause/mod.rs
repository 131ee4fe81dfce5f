//! The pause slot: is the upstream port stopped?
//!
//! It follows the memory that its port's arrivals take and asks for [`crate::Act::Pause`] and
//! [`crate::Act::Resume`].

mod headroom;
mod none;
mod pfc;
mod port_pause;
mod rules;

pub use headroom::{CONTROL_FRAME, Span};
pub use pfc::Pfc;
pub use port_pause::PortPause;
pub use rules::Level;

use crate::params::{Spec, Values};
use crate::{ClassSet, Interests, Watch};
use units::{Clock, Dur};

/// A way to stop the device behind a port.
pub trait Pause: Watch + Send + Sync {
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests { watch: true, pause: true, ..Interests::default() }
    }
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
    /// The link of its port has gone down, or is back: the far end knows nothing of what it was told.
    fn forget(&mut self);
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Pause>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&none::SPEC, &port_pause::SPEC, &pfc::SPEC];

/// One mechanism, or a caller's own.
pub enum PauseSlot {
    /// `none`
    None,
    /// `pause`
    Port(Box<PortPause>),
    /// `pfc`
    Pfc(Box<Pfc>),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Pause>),
}

impl PauseSlot {
    /// The mechanism named `kind` for a port of this rate; `None` where the catalogue has none of that name.
    pub fn build(kind: &str, values: &Values, clock: Clock) -> Option<PauseSlot> {
        Some(match kind {
            "none" => PauseSlot::None,
            "pause" => PauseSlot::Port(Box::new(PortPause::new(values, clock))),
            "pfc" => PauseSlot::Pfc(Box::new(Pfc::new(values, clock))),
            _ => return None,
        })
    }
    /// The mechanism; `None` for `none`.
    pub fn get(&mut self) -> Option<&mut dyn Pause> {
        match self {
            PauseSlot::None => None,
            PauseSlot::Port(m) => Some(&mut **m),
            PauseSlot::Pfc(m) => Some(&mut **m),
            PauseSlot::Custom(m) => Some(&mut **m),
        }
    }
    /// The mechanism, to read.
    pub fn peek(&self) -> Option<&dyn Pause> {
        match self {
            PauseSlot::None => None,
            PauseSlot::Port(m) => Some(&**m),
            PauseSlot::Pfc(m) => Some(&**m),
            PauseSlot::Custom(m) => Some(&**m),
        }
    }
}

impl Clone for PauseSlot {
    fn clone(&self) -> PauseSlot {
        match self {
            PauseSlot::None => PauseSlot::None,
            PauseSlot::Port(m) => PauseSlot::Port(m.clone()),
            PauseSlot::Pfc(m) => PauseSlot::Pfc(m.clone()),
            PauseSlot::Custom(m) => PauseSlot::Custom(m.boxed()),
        }
    }
}
