//! Interface of agents that pause the far end of their port.

use crate::ClassSet;
use crate::watchdog::Watchdog;
use units::Dur;

/// XOFF and XON thresholds of memory in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseLevels {
    /// Fixed XOFF and XON thresholds.
    Fixed {
        /// Bytes in use from which the far end is paused.
        xoff: u64,
        /// Bytes in use down to which the far end is resumed.
        xon: u64,
    },
    /// Dynamic thresholds: XOFF is a multiple of the free memory that all ports share.
    ShareOfFree {
        /// XOFF threshold as a multiple of the free memory, in units of 2⁻³².
        alpha: u64,
        /// Difference between the XOFF and XON thresholds in bytes.
        offset: u64,
    },
    /// Thresholds of priority groups, which the memory of the switch has.
    OfGroups,
}

impl PauseLevels {
    /// Returns the XOFF and XON thresholds in bytes, given the free bytes of the shared memory.
    pub fn in_bytes(&self, free: Option<u64>) -> (u64, u64) {
        match *self {
            PauseLevels::Fixed { xoff, xon } => (xoff, xon),
            PauseLevels::ShareOfFree { alpha, offset } => {
                let times = (u128::from(alpha) * u128::from(free.unwrap_or(u64::MAX))) >> 32;
                let xoff = u64::try_from(times).unwrap_or(u64::MAX);
                (xoff, xoff.saturating_sub(offset))
            }
            PauseLevels::OfGroups => (u64::MAX, u64::MAX),
        }
    }
}

/// Interface of an agent that pauses the device behind its port.
///
/// ```
/// use mech::ClassSet;
/// use mech::pause::{PauseLevels, Pausing};
/// use units::Dur;
///
/// /// Pausing of class 3 between fixed thresholds, in pauses of 100 us that are refreshed after 80 us.
/// struct ClassThree {
///     is_paused: bool,
/// }
///
/// impl Pausing for ClassThree {
///     fn pause_group(&self, class: u8) -> ClassSet {
///         if class == 3 { ClassSet::single(3) } else { ClassSet::NONE }
///     }
///     fn paused_classes(&self) -> ClassSet {
///         if self.is_paused { ClassSet::single(3) } else { ClassSet::NONE }
///     }
///     fn pause_levels(&self) -> PauseLevels {
///         PauseLevels::Fixed { xoff: 30_000, xon: 20_000 }
///     }
///     fn response_time(&self) -> Dur {
///         Dur::us(1)
///     }
///     fn duration_and_refresh(&self) -> (Dur, Option<Dur>) {
///         (Dur::us(100), Some(Dur::us(80)))
///     }
///     fn is_lossless(&self) -> bool {
///         true
///     }
/// }
///
/// let pausing = ClassThree { is_paused: false };
/// assert_eq!(pausing.thresholds(None), (30_000, 20_000));
/// assert!(pausing.is_refreshed_in_time(Dur::us(19)) && !pausing.is_refreshed_in_time(Dur::us(20)));
/// ```
pub trait Pausing {
    /// Returns the classes that are counted, paused and resumed together with a class; none if it is never paused.
    fn pause_group(&self, class: u8) -> ClassSet;
    /// Returns the classes that are paused at the device behind the port now.
    fn paused_classes(&self) -> ClassSet;
    /// Returns the XOFF and XON thresholds.
    fn pause_levels(&self) -> PauseLevels;
    /// Returns the XOFF and XON thresholds in bytes, given the free bytes of the shared memory.
    fn thresholds(&self, free: Option<u64>) -> (u64, u64) {
        self.pause_levels().in_bytes(free)
    }
    /// Returns the time from the arrival of a pause frame at the device behind the port until it takes effect.
    fn response_time(&self) -> Dur;
    /// Returns the duration of a pause and the time after which it is refreshed, if ever. The duration is zero if the
    /// agent belongs to no port.
    fn duration_and_refresh(&self) -> (Dur, Option<Dur>);
    /// Returns true if a pause is refreshed more than `margin` before its quanta expire.
    fn is_refreshed_in_time(&self, margin: Dur) -> bool {
        let (duration, again) = self.duration_and_refresh();
        again.is_some_and(|again| again.saturating_add(margin) < duration)
    }
    /// Returns true if the run fails when a paused class loses a packet for lack of memory.
    fn is_lossless(&self) -> bool;
    /// Returns the watchdog for the queues of the port, which the far end may pause; `None` without one.
    fn watchdog(&self) -> Option<Watchdog> {
        None
    }
}
