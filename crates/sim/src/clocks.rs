//! Clocks of ports, each with a small offset of its own (IEEE 802.3 allows 100 ppm).

use mech::{Stream, StreamPurpose};
use scenario::Scenario;
use units::Rate;

const PARTS_PER_WHOLE: u64 = 1_000_000_000;

/// Returns the rate of a port by its own clock, given the nominal `rate` of its link. Times of frames are rounded up
/// to whole picoseconds.
pub(crate) fn actual_port_rate(scenario: &Scenario, seed: u64, (node, port): (u32, u16), rate: Rate) -> Rate {
    let ppb = u64::from(scenario.clock_ppb(node));
    if ppb == 0 {
        return rate;
    }
    let off = Stream::new(seed, node, StreamPurpose::Clock(port)).uniform_below(2 * ppb + 1);
    rate.divide(PARTS_PER_WHOLE, PARTS_PER_WHOLE - ppb + off).unwrap_or(rate)
}
