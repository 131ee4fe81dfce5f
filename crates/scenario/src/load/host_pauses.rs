//! Checks of hosts that pause the network against the pause mechanism of their switch.

use super::events::ReadEvent;
use super::fields::Faults;
use crate::diag::format_fault;
use crate::events::{Change, HostPause};
use crate::group_memory::lossless_classes;
use crate::model::Scenario;
use dataplane::PauseCause;
use mech::{ClassSet, PortId};
use std::collections::BTreeSet;

/// Pause frames that a host's switch honours.
struct HonouredPauses {
    /// Classes that the frames may pause.
    classes: ClassSet,
    /// True for PAUSE frames (802.3x), which pause all classes; false for PFC.
    whole: bool,
}

/// Returns the pause frames that the switch port of a host honours: those of the kind and classes that it sends.
fn honoured_pauses(scenario: &Scenario, host: u32) -> Option<HonouredPauses> {
    let (node, port) = scenario.topology.far_end((host, 0));
    let slot = scenario.pause_mechanism(node, port)?;
    if slot.pause_group(0) == ClassSet::ALL {
        return Some(HonouredPauses { classes: ClassSet::ALL, whole: true });
    }
    let layout = scenario.memory_layout((node - scenario.topology.hosts) as usize);
    let classes = match layout.filter(|layout| layout.has_groups()) {
        Some(layout) => lossless_classes(&layout, PortId(port)).into_iter().fold(ClassSet::NONE, ClassSet::union),
        None => (0..8).map(|class| slot.pause_group(class)).fold(ClassSet::NONE, ClassSet::union),
    };
    Some(HonouredPauses { classes, whole: false })
}

/// Fault of a pause by a host, as a key with what was found and what is expected.
type PauseFault = (&'static str, String, String);

/// Checks each pause by a host, and sets its classes and its kind of pause frames.
pub(super) fn check_host_pauses(events: &[ReadEvent], scenario: &mut Scenario, faults: &mut Faults) -> Option<()> {
    let before = faults.count;
    for (n, ReadEvent { table, choice, event }) in events.iter().enumerate() {
        let Some(pause) = event.host_pause() else { continue };
        match resolve_classes(pause, &choice.kind, &event.target, scenario) {
            Ok(resolved) => scenario.events[n].change = Change::Host(resolved),
            Err((key, found, rule)) => faults.add_fault(&table.locate(key), format_fault(found, rule)),
        }
    }
    (faults.count == before).then_some(())
}

/// Returns a pause with its classes filled in.
fn resolve_classes(pause: &HostPause, kind: &str, host: &str, scenario: &Scenario) -> Result<HostPause, PauseFault> {
    let honoured = honoured_pauses(scenario, pause.host).filter(|honoured| honoured.classes != ClassSet::NONE);
    let Some(honoured) = honoured else {
        let found = format!("a {kind} of `{host}`, whose switch port pauses no class");
        return Err(("kind", found, "a host whose switch port has `switch.pause`, such as { kind = \"pfc\" }".into()));
    };
    let mut resolved = pause.clone();
    resolved.whole = honoured.whole;
    let Some(given) = &pause.given_classes else {
        // A pause of classes without traffic changes nothing, and would only add storms and pauses without meaning.
        let in_use = ClassSet(honoured.classes.0 & scenario.classes().0);
        resolved.period.classes = if in_use == ClassSet::NONE || honoured.whole { honoured.classes } else { in_use };
        return Ok(resolved);
    };
    if honoured.whole {
        let found = format!("`classes` of `{host}`, which sends PAUSE frames (802.3x) for all classes");
        return Err(("classes", found, "no `classes`, or a switch.pause of kind `pfc`".into()));
    }
    if given.is_empty() || given.iter().collect::<BTreeSet<_>>().len() < given.len() {
        let rule = "one or more whole numbers from 0 to 7, each once";
        return Err(("classes", format!("{given:?}"), rule.into()));
    }
    if let Some(class) = given.iter().find(|class| !honoured.classes.has(**class as u8)) {
        let classes = (0..8).filter(|class| honoured.classes.has(*class)).map(|class| class.to_string());
        let rule =
            format!("classes that the switch port of `{host}` pauses: {}", classes.collect::<Vec<_>>().join(", "));
        return Err(("classes", format!("class {class}"), rule));
    }
    Ok(resolved)
}

/// Warns about pauses by hosts that change nothing: no traffic has their classes, or the host is as fast as its link.
pub(super) fn warn_idle_host_pauses(scenario: &Scenario, notes: &mut Vec<String>) {
    for event in &scenario.events {
        let Some(pause) = event.host_pause() else { continue };
        let host = &event.target;
        if pause.period.classes.0 & scenario.classes().0 == 0 {
            notes.push(format!(
                "event: the {pause} of `{host}` has no effect, because no traffic has a class that it pauses"
            ));
        }
        let link = scenario.topology.nodes[pause.host as usize].ports[0].rate;
        if matches!(pause.period.cause, PauseCause::SlowReceiver { drain, .. } if drain >= link) {
            notes.push(format!("event: the {pause} of `{host}` has no effect, because its link has only {link}"));
        }
    }
}
