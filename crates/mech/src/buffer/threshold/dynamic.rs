//! Dynamic threshold: the limit of each account is a multiple α of the free shared memory (Choudhury and Hahne,
//! "Dynamic queue length thresholds for shared-memory packet switches", ToN 1998, eq. 1).
//!
//! With `n` accounts at their limits, each holds `α B / (1 + n α)` of a pool of `B` bytes.

use super::{MemoryView, Threshold};
use crate::params::{ParamKind, Spec, Values};
use crate::{Report, params};

/// Dynamic threshold with its factor α.
#[derive(Clone, Debug)]
pub struct Dynamic {
    /// Factor α in units of 2⁻³², so that thresholds are whole numbers without rounding errors.
    alpha: u64,
    /// Parameters as given in the scenario.
    given: Option<Params>,
}

params! {
    /// Parameter values of the dynamic threshold.
    pub(crate) struct Params {
        alpha: Option<f64> = {
            doc: "Factor α: an account may use α times the free memory of its pool. The default is 1.",
            kind: ParamKind::Number { min: 0.0, max: 1e6, below_max: false },
            default: Some(""),
        },
        dynamic_th: Option<f64> = {
            doc: "Exponent t of α = 2ᵗ, instead of `alpha` (SONiC `dynamic_th`). A whole number.",
            kind: ParamKind::Number { min: -16.0, max: 16.0, below_max: false },
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer.profiles.NAME.threshold",
    kind: "dynamic",
    doc: "Limits an account to a multiple of the free memory of its pool.",
    cite: "Choudhury and Hahne 1998, eq. 1",
    params: Params::PARAMS,
};

impl Dynamic {
    /// Creates the dynamic threshold from validated parameters.
    pub fn new(values: &Values) -> Dynamic {
        let given = Params::read(values);
        let factor = given.dynamic_th.map_or_else(|| given.alpha.unwrap_or(1.0), f64::exp2);
        Dynamic { given: Some(given), ..Dynamic::with_alpha(factor) }
    }
    /// Creates the dynamic threshold with this factor α.
    pub fn with_alpha(alpha: f64) -> Dynamic {
        Dynamic { alpha: (alpha * (1u64 << 32) as f64) as u64, given: None }
    }
    /// Returns the factor α in units of 2⁻³².
    pub const fn alpha(&self) -> u64 {
        self.alpha
    }
    /// Returns the limit for this number of free bytes of the pool, rounded up: a whole number of bytes is below the
    /// exact limit if it is below this one.
    #[inline]
    pub(super) fn limit_of_free(&self, free: u64) -> u64 {
        let times = (u128::from(self.alpha) * u128::from(free)).div_ceil(1 << 32);
        u64::try_from(times).unwrap_or(u64::MAX)
    }
}

impl Threshold for Dynamic {
    fn limit(&self, now: &MemoryView) -> u64 {
        self.limit_of_free(now.pool_free())
    }
    /// Reports an exponent that is no whole number, and an exponent beside α.
    fn check(&self, report: &mut Report) {
        let Some(Params { alpha, dynamic_th: Some(exponent) }) = self.given else { return };
        if alpha.is_some() {
            let rule = "only one of the two, because both set the factor";
            report.add_error("dynamic_th", "dynamic_th together with alpha", rule);
        }
        if exponent.fract() != 0.0 {
            report.add_error("dynamic_th", exponent, "a whole number from -16 to 16");
        }
    }
    fn clone_boxed(&self) -> Box<dyn Threshold> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;

    fn limit(given: &str, free: u64) -> u64 {
        Dynamic::new(&values(&SPEC, given)).limit_of_free(free)
    }

    #[test]
    fn limit_is_alpha_times_the_free_memory() {
        assert_eq!((limit("", 1000), limit("alpha=0.5", 1001), limit("alpha=8", 1000)), (1000, 501, 8000));
        assert_eq!((limit("dynamic_th=0", 1000), limit("dynamic_th=3", 1000)), (1000, 8000));
        assert_eq!((limit("dynamic_th=-3", 1000), limit("alpha=8", u64::MAX)), (125, u64::MAX));
    }

    #[test]
    fn exponent_is_whole_and_alone() {
        let found = |given: &str| {
            let mut report = Report::default();
            Dynamic::new(&values(&SPEC, given)).check(&mut report);
            report.errors.into_iter().map(|error| error.found).collect::<Vec<_>>()
        };
        assert_eq!(found("dynamic_th=-7"), Vec::<String>::new());
        assert_eq!(found("dynamic_th=0.5"), ["0.5"]);
        assert_eq!(found("dynamic_th=1 alpha=2"), ["dynamic_th together with alpha"]);
    }
}
