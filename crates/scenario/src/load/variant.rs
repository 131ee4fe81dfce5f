//! Conversion of one variant's document into a [`Scenario`].

use super::ReadContext;
use super::checks;
use super::dscps;
use super::events::{self, RunContext};
use super::fibs;
use super::fields::{
    AllowedKeys, AllowedKinds, Faults, NAME_RULE, SlotContext, find_table, is_name, read_choice, read_slot, read_values,
};
use super::host_pauses;
use super::hpcc_settings;
use super::import_notes;
use super::needs;
use super::networks::{self, Network, TrafficContext};
use super::resolved_json;
use super::switches::SwitchReader;
use super::transports;
use super::tree::{Data, Node};
use super::warnings;
use crate::diag::format_fault;
use crate::dscps::TrafficDscps;
use crate::model::{Choice, FilledSlot, HostConfig, MeasureSettings, Scenario};
use crate::pausing;
use crate::settings;
use dataplane::Framing;
use dataplane::transport::TransportRow;
use mech::host::NicOrder;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::scheduler::SchedulerSlot;
use mech::{CheckContext, HOST_SLOTS, Registry, RegistrySlot, Report};
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use units::{Dur, Time};

/// Variant of a scenario after loading, with its seed and all its values as JSON.
pub(super) struct LoadedVariant {
    pub scenario: Scenario,
    pub seed: u64,
    pub resolved: Json,
}

/// Tables that a scenario may have, in addition to its own keys.
const SCENARIO_TABLES: [&str; 10] =
    ["topology", "framing", "host", "switch", "override", "transport", "measure", "traffic", "event", "variants"];
/// Top-level keys that have an effect only in a scenario with events.
const EVENT_KEYS: [&str; 2] = ["reroute_delay", "dead_port"];

/// Note that slowdowns and ideal completion times ignore changes of the network during the run.
const IDEAL_TIMES_NOTE: &str = "the network changes during the run. Slowdowns, ideal completion times, path lengths \
                              and loads are computed for the network at the start of the run";

/// Reads the document of a variant. Faults are added to `faults`.
pub(super) fn read_variant(
    name: &str,
    document: &Node,
    reading: ReadContext,
    faults: &mut Faults,
) -> Option<LoadedVariant> {
    let ReadContext { source, notes } = reading;
    let before = faults.count;
    check_format(document, faults);
    if faults.count > before {
        // Each key that only a newer version knows would be a fault of its own.
        return None;
    }
    let top = read_values(
        document,
        AllowedKeys { other_keys: &SCENARIO_TABLES, ..AllowedKeys::new(settings::SCENARIO.params) },
        faults,
    );
    check_name(document, faults);
    let duration = read_duration(document, top.as_ref());
    let network = networks::read_network(document, reading, faults);
    let net = network.as_ref().map(|network| &network.topology);
    let configured =
        network.as_ref().and_then(|network| hpcc_settings::merge_configuration(document, network, notes, faults));
    let document = configured.as_ref().unwrap_or(document);
    let framing = read_framing(document, faults);
    let framed = framing.as_ref().map(|(_, framing)| *framing);
    let (host, host_values) = read_host(document, &source.registry, notes, faults).unzip();
    let transport = networks::read_transport(document, framed, reading, faults);
    let base = transports::BaseSettings { transport: transport.as_ref(), net, framing: framed };
    let own_transports = transports::read_own_transports(document, base, reading, faults);
    let measure = read_measure(document, duration, faults);
    let mut said = Vec::new();
    let filler = SwitchReader::new(document, &source.registry, &mut said, faults);
    let switches = match net {
        Some(net) => {
            let filled = filler.read_switches(net, faults);
            if let Some((switches, _)) = &filled {
                fibs::check_fibs(document, net, switches, faults);
                checks::check_path_sets(document, net, switches, faults);
                said.extend(checks::check_symmetric_hash(document, net, switches, faults));
            }
            filled
        }
        None => {
            filler.check_without_network(faults);
            None
        }
    };
    notes.borrow_mut().append(&mut said);
    let transports = transport.as_ref().map(|transport| (transport, &own_transports));
    let dscp_classes = top.as_ref().map(dscps::read_classes);
    let ground =
        TrafficContext { topology: net, duration, framing: framed, transports, dscp_classes: dscp_classes.as_ref() };
    let traffic = networks::read_traffic(document, ground, reading, faults);
    let events = match (&network, &switches, duration, &measure) {
        (Some(Network { topology: net, corrupted, .. }), Some((switches, _)), Some(duration), Some(measure)) => {
            let end = duration.saturating_add(measure.drain);
            events::read_events(document, &RunContext { net, switches, end, corrupted }, faults)
        }
        _ => Vec::new(),
    };
    if faults.count > before {
        return None;
    }
    let (top, duration, network, (framing_choice, framing)) = (top?, duration?, network?, framing?);
    let Network { choice: network, topology, .. } = network;
    let (host, transport, measure, (switches, groups)) = (host?, transport?, measure?, switches?);
    let mut map = resolved_json::values_json(&top);
    // The form of the file is no property of the run.
    map.remove("format");
    if events.is_empty() {
        EVENT_KEYS.iter().for_each(|key| drop(map.remove(*key)));
    } else {
        let made: Vec<Json> = events.iter().map(|one| resolved_json::choice_json(&one.choice)).collect();
        map.insert("event".into(), made.into());
        if events.iter().any(|one| one.event.link_change().is_some()) {
            notes.borrow_mut().push(IDEAL_TIMES_NOTE.into());
        }
    }
    let made = resolved_json::traffic_json(&traffic, (&transport, &own_transports), &topology);
    for (key, value) in [
        ("topology", resolved_json::choice_json(&network)),
        ("framing", resolved_json::choice_json(&framing_choice)),
        ("host", host_json(&host, &host_values?)),
        ("switches", resolved_json::switches_json(&groups)),
        ("transport", resolved_json::choice_json(&transport)),
        ("measure", resolved_json::measure_json(&measure)),
        ("traffic", made),
    ] {
        map.insert(key.into(), value);
    }
    if !own_transports.host_numbers.is_empty() {
        let kinds: Vec<&Choice> = [&transport].into_iter().chain(&own_transports.kinds).collect();
        let row = TransportRow { default_number: 0, host_numbers: own_transports.host_numbers.clone() };
        map.insert("transports".into(), resolved_json::host_transports_json(&kinds, &row, &topology));
    }
    let traffic = traffic.into_iter().map(|(_, built)| built).collect();
    let mut scenario = Scenario {
        name: top.word("name").into(),
        variant: name.into(),
        duration,
        topology,
        framing,
        host,
        switches,
        transport,
        own_transports,
        traffic,
        dscps: TrafficDscps::default(),
        measure,
        events: events.iter().map(|one| one.event.clone()).collect(),
        reroute_delay: top.time("reroute_delay"),
        dead_port: top.get("dead_port"),
    };
    scenario.dscps = dscps::assign_dscps(document, &scenario, &dscp_classes?, faults);
    checks::warn_unused_ranks(&scenario, &mut notes.borrow_mut());
    host_pauses::check_host_pauses(&events, &mut scenario, faults)?;
    check_xoff(document, &scenario, faults)?;
    checks::check_nic_flow_queues(document, &scenario, faults);
    needs::check_needs(document, &scenario, faults)?;
    notes.borrow_mut().append(&mut pausing::list_pause_warnings(&scenario));
    checks::warn_ineffective_notices(&scenario, &mut notes.borrow_mut());
    notes.borrow_mut().extend(scenario.transport_table().into_iter().flat_map(|stacks| stacks.mixing_warnings()));
    notes.borrow_mut().append(&mut warnings::list_warnings(document, &scenario));
    notes.borrow_mut().extend(import_notes::describe_defaults(document, &scenario));
    events::warn_late_events(&scenario, &mut notes.borrow_mut());
    host_pauses::warn_idle_host_pauses(&scenario, &mut notes.borrow_mut());
    Some(LoadedVariant { scenario, seed: top.count("seed"), resolved: map.into() })
}

fn host_json(host: &HostConfig, values: &Values) -> Json {
    let mut map = resolved_json::values_json(values);
    map.entry("nic_queue").or_insert(json!("unlimited"));
    for (key, made) in [
        ("marking", resolved_json::slot_json(&host.marking)),
        ("scheduler", resolved_json::slot_json(&host.scheduler)),
        ("overflow", resolved_json::slot_json(&host.overflow)),
        ("bounce_signal", resolved_json::slot_json(&host.bounce_signal)),
        ("nic", resolved_json::slot_json(&host.nic)),
        ("reaction", resolved_json::slot_json(&host.reaction)),
    ] {
        map.insert(key.into(), made);
    }
    map.into()
}

/// Checks that ports reach XOFF before a buffer that should lose no packets is full.
fn check_xoff(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let Some(pausing::LateXoff { name, memory, guaranteed_bytes, xoff, key }) = pausing::find_late_xoff(scenario)
    else {
        return Some(());
    };
    let found = format!(
        "an XOFF threshold of {xoff} at {name}, whose {memory} guarantees only {guaranteed_bytes} and is full before \
         XOFF is reached"
    );
    faults.add_fault(
        &checks::locate_switch_setting(document, &format!("pause.{key}")),
        format_fault(found, format!("a threshold below {guaranteed_bytes}, or lossless = false")),
    );
    None
}

/// Returns the duration even if other top-level keys have faults, so that checks that need it find further faults.
fn read_duration(document: &Node, top: Option<&Values>) -> Option<Dur> {
    let text = document.get("duration").and_then(Node::text);
    let read = top.map(|top| top.time("duration")).or_else(|| units::parse_dur(text?).ok());
    read.filter(|duration| *duration > Dur::ZERO)
}

/// Reports a scenario file that is written for a newer version.
fn check_format(document: &Node, faults: &mut Faults) {
    let Some(Data::Integer(format)) = document.get("format").map(|node| &node.data) else { return };
    if *format > settings::NEWEST_FORMAT {
        let rule = format!(
            "at most {}, the newest form that overspill {} reads; a newer overspill is needed",
            settings::NEWEST_FORMAT,
            env!("CARGO_PKG_VERSION")
        );
        faults.add_fault(&document.locate("format"), format_fault(format.to_string(), &rule));
    }
}

fn check_name(document: &Node, faults: &mut Faults) {
    if let Some(name) = document.get("name").and_then(Node::text).filter(|name| !is_name(name)) {
        faults.add_fault(&document.locate("name"), format_fault(format!("{name:?}"), NAME_RULE));
    }
}

fn read_framing(document: &Node, faults: &mut Faults) -> Option<(Choice, Framing)> {
    let table = find_table(document, "framing", faults)?;
    let made = read_choice(&table, AllowedKinds::with_default(settings::FRAMING, "ethernet"), faults)?;
    let before = faults.count;
    checks::check_framing(document, &made, faults);
    if faults.count > before {
        return None;
    }
    let size = |key: &str| made.values.size(key) as u16;
    let framing =
        Framing { header: size("header"), link: size("link"), min_frame: size("min_frame"), gap: size("gap") };
    Some((made, framing))
}

/// Reads the mechanism of a slot of the host.
fn read_host_slot<S: RegistrySlot>(
    host: &Node,
    name: &str,
    registry: &Registry,
    faults: &mut Faults,
) -> Option<FilledSlot<S>> {
    let (_, default) = HOST_SLOTS.iter().find(|(slot, _)| *slot == name)?;
    read_slot(
        host,
        SlotContext { name, registry, kinds: AllowedKinds::with_default(&registry.host_specs(name), default) },
        faults,
    )
}

fn read_host(
    document: &Node,
    registry: &Registry,
    notes: &RefCell<Vec<String>>,
    faults: &mut Faults,
) -> Option<(HostConfig, Values)> {
    let host = find_table(document, "host", faults)?;
    let slots = HOST_SLOTS.map(|(slot, _)| slot);
    let values =
        read_values(&host, AllowedKeys { other_keys: &slots, ..AllowedKeys::new(settings::HOST.params) }, faults);
    let marking: Option<FilledSlot<MarkingSlot>> = read_host_slot(&host, "marking", registry, faults);
    let scheduler: Option<FilledSlot<SchedulerSlot>> = read_host_slot(&host, "scheduler", registry, faults);
    let overflow: Option<FilledSlot<OverflowSlot>> = read_host_slot(&host, "overflow", registry, faults);
    let bounce_signal = read_host_slot(&host, "bounce_signal", registry, faults);
    let nic: Option<FilledSlot<NicOrder>> = read_host_slot(&host, "nic", registry, faults);
    let reaction = read_host_slot(&host, "reaction", registry, faults);
    let nic_queue = values.as_ref().and_then(|values| values.has("nic_queue").then(|| values.amount("nic_queue")));
    let beside = CheckContext { memory: nic_queue, nic: true, ports: Some(1), ..CheckContext::EMPTY };
    let given = |slot: &'static str| {
        let table = host.get(slot);
        move |key: &str| table.is_some_and(|table| table.get(key).is_some())
    };
    if let Some(scheduler) = &scheduler {
        let mut report = Report::default();
        scheduler.slot.peek().check(&CheckContext { is_set: &given("scheduler"), ..beside }, &mut report);
        notes.borrow_mut().extend(checks::report_faults(&host, "scheduler", report, faults));
    }
    if let Some(marking) = &marking {
        let mut report = Report::default();
        marking.slot.peek().check(&CheckContext { is_set: &given("marking"), ..beside }, &mut report);
        notes.borrow_mut().extend(checks::report_faults(&host, "marking", report, faults));
    }
    if let (Some(overflow), Some(_)) = (&overflow, &values) {
        let mut report = Report::default();
        overflow.slot.peek().check(&beside, &mut report);
        notes.borrow_mut().extend(checks::report_faults(&host, "overflow", report, faults));
    }
    let (marking, scheduler, overflow, bounce_signal) = (marking?, scheduler?, overflow?, bounce_signal?);
    let (values, nic, reaction) = (values?, nic?, reaction?);
    let config = HostConfig {
        stack_delay: values.time("stack_delay"),
        stack_jitter: values.time("stack_jitter"),
        nic_jitter: values.has("nic_jitter").then(|| values.time("nic_jitter")),
        nic_jitter_distribution: values.get("nic_jitter_distribution"),
        clock_ppb: settings::clock_error_ppb(&values),
        nic_queue,
        marking,
        scheduler,
        overflow,
        bounce_signal,
        nic,
        reaction,
    };
    let before = faults.count;
    checks::check_nic(&host, &config, faults);
    (faults.count == before).then_some((config, values))
}

fn read_measure(document: &Node, duration: Option<Dur>, faults: &mut Faults) -> Option<MeasureSettings> {
    let table = find_table(document, "measure", faults)?;
    let values = read_values(&table, AllowedKeys::new(settings::MEASURE.params), faults)?;
    let (to, bin) = checks::check_window(document, duration?, &values, faults);
    checks::check_sub_queues(document, &values, faults);
    Some(MeasureSettings {
        from: Time(values.time("from").0),
        to,
        drain: values.time("drain"),
        fct_end: values.get("fct_end"),
        allow_unfinished: values.flag("allow_unfinished"),
        bin,
        queues: values.flag("queues"),
        sub_queues: values.flag("sub_queues"),
        packets: values.flag("packets"),
        detours: values.count_or_off("detours").map(|n| n as u32),
        goodput: values.get("goodput"),
        links: values.flag("links"),
        notices: values.flag("notices"),
        rate_limits: values.flag("rate_limits"),
        inputs: values.flag("inputs"),
        sent: values.flag("sent"),
        reordering: values.flag("reordering"),
        displacement_threshold: values.count("displacement_threshold") as u32,
    })
}
