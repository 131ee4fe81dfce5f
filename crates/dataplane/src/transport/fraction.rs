//! Fractions as integers, in units of 2⁻³⁰.

/// One.
pub(super) const ONE: u32 = 1 << 30;

/// A number from 0 to 1, nearest.
pub(super) fn fixed(x: f64) -> u32 {
    (x.clamp(0.0, 1.0) * f64::from(ONE) + 0.5) as u32
}
