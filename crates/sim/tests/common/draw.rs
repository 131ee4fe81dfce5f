//! Draws for random scenarios.

use mech::{Stream, StreamPurpose};

/// Draws of one random scenario.
pub struct Draw(Stream);

impl Draw {
    /// Creates the draws of the `n`-th scenario of a test.
    pub fn new(seed: u64, n: u64, purpose: StreamPurpose) -> Draw {
        Draw(Stream::new(seed, n as u32, purpose))
    }

    /// Draws one of the choices.
    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.number(0, choices.len() as u64 - 1) as usize]
    }

    /// Draws a whole number from `low` to `high`.
    pub fn number(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.uniform_below(high - low + 1)
    }
}
