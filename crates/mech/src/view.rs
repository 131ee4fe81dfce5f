//! Read-only views of a switch for mechanisms.

use crate::buffer::ExtraMemory;
use crate::{Fill, FlowId, Head, HostId, Lane, MemorySide, PktId, PortId, QueueId};

/// Frame that occupies a unit of memory: its flow, source host, ports, hash and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// Flow of the frame.
    pub flow: FlowId,
    /// Source host of the flow.
    pub src: HostId,
    /// Input port of the frame.
    pub ingress: PortId,
    /// Output port of the frame.
    pub output: PortId,
    /// Flow hash of the frame.
    pub hash: u32,
    /// Priority class of the frame.
    pub class: u8,
}

impl Occupant {
    /// Creates the occupant from the head of a frame that leaves by `output`.
    pub fn from_head(head: &Head, output: PortId) -> Occupant {
        let (ingress, hash, class) = (head.ingress, head.hash, head.class());
        Occupant { flow: head.flow, src: head.src, ingress, output, hash, class }
    }
}

/// Read-only access of mechanisms to the dataplane.
///
/// The dataplane implements it. A test of a mechanism may use a view of its own:
///
/// ```
/// use mech::buffer::ExtraMemory;
/// use mech::{Fill, Head, HostId, Lane, PktId, PortId, QueueId, View};
///
/// /// Switch with one port, whose normal queue of class 0 has a capacity of four packets.
/// struct OnePort(Vec<Head>);
///
/// impl View for OnePort {
///     fn ports(&self) -> u16 { 1 }
///     fn fits(&self, _: PortId, _: QueueId, _size: u16) -> bool { self.0.len() < 4 }
///     fn fits_with_extra_memory(&self, _: PortId, _: QueueId, _size: u16, _: ExtraMemory) -> bool { self.0.len() < 4 }
///     fn fill(&self, _: PortId, _: QueueId) -> Fill { Fill { used: self.0.len() as u64, limit: Some(4) } }
///     fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64) {
///         let mut sum = (0, 0);
///         self.visit_packets(port, queue, &mut |_, pkt| sum = (sum.0 + 1, sum.1 + u64::from(pkt.size)));
///         sum
///     }
///     fn is_switch(&self, _: PortId) -> bool { false }
///     fn port_toward(&self, _: HostId, _hash: u32) -> Option<PortId> { Some(PortId(0)) }
///     fn first_packet(&self, _: PortId, _: QueueId) -> Option<(PktId, u64)> { self.0.first().map(|_| (PktId(0), 0)) }
///     fn visit_packets(&self, _: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head)) {
///         let queued = self.0.iter().filter(|_| queue == QueueId::new(0, Lane::Normal));
///         (0..).zip(queued).for_each(|(id, pkt)| each(PktId(id), pkt));
///     }
/// }
///
/// let switch = OnePort([7, 3, 5].map(|rank| Head { rank, size: 1000, ..Head::default() }).to_vec());
/// assert_eq!(switch.port_backlog(PortId(0)), (3, 3000));
/// assert_eq!(switch.least_urgent(PortId(0), QueueId(0)), Some((PktId(0), 7)));
/// ```
pub trait View {
    /// Returns the number of ports.
    fn ports(&self) -> u16;
    /// Returns true if a queue accepts a frame of `size` bytes now.
    fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool;
    /// Returns true if a queue accepts a frame of `size` bytes now and its port then is within its limit.
    ///
    /// The result differs from [`View::fits`] only in a switch with input memory. There a frame is accepted if its
    /// input has memory, however long the backlog of its output is.
    fn fits_port_limit(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.fits(port, queue, size)
    }
    /// Returns true if the switch has input memory, where arrivals wait until they cross to their output.
    fn has_inputs(&self) -> bool {
        false
    }
    /// Returns true if a queue accepts a frame of `size` bytes into extra space beyond its limit.
    fn fits_with_extra_memory(&self, port: PortId, queue: QueueId, size: u16, extra: ExtraMemory) -> bool;
    /// Returns the used capacity and the limit of a queue.
    fn fill(&self, port: PortId, queue: QueueId) -> Fill;
    /// Returns the queue in which packets meant for `queue` wait. It differs if the switch lacks a lane, or if its
    /// memory maps classes to other queues.
    fn waiting_queue(&self, queue: QueueId) -> QueueId {
        queue
    }
    /// Returns the used capacity and the limit of a queue in which packets wait.
    fn waiting_fill(&self, port: PortId, queue: QueueId) -> Fill {
        self.fill(port, queue)
    }
    /// Returns the backlog of a queue in frames and bytes.
    fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64);
    /// Returns true if the far end of a port is a switch.
    fn is_switch(&self, port: PortId) -> bool;
    /// Returns the port toward a host by this switch's own tables, for a packet with this flow hash.
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId>;
    /// Returns the first packet of a queue and its stamp, which grows with every arrival at the port.
    fn first_packet(&self, port: PortId, queue: QueueId) -> Option<(PktId, u64)>;
    /// Returns the first packet of a queue and its size in bytes.
    fn first_packet_size(&self, port: PortId, queue: QueueId) -> Option<(PktId, u16)> {
        let mut found = None;
        self.visit_packets(port, queue, &mut |pkt, head| {
            found.get_or_insert((pkt, head.size));
        });
        found
    }
    /// Visits the packets of a queue, first to last.
    fn visit_packets(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head));
    /// Visits the packets of a queue, last to first, until `each` returns true.
    fn visit_packets_from_last(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head) -> bool) {
        let mut all = Vec::new();
        self.visit_packets(port, queue, &mut |pkt, head| all.push((pkt, *head)));
        all.iter().rev().find(|(pkt, head)| each(*pkt, head));
    }
    /// Returns the packet with the largest rank in a queue, the newest of equal ones, and its rank.
    ///
    /// Long queues are searched in logarithmic time if the mechanism declares [`crate::Needs::finds_least_urgent`].
    fn least_urgent(&self, port: PortId, queue: QueueId) -> Option<(PktId, u32)> {
        search_least_urgent(self, port, queue)
    }
    /// Returns the oldest packet of the flow and direction that has the smallest rank in a queue. Of equal ranks, the
    /// flow of the oldest packet is chosen.
    ///
    /// Long queues are searched in logarithmic time if the mechanism declares [`crate::Needs::finds_most_urgent`].
    fn most_urgent(&self, port: PortId, queue: QueueId) -> Option<PktId> {
        search_most_urgent(self, port, queue)
    }
    /// Returns the backlog of a port in frames and bytes, without congestion messages.
    fn port_backlog(&self, port: PortId) -> (u32, u64) {
        let sum = |(packets, bytes): (u32, u64), (p, b): (u32, u64)| (packets + p, bytes + b);
        let queues = QueueId::iter_set(u32::MAX).filter(|queue| Lane::PAUSED.contains(&queue.lane()));
        queues.map(|queue| self.backlog(port, queue)).fold((0, 0), sum)
    }
    /// Returns the bytes of a class in the whole switch that came in by a port (802.1Qbb).
    /// They are counted only if an agent, such as a `pause` mechanism, follows [`crate::Account::Input`].
    fn allocated_bytes(&self, ingress: PortId, class: u8) -> u64 {
        let mut bytes = 0;
        let mut add = |_, head: &Head| bytes += u64::from(head.size) * u64::from(head.ingress == ingress);
        for port in (0..self.ports()).map(PortId) {
            Lane::PAUSED.iter().for_each(|lane| self.visit_packets(port, QueueId::new(class, *lane), &mut add));
        }
        bytes
    }
    /// Returns the free bytes of the memory shared by all ports; `None` if no memory is shared.
    fn free_pool_bytes(&self) -> Option<u64> {
        None
    }
    /// Returns the bytes of a class stored in the buffer of a port since the run began, if an agent follows them.
    fn total_bytes_stored_at_output(&self, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// Returns the bytes of a class that came in by a port and were stored since the run began, if an agent follows
    /// them.
    fn total_bytes_stored_from_input(&self, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// Returns the bytes of a class in a port's input or output memory, without congestion messages.
    /// Those of inputs are counted only if an agent follows them.
    fn bytes_in_memory(&self, _side: MemorySide, _port: PortId, _class: u8) -> u64 {
        0
    }
    /// Returns the number of occupied units in the memory of a port that an agent samples ([`crate::Needs::samples`]).
    fn occupied_units(&self, _port: PortId) -> u32 {
        0
    }
    /// Returns the frame in one occupied unit of sampled memory; units count from 0 in arbitrary order.
    /// The call takes constant time.
    fn occupant(&self, _port: PortId, _unit: u32) -> Option<Occupant> {
        None
    }
    /// Returns used capacity and limit of the output buffer of a port.
    /// Frames that wait at inputs for the port and congestion messages do not count.
    fn output_fill(&self, _port: PortId) -> Fill {
        Fill { used: 0, limit: None }
    }
    /// Visits used capacity and limit of all buffers on a frame's path from its input, first to last.
    /// They are the buffers of internal links of a `fabric` switch, which count only the frame's class, and the output
    /// buffer.
    fn visit_path_fills(&self, frame: &Occupant, each: &mut dyn FnMut(Fill)) {
        each(self.output_fill(frame.output));
    }
}

/// Finds the packet of [`View::least_urgent`] by a linear search.
pub fn search_least_urgent<V: View + ?Sized>(view: &V, port: PortId, queue: QueueId) -> Option<(PktId, u32)> {
    let mut worst: Option<(PktId, u32)> = None;
    view.visit_packets(port, queue, &mut |id, other| {
        if worst.is_none_or(|(_, rank)| other.rank >= rank) {
            worst = Some((id, other.rank));
        }
    });
    worst
}

/// Finds the packet of [`View::most_urgent`] by two linear searches.
pub fn search_most_urgent<V: View + ?Sized>(view: &V, port: PortId, queue: QueueId) -> Option<PktId> {
    let mut least: Option<(u32, FlowId, HostId)> = None;
    view.visit_packets(port, queue, &mut |_, pkt| {
        if least.is_none_or(|(rank, ..)| pkt.rank < rank) {
            least = Some((pkt.rank, pkt.flow, pkt.src));
        }
    });
    let (_, flow, src) = least?;
    let mut oldest = None;
    view.visit_packets(port, queue, &mut |id, pkt| {
        if oldest.is_none() && (pkt.flow, pkt.src) == (flow, src) {
            oldest = Some(id);
        }
    });
    oldest
}

/// Context of a decision about an arrival: the switch, the input port and the output port.
#[derive(Clone, Copy)]
pub struct ForwardingContext<'a> {
    /// Read-only view of the switch.
    pub view: &'a dyn View,
    /// Input port of the packet.
    pub ingress: PortId,
    /// Output port that lookup chose.
    pub output: PortId,
}

/// Queue as seen by marking mechanisms.
#[derive(Clone, Copy)]
pub struct QueueView<'a> {
    /// Read-only view of the switch.
    pub view: &'a dyn View,
    /// Port of the queue.
    pub port: PortId,
    /// Identifier of the queue.
    pub queue: QueueId,
    /// Number of queued frames; for a snapshot, their number when the first simultaneous arrival was stored.
    pub packets: u32,
    /// Number of queued bytes, counted at the same instant as `packets`.
    pub bytes: u64,
}

/// Port as seen by a scheduler.
#[derive(Clone, Copy)]
pub struct PortView<'a> {
    /// Read-only view of the switch.
    pub view: &'a dyn View,
    /// Identifier of the port.
    pub port: PortId,
    /// Set of queues: bit `q` is set if queue `q` holds a packet and its class may send now. A class may not send while
    /// it is paused or at its maximum rate.
    pub eligible: u32,
}

impl ForwardingContext<'_> {
    /// Returns true if a queue accepts a frame of `size` bytes now.
    pub fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.view.fits(port, queue, size)
    }
    /// Returns true if a queue accepts a frame of `size` bytes now and its port is within its limit
    /// ([`View::fits_port_limit`]).
    pub fn fits_port_limit(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.view.fits_port_limit(port, queue, size)
    }
    /// Returns the used capacity and the limit of a queue.
    pub fn fill(&self, port: PortId, queue: QueueId) -> Fill {
        self.view.fill(port, queue)
    }
    /// Returns the port toward the source of a packet by this switch's own tables.
    pub fn port_toward_source(&self, pkt: &Head) -> Option<PortId> {
        self.view.port_toward(pkt.src, pkt.hash)
    }
}

impl<'a> QueueView<'a> {
    /// Creates the view of one queue of a switch.
    pub fn new(view: &'a dyn View, port: PortId, queue: QueueId) -> QueueView<'a> {
        let (packets, bytes) = view.backlog(port, queue);
        QueueView { view, port, queue, packets, bytes }
    }
    /// Returns the used capacity and the limit of the queue.
    pub fn fill(&self) -> Fill {
        self.view.waiting_fill(self.port, self.queue)
    }
}
