//! What is asked of an agent that pauses the far end of its port.

use crate::ClassSet;
use units::Dur;

/// How much memory in use is too much, and how much is little enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As many bytes at any time.
    Fixed {
        /// Paused from here on.
        xoff: u64,
        /// Resumed from here down.
        xon: u64,
    },
    /// A multiple of what is free in the memory that all ports share.
    OfFree {
        /// The multiple, in units of 2⁻³².
        alpha: u64,
        /// Bytes between XOFF and XON.
        offset: u64,
    },
}

impl Level {
    /// The XOFF and XON thresholds, bytes, with so many free in the shared memory.
    pub fn at(&self, free: Option<u64>) -> (u64, u64) {
        match *self {
            Level::Fixed { xoff, xon } => (xoff, xon),
            Level::OfFree { alpha, offset } => {
                let times = (u128::from(alpha) * u128::from(free.unwrap_or(u64::MAX))) >> 32;
                let xoff = u64::try_from(times).unwrap_or(u64::MAX);
                (xoff, xoff.saturating_sub(offset))
            }
        }
    }
}

/// How an agent holds back what the device behind its port sends.
pub trait Pausing {
    /// The classes that are counted, paused and resumed together with one; none where that one never
    /// is paused.
    fn pause_group(&self, class: u8) -> ClassSet;
    /// The classes that the device behind the port has been told not to send.
    fn paused(&self) -> ClassSet;
    /// How much memory in use is too much.
    fn level(&self) -> Level;
    /// The XOFF and XON thresholds in bytes, with so many free in the shared memory.
    fn thresholds(&self, free: Option<u64>) -> (u64, u64) {
        self.level().at(free)
    }
    /// From the arrival of a pause frame at the device behind the port until it takes effect there.
    fn response(&self) -> Dur;
    /// How long a pause lasts, and after how long it is refreshed, if ever; zero for no port.
    fn duration(&self) -> (Dur, Option<Dur>);
    /// Whether a pause is refreshed before its quanta expire, by more than so much.
    fn holds(&self, margin: Dur) -> bool {
        let (duration, again) = self.duration();
        again.is_some_and(|again| again.saturating_add(margin) < duration)
    }
    /// Whether it is a fault where a packet of a class that it pauses finds no memory.
    fn lossless(&self) -> bool;
}
