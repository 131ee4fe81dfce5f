//! The bounds of quantities, wherever they come from: a scenario's own keys or a file that it names.

use units::{Dur, Rate};

/// The longest of the lengths of time that are not the run's own: sums of a few of them and the end of
/// the longest run stay far below what 64 bits of picoseconds hold.
pub(crate) const LONGEST_STEP: Dur = Dur::s(10 * 86_400);
/// The slowest rate: a jumbo frame takes less than a day.
pub(crate) const SLOWEST: Rate = Rate::bps(1);
/// The fastest rate: a thousand terabits a second.
pub(crate) const FASTEST: Rate = Rate::gbps(1_000_000);
/// The most flows that the workloads of a variant may start: with what is kept of each, its results and their
/// copies in files, about ten gigabytes.
pub(crate) const MOST_FLOWS: u64 = 20_000_000;
/// The most bytes of a file that is read as a whole.
pub(crate) const MOST_TEXT: u64 = 1 << 28;
/// Largest number of packets in a run at one time, checked at each grid instant. A scenario that creates more between two
/// such instants is refused. With their events they take up to 3 GB.
pub const MOST_PACKETS: u64 = 10_000_000;
/// Largest number of unfinished flows at one time, checked at each grid instant.
pub const MOST_OPEN: u64 = 4_000_000;

/// Approximate number of grid steps in a run.
const PARTS: u64 = 1 << 13;
/// The shortest and the longest step of the grid: 131 ns and 16.8 us.
const SHORTEST_GRID: u64 = 1 << 17;
const LONGEST_GRID: u64 = 1 << 24;

/// Time between two grid instants of a run with this duration, at which its load is checked: the power of two of picoseconds next
/// below the duration over 8192, within bounds.
pub fn grid_step(duration: Dur) -> Dur {
    let step = (duration.0 / PARTS).max(1);
    Dur((1 << step.ilog2()).clamp(SHORTEST_GRID, LONGEST_GRID))
}
