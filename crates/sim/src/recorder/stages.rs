//! Buffers inside `fabric` switches over time, and the frames that moved into them.
//!
//! A frame takes space in a buffer from the start of its move there until it has left. Congestion messages do not
//! count.

use super::Scope;
use super::occupancy::{BinOccupancy, FinishedBin, WindowOccupancy};
use dataplane::{EventLocation, Pkt};
use mech::fabric::stage_of;
use scenario::topology::Node;
use scenario::{Cioq, Scenario};
use units::{Dur, Rate, Time};

/// Kind and number of a buffer inside a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferKind {
    /// Input buffer of the stage that a port belongs to.
    Port(u16),
    /// Buffer that feeds an internal link.
    InFrontOfLink(u16),
    /// Input buffer of a stage behind an internal link.
    BehindLink(u16),
}

impl BufferKind {
    pub(crate) const NAMES: [&'static str; 3] = ["port", "link", "behind_link"];

    /// Returns the number of the kind, and the number of the port or link.
    pub(crate) fn kind_and_index(self) -> (u8, u16) {
        match self {
            BufferKind::Port(at) => (0, at),
            BufferKind::InFrontOfLink(at) => (1, at),
            BufferKind::BehindLink(at) => (2, at),
        }
    }
}

/// Record of a buffer inside a switch.
#[derive(Clone, Debug)]
pub(crate) struct BufferRecord {
    pub(crate) node: u32,
    /// Number of the buffer within the switch.
    pub(crate) buffer: u16,
    pub(crate) kind: BufferKind,
    /// Number of the stage to which the buffer belongs.
    pub(crate) stage: u16,
    /// Size of the buffer in bytes, for each class.
    pub(crate) size: u64,
    /// Rate at which frames move into the buffer.
    pub(crate) rate: Rate,
    /// Occupancy of the buffer in the measurement window.
    pub(crate) window: WindowOccupancy,
    /// Bytes of the frames that moved into the buffer in the measurement window.
    pub(crate) bytes_in: u64,
}

/// Row for the occupancy of a buffer inside a switch in one time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageRow {
    /// Integral of the occupancy over the time bin, in bytes times picoseconds.
    pub(crate) area: f64,
    /// Largest number of bytes in the buffer in the time bin.
    pub(crate) max: u64,
    /// Part of the time bin during which a frame was moving into the buffer.
    pub(crate) busy: Dur,
    pub(crate) bin: u32,
    pub(crate) node: u32,
    pub(crate) buffer: u16,
}

/// Records of all buffers inside switches.
#[derive(Clone, Debug)]
pub(crate) struct FabricMemory {
    /// First buffer of each switch; `None` if it has none.
    first: Vec<Option<u32>>,
    hosts: u32,
    /// Buffers by switch and number.
    pub(crate) buffers: Vec<BufferRecord>,
    /// Occupancy of each buffer over time; empty if `[measure]` does not select it.
    bins: Vec<BinOccupancy>,
}

impl FabricMemory {
    /// Creates the record of buffers inside switches for a scenario; `None` if no switch has stages.
    pub(crate) fn from_scenario(scenario: &Scenario) -> Option<FabricMemory> {
        let net = &scenario.topology;
        let (mut first, mut all) = (Vec::new(), Vec::new());
        let nodes = (net.hosts..).zip(&net.nodes[net.hosts as usize..]);
        for (node, config) in nodes.zip(&scenario.switches) {
            let from = all.len();
            config.model.input_side().into_iter().for_each(|cioq| all.extend(buffers_of_switch(node, cioq)));
            first.push((all.len() > from).then_some(from as u32));
        }
        let courses = vec![BinOccupancy::default(); if scenario.measure.inputs { all.len() } else { 0 }];
        (!all.is_empty()).then_some(FabricMemory { first, hosts: net.hosts, buffers: all, bins: courses })
    }

    fn buffer_index(&self, at: EventLocation, buffer: u16) -> Option<usize> {
        let first = (*self.first.get(at.node.checked_sub(self.hosts)? as usize)?)?;
        Some(first as usize + usize::from(buffer))
    }

    /// Records that a buffer inside a switch holds this number of bytes from now on.
    pub(crate) fn record_bytes(
        &mut self,
        scope: &Scope,
        at: EventLocation,
        (buffer, bytes): (u16, u64),
        rows: &mut Vec<StageRow>,
    ) {
        let Some(place) = self.buffer_index(at, buffer) else { return };
        // A frame takes space when it starts to move into the buffer, and frees it when it has left. More bytes than
        // before thus mean that a move starts.
        let held = &mut self.buffers[place].window;
        let begins = bytes > held.bytes();
        held.set_bytes(scope, at.now, bytes);
        if begins {
            held.set_incoming(scope, at.now, true);
        }
        if let Some(course) = self.bins.get_mut(place) {
            course.set_bytes(scope, at.now, bytes, row_writer((at.node, buffer), rows));
            if begins {
                course.set_incoming(scope, at.now, true, row_writer((at.node, buffer), rows));
            }
        }
    }

    /// Records a frame that has moved into a buffer.
    pub(crate) fn record_moved(
        &mut self,
        scope: &Scope,
        at: EventLocation,
        (buffer, pkt): (u16, &Pkt),
        rows: &mut Vec<StageRow>,
    ) {
        let (Some(place), size) = (self.buffer_index(at, buffer), u64::from(pkt.head.size)) else { return };
        self.buffers[place].bytes_in += if scope.covers(at.now) { size } else { 0 };
        self.buffers[place].window.set_incoming(scope, at.now, false);
        if let Some(course) = self.bins.get_mut(place) {
            course.set_incoming(scope, at.now, false, row_writer((at.node, buffer), rows));
        }
    }

    /// Copies the records of another partition for the nodes that it owns.
    pub(crate) fn take_partition(&mut self, other: &FabricMemory, node: impl Fn(usize) -> bool) {
        for at in (0..self.buffers.len()).filter(|at| node(other.buffers[*at].node as usize)) {
            self.buffers[at] = other.buffers[at].clone();
            self.bins.get_mut(at).into_iter().for_each(|mine| *mine = other.bins[at]);
        }
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, scope: &Scope, bin: u32, rows: &mut Vec<StageRow>) {
        let start = Time(u64::from(bin).saturating_mul(scope.bin.0));
        for (course, own) in self.bins.iter_mut().zip(&self.buffers) {
            course.advance(scope, start.max(course.recorded_until()), row_writer((own.node, own.buffer), rows));
        }
    }

    /// Completes the records at the end of the run, and writes the open time bins.
    pub(crate) fn close(&mut self, scope: &Scope, now: Time, rows: &mut Vec<StageRow>) {
        self.buffers.iter_mut().for_each(|one| one.window.advance(scope, now));
        for (course, own) in self.bins.iter_mut().zip(&self.buffers) {
            course.advance(scope, now, row_writer((own.node, own.buffer), rows));
            course.end_open_bin().into_iter().for_each(row_writer((own.node, own.buffer), rows));
        }
    }
}

/// Returns a function that makes a row from a finished time bin of a buffer.
fn row_writer((node, buffer): (u32, u16), rows: &mut Vec<StageRow>) -> impl FnMut(FinishedBin) {
    move |FinishedBin { bin, area, max_bytes: most, busy }| {
        rows.push(StageRow { area, max: most, busy, bin, node, buffer })
    }
}

/// Returns the buffers inside a switch in the order in which the dataplane counts them; none if it has no stages.
fn buffers_of_switch((node, config): (u32, &Node), cioq: &Cioq) -> Vec<BufferRecord> {
    let Some(fabric) = cioq.fabric.as_ref().map(|fabric| fabric.slot.peek()) else { return Vec::new() };
    let Some(rules) = fabric.stage_params() else { return Vec::new() };
    let ports = config.ports.len() as u16;
    let transfers: Vec<Rate> = config.ports.iter().filter_map(|port| cioq.speedup.rate(port.rate)).collect();
    let Some(across) = transfers.iter().copied().max() else { return Vec::new() };
    let stage = |port| stage_of(port, ports, fabric.edge_stages());
    let (of_stage, of_link) = (rules.stage_buffer.0, rules.link_buffer.0);
    let at_ports = (0..).zip(&transfers).map(|(port, rate)| (BufferKind::Port(port), stage(port), of_stage, *rate));
    let of_links = (0..).zip(fabric.links()).flat_map(|(at, link)| {
        [
            (BufferKind::InFrontOfLink(at), link.from, of_link, across),
            (BufferKind::BehindLink(at), link.to, of_stage, rules.link_rate),
        ]
    });
    let all = (0..).zip(at_ports.chain(of_links));
    all.map(|(buffer, (of, stage, size, rate))| BufferRecord {
        node,
        buffer,
        kind: of,
        stage,
        size,
        rate,
        window: WindowOccupancy::default(),
        bytes_in: 0,
    })
    .collect()
}
