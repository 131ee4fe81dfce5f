//! Quantities with their units: simulated time in picoseconds, sizes in bytes, link rates.
//!
//! All arithmetic is integer. A division that is not exact rounds **up**, so that no frame leaves a link early.
//! No floating-point number enters time or size: results would depend on the order of additions.

mod parse;
mod rate;
mod suggest;

pub use parse::{ParseError, parse_amount, parse_bytes, parse_dur, parse_rate};
pub use rate::{ByteClock, Rate};
pub use suggest::{Quantity, Suggestion};

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// Length of time in picoseconds, at most about 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(pub u64);

/// Instant of simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Amount of buffer memory, in the unit in which it is limited and measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// Number of frames of any size; an ACK counts as one.
    Packets(u64),
    /// Bytes of frames, without preamble and gap.
    Bytes(u64),
}

impl Dur {
    /// Zero length of time.
    pub const ZERO: Dur = Dur(0);
    /// Longest length of time that can be represented.
    pub const MAX: Dur = Dur(u64::MAX);

    /// Returns a length of `n` picoseconds.
    pub const fn ps(n: u64) -> Dur {
        Dur(n)
    }
    /// Returns a length of `n` nanoseconds.
    pub const fn ns(n: u64) -> Dur {
        Dur(n * 1_000)
    }
    /// Returns a length of `n` microseconds.
    pub const fn us(n: u64) -> Dur {
        Dur(n * 1_000_000)
    }
    /// Returns a length of `n` milliseconds.
    pub const fn ms(n: u64) -> Dur {
        Dur(n * 1_000_000_000)
    }
    /// Returns a length of `n` seconds.
    pub const fn s(n: u64) -> Dur {
        Dur(n * 1_000_000_000_000)
    }
    /// Returns the sum of two lengths of time, or [`Dur::MAX`] if it would overflow.
    pub const fn saturating_add(self, other: Dur) -> Dur {
        Dur(self.0.saturating_add(other.0))
    }
    /// Returns the difference of two lengths of time, or zero if it would be negative.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
}

impl Time {
    /// Instant at which the run starts.
    pub const ZERO: Time = Time(0);
    /// Instant that is never reached.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
    /// Returns this instant plus `d`, or [`Time::NEVER`] if the sum would overflow.
    pub const fn saturating_add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    fn add(self, d: Dur) -> Time {
        Time(self.0 + d.0)
    }
}
impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}
impl Sub<Time> for Time {
    type Output = Dur;
    fn sub(self, earlier: Time) -> Dur {
        Dur(self.0 - earlier.0)
    }
}
impl Add for Dur {
    type Output = Dur;
    fn add(self, other: Dur) -> Dur {
        Dur(self.0 + other.0)
    }
}
impl AddAssign for Dur {
    fn add_assign(&mut self, other: Dur) {
        self.0 += other.0;
    }
}
impl Sub for Dur {
    type Output = Dur;
    fn sub(self, other: Dur) -> Dur {
        Dur(self.0 - other.0)
    }
}
impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, n: u64) -> Dur {
        Dur(self.0 * n)
    }
}
impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl fmt::Display for Dur {
    /// Writes a length of time in the largest unit that makes it a whole number: `10ms`, `12304ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
        match scales.iter().find(|(unit, _)| self.0 >= *unit && self.0 % unit == 0) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}ps", self.0),
        }
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Dur(self.0).fmt(f)
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1 << 20, "MiB"), (1_000, "KB"), (1 << 10, "KiB")];
        match scales.iter().find(|(unit, _)| self.0 >= *unit && self.0 % unit == 0) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Packets(n) => write!(f, "{n}pkt"),
            Amount::Bytes(n) => Bytes(*n).fmt(f),
        }
    }
}
