//! Loader of the keys `dscp_to_class` (traffic class of each DSCP) and `dscp` (DSCP of a workload).

use super::checks::locate_switch_setting;
use super::fields::Faults;
use super::tree::{Location, Node};
use crate::diag::format_fault;
use crate::dscps::{TrafficDscps, default_dscp};
use crate::model::{Choice, Scenario};
use mech::DscpTable;
use mech::params::{Value, Values};
use std::collections::BTreeSet;

/// Traffic class of congestion notification packets (CNPs).
const CNP_CLASS: u8 = 7;
const TABLE_KEY: &str = "dscp_to_class";

/// Traffic class of each DSCP.
pub(super) type DscpClasses = [u8; DscpTable::DSCPS];

/// Returns the traffic class of each DSCP, given the top-level values of a scenario.
pub(super) fn read_classes(top: &Values) -> DscpClasses {
    let mut all = *DscpTable::CLASS_SELECTORS.classes();
    if let Some(Value::DscpClasses(given)) = top.0.get(TABLE_KEY) {
        given.iter().for_each(|(dscp, class)| all[usize::from(*dscp)] = *class);
    }
    all
}

/// Sets the class of a workload with the key `dscp`, and reports a `class` that differs. `item` is the workload in the
/// document.
pub(super) fn set_class(item: &Node, made: &mut Choice, classes: &DscpClasses, faults: &mut Faults) {
    if !made.values.has("dscp") {
        return;
    }
    let dscp = made.values.count("dscp");
    let class = classes[dscp as usize];
    let given = made.values.count("class");
    if item.get("class").is_some() && given != u64::from(class) {
        let found = format!("{given} with dscp = {dscp}");
        let rule = format!("{class}, the class of DSCP {dscp} in `{TABLE_KEY}`, or no `class`");
        faults.add_fault(&item.locate("class"), format_fault(found, rule));
    }
    made.values.0.insert("class".into(), Value::Count(class.into()));
}

/// DSCPs that a scenario uses, collected by class.
struct DscpUse<'a> {
    classes: &'a DscpClasses,
    in_use: [BTreeSet<u8>; 8],
}

impl DscpUse<'_> {
    /// Adds a DSCP of a workload, or reports a fault if its class has too many already.
    fn add(&mut self, dscp: u8, at: &Location, faults: &mut Faults) {
        let class = usize::from(self.classes[usize::from(dscp)]);
        let all = &mut self.in_use[class];
        if all.len() == DscpTable::PER_CLASS && !all.contains(&dscp) {
            let found = format!("DSCP {dscp} of class {class}, beside DSCPs {}", list(all.iter()));
            let rule = format!("at most {} DSCPs of one class in a scenario", DscpTable::PER_CLASS);
            faults.add_fault(at, format_fault(found, rule));
            return;
        }
        all.insert(dscp);
    }

    /// Returns the default DSCP of a class, or reports a fault if no DSCP has this class.
    fn default_dscp(&self, class: u8, at: &Location, faults: &mut Faults) -> Option<u8> {
        let dscp = default_dscp(self.classes, class);
        if dscp.is_none() {
            let found = format!("packets of class {class}, to which `{TABLE_KEY}` maps no DSCP");
            let known: BTreeSet<&u8> = self.classes.iter().collect();
            faults.add_fault(at, format_fault(found, format!("a class with a DSCP: {}", list(known.into_iter()))));
        }
        dscp
    }
}

fn list<'a>(numbers: impl Iterator<Item = &'a u8>) -> String {
    numbers.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the DSCPs of the packets of a scenario. `document` is the parsed variant.
pub(super) fn assign_dscps(
    document: &Node,
    scenario: &Scenario,
    classes: &DscpClasses,
    faults: &mut Faults,
) -> TrafficDscps {
    let traffic = || scenario.traffic.iter();
    if document.get(TABLE_KEY).is_none() && traffic().all(|traffic| traffic.named_dscp().is_none()) {
        return TrafficDscps::default();
    }
    let mut found = DscpUse { classes, in_use: Default::default() };
    let before = faults.count;
    for (traffic, item) in traffic().zip(document.get("traffic").map_or(&[][..], Node::items)) {
        if let Some(dscp) = traffic.named_dscp() {
            found.add(dscp, &item.locate("dscp"), faults);
            continue;
        }
        let (sent, at) = (traffic.sent_classes(), item.locate("class"));
        for class in (0..8).filter(|class| sent.has(*class)) {
            if let Some(dscp) = found.default_dscp(class, &at, faults) {
                found.add(dscp, &at, faults);
            }
        }
    }
    let cut = scenario.switches.iter().filter_map(|switch| switch.overflow.slot.peek().needs().cut_class);
    let of_cut = cut.map(|class| (class, locate_switch_setting(document, "overflow.header_class")));
    let of_cnps = scenario.host.reaction.slot.sends_notices().then(|| (CNP_CLASS, document.locate("host.reaction")));
    for (class, at) in of_cut.chain(of_cnps) {
        // Cut headers and CNPs have DSCP number 0 of their class, so the class needs at least one DSCP.
        if found.in_use[usize::from(class)].is_empty() {
            found.in_use[usize::from(class)].extend(found.default_dscp(class, &at, faults));
        }
    }
    if faults.count > before {
        return TrafficDscps::default();
    }
    TrafficDscps::number(*classes, &found.in_use, traffic().map(|traffic| traffic.named_dscp()))
}
