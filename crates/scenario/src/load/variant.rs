//! Conversion of one variant's document into a [`Scenario`].

use super::Reading;
use super::checks;
use super::configured;
use super::events::{self, Course};
use super::fibs;
use super::fields::{Faults, Kinds, NAME_RULE, Slot, Wanted, choice, filled, is_name, read, table};
use super::idle;
use super::imported;
use super::needs;
use super::networks::{self, Ground, Network};
use super::resolved;
use super::switches::Filler;
use super::transports;
use super::tree::Node;
use crate::diag::message;
use crate::model::{Choice, Filled, HostConfig, Measure, Scenario};
use crate::pausing;
use crate::settings;
use dataplane::Framing;
use dataplane::transport::Row;
use mech::host::NicOrder;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::{Beside, HOST_SLOTS, InSlot, Registry, Report};
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use units::{Dur, Time};

/// Result of reading a variant.
pub(super) struct Read {
    pub scenario: Scenario,
    pub seed: u64,
    pub resolved: Json,
}

/// Tables that a scenario may have, in addition to its own keys.
const TABLES: [&str; 10] =
    ["topology", "framing", "host", "switch", "override", "transport", "measure", "traffic", "event", "variants"];
/// Keys of the file that have a meaning only with events.
const OF_EVENTS: [&str; 2] = ["reroute_delay", "dead_port"];

/// Note about ideal completion times in a network that changes.
const IDEAL_AT_START: &str = "the network changes during the run: ideal completion times, slowdowns, path lengths and \
                              loads refer to the network at the start";

/// Reads the document of a variant. Faults are added to `faults`.
pub(super) fn read_variant(name: &str, document: &Node, reading: Reading, faults: &mut Faults) -> Option<Read> {
    let Reading { source, notes } = reading;
    let before = faults.count;
    let top = read(document, Wanted { others: &TABLES, ..Wanted::new(settings::SCENARIO.params) }, faults);
    check_name(document, faults);
    let duration = duration(document, top.as_ref());
    let network = networks::network(document, reading, faults);
    let net = network.as_ref().map(|network| &network.topology);
    let configured = network.as_ref().and_then(|network| configured::apply(document, network, notes, faults));
    let document = configured.as_ref().unwrap_or(document);
    let framing = framing(document, faults);
    let framed = framing.as_ref().map(|(_, framing)| *framing);
    let (host, host_values) = host(document, &source.registry, notes, faults).unzip();
    let transport = networks::transport(document, framed, reading, faults);
    let base = transports::Base { transport: transport.as_ref(), net, framing: framed };
    let own_transports = transports::all(document, base, reading, faults);
    let measure = measure(document, duration, faults);
    let mut said = Vec::new();
    let filler = Filler::new(document, &source.registry, &mut said, faults);
    let switches = match net {
        Some(net) => {
            let filled = filler.all(net, faults);
            if let Some((switches, _)) = &filled {
                fibs::check(document, net, switches, faults);
                checks::same_paths(document, net, switches, faults);
                said.extend(checks::same_way_back(document, net, switches, faults));
            }
            filled
        }
        None => {
            filler.alone(faults);
            None
        }
    };
    notes.borrow_mut().append(&mut said);
    let transports = transport.as_ref().map(|transport| (transport, &own_transports));
    let ground = Ground { topology: net, duration, framing: framed, transports };
    let traffic = networks::all_traffic(document, ground, reading, faults);
    let events = match (&network, &switches, duration, &measure) {
        (Some(Network { topology: net, corrupted, .. }), Some((switches, _)), Some(duration), Some(measure)) => {
            let end = duration.saturating_add(measure.drain);
            events::all(document, &Course { net, switches, end, corrupted }, faults)
        }
        _ => Vec::new(),
    };
    if faults.count > before {
        return None;
    }
    let (top, duration, network, (framing_choice, framing)) = (top?, duration?, network?, framing?);
    let Network { made: network, topology, .. } = network;
    let (host, transport, measure, (switches, groups)) = (host?, transport?, measure?, switches?);
    let mut map = resolved::values(&top);
    if events.is_empty() {
        OF_EVENTS.iter().for_each(|key| drop(map.remove(*key)));
    } else {
        let made: Vec<Json> = events.iter().map(|(made, _)| resolved::choice(made)).collect();
        map.insert("event".into(), made.into());
        notes.borrow_mut().push(IDEAL_AT_START.into());
    }
    let made = resolved::traffic(&traffic, (&transport, &own_transports), &topology);
    for (key, value) in [
        ("topology", resolved::choice(&network)),
        ("framing", resolved::choice(&framing_choice)),
        ("host", resolved_host(&host, &host_values?)),
        ("switches", resolved::switches(&groups)),
        ("transport", resolved::choice(&transport)),
        ("measure", resolved::measure(&measure)),
        ("traffic", made),
    ] {
        map.insert(key.into(), value);
    }
    if !own_transports.of_host.is_empty() {
        let kinds: Vec<&Choice> = [&transport].into_iter().chain(&own_transports.kinds).collect();
        let row = Row { of_all: 0, of_host: own_transports.of_host.clone() };
        map.insert("transports".into(), resolved::of_hosts(&kinds, &row, &topology));
    }
    let traffic = traffic.into_iter().map(|(_, built)| built).collect();
    let scenario = Scenario {
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
        measure,
        events: events.into_iter().map(|(_, event)| event).collect(),
        reroute_delay: top.time("reroute_delay"),
        dead_port: top.get("dead_port"),
    };
    checks::ranks(&scenario, &mut notes.borrow_mut());
    check_xoff(document, &scenario, faults)?;
    checks::flows_at_nics(document, &scenario, faults);
    needs::check(document, &scenario, faults)?;
    notes.borrow_mut().append(&mut pausing::notes(&scenario));
    checks::notices(&scenario, &mut notes.borrow_mut());
    notes.borrow_mut().extend(scenario.stacks().into_iter().flat_map(|stacks| stacks.notes()));
    notes.borrow_mut().append(&mut idle::notes(document, &scenario));
    notes.borrow_mut().extend(imported::note(document, &scenario));
    events::late(&scenario, &mut notes.borrow_mut());
    Some(Read { scenario, seed: top.count("seed"), resolved: map.into() })
}

fn resolved_host(host: &HostConfig, values: &Values) -> Json {
    let mut map = resolved::values(values);
    map.entry("nic_queue").or_insert(json!("unlimited"));
    for (key, made) in [
        ("marking", resolved::filled(&host.marking)),
        ("scheduler", resolved::filled(&host.scheduler)),
        ("overflow", resolved::filled(&host.overflow)),
        ("bounce_signal", resolved::filled(&host.bounce_signal)),
        ("nic", resolved::filled(&host.nic)),
        ("reaction", resolved::filled(&host.reaction)),
    ] {
        map.insert(key.into(), made);
    }
    map.into()
}

/// Checks that XOFF is sent before a buffer without losses is full.
fn check_xoff(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let Some(pausing::TooLate { name, memory, guaranteed_bytes, xoff, key }) = pausing::too_late(scenario) else {
        return Some(());
    };
    let found = format!(
        "{xoff} at {name}, whose {memory} has {guaranteed_bytes} guaranteed: it is full before XOFF is reached"
    );
    faults.add(
        &checks::of_switch(document, &format!("pause.{key}")),
        message(found, "a lower threshold, or lossless = false"),
    );
    None
}

/// Returns the duration even if other top-level keys have faults, so that checks that need it find further faults.
fn duration(document: &Node, top: Option<&Values>) -> Option<Dur> {
    let text = document.get("duration").and_then(Node::text);
    let read = top.map(|top| top.time("duration")).or_else(|| units::parse_dur(text?).ok());
    read.filter(|duration| *duration > Dur::ZERO)
}

fn check_name(document: &Node, faults: &mut Faults) {
    if let Some(name) = document.get("name").and_then(Node::text).filter(|name| !is_name(name)) {
        faults.add(&document.find("name"), message(format!("{name:?}"), NAME_RULE));
    }
}

fn framing(document: &Node, faults: &mut Faults) -> Option<(Choice, Framing)> {
    let table = table(document, "framing", faults)?;
    let made = choice(&table, Kinds::or(settings::FRAMING, "ethernet"), faults)?;
    let before = faults.count;
    checks::framing(document, &made, faults);
    if faults.count > before {
        return None;
    }
    let size = |key: &str| made.values.size(key) as u16;
    let framing =
        Framing { header: size("header"), link: size("link"), min_frame: size("min_frame"), gap: size("gap") };
    Some((made, framing))
}

/// Reads the mechanism of a slot of the host.
fn slot<S: InSlot>(host: &Node, name: &str, registry: &Registry, faults: &mut Faults) -> Option<Filled<S>> {
    let (_, default) = HOST_SLOTS.iter().find(|(slot, _)| *slot == name)?;
    filled(host, Slot { name, registry, kinds: Kinds::or(&registry.of_host(name), default) }, faults)
}

fn host(
    document: &Node,
    registry: &Registry,
    notes: &RefCell<Vec<String>>,
    faults: &mut Faults,
) -> Option<(HostConfig, Values)> {
    let host = table(document, "host", faults)?;
    let slots = HOST_SLOTS.map(|(slot, _)| slot);
    let values = read(&host, Wanted { others: &slots, ..Wanted::new(settings::HOST.params) }, faults);
    let marking: Option<Filled<MarkingSlot>> = slot(&host, "marking", registry, faults);
    let scheduler = slot(&host, "scheduler", registry, faults);
    let overflow: Option<Filled<OverflowSlot>> = slot(&host, "overflow", registry, faults);
    let bounce_signal = slot(&host, "bounce_signal", registry, faults);
    let nic: Option<Filled<NicOrder>> = slot(&host, "nic", registry, faults);
    let reaction = slot(&host, "reaction", registry, faults);
    let nic_queue = values.as_ref().and_then(|values| values.has("nic_queue").then(|| values.amount("nic_queue")));
    let beside = Beside { memory: nic_queue, nic: true, ports: Some(1), ..Beside::NOTHING };
    if let Some(marking) = &marking {
        let mut report = Report::default();
        let given = |key: &str| host.get("marking").is_some_and(|table| table.get(key).is_some());
        marking.slot.peek().check(&Beside { given: &given, ..beside }, &mut report);
        notes.borrow_mut().extend(checks::say(&host, "marking", report, faults));
    }
    if let (Some(overflow), Some(_)) = (&overflow, &values) {
        let mut report = Report::default();
        overflow.slot.peek().check(&beside, &mut report);
        notes.borrow_mut().extend(checks::say(&host, "overflow", report, faults));
    }
    let (marking, scheduler, overflow, bounce_signal) = (marking?, scheduler?, overflow?, bounce_signal?);
    let (values, nic, reaction) = (values?, nic?, reaction?);
    let config = HostConfig {
        stack_delay: values.time("stack_delay"),
        stack_jitter: values.time("stack_jitter"),
        nic_jitter: values.has("nic_jitter").then(|| values.time("nic_jitter")),
        nic_jitter_distribution: values.get("nic_jitter_distribution"),
        clock_ppb: settings::ppb(&values),
        nic_queue,
        marking,
        scheduler,
        overflow,
        bounce_signal,
        nic,
        reaction,
    };
    let before = faults.count;
    checks::nic(&host, &config, faults);
    (faults.count == before).then_some((config, values))
}

fn measure(document: &Node, duration: Option<Dur>, faults: &mut Faults) -> Option<Measure> {
    let table = table(document, "measure", faults)?;
    let values = read(&table, Wanted::new(settings::MEASURE.params), faults)?;
    let (to, bin) = checks::window(document, duration?, &values, faults);
    checks::sub_queues(document, &values, faults);
    Some(Measure {
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
