//! Starts of messages: those that the scenario plans, and those that start when other messages have arrived.

use super::World;
use crate::progress::FlowRecord;
use crate::queue::{Key, StepPhase};
use crate::tap::Tap;
use dataplane::Observer;
use dataplane::{FLOW_START, MESSAGE_START, NewFlow};
use mech::{FlowId, HostId, hash_mix};
use scenario::traffic::{ENDLESS_BYTES, FlowRole, FlowSpec, FollowUps, OWN_CONNECTION, Traffic};
use std::collections::BTreeMap;
use units::Time;

/// Messages that start when others have arrived: their rules, and the messages that have not started yet.
#[derive(Clone)]
pub(crate) struct ClosedLoop {
    /// Rules by which arrivals of each workload start other messages; `None` if they start none.
    reactions: Vec<Option<FollowUps>>,
    /// Messages that have not started yet, by instant and host.
    due_messages: BTreeMap<(Time, HostId), Vec<DueMessage>>,
    /// Buffer for the messages that the last arrival starts.
    followers: Vec<FlowSpec>,
    /// Flow that opened each persistent connection, by workload and number of the connection.
    connections: Vec<Vec<Option<FlowId>>>,
}

/// Message that has not started yet. `is_measured` is true if the query that it is part of is measured; `None` if it is
/// part of no query that began before.
#[derive(Clone, Copy, Debug)]
struct DueMessage {
    spec: FlowSpec,
    is_measured: Option<bool>,
    /// True if the run waits for the message, and no measured query counts it as missing already.
    is_pending: bool,
}

impl DueMessage {
    /// Returns the key by which messages of the same instant and host are ordered. It depends on the messages alone, so
    /// that the order in which they were planned does not matter.
    fn order_key(&self) -> (u16, u32, FlowRole, u64, HostId, u32, u64) {
        let FlowSpec { traffic, query, role, tag, dst, connection, bytes, .. } = self.spec;
        (traffic, query, role, tag, dst, connection, bytes)
    }
}

/// Smallest value for the ports of messages that arrivals start, above all positions in the list of flows.
const MIN_FOLLOWER_PORTS: u64 = 1 << 47;

/// Returns the port numbers, for the ECMP hash, of a message that arrivals start or that uses a persistent connection.
/// They depend on the numbers of the message within its workload, so that neither time nor other flows change its path.
fn ecmp_port_numbers(spec: &FlowSpec) -> u64 {
    let FlowSpec { traffic, query, role, tag, connection, .. } = *spec;
    let whose = match connection {
        OWN_CONNECTION => hash_mix(u64::from(query) << 1 | u64::from(role == FlowRole::Request), tag),
        number => hash_mix(u64::MAX, u64::from(number)),
    };
    MIN_FOLLOWER_PORTS | (hash_mix(whose, u64::from(traffic)) % MIN_FOLLOWER_PORTS)
}

impl ClosedLoop {
    pub(crate) fn new(traffic: &[Traffic], seed: u64) -> ClosedLoop {
        let reactions = traffic.iter().enumerate().map(|(i, workload)| workload.follow_ups(i as u16, seed));
        ClosedLoop {
            reactions: reactions.collect(),
            due_messages: BTreeMap::new(),
            followers: Vec::new(),
            connections: vec![Vec::new(); traffic.len()],
        }
    }

    /// Returns true, for each workload, if the arrival of its messages may start others.
    pub(crate) fn workloads_with_followers(&self) -> Vec<bool> {
        self.reactions.iter().map(Option::is_some).collect()
    }

    /// Adds a message that is to start later. Returns true if it is the first for its instant and host.
    fn add_message(&mut self, due: DueMessage) -> bool {
        let here = self.due_messages.entry((due.spec.start, due.spec.src)).or_default();
        here.push(due);
        here.len() == 1
    }

    /// Returns the flow that opened a persistent connection; `None` before its first message.
    fn connection(&mut self, workload: u16, number: u32) -> &mut Option<FlowId> {
        let of_workload = &mut self.connections[usize::from(workload)];
        if of_workload.len() <= number as usize {
            of_workload.resize(number as usize + 1, None);
        }
        &mut of_workload[number as usize]
    }
}

impl<O: Observer, T: Tap> World<O, T> {
    /// Plans the messages that start because of those that have just arrived.
    #[cold]
    pub(crate) fn plan_followers(&mut self) {
        let delivered = std::mem::take(&mut self.state.delivered);
        let mut followers = std::mem::take(&mut self.closed_loop.followers);
        for flow in &delivered {
            let message = self.flow_spec(*flow);
            let counts = self.state.records[flow.0 as usize].measured;
            let Some(reaction) = &mut self.closed_loop.reactions[usize::from(message.traffic)] else { continue };
            reaction.on_delivered(&message, self.now, &mut followers);
            for mut spec in followers.drain(..) {
                debug_assert_eq!(spec.src, message.dst, "a follow-up starts at the host that the message reached");
                spec.start = spec.start.max(self.now);
                let part = spec.query == message.query && spec.query != u32::MAX;
                let is_pending = part && counts && !self.state.queries.is_measured(spec.traffic, spec.query);
                self.plan_message(DueMessage { spec, is_measured: part.then_some(counts), is_pending });
            }
        }
        self.state.delivered = delivered;
        self.state.delivered.clear();
        self.closed_loop.followers = followers;
    }

    /// Returns the specification of a flow that has started.
    fn flow_spec(&self, flow: FlowId) -> FlowSpec {
        let (record, info) = (&self.state.records[flow.0 as usize], self.flows.info(flow));
        FlowSpec {
            start: record.start,
            src: info.src,
            dst: info.dst,
            bytes: info.bytes,
            traffic: record.traffic,
            query: record.query,
            class: info.class,
            role: record.role,
            tag: record.tag,
            connection: record.connection_number,
        }
    }

    fn plan_message(&mut self, due: DueMessage) {
        self.state.pending += u64::from(due.is_pending);
        let FlowSpec { start, src, .. } = due.spec;
        // A message beyond the end of time stays pending: the run counts it as unfinished, and it never starts.
        if start < Time::NEVER && self.closed_loop.add_message(due) {
            self.state.queue.push(Key::new(start, src.0, StepPhase::Timer, MESSAGE_START));
        }
    }

    /// Starts the messages of host `h` that are due now because of arrivals.
    pub(crate) fn start_messages(&mut self, h: usize) {
        let mut due = self.closed_loop.due_messages.remove(&(self.now, HostId(h as u32))).unwrap_or_default();
        due.sort_unstable_by_key(DueMessage::order_key);
        for due in due {
            self.state.pending -= u64::from(due.is_pending);
            let measured = due.is_measured.unwrap_or_else(|| self.in_window(due.spec.start));
            self.start_message(&due.spec, ecmp_port_numbers(&due.spec), measured);
        }
    }

    /// Starts the flows of host `h` that the scenario plans for now, and adds the event of the next one.
    pub(crate) fn start_flows(&mut self, h: usize) {
        while let Some(spec) = self.next.filter(|spec| spec.start == self.now && spec.src.0 as usize == h) {
            self.next = self.pending.next();
            let ports = if spec.connection == OWN_CONNECTION { self.planned_flows } else { ecmp_port_numbers(&spec) };
            self.planned_flows += 1;
            self.start_message(&spec, ports, self.in_window(spec.start));
        }
        self.plan_next_flow();
    }

    /// Adds the event of the next flow that the scenario plans. A partition skips the flows of other partitions but
    /// counts them, so that flows have the same ports in any division.
    pub(crate) fn plan_next_flow(&mut self) {
        while let (Some(spec), Some(part)) = (&self.next, &self.part) {
            if part.owns(spec.src.0) {
                break;
            }
            self.planned_flows += 1;
            self.next = self.pending.next();
        }
        if let Some(spec) = self.next {
            self.state.queue.push(Key::new(spec.start, spec.src.0, StepPhase::Timer, FLOW_START));
        }
    }

    fn in_window(&self, at: Time) -> bool {
        at >= self.schedule.from && at < self.schedule.to
    }

    /// Starts a message, on a new connection or on a persistent one.
    fn start_message(&mut self, spec: &FlowSpec, ports: u64, measured: bool) {
        let FlowSpec { src, dst, bytes, class, .. } = *spec;
        let row = self.tcp.row_of(spec.traffic);
        let code_point = self.dscps.code_point(spec.traffic, class);
        let new = NewFlow { src, dst, ports, bytes, class, code_point, row, raw: false };
        let persistent =
            (spec.connection != OWN_CONNECTION).then(|| *self.closed_loop.connection(spec.traffic, spec.connection));
        let message = match persistent.flatten() {
            Some(connection) => self.flows.add_message(connection, spec.bytes),
            None => self.flows.add(new),
        };
        let connection = persistent.flatten().unwrap_or(message);
        // A flow without an end has no completion time to measure, and the run must not wait for it.
        let measured = measured && spec.bytes != ENDLESS_BYTES;
        self.state.add_flow_record(message, FlowRecord::new(spec, connection, measured));
        let awaited = self.state.records[message.0 as usize].awaited;
        self.state.unfinished_flows = self.state.unfinished_flows.wrapping_add(u64::from(awaited));
        if persistent.is_some() {
            *self.closed_loop.connection(spec.traffic, spec.connection) = Some(connection);
        }
        let (host, mut step) = self.host_with_step(spec.src.0 as usize);
        match persistent {
            Some(_) => host.write(connection, message, &mut step),
            None => host.start(message, &mut step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SPEC: FlowSpec = FlowSpec {
        start: Time(7),
        src: HostId(1),
        dst: HostId(2),
        bytes: 100,
        traffic: 0,
        query: 0,
        class: 0,
        role: FlowRole::Data,
        tag: 0,
        connection: OWN_CONNECTION,
    };

    #[test]
    fn follow_up_ports_are_distinct_and_independent_of_time() {
        let mut all = BTreeSet::new();
        for i in 0..400u16 {
            let (traffic, query, tag) = (i & 3, u32::from(i >> 2 & 3), u64::from(i >> 5));
            let role = if i & 16 == 0 { FlowRole::Data } else { FlowRole::Request };
            for connection in [OWN_CONNECTION, u32::from(i)] {
                let spec = FlowSpec { traffic, query, tag, role, connection, ..SPEC };
                let ports = ecmp_port_numbers(&spec);
                assert!((MIN_FOLLOWER_PORTS..1 << 48).contains(&ports), "no place in a list");
                assert_eq!(ports, ecmp_port_numbers(&FlowSpec { start: Time(9), bytes: 1, ..spec }));
                all.insert(ports);
            }
        }
        assert_eq!(all.len(), 800);
    }

    #[test]
    fn persistent_connection_ports_ignore_the_opening_message() {
        let persistent = FlowSpec { connection: 3, ..SPEC };
        assert_eq!(
            ecmp_port_numbers(&persistent),
            ecmp_port_numbers(&FlowSpec { query: 8, tag: 2, role: FlowRole::Request, ..persistent })
        );
        assert_ne!(ecmp_port_numbers(&persistent), ecmp_port_numbers(&FlowSpec { connection: 4, ..persistent }));
    }
}
