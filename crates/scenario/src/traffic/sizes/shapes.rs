//! Flow sizes by a formula: Pareto, bounded or not, exponential, uniform.

use super::{MAX_FLOW_BYTES, SizeShape};
use crate::fault::Fault;
use crate::traffic::common::make_fault;
use mech::params::{Param, ParamKind, Spec, Values};

const MEAN_SIZE: Param = Param { name: "mean", doc: "Mean size.", kind: ParamKind::Size { min: 1 }, default: None };

pub(super) const PARETO: Spec = Spec {
    slot: "traffic.sizes",
    kind: "pareto",
    doc: "Pareto distribution: the share `(scale/x)^shape` of flows is larger than x. With `max`, the distribution is \
          truncated at that size and normalized again. Set either `scale` or `mean`.",
    cite: "Harchol-Balter, \"The effect of heavy-tailed job size distributions on computer system design\", 1999",
    params: &[
        Param {
            name: "shape",
            doc: "Exponent of the tail. Without `max`, the variance is infinite up to 2, and the mean is infinite up \
                  to 1.",
            kind: ParamKind::Number { min: 0.1, max: 100.0, below_max: false },
            default: None,
        },
        Param { name: "scale", doc: "Smallest size.", kind: ParamKind::Size { min: 1 }, default: Some("") },
        Param {
            name: "mean",
            doc: "Mean size, in place of `scale`.",
            kind: ParamKind::Size { min: 1 },
            default: Some(""),
        },
        Param {
            name: "max",
            doc: "Largest size; without it, only draws above 1 PB are reduced to 1 PB.",
            kind: ParamKind::Size { min: 1 },
            default: Some(""),
        },
    ],
};

pub(super) const EXPONENTIAL: Spec = Spec {
    slot: "traffic.sizes",
    kind: "exponential",
    doc: "Exponential distribution, rounded to whole bytes, at least 1.",
    cite: "",
    params: &[MEAN_SIZE],
};

pub(super) const UNIFORM: Spec = Spec {
    slot: "traffic.sizes",
    kind: "uniform",
    doc: "Uniform distribution over all whole numbers of bytes from `min` to `max`.",
    cite: "",
    params: &[
        Param { name: "min", doc: "Smallest size.", kind: ParamKind::Size { min: 1 }, default: None },
        Param { name: "max", doc: "Largest size.", kind: ParamKind::Size { min: 1 }, default: None },
    ],
};

/// Builds the distribution of flow sizes that a table describes; the field of a fault is a key of that table.
pub(super) fn build(kind: &str, values: &Values) -> Result<SizeShape, Fault> {
    let keys = ["scale", "mean", "min", "max"].into_iter().filter(|key| values.has(key));
    if let Some(key) = keys.into_iter().find(|key| values.size(key) > MAX_FLOW_BYTES) {
        return Err(make_fault(key, format!("{}B", values.size(key)), "at most 1PB"));
    }
    match kind {
        "exponential" => Ok(SizeShape::Exponential(values.size("mean") as f64)),
        "uniform" => {
            let (min, max) = (values.size("min"), values.size("max"));
            if min > max {
                return Err(make_fault("min", format!("{min}B"), format!("at most max = {max}B")));
            }
            Ok(SizeShape::Uniform(min, max))
        }
        _ => Pareto::build(values).map(SizeShape::Pareto),
    }
}

/// Pareto distribution, bounded or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pareto {
    shape: f64,
    scale: f64,
    /// Largest size; infinite without a bound.
    max: f64,
}

impl Pareto {
    fn build(values: &Values) -> Result<Pareto, Fault> {
        let shape = values.number("shape");
        let size = |key: &str| values.has(key).then(|| values.size(key));
        let max = size("max").map_or(f64::INFINITY, |max| max as f64);
        let (key, given) = match (size("scale"), size("mean")) {
            (Some(scale), None) => ("scale", scale),
            (None, Some(mean)) => ("mean", mean),
            (Some(_), Some(mean)) => {
                return Err(make_fault("mean", format!("{mean}B"), "no value if `scale` is given"));
            }
            (None, None) => {
                return Err(make_fault("scale", "neither `scale` nor `mean`", "one of the two"));
            }
        };
        if given as f64 >= max {
            return Err(make_fault(key, format!("{given}B"), format!("less than max = {max}B")));
        }
        if key == "scale" {
            return Ok(Pareto { shape, scale: given as f64, max });
        }
        if max.is_infinite() && shape <= 1.0 {
            return Err(make_fault(
                "shape",
                shape.to_string(),
                "a shape above 1, or the key `max`, because a mean is given",
            ));
        }
        Pareto::from_mean(shape, given as f64, max).ok_or_else(|| {
            let least = Pareto { shape, scale: 1.0, max }.mean_bytes();
            make_fault(
                "mean",
                format!("{given}B"),
                format!("at least {least:.0}B, the mean if the smallest size is 1B"),
            )
        })
    }

    /// Returns the distribution with this shape, mean and bound; `None` if its smallest size would be below a byte.
    fn from_mean(shape: f64, mean: f64, max: f64) -> Option<Pareto> {
        if max.is_infinite() {
            let scale = mean * (shape - 1.0) / shape;
            return (scale >= 1.0).then_some(Pareto { shape, scale, max });
        }
        let of = |scale| Pareto { shape, scale, max };
        let (mut low, mut high) = (1.0, mean);
        if of(low).mean_bytes() > mean {
            return None;
        }
        // The mean grows with the smallest size and is never below it, so bisection finds that size between 1 and the
        // mean. 64 steps reach the last bit.
        for _ in 0..64 {
            let middle = (low + high) / 2.0;
            if of(middle).mean_bytes() > mean { high = middle } else { low = middle }
        }
        Some(of(low))
    }

    /// Returns the share of the unbounded distribution above the largest size.
    fn share_above_max(&self) -> f64 {
        libm::pow(self.scale / self.max, self.shape)
    }

    /// Returns the size below which the share `u` of flows is: the inverse of the cumulative distribution.
    pub fn quantile(&self, u: f64) -> f64 {
        let above = 1.0 - u * (1.0 - self.share_above_max());
        (self.scale * libm::pow(above, -1.0 / self.shape)).min(self.max)
    }

    pub fn mean_bytes(&self) -> f64 {
        let Pareto { shape, scale, max } = *self;
        if max.is_infinite() {
            return if shape > 1.0 { scale * shape / (shape - 1.0) } else { f64::INFINITY };
        }
        // Mean below the bound: the integral of x times the density, over the share of flows below the bound.
        let log = libm::log(max / scale);
        let moment = match shape == 1.0 {
            true => scale * log,
            false => scale * shape * -libm::expm1((1.0 - shape) * log) / (shape - 1.0),
        };
        moment / (1.0 - self.share_above_max())
    }

    /// Returns the mean number of segments: the sum of the shares of flows longer than 0, 1, 2, … segments.
    pub fn mean_segments(&self, segment: f64) -> f64 {
        let (low, high) = (self.scale / segment, self.max / segment);
        let (first, end) = (low.ceil().max(1.0), high.ceil());
        if end <= first {
            return first;
        }
        let beyond = self.share_above_max();
        let cut = if beyond > 0.0 { beyond * (end - first) } else { 0.0 };
        first + (libm::pow(low, self.shape) * sum_of_powers(self.shape, first, end) - cut) / (1.0 - beyond)
    }
}

/// Returns the sum of `k^-a` over the whole numbers from `from` up to, but not including, `to`. It adds some terms, and
/// uses the Euler-Maclaurin formula for the rest.
fn sum_of_powers(a: f64, from: f64, to: f64) -> f64 {
    let middle = to.min(from + 64.0);
    let mut sum = 0.0;
    let mut k = from;
    while k < middle {
        sum += libm::pow(k, -a);
        k += 1.0;
    }
    if middle >= to {
        return sum;
    }
    let f = |x: f64| libm::pow(x, -a);
    let slope = |x: f64| -a * libm::pow(x, -a - 1.0);
    let area = match a == 1.0 {
        true => libm::log(to / middle),
        false => (libm::pow(middle, 1.0 - a) - libm::pow(to, 1.0 - a)) / (a - 1.0),
    };
    sum + area + (f(middle) - f(to)) / 2.0 + (slope(to) - slope(middle)) / 12.0
}
