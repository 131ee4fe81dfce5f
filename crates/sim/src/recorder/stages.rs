//! Buffers inside `fabric` switches over time, and the frames that moved into them.
//!
//! A frame takes space in a buffer from the start of its move there until it has left. Congestion messages do not
//! count.

use super::Scope;
use super::occupancy::{Course, Held, Over};
use dataplane::{Pkt, Spot};
use mech::fabric::stage_of;
use scenario::topology::Node;
use scenario::{Cioq, Scenario};
use units::{Dur, Rate, Time};

/// Kind and number of a buffer inside a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Input buffer of the stage of a port.
    Port(u16),
    /// Buffer in front of an internal link.
    Front(u16),
    /// Input buffer of a stage behind an internal link.
    Behind(u16),
}

impl Of {
    pub(crate) const NAMES: [&'static str; 3] = ["port", "link", "behind_link"];

    /// Returns the number of the kind, and the number of the port or link.
    pub(crate) fn numbers(self) -> (u8, u16) {
        match self {
            Of::Port(at) => (0, at),
            Of::Front(at) => (1, at),
            Of::Behind(at) => (2, at),
        }
    }
}

/// Record of a buffer inside a switch.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    pub(crate) node: u32,
    /// Number of the buffer within the switch.
    pub(crate) buffer: u16,
    pub(crate) of: Of,
    /// Stage to which the buffer belongs.
    pub(crate) stage: u16,
    /// Size in bytes for each class.
    pub(crate) size: u64,
    /// Rate at which frames move into the buffer.
    pub(crate) rate: Rate,
    /// Occupancy in the window.
    pub(crate) held: Held,
    /// Bytes of the frames that moved into the buffer in the window.
    pub(crate) came: u64,
}

/// Row for one time bin of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageRow {
    /// Bytes times picoseconds.
    pub(crate) area: f64,
    /// Bytes.
    pub(crate) max: u64,
    /// Time in which frames moved into the buffer.
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
    pub(crate) all: Vec<Inside>,
    /// Courses over time of the buffers; empty if `[measure]` does not ask for them.
    courses: Vec<Course>,
}

impl FabricMemory {
    /// Returns the record of a scenario; `None` if no switch has stages.
    pub(crate) fn from_scenario(scenario: &Scenario) -> Option<FabricMemory> {
        let net = &scenario.topology;
        let (mut first, mut all) = (Vec::new(), Vec::new());
        let nodes = (net.hosts..).zip(&net.nodes[net.hosts as usize..]);
        for (node, config) in nodes.zip(&scenario.switches) {
            let from = all.len();
            config.model.cioq().into_iter().for_each(|cioq| all.extend(buffers(node, cioq)));
            first.push((all.len() > from).then_some(from as u32));
        }
        let courses = vec![Course::default(); if scenario.measure.inputs { all.len() } else { 0 }];
        (!all.is_empty()).then_some(FabricMemory { first, hosts: net.hosts, all, courses })
    }

    fn place(&self, at: Spot, buffer: u16) -> Option<usize> {
        let first = (*self.first.get(at.node.checked_sub(self.hosts)? as usize)?)?;
        Some(first as usize + usize::from(buffer))
    }

    /// Records the bytes in use in a buffer from now on.
    pub(crate) fn occupied(&mut self, scope: &Scope, at: Spot, (buffer, bytes): (u16, u64), rows: &mut Vec<StageRow>) {
        let Some(place) = self.place(at, buffer) else { return };
        // A frame takes space when it starts to move into the buffer, and frees it when it has left. More bytes than
        // before thus mean that a move starts.
        let held = &mut self.all[place].held;
        let begins = bytes > held.bytes();
        held.set(scope, at.now, bytes);
        if begins {
            held.coming(scope, at.now, true);
        }
        if let Some(course) = self.courses.get_mut(place) {
            course.set(scope, at.now, bytes, row((at.node, buffer), rows));
            if begins {
                course.coming(scope, at.now, true, row((at.node, buffer), rows));
            }
        }
    }

    /// Records a frame that has moved into a buffer.
    pub(crate) fn moved(&mut self, scope: &Scope, at: Spot, (buffer, pkt): (u16, &Pkt), rows: &mut Vec<StageRow>) {
        let (Some(place), size) = (self.place(at, buffer), u64::from(pkt.head.size)) else { return };
        self.all[place].came += if scope.covers(at.now) { size } else { 0 };
        self.all[place].held.coming(scope, at.now, false);
        if let Some(course) = self.courses.get_mut(place) {
            course.coming(scope, at.now, false, row((at.node, buffer), rows));
        }
    }

    /// Takes over the records of another partition, of some nodes.
    pub(crate) fn take(&mut self, other: &FabricMemory, node: impl Fn(usize) -> bool) {
        for at in (0..self.all.len()).filter(|at| node(other.all[*at].node as usize)) {
            self.all[at] = other.all[at].clone();
            self.courses.get_mut(at).into_iter().for_each(|mine| *mine = other.courses[at]);
        }
    }

    /// Ends the time bins before `bin`.
    pub(crate) fn settle(&mut self, scope: &Scope, bin: u32, rows: &mut Vec<StageRow>) {
        let start = Time(u64::from(bin).saturating_mul(scope.bin.0));
        for (course, own) in self.courses.iter_mut().zip(&self.all) {
            course.pass(scope, start.max(course.since()), row((own.node, own.buffer), rows));
        }
    }

    /// Ends the record with the run.
    pub(crate) fn close(&mut self, scope: &Scope, now: Time, rows: &mut Vec<StageRow>) {
        self.all.iter_mut().for_each(|one| one.held.pass(scope, now));
        for (course, own) in self.courses.iter_mut().zip(&self.all) {
            course.pass(scope, now, row((own.node, own.buffer), rows));
            course.end_bin().into_iter().for_each(row((own.node, own.buffer), rows));
        }
    }
}

/// Returns a function that makes a row of a time bin of a buffer.
fn row((node, buffer): (u32, u16), rows: &mut Vec<StageRow>) -> impl FnMut(Over) {
    move |Over { bin, area, most, busy }| rows.push(StageRow { area, max: most, busy, bin, node, buffer })
}

/// Returns the buffers inside a switch in the order in which the dataplane counts them; none if it has no stages.
fn buffers((node, config): (u32, &Node), cioq: &Cioq) -> Vec<Inside> {
    let Some(fabric) = cioq.fabric.as_ref().map(|fabric| fabric.slot.peek()) else { return Vec::new() };
    let Some(rules) = fabric.rules() else { return Vec::new() };
    let ports = config.ports.len() as u16;
    let transfers: Vec<Rate> = config.ports.iter().filter_map(|port| cioq.speedup.rate(port.rate)).collect();
    let Some(across) = transfers.iter().copied().max() else { return Vec::new() };
    let stage = |port| stage_of(port, ports, fabric.edges());
    let (of_stage, of_link) = (rules.stage_buffer.0, rules.link_buffer.0);
    let at_ports = (0..).zip(&transfers).map(|(port, rate)| (Of::Port(port), stage(port), of_stage, *rate));
    let of_links = (0..).zip(fabric.links()).flat_map(|(at, link)| {
        [(Of::Front(at), link.from, of_link, across), (Of::Behind(at), link.to, of_stage, rules.link_rate)]
    });
    let all = (0..).zip(at_ports.chain(of_links));
    all.map(|(buffer, (of, stage, size, rate))| Inside {
        node,
        buffer,
        of,
        stage,
        size,
        rate,
        held: Held::default(),
        came: 0,
    })
    .collect()
}
