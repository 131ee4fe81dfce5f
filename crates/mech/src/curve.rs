//! Decision curves of mechanisms, for plots. A mechanism with a curve adds a line to [`CURVES`].

use crate::overflow::{BounceGiven, FullQueueRounding};
use crate::params::Values;
use crate::{marking, overflow};
use units::Amount;

/// Probability of a mechanism's decision as a function of the quantity that it reads.
#[derive(Debug)]
pub struct Curve {
    /// Name of the mechanism that decides with this probability.
    pub kind: &'static str,
    /// Returns the name of the quantity on the x-axis, with its unit.
    pub x: fn(&Values) -> &'static str,
    /// Name of the probability on the y-axis, from 0 to 1.
    pub y: &'static str,
    /// True if `x` is a fraction of a queue's capacity.
    pub of_size: bool,
    /// Labels of the lines in the plot.
    pub lines: &'static [&'static str],
    /// Returns the interval of `x` in which the curve changes.
    pub range: fn(&Values) -> (f64, f64),
    /// Returns the probability on the line of this number, at a value of `x`.
    pub at: fn(&Values, usize, f64) -> f64,
    /// Returns a sentence about what the curve omits, or an empty string.
    pub note: fn(&Values) -> String,
}

/// Decision curves of all mechanisms that have one.
pub const CURVES: &[Curve] = &[BOUNCE_CURVE, RED_CURVE];

/// Curve of PABO's bounce probability (fig. 3, eq. 4) for packets that were bounced 0, 1 and 2 times.
const BOUNCE_CURVE: Curve = Curve {
    kind: "bounce",
    x: |_| "utilisation of the queue",
    y: "probability of a bounce",
    of_size: true,
    lines: &["np = 0", "np = 1", "np = 2"],
    range: |values| (BounceGiven::read(values).theta, 1.0),
    at: |values, np, u| {
        let given = BounceGiven::read(values);
        overflow::probability(u, np as u8, given.theta, given.lambda)
    },
    note: |values| {
        let length = match (BounceGiven::read(values).round_to, BounceGiven::read(values).rounding) {
            (0 | 1, _) => "C".to_string(),
            (n, FullQueueRounding::Multiple) => format!("⌊C/{n}⌋ · {n}"),
            (n, FullQueueRounding::Places) => format!("C - {}", n - 1),
        };
        format!(
            "np is the number of earlier bounces of the packet. The curve is eq. 4 alone. A queue with a capacity of C \
             frames counts as full from {length} on (`round_to`): there u = 1, and every packet is bounced."
        )
    },
};

/// Curve of RED's mark probability (Floyd and Jacobson 1993, fig. 2), before marks are spread evenly.
const RED_CURVE: Curve = Curve {
    kind: "red",
    x: |values| match marking::RedGiven::read(values).max {
        Amount::Packets(_) => "average queue, in packets",
        Amount::Bytes(_) => "average queue, in bytes",
    },
    y: "probability of a mark",
    of_size: false,
    lines: &["p"],
    range: marking::red_range,
    at: |values, _, average| marking::red_probability(values, average),
    note: |_| {
        "With `gaps` = `uniform`, the probability also grows with the packets since the last mark (1993, §7).".into()
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;

    fn find_curve(kind: &str, given: &str) -> (&'static Curve, Values) {
        let spec = crate::Registry::catalogue().specs().into_iter().find(|spec| spec.kind == kind).unwrap();
        (CURVES.iter().find(|curve| curve.kind == kind).unwrap(), values(spec, given))
    }

    #[test]
    fn bounce_curve_matches_equation_4_and_figure_3() {
        let (curve, values) = find_curve("bounce", "theta=0.5 lambda=5");
        let at = |np, u| ((curve.at)(&values, np, u) * 1e4).round() / 1e4;
        assert_eq!([at(0, 0.75), at(1, 0.75), at(2, 0.75)], [0.7773, 0.6514, 0.6027]);
        assert_eq!([at(0, 0.5), at(2, 1.0)], [0.0, 1.0]);
        assert_eq!((curve.range)(&values), (0.5, 1.0));
        let note = |given: &str| (curve.note)(&find_curve("bounce", given).1);
        assert!(note("").contains("np is the number of earlier bounces of the packet"));
        for (given, length) in
            [("", "C - 2"), ("round_to=3 rounding=multiple", "⌊C/3⌋ · 3"), ("round_to=1", "C"), ("round_to=0", "C")]
        {
            let full =
                format!("counts as full from {length} on (`round_to`): there u = 1, and every packet is bounced");
            assert!(note(given).contains(&full), "{}", note(given));
        }
    }

    #[test]
    fn red_curve_is_linear_and_steeper_above_max() {
        let (gentle, values) = find_curve("red", "min=5pkt max=15pkt max_p=0.1");
        assert_eq!((gentle.range)(&values), (5.0, 30.0));
        let at = [4.0, 5.0, 10.0, 15.0, 22.5, 30.0].map(|average| (gentle.at)(&values, 0, average));
        assert_eq!(at, [0.0, 0.0, 0.05, 0.1, 0.55, 1.0]);
        assert_eq!((gentle.x)(&values), "average queue, in packets");
        let (step, values) = find_curve("red", "min=5pkt max=15pkt gentle=false");
        assert_eq!((step.range)(&values), (5.0, 15.0));
        assert_eq!((step.at)(&values, 0, 15.0), 1.0);
    }

    #[test]
    fn every_curve_names_a_mechanism_and_runs_from_0_to_1() {
        for curve in CURVES {
            let spec = crate::Registry::catalogue()
                .specs()
                .into_iter()
                .find(|spec| spec.kind == curve.kind)
                .expect(curve.kind);
            let values = values(spec, "");
            let (from, to) = (curve.range)(&values);
            for line in 0..curve.lines.len() {
                assert_eq!([from, to].map(|x| (curve.at)(&values, line, x)), [0.0, 1.0], "{}", curve.kind);
            }
        }
    }
}
