//! Changes of the network during a run: nodes react to dead links, routes are swapped, and losses on links are
//! counted.

use super::{PredictedRoute, World, WorldRoutes};
use crate::change_schedule::{NETWORK_CHANGES, NetworkChange};
use crate::event_costs::{EventCost, LossCounts, LossyDirections, PortClosure, drops_of_event, losses_per_event};
use crate::queue::{Key, StepPhase};
use crate::tap::Tap;
use dataplane::{DeadPortPolicy, EventLocation, Observer, Pkt, PortCounts, SwitchStep};
use mech::overflow::DropReason;
use mech::{Flags, PacketKind, PortId};
use scenario::events::SendingPort;
use std::collections::BTreeSet;
use units::{ByteClock, Time};

impl<O: Observer, T: Tap> World<O, T> {
    /// Adds an event at every instant at which the network changes, so that a change pushes no event earlier than the
    /// last one taken from the queue.
    pub(crate) fn plan_changes(&mut self) {
        let end = self.schedule.duration.saturating_add(self.schedule.drain);
        let instants: Vec<Time> = self.changes.iter().flat_map(|changes| changes.instants()).collect();
        for at in instants.into_iter().filter(|at| *at < end) {
            self.state.queue.push(Key::new(at, 0, StepPhase::Timer, NETWORK_CHANGES));
        }
    }

    /// Sets the timers of hosts that pause the network at times.
    pub(crate) fn plan_host_pauses(&mut self) {
        for (host, id) in self.hosts.iter().zip(0..) {
            host.plan_pauses(&mut self.state.driver(id, Time::ZERO));
        }
    }

    /// Returns the instant of the next change of the network.
    pub(crate) fn next_change(&self) -> Option<Time> {
        self.changes.as_ref().and_then(|changes| changes.next_instant())
    }

    /// Applies all changes of the network up to `now`, before any other event of that instant.
    pub(crate) fn change_network(&mut self, now: Time) {
        let Some(mut changes) = self.changes.take() else { return };
        while let Some((at, change)) = changes.changes.get(changes.next).filter(|(at, _)| *at <= now) {
            for event in &change.events {
                changes.losses_before.push(self.losses_at(changes.lossy_directions[*event].as_ref()));
            }
            self.now = *at;
            self.record_port_closures(change, &mut changes.closings);
            self.apply_change(*at, change, changes.dead_port);
            changes.next += 1;
        }
        self.changes = Some(changes);
    }

    fn apply_change(&mut self, now: Time, change: &NetworkChange, policy: DeadPortPolicy) {
        for ((node, port), clock) in &change.clocks {
            self.set_clock((*node, *port), *clock);
        }
        if let Some(routes) = &change.routes {
            self.routes = WorldRoutes(routes.clone());
            self.predicted = PredictedRoute::none();
        }
        let is_mine: BTreeSet<u32> = change.affected_nodes().filter(|node| self.owns(*node)).collect();
        for (node, port) in change.returned_ports.iter().filter(|(node, _)| is_mine.contains(node)) {
            self.handle_returned_link(now, *node, PortId(*port));
        }
        for (node, ports) in change.dead_ports.iter().filter(|(node, _)| is_mine.contains(node)) {
            self.handle_dead_links(now, *node, ports, policy);
        }
        // Ports start to send only after the nodes at both ends of each link have reacted to the change.
        is_mine.into_iter().for_each(|node| self.finish_step_of_node(now, node));
    }

    /// Records the frames lost so far at ports whose links are now treated as dead, or as alive again.
    fn record_port_closures(&self, change: &NetworkChange, closings: &mut Vec<PortClosure>) {
        for closing in
            closings.iter_mut().filter(|one| one.drops_after.is_none() && change.returned_ports.contains(&one.port))
        {
            closing.drops_after = Some(self.drops_at_dead_port(closing.port));
        }
        let closed = change.closed_ports.iter().map(|(event, port)| (*event, *port, self.drops_at_dead_port(*port)));
        closings.extend(closed.map(|(event, port, before)| PortClosure {
            event,
            port,
            drops_before: before,
            drops_after: None,
        }));
    }

    /// Returns the frames lost so far because the link of a port is treated as dead: at the port, and at switches that
    /// it cuts off.
    fn drops_at_dead_port(&self, (node, port): SendingPort) -> u64 {
        let core = match self.hosts.get(node as usize) {
            Some(host) => host.nic(),
            None => self.switches[node as usize - self.hosts.len()].core(),
        };
        let cut_off = self.switches.iter().map(|switch| switch.drops_by_dead_port(node, PortId(port)));
        core.ports()[usize::from(port)].drops_while_dead() + cut_off.sum::<u64>()
    }

    fn set_clock(&mut self, (node, port): SendingPort, clock: ByteClock) {
        match self.hosts.get_mut(node as usize) {
            Some(host) => host.set_clock(clock),
            None => {
                let switch = node as usize - self.hosts.len();
                self.switches[switch].core_mut().set_clock(PortId(port), clock);
            }
        }
    }

    fn handle_dead_links(&mut self, now: Time, node: u32, ports: &[PortId], policy: DeadPortPolicy) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.host_with_step(node as usize);
            return host.on_link_down(policy, &mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].on_links_down(ports, policy, at_switch!(self, driver));
    }

    fn handle_returned_link(&mut self, now: Time, node: u32, port: PortId) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.host_with_step(node as usize);
            return host.on_link_up(&mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].on_link_up(port, at_switch!(self, driver));
    }

    fn finish_step_of_node(&mut self, now: Time, node: u32) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.host_with_step(node as usize);
            return host.finish_step(&mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].finish_step(at_switch!(self, driver));
    }

    /// Removes and counts a frame that is lost at the end of its link. PAUSE and PFC frames are no packets, and of the
    /// copies of a flooded frame only the packet itself counts as lost.
    #[cold]
    pub(crate) fn lose_on_link(&mut self, key: Key, pkt: &Pkt, reason: DropReason) {
        let port = self.state.base[key.node() as usize] + u32::from(pkt.head.ingress.0);
        let is_packet = pkt.head.kind() != PacketKind::Pause && !pkt.head.flags.has(Flags::MISDIRECTED);
        if is_packet {
            self.state.wires.count_lost(key.index(), reason);
            self.state.observer.on_drop(EventLocation { now: self.now, node: key.node(), port }, pkt, reason);
        }
        self.state.wires.count_lost_payload(pkt.payload_bytes());
        self.packet_extensions.free_shared(pkt.ext);
    }

    /// Adds losses on links to the counters of the ports that the frames would have reached.
    pub(crate) fn add_lost_on_links(&self, counts: &mut [PortCounts]) {
        if self.changes.is_none() {
            return;
        }
        for link in 0..self.state.wires.len() as u32 {
            let Some(lost) = self.state.wires.loss_counts(link) else { continue };
            let (node, port) = self.state.wires.far_end(link);
            let there = &mut counts[self.state.base[node as usize] as usize + usize::from(port)].dropped;
            there.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost);
        }
    }

    /// Returns the number of frames lost so far on each link direction of an event.
    fn losses_at(&self, places: Option<&LossyDirections>) -> LossCounts {
        let Some(places) = places else { return LossCounts::default() };
        places.losses(|(node, port): SendingPort| {
            let lost = self.state.wires.loss_counts(self.state.base[node as usize] + u32::from(port));
            lost.map_or(0, |lost| lost[places.reason as usize])
        })
    }

    /// Returns the number of frames that each past event has cost so far.
    pub(crate) fn event_costs(&self) -> Vec<EventCost> {
        let Some(changes) = &self.changes else { return Vec::new() };
        let now: Vec<LossCounts> =
            changes.lossy_directions.iter().map(|places| self.losses_at(places.as_ref())).collect();
        let lost = losses_per_event(&changes.lossy_directions, &changes.losses_before, &now).into_iter().enumerate();
        let by_ports = |event| drops_of_event(event, &changes.closings, |port| self.drops_at_dead_port(port));
        lost.map(|(event, lost)| EventCost { event, lost, dropped: by_ports(event) }).collect()
    }
}
