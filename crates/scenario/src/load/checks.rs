//! Checks of relations between the values of several keys.

use super::fields::Faults;
use super::tree::{At, Node};
use crate::diag::{message, one_of};
use crate::model::{Choice, Filled, HostConfig, Scenario, SwitchConfig};
use crate::paths;
use crate::settings::ROCE;
use crate::symmetry::Tried;
use crate::topology::Topology;
use dataplane::transport::{Priority, TcpConfig};
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::routing::RoutingSlot;
use mech::scheduler::SchedulerSlot;
use mech::{NO_RANKS, Report, Room, Wrong};
use std::collections::BTreeSet;
use units::{Bytes, Dur, Time};

/// Largest cost of finding paths by [`paths::work`]; some seconds.
const MOST_PATHS: u64 = 10_000_000_000;
/// Adds the faults that a mechanism reports, and returns its notes. `parent` is the table that holds its slot.
pub(super) fn say(parent: &Node, slot: &str, report: Report, faults: &mut Faults) -> Vec<String> {
    for Wrong { key, found, rule } in report.wrong {
        faults.add(&parent.find(&format!("{slot}.{key}")), message(found, rule));
    }
    report.notes
}

/// Returns the place of a switch setting: in the last override that fills this slot, else in `[switch]`. `document` is
/// the variant.
pub(super) fn of_switch(document: &Node, name: &str) -> At {
    let slot = name.split('.').next().unwrap_or_default();
    let overrides = document.get("override").map_or(&[][..], Node::items);
    let fills = |over: &&Node| over.get("switch").is_some_and(|switch| switch.get(slot).is_some());
    overrides.iter().rfind(fills).unwrap_or(document).find(&format!("switch.{name}"))
}

/// Returns true if an override is about hosts, and so not about switches.
pub(super) fn names_hosts(over: &Node) -> bool {
    over.get("transport").is_some() || over.get("where").is_some_and(|place| place.get("hosts").is_some())
}

/// Checks that all switches have the same set of paths, and that finding it is affordable. `document` is the variant.
///
/// A packet carries no label of its path: each switch computes the path again. If one switch had other paths, packets
/// might circulate.
pub(super) fn same_paths(document: &Node, net: &Topology, switches: &[SwitchConfig], faults: &mut Faults) {
    let needs = |routing: &Filled<RoutingSlot>| routing.slot.peek().needs_paths();
    let mut of_it = switches.iter().map(|switch| &switch.routing).filter(|routing| needs(routing).is_some());
    let Some(first) = of_it.next() else { return };
    let alike = 1 + of_it.filter(|other| *other == first).count();
    let (key, k) = needs(first).unwrap_or_default();
    if alike < switches.len() {
        let found = format!("`{}` with {key} = {k} at {alike} of {} switches", first.kind, switches.len());
        faults.add(&of_switch(document, "routing"), message(found, "the same paths at all switches"));
    }
    let work = paths::work(net, k);
    if alike == switches.len() && work > MOST_PATHS {
        let found = format!("{k} paths for each pair of {} switches with hosts", net.edges());
        let what = "k times the links of all shortest paths between them times the ports of the network to be";
        let rule = format!("{what} at most {MOST_PATHS}; it is {work} here");
        faults.add(&of_switch(document, &format!("routing.{key}")), message(found, rule));
    }
}

/// Checks that a hash is symmetric at all switches or at none. Returns a note if directions of a flow differ in path
/// all the same. `document` is the variant.
///
/// ACK holding and counters of both directions need both on one path, and one switch with another hash breaks that.
pub(super) fn same_way_back(
    document: &Node,
    net: &Topology,
    switches: &[SwitchConfig],
    faults: &mut Faults,
) -> Option<String> {
    let is_symmetric = |switch: &&SwitchConfig| switch.routing.slot.peek().is_symmetric();
    let first = switches.iter().find(is_symmetric)?;
    let alike = switches.iter().filter(is_symmetric).count();
    if alike < switches.len() {
        let found = format!("a symmetric hash of `{}` at {alike} of {} switches", first.routing.kind, switches.len());
        faults.add(&of_switch(document, "routing"), message(found, "a symmetric hash at all switches or at none"));
        return None;
    }
    let tried = Tried::new(net);
    (tried.differ > 0).then(|| {
        format!(
            "switch.routing: for {} of {} tried flows, ACKs take other links than their data, whatever the hash. In \
             this network, one index among the next hops leads to different switches at the two ends",
            tried.differ, tried.flows
        )
    })
}

/// Checks that the hosts that an overflow mechanism names exist. `parent` is the table that holds its slot.
pub(super) fn hosts(parent: &Node, overflow: &OverflowSlot, net: &Topology, faults: &mut Faults) {
    let Some((key, names)) = overflow.peek().hosts() else { return };
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for name in names {
        known_host(&parent.find(&format!("overflow.{key}")), name, net, faults);
    }
}

/// Checks that a host of this name exists.
pub(super) fn known_host(at: &At, name: &str, net: &Topology, faults: &mut Faults) {
    if net.host(name).is_none() {
        let known = net.nodes[..net.hosts as usize].iter().map(|node| node.name.as_str());
        faults.add(at, message(format!("unknown host `{name}`"), one_of(name, known)));
    }
}

/// Warns if mechanisms distinguish packets by rank and no packet has one.
pub(super) fn ranks(scenario: &Scenario, notes: &mut Vec<String>) {
    let Scenario { host, switches, .. } = scenario;
    let by_rank = |scheduler: &SchedulerSlot, overflow: &OverflowSlot| {
        scheduler.peek().needs().ranks || overflow.peek().needs().ranks
    };
    let of_switch = |s: &SwitchConfig| s.ports.iter().any(|port| by_rank(&port.scheduler.slot, &s.overflow.slot));
    let asked = by_rank(&host.scheduler.slot, &host.overflow.slot) || switches.iter().any(of_switch);
    let no_rank =
        |one: &&Choice| !one.values.has("priority") || one.values.get::<Priority>("priority") == Priority::None;
    if asked && scenario.transports_in_use().iter().all(no_rank) {
        notes.push(NO_RANKS.into());
    }
}

/// Largest number of time steps in duration and drain; an idle period also gets one row per step.
const MOST_BINS: u64 = 1_000_000;
/// Longest run with its drain: half of what 64 bits of picoseconds hold.
pub(super) const LONGEST: Dur = Dur(u64::MAX / 2);

/// Checks that the window is within the run, the run fits 64 bits, and a trace has an affordable number of steps.
/// `scenario` is the document. Returns the end of the window and the width of a step.
pub(super) fn window(scenario: &Node, duration: Dur, measure: &Values, faults: &mut Faults) -> (Time, Dur) {
    let from = measure.time("from");
    let to = if measure.has("to") { measure.time("to") } else { duration };
    let drain = measure.time("drain");
    if to > duration {
        faults.add(&scenario.find("measure.to"), message(to, format!("at most duration = {duration}")));
    }
    if from >= to {
        let rule = format!("less than measure.to = {to}");
        faults.add(&scenario.find("measure.from"), message(from, rule));
    }
    let whole = duration.saturating_add(drain);
    if duration > LONGEST {
        faults.add(&scenario.find("duration"), message(duration, "at most 106 days"));
    } else if whole > LONGEST {
        let rule = "at most 106 days together with duration";
        faults.add(&scenario.find("measure.drain"), message(drain, rule));
    }
    let least = whole.0.div_ceil(MOST_BINS);
    let fine = (duration.0 / 200).max(Dur::us(1).0);
    let auto = Dur(if whole.0 / fine > 2 * MOST_BINS { least } else { fine });
    let bin = if measure.has("bin") { measure.time("bin") } else { auto };
    if measure.has("bin") && whole.0 / bin.0 > MOST_BINS {
        let rule = format!("at most a million steps in duration and drain, so at least {}", Dur(least));
        faults.add(&scenario.find("measure.bin"), message(bin, rule));
    }
    (Time(to.0), bin)
}

/// Checks that `sub_queues` is set only with `queues`. `scenario` is the document.
pub(super) fn sub_queues(scenario: &Node, measure: &Values, faults: &mut Faults) {
    if measure.flag("sub_queues") && !measure.flag("queues") {
        faults.add(&scenario.find("measure.sub_queues"), message("true", "measure.queues = true too"));
    }
}

/// Checks that each part of the framing is at most 4 KiB, so that frame sizes fit 16 bits even with a jumbo payload.
pub(super) fn framing(parent: &Node, framing: &Choice, faults: &mut Faults) {
    for key in ["header", "link", "min_frame", "gap"] {
        let size = framing.values.size(key);
        if size > 4096 {
            faults.add(&parent.find(&format!("framing.{key}")), message(Bytes(size), "at most 4096 bytes"));
        }
    }
}

/// Warns if notices of congestion have no effect, or if a reaction to notices gets none.
pub(super) fn notices(scenario: &Scenario, notes: &mut Vec<String>) {
    let reaction = &scenario.host.reaction.slot;
    match (scenario.switches_notify(), reaction.reacts(), reaction.sends_notices()) {
        (true, false, _) => notes.push(NO_REACTION.into()),
        (true, true, true) => notes.push(OTHER_NOTICES.into()),
        (false, true, false) => notes.push(NO_NOTICES.into()),
        _ => {}
    }
    if reaction.sends_notices() && !may_tell(scenario) {
        notes.push(NO_MARKS.into());
    }
}

/// Returns true if any packet may arrive marked at a host that sends notices about marks.
fn may_tell(scenario: &Scenario) -> bool {
    let mut ports = scenario.switches.iter().flat_map(|switch| &switch.ports);
    let aside = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().aside);
    let marks = aside || ports.any(|port| port.marking.slot.peek().plain() != Some(Room::ENDLESS));
    let raw = scenario.traffic.iter().any(|traffic| traffic.is_ecn_capable());
    marks && (raw || scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_told_of_marks)))
}

/// Checks NICs with a queue and a limiter for each flow. The reaction point must fit all links, and bounded sources
/// need a queue of their own. `document` is the variant.
pub(super) fn flows_at_nics(document: &Node, scenario: &Scenario, faults: &mut Faults) {
    let by_flow = scenario.host.nic.slot.by_flow();
    let links = scenario.topology.nodes[..scenario.topology.hosts as usize].iter().map(|node| node.ports[0].rate);
    let least = links.chain(by_flow.and_then(|order| order.flow_rate)).min();
    if let (Some(reaction), Some(line)) = (scenario.host.reaction.slot.peek(), least) {
        let mut report = Report::default();
        reaction.check(line, &mut report);
        say(document, "host.reaction", report, faults);
    }
    let workloads = || scenario.traffic.iter().zip(document.get("traffic").map_or(&[][..], Node::items));
    if by_flow.is_none() && scenario.transports_in_use().iter().any(|one| one.kind == ROCE) {
        let found = format!("{ROCE:?} with host.nic = {:?}", scenario.host.nic.kind);
        let said = |table: &Node| table.get("transport")?.get("kind").filter(|kind| kind.text() == Some(ROCE)).cloned();
        let own: Vec<Node> = workloads().filter_map(|(_, table)| said(table)).collect();
        if scenario.transport.kind == ROCE || own.is_empty() {
            faults.add(&document.find("transport.kind"), message(found, NO_WINDOW));
        } else {
            own.iter().for_each(|kind| faults.add(&kind.at, message(found.clone(), NO_WINDOW)));
        }
    }
    for (traffic, table) in workloads() {
        if traffic.is_bounded() && by_flow.is_none() {
            let found = format!("a backlog with host.nic = {:?}", scenario.host.nic.kind);
            faults.add(&table.find("backlog"), message(found, ONE_QUEUE));
        }
    }
}

const NO_WINDOW: &str = "host.nic = \"round_robin\", which requests one frame at a time: RoCE has no window, so a \
                         whole flow would be queued at the NIC";
const ONE_QUEUE: &str = "a nic with a queue for each flow; one queue, limited by host.nic_queue, holds the frames of \
                         all sources";
const NO_REACTION: &str = "switch.notify has no effect on flows with host.reaction = \"none\": sources get congestion \
                           notifications and keep their rates. Set host.reaction";
const NO_NOTICES: &str = "host.reaction has no effect with switch.notify = \"none\": no source gets a congestion \
                          notification. Set switch.notify";

const OTHER_NOTICES: &str = "switch.notify has no effect on flows: host.reaction reacts to CNPs of receivers, not to \
                             congestion notifications of switches";
const NO_MARKS: &str = "host.reaction: no receiver sends CNPs, because no switch marks packets, or no packet of RoCE \
                        or of a raw source is ECN-capable";

/// Checks that a NIC with a queue for each flow has no limit, marking threshold or order of its own. `host` is the
/// table of the host.
pub(super) fn nic(host: &Node, config: &HostConfig, faults: &mut Faults) {
    if config.nic.slot.by_flow().is_none() {
        if config.reaction.slot.reacts() {
            let found = format!("{:?} with nic = {:?}", config.reaction.kind, config.nic.kind);
            let rule = "a nic with a queue and a rate limiter for each flow";
            faults.add(&host.find("reaction.kind"), message(found, rule));
        }
        return;
    }
    let beside = format!("with nic = {:?}, where each flow has a queue", config.nic.kind);
    let needs = config.overflow.slot.peek().needs();
    let marks = config.marking.slot.peek().plain() != Some(Room::ENDLESS);
    for (slot, kind, is_wrong, rule) in [
        ("marking", &config.marking.kind, marks, "no marking"),
        ("scheduler", &config.scheduler.kind, config.scheduler.slot.reorders(), "first in, first out within a class"),
        ("overflow", &config.overflow.kind, needs.removes, "no removal of queued packets"),
    ] {
        if is_wrong {
            faults.add(&host.find(&format!("{slot}.kind")), message(format!("{kind:?}"), format!("{rule} {beside}")));
        }
    }
    if let Some(size) = config.nic_queue {
        faults.add(&host.find("nic_queue"), message(size, format!("no limit {beside}")));
    }
}
