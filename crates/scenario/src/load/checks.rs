//! What must hold between the values of several keys.

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

/// What finding paths may cost, see [`paths::work`]: some seconds.
const MOST_PATHS: u64 = 10_000_000_000;
/// Adds what is wrong with a mechanism to `faults`, and gives its notes. `parent` is the table that holds its slot.
pub(super) fn say(parent: &Node, slot: &str, report: Report, faults: &mut Faults) -> Vec<String> {
    for Wrong { key, found, rule } in report.wrong {
        faults.add(&parent.find(&format!("{slot}.{key}")), message(found, rule));
    }
    report.notes
}

/// The place of what switches are filled with: in the last override that fills this slot, else in `[switch]`.
/// `document` is the variant.
pub(super) fn of_switch(document: &Node, name: &str) -> At {
    let slot = name.split('.').next().unwrap_or_default();
    let overrides = document.get("override").map_or(&[][..], Node::items);
    let fills = |over: &&Node| over.get("switch").is_some_and(|switch| switch.get(slot).is_some());
    overrides.iter().rfind(fills).unwrap_or(document).find(&format!("switch.{name}"))
}

/// Whether an override is about hosts, and so none of switches.
pub(super) fn names_hosts(over: &Node) -> bool {
    over.get("transport").is_some() || over.get("where").is_some_and(|place| place.get("hosts").is_some())
}

/// Paths are the same for all switches, and there are only so many. `document` is the variant.
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
        let found = format!("{k} paths between each two of {} switches with hosts", net.edges());
        let what = "k times the links of all shortest paths between them times the ports of the network";
        let rule = format!("{what} at most {MOST_PATHS}, which is {work} here");
        faults.add(&of_switch(document, &format!("routing.{key}")), message(found, rule));
    }
}

/// A hash that is the same in both directions is so at all switches. Gives a note where paths differ all the same.
/// `document` is the variant.
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
        faults.add(&of_switch(document, "routing"), message(found, "it at all switches, or at none"));
        return None;
    }
    let tried = Tried::new(net);
    (tried.differ > 0).then(|| {
        format!(
            "switch.routing: ACKs come back over other links than their data for {} of {} flows that were tried, \
             whatever the hash: what a place among next hops stands for differs between the two ends in this network",
            tried.differ, tried.flows
        )
    })
}

/// The hosts that an answer to overflow names are there. `parent` is the table that holds its slot.
pub(super) fn hosts(parent: &Node, overflow: &OverflowSlot, net: &Topology, faults: &mut Faults) {
    let Some((key, names)) = overflow.peek().hosts() else { return };
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for name in names {
        known_host(&parent.find(&format!("overflow.{key}")), name, net, faults);
    }
}

/// There is a host of this name.
pub(super) fn known_host(at: &At, name: &str, net: &Topology, faults: &mut Faults) {
    if net.host(name).is_none() {
        let known = net.nodes[..net.hosts as usize].iter().map(|node| node.name.as_str());
        faults.add(at, message(format!("unknown host `{name}`"), one_of(name, known)));
    }
}

/// Says where packets are told apart by a rank that none has.
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

/// Steps of time in duration and drain: one long wait is told step by step.
const MOST_BINS: u64 = 1_000_000;
/// The longest that a run may last: half of what 64 bits of picoseconds hold.
pub(super) const LONGEST: Dur = Dur(u64::MAX / 2);

/// The window lies in the run, the run in 64 bits, and a trace has a sensible number of steps.
/// `scenario` is the document; gives the end of the window and the width of a step.
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

/// The queues of ports are followed apart beside the whole ports. `scenario` is the document.
pub(super) fn sub_queues(scenario: &Node, measure: &Values, faults: &mut Faults) {
    if measure.flag("sub_queues") && !measure.flag("queues") {
        faults.add(&scenario.find("measure.sub_queues"), message("true", "measure.queues = true beside it"));
    }
}

/// Sizes of headers that frames can have.
pub(super) fn framing(parent: &Node, framing: &Choice, faults: &mut Faults) {
    for key in ["header", "link", "min_frame", "gap"] {
        let size = framing.values.size(key);
        if size > 4096 {
            faults.add(&parent.find(&format!("framing.{key}")), message(Bytes(size), "at most 4096 bytes"));
        }
    }
}

/// Says where messages of congestion change nothing, or would change something and nobody sends any.
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

/// Whether any packet may come marked to a host that tells of it.
fn may_tell(scenario: &Scenario) -> bool {
    let mut ports = scenario.switches.iter().flat_map(|switch| &switch.ports);
    let aside = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().aside);
    let marks = aside || ports.any(|port| port.marking.slot.peek().plain() != Some(Room::ENDLESS));
    let raw = scenario.traffic.iter().any(|traffic| traffic.is_ecn_capable());
    marks && (raw || scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_told_of_marks)))
}

/// What a NIC with a queue and a limiter for each flow is asked for: the reaction point fits all links, and what bounds a
/// source has a queue to look at. `document` is the variant.
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
        let found = format!("{ROCE:?} beside host.nic = {:?}", scenario.host.nic.kind);
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
            let found = format!("it beside host.nic = {:?}", scenario.host.nic.kind);
            faults.add(&table.find("backlog"), message(found, ONE_QUEUE));
        }
    }
}

const NO_WINDOW: &str = "host.nic = \"round_robin\" beside it, which takes a frame at a time: without a window all of a flow would \
                         wait at the nic at once";
const ONE_QUEUE: &str = "a nic with a queue for each flow; in one queue, which host.nic_queue limits, the frames of all \
                         sources wait";
const NO_REACTION: &str = "switch.notify beside host.reaction = \"none\": sources get messages of congestion, and no flow \
                           changes its rate";
const NO_NOTICES: &str =
    "host.reaction beside switch.notify = \"none\": no source gets a message of congestion to react to";

const OTHER_NOTICES: &str = "switch.notify beside a host.reaction that CNPs of receivers are for: messages of switches change no \
                             flow's rate";
const NO_MARKS: &str = "host.reaction: no receiver ever sends a CNP, since no switch marks, or no packet of RoCE or of a raw source is ECN-capable";

/// A NIC with a queue for each flow has none that could have a limit, a threshold or an order of its own. `host` is
/// the table of the host.
pub(super) fn nic(host: &Node, config: &HostConfig, faults: &mut Faults) {
    if config.nic.slot.by_flow().is_none() {
        if config.reaction.slot.reacts() {
            let found = format!("{:?} beside nic = {:?}", config.reaction.kind, config.nic.kind);
            let rule = "a nic with a queue and a rate limiter for each flow beside it";
            faults.add(&host.find("reaction.kind"), message(found, rule));
        }
        return;
    }
    let beside = format!("beside nic = {:?}, where each flow has a queue", config.nic.kind);
    let needs = config.overflow.slot.peek().needs();
    let marks = config.marking.slot.peek().plain() != Some(Room::ENDLESS);
    for (slot, kind, is_wrong, rule) in [
        ("marking", &config.marking.kind, marks, "no marking"),
        ("scheduler", &config.scheduler.kind, config.scheduler.slot.reorders(), "first in, first out within a class"),
        ("overflow", &config.overflow.kind, needs.removes, "nothing that is removed"),
    ] {
        if is_wrong {
            faults.add(&host.find(&format!("{slot}.kind")), message(format!("{kind:?}"), format!("{rule} {beside}")));
        }
    }
    if let Some(size) = config.nic_queue {
        faults.add(&host.find("nic_queue"), message(size, format!("no limit {beside}")));
    }
}
