//! Fractions as integers, in units of 2⁻³⁰.

/// Fraction 1 in units of 2⁻³⁰.
pub(super) const FRACTION_ONE: u32 = 1 << 30;

/// Converts a number from 0 to 1 to the nearest fraction in units of 2⁻³⁰.
pub(super) fn to_fraction(x: f64) -> u32 {
    (x.clamp(0.0, 1.0) * f64::from(FRACTION_ONE) + 0.5) as u32
}
