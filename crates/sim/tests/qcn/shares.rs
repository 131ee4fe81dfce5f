//! Tests of the analysis of QCN-OS §III in real switches. Under arrival sampling, messages to a flow are proportional
//! to its share of the arriving bytes (eq. 2, 3); under occupancy sampling, to its share of the memory (eq. 4, 5). Both
//! shares are measured at the port of each message, and the messages are tested against them by χ² at 0.1%.

use super::{CHI_SQUARE, HOSTS, Hotspot};
use crate::common::scenario;
use crate::common::watched::{DEPARTURES, watch_wanting};
use dataplane::{PacketBody, Pkt};
use mech::{Notice, PacketKind};
use sim::{EnqueuedFrame, EventLocation, ObservedEvents, Observer, Options};
use std::collections::BTreeMap;

/// Size in bytes of a unit of memory.
const UNIT: u64 = 256;

/// Observed bytes, memory units and messages at a port of the switch, by flow.
#[derive(Clone, Default)]
struct AtPort {
    /// Bytes that arrived up to the last message; `since` has those that arrived after it.
    came: BTreeMap<u32, u64>,
    since: BTreeMap<u32, u64>,
    /// Number of memory units that the flow occupies now.
    units: BTreeMap<u32, u64>,
    told: BTreeMap<u32, f64>,
    /// Sum, over all messages, of the flow's share of the memory.
    expected: BTreeMap<u32, f64>,
}

/// Observer of the memories of a switch's inputs, or of its outputs.
#[derive(Clone, Default)]
struct Shares {
    inputs: bool,
    hosts: u32,
    ports: BTreeMap<u32, AtPort>,
}

impl Shares {
    fn at(&mut self, at: EventLocation, pkt: &Pkt) -> &mut AtPort {
        let output = at.port - self.hosts;
        let port = if self.inputs { u32::from(pkt.head.ingress.0) } else { output };
        self.ports.entry(port).or_default()
    }
    fn leaves(&mut self, at: EventLocation, pkt: &Pkt) {
        if at.node >= self.hosts && pkt.head.kind() != PacketKind::Notice {
            let units = self.at(at, pkt).units.get_mut(&pkt.head.flow.0).expect("it has come");
            *units -= u64::from(pkt.head.size).div_ceil(UNIT);
        }
    }
}

impl Observer for Shares {
    const OBSERVED: ObservedEvents = ObservedEvents::DEPARTURES;

    fn on_enqueue(&mut self, at: EventLocation, _frame: EnqueuedFrame, pkt: &Pkt) {
        if at.node >= self.hosts && pkt.head.kind() != PacketKind::Notice {
            let (flow, bytes) = (pkt.head.flow.0, u64::from(pkt.head.size));
            let of = self.at(at, pkt);
            *of.units.entry(flow).or_default() += bytes.div_ceil(UNIT);
            *of.since.entry(flow).or_default() += bytes;
        }
    }
    fn on_input_dequeue(&mut self, at: EventLocation, _input: u32, pkt: &Pkt) {
        if self.inputs {
            self.leaves(at, pkt);
        }
    }
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, _end: units::Time) {
        if !self.inputs {
            self.leaves(at, pkt);
        }
    }
    fn on_notice_sent(&mut self, _at: EventLocation, pkt: &Pkt) {
        let PacketBody::Notice(Notice::Cnm { point, .. }) = pkt.body() else { panic!("{pkt:?}") };
        let of = self.ports.get_mut(&u32::from(point.0)).expect("something has come");
        for (flow, bytes) in std::mem::take(&mut of.since) {
            *of.came.entry(flow).or_default() += bytes;
        }
        let all: u64 = of.units.values().sum();
        for (flow, units) in &of.units {
            *of.expected.entry(*flow).or_default() += *units as f64 / all as f64;
        }
        *of.told.entry(pkt.head.flow.0).or_default() += 1.0;
    }
}

impl AtPort {
    fn messages(&self) -> f64 {
        self.told.values().sum()
    }
    /// Returns the expected number of messages to each flow, by its share of the arriving bytes.
    fn by_arrival(&self) -> BTreeMap<u32, f64> {
        let all: u64 = self.came.values().sum();
        self.came.iter().map(|(flow, bytes)| (*flow, self.messages() * *bytes as f64 / all as f64)).collect()
    }
    /// Returns χ² of the numbers of messages against the expected ones, and its degrees of freedom.
    fn chi(&self, expected: &BTreeMap<u32, f64>) -> (f64, usize) {
        assert!(expected.values().all(|mean| *mean >= 5.0), "too few messages: {expected:?}");
        assert!(self.told.keys().all(|flow| expected.contains_key(flow)), "{:?}, {expected:?}", self.told);
        let told = |flow| self.told.get(flow).copied().unwrap_or(0.0);
        (expected.iter().map(|(flow, mean)| (told(flow) - mean).powi(2) / mean).sum(), expected.len() - 1)
    }
    fn assert_follows(&self, expected: &BTreeMap<u32, f64>, degrees: usize) {
        let (chi, found) = self.chi(expected);
        assert_eq!(found, degrees);
        assert!(chi < CHI_SQUARE[degrees], "χ² {chi}: {:?}, not {expected:?}", self.told);
    }
    /// Asserts that the numbers of messages clearly differ from these expected ones.
    fn assert_differs(&self, expected: &BTreeMap<u32, f64>) {
        let (chi, degrees) = self.chi(expected);
        assert!(chi > 5.0 * CHI_SQUARE[degrees], "χ² {chi}: {:?}, {expected:?}", self.told);
    }
}

/// Runs a scenario and returns the observations at a port.
fn at_port(text: &str, inputs: bool, hosts: u32, port: u32) -> AtPort {
    let seen = Shares { inputs, hosts, ..Shares::default() };
    // Departures are stepped, so that they are reported when they happen.
    let options = Options { step_departures: true, ..Options::default() };
    let mut world = watch_wanting::<_, DEPARTURES>(&scenario(text, ""), 3, options, seen);
    world.run();
    assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    world.observer().ports[&port].clone()
}

/// Returns a scenario in which `h0` sends three flows with random gaps, 1, 2 and 3 Gb/s of payload in frames of three
/// sizes.
///
/// The links of their destinations, 10, 1 and 1.5 Gb/s, take all of the first flow and half of the others.
fn three_flows(switch: &str, destinations: [u32; 3], notify: &str) -> String {
    let flows: String = [(0, "1460B"), (1, "700B"), (2, "300B")]
        .map(|(n, payload)| {
            format!(
                "[[traffic]]\nname = \"f{n}\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h{}\"\n\
                 payload = \"{payload}\"\nrate = \"{}Gbps\"\ngaps = \"exponential\"\nbacklog = \"20KB\"\n",
                destinations[n],
                n + 1
            )
        })
        .concat();
    let link = |n: u32, mbps: u32| format!("{{ a = \"s\", b = \"h{n}\", rate = \"{mbps}Mbps\", delay = \"1us\" }}, ");
    let links: String = [(0, 10_000), (1, 10_000), (2, 1000), (3, 1500)].map(|(n, mbps)| link(n, mbps)).concat();
    let hosts: String = (0..4).map(|n| format!("{{ name = \"h{n}\", kind = \"host\" }}, ")).collect();
    format!(
        "name = \"three\"\nduration = \"40ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{hosts}{{ name = \"s\", kind = \"switch\" }}]\nlink = [{links}]\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
         [switch]\n{switch}\nnotify = {{ kind = \"qcn\", q_eq = \"6KB\", unit = \"{UNIT}B\", interval = \"20KB\", {notify} }}\n\
         [measure]\nallow_unfinished = true\n{flows}"
    )
}

const INPUTS: &str = "model = \"cioq\"\ninput_buffer = \"60MB\"\nbuffer = { kind = \"per_port\", size = \"150KB\" }";
const OUTPUTS: &str = "buffer = { kind = \"unlimited\" }";

/// Test of arrival sampling: messages are proportional to arriving bytes.
/// No packet is lost or paused, and from the first messages on each sample causes one: two degrees of freedom.
#[test]
fn arrival_sampling_messages_are_proportional_to_bytes() {
    for (switch, inputs, destinations, port) in [(INPUTS, true, [1, 2, 3], 0), (OUTPUTS, false, [2, 2, 2], 2)] {
        let at = if inputs { "inputs" } else { "outputs" };
        let text = three_flows(switch, destinations, &format!("at = \"{at}\", culprit = \"arrival\""));
        let seen = at_port(&text, inputs, 4, port);
        assert!(seen.messages() > 4000.0, "{}", seen.messages());
        seen.assert_follows(&seen.by_arrival(), 2);
        let third = seen.messages() / 3.0;
        seen.assert_differs(&seen.came.keys().map(|flow| (*flow, third)).collect());
        if inputs {
            let told = &seen.told;
            assert!(told[&0] > 0.1 * seen.messages(), "the victim is told: {told:?}");
        }
    }
}

/// Test of occupancy sampling: messages are proportional to occupied memory.
/// The memory is that of an output without a limit, where all flows are queued. Or it is that of an input whose far end
/// is paused, where the passing flow has only a few frames. There are two degrees of freedom, and the shares of
/// arrivals do not fit.
#[test]
fn occupancy_sampling_messages_are_proportional_to_units() {
    let paused = INPUTS.replace("60MB", "150KB") + "\npause = { kind = \"pfc\", xoff = \"40KB\", xon = \"20KB\" }";
    for (switch, inputs, destinations, port) in [(&*paused, true, [1, 2, 3], 0), (OUTPUTS, false, [2, 2, 2], 2)] {
        let at = if inputs { "inputs" } else { "outputs" };
        let text = three_flows(switch, destinations, &format!("at = \"{at}\", culprit = \"occupancy\""));
        let seen = at_port(&text, inputs, 4, port);
        assert!(seen.messages() > 1000.0, "{}", seen.messages());
        seen.assert_follows(&seen.expected, 2);
        if inputs {
            seen.assert_differs(&seen.by_arrival());
        }
    }
}

/// Test of both kinds of sampling at the input of the hotspot.
/// The hotspot of §II-B with PFC and without reaction: f1 and f2 arrive equally by one input, and f1 passes. There is
/// one degree of freedom.
#[test]
fn at_the_input_of_the_hotspot_the_victim_is_told_by_what_comes_or_by_what_lies_there() {
    for gbps in [10, 100] {
        let of = |culprit: &str| {
            let notify = &format!("interval = \"50KB\", culprit = \"{culprit}\"");
            let hotspot = Hotspot { gbps, notify, reacts: false, stop: 100, end: 100 };
            at_port(&hotspot.text(), true, HOSTS, 0)
        };
        let (arrival, occupancy) = (of("arrival"), of("occupancy"));
        arrival.assert_follows(&arrival.by_arrival(), 1);
        arrival.assert_differs(&arrival.expected);
        occupancy.assert_follows(&occupancy.expected, 1);
        occupancy.assert_differs(&occupancy.by_arrival());
    }
}
