//! Changes of the network during a run: nodes react to dead links, routes are swapped, and losses on links are
//! counted.

use super::{Net, Predicted, World};
use crate::changes::{NETWORK_CHANGES, Turn};
use crate::costs::{Closing, Cost, Losses, Places, dropped, lost_on_links};
use crate::queue::{Key, Phase};
use crate::tap::Tap;
use dataplane::{DeadPort, Observer, Pkt, PortCounts, Spot, SwitchStep};
use mech::overflow::DropReason;
use mech::{Flags, PacketKind, PortId};
use scenario::events::Sender;
use std::collections::BTreeSet;
use units::{Clock, Time};

impl<O: Observer, T: Tap> World<O, T> {
    /// Adds an event at every instant of a change, so that no event is pushed before the one taken last.
    pub(crate) fn plan_changes(&mut self) {
        let end = self.schedule.duration.saturating_add(self.schedule.drain);
        let instants: Vec<Time> = self.changes.iter().flat_map(|changes| changes.instants()).collect();
        for at in instants.into_iter().filter(|at| *at < end) {
            self.state.queue.push(Key::new(at, 0, Phase::Timer, NETWORK_CHANGES));
        }
    }

    /// Returns the instant of the next change of the network.
    pub(crate) fn next_change(&self) -> Option<Time> {
        self.changes.as_ref().and_then(|changes| changes.next_at())
    }

    /// Applies every change up to `now`, before any other event of that instant.
    pub(crate) fn change_network(&mut self, now: Time) {
        let Some(mut changes) = self.changes.take() else { return };
        while let Some((at, turn)) = changes.turns.get(changes.next).filter(|(at, _)| *at <= now) {
            for event in &turn.events {
                changes.before.push(self.losses_at(changes.places[*event].as_ref()));
            }
            self.now = *at;
            self.count_closings(turn, &mut changes.closings);
            self.turn(*at, turn, changes.dead_port);
            changes.next += 1;
        }
        self.changes = Some(changes);
    }

    fn turn(&mut self, now: Time, turn: &Turn, then: DeadPort) {
        for ((node, port), clock) in &turn.clocks {
            self.set_clock((*node, *port), *clock);
        }
        if let Some(routes) = &turn.routes {
            self.net = Net(routes.clone());
            self.predicted = Predicted::nothing();
        }
        let is_mine: BTreeSet<u32> = turn.touched().filter(|node| self.owns(*node)).collect();
        for (node, port) in turn.returned.iter().filter(|(node, _)| is_mine.contains(node)) {
            self.link_returned(now, *node, PortId(*port));
        }
        for (node, ports) in turn.died.iter().filter(|(node, _)| is_mine.contains(node)) {
            self.links_died(now, *node, ports, then);
        }
        // Ports start to send only after all ends have reacted to the change.
        is_mine.into_iter().for_each(|node| self.finish_node(now, node));
    }

    /// Records the frames lost so far because of ports whose links turn dead or alive.
    fn count_closings(&self, turn: &Turn, closings: &mut Vec<Closing>) {
        for closing in closings.iter_mut().filter(|one| one.after.is_none() && turn.returned.contains(&one.port)) {
            closing.after = Some(self.lost_by_dead(closing.port));
        }
        let closed = turn.closed.iter().map(|(event, port)| (*event, *port, self.lost_by_dead(*port)));
        closings.extend(closed.map(|(event, port, before)| Closing { event, port, before, after: None }));
    }

    /// Returns the frames lost so far because the link of a port is treated as dead: at the port, and at switches that
    /// it cuts off.
    fn lost_by_dead(&self, (node, port): Sender) -> u64 {
        let core = match self.hosts.get(node as usize) {
            Some(host) => host.nic(),
            None => self.switches[node as usize - self.hosts.len()].core(),
        };
        let cut_off = self.switches.iter().map(|switch| switch.lost_by(node, PortId(port)));
        core.ports()[usize::from(port)].lost_while_dead() + cut_off.sum::<u64>()
    }

    fn set_clock(&mut self, (node, port): Sender, clock: Clock) {
        match self.hosts.get_mut(node as usize) {
            Some(host) => host.set_clock(clock),
            None => {
                let switch = node as usize - self.hosts.len();
                self.switches[switch].core_mut().set_clock(PortId(port), clock);
            }
        }
    }

    fn links_died(&mut self, now: Time, node: u32, ports: &[PortId], then: DeadPort) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.at_host(node as usize);
            return host.link_died(then, &mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].links_died(ports, then, at_switch!(self, driver));
    }

    fn link_returned(&mut self, now: Time, node: u32, port: PortId) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.at_host(node as usize);
            return host.link_returned(&mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].link_returned(port, at_switch!(self, driver));
    }

    fn finish_node(&mut self, now: Time, node: u32) {
        if (node as usize) < self.hosts.len() {
            let (host, mut step) = self.at_host(node as usize);
            return host.finish(&mut step);
        }
        let mut driver = self.state.driver(node, now);
        self.switches[node as usize - self.hosts.len()].finish(at_switch!(self, driver));
    }

    /// Loses a frame that has come to the end of its link. PAUSE and PFC frames are no packets, and of the copies of
    /// a flooded frame only the packet itself counts as lost.
    #[cold]
    pub(crate) fn lose_on_link(&mut self, key: Key, pkt: &Pkt, reason: DropReason) {
        let port = self.state.base[key.node() as usize] + u32::from(pkt.head.ingress.0);
        let is_packet = pkt.head.kind() != PacketKind::Pause && !pkt.head.flags.has(Flags::MISDIRECTED);
        if is_packet {
            self.state.wires.count_lost(key.index(), reason);
            self.state.observer.dropped(Spot { now: self.now, node: key.node(), port }, pkt, reason);
        }
        self.state.wires.count_lost_payload(pkt.carried());
        self.exts.free_shared(pkt.ext);
    }

    /// Adds losses on links to the counts of the ports that the frames did not reach.
    pub(crate) fn add_lost_on_links(&self, counts: &mut [PortCounts]) {
        if self.changes.is_none() {
            return;
        }
        for link in 0..self.state.wires.len() as u32 {
            let Some(lost) = self.state.wires.lost(link) else { continue };
            let (node, port) = self.state.wires.far(link);
            let there = &mut counts[self.state.base[node as usize] as usize + usize::from(port)].dropped;
            there.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost);
        }
    }

    /// Returns the losses so far on an event's directions.
    fn losses_at(&self, places: Option<&Places>) -> Losses {
        let Some(places) = places else { return Losses::default() };
        places.losses(|(node, port): Sender| {
            let lost = self.state.wires.lost(self.state.base[node as usize] + u32::from(port));
            lost.map_or(0, |lost| lost[places.reason as usize])
        })
    }

    /// Returns the cost so far of every past event.
    pub(crate) fn costs_so_far(&self) -> Vec<Cost> {
        let Some(changes) = &self.changes else { return Vec::new() };
        let now: Vec<Losses> = changes.places.iter().map(|places| self.losses_at(places.as_ref())).collect();
        let lost = lost_on_links(&changes.places, &changes.before, &now).into_iter().enumerate();
        let by_ports = |event| dropped(event, &changes.closings, |port| self.lost_by_dead(port));
        lost.map(|(event, lost)| Cost { event, lost, dropped: by_ports(event) }).collect()
    }
}
