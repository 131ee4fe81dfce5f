//! Shares of rates and lengths in whole numbers, for reaction points.

use units::Rate;

/// One in so many parts.
pub(super) const ONE: u64 = 1 << 32;

/// A share in parts of 2⁻³², the nearest.
pub(super) fn parts(share: f64) -> u64 {
    (share * ONE as f64 + 0.5) as u64
}

/// A part of a whole, rounded down.
pub(super) fn part(of: u64, share: u64) -> u64 {
    ((u128::from(of) * u128::from(share)) >> 32) as u64
}

/// The same, to the nearest.
pub(super) fn nearest_part(of: u64, share: u64) -> u64 {
    ((u128::from(of) * u128::from(share) + u128::from(ONE / 2)) >> 32) as u64
}

/// Whole bits per second of a rate, one at least.
pub(super) fn bps(rate: Rate) -> u64 {
    let (num, den) = rate.parts();
    (num / den).max(1)
}
