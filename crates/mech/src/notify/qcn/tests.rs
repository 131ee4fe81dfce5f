use super::*;
use crate::buffer::ExtraMemory;
use crate::testing::{DecisionInputs, values};
use crate::{Fill, FlowId, Head, HostId, Occupant, PktId, QueueId, View};

mod clock;
mod parameters;
mod samples;
mod shares;

const PORT: PortId = PortId(2);

/// Memory of a port as a test sets it: frames with owner and size, and the state of each output.
/// The state of an output is the used bytes and the limit of its buffer, and the total backlog in bytes.
#[derive(Default)]
struct Memory {
    unit: u64,
    frames: Vec<(Occupant, u64)>,
    outputs: Vec<(u64, Option<u64>, u64)>,
    come: u64,
    side: Option<MemorySide>,
}

fn occupant_of_flow(n: u32) -> Occupant {
    Occupant::from_head(&Head { flow: FlowId(n), src: HostId(n), ..Head::default() }, PortId(n as u16))
}

impl Memory {
    /// Creates a memory with flows 0, 1 and so on, given the total bytes of each and the size of its frames.
    fn with_flows(unit: u64, flows: &[(u64, u64)]) -> Memory {
        let frames = (0..)
            .zip(flows)
            .flat_map(|(n, (bytes, size))| (0..bytes / size).map(move |_| (occupant_of_flow(n), *size)));
        Memory { unit, frames: frames.collect(), ..Memory::default() }
    }
    fn unit_owners(&self) -> impl Iterator<Item = Occupant> {
        self.frames.iter().flat_map(|(whose, bytes)| (0..bytes.div_ceil(self.unit)).map(|_| *whose))
    }
}

impl View for Memory {
    fn bytes_in_memory(&self, side: MemorySide, port: PortId, class: u8) -> u64 {
        assert!(port == PORT && class == 3 && self.side.is_none_or(|own| own == side));
        self.frames.iter().map(|(_, bytes)| bytes).sum()
    }
    fn total_bytes_stored_from_input(&self, port: PortId, class: u8) -> u64 {
        assert_eq!((port, class), (PORT, 3));
        self.come
    }
    fn occupied_units(&self, port: PortId) -> u32 {
        assert_eq!(port, PORT);
        self.unit_owners().count() as u32
    }
    fn occupant(&self, port: PortId, unit: u32) -> Option<Occupant> {
        assert_eq!(port, PORT);
        self.unit_owners().nth(unit as usize)
    }
    fn output_fill(&self, port: PortId) -> Fill {
        let (used, limit, _) = self.outputs[usize::from(port.0)];
        Fill { used, limit }
    }
    fn port_backlog(&self, port: PortId) -> (u32, u64) {
        (1, self.outputs[usize::from(port.0)].2)
    }
    fn ports(&self) -> u16 {
        4
    }
    fn fits(&self, _: PortId, _: QueueId, _: u16) -> bool {
        unreachable!()
    }
    fn fits_with_extra_memory(&self, _: PortId, _: QueueId, _: u16, _: ExtraMemory) -> bool {
        unreachable!()
    }
    fn fill(&self, _: PortId, _: QueueId) -> Fill {
        unreachable!()
    }
    fn backlog(&self, _: PortId, _: QueueId) -> (u32, u64) {
        unreachable!()
    }
    fn is_switch(&self, _: PortId) -> bool {
        unreachable!()
    }
    fn port_toward(&self, _: HostId, _: u32) -> Option<PortId> {
        unreachable!()
    }
    fn first_packet(&self, _: PortId, _: QueueId) -> Option<(PktId, u64)> {
        unreachable!()
    }
    fn visit_packets(&self, _: PortId, _: QueueId, _: &mut dyn FnMut(PktId, &Head)) {
        unreachable!()
    }
}

/// Fields of a sent congestion message: flow, feedback, q_off and q_delta.
type SentNotice = (u32, u8, i64, i64);

/// Test bench: QCN's congestion point for class 3, with the memory that it samples.
struct Bench {
    qcn: Qcn,
    memory: Memory,
    desk: DecisionInputs,
    now: Time,
    /// Instant at which the sampling timer expires, if it runs.
    clock: Option<Time>,
}

impl Bench {
    fn new(given: &str, desk: DecisionInputs) -> Bench {
        let qcn = Qcn::new(&values(&SPEC, &format!("class=3 {given}")));
        Bench { qcn, memory: Memory { unit: 1, ..Memory::default() }, desk, now: Time::ZERO, clock: None }
    }
    /// Creates a test bench without jitter and random draws.
    fn without_jitter(given: &str) -> Bench {
        Bench::new(&format!("jitter=0 {given}"), DecisionInputs::with_draws(&[]))
    }
    fn account(&self) -> Account {
        match self.qcn.given.at {
            SampledSide::Inputs => Account::Entered(PORT, 3),
            SampledSide::Outputs => Account::Arrived(PORT, 3),
        }
    }
    /// Adds an arrival of `bytes` of a flow, and returns the congestion message that follows, if any.
    /// The frame is already in the memory. The agent is called only if its levels require it.
    fn add_arrival(&mut self, flow: u32, bytes: u64) -> Option<SentNotice> {
        self.memory.come += bytes;
        let (of, come) = (self.account(), self.memory.come);
        if Account::is_outside(come, self.qcn.range_without_call(of)) {
            let mut frame = Head::default();
            frame.set_class(3);
            (frame.flow, frame.src) = (FlowId(flow), HostId(flow));
            let at = AgentContext { view: &self.memory, port: PORT, stored: Some(&frame) };
            self.qcn.on_level(of, come, &at, &mut self.desk.env_at(self.now));
        }
        self.last_notice()
    }
    /// Sets the memory to `q` bytes of flow 0, adds an arrival of `bytes`, and returns the congestion message, if any.
    fn set_queue(&mut self, q: u64, bytes: u64) -> Option<SentNotice> {
        self.memory.frames = vec![(occupant_of_flow(0), q)];
        self.add_arrival(0, bytes)
    }
    fn last_notice(&mut self) -> Option<SentNotice> {
        let acts = std::mem::take(&mut self.desk.acts.list);
        let mut told = None;
        for act in acts {
            match act {
                Act::Emit { notice: Notice::Cnm { feedback, q_off, q_delta, point }, flow, to } => {
                    assert!(told.is_none(), "one message a sample");
                    assert_eq!((point, to.0), (PORT, flow.0), "to the source of the flow");
                    told = Some((flow.0, feedback, q_off, q_delta));
                }
                Act::Arm(at, id) => {
                    assert_eq!(id, SAMPLE_TIMER);
                    self.clock = (at != Time::NEVER).then_some(at);
                }
                other => panic!("{other:?}"),
            }
        }
        told
    }
    /// Returns the number of bytes that must arrive until the next sample.
    fn bytes_until_sample(&self) -> u64 {
        let (low, high) = self.qcn.range_without_call(self.account());
        assert_eq!(low, 0);
        high + 1 - self.memory.come
    }
}
