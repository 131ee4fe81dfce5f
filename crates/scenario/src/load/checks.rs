//! What must hold between the values of several keys.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::{message, one_of};
use crate::model::{Choice, HostConfig, SwitchConfig};
use crate::paths;
use crate::topology::Topology;
use mech::overflow::ENTRY_BYTES;
use mech::params::Values;
use std::collections::BTreeSet;
use units::{Amount, Bytes, Dur, Time};

/// What finding paths may cost, see [`paths::work`]: some seconds.
const MOST_PATHS: u64 = 10_000_000_000;
/// What a bounce with endless memory says of itself.
const NEVER_BOUNCES: &str = "bounce with an unlimited buffer never bounces: its utilisation is always 0";
/// What a bounce with shared memory says of itself.
const SHARED_BOUNCES: &str = "bounce with a shared buffer: utilisation is measured against the dynamic threshold of \
                              the instant, and the bounce queues are memory beside the shared one";

/// What an eviction with endless memory says of itself.
const NEVER_EVICTS: &str = "evict with an unlimited buffer never evicts: no queue is ever full";
/// What `srpt` and `evict` say where no packet has a rank.
const NO_RANKS: &str = "srpt and evict with transport.priority = \"none\": all packets are equally urgent, which makes \
                        them first in, first out and tail drop within a class";

fn plain(amount: Amount) -> (u64, &'static str) {
    match amount {
        Amount::Packets(n) => (n, "packets"),
        Amount::Bytes(n) => (n, "bytes"),
    }
}

/// RED's two thresholds. `parent` is the table that holds `marking`.
pub(super) fn marking(parent: &Node, marking: &Choice, faults: &mut Faults) {
    if marking.kind != "red" {
        return;
    }
    let (min, max) = (marking.values.amount("min"), marking.values.amount("max"));
    let ((low, unit), (high, other)) = (plain(min), plain(max));
    if unit != other {
        let found = format!("{max}, in {other} beside min = {min}");
        faults.add(&parent.find("marking.max"), message(found, format!("the unit of min, {unit}")));
    } else if low >= high {
        faults.add(&parent.find("marking.min"), message(min, format!("less than max = {max}")));
    }
}

/// Tables of two levels need addresses that say where a host is. `parent` is the table that holds the
/// slots.
pub(super) fn two_level(parent: &Node, routing: &Choice, net: &Topology, faults: &mut Faults) {
    if routing.kind == "two_level" && net.plan.is_none() {
        let rule = "`ecmp`, `spray`, `weighted` or `k_shortest`: `two_level` needs topology.kind = \"fat_tree\"";
        faults.add(&parent.find("routing.kind"), message("\"two_level\" in a network that is no `fat_tree`", rule));
    }
}

/// Paths are the same for all switches, and there are only so many. `document` is the variant.
pub(super) fn k_shortest(document: &Node, net: &Topology, switches: &[SwitchConfig], faults: &mut Faults) {
    let mut of_it = switches.iter().map(|switch| &switch.routing).filter(|routing| routing.kind == "k_shortest");
    let Some(first) = of_it.next() else { return };
    let alike = 1 + of_it.filter(|other| *other == first).count();
    let k = first.values.count("k");
    if alike < switches.len() {
        let found = format!("`k_shortest` with k = {k} at {alike} of {} switches", switches.len());
        faults.add(&document.find("switch.routing"), message(found, "the same paths at all switches"));
    }
    let work = paths::work(net, k);
    if alike == switches.len() && work > MOST_PATHS {
        let found = format!("{k} paths between each two of {} switches with hosts", net.edges());
        let what = "k times the links of all shortest paths between them times the ports of the network";
        let rule = format!("{what} at most {MOST_PATHS}, which is {work} here");
        faults.add(&document.find("switch.routing.k"), message(found, rule));
    }
}

/// PABO's bounce queue is in the unit of the buffer. `parent` is the table that holds the slots;
/// where an override has put a buffer of another unit there (`overridden`), both stand, with a note.
pub(super) fn bounce(
    parent: &Node,
    (overflow, buffer, overridden): (&Choice, &Choice, bool),
    notes: &mut Vec<String>,
    faults: &mut Faults,
) {
    if overflow.kind != "bounce" {
        return;
    }
    let (memory, buffer_unit) = match buffer.kind.as_str() {
        "per_port" => (buffer.values.amount("size"), plain(buffer.values.amount("size")).1),
        "shared" => {
            notes.push(SHARED_BOUNCES.into());
            (Amount::Bytes(buffer.values.size("size")), "bytes")
        }
        _ => return notes.push(NEVER_BOUNCES.into()),
    };
    let size = overflow.values.amount("bounce_size");
    let unit = plain(size).1;
    if unit == buffer_unit {
        return;
    }
    if overridden {
        notes.push(format!("bounce queues of {size} beside a buffer of {memory}: two units in one switch"));
    } else {
        let found = format!("{size}, in {unit} beside a buffer in {buffer_unit}");
        let rule = format!("the unit of the buffer, {buffer_unit}");
        faults.add(&parent.find("overflow.bounce_size"), message(found, rule));
    }
}

/// A detour's parameters that belong to one policy alone: the key, the policy, and where it needs one of
/// certain choices of flows, these.
const OF_POLICIES: [(&str, &str, &[&str]); 6] = [
    ("flows", "flow_based", &[]),
    ("flow_size", "flow_based", &["short", "long"]),
    ("flow_table", "flow_based", &["short", "long"]),
    ("hosts", "flow_based", &["hosts"]),
    ("lo", "probabilistic", &[]),
    ("hi", "probabilistic", &[]),
];

/// A detour's parameters with each other; those of other policies are refused where they are given, and
/// dropped where they have only their defaults. `parent` is the table that holds `overflow`.
pub(super) fn detour(parent: &Node, overflow: &mut Choice, notes: &mut Vec<String>, faults: &mut Faults) {
    if overflow.kind != "detour" {
        return;
    }
    let values = overflow.values.clone();
    let (policy, flows) = (values.word("policy"), values.word("flows"));
    for (key, its_policy, its_flows) in OF_POLICIES {
        let (by, found, rule) = match its_flows {
            _ if policy != its_policy => ("policy", policy, &[its_policy][..]),
            of if !of.is_empty() && !of.contains(&flows) => ("flows", flows, of),
            _ => continue,
        };
        overflow.values.0.remove(key);
        if let Some(node) = parent.get("overflow").and_then(|table| table.get(key)) {
            let rule = format!("it only with {by} = \"{}\"", rule.join("\" or \""));
            faults.add(&node.at, message(format!("{} with {by} = {found:?}", node.shown()), rule));
        }
    }
    let values = &overflow.values;
    if values.has("lo") && values.number("lo") > values.number("hi") {
        let rule = format!("at most hi = {}", values.number("hi"));
        faults.add(&parent.find("overflow.lo"), message(values.number("lo"), rule));
    }
    if values.has("hi") && values.number("hi") == 0.0 {
        let rule = "more than 0, or no packet ever waits for its own port";
        faults.add(&parent.find("overflow.hi"), message(0, rule));
    }
    if flows == "hosts" && policy == "flow_based" && (!values.has("hosts") || values.words("hosts").is_empty()) {
        let found = if values.has("hosts") { "no host" } else { "nothing" };
        faults.add(&parent.find("overflow.hosts"), message(found, "one host or more with flows = \"hosts\""));
    }
    if values.has("flow_table") {
        let places = values.count("flow_table");
        let bytes = Bytes(places * ENTRY_BYTES);
        notes.push(format!(
            "detour by flow size: every such switch has a table of {places} flows, {bytes} beside its buffer"
        ));
    }
}

/// The hosts whose packets are detoured are there. `parent` is the table that holds `overflow`.
pub(super) fn detour_hosts(parent: &Node, overflow: &Choice, net: &Topology, faults: &mut Faults) {
    if overflow.kind != "detour" || !overflow.values.has("hosts") {
        return;
    }
    let names: BTreeSet<&str> = overflow.values.words("hosts").iter().map(String::as_str).collect();
    for name in names.into_iter().filter(|name| net.host(name).is_none()) {
        let known = net.nodes[..net.hosts as usize].iter().map(|node| node.name.as_str());
        let found = format!("unknown host `{name}`");
        faults.add(&parent.find("overflow.hosts"), message(found, one_of(name, known)));
    }
}

/// What evicts needs a queue that can be full. `host` is the table that holds `overflow`.
pub(super) fn nic_overflow(host: &Node, overflow: &Choice, values: &Values, faults: &mut Faults) {
    if overflow.kind == "evict" && !values.has("nic_queue") {
        faults.add(&host.find("overflow.kind"), message("\"evict\" at an unlimited NIC", "host.nic_queue beside it"));
    }
}

/// Says of an eviction with endless memory that there is none.
pub(super) fn evict(overflow: &Choice, buffer: &Choice, notes: &mut Vec<String>) {
    if overflow.kind == "evict" && buffer.kind == "unlimited" {
        notes.push(NEVER_EVICTS.into());
    }
}

/// Says where packets are told apart by a rank that none has.
pub(super) fn ranks(host: &HostConfig, switches: &[SwitchConfig], transport: &Choice, notes: &mut Vec<String>) {
    let by_rank = |scheduler: &Choice, overflow: &Choice| scheduler.kind == "srpt" || overflow.kind == "evict";
    let of_switch = |s: &SwitchConfig| s.ports.iter().any(|port| by_rank(&port.scheduler, &s.overflow));
    let asked = by_rank(&host.scheduler, &host.overflow) || switches.iter().any(of_switch);
    if asked && transport.values.word("priority") == "none" {
        notes.push(NO_RANKS.into());
    }
}

/// Thresholds of pause are fixed or of what is free, one or the other; classes are some of the eight.
/// `parent` is the table that holds the slots.
pub(super) fn pause(parent: &Node, (pause, buffer): (&Choice, &Choice), faults: &mut Faults) {
    if pause.kind == "none" {
        return;
    }
    let values = &pause.values;
    let mut wrong = |key: &str, found: String, rule: &str| {
        faults.add(&parent.find(&format!("pause.{key}")), message(found, rule));
    };
    let [xoff, xon, alpha, offset] = ["xoff", "xon", "alpha", "offset"].map(|key| values.has(key));
    match (xoff, xon, alpha) {
        (true, true, false) if values.size("xon") >= values.size("xoff") => {
            let rule = format!("less than xoff = {}", Bytes(values.size("xoff")));
            wrong("xon", Bytes(values.size("xon")).to_string(), &rule);
        }
        (true, true, false) => {}
        (false, false, true) if buffer.kind != "shared" => {
            wrong("alpha", format!("alpha beside a `{}` buffer", buffer.kind), "a `shared` buffer beside alpha");
        }
        (false, false, true) => {}
        (false, false, false) => wrong("kind", "neither xoff nor alpha".into(), "xoff and xon, or alpha"),
        (_, _, true) => wrong("alpha", "alpha beside xoff or xon".into(), "xoff and xon, or alpha"),
        (true, false, false) => wrong("xoff", "xoff without xon".into(), "xoff and xon"),
        (false, true, false) => wrong("xon", "xon without xoff".into(), "xoff and xon"),
    }
    if offset && !alpha {
        wrong("offset", "offset without alpha".into(), "offset beside alpha; beside xoff it is xon");
    }
    if values.has("refresh")
        && let Some(refresh) = values.count_or_off("refresh").filter(|n| *n > values.count("quanta"))
    {
        let rule = format!("at most quanta = {}", values.count("quanta"));
        wrong("refresh", refresh.to_string(), &rule);
    }
    if pause.kind == "pfc" && values.has("classes") {
        let classes = values.counts("classes");
        let once: BTreeSet<u64> = classes.iter().copied().collect();
        if classes.is_empty() || once.len() < classes.len() {
            wrong("classes", format!("{classes:?}"), "one or more whole numbers from 0 to 7, each once");
        }
    }
}

/// The reserves of all ports come out of the shared memory. `parent` is the table that holds `buffer`.
pub(super) fn reserves(parent: &Node, buffer: &Choice, ports: usize, faults: &mut Faults) {
    if buffer.kind != "shared" {
        return;
    }
    let (size, reserved) = (buffer.values.size("size"), buffer.values.size("reserved"));
    if reserved.saturating_mul(ports as u64) > size {
        let found = format!("{} for each of {ports} ports", Bytes(reserved));
        let rule = format!("reserves that fit into size = {} together", Bytes(size));
        faults.add(&parent.find("buffer.reserved"), message(found, rule));
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
