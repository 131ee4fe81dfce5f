//! Distributions of flow sizes: one size, points of a cumulative distribution, or a formula.

mod points;
mod shapes;
mod tables;
#[cfg(test)]
mod tests;

use super::Context;
use super::common::make_fault;
use crate::fault::Fault;
use crate::quantities::spelling_hint;
use dataplane::Framing;
use mech::params::{Param, ParamKind, Spec, Value, Values};
use points::SizePoints;
use shapes::Pareto;
use units::{ParseError, parse_bytes};

/// Formulas for flow sizes that a table of a scenario may name.
pub const SPECS: &[&Spec] = &[&shapes::PARETO, &shapes::EXPONENTIAL, &shapes::UNIFORM];

/// Largest size of a flow in bytes, a petabyte; a larger draw becomes this size.
pub const MAX_FLOW_BYTES: u64 = 1_000_000_000_000_000;

/// Declaration of the parameter `size`, the payload of a workload's flows.
pub(super) const SIZE: Param = Param {
    name: "size",
    doc: "Payload of each flow: one size, or a distribution as in `sizes` of `poisson`.",
    kind: ParamKind::Sizes(SPECS),
    default: None,
};

/// Distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(SizeShape);

#[derive(Clone, Debug, PartialEq)]
enum SizeShape {
    Fixed(u64),
    Points(SizePoints),
    Pareto(Pareto),
    /// Exponential distribution with this mean in bytes.
    Exponential(f64),
    /// Uniform distribution of whole bytes, both ends included.
    Uniform(u64, u64),
}

impl Sizes {
    /// Reads a distribution of flow sizes from a parameter of [`ParamKind::Sizes`]. Assumptions made while reading a
    /// file become a note of `traffic`.
    pub(super) fn read_sizes(field: &str, values: &Values, traffic: &str, ctx: &Context) -> Result<Sizes, Vec<Fault>> {
        if let Some(Value::Table(kind, given)) = values.0.get(field) {
            return shapes::build(kind, given).map(Sizes).map_err(|wrong| {
                let Fault { field: key, found, rule } = wrong;
                vec![Fault { field: format!("{field}.{key}"), found, rule }]
            });
        }
        let name = values.word(field);
        match parse_bytes(name) {
            Ok(bytes) if (1..=MAX_FLOW_BYTES).contains(&bytes.0) => {
                return Ok(Sizes(SizeShape::Fixed(bytes.0)));
            }
            Ok(bytes) => {
                return Err(vec![make_fault(field, bytes.to_string(), "a size from 1B to 1PB, or a distribution")]);
            }
            Err(ParseError::MissingUnit) => {
                return Err(vec![make_fault(field, format!("`{name}`, which has no unit"), "a size such as `20KB`")]);
            }
            Err(_) => {}
        }
        Sizes::load_distribution(name, traffic, ctx).map_err(|(found, rule)| vec![make_fault(field, found, rule)])
    }

    /// Returns a distribution in which all flows have the same size, at least 1 byte.
    pub(super) fn fixed_size(bytes: u64) -> Sizes {
        Sizes(SizeShape::Fixed(bytes))
    }

    /// Returns the built-in distribution of this name, or the distribution in the file of this path.
    fn load_distribution(name: &str, traffic: &str, ctx: &Context) -> Result<Sizes, (String, String)> {
        if let Some(points) = tables::table_points(name) {
            return Ok(Sizes(SizeShape::Points(SizePoints { points })));
        }
        let text = (ctx.files)(name).map_err(|why| {
            let names: Vec<_> = tables::table_names().iter().map(|name| format!("`{name}`")).collect();
            let meant = spelling_hint(&ParamKind::Size { min: 1 }, name);
            let rule = format!("a size such as `20KB`, {}, or a file of sizes{meant}", names.join(", "));
            (format!("`{name}`: {why}"), rule)
        })?;
        let (points, how) = SizePoints::parse(&text).map_err(|(line, rule)| (format!("`{name}`, {line}"), rule))?;
        let mean = points.mean_bytes();
        ctx.notes
            .borrow_mut()
            .push(format!("traffic `{traffic}`: sizes of `{name}` are read as {how}; mean {mean:.0} B"));
        Ok(Sizes(SizeShape::Points(points)))
    }

    /// Parses a file of a flow-size distribution; also returns the convention that the file follows. Its lines are
    /// `size share` or pFabric's `packets 1 share`, separated by spaces or commas. A first line of words and comments
    /// after `#` are skipped.
    ///
    /// # Errors
    /// Returns what was found, with the number of the line, and what is expected.
    pub fn parse(text: &str) -> Result<(Sizes, &'static str), (String, String)> {
        SizePoints::parse(text).map(|(points, how)| (Sizes(SizeShape::Points(points)), how))
    }

    /// Returns the quantile `u` of flow sizes: the size below which this share of flows is, in whole bytes, at least 1.
    pub fn quantile(&self, u: f64) -> u64 {
        let whole = |size: f64| ((size + 0.5) as u64).clamp(1, MAX_FLOW_BYTES);
        match &self.0 {
            SizeShape::Fixed(size) => *size,
            SizeShape::Points(points) => points.quantile(u),
            SizeShape::Pareto(pareto) => whole(pareto.quantile(u)),
            SizeShape::Exponential(mean) => whole(-mean * libm::log1p(-u)),
            SizeShape::Uniform(min, max) => min + ((max - min + 1) as f64 * u) as u64,
        }
    }

    /// Returns the mean in bytes, without rounding of sizes to whole bytes; infinite if the tail is too heavy.
    pub fn mean_bytes(&self) -> f64 {
        match &self.0 {
            SizeShape::Fixed(size) => *size as f64,
            SizeShape::Points(points) => points.mean_bytes(),
            SizeShape::Pareto(pareto) => pareto.mean_bytes(),
            SizeShape::Exponential(mean) => *mean,
            SizeShape::Uniform(min, max) => (*min as f64 + *max as f64) / 2.0,
        }
    }

    /// Returns the mean number of bytes on the wire of a flow in segments of `segment` payload bytes. Padding of short
    /// last frames is not included.
    pub fn mean_wire_bytes(&self, framing: &Framing, segment: u64, options: u16) -> f64 {
        let overhead =
            f64::from(options) + f64::from(framing.header) + f64::from(framing.link) + f64::from(framing.gap);
        self.mean_bytes() + self.mean_segments(segment) * overhead
    }

    /// Returns the mean number of segments of `segment` payload bytes.
    fn mean_segments(&self, segment: u64) -> f64 {
        match &self.0 {
            SizeShape::Fixed(size) => size.div_ceil(segment) as f64,
            SizeShape::Points(points) => points.mean_segments(segment as f64),
            SizeShape::Pareto(pareto) => pareto.mean_segments(segment as f64),
            // The mean is the sum of the shares of flows longer than 0, 1, 2, … segments, here a geometric series.
            SizeShape::Exponential(mean) => -1.0 / libm::expm1(-(segment as f64) / mean),
            SizeShape::Uniform(min, max) => {
                let up_to = |n: u64| {
                    let (full, rest) = (n / segment, n % segment);
                    segment as f64 * (full as f64) * (full as f64 + 1.0) / 2.0 + rest as f64 * (full as f64 + 1.0)
                };
                (up_to(*max) - up_to(min - 1)) / (max - min + 1) as f64
            }
        }
    }
}
