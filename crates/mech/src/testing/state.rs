//! State of the recording dataplane of tests: packets in queues, memory, tables.

use crate::buffer::{Buffer, BufferSlot, ExtraMemory, MemoryUse, PerPort};
use crate::routing::{Hop, RoutingSlot};
use crate::{Fill, Head, HostId, Lane, MemorySampling, MemorySide, Occupant, PacketKind, PktId, PortId, QueueId, View};
use std::collections::{BTreeMap, VecDeque};
use units::Time;

/// Port whose limit a packet's memory counts against, and the instant at which the memory is freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferModel {
    /// Output port; the memory is freed at the start of transmission.
    #[default]
    Output,
    /// Input port; the memory is freed when the frame has left for the fabric.
    Input,
    /// Input port; the memory is freed when the end-to-end acknowledgement arrives.
    InputUntilAck,
}

/// Packet that is queued, or of which a copy is kept.
#[derive(Clone, Debug)]
pub struct StoredPacket {
    pub name: String,
    pub head: Head,
    pub port: PortId,
    pub queue: QueueId,
    pub stamp: u64,
}

/// State of a switch for tests: ports, queues, memory and tables.
pub struct SwitchState {
    pub ports: u16,
    pub switch_ports: Vec<u16>,
    pub fib: BTreeMap<u32, Vec<Hop>>,
    pub routing: RoutingSlot,
    pub buffer: BufferSlot,
    pub bounce: Option<PerPort>,
    pub memory: BufferModel,
    /// Input port of the packet under decision.
    pub ingress: PortId,
    pub stored: BTreeMap<PktId, StoredPacket>,
    pub queues: BTreeMap<(PortId, QueueId), VecDeque<PktId>>,
    /// Packets that occupy memory, first stored first.
    pub allocated: Vec<PktId>,
    /// Headers whose cut is not done yet, each with the time when it is; they have memory and are in no queue.
    pub cutting: VecDeque<(Time, PktId)>,
    /// Bytes stored in output buffers since the start, by port and class.
    pub arrived: BTreeMap<(PortId, u8), u64>,
    /// Bytes that came in by a port and were stored since the start, by port and class.
    pub entered: BTreeMap<(PortId, u8), u64>,
    /// Memory of each port that an agent samples, if any.
    pub samples: Option<MemorySampling>,
    next: u64,
}

impl SwitchState {
    pub fn new(ports: u16, routing: RoutingSlot, buffer: BufferSlot) -> SwitchState {
        SwitchState {
            ports,
            switch_ports: Vec::new(),
            fib: BTreeMap::new(),
            routing,
            buffer: buffer.for_ports(ports),
            bounce: None,
            memory: BufferModel::Output,
            ingress: PortId(0),
            stored: BTreeMap::new(),
            queues: BTreeMap::new(),
            allocated: Vec::new(),
            cutting: VecDeque::new(),
            arrived: BTreeMap::new(),
            entered: BTreeMap::new(),
            samples: None,
            next: 0,
        }
    }
    /// Returns the port whose memory holds a packet, and the number of its bounce queue if it is in one.
    fn memory_holding(&self, pkt: &StoredPacket) -> (PortId, Option<u8>) {
        match self.memory {
            BufferModel::Output => (pkt.port, (pkt.queue.lane() == Lane::Bounce).then_some(pkt.queue.0)),
            _ => (pkt.head.ingress, None),
        }
    }
    fn queue_account(&self, port: PortId, queue: QueueId) -> (PortId, Option<u8>) {
        match self.memory {
            BufferModel::Output => (port, (queue.lane() == Lane::Bounce).then_some(queue.0)),
            _ => (self.ingress, None),
        }
    }
    fn allocated_packets(&self) -> impl Iterator<Item = &StoredPacket> {
        self.allocated.iter().filter_map(|id| self.stored.get(id))
    }
    fn memory_use(&self, account: (PortId, Option<u8>)) -> MemoryUse {
        let mut now = MemoryUse::default();
        let mut ports = BTreeMap::<PortId, u64>::new();
        for pkt in self.allocated_packets() {
            let size = u64::from(pkt.head.size);
            let own = self.memory_holding(pkt);
            if own == account {
                now.packets += 1;
                now.bytes += size;
            }
            if own.1.is_none() {
                now.pool_bytes += size;
                *ports.entry(own.0).or_default() += size;
            }
        }
        let reserved = self.buffer.peek().reserved_bytes();
        now.pool_shared_bytes = ports.values().map(|bytes| bytes.saturating_sub(reserved)).sum();
        now
    }
    fn account_buffer(&self, account: (PortId, Option<u8>)) -> &dyn Buffer {
        match (&self.bounce, account.1) {
            (Some(bounce), Some(_)) => bounce,
            _ => self.buffer.peek(),
        }
    }
    /// Returns true if a frame is accepted: it fits, or the backlog is within `extra` beyond the limit.
    pub fn accepts(&self, to: (PortId, QueueId), size: u16, extra: Option<ExtraMemory>) -> bool {
        let account = self.queue_account(to.0, to.1);
        let beyond = extra.is_some_and(|extra| self.fits_with_extra_memory(to.0, to.1, size, extra));
        beyond || self.account_buffer(account).admits(&self.memory_use(account), size)
    }
    pub fn push(&mut self, name: String, head: Head, to: (PortId, QueueId)) -> PktId {
        let id = self.allocate(name, head, to);
        self.append_to_queue(id);
        id
    }
    /// Allocates memory to a packet that is not in its queue yet.
    pub fn allocate(&mut self, name: String, head: Head, to: (PortId, QueueId)) -> PktId {
        self.next += 1;
        let id = PktId(self.next as u32);
        self.stored.insert(id, StoredPacket { name, head, port: to.0, queue: to.1, stamp: self.next });
        self.allocated.push(id);
        id
    }
    /// Appends a packet with memory to its queue.
    pub fn append_to_queue(&mut self, id: PktId) {
        let pkt = &self.stored[&id];
        self.queues.entry((pkt.port, pkt.queue)).or_default().push_back(id);
    }
    /// Appends `n` copies of a packet to a queue.
    pub fn fill_up(&mut self, n: u32, head: Head, to: (PortId, QueueId)) {
        for _ in 0..n {
            self.push(String::new(), head, to);
        }
    }
    /// Takes a packet out of its queue; its memory stays allocated.
    pub fn remove_from_queue(&mut self, id: PktId) -> Option<StoredPacket> {
        let pkt = self.stored.get(&id)?.clone();
        let queue = self.queues.get_mut(&(pkt.port, pkt.queue))?;
        let at = queue.iter().position(|other| *other == id)?;
        queue.remove(at);
        Some(pkt)
    }
    /// Frees the memory of a packet.
    pub fn free_memory(&mut self, id: PktId) {
        self.allocated.retain(|other| *other != id);
        self.stored.remove(&id);
    }
    pub fn packet_named(&self, name: &str) -> PktId {
        let found = self.stored.iter().find(|(_, pkt)| pkt.name == name);
        *found.unwrap_or_else(|| panic!("no packet `{name}` in memory")).0
    }
    /// Returns the packets of a class in a port's input or output memory, first stored first.
    /// Frames that have left an input for the fabric are not followed.
    fn packets_in_memory(&self, side: MemorySide, port: PortId, class: u8) -> impl Iterator<Item = &StoredPacket> {
        let counts = move |pkt: &&StoredPacket| match (side, self.memory) {
            (MemorySide::Input, _) => pkt.head.ingress == port,
            (MemorySide::Output, BufferModel::Output) => pkt.port == port,
            (MemorySide::Output, _) => false,
        };
        let of_class = move |pkt: &&StoredPacket| pkt.head.class() == class && pkt.head.kind() != PacketKind::Notice;
        self.allocated_packets().filter(of_class).filter(counts)
    }
    /// Returns the packets that an agent of the port samples, each with its number of memory units.
    fn sampled_packets(&self, port: PortId) -> impl Iterator<Item = (&StoredPacket, u32)> {
        let one = self.samples;
        let lying = one.into_iter().flat_map(move |own| self.packets_in_memory(own.side, port, own.class));
        let units = move |size: u16| one.map_or(0, |own| u64::from(size).div_ceil(own.unit.0)) as u32;
        lying.map(move |pkt| (pkt, units(pkt.head.size)))
    }
    fn queued_packets(&self, port: PortId, queue: QueueId) -> impl Iterator<Item = (PktId, &StoredPacket)> {
        let ids = self.queues.get(&(port, queue)).into_iter().flatten();
        ids.filter_map(|id| self.stored.get(id).map(|pkt| (*id, pkt)))
    }
}

impl View for SwitchState {
    fn ports(&self) -> u16 {
        self.ports
    }
    fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        self.accepts((port, queue), size, None)
    }
    fn fits_with_extra_memory(&self, port: PortId, queue: QueueId, size: u16, extra: ExtraMemory) -> bool {
        let account = self.queue_account(port, queue);
        let apart = extra.separate_class(queue.class()).map_or(0, |class| self.backlog(port, QueueId::normal(class)).1);
        extra.admits(self.account_buffer(account), &self.memory_use(account), apart, size)
    }
    fn fill(&self, port: PortId, queue: QueueId) -> Fill {
        let account = self.queue_account(port, queue);
        self.account_buffer(account).fill(&self.memory_use(account))
    }
    fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64) {
        let sum = |(n, bytes): (u32, u64), (_, pkt): (PktId, &StoredPacket)| (n + 1, bytes + u64::from(pkt.head.size));
        let cut = self.cutting.iter().filter_map(|(_, id)| self.stored.get(id).map(|pkt| (*id, pkt)));
        let comes = cut.filter(|(_, pkt)| (pkt.port, pkt.queue) == (port, queue));
        self.queued_packets(port, queue).chain(comes).fold((0, 0), sum)
    }
    fn is_switch(&self, port: PortId) -> bool {
        self.switch_ports.contains(&port.0)
    }
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId> {
        let hops = self.fib.get(&host.0)?;
        let place = if hops.len() > 1 { self.routing.peek().hop_by_hash(host, hash, hops) } else { 0 };
        hops.get(place).map(|hop| hop.port)
    }
    fn first_packet(&self, port: PortId, queue: QueueId) -> Option<(PktId, u64)> {
        self.queued_packets(port, queue).next().map(|(id, pkt)| (id, pkt.stamp))
    }
    fn visit_packets(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head)) {
        self.queued_packets(port, queue).for_each(|(id, pkt)| each(id, &pkt.head));
    }
    fn allocated_bytes(&self, ingress: PortId, class: u8) -> u64 {
        let of_class = |pkt: &&StoredPacket| pkt.head.ingress == ingress && pkt.head.class() == class;
        SwitchState::allocated_packets(self).filter(of_class).map(|pkt| u64::from(pkt.head.size)).sum()
    }
    fn total_bytes_stored_at_output(&self, port: PortId, class: u8) -> u64 {
        self.arrived.get(&(port, class)).copied().unwrap_or(0)
    }
    fn total_bytes_stored_from_input(&self, port: PortId, class: u8) -> u64 {
        self.entered.get(&(port, class)).copied().unwrap_or(0)
    }
    fn free_pool_bytes(&self) -> Option<u64> {
        let now = self.memory_use((PortId(0), None));
        self.buffer.peek().free_shared_bytes(now.pool_shared_bytes)
    }
    fn bytes_in_memory(&self, side: MemorySide, port: PortId, class: u8) -> u64 {
        self.packets_in_memory(side, port, class).map(|pkt| u64::from(pkt.head.size)).sum()
    }
    fn occupied_units(&self, port: PortId) -> u32 {
        self.sampled_packets(port).map(|(_, units)| units).sum()
    }
    fn occupant(&self, port: PortId, unit: u32) -> Option<Occupant> {
        let mut left = unit;
        let found = self.sampled_packets(port).find(|(_, units)| match left.checked_sub(*units) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        found.map(|(pkt, _)| Occupant::from_head(&pkt.head, pkt.port))
    }
    fn output_fill(&self, port: PortId) -> Fill {
        match self.memory {
            BufferModel::Output => self.fill(port, QueueId::normal(0)),
            _ => Fill { used: 0, limit: None },
        }
    }
}
