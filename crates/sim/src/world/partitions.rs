//! Divided runs: partitions own the state that they change, and frames cross between them by value.
//!
//! A partition is a world of its own: nodes, event queue, links that end in it, ends of flows, extensions and
//! observer. It also has places for the nodes of other partitions, at which nothing ever happens.
//!
//! Partitions advance in turn through a window of time no longer than the shortest delay of a link between two of
//! them. A frame sent at the window's first instant or later arrives at the window's end or later. No partition can
//! thus affect another within a window. Afterwards frames go to where their links end, and the flows that have
//! started are copied to all partitions. The order in which they cross has no effect between links, since events are
//! ordered by their keys. Within a link it is the order of sending.
//!
//! Partitions prepare for threads. Tests check that any number of partitions gives the same tables. A divided run has
//! no captures, and its rows are not taken before its end. The recorder keeps bounces and detours once for all copies
//! of a flooded frame; partitions do not share this record, so its tables may differ there.

use super::World;
use super::milestones::{CHECK_INTERVAL_EVENTS, MAX_LIVE_ENDS};
use super::schedule::{RunStatus, Verdict};
use crate::divided_observer::{DividedObserver, PartitionOwners};
use crate::progress::{FlowRecord, StopReason};
use crate::queue::{Key, StepPhase};
use crate::tap::Tap;
use dataplane::transport::FlowInfo;
use dataplane::{FlowTable, NO_EXT, Observer, PacketExtension, Pkt};
use mech::FlowId;
use mech::overflow::DropReason;
use scenario::limits::MAX_PACKETS;
use scenario::traffic::OWN_CONNECTION;
use std::collections::BTreeSet;
use std::sync::Arc;
use units::{Dur, Time};

/// Number of the partition that a world simulates, and the partition of each node.
#[derive(Clone, Debug)]
pub(crate) struct PartitionId {
    pub(crate) index: u32,
    pub(crate) count: u32,
    /// Partition of each node, by node number.
    pub(crate) owner: Arc<[u32]>,
}

impl PartitionId {
    pub(crate) fn owns(&self, node: u32) -> bool {
        self.owner[node as usize] == self.index
    }
}

/// Frame on a link from this partition to another.
struct OutgoingFrame<A> {
    link: u32,
    at: Time,
    pkt: Pkt,
    /// Reason why the frame will be lost at the end of the link; `None` if it will arrive.
    outcome: Option<DropReason>,
    ext: Option<PacketExtension>,
    /// State that the observer keeps of the frame, which moves with it.
    attached: A,
}

/// Flow that has started in this partition, with the data that the other partitions need.
#[derive(Clone, Copy)]
struct StartedFlow {
    info: FlowInfo,
    record: FlowRecord,
}

impl<O: Observer, T: Tap> World<O, T> {
    /// Returns true if a node belongs to this partition, or if the run is not divided.
    pub(crate) fn owns(&self, node: u32) -> bool {
        self.part.as_ref().is_none_or(|part| part.owns(node))
    }

    /// Sets the numbers of flows that start in this partition, so that no other partition uses them. All partitions
    /// have the flows so far.
    pub(crate) fn separate_flow_numbers(&mut self) {
        if let Some(part) = &self.part {
            self.flows.set_numbering(self.flows.len() as u32 + part.index, part.count);
            self.milestone = Time::NEVER;
        }
    }

    /// Advances this partition to the instant `end`, without the events at `end`. Each queue has the events of network
    /// changes, which are at the first node; partitions that do not own it drop them.
    fn advance_to(&mut self, end: Time) {
        while let Some(key) = self.state.queue.peek().filter(|key| key.time() < end) {
            match self.owns(key.node()) {
                true => self.step(),
                false => drop(self.state.queue.pop()),
            }
        }
    }
}

impl<O: DividedObserver> World<O> {
    /// Removes and returns the frames that go to other partitions.
    fn take_outgoing_frames(&mut self) -> Vec<OutgoingFrame<O::PacketState>> {
        let mut mail = Vec::new();
        for (link, mut pkt, at, fate) in self.state.wires.take_sent_frames() {
            // The index of an extension is valid in one partition only, so that the frame takes a copy along.
            let ext = self.packet_extensions.get(pkt.ext).copied();
            self.packet_extensions.free_shared(pkt.ext);
            pkt.ext = NO_EXT;
            let attached = self.state.observer.detach_packet_state(&pkt);
            mail.push(OutgoingFrame { link, at, pkt, outcome: fate, ext, attached });
        }
        mail
    }

    fn receive_frame(&mut self, frame: OutgoingFrame<O::PacketState>) {
        let OutgoingFrame { link, at, mut pkt, outcome: fate, ext, attached } = frame;
        self.state.observer.attach_packet_state(&pkt, attached);
        if let Some(ext) = ext {
            pkt.ext = self.packet_extensions.allocate(ext);
        }
        self.state.wires.put_outcome(link, fate);
        if let Some((at, node)) = self.state.wires.put_frame(link, &pkt, at) {
            self.state.queue.push(Key::new(at, node, StepPhase::Arrival, link));
        }
    }

    /// Returns the flows that have started in this partition since the next flow number was `since`.
    fn started_flows(&self, since: u32) -> impl Iterator<Item = StartedFlow> + '_ {
        let step = self.part.as_ref().map_or(1, |part| part.count);
        (since..self.flows.next_number())
            .step_by(step as usize)
            .map(|flow| StartedFlow { info: *self.flows.info(FlowId(flow)), record: self.state.records[flow as usize] })
    }

    fn add_started_flow(&mut self, StartedFlow { info, record }: &StartedFlow) {
        self.flows.add_copy(*info);
        self.state.add_flow_record(info.flow, *record);
        if record.connection_number != OWN_CONNECTION && self.part.as_ref().is_some_and(|part| part.owns(info.dst.0)) {
            self.flows.add_message_copy(record.connection, info.flow);
        }
    }
}

/// All partitions of a run.
pub(crate) struct Partitions<O: DividedObserver> {
    parts: Vec<World<O>>,
    owner: Arc<[u32]>,
    /// Partition in which each link ends.
    ends_in: Vec<u32>,
    window: Dur,
    /// Number of flows that all partitions have from the start.
    initial_flow_count: u32,
    check_at: u64,
}

impl<O: DividedObserver> Partitions<O> {
    /// Creates the partitions of a run. PRECONDITION: the worlds are those of one run, before its first event.
    pub(crate) fn new(mut parts: Vec<World<O>>) -> Partitions<O> {
        let first = &parts[0];
        let owner = first.part.as_ref().map_or_else(|| vec![0].into(), |part| part.owner.clone());
        let links = first.state.wires.len() as u32;
        let begins_in = port_owners(&owner, &first.state.base, links as usize);
        let ends_in: Vec<u32> = (0..links).map(|link| owner[first.state.wires.far_end(link).0 as usize]).collect();
        let crosses = |link: &u32| begins_in[*link as usize] != ends_in[*link as usize];
        let window = (0..links).filter(crosses).map(|link| first.state.wires.shortest_delay(link)).min();
        let initial_flow_count = first.state.records.len() as u32;
        for link in (0..links).filter(crosses) {
            parts[begins_in[link as usize] as usize].state.wires.keep_sent_frames(link);
        }
        Partitions { owner, ends_in, window: window.unwrap_or(Dur(u64::MAX)), initial_flow_count, check_at: 0, parts }
    }

    /// Advances the run to its end, and merges its partitions into one world.
    pub(crate) fn run(mut self) -> World<O> {
        let (stop, instant) = loop {
            let Some(next) = self.next_time() else {
                break (self.run_status().stop_without_events(), None);
            };
            let schedule = self.parts[0].schedule;
            let verdict = schedule.verdict(&self.run_status(), next);
            self.parts.iter_mut().for_each(|part| part.copy_counters_at_window_ends(verdict.last_instant_at(next)));
            match verdict {
                Verdict::End(stop, instant) => break (stop, Some(instant)),
                Verdict::Check(instant) if self.is_overloaded() => break (StopReason::Overloaded, Some(instant)),
                Verdict::Check(_) => self.check_deadlocks(),
                Verdict::GoOn => {}
            }
            // All partitions change the network at the same instant, and no window passes the next change.
            self.parts.iter_mut().for_each(|part| part.change_network(next));
            let change = self.parts[0].next_change().unwrap_or(Time::NEVER);
            self.advance_window(next.saturating_add(self.window).min(schedule.milestone_after(next)).min(change));
        };
        let mut world = self.merge();
        world.stop = Some(stop);
        if let Some(instant) = instant {
            world.stop_run(stop, instant);
        }
        world
    }

    /// Returns the facts about the run, over all partitions, from which the schedule decides. Every partition counts
    /// the messages that queries miss. Their sum is thus too large, but it is zero only if no message is missing, and
    /// only that matters here.
    fn run_status(&self) -> RunStatus {
        let seen = self.parts.iter().map(World::run_status);
        let none = RunStatus {
            now: Time::ZERO,
            events: 0,
            check_at: self.check_at,
            unfinished: 0,
            started: 0,
            ended: 0,
            failure: None,
        };
        seen.fold(none, |all, one| RunStatus {
            now: all.now.max(one.now),
            events: all.events + one.events,
            check_at: all.check_at,
            unfinished: all.unfinished.wrapping_add(one.unfinished),
            // Every partition records the start of every flow, but only one of them records its end.
            started: all.started.max(one.started),
            ended: all.ended + one.ended,
            failure: most_severe(all.failure, one.failure),
        })
    }

    /// Returns the instant of the next event in any partition.
    fn next_time(&self) -> Option<Time> {
        self.parts.iter().filter_map(|part| part.state.queue.peek()).map(Key::time).min()
    }

    /// Advances all partitions, one after the other, to `end`. With a bound on events, they advance by one instant at a
    /// time until the sum of their events reaches the bound. The instant at which the run is cut is then the same for
    /// any number of partitions.
    fn advance_to(&mut self, end: Time) {
        let schedule = self.parts[0].schedule;
        if schedule.max_events.is_none() {
            return self.parts.iter_mut().for_each(|part| part.advance_to(end));
        }
        while let Some(next) = self.next_time().filter(|next| *next < end) {
            self.parts.iter_mut().for_each(|part| part.advance_to(next.saturating_add(Dur(1))));
            if schedule.is_at_bound(self.parts.iter().map(|part| part.events).sum()) {
                return;
            }
        }
    }

    /// Advances all partitions to `end`, one after the other, and then hands over the frames and flows that cross.
    fn advance_window(&mut self, end: Time) {
        let since: Vec<u32> = self.parts.iter().map(|part| part.flows.next_number()).collect();
        self.advance_to(end);
        // Flows are copied before their packets, since each arrival looks up its flow.
        for (from, since) in since.into_iter().enumerate() {
            let opened: Vec<_> = self.parts[from].started_flows(since).collect();
            let others = self.parts.iter_mut().enumerate().filter(|(to, _)| *to != from);
            others.for_each(|(_, part)| opened.iter().for_each(|opened| part.add_started_flow(opened)));
        }
        self.share_ignored_pauses();
        for from in 0..self.parts.len() {
            for pkt in self.parts[from].state.observer.take_emitted_packets() {
                let to = self.owner[pkt.head.dst.0 as usize] as usize;
                if to != from {
                    self.parts[to].state.observer.on_emit(&pkt);
                }
            }
            for frame in self.parts[from].take_outgoing_frames() {
                let to = self.ends_in[frame.link as usize] as usize;
                self.parts[to].receive_frame(frame);
            }
        }
    }

    /// Tells all partitions where watchdogs send in spite of pauses, before the first such frames arrive there.
    fn share_ignored_pauses(&mut self) {
        let each = self.parts.iter().flat_map(|part| &part.state.nodes_with_ignored_pauses);
        let all: BTreeSet<u32> = each.copied().collect();
        if !all.is_empty() {
            self.parts.iter_mut().for_each(|part| part.state.nodes_with_ignored_pauses.clone_from(&all));
        }
    }

    fn is_overloaded(&self) -> bool {
        let loads = self.parts.iter().map(World::count_packets_and_ends);
        let (packets, ends) = loads.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        packets > MAX_PACKETS || ends > MAX_LIVE_ENDS
    }

    /// Checks for deadlocks, with all nodes in one partition: the search follows links through the whole network.
    fn check_deadlocks(&mut self) {
        self.check_at = self.run_status().events + CHECK_INTERVAL_EVENTS;
        self.swap_nodes();
        self.parts[0].look_for_deadlock();
        self.swap_nodes();
    }

    /// Swaps every node of another partition with the node of the same number in the first partition.
    fn swap_nodes(&mut self) {
        let Some((first, others)) = self.parts.split_first_mut() else { return };
        let hosts = first.hosts.len();
        for (node, owner) in self.owner.iter().enumerate().filter(|(_, owner)| **owner > 0) {
            let other = &mut others[*owner as usize - 1];
            match node.checked_sub(hosts) {
                None => std::mem::swap(&mut first.hosts[node], &mut other.hosts[node]),
                Some(s) => std::mem::swap(&mut first.switches[s], &mut other.switches[s]),
            }
        }
    }

    /// Returns the flows in the order of their numbers in the whole run, each with the partitions of its ends. The
    /// order is by start, source, and number in the partition of the source.
    fn flow_order(&self) -> Vec<(FlowId, usize, usize)> {
        let mut flows: Vec<(Time, u32, u32, u32)> = Vec::new();
        for (part, index) in self.parts.iter().zip(0..) {
            for flow in (self.initial_flow_count + index..part.flows.next_number()).step_by(self.parts.len()) {
                let info = part.flows.info(FlowId(flow));
                flows.push((part.state.records[flow as usize].start, info.src.0, flow, info.dst.0));
            }
        }
        flows.sort_unstable();
        let raw = (0..self.initial_flow_count).map(|flow| {
            let info = self.parts[0].flows.info(FlowId(flow));
            (FlowId(flow), info.src.0, info.dst.0)
        });
        let all = raw.chain(flows.into_iter().map(|(_, src, flow, dst)| (FlowId(flow), src, dst)));
        let of = |node: u32| self.owner[node as usize] as usize;
        all.map(|(flow, src, dst)| (flow, of(src), of(dst))).collect()
    }

    /// Merges all partitions into one world.
    fn merge(mut self) -> World<O> {
        self.swap_nodes();
        let order = self.flow_order();
        let most = self.parts.iter().map(|part| part.state.records.len()).max().unwrap_or(0);
        let mut flow_numbers = vec![0; most];
        order.iter().zip(0..).for_each(|((flow, ..), number)| flow_numbers[flow.0 as usize] = number);
        let number = |flow: FlowId| FlowId(flow_numbers[flow.0 as usize]);
        let tables: Vec<&FlowTable> = self.parts.iter().map(|part| &part.flows).collect();
        let flows = FlowTable::merge(&tables, &order, number);
        let record = |(flow, src, dst): &(FlowId, usize, usize)| {
            let at = flow.0 as usize;
            let (from, to) = (self.parts[*src].state.records[at], self.parts[*dst].state.records[at]);
            FlowRecord { end: from.end.min(to.end), connection: number(from.connection), ..from }
        };
        let records = order.iter().map(record).collect();
        let ports = port_owners(&self.owner, &self.parts[0].state.base, self.ends_in.len());
        let base = self.parts[0].state.base.clone();
        let owners = PartitionOwners { nodes: &self.owner, ports: &ports, base: &base, flow_numbers: &flow_numbers };
        let seen = self.run_status();
        let mut parts = self.parts.into_iter();
        let mut whole = parts.next().expect("there is at least one partition");
        let mut observers = vec![whole.state.observer.clone()];
        whole.flows = flows;
        whole.state.records = records;
        whole.hosts.iter_mut().for_each(|host| host.renumber_flows(number));
        whole.now = seen.now;
        for (part, index) in parts.zip(1..) {
            whole.merge_partition(part, index, &owners, &mut observers);
        }
        whole.state.observer = O::merge(observers, &owners);
        whole.part = None;
        whole
    }
}

impl<O: DividedObserver> World<O> {
    /// Merges another partition: adds its counters, and the frames on links that end in it.
    fn merge_partition(
        &mut self,
        mut part: World<O>,
        index: u32,
        owners: &PartitionOwners<'_>,
        observers: &mut Vec<O>,
    ) {
        self.events += part.events;
        self.hops += part.hops;
        let (state, other) = (&mut self.state, &mut part.state);
        state.completed += other.completed;
        state.unfinished_flows = state.unfinished_flows.wrapping_add(other.unfinished_flows);
        state.pending += other.pending;
        let first = [state.lost, other.lost].into_iter().flatten().min_by_key(|lost| (lost.at, lost.node));
        state.lost = first;
        let first = [state.broken, other.broken].into_iter().flatten().min_by_key(|broken| (broken.at, broken.node));
        state.broken = first;
        for link in 0..other.wires.len() as u32 {
            other.wires.take_outcomes(link).into_iter().for_each(|fate| state.wires.put_outcome(link, fate));
        }
        while let Some(key) = other.queue.pop() {
            if key.phase() == StepPhase::Arrival {
                for (pkt, at) in other.wires.take_frames(key.index(), key.time()) {
                    state.wires.put_frame(key.index(), &pkt, at);
                }
            }
        }
        state.wires.add_loss_counts(&other.wires);
        if let Some((mine, its)) = self.changes.as_mut().zip(part.changes) {
            mine.losses_before.iter_mut().zip(&its.losses_before).for_each(|(sum, losses)| sum.add(losses));
            mine.closings.iter_mut().zip(&its.closings).for_each(|(sum, closing)| sum.add(closing));
        }
        for (mine, its) in [(&mut self.baseline, part.baseline), (&mut self.baseline_end, part.baseline_end)] {
            if let Some((mine, its)) = mine.as_mut().zip(its) {
                mine.copy_partition(&its, |node| owners.nodes[node] == index, |port| owners.ports[port] == index);
            }
        }
        observers.push(part.state.observer);
    }
}

/// Returns the reason for the end of a run, given that of two partitions, either of which may have failed.
fn most_severe(a: Option<StopReason>, b: Option<StopReason>) -> Option<StopReason> {
    let broken = [a, b].into_iter().flatten().find(|stop| *stop == StopReason::BrokenRule);
    broken.or(a).or(b)
}

/// Returns the partition of the node of each port, by the port's number over the whole network.
fn port_owners(owner: &[u32], base: &[u32], ports: usize) -> Vec<u32> {
    let ends = base.iter().skip(1).copied().chain([ports as u32]);
    let of = |((owner, first), end): ((&u32, &u32), u32)| std::iter::repeat_n(*owner, (end - *first) as usize);
    owner.iter().zip(base).zip(ends).flat_map(of).collect()
}
