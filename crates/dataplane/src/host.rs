//! Host: a NIC (a one-port switch), a stack, and the senders and receivers of flows.

use crate::core::{Core, CoreSetup, StepContext};
use crate::end_table::{EndTable, PacketTally};
use crate::flows::{FlowTable, NO_SLOT, REMOVED_SLOT};
use crate::packet_store::Fib;
use crate::raw::{RawSetup, RawSource};
use crate::stack::StackDelay;
use crate::transport::{
    BounceState, ENDLESS_BYTES, FlowInfo, Metrics, Notice, Receiver, ReleasedPackets, Sender, TransportTable,
};
use crate::{ExtensionSlab, Framing, Observer, Out, Pkt};
use mech::host::{NicOrder, ReactionSlot, Reinject};
use mech::overflow::DropReason;
use mech::{Ecn, Flags, FlowId, HostId, PacketKind, PortId, Stream, StreamPurpose};
use nic_pull::PullState;
use notice_log::NoticeLog;
use pausing::PausingHost;
pub use pausing::{HostPauses, PauseCause, PausePeriod};
use std::collections::BTreeMap;
use timers::HostTimer;
pub use timers::{FLOW_START, MESSAGE_START};
use units::{Dur, Time};

mod counters;
mod delivery;
mod emission;
mod link_failure;
mod nic_pull;
mod notice_log;
mod pausing;
mod reaction_point;
mod receive_buffer;
#[cfg(test)]
mod tests;
mod timers;

/// Settings from which a host is created.
pub struct HostSetup {
    /// Settings of the NIC, which has one port.
    pub core: CoreSetup,
    /// Number of the host.
    pub id: HostId,
    /// Time that a packet takes through the stack, in either direction.
    pub stack_delay: Dur,
    /// Largest jitter, uniform from 0, that is added to each traversal of the stack.
    pub stack_jitter: Dur,
    /// Order in which the NIC takes frames of its flows.
    pub order: NicOrder,
    /// Reaction point, which changes the rates of flows after congestion messages; it needs a queue for each flow.
    pub reaction: ReactionSlot,
    /// Periods in which the host pauses the far end of its link; `None` if there are none.
    pub pauses: Option<HostPauses>,
}

/// Context of one step of a host: its instant, and the tables and outputs that the step uses.
pub struct HostStep<'a, O> {
    /// Instant of the step.
    pub now: Time,
    /// Flows of the run.
    pub flows: &'a mut FlowTable,
    /// Transports of all hosts.
    pub tcp: &'a TransportTable,
    /// Table of packet extensions (such as TCP options) of the run.
    pub exts: &'a mut ExtensionSlab,
    /// Packets that transports have just created; empty between two calls.
    pub released: &'a mut ReleasedPackets,
    /// Driver that transmits the host's frames and sets its timers.
    pub out: O,
}

impl<O> HostStep<'_, O> {
    fn nic_step(&mut self) -> StepContext<'_, SinglePortFib, O> {
        StepContext { now: self.now, fib: &SinglePortFib, exts: self.exts, out: &mut self.out }
    }
}

/// Host, with its NIC, its stack, and the senders and receivers of its flows.
#[derive(Clone)]
pub struct Host {
    id: HostId,
    nic: Core,
    /// State of a NIC with a queue for each flow; `None` for a NIC without queues of flows.
    pulled: Option<Box<PullState>>,
    framing: Framing,
    up: StackDelay,
    down: StackDelay,
    stack_rng: Stream,
    senders: EndTable<Sender>,
    receivers: EndTable<Receiver>,
    /// Number of timers that senders and receivers have set, without those set again for the same tick.
    timers_set: u64,
    raw: Vec<RawSource>,
    /// Measurements of earlier connections by destination (slow start threshold, round-trip time), for Linux 2.6.38.
    metrics: BTreeMap<HostId, Metrics>,
    /// Record of bounced frames and of the window cut for them, by flow.
    bounced: BTreeMap<FlowId, BounceState>,
    /// Log of the congestion messages that this host has received, by flow.
    notice_log: NoticeLog,
    /// State of a host that pauses the far end of its link at times; `None` for all other hosts.
    pausing: Option<Box<PausingHost>>,
    received: PacketTally,
    originated: PacketTally,
    consumed: PacketTally,
    misdirected: PacketTally,
    /// Copies of flooded frames for other hosts, which this host has received and discarded.
    flood_copies_discarded: PacketTally,
}

/// Forwarding table of a host, with one port.
struct SinglePortFib;

impl Fib for SinglePortFib {
    fn port_toward(&self, _host: HostId, _hash: u32) -> Option<PortId> {
        Some(PortId(0))
    }
}

const NIC: PortId = PortId(0);

impl Host {
    /// Creates the host described by `setup`.
    pub fn new(setup: HostSetup) -> Host {
        let (seed, node) = (setup.core.seed, setup.core.node);
        let framing = setup.core.framing;
        let mut nic = Core::new(setup.core);
        nic.set_timer_base(HostTimer::Nic(0).index());
        let by_flow = setup.order.flow_queues();
        let pulled = by_flow.map(|order| {
            Box::new(PullState::new(order, setup.stack_delay, setup.stack_jitter, setup.reaction.into_reaction()))
        });
        Host {
            id: setup.id,
            framing,
            nic,
            pulled,
            up: StackDelay::new(setup.stack_delay, setup.stack_jitter),
            down: StackDelay::new(setup.stack_delay, setup.stack_jitter),
            stack_rng: Stream::new(seed, node, StreamPurpose::Stack),
            senders: EndTable::new(),
            receivers: EndTable::new(),
            timers_set: 0,
            raw: Vec::new(),
            metrics: BTreeMap::new(),
            bounced: BTreeMap::new(),
            notice_log: NoticeLog::default(),
            pausing: setup.pauses.map(|pauses| Box::new(PausingHost::new(pauses))),
            received: PacketTally::default(),
            originated: PacketTally::default(),
            consumed: PacketTally::default(),
            misdirected: PacketTally::default(),
            flood_copies_discarded: PacketTally::default(),
        }
    }

    /// Starts a flow that this host sends.
    pub fn start<O: Out>(&mut self, flow: FlowId, step: &mut HostStep<O>) {
        let slot = self.add_sender(flow, step.flows.info(flow), step.tcp);
        step.flows.ends[flow.0 as usize].sender = slot;
        self.call_sender(slot, step, |sender, io| sender.start(io));
    }

    fn add_sender(&mut self, flow: FlowId, info: &FlowInfo, tcp: &TransportTable) -> u32 {
        let cfg = tcp.config_at(|| info.sender_ends());
        let mut sender = Sender::new(info, cfg);
        if let Some(metrics) = self.metrics.get(&info.dst).filter(|_| cfg.keeps_metrics()) {
            sender.apply_metrics(metrics, cfg);
        }
        if self.pulled.is_some() {
            sender.set_nic_paced();
        }
        self.senders.add(flow, sender)
    }

    /// Writes a message to a persistent connection; the first message opens the connection.
    pub fn write<O: Out>(&mut self, connection: FlowId, message: FlowId, step: &mut HostStep<O>) {
        let bytes = step.flows.info(message).bytes;
        let at = connection.0 as usize;
        if step.flows.ends[at].sender == NO_SLOT {
            let endless = FlowInfo { bytes: ENDLESS_BYTES, ..step.flows.info[at] };
            step.flows.ends[at].sender = self.add_sender(connection, &endless, step.tcp);
            step.flows.make_persistent(connection);
        }
        step.flows.append_message(connection, message);
        self.call_sender(step.flows.ends[at].sender, step, |sender, io| {
            sender.write(bytes, io);
            sender.open(io);
        });
    }

    /// Ends a step, as its last call: an idle NIC begins to send.
    #[inline]
    pub fn finish_step<O: Out>(&mut self, step: &mut HostStep<O>) {
        // Pulled first: the frame that leaves next must be in the queue of the port when the port chooses.
        if self.pulled.is_some() {
            self.pull_next(step);
        }
        self.nic.start_idle_ports(&mut step.nic_step());
    }

    /// Adds a source of raw packets, which no transport sends, before the run.
    pub fn add_raw<O: Out>(&mut self, setup: RawSetup, flow: FlowId, flows: &FlowTable, out: &mut O) {
        let source = RawSource::new(setup, *flows.info(flow));
        if let Some(at) = source.next_time() {
            out.set_timer(HostTimer::Raw(self.raw.len() as u32).index(), at);
        }
        self.raw.push(source);
    }

    /// Handles the end of a transmission while other frames may wait for the NIC.
    #[inline]
    pub fn on_transmit_end<O: Out>(&mut self, step: &mut HostStep<O>) {
        if self.pulled.is_some() {
            self.pull_next(step);
        }
        self.nic.on_transmit_end(NIC, &mut step.nic_step());
    }

    /// Handles the arrival of a frame.
    #[inline]
    pub fn receive<O: Out>(&mut self, pkt: &mut Pkt, step: &mut HostStep<O>) {
        self.received.count(pkt);
        // The NIC makes CNPs, so it handles a mark before the stack delays the packet.
        if pkt.head.ecn() == Ecn::Ce && self.pulled.is_some() {
            self.on_marked_packet(pkt, step);
        }
        if pkt.head.dst != self.id {
            self.on_foreign_frame(pkt, step);
        } else if self.pausing.is_some() {
            self.receive_while_pausing(pkt, step);
        } else {
            self.pass_up(pkt, step);
        }
    }

    /// Passes a received frame up the stack.
    #[inline]
    fn pass_up<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        if self.up.is_instant() {
            self.deliver(pkt, step);
        } else if let Some(at) = self.up.push(step.now, *pkt, &mut self.stack_rng) {
            step.out.set_timer(HostTimer::StackUp.index(), at);
        }
    }

    fn on_foreign_frame<O: Out>(&mut self, pkt: &mut Pkt, step: &mut HostStep<O>) {
        if pkt.head.kind() == PacketKind::Pause {
            self.nic.on_pause_frame(pkt, step.now, &mut step.out);
        } else if Reinject.applies_to(&pkt.head, self.id) {
            self.signal_bounce(pkt, step);
            self.nic.admit(pkt, NIC, &mut step.nic_step());
        } else if pkt.head.flags.has(Flags::MISDIRECTED) {
            self.flood_copies_discarded.count(pkt);
            step.exts.free_shared(pkt.ext);
        } else {
            self.misdirected.count(pkt);
            let at = step.out.event_location(NIC);
            step.out.observer().on_drop(at, pkt, DropReason::NoRoute);
            step.exts.free_shared(pkt.ext);
        }
    }

    /// Notifies the sender of a flow that a data packet came back, if `host.bounce_signal` is set.
    /// A receiver is not notified of its ACKs.
    fn signal_bounce<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let ends = step.flows.ends[pkt.head.flow.0 as usize];
        let data = pkt.payload > 0 && !pkt.head.flags.has(Flags::REVERSE);
        if step.tcp.default_config().reacts_to_bounces() && data && !ends.raw && ends.sender < REMOVED_SLOT {
            let (flow, notice) = (pkt.head.flow, Notice::Bounced(pkt.payload));
            // The bounce state is not part of the sender: few flows have it, and a sender must fit four cache lines.
            let mut bounced = self.bounced.remove(&flow).unwrap_or_default();
            self.call_sender(ends.sender, step, |sender, io| sender.on_notice(&notice, &mut bounced, io));
            self.bounced.insert(flow, bounced);
        }
    }

    /// Handles a timer of this host, by its index.
    pub fn on_timer<O: Out>(&mut self, index: u32, step: &mut HostStep<O>) {
        match HostTimer::from_index(index) {
            Some(HostTimer::StackUp) => self.on_stack_up_timer(step),
            Some(HostTimer::StackDown) => self.on_stack_down_timer(step),
            Some(HostTimer::Announced) => self.on_announced(step),
            Some(HostTimer::Limiter) => self.on_limiter_timer(step.now),
            Some(HostTimer::Reaction) => self.on_reaction_timer(step),
            Some(HostTimer::PausePeriod) => self.on_pause_period_timer(step),
            Some(HostTimer::Drain) => self.on_drain_timer(step),
            Some(HostTimer::PauseRefresh) => self.on_pause_refresh_timer(step),
            Some(HostTimer::Raw(i)) => self.emit_raw(i, step),
            Some(HostTimer::Sender(slot)) => self.on_sender_timer(slot, step),
            Some(HostTimer::Receiver(slot)) => self.on_receiver_timer(slot, step),
            Some(HostTimer::Nic(index)) => self.nic.on_timer(index, &mut step.nic_step()),
            None => {}
        }
    }

    fn on_stack_up_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        while let Some(pkt) = self.up.pop(step.now) {
            self.deliver(&pkt, step);
        }
        self.up.next_ready().into_iter().for_each(|at| step.out.set_timer(HostTimer::StackUp.index(), at));
    }

    fn on_stack_down_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        while let Some(mut pkt) = self.down.pop(step.now) {
            self.store_at_nic(&mut pkt, step);
        }
        self.down.next_ready().into_iter().for_each(|at| step.out.set_timer(HostTimer::StackDown.index(), at));
    }

    fn emit_raw<O: Out>(&mut self, i: u32, step: &mut HostStep<O>) {
        let framing = self.framing;
        let source = &mut self.raw[i as usize];
        let blocked = source.limiting_flow().zip(self.pulled.as_ref()).is_some_and(|(flow, pulled)| {
            let waiting = pulled.queues().queued_data_frames(flow);
            source.is_blocked(waiting, &framing)
        });
        let pkt = match blocked {
            // A blocked source loses the packet for good: sending it later would exceed the source's rate.
            true => {
                source.skip_packet(step.now);
                None
            }
            false => Some(source.emit(step.now, &framing, step.tcp.default_config().ttl)),
        };
        if let Some(at) = source.next_time() {
            step.out.set_timer(HostTimer::Raw(i).index(), at);
        }
        pkt.into_iter().for_each(|mut pkt| self.emit(&mut pkt, step));
    }

    fn on_sender_timer<O: Out>(&mut self, slot: u32, step: &mut HostStep<O>) {
        // Events cannot be taken back. One whose deadline has moved is stale and is ignored.
        if self.senders.armed[slot as usize] != step.now {
            return;
        }
        self.senders.armed[slot as usize] = Time::NEVER;
        self.call_sender(slot, step, |sender, io| {
            if sender.deadline().is_some_and(|at| at <= io.now) {
                sender.on_timer(io);
            }
        });
    }

    fn on_receiver_timer<O: Out>(&mut self, slot: u32, step: &mut HostStep<O>) {
        if self.receivers.armed[slot as usize] != step.now {
            return;
        }
        self.receivers.armed[slot as usize] = Time::NEVER;
        self.call_receiver(slot, step, |receiver, io| {
            if receiver.deadline().is_some_and(|at| at <= io.now) {
                receiver.on_timer(io);
            }
        });
    }
}
