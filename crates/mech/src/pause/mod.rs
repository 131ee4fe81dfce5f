//! The pause slot: is the upstream port stopped?
//!
//! It follows the memory that its port's arrivals take and asks for [`crate::Act::Pause`] and
//! [`crate::Act::Resume`].

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

use crate::{ClassSet, Interests, Mechanism, Watch};
use units::Dur;

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
pub const ALL: &[Mechanism<PauseFor>] = &[
    Mechanism::new(&none::SPEC, |_| PauseFor::nobody()),
    Mechanism::new(&port_pause::SPEC, |values| PauseFor::new(values, |v, clock| PortPause::new(v, clock).into())),
    Mechanism::new(&pfc::SPEC, |values| PauseFor::new(values, |v, clock| Pfc::new(v, clock).into())),
];

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
    /// Nobody is stopped.
    pub const fn none() -> PauseSlot {
        PauseSlot::None
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

impl From<PortPause> for PauseSlot {
    fn from(own: PortPause) -> PauseSlot {
        PauseSlot::Port(Box::new(own))
    }
}
impl From<Pfc> for PauseSlot {
    fn from(own: Pfc) -> PauseSlot {
        PauseSlot::Pfc(Box::new(own))
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
