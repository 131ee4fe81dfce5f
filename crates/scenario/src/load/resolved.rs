//! Resolved variant with all defaults, as JSON in the form of a scenario.

use super::switches::Group;
use crate::choices::ModelKind;
use crate::model::{Choice, Filled, Measure, OwnTransports, PortConfig, SwitchConfig};
use crate::topology::Topology;
use crate::traffic::Traffic;
use dataplane::transport::Row;
use mech::params::{Value, Values};
use serde_json::{Map, Value as Json, json};
use units::{Bytes, Dur};

/// Converts a value to JSON; quantities are text with their unit.
fn value(value: &Value) -> Json {
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
        Value::Words(words) => json!(words),
        Value::Numbers(numbers) => json!(numbers),
        Value::Counts(counts) => json!(counts),
        Value::Table(kind, given) => {
            let mut map = values(given);
            map.insert("kind".into(), json!(kind));
            Json::Object(map)
        }
    }
}

/// Formats a value as plain text.
pub(super) fn text(given: &Value) -> String {
    match value(given) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// Converts values to JSON under their keys; dotted names become nested tables.
pub(super) fn values(values: &Values) -> Map<String, Json> {
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
        table.insert(last.to_string(), value(given));
    }
    map
}

/// Converts the workloads to JSON. A workload with its own transport has that one, and those of hosts that differ.
pub(super) fn traffic(made: &[(Choice, Traffic)], (base, own): (&Choice, &OwnTransports), net: &Topology) -> Json {
    let kinds: Vec<&Choice> = std::iter::once(base).chain(&own.kinds).collect();
    let each = made.iter().enumerate().map(|(i, (made, _))| {
        let mut one = choice(made);
        if let Some(row) = own.row(i) {
            one["transport"] = choice(kinds[usize::from(row.of_all)]);
            if !row.of_host.is_empty() {
                one["transports"] = of_hosts(&kinds, row, net);
            }
        }
        one
    });
    each.collect()
}

/// Lists the transports of hosts that differ from that of all, each with its hosts.
pub(super) fn of_hosts(kinds: &[&Choice], row: &Row, net: &Topology) -> Json {
    let of_kind = |number: u8| {
        let has = |(_, own): &(usize, &u8)| **own == number;
        let hosts = row.of_host.iter().enumerate().filter(has).map(|(host, _)| net.nodes[host].name.as_str());
        let hosts: Vec<&str> = hosts.collect();
        json!({ "hosts": hosts, "transport": choice(kinds[usize::from(number)]) })
    };
    let numbers = (0..kinds.len() as u8).filter(|number| *number != row.of_all && row.has(*number));
    numbers.map(of_kind).collect()
}

/// Converts a choice to JSON: its `kind` and its values.
pub(super) fn choice(choice: &Choice) -> Json {
    let mut map = values(&choice.values);
    map.insert("kind".into(), json!(choice.kind));
    Json::Object(map)
}

/// Converts a filled slot to JSON: its `kind` and its values.
pub(super) fn filled<S>(slot: &Filled<S>) -> Json {
    let mut map = values(&slot.values);
    map.insert("kind".into(), json!(slot.kind));
    Json::Object(map)
}

fn port(port: &PortConfig) -> Map<String, Json> {
    let all = [
        ("marking", filled(&port.marking)),
        ("ack_hold", filled(&port.ack_hold)),
        ("notify", filled(&port.notify)),
        ("pause", filled(&port.pause)),
        ("scheduler", filled(&port.scheduler)),
    ];
    all.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
}

fn switch(config: &SwitchConfig) -> Map<String, Json> {
    let model = match config.model.cioq() {
        None => ModelKind::OutputQueued,
        Some(cioq) if cioq.fabric.is_some() => ModelKind::Fabric,
        Some(_) => ModelKind::Cioq,
    };
    let mut all = vec![
        ("fib", filled(&config.fib)),
        ("routing", filled(&config.routing)),
        ("buffer", filled(&config.buffer)),
        ("overflow", filled(&config.overflow)),
        ("simultaneous", json!(config.simultaneous.word())),
        ("ties", json!(config.ties.word())),
        ("clock_ppm", json!(f64::from(config.clock_ppb) / 1000.0)),
        ("model", json!(model.word())),
    ];
    if let Some(cioq) = config.model.cioq() {
        all.push(("arbiter", filled(&cioq.arbiter)));
        all.extend(cioq.fabric.as_ref().map(|fabric| ("fabric", filled(fabric))));
        all.push(("input_buffer", json!(cioq.input_buffer.to_string())));
        all.push(("speedup", json!(cioq.speedup.number())));
    }
    all.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// Converts switches to JSON, one entry for each group of equal ones: their names, their slots, and the slots of their
/// ports. Ports have separate entries if those toward hosts and toward switches differ.
pub(super) fn switches(groups: &[Group]) -> Json {
    let each = groups.iter().map(|group| {
        let mut map = switch(&group.config);
        map.insert("nodes".into(), json!(group.nodes));
        match group.ports.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => map.extend(port(first)),
            ports => {
                let ports: Map<_, _> = ports.iter().map(|(class, p)| (class.clone(), port(p).into())).collect();
                map.insert("ports".into(), ports.into());
            }
        }
        Json::Object(map)
    });
    each.collect()
}

/// Converts the measurement settings to JSON.
pub(super) fn measure(measure: &Measure) -> Json {
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
