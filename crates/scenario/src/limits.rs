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
/// The most packets that flows of one instant may begin with; a run that still has ten million of them at the next
/// instant at which that is looked at is stopped.
pub(crate) const MOST_AT_ONCE: u64 = 100_000_000;
