//! Quantities with their units: simulated time in picoseconds, sizes in bytes, link rates.
//!
//! All arithmetic is integer. Where a division is not exact it rounds **up**, so that no frame
//! ever leaves a link early. No floating point number enters time or size.

mod parse;
mod rate;
mod suggest;

pub use parse::{ParseError, parse_amount, parse_bytes, parse_dur, parse_rate};
pub use rate::{Clock, Rate};
pub use suggest::{Quantity, Suggestion};

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// A length of time in picoseconds. The longest is about 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(pub u64);

/// An instant of simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// An amount of buffer memory, in the unit in which it is limited and measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// Frames of any size; an ACK counts as one.
    Packets(u64),
    /// Bytes of frames (without preamble and gap).
    Bytes(u64),
}

impl Dur {
    /// No time at all.
    pub const ZERO: Dur = Dur(0);
    /// The longest length of time.
    pub const MAX: Dur = Dur(u64::MAX);

    /// `n` picoseconds.
    pub const fn ps(n: u64) -> Dur {
        Dur(n)
    }
    /// `n` nanoseconds.
    pub const fn ns(n: u64) -> Dur {
        Dur(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn us(n: u64) -> Dur {
        Dur(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Dur {
        Dur(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn s(n: u64) -> Dur {
        Dur(n * 1_000_000_000_000)
    }
    /// The sum, or the longest length where it would overflow.
    pub const fn saturating_add(self, other: Dur) -> Dur {
        Dur(self.0.saturating_add(other.0))
    }
    /// The difference, or zero where it would be negative.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
}

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An instant that is never reached.
    pub const NEVER: Time = Time(u64::MAX);

    /// How long after `earlier` this is; zero where it is not after it.
    pub const fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
    /// This instant and `d` more, or [`Time::NEVER`] where that would overflow.
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
    /// The largest unit in which the length is a whole number: `10ms`, `12304ns`.
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
