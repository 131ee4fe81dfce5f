//! Results in the forms that Python takes: JSON text and plain buffers.

use crate::numbers::NumberColumn;
use core::fmt::Write;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::Scenario;
use scenario::memory::{Memory, SwitchMemory, switch_memory};
use scenario::topology::{Node, Port, Topology};
use serde_json::{Value, json};
use sim::{Deadlock, LosslessLosses, PauseStorms, Results, SharedByClasses, StopReason, Table};
use units::{Amount, Rate};

/// Returns a port whose classes share memory as JSON: its name, the classes, and the packets lost there.
fn shared_by_classes_json(own: &SharedByClasses, scenario: &Scenario) -> Value {
    let classes: Vec<u8> = (0..8).filter(|class| own.classes.has(*class)).collect();
    let name = &scenario.topology.nodes[own.node as usize].name;
    json!({ "port": format!("{name}:{}", own.port), "classes": classes, "drops": own.drops })
}

/// Returns the pause storms of a run as JSON: their number, the packets dropped in them, and the first of them.
fn pause_storms_json(storms: &PauseStorms, scenario: &Scenario) -> Value {
    let first = storms.first().map(|(node, one)| {
        let port = format!("{}:{}", scenario.topology.nodes[*node as usize].name, one.port.0);
        json!({ "at_ps": one.from.0, "port": port, "queue": one.queue })
    });
    let dropped: u64 = storms.iter().map(|(_, one)| one.dropped).sum();
    json!({ "count": storms.len(), "dropped": dropped, "first": first })
}

/// Returns the losses of lossless groups as JSON: their packets, and the group that lost most; `None` without losses.
fn lossless_losses_json(losses: &LosslessLosses, scenario: &Scenario) -> Option<Value> {
    let (node, most) = losses.iter().rev().max_by_key(|(_, one)| one.packets)?;
    let port = format!("{}:{}", scenario.topology.nodes[*node as usize].name, most.port.0);
    let packets: u64 = losses.iter().map(|(_, one)| one.packets).sum();
    let most = json!({ "at_ps": most.first.0, "port": port, "group": most.group, "packets": most.packets });
    Some(json!({ "packets": packets, "groups": losses.len(), "most": most }))
}

/// Returns a deadlock as JSON: its time, its class, and the cycle of ports that wait for each other.
pub(crate) fn deadlock_json(found: &Deadlock, scenario: &Scenario) -> Value {
    json!({ "at_ps": found.at.0, "class": found.class, "cycle": found.port_names(scenario) })
}

/// Returns an amount of memory as JSON, by unit. A switch whose buffer and bounce queues count differently has two.
fn total_memory_json(total: Option<Memory>) -> Value {
    let parts = |total: Memory| {
        let parts = [("packets", total.packets), ("bytes", total.bytes)];
        parts.into_iter().filter_map(|(unit, n)| Some((unit.to_string(), json!(n?)))).collect()
    };
    total.map_or(Value::Null, |total| Value::Object(parts(total)))
}

/// Returns the memory of a variant's switches as JSON.
pub(crate) fn memory_json(scenario: &Scenario) -> Value {
    let group = |g: &scenario::memory::SwitchMemory| {
        json!({
            "tier": g.tier,
            "count": g.count,
            "ports": g.ports,
            "buffer": g.buffer.map(|a| a.to_string()),
            "bounce": g.bounce.map(|a| a.to_string()),
            "headers": g.headers.map(|a| a.to_string()),
            "input": g.input.map(|a| a.to_string()),
            "inside": g.fabric.map(|a| a.to_string()),
            "held": g.held_packets.map(|(a, ports)| json!([a.to_string(), ports])),
            "total": total_memory_json(g.total_memory()),
        })
    };
    json!({ "switches": switch_memory(scenario).iter().map(group).collect::<Vec<_>>() })
}

/// Returns a rate in bits per second as JSON, an integer if it is whole.
fn rate_json(rate: Rate) -> Value {
    let (num, den) = rate.numerator_and_denominator();
    if num % den == 0 { json!(num / den) } else { json!(rate.as_f64()) }
}

/// Returns the ports of node `a` that are the first of the two ends of their link, each with its number.
fn ports_to_higher_nodes(a: usize, node: &Node) -> impl Iterator<Item = (usize, &Port)> {
    let first = move |(i, port): &(usize, &Port)| (a, *i) < (port.peer as usize, usize::from(port.peer_port));
    node.ports.iter().enumerate().filter(first)
}

/// Returns rate and delay of a link as JSON, in the direction that leaves by this port.
fn direction_json(port: &Port) -> Value {
    json!({
        "rate": port.rate.to_string(),
        "delay": port.delay.to_string(),
        "rate_bps": rate_json(port.rate),
        "delay_ps": port.delay.0,
    })
}

/// Returns a network as JSON: its nodes, and each link once, by the numbers of its nodes and ports.
///
/// The text is written node by node and link by link. A JSON tree of thousands of links needs more memory than the run
/// of a small network.
pub(crate) fn network_json(net: &Topology) -> String {
    let node = |(i, n): (usize, &Node)| json!({ "name": n.name, "tier": n.tier, "host": (i as u32) < net.hosts });
    let link = |a: usize, i: usize, port: &Port| {
        let back = &net.nodes[port.peer as usize].ports[usize::from(port.peer_port)];
        let mut link = direction_json(port);
        link["a"] = a.into();
        link["a_port"] = i.into();
        link["b"] = port.peer.into();
        link["b_port"] = port.peer_port.into();
        link["weight"] = json!(port.weight);
        if (back.rate, back.delay) != (port.rate, port.delay) {
            link["back"] = direction_json(back);
        }
        link
    };
    let mut text = String::from("{\"nodes\":[");
    let nodes = net.nodes.iter().enumerate().map(node);
    write_array(&mut text, nodes);
    text.push_str("],\"links\":[");
    let links = net.nodes.iter().enumerate();
    write_array(
        &mut text,
        links
            .flat_map(|(a, n)| ports_to_higher_nodes(a, n).map(move |(i, port)| (a, i, port)))
            .map(|(a, i, port)| link(a, i, port)),
    );
    text.push_str("]}");
    text
}

/// Appends JSON values to a text, separated by commas.
fn write_array(text: &mut String, values: impl Iterator<Item = Value>) {
    for (n, value) in values.enumerate() {
        text.push_str(if n > 0 { "," } else { "" });
        // Writing to a string does not fail.
        let _ = write!(text, "{value}");
    }
}

/// Largest number of nodes of a network in the JSON of a scenario; figures draw no larger networks.
const MAX_DRAWN_NODES: usize = 5000;
/// Largest number of ports of a network in the JSON of a scenario; some 15 MB of text.
const MAX_DRAWN_PORTS: usize = 200_000;

fn count_ports(net: &Topology) -> usize {
    net.nodes.iter().map(|node| node.ports.len()).sum()
}

/// Returns the distinct networks of a scenario's variants as JSON, and the index of each variant's network.
/// A network that is too large is null.
pub(crate) fn networks_json(variants: &[Scenario]) -> (String, Value) {
    let mut networks: Vec<&Topology> = Vec::new();
    let mut of = serde_json::Map::new();
    for variant in variants {
        let known = networks.iter().position(|net| **net == variant.topology);
        let at = known.unwrap_or(networks.len());
        if known.is_none() {
            networks.push(&variant.topology);
        }
        of.insert(variant.variant.clone(), json!(at));
    }
    let told = networks.into_iter().map(|net| {
        match net.nodes.len() <= MAX_DRAWN_NODES && count_ports(net) <= MAX_DRAWN_PORTS {
            true => network_json(net),
            false => "null".to_string(),
        }
    });
    (format!("[{}]", told.collect::<Vec<_>>().join(",")), of.into())
}

/// Returns true if any switch has a buffer in bytes, and no switch has input memory.
fn has_byte_queues(scenario: &Scenario) -> bool {
    let in_bytes = |group: &SwitchMemory| matches!(group.buffer, Some(Amount::Bytes(_)));
    switch_memory(scenario).iter().any(in_bytes)
        && scenario.switches.iter().all(|switch| switch.model.input_side().is_none())
}

/// Returns the properties of a run, its counts, and how it ended, as JSON.
pub(crate) fn summary_json(scenario: &Scenario, seed: u64, results: &Results) -> Value {
    let node = |(i, n): (usize, &scenario::topology::Node)| json!({ "name": n.name, "tier": n.tier, "host": (i as u32) < scenario.topology.hosts });
    let stacks = scenario.transport_table();
    let go_back = |traffic: usize| {
        let tcp = stacks.as_ref()?.workload_configs(traffic as u16).next()?;
        Some(json!({ "timeout_ps": tcp.go_back_timeout()?.0, "mss": tcp.mss() }))
    };
    let traffic = |(number, t): (usize, &scenario::traffic::Traffic)| {
        let offered = t.offered_load().map(|o| {
            json!({
                "fraction": o.fraction,
                "of": o.of.word(),
                "bytes": o.bytes.word(),
                "bps": o.bps,
                "payload_bps": o.payload_bps,
            })
        });
        json!({
            "name": t.name,
            "kind": t.kind,
            "offered": offered,
            "paced_ps": t.shuffle_interval().map(|interval| interval.0),
            "closed_loop": t.is_closed_loop(),
            "endless": t.is_endless(),
            "go_back": if t.raw_payload().is_none() { go_back(number) } else { None },
        })
    };
    let change = |event: &scenario::Event| {
        let (what, loses, pauses) = (event.change.to_string(), event.may_lose_frames(), event.host_pause().is_some());
        json!({ "at_ps": event.at.0, "link": event.target, "what": what, "loses": loses, "pauses": pauses })
    };
    let stop = match results.progress.stop {
        Some(StopReason::Done) => "done",
        Some(StopReason::DrainedOut) => "drained_out",
        Some(StopReason::MaxEvents) => "max_events",
        Some(StopReason::Overloaded) => "max_packets",
        Some(StopReason::LosslessViolation) => "lost",
        Some(StopReason::BrokenRule) => "broken_rule",
        None => "abandoned",
    };
    let deadlock = results.deadlock.as_ref().map(|found| deadlock_json(found, scenario));
    let carried = results.carried_bits.iter();
    let carried =
        carried.map(|c| (c.level.word().to_string(), json!({ "bits": c.bits, "capacity_bps": c.capacity_bps })));
    json!({
        "variant": scenario.variant,
        "seed": seed,
        "nodes": scenario.topology.nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
        "traffic": scenario.traffic.iter().enumerate().map(traffic).collect::<Vec<_>>(),
        "received_bytes": results.received,
        "changes": scenario.events.iter().map(change).collect::<Vec<_>>(),
        "buffers_in_bytes": has_byte_queues(scenario),
        "bin_ps": scenario.measure.bin.0,
        "end_ps": results.progress.now.0,
        "window_ps": [scenario.measure.from.0, scenario.measure.to.0],
        "drain_ps": scenario.measure.drain.0,
        "allow_unfinished": scenario.measure.allow_unfinished,
        "stop": stop,
        "events": results.progress.events,
        "hops": results.progress.hops,
        "conserved": results.conserved,
        "deadlock": deadlock,
        "pause_storms": results.pause_storms.as_ref().map(|storms| pause_storms_json(storms, scenario)),
        "lossless_losses": lossless_losses_json(&results.lossless_losses, scenario),
        "shared_by_classes": results.shared_by_classes.map(|own| shared_by_classes_json(&own, scenario)),
        "wire_bits": carried.collect::<serde_json::Map<_, _>>(),
        "flows": {
            "started": results.progress.started - results.raw,
            "completed": results.progress.completed,
            "measured": results.measured,
            "unfinished": results.unfinished,
            "owed": results.unstarted_by_query,
            "raw": results.raw,
        },
    })
}

/// Converts tables to a Python dictionary `{table: {column: (type, memory)}}`.
pub(crate) fn tables_to_python(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, column) in table.columns {
            columns.set_item(name, NumberColumn::from_column(column))?;
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
}
