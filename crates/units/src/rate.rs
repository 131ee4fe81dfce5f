//! Link rates as exact fractions, and the time that bytes take at these rates.

use crate::Dur;
use core::fmt;

/// Rate in bits per second as a reduced fraction, so that a third of a gigabit per second is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    num: u64,
    den: u64,
}

/// Transmission time of a byte at a [`Rate`]. If it is a whole number of picoseconds, as at every Ethernet speed, it is
/// exact; otherwise the time of each frame is rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteClock {
    /// Picoseconds per byte if that is a whole number, else 0.
    per_byte: u64,
    num: u64,
    den: u64,
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Rate {
    /// Returns a rate of `n` bits per second. PRECONDITION: `n > 0`.
    pub const fn bps(n: u64) -> Rate {
        Rate { num: n, den: 1 }
    }
    /// Returns a rate of `n` megabits per second. PRECONDITION: `n > 0`.
    pub const fn mbps(n: u64) -> Rate {
        Rate::bps(n * 1_000_000)
    }
    /// Returns a rate of `n` gigabits per second. PRECONDITION: `n > 0`.
    pub const fn gbps(n: u64) -> Rate {
        Rate::bps(n * 1_000_000_000)
    }
    /// Returns a rate of `num/den` bits per second, or `None` if either is zero.
    pub const fn ratio(num: u64, den: u64) -> Option<Rate> {
        if num == 0 || den == 0 {
            return None;
        }
        let g = gcd(num, den);
        Some(Rate { num: num / g, den: den / g })
    }
    /// Returns this rate divided by the positive fraction `num/den`, or `None` on zero or overflow.
    pub fn divide(self, num: u64, den: u64) -> Option<Rate> {
        let (n, d) = (u128::from(self.num) * u128::from(den), u128::from(self.den) * u128::from(num));
        let (mut a, mut b) = (n, d);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        if a == 0 {
            return None;
        }
        Rate::ratio(u64::try_from(n / a).ok()?, u64::try_from(d / a).ok()?)
    }
    /// Returns the transmission time of `bytes` at this rate, rounded up to a picosecond.
    pub fn time(self, bytes: u64) -> Dur {
        self.clock().time(bytes)
    }
    /// Returns this rate as a precomputed transmission time of a byte, for the hot path.
    pub const fn clock(self) -> ByteClock {
        let g = gcd(8_000_000_000_000, self.num);
        let (ps, bits) = (8_000_000_000_000 / g, self.num / g);
        let h = gcd(self.den, bits);
        let (den, bits) = (self.den / h, bits / h);
        let per_byte = if bits == 1 { ps.saturating_mul(den) } else { 0 };
        ByteClock { per_byte, num: ps.saturating_mul(den), den: bits }
    }
    /// Returns the rate in bits per second, for display and statistics only.
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
    /// Returns numerator and denominator of the reduced fraction, in bits per second.
    pub const fn numerator_and_denominator(self) -> (u64, u64) {
        (self.num, self.den)
    }
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Rate) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Rate {
    fn cmp(&self, other: &Rate) -> core::cmp::Ordering {
        let left = u128::from(self.num) * u128::from(other.den);
        left.cmp(&(u128::from(other.num) * u128::from(self.den)))
    }
}

impl ByteClock {
    /// Returns the transmission time of a byte if it is a whole number of picoseconds.
    pub fn time_per_byte(self) -> Option<Dur> {
        (self.per_byte != 0).then_some(Dur(self.per_byte))
    }
    /// Returns the transmission time of `bytes`, rounded up to a picosecond, or [`Dur::MAX`] if it does not fit.
    #[inline]
    pub fn time(self, bytes: u64) -> Dur {
        if self.per_byte != 0 {
            return Dur(bytes.saturating_mul(self.per_byte));
        }
        if let Some(ps) = bytes.checked_mul(self.num) {
            return Dur(ps.div_ceil(self.den));
        }
        let ps = (u128::from(bytes) * u128::from(self.num)).div_ceil(u128::from(self.den));
        Dur(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "Kbps"), (1, "bps")];
        let (unit, name) = scales.iter().find(|(u, _)| self.num >= *u && self.num % u == 0).unwrap_or(&scales[3]);
        match self.den {
            1 => write!(f, "{}{name}", self.num / unit),
            den => write!(f, "{}/{den} {name}", self.num / unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_a_whole_number_of_picoseconds_at_every_ethernet_speed() {
        for (gbps, ps) in
            [(1, 8000), (10, 800), (25, 320), (40, 200), (50, 160), (100, 80), (200, 40), (400, 20), (800, 10)]
        {
            assert_eq!(Rate::gbps(gbps).time(1), Dur(ps));
            assert_eq!(Rate::gbps(gbps).time(1538), Dur(ps * 1538));
        }
    }

    #[test]
    fn a_third_of_a_gigabit_is_exactly_24_ns_a_byte() {
        let rate = Rate::ratio(1_000_000_000, 3).unwrap();
        assert_eq!(rate.time(1), Dur::ns(24));
        assert_eq!(rate, Rate::gbps(1).divide(3, 1).unwrap());
        assert_eq!(rate.to_string(), "1/3 Gbps");
    }

    #[test]
    fn inexact_rate_rounds_up_each_frame_not_each_byte() {
        // A byte takes 14466.5461 ps, so rounding up each byte would give 14,467,000 ps for 1000 bytes.
        assert_eq!(Rate::mbps(553).time(1), Dur(14_467));
        assert_eq!(Rate::mbps(553).time(1000), Dur(14_466_547));
    }

    #[test]
    fn transmission_time_saturates_on_overflow() {
        assert_eq!(Rate::gbps(1).time(u64::MAX), Dur::MAX);
        assert_eq!(Rate::ratio(1, 1_000_000_000).unwrap().time(1538), Dur::MAX);
        assert_eq!(Rate::ratio(1, u64::MAX).unwrap().time(1), Dur::MAX);
        assert_eq!(Rate::bps(1).time(9100), Dur::s(72_800));
    }

    #[test]
    fn rates_compare_as_fractions() {
        assert!(Rate::ratio(1_000_000_000, 3).unwrap() < Rate::mbps(334));
        assert!(Rate::ratio(1_000_000_000, 3).unwrap() > Rate::mbps(333));
        assert_eq!(Rate::ratio(0, 1), None);
        assert_eq!(Rate::ratio(1, 0), None);
    }
}
