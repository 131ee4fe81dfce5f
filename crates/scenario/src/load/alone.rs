//! The parameters of one mechanism, without a scenario around it.

use super::checks;
use super::fields::{Faults, Wanted, read};
use super::sets;
use super::tree::{At, Node};
use crate::diag::Diagnostic;
use crate::model::Choice;
use mech::params::Spec;

/// A mechanism with settings `NAME=VALUE`, the rest at its defaults.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn alone(spec: &Spec, settings: &[String]) -> Result<Choice, Vec<Diagnostic>> {
    let at = |path: &str| At { line: 0, path: path.into(), set: Some(0) };
    let mut table = Node::table(at(""));
    let mut faults = Faults::new("--set");
    faults.found = sets::apply(&mut table, settings);
    let values = read(&table, Wanted::of(spec.params), &mut faults);
    if let (Some(values), true) = (values, faults.found.is_empty()) {
        let choice = Choice { kind: spec.kind.into(), values };
        let mut parent = Node::table(at(""));
        parent.put("marking", table);
        checks::marking(&parent, &choice, &mut faults);
        if faults.found.is_empty() {
            return Ok(choice);
        }
    }
    Err(faults.found)
}
