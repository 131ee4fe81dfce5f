//! Steps: the events of one instant at one node.

use super::{Predicted, World};
use crate::changes::NETWORK_CHANGES;
use crate::link::Arrived;
use crate::queue::{Key, Phase};
use crate::tap::{Crossed, Tap};
use dataplane::{FLOW_START, MESSAGE_START, Observer, Pkt, Spot, SwitchStep};
use mech::PortId;
use units::Time;

impl<O: Observer, T: Tap> World<O, T> {
    /// Processes one step: the events of one instant at one node.
    pub(super) fn step(&mut self) {
        let Some(key) = self.state.queue.pop() else {
            self.stop = Some(self.seen().nothing_left());
            return;
        };
        if key.time() >= self.milestone && self.passes_milestone(key.time()) {
            // The run has ended before this event, which stays pending.
            self.state.queue.push(key);
            return;
        }
        self.now = key.time();
        if let Some(ahead) = self.state.queue.ahead()
            && ahead.phase() == Phase::Arrival
        {
            // The frame comes from memory while this step is processed.
            self.state.wires.prefetch(ahead.index());
        }
        match (key.node() as usize) < self.hosts.len() {
            true => self.host_step(key),
            false => self.switch_step(key),
        }
        self.predict_route();
    }

    /// Looks up the next hop of the packet that probably arrives next. Its port is then in the cache when the packet
    /// arrives.
    #[inline(always)]
    fn predict_route(&mut self) {
        if self.predicts_routes
            && let Some(key) = self.state.queue.ahead()
            && key.phase() == Phase::Arrival
            && let Some(switch) = self.switches.get((key.node() as usize).wrapping_sub(self.hosts.len()))
            && let Some(pkt) = self.state.wires.first(key.index())
        {
            let port = switch.predict_route(&pkt.head, &self.net);
            self.predicted = Predicted::new(key, port);
        }
    }

    /// Removes an arriving frame from its link. The caller copies it, once and whole, before it writes to it or sends
    /// another: the slot of the frame is free, and the next frame sent reuses it.
    #[inline(always)]
    fn take_arrival(&mut self, key: Key) -> Arrived {
        let link = key.index();
        let arrived = self.state.wires.arrive(link);
        if arrived.next_at != Time::NEVER {
            self.state.queue.push(Key::new(arrived.next_at, key.node(), Phase::Arrival, link));
        }
        self.events += 1;
        arrived
    }

    /// Enters an arriving frame at its node, or loses it at the end of its link. Returns true if it is lost.
    #[inline(always)]
    fn is_lost_on_link(&mut self, key: Key, arrived: Arrived, pkt: &mut Pkt) -> bool {
        arrived.enter(pkt);
        if let Some(reason) = self.state.wires.fate(arrived) {
            self.lose_on_link(key, pkt, reason);
            return true;
        }
        self.hops += 1;
        if O::WANTS.arrivals {
            let port = self.state.base[key.node() as usize] + u32::from(pkt.head.ingress.0);
            self.state.observer.arrived(Spot { now: self.now, node: key.node(), port }, pkt);
        }
        if T::LISTENS {
            self.tap(key.index(), pkt);
        }
        false
    }

    /// Passes a frame whose last bit has just crossed a link to the tap.
    fn tap(&mut self, link: u32, pkt: &Pkt) {
        let (ext, flow_bytes) = (self.exts.get(pkt.ext), self.flows.info(pkt.head.flow).bytes);
        self.tap.crossed(&Crossed { at: self.now, link, pkt, ext, flow_bytes });
    }

    #[inline(always)]
    fn switch_step(&mut self, first: Key) {
        let s = first.node() as usize - self.hosts.len();
        let second = self.state.queue.pop_if_same_step(first);
        // Most steps of a switch are a single arrival: it needs no list, and often no view of the whole switch.
        if second.is_none() && first.phase() == Phase::Arrival {
            let arrived = self.take_arrival(first);
            let mut pkt = *self.state.wires.frame(arrived);
            if self.is_lost_on_link(first, arrived, &mut pkt) {
                return;
            }
            let known = self.predicted.port(first);
            let (now, switch) = (self.now, &mut self.switches[s]);
            if known.is_some_and(|port| {
                switch.passes_at_once(&mut pkt, port, now, &mut self.state.driver(first.node(), now))
            }) {
                return;
            }
            let mut driver = self.state.driver(first.node(), self.now);
            return self.switches[s].arrive_alone(&mut pkt, known, at_switch!(self, driver));
        }
        self.switch_events(s, first, second);
    }

    /// Processes a step of a switch that is anything other than one arrival alone.
    fn switch_events(&mut self, s: usize, first: Key, mut next: Option<Key>) {
        self.arrivals.clear();
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                Phase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        self.arrivals.push(pkt);
                    }
                }
                Phase::Ended => {
                    self.events += 1;
                    let mut driver = self.state.driver(first.node(), self.now);
                    self.switches[s].ended(PortId(key.index() as u16), at_switch!(self, driver));
                }
                Phase::Timer => {
                    self.events += 1;
                    self.timers.push(key.index());
                }
            }
            event = next.take().or_else(|| self.state.queue.pop_if_same_step(first));
        }
        let mut driver = self.state.driver(first.node(), self.now);
        let (switch, step) = (&mut self.switches[s], at_switch!(self, driver));
        // The switch draws the order of its arrivals: that of keys would favour links with low numbers at every tie.
        if !self.arrivals.is_empty() {
            switch.arrive(&mut self.arrivals, step);
        }
        for index in self.timers.drain(..) {
            switch.timer(index, step);
        }
        switch.finish(step);
    }

    fn host_step(&mut self, first: Key) {
        let h = first.node() as usize;
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                Phase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        let (host, mut step) = self.at_host(h);
                        host.arrive(&mut pkt, &mut step);
                    }
                }
                Phase::Ended => {
                    self.events += 1;
                    let (host, mut step) = self.at_host(h);
                    host.ended(&mut step);
                }
                Phase::Timer => {
                    self.events += 1;
                    match key.index() {
                        FLOW_START => self.start_flows(h),
                        MESSAGE_START => self.start_messages(h),
                        NETWORK_CHANGES => {}
                        index => {
                            let (host, mut step) = self.at_host(h);
                            host.timer(index, &mut step);
                        }
                    }
                }
            }
            if !self.state.delivered.is_empty() {
                self.react();
            }
            event = self.state.queue.pop_if_same_step(first);
        }
        let (host, mut step) = self.at_host(h);
        host.finish(&mut step);
    }
}
