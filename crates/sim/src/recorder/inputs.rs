//! Memory at the inputs of switches that have input memory, over time and by output.
//!
//! A frame is in the memory of the input by which it came in from its arrival until it has crossed to its output.
//! Congestion messages count in no memory.

use super::Scope;
use super::occupancy::{BinOccupancy, FinishedBin, WindowOccupancy};
use dataplane::{EventLocation, Pkt};
use mech::PacketKind;
use scenario::Scenario;
use units::Time;

/// Row for the frames that an input holds for an output in one time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InputRow {
    /// Integral over the time bin of the bytes held, in bytes times picoseconds.
    pub(crate) area: f64,
    /// Largest number of bytes held in the time bin.
    pub(crate) max: u64,
    pub(crate) bin: u32,
    /// Input and output, both counted over the whole network.
    pub(crate) input: u32,
    pub(crate) output: u32,
}

/// Returns a function that makes a row from a finished time bin of an input and an output.
fn row_writer((input, output): (u32, u32), rows: &mut Vec<InputRow>) -> impl FnMut(FinishedBin) {
    move |FinishedBin { bin, area, max_bytes: most, .. }| rows.push(InputRow { area, max: most, bin, input, output })
}

/// Returns the bytes in a memory after a change; a negative change means that bytes have left.
fn bytes_after(bytes: u64, change: i64) -> u64 {
    debug_assert!(bytes.checked_add_signed(change).is_some(), "no more leaves a memory than has come");
    bytes.saturating_add_signed(change)
}

/// Numbers of the ports of a switch with input memory, and of its records.
#[derive(Clone, Copy, Debug)]
struct SwitchPorts {
    /// First port over the whole network, and the number of ports.
    first: u32,
    ports: u32,
    /// Index of the first record of the switch's pairs of input and output.
    pairs: usize,
}

/// Records of the memory of all inputs.
#[derive(Clone, Debug)]
pub(crate) struct InputMemory {
    /// Ports of each switch; `None` if the switch has no memory at its inputs.
    switches: Vec<Option<SwitchPorts>>,
    hosts: u32,
    /// Memory of each input, by port over the whole network.
    pub(crate) inputs: Vec<WindowOccupancy>,
    /// Bytes over time that each input of a switch holds for each output; empty if `[measure]` does not select them.
    pairs: Vec<BinOccupancy>,
}

impl InputMemory {
    /// Creates the record of input memory for a scenario; `None` if no switch has memory at its inputs.
    pub(crate) fn from_scenario(scenario: &Scenario) -> Option<InputMemory> {
        let net = &scenario.topology;
        let mut first: u32 = net.nodes[..net.hosts as usize].iter().map(|host| host.ports.len() as u32).sum();
        let (mut places, mut pairs) = (Vec::new(), 0);
        for (node, switch) in net.nodes[net.hosts as usize..].iter().zip(&scenario.switches) {
            let ports = node.ports.len() as u32;
            let here = switch.model.input_side().map(|_| SwitchPorts { first, ports, pairs });
            pairs += here.map_or(0, |_| node.ports.len() * node.ports.len());
            first += ports;
            places.push(here);
        }
        let some = places.iter().any(Option::is_some);
        let pairs = vec![BinOccupancy::default(); if scenario.measure.inputs { pairs } else { 0 }];
        let all = vec![WindowOccupancy::default(); first as usize];
        some.then_some(InputMemory { switches: places, hosts: net.hosts, inputs: all, pairs })
    }

    fn switch_ports(&self, at: EventLocation) -> Option<SwitchPorts> {
        *self.switches.get(at.node.checked_sub(self.hosts)? as usize)?
    }

    /// Counts a frame that is stored at the input by which it came in; `at` has the port by which it is to leave.
    pub(crate) fn record_stored(&mut self, scope: &Scope, at: EventLocation, pkt: &Pkt, rows: &mut Vec<InputRow>) {
        if let Some(place) = self.switch_ports(at).filter(|_| pkt.head.kind() != PacketKind::Notice) {
            let size = i64::from(pkt.head.size);
            self.record_change(scope, (at, place.first + u32::from(pkt.head.ingress.0), size), place, rows);
        }
    }

    /// Counts a frame that has left the memory of its input.
    pub(crate) fn record_crossed(
        &mut self,
        scope: &Scope,
        (at, input): (EventLocation, u32),
        pkt: &Pkt,
        rows: &mut Vec<InputRow>,
    ) {
        if let Some(place) = self.switch_ports(at).filter(|_| pkt.head.kind() != PacketKind::Notice) {
            self.record_change(scope, (at, input, -i64::from(pkt.head.size)), place, rows);
        }
    }

    fn record_change(
        &mut self,
        scope: &Scope,
        (at, input, bytes): (EventLocation, u32, i64),
        place: SwitchPorts,
        rows: &mut Vec<InputRow>,
    ) {
        let one = &mut self.inputs[input as usize];
        one.set_bytes(scope, at.now, bytes_after(one.bytes(), bytes));
        let pair = place.pairs + ((input - place.first) * place.ports + at.port - place.first) as usize;
        if let Some(pair) = self.pairs.get_mut(pair) {
            pair.set_bytes(scope, at.now, bytes_after(pair.bytes(), bytes), row_writer((input, at.port), rows));
        }
    }

    /// Copies the records of another partition for the ports that it owns.
    pub(crate) fn take_partition(&mut self, other: &InputMemory, port: impl Fn(usize) -> bool) {
        (0..self.inputs.len()).filter(|at| port(*at)).for_each(|at| self.inputs[at] = other.inputs[at]);
        for place in self.switches.iter().flatten().filter(|place| port(place.first as usize)) {
            let own = place.pairs..place.pairs + (place.ports * place.ports) as usize;
            if let (Some(mine), Some(its)) = (self.pairs.get_mut(own.clone()), other.pairs.get(own)) {
                mine.copy_from_slice(its);
            }
        }
    }

    /// Calls `then` with the record of each pair of input and output, and its two ports over the whole network.
    fn for_each_pair(&mut self, mut then: impl FnMut(&mut BinOccupancy, (u32, u32))) {
        for place in self.switches.iter().flatten() {
            let own = self.pairs.iter_mut().skip(place.pairs).take((place.ports * place.ports) as usize);
            own.zip(0..)
                .for_each(|(pair, at)| then(pair, (place.first + at / place.ports, place.first + at % place.ports)));
        }
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, scope: &Scope, bin: u32, rows: &mut Vec<InputRow>) {
        let start = Time(u64::from(bin).saturating_mul(scope.bin.0));
        self.for_each_pair(|pair, ports| {
            pair.advance(scope, start.max(pair.recorded_until()), row_writer(ports, rows))
        });
    }

    /// Completes the records at the end of the run, and writes the open time bins.
    pub(crate) fn close(&mut self, scope: &Scope, now: Time, rows: &mut Vec<InputRow>) {
        self.inputs.iter_mut().for_each(|one| one.advance(scope, now));
        self.for_each_pair(|pair, ports| {
            pair.advance(scope, now, row_writer(ports, rows));
            pair.end_open_bin().into_iter().for_each(row_writer(ports, rows));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Flags, PortId};
    use units::Dur;

    const SCOPE: Scope = Scope { from: Time(100), to: Time(200), bin: Dur(50), hosts: 2, ..Scope::EMPTY };

    /// Returns the record for two hosts, a switch without input memory, and one with it, whose ports are 4 and 5.
    fn memory(follow: bool) -> InputMemory {
        let place = SwitchPorts { first: 4, ports: 2, pairs: 0 };
        let pairs = vec![BinOccupancy::default(); if follow { 4 } else { 0 }];
        InputMemory { switches: vec![None, Some(place)], hosts: 2, inputs: vec![WindowOccupancy::default(); 6], pairs }
    }

    fn frame(ingress: u16, size: u16) -> Pkt {
        let mut pkt = Pkt::default();
        (pkt.head.ingress, pkt.head.size) = (PortId(ingress), size);
        pkt
    }

    fn at(now: u64, port: u32) -> EventLocation {
        EventLocation { now: Time(now), node: 3, port }
    }

    #[test]
    fn input_memory_is_recorded_by_output_bin_and_window() {
        let (mut memory, mut rows) = (memory(true), Vec::new());
        memory.record_stored(&SCOPE, at(60, 4), &frame(1, 100), &mut rows);
        memory.record_stored(&SCOPE, at(110, 5), &frame(1, 40), &mut rows);
        memory.record_crossed(&SCOPE, (at(160, 4), 5), &frame(1, 100), &mut rows);
        memory.record_stored(&SCOPE, at(170, 4), &frame(0, 7), &mut rows);
        memory.record_crossed(&SCOPE, (at(170, 4), 4), &frame(0, 7), &mut rows);
        memory.record_crossed(&SCOPE, (at(260, 5), 5), &frame(1, 40), &mut rows);
        memory.close(&SCOPE, Time(400), &mut rows);
        rows.sort_by_key(|row| (row.bin, row.input, row.output));
        let row = |bin, input, output, max, area| InputRow { area, max, bin, input, output };
        let expected = [
            row(1, 5, 4, 100, 4000.0),
            row(2, 5, 4, 100, 5000.0),
            row(2, 5, 5, 40, 1600.0),
            row(3, 4, 4, 7, 0.0),
            row(3, 5, 4, 100, 1000.0),
            row(3, 5, 5, 40, 2000.0),
            row(4, 5, 5, 40, 2000.0),
            row(5, 5, 5, 40, 400.0),
        ];
        assert_eq!(rows, expected);
        let [first, second] = [memory.inputs[4], memory.inputs[5]];
        assert_eq!((first.max_bytes, first.area), (7, 0));
        assert_eq!((second.max_bytes, second.area), (140, 100 * 60 + 40 * 90));
    }

    #[test]
    fn window_counts_frames_stored_before_it_and_none_after_it() {
        let (mut memory, mut rows) = (memory(false), Vec::new());
        memory.record_stored(&SCOPE, at(60, 4), &frame(1, 100), &mut rows);
        memory.record_crossed(&SCOPE, (at(130, 4), 5), &frame(1, 100), &mut rows);
        memory.record_stored(&SCOPE, at(200, 4), &frame(1, 900), &mut rows);
        memory.close(&SCOPE, Time(400), &mut rows);
        memory.close(&SCOPE, Time(400), &mut rows);
        assert_eq!((memory.inputs[5].max_bytes, memory.inputs[5].area), (100, 3000));
        assert_eq!(rows, [], "pairs are not followed");
    }

    #[test]
    fn messages_and_switches_without_inputs_count_nothing() {
        let (mut memory, mut rows) = (memory(true), Vec::new());
        let mut message = frame(1, 64);
        message.head.flags = Flags::from_kind(PacketKind::Notice);
        memory.record_stored(&SCOPE, at(110, 4), &message, &mut rows);
        memory.record_stored(&SCOPE, EventLocation { now: Time(110), node: 2, port: 2 }, &frame(1, 64), &mut rows);
        memory.record_stored(&SCOPE, EventLocation { now: Time(110), node: 1, port: 1 }, &frame(0, 64), &mut rows);
        memory.record_crossed(&SCOPE, (at(120, 4), 5), &message, &mut rows);
        memory.close(&SCOPE, Time(400), &mut rows);
        assert_eq!((rows, memory.inputs.iter().map(|one| one.max_bytes).max()), (vec![], Some(0)));
    }

    #[test]
    fn finished_time_bins_are_written_before_the_next_change() {
        let (mut memory, mut rows) = (memory(true), Vec::new());
        memory.record_stored(&SCOPE, at(120, 4), &frame(1, 10), &mut rows);
        memory.end_bins_before(&SCOPE, 3, &mut rows);
        let row = InputRow { area: 300.0, max: 10, bin: 2, input: 5, output: 4 };
        assert_eq!(rows, [row]);
        memory.end_bins_before(&SCOPE, 3, &mut rows);
        assert_eq!(rows.len(), 1, "once");
    }
}
