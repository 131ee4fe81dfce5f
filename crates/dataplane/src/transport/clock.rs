//! The clock behind timestamps, the same at both ends of a flow.

use super::TcpConfig;
use units::{Dur, Time};

/// So many ticks apart, no timestamp is older than another (RFC 7323 §5.5).
pub(super) const COMPARABLE: u64 = 1 << 31;

/// TSval at `now`: ticks of one `clock_granularity`, of 1 ns where that is zero (or shorter), from
/// the start of the run, modulo 2³² (RFC 7323 §5.4, whose shortest tick of 1 ms is for other round
/// trips than a data center's).
#[inline]
pub(super) fn ticks(now: Time, cfg: &TcpConfig) -> u32 {
    ticks_of(now, tick(cfg))
}

/// The same with ticks of this length.
#[inline]
pub(super) fn ticks_of(now: Time, tick: Dur) -> u32 {
    (now.0 / tick.0) as u32
}

/// How long one tick is.
#[inline]
pub(super) fn tick(cfg: &TcpConfig) -> Dur {
    cfg.granularity.max(Dur::ns(1))
}

/// Whether `a` is older than `b`: less, modulo 2³² (RFC 7323 §5.2).
#[inline]
pub(super) fn older(a: u32, b: u32) -> bool {
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
            assert_eq!(ticks(Time(Dur::ns(7_900).0), &cfg), expected, "{granularity:?}");
        }
    }

    #[test]
    fn timestamps_are_compared_modulo_their_size() {
        let cfg = config("reno", &[("clock_granularity", Value::Time(Dur::ZERO))]);
        let wrapped = ticks(Time(((1 << 32) + 5) * 1000), &cfg);
        assert_eq!(wrapped, 5);
        assert!(older(u32::MAX - 5, wrapped) && !older(wrapped, u32::MAX - 5) && !older(7, 7));
    }
}
