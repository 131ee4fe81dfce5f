//! Tests of properties over random inputs.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner, basic_result_cache};
use std::cell::RefCell;
use std::panic::Location;

/// Maximum number of test runs while an input is shrunk, which also stops after 30 s.
const MAX_SHRINK_RUNS: u32 = 50_000;

/// Runs `test` on `cases` random inputs, which are the same in every run.
///
/// If the test fails, its input is shrunk, and the smallest failing input found is printed. A seed is written to
/// `proptest-regressions/`, and each later run begins with the seeds in it.
///
/// # Panics
/// If the test panics for an input.
#[track_caller]
pub fn for_all<S: Strategy>(cases: u32, inputs: S, test: impl FnMut(S::Value)) {
    let defaults = Config::default();
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(1),
        max_shrink_iters: defaults.max_shrink_iters.min(MAX_SHRINK_RUNS),
        max_shrink_time: 30_000,
        source_file: Some(Location::caller().file()),
        // Many draws make equal inputs, above all while an input is shrunk. Each input is tested once.
        result_cache: basic_result_cache,
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
            eprintln!("smallest failing input found: {input:#?}");
            // The panic of this call names its line.
            run(input);
            panic!("the test failed for this input, but passed when run again: {reason}; make it deterministic");
        }
        Err(error) => panic!("{error}"),
    }
}
