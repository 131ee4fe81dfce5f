//! The bounds of quantities, wherever they come from: a scenario's own keys or a file that it names.

use units::{Dur, Rate};

/// The longest of the lengths of time that are not the run's own: sums of a few of them and the end of
/// the longest run stay far below what 64 bits of picoseconds hold.
pub(crate) const LONGEST_STEP: Dur = Dur::s(10 * 86_400);
/// The slowest rate: a jumbo frame takes less than a day.
pub(crate) const SLOWEST: Rate = Rate::bps(1);
/// The fastest rate: a thousand terabits a second.
pub(crate) const FASTEST: Rate = Rate::gbps(1_000_000);
