//! Draws for random scenarios.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use std::fmt::Debug;

/// Maximum number of draws for a random scenario.
const DRAWS: usize = 256;

/// Draws of one random scenario.
pub struct Draw(std::vec::IntoIter<u32>);

/// Returns a strategy for values made from draws, which shrink toward the first choices and the lowest numbers.
pub fn drawn<T: Debug>(make: impl Fn(&mut Draw) -> T) -> impl Strategy<Value = T> {
    vec(any::<u32>(), DRAWS).prop_map(move |words| make(&mut Draw(words.into_iter())))
}

/// Returns a strategy for scenario texts, each with the seed of its run.
pub fn drawn_run(make: impl Fn(&mut Draw) -> String) -> impl Strategy<Value = (String, u64)> {
    drawn(move |draw| (make(draw), draw.number(0, 999)))
}

impl Draw {
    /// Draws one of the choices.
    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.number(0, choices.len() as u64 - 1) as usize]
    }

    /// Draws a whole number from `low` to `high`, which differ by less than 2^32.
    pub fn number(&mut self, low: u64, high: u64) -> u64 {
        let word = self.0.next().expect("a scenario makes at most DRAWS draws");
        low + ((u64::from(word) * (high - low + 1)) >> 32)
    }

    /// Draws yes or no.
    pub fn flag(&mut self) -> bool {
        self.number(0, 1) == 1
    }
}
