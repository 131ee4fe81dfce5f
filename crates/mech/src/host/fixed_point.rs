//! Fixed-point fractions of rates and lengths in units of 2⁻³², for reaction points; 1/128 and 0.5 are exact.

use units::Rate;

/// Fraction 1 as a fixed-point number, in units of 2⁻³².
pub(super) const FIXED_POINT_ONE: u64 = 1 << 32;

/// Converts a fraction to units of 2⁻³², rounded to the nearest.
pub(super) fn to_fixed_point(share: f64) -> u64 {
    (share * FIXED_POINT_ONE as f64 + 0.5) as u64
}

/// Multiplies a number by a fraction in units of 2⁻³², rounded down.
pub(super) fn multiply_rounding_down(number: u64, share: u64) -> u64 {
    ((u128::from(number) * u128::from(share)) >> 32) as u64
}

/// Multiplies a number by a fraction in units of 2⁻³², rounded to the nearest.
pub(super) fn multiply_rounding_to_nearest(number: u64, share: u64) -> u64 {
    ((u128::from(number) * u128::from(share) + u128::from(FIXED_POINT_ONE / 2)) >> 32) as u64
}

/// Converts a rate to whole bits per second, at least 1.
pub(super) fn bits_per_second(rate: Rate) -> u64 {
    let (num, den) = rate.numerator_and_denominator();
    (num / den).max(1)
}
