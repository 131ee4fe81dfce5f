//! What a mechanism may know of the switch it sits in: read-only views.

use crate::buffer::ExtraRoom;
use crate::{Fill, FlowId, Head, HostId, Lane, PktId, PortId, QueueId, Side};

/// Whose frame lies in a unit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// Its flow.
    pub flow: FlowId,
    /// The source of that.
    pub src: HostId,
    /// The port that it came in by.
    pub ingress: PortId,
    /// The port that it is to leave by.
    pub out: PortId,
    /// Its flow hash.
    pub hash: u32,
    /// Its class.
    pub class: u8,
}

impl Occupant {
    /// Of a frame that is to leave by `out`.
    pub fn from_head(head: &Head, out: PortId) -> Occupant {
        let (ingress, hash, class) = (head.ingress, head.hash, head.class());
        Occupant { flow: head.flow, src: head.src, ingress, out, hash, class }
    }
}

/// What the dataplane answers to mechanisms.
pub trait View {
    /// Number of ports.
    fn ports(&self) -> u16;
    /// Whether a frame of `size` bytes would be accepted by a queue now.
    fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool;
    /// Whether a frame of `size` bytes would be accepted by a queue now, and what waits for its port would then be within
    /// the limit there. These differ where arrivals wait at inputs: a frame for which its input has memory is accepted
    /// however much waits for its output, there and at inputs.
    fn has_place(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.fits(port, queue, size)
    }
    /// Whether arrivals wait at inputs until they cross to their output.
    fn has_inputs(&self) -> bool {
        false
    }
    /// Whether a frame of `size` bytes would be accepted by a queue for such room beyond its limit.
    fn fits_beyond(&self, port: PortId, queue: QueueId, size: u16, extra: ExtraRoom) -> bool;
    /// How full a queue is.
    fn fill(&self, port: PortId, queue: QueueId) -> Fill;
    /// Frames and bytes that wait in a queue.
    fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64);
    /// Whether the far end of a port is a switch.
    fn is_switch(&self, port: PortId) -> bool;
    /// The port that this switch's own tables give toward a host, by the packet's own hash.
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId>;
    /// The first packet of a queue, and a stamp that grows with every arrival at the port.
    fn first(&self, port: PortId, queue: QueueId) -> Option<(PktId, u64)>;
    /// The first packet of a queue, and its bytes.
    fn first_size(&self, port: PortId, queue: QueueId) -> Option<(PktId, u16)> {
        let mut found = None;
        self.visit(port, queue, &mut |pkt, head| {
            found.get_or_insert((pkt, head.size));
        });
        found
    }
    /// The packets that wait in a queue, first to last.
    fn visit(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head));
    /// The packets that wait in a queue, last to first, until `each` returns true.
    fn visit_from_last(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head) -> bool) {
        let mut all = Vec::new();
        self.visit(port, queue, &mut |pkt, head| all.push((pkt, *head)));
        all.iter().rev().find(|(pkt, head)| each(*pkt, head));
    }
    /// Returns the packet with the largest rank in a queue, the newest of equal ones, and its rank. Long queues are
    /// searched in logarithmic time if the mechanism declares [`crate::Needs::finds_least_urgent`].
    fn least_urgent(&self, port: PortId, queue: QueueId) -> Option<(PktId, u32)> {
        search_least_urgent(self, port, queue)
    }
    /// Returns the oldest packet of the flow and direction with the smallest rank in a queue, the oldest of equal ones.
    /// Long queues are searched in logarithmic time if the mechanism declares [`crate::Needs::finds_most_urgent`].
    fn most_urgent(&self, port: PortId, queue: QueueId) -> Option<PktId> {
        search_most_urgent(self, port, queue)
    }
    /// Frames and bytes that wait in all queues of a port but those of messages about congestion.
    fn port_backlog(&self, port: PortId) -> (u32, u64) {
        let sum = |(packets, bytes): (u32, u64), (p, b): (u32, u64)| (packets + p, bytes + b);
        let queues = QueueId::each(u32::MAX).filter(|queue| Lane::PAUSED.contains(&queue.lane()));
        queues.map(|queue| self.backlog(port, queue)).fold((0, 0), sum)
    }
    /// Bytes allocated in the whole switch to frames of a class that came in by a port (802.1Qbb), kept
    /// copies included; a switch whose `pause` slot is filled keeps count of them.
    fn allocated(&self, ingress: PortId, class: u8) -> u64 {
        let mut bytes = 0;
        let mut add = |_, head: &Head| bytes += u64::from(head.size) * u64::from(head.ingress == ingress);
        for port in (0..self.ports()).map(PortId) {
            Lane::PAUSED.iter().for_each(|lane| self.visit(port, QueueId::new(class, *lane), &mut add));
        }
        bytes
    }
    /// Bytes that are free in the memory that all ports share; `None` where none is shared.
    fn pool_free(&self) -> Option<u64> {
        None
    }
    /// Bytes of a class that were ever stored at a port, where an agent follows them.
    fn arrived(&self, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// Bytes of a class that came in by a port and were stored since the run began, where an agent follows them.
    fn entered(&self, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// Bytes of a class in a memory of a port, messages about congestion not counted; of inputs, where an agent
    /// follows them.
    fn in_memory(&self, _side: Side, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// How many units of the memory that an agent samples at this port are occupied ([`crate::Needs::samples`]).
    fn occupied_units(&self, _port: PortId) -> u32 {
        0
    }
    /// Whose frame lies in one of these, counted from 0 in no order that means anything; one step.
    fn occupant(&self, _port: PortId, _unit: u32) -> Option<Occupant> {
        None
    }
    /// How full the buffer in front of the link of a port is, in the unit of its limit, what waits at inputs for it and
    /// messages about congestion not counted.
    fn output_fill(&self, _port: PortId) -> Fill {
        Fill { used: 0, limit: None }
    }
    /// How full the buffers in front of the links are that a frame takes from its input on, first to last: of internal links of
    /// a `fabric` switch, and of its output. Those of internal links count the frame's class alone.
    fn fills_on_way(&self, frame: &Occupant, each: &mut dyn FnMut(Fill)) {
        each(self.output_fill(frame.out));
    }
}

/// Searches a queue for the packet of [`View::least_urgent`].
pub fn search_least_urgent<V: View + ?Sized>(view: &V, port: PortId, queue: QueueId) -> Option<(PktId, u32)> {
    let mut worst: Option<(PktId, u32)> = None;
    view.visit(port, queue, &mut |id, other| {
        if worst.is_none_or(|(_, rank)| other.rank >= rank) {
            worst = Some((id, other.rank));
        }
    });
    worst
}

/// Searches a queue for the packet of [`View::most_urgent`].
pub fn search_most_urgent<V: View + ?Sized>(view: &V, port: PortId, queue: QueueId) -> Option<PktId> {
    let mut least: Option<(u32, FlowId, HostId)> = None;
    view.visit(port, queue, &mut |_, pkt| {
        if least.is_none_or(|(rank, ..)| pkt.rank < rank) {
            least = Some((pkt.rank, pkt.flow, pkt.src));
        }
    });
    let (_, flow, src) = least?;
    let mut oldest = None;
    view.visit(port, queue, &mut |id, pkt| {
        if oldest.is_none() && (pkt.flow, pkt.src) == (flow, src) {
            oldest = Some(id);
        }
    });
    oldest
}

/// Where an arrival stands: the switch, the port it came in by and the one it would leave by.
#[derive(Clone, Copy)]
pub struct ForwardingContext<'a> {
    /// The switch.
    pub view: &'a dyn View,
    /// The port the packet came in by.
    pub ingress: PortId,
    /// The port that lookup chose.
    pub out: PortId,
}

/// One queue, as marking and watching mechanisms see it.
#[derive(Clone, Copy)]
pub struct QueueView<'a> {
    /// The switch.
    pub view: &'a dyn View,
    /// The port of the queue.
    pub port: PortId,
    /// The queue.
    pub queue: QueueId,
    /// Frames that wait; where simultaneous arrivals do not see one another, when the first of them was stored.
    pub packets: u32,
    /// Bytes that wait, likewise.
    pub bytes: u64,
}

/// One port, as a scheduler sees it.
#[derive(Clone, Copy)]
pub struct PortView<'a> {
    /// The switch.
    pub view: &'a dyn View,
    /// The port.
    pub port: PortId,
    /// Bit `q` is set where queue `q` holds a packet and its class is not paused.
    pub eligible: u32,
}

impl ForwardingContext<'_> {
    /// Whether a frame of `size` bytes would be accepted by a queue now.
    pub fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.view.fits(port, queue, size)
    }
    /// The same, with what waits for the port within the limit there ([`View::has_place`]).
    pub fn has_place(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.view.has_place(port, queue, size)
    }
    /// How full a queue is.
    pub fn fill(&self, port: PortId, queue: QueueId) -> Fill {
        self.view.fill(port, queue)
    }
    /// The port that this switch's tables give toward the packet's source.
    pub fn port_toward_source(&self, pkt: &Head) -> Option<PortId> {
        self.view.port_toward(pkt.src, pkt.hash)
    }
}

impl<'a> QueueView<'a> {
    /// The view of one queue of a switch.
    pub fn new(view: &'a dyn View, port: PortId, queue: QueueId) -> QueueView<'a> {
        let (packets, bytes) = view.backlog(port, queue);
        QueueView { view, port, queue, packets, bytes }
    }
    /// How full the queue is.
    pub fn fill(&self) -> Fill {
        self.view.fill(self.port, self.queue)
    }
}
