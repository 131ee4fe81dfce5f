//! Decision curves of mechanisms, such as a marking probability, as data for a terminal or a figure.

use crate::diag::Diagnostic;
use crate::load::read_mechanism_settings;
use mech::Registry;
use mech::curve::CURVES;
use serde_json::{Value as Json, json};

/// Request for the curve of one mechanism.
#[derive(Clone, Copy, Debug)]
pub struct CurveRequest<'a> {
    /// Kind of the mechanism.
    pub kind: &'a str,
    /// Settings `NAME=VALUE` of the mechanism.
    pub settings: &'a [String],
    /// Number of steps over the curve's range, 1 to 100,000.
    pub steps: u32,
    /// Further values of `x` at which to evaluate the curve.
    pub extra_x: &'a [f64],
}

/// Evaluates the curve of a mechanism over its range and at further values of `x`. Returns `None` if the mechanism has
/// no curve.
///
/// The result is `{x, y, of_size, lines, note, places, values, asked}`. `places` are the values of `x`, the first of
/// them 0. `values` has a list of heights for each of `lines`, and `asked` has the same at `extra_x`.
///
/// # Errors
/// Returns all faults of the settings.
pub fn curve_json(registry: &Registry, request: &CurveRequest) -> Result<Option<Json>, Vec<Diagnostic>> {
    let CurveRequest { kind, settings, steps, extra_x } = *request;
    let Some(curve) = CURVES.iter().find(|curve| curve.kind == kind) else { return Ok(None) };
    let Some(spec) = registry.specs().into_iter().find(|spec| spec.kind == kind) else { return Ok(None) };
    let values = read_mechanism_settings(registry, spec, settings)?;
    let steps = steps.clamp(1, 100_000);
    let (from, to) = (curve.range)(&values);
    let place = |i| if i == steps { to } else { from + (to - from) * f64::from(i) / f64::from(steps) };
    let places: Vec<f64> = std::iter::once(0.0).chain((0..=steps).map(place)).collect();
    let line = |line, over: &[f64]| -> Vec<f64> { over.iter().map(|x| (curve.at)(&values, line, *x)).collect() };
    let lines = |over: &[f64]| -> Vec<Vec<f64>> { (0..curve.lines.len()).map(|n| line(n, over)).collect() };
    Ok(Some(json!({
        "x": (curve.x)(&values),
        "y": curve.y,
        "of_size": curve.of_size,
        "lines": curve.lines,
        "note": (curve.note)(&values),
        "values": lines(&places),
        "asked": lines(extra_x),
        "places": places,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_errors(kind: &str, settings: &[&str]) -> Vec<String> {
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        curve_json(&Registry::catalogue(), &CurveRequest { kind, settings: &settings, steps: 4, extra_x: &[] })
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn curve_json_has_x_values_and_a_list_for_each_line() {
        let found = curve_json(
            &Registry::catalogue(),
            &CurveRequest {
                kind: "bounce",
                settings: &["theta=0.5".into(), "lambda=5".into()],
                steps: 4,
                extra_x: &[0.75, 1.0],
            },
        )
        .unwrap()
        .unwrap();
        assert_eq!(found["places"], json!([0.0, 0.5, 0.625, 0.75, 0.875, 1.0]));
        assert_eq!(found["lines"], json!(["np = 0", "np = 1", "np = 2"]));
        let middle = found["values"][0][3].as_f64().unwrap();
        assert_eq!(found["asked"][0], json!([middle, 1.0]));
        assert!((middle - 0.7773).abs() < 1e-4, "{middle}");
        assert_eq!(
            curve_json(
                &Registry::catalogue(),
                &CurveRequest { kind: "tail_drop", settings: &[], steps: 4, extra_x: &[] }
            ),
            Ok(None)
        );
    }

    #[test]
    fn wrong_settings_are_reported_with_key_and_rule() {
        assert_eq!(
            describe_errors("bounce", &["theta=1.5"]),
            ["--set: theta: found 1.5; expected a number of at least 0 and below 1"]
        );
        let unknown = describe_errors("bounce", &["thta=0.5"]);
        assert!(
            unknown[0].starts_with("--set: thta: found unknown key `thta`; expected one of `theta`"),
            "{unknown:?}"
        );
        assert!(describe_errors("bounce", &["kind=red"])[0].contains("unknown key `kind`"));
        assert!(describe_errors("bounce", &["theta"])[0].contains("PATH=VALUE"));
        assert!(describe_errors("red", &["min=20pkt"])[0].contains("less than max = 15pkt"));
    }
}
