//! Parameters of one mechanism, checked without a scenario.

use super::checks;
use super::fields::{AllowedKeys, Faults, read_values};
use super::set_option;
use super::tree::{Location, Node};
use crate::diag::Diagnostic;
use mech::marking::MarkingSlot;
use mech::params::{Spec, Values};
use mech::{CheckContext, Registry, Report};

/// Returns the parameters of a mechanism from settings `NAME=VALUE`, with defaults for the others.
///
/// # Errors
/// Returns all faults of the settings.
pub(crate) fn read_mechanism_settings(
    registry: &Registry,
    spec: &Spec,
    settings: &[String],
) -> Result<Values, Vec<Diagnostic>> {
    let at = |path: &str| Location { line: 0, path: path.into(), set: Some(0) };
    let mut table = Node::table(at(""));
    let mut faults = Faults::new("--set");
    faults.diagnostics = set_option::apply_settings(&mut table, settings);
    let values = read_values(&table, AllowedKeys::new(spec.params), &mut faults);
    if let (Some(values), true) = (values, faults.diagnostics.is_empty()) {
        let mut parent = Node::table(at(""));
        parent.put("marking", table);
        let mut report = Report::default();
        if let Some(marking) = registry.make::<MarkingSlot>(spec.kind, &values) {
            marking.peek().check(&CheckContext::EMPTY, &mut report);
        }
        checks::report_faults(&parent, "marking", report, &mut faults);
        if faults.diagnostics.is_empty() {
            return Ok(values);
        }
    }
    Err(faults.diagnostics)
}
