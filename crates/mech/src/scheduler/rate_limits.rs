//! Maximum rates of classes, which a scheduler declares and its port enforces (shaping).
//!
//! Each limited class has a token bucket (RFC 3290 §5.1.3) of `burst` bytes, which fills at the maximum rate of the
//! class. A frame takes as many tokens as it has bytes on the wire, with preamble and gap. A class may begin a frame
//! if its number of tokens is not negative, even if the frame takes more tokens than are left. So in any interval of
//! length t, a class sends at most the rate times t, plus one burst, plus its last frame. Congestion messages are neither
//! limited nor counted.

use crate::params;
use crate::params::{ParamKind, Values};
use crate::{CheckContext, ClassSet, Report};
use units::{Bytes, Rate};

/// Default size of a token bucket: the largest standard Ethernet frame.
const DEFAULT_BURST: u64 = 1518;

/// Maximum rates of the classes of a port, and the size of their token buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimits {
    rates: Vec<Option<Rate>>,
    burst: u64,
}

params! {
    /// Parameter values of rate limits, which several schedulers share.
    pub(super) struct Params {
        max_rate: Option<Vec<Option<Rate>>> = {
            doc: "Maximum rates of classes 0, 1, 2 and so on, including preamble and gap. `off`: no maximum rate, as \
                  for classes beyond the end of the list.",
            kind: ParamKind::RatesOrOff,
            default: Some(""),
        },
        burst: Option<Bytes> = {
            doc: "Size of the token bucket of each class with a maximum rate, in bytes on the wire. After an idle \
                  time, a class may exceed its rate by this number of bytes, and by the rest of its last frame. The \
                  default is 1518 B.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
    }
}

impl RateLimits {
    /// Creates rate limits from validated parameters of a scheduler; `None` if no class has a maximum rate.
    pub(super) fn read(values: &Values) -> Option<RateLimits> {
        let Params { max_rate, burst } = Params::read(values);
        let rates = max_rate.filter(|rates| rates.iter().any(Option::is_some))?;
        Some(RateLimits { rates, burst: burst.map_or(DEFAULT_BURST, |bytes| bytes.0) })
    }
    /// Returns the maximum rate of a class; `None` if it has none.
    pub fn rate(&self, class: u8) -> Option<Rate> {
        self.rates.get(usize::from(class)).copied().flatten()
    }
    /// Returns the size of the token bucket of each limited class, in bytes on the wire.
    pub fn burst(&self) -> u64 {
        self.burst
    }
    /// Returns the classes with a maximum rate.
    pub fn classes(&self) -> ClassSet {
        (0..8).filter(|class| self.rate(*class).is_some()).map(ClassSet::single).fold(ClassSet::NONE, ClassSet::union)
    }
    /// Reports a list of more than eight rates, and a burst without a maximum rate.
    pub(super) fn check(limits: Option<&RateLimits>, beside: &CheckContext, report: &mut Report) {
        match limits {
            Some(limits) if limits.rates.len() > 8 => {
                let found = format!("{} rates", limits.rates.len());
                report.add_error("max_rate", found, "at most 8, for classes 0 to 7");
            }
            None if (beside.is_set)("burst") => {
                report.add_warning("scheduler: burst has no effect, because no class has a maximum rate. Set max_rate");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Spec;
    use crate::testing::values;

    const SPEC: Spec = Spec { slot: "", kind: "", doc: "", cite: "", params: Params::PARAMS };

    fn limits(given: &str) -> Option<RateLimits> {
        RateLimits::read(&values(&SPEC, given))
    }

    #[test]
    fn rates_of_classes_left_out_or_off_are_unlimited() {
        let some = limits("max_rate=off,2Gbps").expect("class 1 has a limit");
        assert_eq!([0, 1, 2].map(|class| some.rate(class)), [None, Some(Rate::gbps(2)), None]);
        assert_eq!((some.classes(), some.burst()), (ClassSet::single(1), 1518));
        assert_eq!(limits("max_rate=1Gbps burst=9KB").expect("class 0 has a limit").burst(), 9000);
        assert_eq!((limits(""), limits("max_rate=off,off burst=9KB")), (None, None));
    }

    #[test]
    fn ninth_rate_is_refused_and_burst_without_a_rate_warned() {
        let report = |given: &str| {
            let mut report = Report::default();
            let beside = CheckContext { is_set: &|key| given.contains(key), ..CheckContext::EMPTY };
            RateLimits::check(limits(given).as_ref(), &beside, &mut report);
            report
        };
        let nine = report("max_rate=off,off,off,off,off,off,off,off,1Gbps");
        assert_eq!((&*nine.errors[0].key, nine.errors[0].found.as_str()), ("max_rate", "9 rates"));
        assert!(report("burst=1KB").warnings[0].contains("burst has no effect"));
        assert_eq!(report("max_rate=1Gbps burst=1KB"), Report::default());
        assert_eq!(report(""), Report::default());
    }
}
