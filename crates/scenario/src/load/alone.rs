//! Parameters of one mechanism, checked without a scenario.

use super::checks;
use super::fields::{Faults, Wanted, read};
use super::set_option;
use super::tree::{At, Node};
use crate::diag::Diagnostic;
use mech::marking::MarkingSlot;
use mech::params::{Spec, Values};
use mech::{Beside, Registry, Report};

/// Returns the parameters of a mechanism from settings `NAME=VALUE`, with defaults for the others.
///
/// # Errors
/// Returns all faults of the settings.
pub(crate) fn alone(registry: &Registry, spec: &Spec, settings: &[String]) -> Result<Values, Vec<Diagnostic>> {
    let at = |path: &str| At { line: 0, path: path.into(), set: Some(0) };
    let mut table = Node::table(at(""));
    let mut faults = Faults::new("--set");
    faults.found = set_option::apply(&mut table, settings);
    let values = read(&table, Wanted::new(spec.params), &mut faults);
    if let (Some(values), true) = (values, faults.found.is_empty()) {
        let mut parent = Node::table(at(""));
        parent.put("marking", table);
        let mut report = Report::default();
        if let Some(marking) = registry.make::<MarkingSlot>(spec.kind, &values) {
            marking.peek().check(&Beside::NOTHING, &mut report);
        }
        checks::say(&parent, "marking", report, &mut faults);
        if faults.found.is_empty() {
            return Ok(values);
        }
    }
    Err(faults.found)
}
