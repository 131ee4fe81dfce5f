//! What is asked of an agent that pauses the far end of its port.

use crate::ClassSet;
use units::Dur;

/// How an agent holds back what the device behind its port sends.
pub trait Pausing {
    /// The classes that are counted, paused and resumed together with one; none where that one never
    /// is paused.
    fn pause_group(&self, class: u8) -> ClassSet;
    /// The classes that the device behind the port has been told not to send.
    fn stopped(&self) -> ClassSet;
    /// The XOFF and XON thresholds in bytes, with so many free in the shared memory.
    fn thresholds(&self, free: Option<u64>) -> (u64, u64);
    /// How long a pause lasts, and after how long it is refreshed, if ever.
    fn duration(&self) -> (Dur, Option<Dur>);
    /// Whether a pause is refreshed before its quanta expire, by more than so much.
    fn holds(&self, margin: Dur) -> bool {
        let (duration, again) = self.duration();
        again.is_some_and(|again| again.saturating_add(margin) < duration)
    }
    /// Whether it is a fault where a packet of a class that it pauses finds no memory.
    fn lossless(&self) -> bool;
}
