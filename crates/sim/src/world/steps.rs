//! Steps: the events of one instant at one node.

use super::{PredictedRoute, World};
use crate::change_schedule::NETWORK_CHANGES;
use crate::link::ArrivedFrame;
use crate::queue::{Key, StepPhase};
use crate::tap::{CrossedFrame, Tap};
use dataplane::{EventLocation, FLOW_START, MESSAGE_START, Observer, Pkt, SwitchStep};
use mech::PortId;
use units::Time;

impl<O: Observer, T: Tap> World<O, T> {
    /// Processes one step: the events of one instant at one node.
    pub(super) fn step(&mut self) {
        let Some(key) = self.state.queue.pop() else {
            self.stop = Some(self.run_status().stop_without_events());
            return;
        };
        if key.time() >= self.milestone && self.handle_milestones(key.time()) {
            // The run has ended before this event, which stays pending.
            self.state.queue.push(key);
            return;
        }
        self.now = key.time();
        if let Some(ahead) = self.state.queue.peek_if_cheap() {
            if ahead.phase() == StepPhase::Arrival {
                // The frame of the next event is loaded from memory while this step is processed, so that the next
                // step need not wait for it.
                self.state.wires.prefetch_arrival(ahead.index());
            }
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
        if !self.predicts_routes {
            return;
        }
        let Some(key) = self.state.queue.peek_if_cheap() else { return };
        if key.phase() != StepPhase::Arrival {
            return;
        }
        let Some(switch) = self.switches.get((key.node() as usize).wrapping_sub(self.hosts.len())) else { return };
        let Some(pkt) = self.state.wires.first_frame(key.index()) else { return };
        let port = switch.predict_route(&pkt.head, &self.routes);
        self.predicted = PredictedRoute::new(key, port);
    }

    /// Removes an arriving frame from its link, and adds the event of the next arrival. The caller copies the frame,
    /// once and whole, before it changes the frame or sends another: the slot is free, and the next frame sent reuses
    /// it.
    #[inline(always)]
    fn take_arrival(&mut self, key: Key) -> ArrivedFrame {
        let link = key.index();
        let arrived = self.state.wires.take_arrival(link);
        if arrived.next_at != Time::NEVER {
            self.state.queue.push(Key::new(arrived.next_at, key.node(), StepPhase::Arrival, link));
        }
        self.events += 1;
        arrived
    }

    /// Returns true if an arriving frame is lost at the end of its link, and counts the loss; otherwise the frame has
    /// arrived.
    #[inline(always)]
    fn is_lost_on_link(&mut self, key: Key, arrived: ArrivedFrame, pkt: &mut Pkt) -> bool {
        arrived.write_ingress(pkt);
        if let Some(reason) = self.state.wires.take_outcome(arrived) {
            self.lose_on_link(key, pkt, reason);
            return true;
        }
        self.hops += 1;
        if O::OBSERVED.arrivals {
            let port = self.state.base[key.node() as usize] + u32::from(pkt.head.ingress.0);
            self.state.observer.on_arrival(EventLocation { now: self.now, node: key.node(), port }, pkt);
        }
        if T::IS_ENABLED {
            self.call_tap(key.index(), pkt);
        }
        false
    }

    /// Passes a frame whose last bit has just crossed a link to the tap.
    fn call_tap(&mut self, link: u32, pkt: &Pkt) {
        let (ext, flow_bytes) = (self.packet_extensions.get(pkt.ext), self.flows.info(pkt.head.flow).bytes);
        self.tap.on_frame_crossed(&CrossedFrame { at: self.now, link, pkt, ext, flow_bytes });
    }

    #[inline(always)]
    fn switch_step(&mut self, first: Key) {
        let s = first.node() as usize - self.hosts.len();
        let second = self.state.queue.pop_if_same_step(first);
        // Most steps of a switch are a single arrival: it needs no list, and often no view of the whole switch.
        if second.is_none() && first.phase() == StepPhase::Arrival {
            let arrived = self.take_arrival(first);
            let mut pkt = *self.state.wires.arrived_frame(arrived);
            if self.is_lost_on_link(first, arrived, &mut pkt) {
                return;
            }
            let known = self.predicted.port(first);
            let (now, switch) = (self.now, &mut self.switches[s]);
            if known.is_some_and(|port| {
                switch.try_fast_path(&mut pkt, port, now, &mut self.state.driver(first.node(), now))
            }) {
                return;
            }
            let mut driver = self.state.driver(first.node(), self.now);
            return self.switches[s].receive_single(&mut pkt, known, at_switch!(self, driver));
        }
        self.switch_events(s, first, second);
    }

    /// Processes a step of a switch that is more than a single arrival.
    fn switch_events(&mut self, s: usize, first: Key, mut next: Option<Key>) {
        self.arrivals.clear();
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                StepPhase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.arrived_frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        self.arrivals.push(pkt);
                    }
                }
                StepPhase::Ended => {
                    self.events += 1;
                    let mut driver = self.state.driver(first.node(), self.now);
                    self.switches[s].on_transmit_end(PortId(key.index() as u16), at_switch!(self, driver));
                }
                StepPhase::Timer => {
                    self.events += 1;
                    self.timers.push(key.index());
                }
            }
            event = next.take().or_else(|| self.state.queue.pop_if_same_step(first));
        }
        let mut driver = self.state.driver(first.node(), self.now);
        let (switch, step) = (&mut self.switches[s], at_switch!(self, driver));
        // The switch draws the order of its arrivals, since the order of keys would favour links with low numbers at
        // every tie.
        if !self.arrivals.is_empty() {
            switch.receive(&mut self.arrivals, step);
        }
        for index in self.timers.drain(..) {
            switch.on_timer(index, step);
        }
        switch.finish_step(step);
    }

    fn host_step(&mut self, first: Key) {
        let h = first.node() as usize;
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                StepPhase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.arrived_frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        let (host, mut step) = self.host_with_step(h);
                        host.receive(&mut pkt, &mut step);
                    }
                }
                StepPhase::Ended => {
                    self.events += 1;
                    let (host, mut step) = self.host_with_step(h);
                    host.on_transmit_end(&mut step);
                }
                StepPhase::Timer => {
                    self.events += 1;
                    match key.index() {
                        FLOW_START => self.start_flows(h),
                        MESSAGE_START => self.start_messages(h),
                        NETWORK_CHANGES => {}
                        index => {
                            let (host, mut step) = self.host_with_step(h);
                            host.on_timer(index, &mut step);
                        }
                    }
                }
            }
            if !self.state.delivered.is_empty() {
                self.plan_followers();
            }
            event = self.state.queue.pop_if_same_step(first);
        }
        let (host, mut step) = self.host_with_step(h);
        host.finish_step(&mut step);
    }
}
