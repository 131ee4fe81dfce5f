//! Warnings about settings that have no effect in combination with the rest of a scenario. They are no errors.
//!
//! Each warning names the key and the reason, since a setting that is accepted and silently ignored misleads its user.

mod classes;
mod cuts;
mod defaults;
mod handshakes;
mod holds;
mod memory;
mod notices;

use super::tree::{Data, Node};
use crate::choices::SimultaneousArrivals;
use crate::diag::format_no_effect;
use crate::events::Event;
use crate::model::{PortConfig, Scenario};
use dataplane::transport::TcpConfig;
use mech::marking::MarkingSlot;
use mech::{AdmitCalls, PortThresholds, QueueId};
use units::{Amount, Dur};

/// Returns the warnings about settings of a variant that have no effect, or do not fit each other or the network.
/// `document` is the source of the variant.
pub(super) fn list_warnings(document: &Node, scenario: &Scenario) -> Vec<String> {
    let asked = WarningContext { document, scenario };
    if asked.is_all_raw() {
        let lists = [
            asked.warn_event_keys(),
            asked.warn_measure_keys(),
            asked.warn_transport_of_raw(),
            asked.warn_flow_keys_of_raw(),
            asked.warn_small_memory(),
            asked.warn_copy_time(),
            asked.warn_classes(),
            asked.warn_cuts(),
        ];
        let others = [asked.warn_queue_snapshots(), asked.warn_nic_jitter(), asked.warn_clock_errors()];
        let lists = lists
            .into_iter()
            .flatten()
            .chain(asked.warn_ack_holds())
            .chain(asked.warn_notices())
            .chain(asked.warn_empty_reverse_tables());
        return lists.chain(others.into_iter().flatten()).collect();
    }
    let lists = [
        asked.warn_event_keys(),
        asked.warn_measure_keys(),
        asked.warn_ranks_and_windows(),
        asked.warn_marking(),
        asked.warn_small_memory(),
        asked.warn_copy_time(),
        asked.warn_unreached_thresholds(),
        asked.warn_classes(),
    ];
    let others = [
        asked.warn_bounce_reaction(),
        asked.warn_link_weights(),
        asked.warn_queue_snapshots(),
        asked.warn_nic_jitter(),
        asked.warn_clock_errors(),
        asked.warn_unused_transport(),
    ];
    lists
        .into_iter()
        .flatten()
        .chain(asked.warn_cuts())
        .chain(asked.warn_ack_holds())
        .chain(asked.warn_notices())
        .chain(asked.warn_handshake_sample())
        .chain(asked.warn_defaults())
        .chain(asked.warn_think_times())
        .chain(asked.warn_empty_reverse_tables())
        .chain(others.into_iter().flatten())
        .collect()
}

/// Keys of `[transport]` that need no warning if all packets are raw: `ttl` also applies to raw packets, and `kind`
/// only selects the other keys.
const RAW_TRAFFIC_KEYS: [&str; 2] = ["kind", "ttl"];

struct WarningContext<'a> {
    document: &'a Node,
    scenario: &'a Scenario,
}

impl WarningContext<'_> {
    fn is_given(&self, path: &str) -> bool {
        path.split('.').try_fold(self.document, |node, key| node.get(key)).is_some()
    }

    /// Returns the keys among `paths` that the document sets.
    fn filter_given<'k>(&self, paths: &[&'k str]) -> Vec<&'k str> {
        paths.iter().copied().filter(|path| self.is_given(path)).collect()
    }

    /// Returns the full paths at which these keys of a transport are set: in `[transport]` if flows use it, and in
    /// workloads.
    fn given_transport_keys(&self, keys: &[&str]) -> Vec<String> {
        let of_all =
            (!self.all_have_own_transports()).then(|| ("transport".to_string(), self.document.get("transport")));
        let of_traffic = self.document.get("traffic").map_or(&[][..], Node::items).iter();
        let own = of_traffic.map(|one| {
            let name = one.get("name").and_then(Node::text).unwrap_or_default();
            (format!("traffic.{name}.transport"), one.get("transport"))
        });
        let tables = of_all.into_iter().chain(own).filter_map(|(path, table)| Some((path, table?)));
        let told = tables.flat_map(|(path, table)| {
            keys.iter().filter(move |key| table.get(key).is_some()).map(move |key| format!("{path}.{key}"))
        });
        told.collect()
    }

    /// Returns true if every workload with flows has a transport of its own kind.
    fn all_have_own_transports(&self) -> bool {
        let of_traffic = self.document.get("traffic").map_or(&[][..], Node::items).iter().zip(&self.scenario.traffic);
        let mut flows = of_traffic.filter(|(_, traffic)| traffic.raw_payload().is_none());
        flows.all(|(one, _)| one.get("transport").is_some_and(|own| own.get("kind").is_some()))
    }

    fn ports(&self) -> impl Iterator<Item = &PortConfig> {
        self.scenario.switches.iter().flat_map(|switch| &switch.ports)
    }

    /// Returns true if no workload has a transport.
    fn is_all_raw(&self) -> bool {
        self.scenario.traffic.iter().all(|traffic| traffic.raw_payload().is_some())
    }

    /// Warning about keys of `[transport]` if every workload has a transport of its own.
    fn warn_unused_transport(&self) -> Option<String> {
        let table = self.document.get("transport").map_or(&[][..], Node::entries);
        let told: Vec<&str> =
            table.iter().map(|(key, _)| key.as_str()).filter(|key| !RAW_TRAFFIC_KEYS.contains(key)).collect();
        let why = "every workload has its own transport";
        (!told.is_empty() && self.all_have_own_transports())
            .then(|| format!("transport: {}, because {why}", format_no_effect(&told)))
    }

    /// Warnings about transport settings if all traffic is sent without a transport.
    fn warn_transport_of_raw(&self) -> Vec<String> {
        let table = self.document.get("transport").map_or(&[][..], Node::entries);
        let told: Vec<&str> =
            table.iter().map(|(key, _)| key.as_str()).filter(|key| !RAW_TRAFFIC_KEYS.contains(key)).collect();
        let why = "all traffic is sent without a transport";
        let note = (!told.is_empty()).then(|| format!("transport: {}, because {why}", format_no_effect(&told)));
        let overrides = self.document.get("override").map_or(&[][..], Node::items);
        let of_hosts = overrides.iter().any(|over| over.get("transport").is_some());
        let over = of_hosts.then(|| format!("override: `transport` has no effect, because {why}"));
        note.into_iter().chain(over).collect()
    }

    /// Warnings about keys that need flows with an end, if all traffic comes from raw sources, whose flows have none.
    fn warn_flow_keys_of_raw(&self) -> Vec<String> {
        // With pausing, `allow_unfinished` has an effect, because a deadlock leaves any run unfinished.
        let ends = if self.scenario.has_pauses() { None } else { Some("measure.allow_unfinished") };
        let told = self.filter_given(&["measure.fct_end", "measure.drain"].into_iter().chain(ends).collect::<Vec<_>>());
        told.iter()
            .map(|key| {
                format!(
                    "{key} has no effect: all traffic comes from raw sources, whose flows have no \
                                       end"
                )
            })
            .collect()
    }

    /// Warnings about think times and clocks of sessions that have a single request.
    fn warn_think_times(&self) -> Vec<String> {
        let traffic = self.document.get("traffic").map_or(&[][..], Node::items);
        let single = traffic.iter().filter(|one| one.get("requests").is_some_and(|count| count.format_value() == "1"));
        let given = |one: &Node| ["think", "think_gaps", "clock"].into_iter().find(|key| one.get(key).is_some());
        let note = |key: &str| format!("traffic: {key} has no effect with requests = 1: no request follows another");
        single.filter_map(given).map(note).collect()
    }

    /// Warnings about keys that need links that go down or up, without such events.
    fn warn_event_keys(&self) -> Vec<String> {
        let turns = self.scenario.events.iter().any(Event::is_outage_change);
        let told = if turns { Vec::new() } else { self.filter_given(&["reroute_delay", "dead_port"]) };
        let note = |key: &str| format!("{key} has no effect without an [[event]] of kind `link_down` or `link_up`");
        told.into_iter().map(note).collect()
    }

    fn warn_measure_keys(&self) -> Vec<String> {
        let measure = &self.scenario.measure;
        let mut notes = Vec::new();
        if !measure.reordering && self.is_given("measure.displacement_threshold") {
            notes.push("measure.displacement_threshold has no effect without measure.reordering = true".into());
        }
        let detours = self.scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().detours);
        if measure.detours.is_some() && !detours {
            notes.push("measure.detours records nothing: no switch detours packets".into());
        }
        let nothing = [
            (
                measure.notices && !self.scenario.sends_notices(),
                "notices",
                "no switch has `switch.notify`, and `host.reaction` of no host sends CNPs",
            ),
            (measure.rate_limits && !self.scenario.has_rate_reaction(), "rate_limits", "host.reaction is \"none\""),
            (measure.inputs && !self.scenario.has_input_memory(), "inputs", "no switch has model = \"cioq\""),
        ];
        let told = nothing.into_iter().filter(|(asked, ..)| *asked);
        notes.extend(told.map(|(_, key, why)| format!("measure.{key} records nothing: {why}")));
        notes
    }

    /// Warnings about packet ranks that no mechanism uses, and about windows after idle times if connections are never
    /// idle. Includes those about saved metrics if no connection ends, and about NIC credit without a rate limit.
    fn warn_ranks_and_windows(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let host = &self.scenario.host;
        let by_rank = host.scheduler.slot.peek().needs().orders_by_rank
            || host.overflow.slot.peek().needs().orders_by_rank
            || self.scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().orders_by_rank)
            || self.ports().any(|port| port.scheduler.slot.peek().needs().orders_by_rank);
        let ranks = if by_rank { Vec::new() } else { self.given_transport_keys(&["priority", "probe_priority"]) };
        let why = "no scheduler and no overflow mechanism uses this rank";
        notes.extend(ranks.iter().map(|key| format!("{key} has no effect: {why}")));
        let rests = self.scenario.traffic.iter().any(|traffic| traffic.keeps_connections());
        if !rests && host.nic.slot.flow_queues().is_none() {
            let why = "every flow has its own connection, which is never idle before the flow ends";
            let told = self.given_transport_keys(&["restart_after_idle"]);
            notes.extend(told.iter().map(|key| format!("{key} has no effect: {why}")));
        }
        notes.extend(self.warn_saved_metrics());
        let by_flow = host.nic.slot.flow_queues();
        if by_flow.is_some_and(|order| order.credit.is_some_and(|credit| credit > 0) && order.flow_rate.is_none())
            && !self.scenario.has_rate_reaction()
        {
            notes.push("host.nic.credit has no effect: no flow has a rate limit".into());
        }
        notes
    }

    /// Warnings about metrics that hosts save at the end of a connection, if no connection ends.
    fn warn_saved_metrics(&self) -> Vec<String> {
        let mut flows = self.scenario.traffic.iter().filter(|traffic| traffic.raw_payload().is_none());
        if flows.any(|traffic| !traffic.keeps_connections() && !traffic.is_endless()) {
            return Vec::new();
        }
        let why = "hosts save these values when a connection ends, but all connections last for the whole run";
        let given = self.given_transport_keys(&["metrics_save"]);
        given.iter().map(|key| format!("{key} has no effect: {why}")).collect()
    }

    /// Warnings about ECN settings if no queue marks packets, and about marking if no packet can carry a mark.
    fn warn_marking(&self) -> Vec<String> {
        let scenario = self.scenario;
        let capable = scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::is_ecn_capable));
        let only_marks = |slot: &MarkingSlot| may_mark(slot) && !slot.peek().drops_not_ect();
        let slots = || self.ports().map(|port| &*port.marking.slot).chain([&*scenario.host.marking.slot]);
        let aside = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().detours);
        let told = self.given_transport_keys(&["ecn", "g", "initial_alpha"]);
        if capable && !aside && !slots().any(may_mark) {
            if !told.is_empty() {
                return vec![format!("{}: no switch and no host marks packets", format_no_effect(&told))];
            }
            let all = scenario.transports_in_use();
            if let Some(one) =
                all.iter().find(|one| ["dctcp", "linux_dctcp", "linux_2_6_38_dctcp"].contains(&one.kind.as_str()))
            {
                let kind = &one.kind;
                let drops = slots().any(|slot| slot.peek().drops_not_ect());
                let cure =
                    if drops { "The profiles of switch.marking drop packets instead" } else { "Set switch.marking" };
                return vec![format!(
                    "the transport {kind:?} behaves as Reno, because no switch and no host marks packets. {cure}"
                )];
            }
        }
        if !capable && self.is_given("switch.overflow.mark_detoured") {
            let kinds = scenario.kinds_in_use();
            let why = format!("the transport {kinds} is not ECN-capable as configured");
            return vec![format!("switch.overflow.mark_detoured has no effect: {why}")];
        }
        if !capable && slots().any(only_marks) {
            let kinds = scenario.kinds_in_use();
            return vec![format!(
                "switch.marking does not mark packets of the transport {kinds}, which is not ECN-capable as \
                 configured. Set transport.ecn = true, or use `dctcp`"
            )];
        }
        Vec::new()
    }

    /// Warnings about marking thresholds that a queue never reaches, because its memory is full before.
    fn warn_unreached_thresholds(&self) -> Vec<String> {
        let (scenario, mut notes) = (self.scenario, Vec::new());
        let frames = (u64::from(scenario.smallest_frame()), u64::from(scenario.largest_frame()));
        let never = |from: Option<PortThresholds>, room: Option<PortThresholds>| {
            let (from, room) = (from?.amount()?, room?.amount()?);
            is_threshold_unreachable(from, room, frames).then_some((from, room))
        };
        for (switch, node) in
            scenario.switches.iter().zip(scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize))
        {
            let needs = switch.overflow.slot.peek().needs();
            // A queue may reach the threshold with these settings: its counted length may exceed its queued packets, or
            // its memory may hold more than it admits.
            if needs.removes_packets
                || needs.bounce_lane.is_some()
                || needs.cut_memory.is_some()
                || switch.model.input_side().is_some()
                || switch.simultaneous == SimultaneousArrivals::Snapshot
            {
                continue;
            }
            let room = switch.buffer.slot.peek().fixed_thresholds();
            if let Some((from, room)) =
                switch.ports.iter().find_map(|port| never(port.marking.slot.peek().never_marks_below(), room))
            {
                let name = &node.name;
                notes.push(format!(
                    "switch.marking marks nothing at {name} and switches like it: marking begins at {from}, but the \
                     buffer of a port is only {room}. Lower the threshold"
                ));
                break;
            }
        }
        let host = &scenario.host;
        let room =
            host.nic_queue.filter(|_| !host.overflow.slot.peek().needs().removes_packets).map(PortThresholds::new);
        if let Some((from, room)) = never(host.marking.slot.peek().never_marks_below(), room) {
            notes.push(format!(
                "host.marking marks nothing: marking begins at {from}, but host.nic_queue is only \
                                {room}. Lower the threshold"
            ));
        }
        notes
    }

    /// Warning about a reaction to bounced packets if no switch bounces any.
    fn warn_bounce_reaction(&self) -> Option<String> {
        let back =
            self.scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().bounce_lane.is_some());
        let asked = self.scenario.host.bounce_signal.slot.is_some() && !back;
        asked.then(|| "host.bounce_signal has no effect: no switch bounces packets".into())
    }

    /// Warning about simultaneous arrivals decided on a snapshot of queues, if no decision depends on queues.
    fn warn_queue_snapshots(&self) -> Option<String> {
        let mut switches = self.scenario.switches.iter();
        let asks = |port: &PortConfig| may_act(&port.marking.slot) || port.agents().count() > 0;
        let looks = switches.any(|switch| {
            switch.overflow.slot.peek().admit_calls() != AdmitCalls::Never || switch.ports.iter().any(asks)
        });
        let asked = !looks && self.is_given("switch.simultaneous") && self.takes_snapshots();
        let besides = match self.scenario.measure.sub_queues {
            true => {
                ". The setting changes only the queue lengths that arrivals see (measure.sub_queues), which are \
                     those before the instant"
            }
            false => "",
        };
        asked.then(|| {
            let why = "free buffer space is checked when each packet is stored anyway";
            format!(
                "switch.simultaneous = \"snapshot\" has no effect on packets with tail drop and without marking: \
                 {why}{besides}"
            )
        })
    }

    fn takes_snapshots(&self) -> bool {
        self.scenario.switches.iter().any(|switch| switch.simultaneous == SimultaneousArrivals::Snapshot)
    }

    /// Warning about a distribution of jitter without jitter, or about jitter that is too long.
    fn warn_nic_jitter(&self) -> Option<String> {
        let idle = self.is_given("host.nic_jitter_distribution") && self.scenario.host.nic_jitter == Some(Dur::ZERO);
        idle.then(|| "host.nic_jitter_distribution has no effect without host.nic_jitter".into())
            .or_else(|| self.warn_timer_jitter())
    }

    /// Warning about NIC jitter that is not shorter than the shortest minimum RTO of any host.
    fn warn_timer_jitter(&self) -> Option<String> {
        let jitter = self.scenario.host.nic_jitter?;
        let all = self.scenario.transports_in_use().into_iter();
        let timed = all.filter(|one| one.values.has("min_rto"));
        let least = timed.map(|one| one.values.time("min_rto")).min().filter(|least| jitter >= *least)?;
        Some(format!(
            "host.nic_jitter = {jitter} is not below transport.min_rto = {least}: retransmission timers expire before \
             frames leave the NIC. Reduce nic_jitter, or increase min_rto"
        ))
    }

    /// Warning about clock errors below the resolution of a part per billion.
    fn warn_clock_errors(&self) -> Option<String> {
        let host = (self.scenario.host.clock_ppb, "host.clock_ppm");
        let switches = self.scenario.switches.iter().map(|switch| (switch.clock_ppb, "switch.clock_ppm"));
        let exact = switches.chain([host]).filter(|(ppb, _)| *ppb == 0).map(|(_, key)| key);
        let is_asked = |key: &&str| {
            let value = key.split('.').try_fold(self.document, |node, key| node.get(key));
            value.is_some_and(|value| matches!(value.data, Data::Number(ppm) if ppm > 0.0))
        };
        let note = |key| {
            format!(
                "{key} has no effect: the value rounds to 0 parts per billion, so that clocks are \
                                  exact"
            )
        };
        exact.into_iter().find(is_asked).map(note)
    }

    /// Warnings about empty `back` tables, which set neither rate nor delay of the reverse direction of a link.
    fn warn_empty_reverse_tables(&self) -> Vec<String> {
        let topology = self.document.get("topology");
        let links = ["link", "fabric"].into_iter().filter_map(|key| topology?.get(key));
        let backs =
            links.flat_map(|link| std::iter::once(link).chain(link.items())).filter_map(|link| link.get("back"));
        let is_empty = |back: &&Node| matches!(&back.data, Data::Table(entries) if entries.is_empty());
        let note = |back: &Node| format!("{} has no effect: the table sets neither rate nor delay", back.at.path);
        backs.filter(is_empty).map(note).collect()
    }

    /// Warning about the key `weight` of links if no switch uses `weighted` routing.
    fn warn_link_weights(&self) -> Option<String> {
        let links =
            self.document.get("topology").and_then(|topology| topology.get("link")).map_or(&[][..], Node::items);
        let weighted = self.scenario.switches.iter().any(|switch| switch.routing.slot.peek().needs_weights());
        let told = !weighted && links.iter().any(|link| link.get("weight").is_some());
        told.then(|| "topology.link: `weight` has no effect without switch.routing = \"weighted\"".into())
    }
}

/// Returns true if a marking mechanism may mark or drop any packet.
fn may_act(slot: &MarkingSlot) -> bool {
    slot.peek().fixed_thresholds() != Some(PortThresholds::UNLIMITED)
}

/// Returns true if a marking mechanism may mark any packet.
fn may_mark(slot: &MarkingSlot) -> bool {
    may_act(slot) && (0..8).map(QueueId::normal).any(|queue| slot.peek().marks_queue(queue))
}

/// Returns true if memory of size `room` has no space for an arrival once its queue has reached the threshold `from`.
/// The sizes of the smallest and the largest frame are in bytes.
fn is_threshold_unreachable(from: Amount, room: Amount, (smallest, largest): (u64, u64)) -> bool {
    match (from, room) {
        (Amount::Packets(from), Amount::Packets(room)) | (Amount::Bytes(from), Amount::Bytes(room)) => from >= room,
        (Amount::Packets(from), Amount::Bytes(room)) => from.saturating_mul(smallest) >= room,
        (Amount::Bytes(from), Amount::Packets(room)) => from >= room.saturating_mul(largest),
    }
}
