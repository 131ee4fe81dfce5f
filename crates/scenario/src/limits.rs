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
/// The most packets of a run at a time: a run with more of them at an instant of its grid is stopped, and one that
/// makes more between two such instants is refused. With their events they take up to 3 GB.
pub const MOST_PACKETS: u64 = 10_000_000;
/// The most flows of a run at a time that have begun and not ended, likewise.
pub const MOST_OPEN: u64 = 4_000_000;

/// About so many instants divide a run.
const PARTS: u64 = 1 << 13;
/// The shortest and the longest step of the grid: 131 ns and 16.8 us.
const SHORTEST_GRID: u64 = 1 << 17;
const LONGEST_GRID: u64 = 1 << 24;

/// Time between two instants at which a run of a duration looks at its load: the power of two of picoseconds next
/// below the duration over 8192, within bounds.
pub fn grid_step(duration: Dur) -> Dur {
    let step = (duration.0 / PARTS).max(1);
    Dur((1 << step.ilog2()).clamp(SHORTEST_GRID, LONGEST_GRID))
}
