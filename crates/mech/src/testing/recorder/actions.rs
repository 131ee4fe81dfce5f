//! Departures from the recording dataplane of tests, and actions that mechanisms request.

use super::{AgentIndex, QueuedWork, Recorder, format_classes};
use crate::testing::state::BufferModel;
use crate::{
    Act, Acts, ClassSet, Env, Flags, FlowId, Head, HostId, Notice, PacketKind, PktId, PortId, PortView, QueueId,
    TimerId,
};
use units::Time;

impl Recorder {
    /// Starts the transmission of the packet that the port's scheduler chooses.
    pub fn start_transmission(&mut self, port: PortId) {
        let slots = &mut self.slots[usize::from(port.0)];
        let holds = |q: &u8| self.state.queues.get(&(port, QueueId(*q))).is_some_and(|ids| !ids.is_empty());
        let may = |q: &u8| !slots.paused.has(QueueId(*q).class());
        let eligible = (0..QueueId::COUNT).filter(holds).filter(may).fold(0, |bits: u32, q| bits | 1 << q);
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let next = slots.scheduler.get().next_packet(&PortView { view: &self.state, port, eligible }, &mut env);
        let Some((queue, id)) = next else { return self.add_line(format!("{}: nothing to send", port.0)) };
        let pkt = self.state.remove_from_queue(id).expect("a packet that waits");
        assert_eq!((pkt.port, pkt.queue), (port, queue), "a scheduler chose a packet of another queue");
        self.add_line(format!("{}: start {}", port.0, pkt.name));
        if self.state.memory == BufferModel::Output {
            self.state.free_memory(id);
        }
        self.call_agents_on_change((port, &pkt.head), false);
        if self.state.queues[&(port, queue)].is_empty() {
            let mut acts = Acts::default();
            let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
            if let Some(marking) = self.slots[usize::from(port.0)].marking[usize::from(queue.class())].get_if_active() {
                marking.on_queue_empty(&mut env);
            }
        }
        self.perform_queued();
    }
    /// Frees the input memory of a frame that has left for the fabric, if the memory is freed then.
    pub fn free_memory_of_left_frame(&mut self, name: &str) {
        if self.state.memory == BufferModel::Input {
            self.free_memory(name);
        }
    }
    /// Frees the input memory of a frame that the far end of the fabric has acknowledged.
    pub fn free_memory_of_acknowledged_frame(&mut self, name: &str) {
        assert_eq!(self.state.memory, BufferModel::InputUntilAck);
        self.free_memory(name);
    }
    fn free_memory(&mut self, name: &str) {
        let id: PktId = self.state.packet_named(name);
        let pkt = self.state.stored[&id].clone();
        self.state.free_memory(id);
        self.call_agents_on_change((pkt.port, &pkt.head), false);
        self.perform_queued();
    }
    /// Handles a pause frame from the device behind a port, which pauses or resumes these classes.
    pub fn on_pause_frame(&mut self, port: PortId, xoff: bool, set: ClassSet) {
        let paused = &mut self.slots[usize::from(port.0)].paused;
        *paused = if xoff { paused.union(set) } else { paused.minus(set) };
    }

    /// Performs requested actions, first in, first out, until none is left.
    pub(super) fn perform_queued(&mut self) {
        while let Some(work) = self.work.pop_front() {
            match work {
                QueuedWork::Packet(name, head) => self.forward((name, head)),
                QueuedWork::Act(port, which, act) => self.perform_action(port, which, act),
            }
        }
    }
    fn perform_action(&mut self, port: PortId, which: AgentIndex, act: Act) {
        match act {
            Act::ReleaseHeld { port, max, set_ece, window } => self.release_held(port, max, (set_ece, window)),
            Act::Emit { notice, flow, to } => self.emit_notice(port, notice, (flow, to)),
            Act::Pause(at, set, _) => {
                self.add_line(format!("{}: pause {}", at.0, format_classes(set)));
                self.report_pause_frame_to_agents(at, set, ClassSet::NONE);
            }
            Act::Resume(at, set) => {
                self.add_line(format!("{}: resume {}", at.0, format_classes(set)));
                self.report_pause_frame_to_agents(at, ClassSet::NONE, set);
            }
            Act::Turn { .. } => {}
            Act::Forget(id) => self.state.free_memory(id),
            Act::Arm(at, TimerId(id)) => {
                self.timers.remove(&(port, which, id));
                if at != Time::NEVER {
                    self.timers.insert((port, which, id), at);
                }
            }
        }
    }
    fn report_pause_frame_to_agents(&mut self, port: PortId, xoff: ClassSet, xon: ClassSet) {
        for which in 0..3 {
            self.call_agent(port, which, None, |agent, _, env| agent.on_pause_sent(xoff, xon, env));
        }
    }
    fn release_held(&mut self, port: PortId, max: u32, (set_ece, window): (bool, Option<u16>)) {
        for _ in 0..max {
            let Some((name, mut head)) = self.slots[usize::from(port.0)].held.pop_front() else { return };
            if set_ece {
                head.flags = head.flags.with(Flags::ECE);
            }
            let bound = window.map_or_else(String::new, |most| format!(" win {most}"));
            self.add_line(format!("{name}: release{}{bound}", if set_ece { " ece" } else { "" }));
            self.work.push_back(QueuedWork::Packet(name, head));
        }
    }
    fn emit_notice(&mut self, port: PortId, notice: Notice, (flow, host): (FlowId, HostId)) {
        let Notice::Cnm { feedback, q_off, q_delta, .. } = notice else { panic!("{notice:?} from a switch") };
        let say = format!("cnm: to host {} flow {} fb {feedback} off {q_off} delta {q_delta}", host.0, flow.0);
        self.add_line(say);
        let mut head = Head { dst: host, flow, ingress: port, size: 64, orig_size: 64, ttl: 64, ..Head::default() };
        head.flags = Flags::from_kind(PacketKind::Notice);
        head.set_class(7);
        self.work.push_back(QueuedWork::Packet("cnm".to_owned(), head));
    }
}
