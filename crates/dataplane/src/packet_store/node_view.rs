//! View of a node's memory for mechanisms, and the rules that they break by reading it.

use super::{Fib, Origin, PacketStore};
use crate::arena::Queue;
use crate::port::{Port, QueueAt};
use crate::sampled_memories::SampledMemories;
use mech::buffer::ExtraMemory;
use mech::{Account, Fill, Head, HostId, Lane, MemorySide, Occupant, PktId, PortId, QueueId, Rule, View};
use std::cell::Cell;

/// Used memory and limit of a port that does not exist.
const NO_ROOM: Fill = Fill { used: 0, limit: Some(0) };

/// Read-only view of a node's memory and forwarding table.
pub(crate) struct NodeView<'a, F: Fib> {
    pub(crate) store: &'a PacketStore,
    pub(crate) fib: &'a F,
    /// Input port of the arrival that the mechanism decides about.
    ingress: Option<PortId>,
    /// True if the mechanism may read single packets.
    visits: bool,
    /// First rule that the mechanism broke by reading, with the slot at fault if it is another mechanism's.
    broken: Cell<Option<(Option<&'static str>, Rule)>>,
}

/// Rule that a mechanism breaks by reading single packets without declaring `reads_packets`.
const UNDECLARED_VISITS: Rule = Rule::Undeclared {
    used: "`view.first_packet`, `view.visit_packets` or another method that reads single packets",
    declare: "`reads_packets: true` in `needs()`: without it departures are computed at arrival, and no packet can be seen",
};
const UNDECLARED_SAMPLES: Rule = Rule::Undeclared {
    used: "`view.occupant` or `view.occupied_units`",
    declare: "`samples` in `needs()` of an agent of this port",
};
const UNDECLARED_ACCOUNT: Rule = Rule::Undeclared {
    used: "`view.allocated`, `view.arrived`, `view.entered` or `view.in_memory`",
    declare: "the account in `range_without_call` of an agent; other accounts are not counted",
};

impl<'a, F: Fib> NodeView<'a, F> {
    /// Creates the view for a decision about an arrival from `ingress`, or about a port.
    pub(crate) fn new(store: &'a PacketStore, fib: &'a F, ingress: Option<PortId>) -> NodeView<'a, F> {
        NodeView { store, fib, ingress, visits: true, broken: Cell::new(None) }
    }
    /// Returns the view for a mechanism that may (`visits`) or may not read single packets.
    pub(crate) fn with_visits(self, visits: bool) -> NodeView<'a, F> {
        NodeView { visits, ..self }
    }
    /// Returns the first rule that the mechanism broke through this view, with the slot at fault if it is another's.
    #[inline]
    pub(crate) fn broken_rule(&self) -> Option<(Option<&'static str>, Rule)> {
        self.broken.get()
    }
    #[cold]
    fn record_rule(&self, slot: Option<&'static str>, rule: Rule) {
        self.broken.set(self.broken.get().or(Some((slot, rule))));
    }
    fn port(&self, port: PortId) -> Option<&'a Port> {
        let found = self.store.ports.get(usize::from(port.0));
        if found.is_none() {
            self.record_rule(None, Rule::NoPort(port));
        }
        found
    }
    /// Returns a queue whose packets a mechanism reads; records a broken rule if it may not read them.
    fn visitable_queue(&self, port: PortId, queue: QueueId) -> Option<&'a Queue> {
        let port = self.port(port)?;
        // A frame with a computed departure is in no queue: the view would show an empty one.
        if !self.visits || port.computed {
            self.record_rule(None, UNDECLARED_VISITS);
        }
        port.rest.queues.get(usize::from(queue.0))
    }
    /// Returns the origin of the arrival, as the queue for which it is meant shows its class.
    fn origin(&self, queue: QueueId) -> Origin {
        Origin { ingress: self.ingress, class: queue.class() }
    }
    fn account(&self, account: Account) -> u64 {
        let bytes = self.store.accounts.bytes(account);
        if bytes.is_none() {
            self.record_rule(None, UNDECLARED_ACCOUNT);
        }
        bytes.unwrap_or(0)
    }
    fn sampled(&self, port: PortId) -> Option<&'a SampledMemories> {
        let found = self.store.sampled.as_deref().filter(|sampled| sampled.is_sampled(port));
        if found.is_none() {
            self.record_rule(None, UNDECLARED_SAMPLES);
        }
        found
    }
}

impl<F: Fib> View for NodeView<'_, F> {
    fn ports(&self) -> u16 {
        self.store.ports.len() as u16
    }
    fn fits(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        let to = QueueAt { port, queue: self.store.resolve_queue(queue) };
        self.port(port).is_some() && self.store.accepts_arrival(self.origin(queue), to, size)
    }
    fn fits_port_limit(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        let to = QueueAt { port, queue: self.store.resolve_queue(queue) };
        self.port(port).is_some() && self.store.accepts_within_limit(self.origin(queue), to, size)
    }
    fn has_inputs(&self) -> bool {
        self.store.inputs.is_some()
    }
    fn fits_with_extra_memory(&self, port: PortId, queue: QueueId, size: u16, extra: ExtraMemory) -> bool {
        let to = QueueAt { port, queue: self.store.resolve_queue(queue) };
        if self.port(port).is_none() {
            return false;
        }
        let origin = self.origin(queue);
        let at_input = self.store.inputs.is_none() || self.store.accepts_arrival(origin, to, size);
        at_input && self.store.accepts_with_extra(to, size, extra, origin)
    }
    fn fill(&self, port: PortId, queue: QueueId) -> Fill {
        self.waiting_fill(port, self.store.resolve_queue(queue))
    }
    fn waiting_fill(&self, port: PortId, queue: QueueId) -> Fill {
        let Some(p) = self.port(port) else { return NO_ROOM };
        match (queue.lane(), &self.store.pools) {
            (Lane::Normal, Some(pools)) => pools.queue_fill(port, queue.class()),
            (Lane::Normal, None) => self.store.buffer.peek().fill(&self.store.usage(p)),
            (lane, _) => self.store.lanes.limit(lane).fill(self.store.backlog(port, queue)),
        }
    }
    fn waiting_queue(&self, queue: QueueId) -> QueueId {
        self.store.resolve_queue(queue)
    }
    fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64) {
        match self.port(port) {
            Some(p) if p.computed || usize::from(queue.0) < p.rest.queues.len() => self.store.backlog(port, queue),
            _ => (0, 0),
        }
    }
    fn port_backlog(&self, port: PortId) -> (u32, u64) {
        self.port(port).map_or((0, 0), Port::queued_without_notices)
    }
    fn is_switch(&self, port: PortId) -> bool {
        self.port(port).is_some_and(|port| port.is_switch)
    }
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId> {
        if !self.fib.has_host(host) {
            self.record_rule(None, Rule::NoHost(host));
            return None;
        }
        let port = self.fib.port_toward(host, hash)?;
        if usize::from(port.0) >= self.store.ports.len() {
            self.record_rule(Some(self.fib.slot_name()), Rule::NoPort(port));
            return None;
        }
        Some(port)
    }
    fn first_packet(&self, port: PortId, queue: QueueId) -> Option<(PktId, u64)> {
        let queue = self.visitable_queue(port, queue)?;
        self.store.arena.first(queue).map(|(id, stamp)| (PktId(id), stamp))
    }
    fn first_packet_size(&self, port: PortId, queue: QueueId) -> Option<(PktId, u16)> {
        let (pkt, _) = self.first_packet(port, queue)?;
        Some((pkt, self.store.arena.get(pkt.0).head.size))
    }
    fn visit_packets(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head)) {
        if let Some(queue) = self.visitable_queue(port, queue) {
            self.store.arena.ids(queue).for_each(|id| each(PktId(id), &self.store.arena.get(id).head));
        }
    }
    fn visit_packets_from_last(&self, port: PortId, queue: QueueId, each: &mut dyn FnMut(PktId, &Head) -> bool) {
        if let Some(queue) = self.visitable_queue(port, queue) {
            let mut ids = self.store.arena.ids_from_tail(queue);
            ids.find(|id| each(PktId(*id), &self.store.arena.get(*id).head));
        }
    }
    fn least_urgent(&self, port: PortId, queue: QueueId) -> Option<(PktId, u32)> {
        let (at, arena, own) = (QueueAt { port, queue }, &self.store.arena, self.visitable_queue(port, queue)?);
        let indexed = self.store.ranked.as_ref().and_then(|ranked| ranked.least_urgent(at));
        let slot = indexed.or_else(|| arena.least_urgent(own))?;
        Some((PktId(slot), arena.get(slot).head.rank))
    }
    fn most_urgent(&self, port: PortId, queue: QueueId) -> Option<PktId> {
        let (at, arena, own) = (QueueAt { port, queue }, &self.store.arena, self.visitable_queue(port, queue)?);
        let indexed = self.store.ranked.as_ref().and_then(|ranked| ranked.most_urgent(at, arena));
        indexed.or_else(|| arena.most_urgent(own)).map(PktId)
    }
    fn allocated_bytes(&self, ingress: PortId, class: u8) -> u64 {
        self.account(Account::Input(ingress, class))
    }
    fn total_bytes_stored_at_output(&self, port: PortId, class: u8) -> u64 {
        self.account(Account::Arrived(port, class))
    }
    fn total_bytes_stored_from_input(&self, port: PortId, class: u8) -> u64 {
        self.account(Account::Entered(port, class))
    }
    fn bytes_in_memory(&self, side: MemorySide, port: PortId, class: u8) -> u64 {
        match side {
            _ if class > 7 => 0,
            MemorySide::Input => self.account(Account::Input(port, class)),
            MemorySide::Output => self.port(port).map_or(0, |_| self.store.buffered_bytes(port, class)),
        }
    }
    fn occupied_units(&self, port: PortId) -> u32 {
        self.sampled(port).map_or(0, |sampled| sampled.occupied_units(port))
    }
    fn occupant(&self, port: PortId, unit: u32) -> Option<Occupant> {
        self.sampled(port)?.occupant(port, unit, &self.store.arena)
    }
    fn output_fill(&self, port: PortId) -> Fill {
        self.port(port).map_or(NO_ROOM, |_| self.store.output_fill(port))
    }
    fn visit_path_fills(&self, frame: &Occupant, each: &mut dyn FnMut(Fill)) {
        if self.port(frame.ingress).is_none() || self.port(frame.output).is_none() {
            return;
        }
        if let Some(stages) = self.store.inputs.as_ref().and_then(|inputs| inputs.stages.as_ref()) {
            let (way, queue) =
                ((frame.ingress, frame.output, frame.hash), self.store.resolve_queue(QueueId::normal(frame.class)));
            stages.visit_links_on_path(way, queue, &mut |used, limit| each(Fill { used, limit: Some(limit) }));
        }
        each(self.store.output_fill(frame.output));
    }
    fn free_pool_bytes(&self) -> Option<u64> {
        self.store.buffer.peek().free_shared_bytes(self.store.pool.shared_bytes)
    }
}
