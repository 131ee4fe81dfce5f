//! TCP timestamps: the clock that both ends of a flow read, and the comparison of its values.

use super::TcpConfig;
use units::{Dur, Time};

/// Number of ticks after which two timestamps can no longer be compared (RFC 7323 §5.5).
pub(super) const COMPARABLE_TICKS: u64 = 1 << 31;

/// Returns the TSval at `now`: ticks since the start of the run, modulo 2³².
/// A tick is one `clock_granularity`, at least 1 ns. RFC 7323 §5.4 requires 1 ms at least, which is longer than the
/// round trips of a data center.
#[inline]
pub(super) fn tsval(now: Time, cfg: &TcpConfig) -> u32 {
    tsval_with_tick(now, tick_length(cfg))
}

/// Returns the TSval (RFC 7323) at `now`, for the given length of a tick.
#[inline]
pub(super) fn tsval_with_tick(now: Time, tick: Dur) -> u32 {
    (now.0 / tick.0) as u32
}

/// Returns the tick of TCP timestamps: the clock granularity, at least 1 ns.
#[inline]
pub(super) fn tick_length(cfg: &TcpConfig) -> Dur {
    cfg.granularity.max(Dur::ns(1))
}

/// Returns true if timestamp `a` is older than `b`: less, modulo 2³² (RFC 7323 §5.2).
#[inline]
pub(super) fn is_older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::super::tests::pair::config;
    use super::*;
    use mech::params::Value;

    #[test]
    fn a_tick_is_the_granularity_and_at_least_a_nanosecond() {
        for (granularity, expected) in [(Dur::us(1), 7), (Dur::ms(1), 0), (Dur::ZERO, 7_900), (Dur::ps(1), 7_900)] {
            let cfg = config("reno", &[("clock_granularity", Value::Time(granularity))]);
            assert_eq!(tsval(Time(Dur::ns(7_900).0), &cfg), expected, "{granularity:?}");
        }
    }

    #[test]
    fn timestamps_are_compared_modulo_their_size() {
        let cfg = config("reno", &[("clock_granularity", Value::Time(Dur::ZERO))]);
        let wrapped = tsval(Time(((1 << 32) + 5) * 1000), &cfg);
        assert_eq!(wrapped, 5);
        assert!(is_older(u32::MAX - 5, wrapped) && !is_older(wrapped, u32::MAX - 5) && !is_older(7, 7));
    }
}
