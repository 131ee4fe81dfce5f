//! Resolved variant with all defaults, as JSON in the form of a scenario.

use super::switches::SwitchGroup;
use crate::choices::ModelKind;
use crate::model::{Choice, FilledSlot, MeasureSettings, OwnTransports, PortConfig, SwitchConfig};
use crate::topology::Topology;
use crate::traffic::Traffic;
use dataplane::transport::TransportRow;
use mech::params::{Value, Values};
use serde_json::{Map, Value as Json, json};
use units::{Bytes, Dur};

/// Converts a value to JSON; quantities are text with their unit.
fn value_json(value: &Value) -> Json {
    match value {
        Value::Flag(flag) => json!(flag),
        Value::Count(n) => json!(n),
        Value::Off => json!("off"),
        Value::Number(n) => json!(n),
        Value::Time(d) => json!(d.to_string()),
        Value::Rate(rate) => json!(rate.to_string()),
        Value::Amount(amount) => json!(amount.to_string()),
        Value::Size(Bytes(n)) => json!(Bytes(*n).to_string()),
        Value::Word(word) => json!(word),
        Value::Texts(words) => json!(words),
        Value::Numbers(numbers) => json!(numbers),
        Value::Counts(counts) => json!(counts),
        Value::Rates(rates) => rates.iter().map(|rate| rate.map_or("off".into(), |rate| rate.to_string())).collect(),
        Value::DscpClasses(classes) => {
            Json::Object(classes.iter().map(|(dscp, class)| (dscp.to_string(), json!(class))).collect())
        }
        Value::Table(kind, given) => {
            let mut map = values_json(given);
            map.insert("kind".into(), json!(kind));
            Json::Object(map)
        }
        Value::Named(tables) => {
            tables.iter().map(|(name, given)| (name.clone(), Json::Object(values_json(given)))).collect()
        }
        Value::List(tables) => tables.iter().map(|given| Json::Object(values_json(given))).collect(),
    }
}

/// Formats a value as plain text.
pub(super) fn format_value(given: &Value) -> String {
    match value_json(given) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// Converts values to JSON under their keys; dotted names become nested tables.
pub(super) fn values_json(values: &Values) -> Map<String, Json> {
    let mut map = Map::new();
    for (name, given) in &values.0 {
        let mut keys: Vec<&str> = name.split('.').collect();
        let last = keys.pop().unwrap_or_default();
        let mut table = &mut map;
        for key in keys {
            let below = table.entry(key).or_insert_with(|| json!({}));
            match below {
                Json::Object(below) => table = below,
                _ => return map,
            }
        }
        table.insert(last.to_string(), value_json(given));
    }
    map
}

/// Converts the workloads to JSON, with the transports that a workload or some of its hosts have of their own.
pub(super) fn traffic_json(made: &[(Choice, Traffic)], (base, own): (&Choice, &OwnTransports), net: &Topology) -> Json {
    let kinds: Vec<&Choice> = std::iter::once(base).chain(&own.kinds).collect();
    let each = made.iter().enumerate().map(|(i, (made, _))| {
        let mut one = choice_json(made);
        if let Some(row) = own.host_transports(i) {
            one["transport"] = choice_json(kinds[usize::from(row.default_number)]);
            if !row.host_numbers.is_empty() {
                one["transports"] = host_transports_json(&kinds, row, net);
            }
        }
        one
    });
    each.collect()
}

/// Lists the transports that differ from the one of all other hosts, each with the hosts that use it.
pub(super) fn host_transports_json(kinds: &[&Choice], row: &TransportRow, net: &Topology) -> Json {
    let of_kind = |number: u8| {
        let has = |(_, own): &(usize, &u8)| **own == number;
        let hosts = row.host_numbers.iter().enumerate().filter(has).map(|(host, _)| net.nodes[host].name.as_str());
        let hosts: Vec<&str> = hosts.collect();
        json!({ "hosts": hosts, "transport": choice_json(kinds[usize::from(number)]) })
    };
    let numbers = (0..kinds.len() as u8).filter(|number| *number != row.default_number && row.uses_transport(*number));
    numbers.map(of_kind).collect()
}

/// Converts a kind and its parameters to JSON.
pub(super) fn choice_json(choice: &Choice) -> Json {
    let mut map = values_json(&choice.values);
    map.insert("kind".into(), json!(choice.kind));
    Json::Object(map)
}

/// Converts the mechanism in a slot to JSON: its `kind` and its parameters.
pub(super) fn slot_json<S>(slot: &FilledSlot<S>) -> Json {
    let mut map = values_json(&slot.values);
    map.insert("kind".into(), json!(slot.kind));
    Json::Object(map)
}

fn port_json(port: &PortConfig) -> Map<String, Json> {
    let all = [
        ("marking", slot_json(&port.marking)),
        ("ack_hold", slot_json(&port.ack_hold)),
        ("notify", slot_json(&port.notify)),
        ("pause", slot_json(&port.pause)),
        ("scheduler", slot_json(&port.scheduler)),
    ];
    all.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
}

fn switch_json(config: &SwitchConfig) -> Map<String, Json> {
    let model = match config.model.input_side() {
        None => ModelKind::OutputQueued,
        Some(cioq) if cioq.fabric.is_some() => ModelKind::Fabric,
        Some(_) => ModelKind::Cioq,
    };
    let mut all = vec![
        ("fib", slot_json(&config.fib)),
        ("routing", slot_json(&config.routing)),
        ("buffer", slot_json(&config.buffer)),
        ("overflow", slot_json(&config.overflow)),
        ("simultaneous", json!(config.simultaneous.word())),
        ("ties", json!(config.ties.word())),
        ("clock_ppm", json!(f64::from(config.clock_ppb) / 1000.0)),
        ("model", json!(model.word())),
    ];
    if let Some(cioq) = config.model.input_side() {
        all.push(("arbiter", slot_json(&cioq.arbiter)));
        all.extend(cioq.fabric.as_ref().map(|fabric| ("fabric", slot_json(fabric))));
        all.push(("input_buffer", json!(cioq.input_buffer.to_string())));
        all.push(("speedup", json!(cioq.speedup.number())));
    }
    all.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// Converts switches to JSON, one entry for each group of equal ones: their names, their slots, and the slots of their
/// ports. Ports have separate entries if those toward hosts and toward switches differ.
pub(super) fn switches_json(groups: &[SwitchGroup]) -> Json {
    let each = groups.iter().map(|group| {
        let mut map = switch_json(&group.config);
        map.insert("nodes".into(), json!(group.nodes));
        match group.ports.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => map.extend(port_json(first)),
            ports => {
                let ports: Map<_, _> = ports.iter().map(|(class, p)| (class.clone(), port_json(p).into())).collect();
                map.insert("ports".into(), ports.into());
            }
        }
        Json::Object(map)
    });
    each.collect()
}

/// Converts the measurement settings to JSON.
pub(super) fn measure_json(measure: &MeasureSettings) -> Json {
    json!({
        "from": Dur(measure.from.0).to_string(),
        "to": Dur(measure.to.0).to_string(),
        "drain": measure.drain.to_string(),
        "fct_end": measure.fct_end.word(),
        "allow_unfinished": measure.allow_unfinished,
        "bin": measure.bin.to_string(),
        "queues": measure.queues,
        "sub_queues": measure.sub_queues,
        "packets": measure.packets,
        "detours": measure.detours.map_or(json!("off"), |n| json!(n)),
        "goodput": measure.goodput.word(),
        "links": measure.links,
        "notices": measure.notices,
        "rate_limits": measure.rate_limits,
        "inputs": measure.inputs,
        "sent": measure.sent,
        "reordering": measure.reordering,
        "displacement_threshold": measure.displacement_threshold,
    })
}
