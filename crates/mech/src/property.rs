//! Tests of properties over random inputs.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use std::cell::RefCell;
use std::panic::Location;

/// Maximum number of runs that shrink an input.
const MAX_SHRINK_RUNS: u32 = 50_000;

/// Runs a test with this number of random inputs, the same in every run of the tests.
///
/// If the test fails for an input, a smaller one is searched and printed. The seed of the input is written to
/// `proptest-regressions/`, and the next run begins with it.
///
/// # Panics
/// If the test panics for an input.
#[track_caller]
pub(crate) fn for_all<S: Strategy>(cases: u32, inputs: S, test: impl FnMut(S::Value)) {
    let defaults = Config::default();
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(1),
        max_shrink_iters: defaults.max_shrink_iters.min(MAX_SHRINK_RUNS),
        max_shrink_time: 30_000,
        source_file: Some(Location::caller().file()),
        ..defaults
    };
    let test = RefCell::new(test);
    let run = |input| (test.borrow_mut())(input);
    let result = TestRunner::new(config).run(&inputs, |input| {
        run(input);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, input)) => {
            eprintln!("smallest input that fails: {input:?}");
            // The panic of this call names its line.
            run(input);
            panic!("the test fails only at times: {reason}");
        }
        Err(error) => panic!("{error}"),
    }
}
