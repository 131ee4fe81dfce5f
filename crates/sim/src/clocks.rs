//! The clocks of ports, each off by a little of its own (IEEE 802.3: at most 100 millionths).

use mech::{Purpose, Stream};
use scenario::Scenario;
use units::Rate;

const WHOLE: u64 = 1_000_000_000;

/// The rate of a port by its own clock, where `rate` is what its link says; the times of frames are rounded up
/// to a picosecond each.
pub(crate) fn rate_of(scenario: &Scenario, seed: u64, (node, port): (u32, u16), rate: Rate) -> Rate {
    let ppb = u64::from(scenario.clock_ppb(node));
    if ppb == 0 {
        return rate;
    }
    let off = Stream::new(seed, node, Purpose::Clock(port)).below(2 * ppb + 1);
    rate.divided_by(WHOLE, WHOLE - ppb + off).unwrap_or(rate)
}
