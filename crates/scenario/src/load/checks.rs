//! Checks of relations between the values of several keys.

use super::fields::Faults;
use super::tree::{Location, Node};
use crate::diag::{format_fault, format_one_of};
use crate::model::{Choice, FilledSlot, HostConfig, Scenario, SwitchConfig};
use crate::paths;
use crate::settings::ROCE_KIND;
use crate::symmetry::SymmetryTrial;
use crate::topology::Topology;
use dataplane::transport::{Priority, TcpConfig};
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::routing::RoutingSlot;
use mech::scheduler::SchedulerSlot;
use mech::{NO_RANKS_WARNING, ParamError, PortThresholds, Report};
use std::collections::BTreeSet;
use units::{Bytes, Dur, Time};

/// Largest accepted cost of a path search, as computed by [`paths::path_search_cost`]; it corresponds to some seconds.
const MAX_PATH_SEARCH_COST: u64 = 10_000_000_000;
/// Adds the faults that a mechanism reports, and returns its notes. `parent` is the table that holds its slot.
pub(super) fn report_faults(parent: &Node, slot: &str, report: Report, faults: &mut Faults) -> Vec<String> {
    for ParamError { key, found, rule } in report.errors {
        faults.add_fault(&parent.locate(&format!("{slot}.{key}")), format_fault(found, rule));
    }
    report.warnings
}

/// Returns the location of a switch setting in the scenario: in the last override that fills its slot, else in
/// `[switch]`. `document` is the variant.
pub(super) fn locate_switch_setting(document: &Node, name: &str) -> Location {
    let slot = name.split('.').next().unwrap_or_default();
    let overrides = document.get("override").map_or(&[][..], Node::items);
    let fills = |over: &&Node| over.get("switch").is_some_and(|switch| switch.get(slot).is_some());
    overrides.iter().rfind(fills).unwrap_or(document).locate(&format!("switch.{name}"))
}

/// Returns true if an override applies to hosts, and not to switches.
pub(super) fn is_host_override(over: &Node) -> bool {
    over.get("transport").is_some() || over.get("where").is_some_and(|place| place.get("hosts").is_some())
}

/// Checks that all switches have the same set of paths, and that finding it is affordable. `document` is the variant.
///
/// A packet carries no label of its path: each switch computes the path again. If one switch had other paths, packets
/// might circulate.
pub(super) fn check_path_sets(document: &Node, net: &Topology, switches: &[SwitchConfig], faults: &mut Faults) {
    let needs = |routing: &FilledSlot<RoutingSlot>| routing.slot.peek().needs_paths();
    let mut of_it = switches.iter().map(|switch| &switch.routing).filter(|routing| needs(routing).is_some());
    let Some(first) = of_it.next() else { return };
    let alike = 1 + of_it.filter(|other| *other == first).count();
    let (key, k) = needs(first).unwrap_or_default();
    if alike < switches.len() {
        let found = format!("`{}` with {key} = {k} at {alike} of {} switches", first.kind, switches.len());
        let rule = format!(
            "the same routing with the same {key} at all switches, because each switch computes the paths again"
        );
        faults.add_fault(&locate_switch_setting(document, "routing"), format_fault(found, rule));
    }
    let work = paths::path_search_cost(net, k);
    if alike == switches.len() && work > MAX_PATH_SEARCH_COST {
        let found = format!("{k} paths for each pair of {} switches with hosts", net.count_edge_switches());
        let what = "a product of k, the links of all shortest paths between these switches, and the ports of the \
                    network of";
        let rule = format!("{what} at most {MAX_PATH_SEARCH_COST}; the product is {work}");
        faults.add_fault(&locate_switch_setting(document, &format!("routing.{key}")), format_fault(found, rule));
    }
}

/// Checks that either all switches use a symmetric hash or none does. Returns a note if the two directions of some flow
/// differ in path all the same. `document` is the variant.
///
/// ACK holding and counters of both directions need both on one path, and one switch with another hash breaks that.
pub(super) fn check_symmetric_hash(
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
        faults.add_fault(
            &locate_switch_setting(document, "routing"),
            format_fault(found, "a symmetric hash at all switches or at none"),
        );
        return None;
    }
    let tried = SymmetryTrial::new(net);
    (tried.asymmetric_flows > 0).then(|| {
        format!(
            "switch.routing: in {} of {} tried flows, ACKs do not return over the links of their data, although the \
             hash is symmetric. The two ends of a path number their next hops differently in this network. Mechanisms \
             that need both directions on one path, such as ACK holding, see only a part of these flows",
            tried.asymmetric_flows, tried.flows
        )
    })
}

/// Checks that the hosts that an overflow mechanism names exist. `parent` is the table that holds its slot.
pub(super) fn check_overflow_hosts(parent: &Node, overflow: &OverflowSlot, net: &Topology, faults: &mut Faults) {
    let Some((key, names)) = overflow.peek().host_params() else { return };
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for name in names {
        check_host_exists(&parent.locate(&format!("overflow.{key}")), name, net, faults);
    }
}

/// Checks that a host of this name exists.
pub(super) fn check_host_exists(at: &Location, name: &str, net: &Topology, faults: &mut Faults) {
    if net.find_host(name).is_none() {
        let known = net.nodes[..net.hosts as usize].iter().map(|node| node.name.as_str());
        faults.add_fault(at, format_fault(format!("unknown host `{name}`"), format_one_of(name, known)));
    }
}

/// Warns if a scheduler or overflow mechanism orders packets by rank, but no transport gives packets a rank.
pub(super) fn warn_unused_ranks(scenario: &Scenario, notes: &mut Vec<String>) {
    let Scenario { host, switches, .. } = scenario;
    let by_rank = |scheduler: &SchedulerSlot, overflow: &OverflowSlot| {
        scheduler.peek().needs().orders_by_rank || overflow.peek().needs().orders_by_rank
    };
    let of_switch = |s: &SwitchConfig| s.ports.iter().any(|port| by_rank(&port.scheduler.slot, &s.overflow.slot));
    let asked = by_rank(&host.scheduler.slot, &host.overflow.slot) || switches.iter().any(of_switch);
    let no_rank =
        |one: &&Choice| !one.values.has("priority") || one.values.get::<Priority>("priority") == Priority::None;
    if asked && scenario.transports_in_use().iter().all(no_rank) {
        notes.push(NO_RANKS_WARNING.into());
    }
}

/// Largest number of time bins of the traces in a run with its drain; an idle period also gets a row for each bin.
const MAX_TIME_STEPS: u64 = 1_000_000;
/// Longest duration of a run with its drain: half of the range of picoseconds in 64 bits.
pub(super) const MAX_RUN: Dur = Dur(u64::MAX / 2);

/// Checks that the window is within the run, the run fits 64 bits, and a trace has an affordable number of steps.
/// `scenario` is the document. Returns the end of the window and the width of a step.
pub(super) fn check_window(scenario: &Node, duration: Dur, measure: &Values, faults: &mut Faults) -> (Time, Dur) {
    let from = measure.time("from");
    let to = if measure.has("to") { measure.time("to") } else { duration };
    let drain = measure.time("drain");
    if to > duration {
        faults.add_fault(&scenario.locate("measure.to"), format_fault(to, format!("at most duration = {duration}")));
    }
    if from >= to {
        let rule = format!("less than measure.to = {to}");
        faults.add_fault(&scenario.locate("measure.from"), format_fault(from, rule));
    }
    let whole = duration.saturating_add(drain);
    if duration > MAX_RUN {
        faults.add_fault(&scenario.locate("duration"), format_fault(duration, "at most 106 days"));
    } else if whole > MAX_RUN {
        let rule = "at most 106 days together with duration";
        faults.add_fault(&scenario.locate("measure.drain"), format_fault(drain, rule));
    }
    let least = whole.0.div_ceil(MAX_TIME_STEPS);
    let fine = (duration.0 / 200).max(Dur::us(1).0);
    let auto = Dur(if whole.0 / fine > 2 * MAX_TIME_STEPS { least } else { fine });
    let bin = if measure.has("bin") { measure.time("bin") } else { auto };
    if measure.has("bin") && whole.0 / bin.0 > MAX_TIME_STEPS {
        let rule = format!("at least {}, so that duration and drain have at most a million bins", Dur(least));
        faults.add_fault(&scenario.locate("measure.bin"), format_fault(bin, rule));
    }
    (Time(to.0), bin)
}

/// Checks that `sub_queues` is set only with `queues`. `scenario` is the document.
pub(super) fn check_sub_queues(scenario: &Node, measure: &Values, faults: &mut Faults) {
    if measure.flag("sub_queues") && !measure.flag("queues") {
        faults.add_fault(
            &scenario.locate("measure.sub_queues"),
            format_fault(
                "true",
                "measure.sub_queues = true only together with \
                                                                          measure.queues = true",
            ),
        );
    }
}

/// Checks that each part of the framing is at most 4 KiB, so that frame sizes fit 16 bits even with a jumbo payload.
pub(super) fn check_framing(parent: &Node, framing: &Choice, faults: &mut Faults) {
    for key in ["header", "link", "min_frame", "gap"] {
        let size = framing.values.size(key);
        if size > 4096 {
            faults
                .add_fault(&parent.locate(&format!("framing.{key}")), format_fault(Bytes(size), "at most 4096 bytes"));
        }
    }
}

/// Warns about congestion notifications that have no effect, and about a reaction to them if none is ever sent.
pub(super) fn warn_ineffective_notices(scenario: &Scenario, notes: &mut Vec<String>) {
    let reaction = &scenario.host.reaction.slot;
    match (scenario.switches_notify(), reaction.has_reaction(), reaction.sends_notices()) {
        (true, false, _) => notes.push(NO_REACTION.into()),
        (true, true, true) => notes.push(OTHER_NOTICES.into()),
        (false, true, false) => notes.push(NO_NOTICES.into()),
        _ => {}
    }
    if reaction.sends_notices() && !may_send_notices(scenario) {
        notes.push(NO_MARKS.into());
    }
}

/// Returns true if an ECN-marked packet may arrive at a host that sends CNPs for marked packets.
fn may_send_notices(scenario: &Scenario) -> bool {
    let mut ports = scenario.switches.iter().flat_map(|switch| &switch.ports);
    let aside = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().detours);
    let marks =
        aside || ports.any(|port| port.marking.slot.peek().fixed_thresholds() != Some(PortThresholds::UNLIMITED));
    let raw = scenario.traffic.iter().any(|traffic| traffic.is_ecn_capable());
    marks && (raw || scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::uses_cnps)))
}

/// Checks NICs with a queue and a limiter for each flow. The reaction point must fit all links, and bounded sources
/// need a queue of their own. `document` is the variant.
pub(super) fn check_nic_flow_queues(document: &Node, scenario: &Scenario, faults: &mut Faults) {
    let by_flow = scenario.host.nic.slot.flow_queues();
    let links = scenario.topology.nodes[..scenario.topology.hosts as usize].iter().map(|node| node.ports[0].rate);
    let least = links.chain(by_flow.and_then(|order| order.flow_rate)).min();
    if let (Some(reaction), Some(line)) = (scenario.host.reaction.slot.peek(), least) {
        let mut report = Report::default();
        reaction.check(line, &mut report);
        report_faults(document, "host.reaction", report, faults);
    }
    let workloads = || scenario.traffic.iter().zip(document.get("traffic").map_or(&[][..], Node::items));
    if by_flow.is_none() && scenario.transports_in_use().iter().any(|one| one.kind == ROCE_KIND) {
        let found = format!("{ROCE_KIND:?} with host.nic = {:?}", scenario.host.nic.kind);
        let said =
            |table: &Node| table.get("transport")?.get("kind").filter(|kind| kind.text() == Some(ROCE_KIND)).cloned();
        let own: Vec<Node> = workloads().filter_map(|(_, table)| said(table)).collect();
        if scenario.transport.kind == ROCE_KIND || own.is_empty() {
            faults.add_fault(&document.locate("transport.kind"), format_fault(found, ROCE_NEEDS_ROUND_ROBIN));
        } else {
            own.iter().for_each(|kind| faults.add_fault(&kind.at, format_fault(found.clone(), ROCE_NEEDS_ROUND_ROBIN)));
        }
    }
    for (traffic, table) in workloads() {
        if traffic.is_bounded() && by_flow.is_none() {
            let found = format!("`backlog` with host.nic = {:?}", scenario.host.nic.kind);
            faults.add_fault(&table.locate("backlog"), format_fault(found, BACKLOG_NEEDS_FLOW_QUEUES));
        }
    }
}

const ROCE_NEEDS_ROUND_ROBIN: &str = "host.nic = \"round_robin\" with RoCE. RoCE has no window, so other NICs would \
                                        queue a whole flow";
const BACKLOG_NEEDS_FLOW_QUEUES: &str = "host.nic = \"round_robin\", which has a queue for each source. Other NICs \
                                          have one queue for all sources";
const NO_REACTION: &str = "switch.notify has no effect on flows with host.reaction = \"none\": sources ignore \
                           congestion notifications and keep their rates. Set host.reaction = \"qcn\", or remove \
                           switch.notify";
const NO_NOTICES: &str = "host.reaction has no effect with switch.notify = \"none\": switches send no congestion \
                          notifications. Set switch.notify = \"qcn\", or remove host.reaction";

const OTHER_NOTICES: &str = "switch.notify has no effect on flows: the reaction \"dcqcn\" uses CNPs of receivers, not \
                             congestion notifications of switches. Remove switch.notify, or set host.reaction = \
                             \"qcn\"";
const NO_MARKS: &str = "host.reaction has no effect: receivers send CNPs only for marked packets, and no packet is \
                        marked. Set switch.marking, and ecn = true for the RoCE transport or the raw source";

/// Checks that a host whose NIC has a queue for each flow sets no size, marking or scheduler of a common queue. `host`
/// is the table of the host.
pub(super) fn check_nic(host: &Node, config: &HostConfig, faults: &mut Faults) {
    if config.nic.slot.flow_queues().is_none() {
        if config.reaction.slot.has_reaction() {
            let found = format!("{:?} with nic = {:?}", config.reaction.kind, config.nic.kind);
            let rule = "\"none\", or nic = \"round_robin\", which has a rate limiter for each flow";
            faults.add_fault(&host.locate("reaction.kind"), format_fault(found, rule));
        }
        return;
    }
    let beside = format!("with nic = {:?}, where each flow has a queue", config.nic.kind);
    let needs = config.overflow.slot.peek().needs();
    let marks = config.marking.slot.peek().fixed_thresholds() != Some(PortThresholds::UNLIMITED);
    if config.scheduler.slot.peek().rate_limits().is_some() {
        let found = format!("maximum rates of classes {beside}");
        let rule = "none, or host.nic = \"fifo\". To limit each flow, set host.nic.flow_rate";
        faults.add_fault(&host.locate("scheduler.max_rate"), format_fault(found, rule));
    }
    for (slot, kind, is_wrong, rule) in [
        ("marking", &config.marking.kind, marks, "no marking"),
        ("scheduler", &config.scheduler.kind, config.scheduler.slot.reorders(), "first in, first out within a class"),
        ("overflow", &config.overflow.kind, needs.removes_packets, "no removal of queued packets"),
    ] {
        if is_wrong {
            faults.add_fault(
                &host.locate(&format!("{slot}.kind")),
                format_fault(format!("{kind:?}"), format!("{rule} {beside}")),
            );
        }
    }
    if let Some(size) = config.nic_queue {
        faults.add_fault(&host.locate("nic_queue"), format_fault(size, format!("no limit {beside}")));
    }
}
