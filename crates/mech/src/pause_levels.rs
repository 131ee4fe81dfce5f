//! Interface of agents that pause the far end of their port.

use crate::ClassSet;
use units::Dur;

/// XOFF and XON thresholds of memory in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Fixed thresholds.
    Fixed {
        /// Bytes in use from which the far end is paused.
        xoff: u64,
        /// Bytes in use down to which the far end is resumed.
        xon: u64,
    },
    /// Dynamic thresholds: XOFF is a multiple of the free memory that all ports share.
    OfFree {
        /// Factor of the free memory, in units of 2⁻³².
        alpha: u64,
        /// Bytes between XOFF and XON.
        offset: u64,
    },
}

impl Level {
    /// Returns the XOFF and XON thresholds in bytes, given the free bytes of the shared memory.
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

/// Pausing of the device behind a port.
///
/// ```
/// use mech::ClassSet;
/// use mech::pause::{Level, Pausing};
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
///     fn paused(&self) -> ClassSet {
///         if self.is_paused { ClassSet::single(3) } else { ClassSet::NONE }
///     }
///     fn level(&self) -> Level {
///         Level::Fixed { xoff: 30_000, xon: 20_000 }
///     }
///     fn response(&self) -> Dur {
///         Dur::us(1)
///     }
///     fn duration(&self) -> (Dur, Option<Dur>) {
///         (Dur::us(100), Some(Dur::us(80)))
///     }
///     fn lossless(&self) -> bool {
///         true
///     }
/// }
///
/// let pausing = ClassThree { is_paused: false };
/// assert_eq!(pausing.thresholds(None), (30_000, 20_000));
/// assert!(pausing.holds(Dur::us(19)) && !pausing.holds(Dur::us(20)));
/// ```
pub trait Pausing {
    /// Returns the classes that are counted, paused and resumed together with a class; none if that class is never
    /// paused.
    fn pause_group(&self, class: u8) -> ClassSet;
    /// Returns the classes that are paused at the device behind the port.
    fn paused(&self) -> ClassSet;
    /// Returns the XOFF and XON thresholds.
    fn level(&self) -> Level;
    /// Returns the XOFF and XON thresholds in bytes, given the free bytes of the shared memory.
    fn thresholds(&self, free: Option<u64>) -> (u64, u64) {
        self.level().at(free)
    }
    /// Returns the time from the arrival of a pause frame at the device behind the port until it takes effect.
    fn response(&self) -> Dur;
    /// Returns the duration of a pause and the time after which it is refreshed, if ever. The duration is zero if the
    /// agent belongs to no port.
    fn duration(&self) -> (Dur, Option<Dur>);
    /// Returns true if a pause is refreshed more than `margin` before its quanta expire.
    fn holds(&self, margin: Dur) -> bool {
        let (duration, again) = self.duration();
        again.is_some_and(|again| again.saturating_add(margin) < duration)
    }
    /// Returns true if a loss in a paused class for want of memory is an error of the run.
    fn lossless(&self) -> bool;
}
