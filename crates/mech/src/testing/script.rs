//! Parser of conformance tables: test cases, switches, packets, and parameters as in a scenario.

use super::state::BufferModel;
use super::values::values;
use crate::ack_hold::AckHoldSlot;
use crate::buffer::BufferSlot;
use crate::marking::MarkingSlot;
use crate::notify::NotifySlot;
use crate::overflow::OverflowSlot;
use crate::pause::PauseSlot;
use crate::routing::{AddressPlan, FatTreePosition, Hop, RoutingSlot};
use crate::scheduler::SchedulerSlot;
use crate::{AgentSlot, Ecn, Flags, FlowId, Head, HostId, PortId, Registry, RegistrySlot, SwitchContext};
use toml::{Table, Value as Toml};
use units::Rate;

/// Switch of a test case, slot by slot; a slot that is not named has its simplest mechanism.
pub struct Setup {
    pub ports: u16,
    pub switch_ports: Vec<u16>,
    pub fib: Vec<(u32, Vec<Hop>)>,
    pub memory: BufferModel,
    /// Size in bytes of a packet whose payload was cut.
    pub cut_size: u16,
    /// Agents for every port: `ack_hold`, `notify`, `pause`.
    pub agents: [AgentSlot; 3],
    pub routing: RoutingSlot,
    pub buffer: BufferSlot,
    pub overflow: OverflowSlot,
    pub marking: MarkingSlot,
    pub scheduler: SchedulerSlot,
    /// Ports that get the agents; empty for all.
    pub at: Vec<u16>,
}

/// Returns the list of texts under a key of a table; empty if the key is missing.
pub fn texts(table: &Table, key: &str) -> Vec<String> {
    let all = table.get(key).and_then(Toml::as_array).into_iter().flatten();
    all.map(|text| text.as_str().expect(key).to_owned()).collect()
}

/// Returns the text under a key of a table; empty if the key is missing.
pub fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).map_or("", |value| value.as_str().expect(key))
}

/// Makes the mechanism that a table names by `kind name=value ...`, or else by `plain`.
fn make_mechanism<S: RegistrySlot>(slot: &str, table: &Table, plain: &str) -> S {
    let all = Registry::catalogue();
    let given = if table.contains_key(slot) { text(table, slot) } else { plain };
    let (kind, rest) = given.split_once(' ').unwrap_or((given, ""));
    let found = all.find::<S>(kind).unwrap_or_else(|| panic!("{slot} has no mechanism {kind}"));
    (found.make)(&values(found.spec, rest))
}

fn parse_ports(text: &str) -> Vec<u16> {
    text.split_whitespace().map(|port| port.parse().expect(text)).collect()
}

/// Parses the name of a host: `h9` is host 9.
pub fn parse_host(name: &str) -> Option<HostId> {
    name.strip_prefix('h')?.parse().ok().map(HostId)
}

/// Parses routes: `9:0 1:2,3` is host 9 by port 0, host 1 by ports 2 and 3.
fn parse_fib(text: &str) -> Vec<(u32, Vec<Hop>)> {
    let entry = |pair: &str| {
        let (host, hops) = pair.split_once(':').expect(pair);
        let hop = |port: &str| Hop { port: PortId(port.parse().expect(port)), weight: 1.0 };
        (host.parse().expect(host), hops.split(',').map(hop).collect())
    };
    text.split_whitespace().map(entry).collect()
}

/// Parses the position of a switch: `4 13` is switch 13 of the fat-tree of 4 ports, counted from the first edge switch.
fn parse_position(text: &str) -> Option<(AddressPlan, FatTreePosition)> {
    let (k, switch) = text.split_once(' ')?;
    let plan = AddressPlan::new(k.parse().expect(text));
    Some((plan, plan.switch_position(switch.parse().expect(text))))
}

impl Setup {
    /// Reads the switch of a test case from a `[case.switch]` table.
    pub fn read_setup(table: &Table) -> Setup {
        let ports_count = table["ports"].as_integer().expect("ports") as u16;
        let position = parse_position(text(table, "position"));
        let own = SwitchContext { host: &parse_host, position, ..SwitchContext::without_network(0, ports_count) };
        let clock = Rate::gbps(10).clock();
        Setup {
            ports: ports_count,
            switch_ports: parse_ports(text(table, "switches")),
            fib: parse_fib(text(table, "fib")),
            memory: match text(table, "memory") {
                "" | "output" => BufferModel::Output,
                "input" => BufferModel::Input,
                "input_until_ack" => BufferModel::InputUntilAck,
                other => panic!("memory: {other}"),
            },
            cut_size: table.get("cut_size").and_then(Toml::as_integer).unwrap_or(66) as u16,
            agents: [
                make_mechanism::<AckHoldSlot>("ack_hold", table, "none").for_port(clock),
                make_mechanism::<NotifySlot>("notify", table, "none").for_port(clock),
                make_mechanism::<PauseSlot>("pause", table, "none").for_port(clock),
            ],
            routing: make_mechanism::<RoutingSlot>("routing", table, "ecmp").for_switch(&own),
            buffer: make_mechanism("buffer", table, "unlimited"),
            overflow: make_mechanism::<OverflowSlot>("overflow", table, "tail_drop").for_switch(&own),
            marking: make_mechanism("marking", table, "none"),
            scheduler: make_mechanism("scheduler", table, "fifo"),
            at: parse_ports(text(table, "at")),
        }
    }
}

/// Parses a packet from `name key=value ... flag ...`, with the properties of `common` unless it sets them itself.
/// `n=5` means five alike, named `name.1` to `name.5`; the count is returned too.
pub fn parse_packet(text: &str, common: &str) -> (String, Head, u32) {
    let mut words = text.split_whitespace();
    let name = words.next().expect("a packet's name").to_owned();
    let mut head = Head { ttl: 64, size: 1500, ..Head::default() };
    let mut many = 1;
    for word in common.split_whitespace().chain(words) {
        let Some((key, value)) = word.split_once('=') else {
            match word {
                "ect" => head.set_ecn(Ecn::Ect0),
                "data" => head.flags = head.flags.with(Flags::PAYLOAD),
                "ack" => head.flags = head.flags.with(Flags::ACK),
                "syn" => head.flags = head.flags.with(Flags::SYN),
                "fin" => head.flags = head.flags.with(Flags::FIN),
                "cpa" => head.flags = head.flags.with(Flags::CPA),
                "ppl" => head.flags = head.flags.with(Flags::PPL),
                "not_trimmable" => head.tos |= Head::NOT_TRIMMABLE,
                other => panic!("`{other}` is not an attribute of a packet"),
            }
            continue;
        };
        let number: u32 = value.parse().unwrap_or_else(|_| panic!("{word}"));
        match key {
            "in" => head.ingress = PortId(number as u16),
            "src" => head.src = HostId(number),
            "dst" => head.dst = HostId(number),
            "flow" => head.flow = FlowId(number),
            "hash" => head.hash = number,
            "size" => head.size = number as u16,
            "class" => head.set_class(number as u8),
            "rank" => head.rank = number,
            "ttl" => head.ttl = number as u8,
            "detours" => head.detours = number as u8,
            "np" => head.bounces = number as u8,
            "n" => many = number,
            other => panic!("`{other}` is not an attribute of a packet"),
        }
    }
    head.orig_size = head.size;
    (name, head, many)
}
