//! Bounds of quantities, for keys of a scenario and for files that it names.

use units::{Dur, Rate};

/// Largest value of a time parameter, except for the times of a run itself: 10 days. Sums of a few such times and the
/// end of the longest run stay far below what 64 bits of picoseconds hold.
pub(crate) const MAX_TIME: Dur = Dur::s(10 * 86_400);
/// Smallest rate that a parameter may have; a jumbo frame takes less than a day at this rate.
pub(crate) const MIN_RATE: Rate = Rate::bps(1);
/// Largest rate that a parameter may have: a thousand terabits per second.
pub(crate) const MAX_RATE: Rate = Rate::gbps(1_000_000);
/// Largest number of flows that the workloads of a variant may start. Their state, results and copies in files take
/// about 10 GB.
pub(crate) const MAX_FLOWS: u64 = 20_000_000;
/// Size in bytes of the largest file that is read as a whole.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 28;
/// Largest number of packets in a run at one time, checked once in each [`grid_step`]. A scenario that creates more in
/// one such step is refused. With their events they take up to 3 GB.
pub const MAX_PACKETS: u64 = 10_000_000;
/// Largest number of unfinished flows at one time, checked once in each [`grid_step`].
pub const MAX_OPEN_FLOWS: u64 = 4_000_000;

/// Approximate number of instants, equally spaced, at which a run checks its load.
const GRID_STEPS: u64 = 1 << 13;
/// Shortest and longest time, in picoseconds, between two checks of a run's load: 131 ns and 16.8 us.
const MIN_GRID_STEP_PS: u64 = 1 << 17;
const MAX_GRID_STEP_PS: u64 = 1 << 24;

/// Returns the time between two grid instants, at which a run of this duration checks its load. It is the largest power
/// of two of picoseconds up to the duration over 8192, within bounds.
pub fn grid_step(duration: Dur) -> Dur {
    let step = (duration.0 / GRID_STEPS).max(1);
    Dur((1 << step.ilog2()).clamp(MIN_GRID_STEP_PS, MAX_GRID_STEP_PS))
}
