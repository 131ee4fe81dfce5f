//! Warnings about congestion points that never send notices, and about their settings that have no effect.

use super::{WarningContext, is_threshold_unreachable};
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::Node;
use mech::{Account, Agent, ClassSet, PortId, PortThresholds};

const NOTIFY_KEY: &str = "switch.notify";

/// Congestion point, with its switch and port.
struct CongestionPoint<'a> {
    agent: &'a dyn Agent,
    node: &'a Node,
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    number: PortId,
}

impl CongestionPoint<'_> {
    /// Returns the traffic classes whose bytes the congestion point observes.
    fn classes(&self) -> ClassSet {
        let follows = |class: &u8| {
            let all = Account::accounts_of_port(self.number);
            let own = all.filter(|of| matches!(of, Account::Arrived(_, n) | Account::Entered(_, n) if n == class));
            own.into_iter().any(|of| self.agent.range_without_call(of) != Account::UNWATCHED)
        };
        (0..8).filter(follows).fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
    }
}

impl WarningContext<'_> {
    pub(super) fn warn_notices(&self) -> Vec<String> {
        let all = self.list_congestion_points();
        if all.is_empty() {
            return Vec::new();
        }
        let nothing = self.warn_ineffective_notices(&all);
        if nothing.is_some() {
            return nothing.into_iter().collect();
        }
        self.warn_clock_without_pauses(&all).into_iter().collect()
    }

    fn list_congestion_points(&self) -> Vec<CongestionPoint<'_>> {
        let hosts = self.scenario.topology.hosts;
        let switches = self.scenario.topology.nodes.iter().skip(hosts as usize).zip(&self.scenario.switches);
        let mut all = Vec::new();
        for (node, switch) in switches {
            for ((number, link), port) in (0..).map(PortId).zip(&node.ports).zip(&switch.ports) {
                let own =
                    port.agents().filter(|agent| agent.needs().sends_notices && agent.is_for_port(link.peer >= hosts));
                all.extend(own.map(|agent| CongestionPoint { agent, node, switch, port, number }));
            }
        }
        all
    }

    /// Warning about congestion points for a class that no packet has, or with a threshold that no queue reaches.
    fn warn_ineffective_notices(&self, all: &[CongestionPoint<'_>]) -> Option<String> {
        let followed = all.iter().fold(ClassSet::NONE, |set, one| set.union(one.classes()));
        if followed != ClassSet::NONE && followed.minus(self.scenario.classes()) == followed {
            let classes: Vec<String> =
                (0..8).filter(|class| followed.has(*class)).map(|class| class.to_string()).collect();
            return Some(format!(
                "{NOTIFY_KEY} sends no congestion notifications: no packet has class {}, the only class that \
                                 it samples",
                classes.join(", ")
            ));
        }
        let frames = (u64::from(self.scenario.smallest_frame()), u64::from(self.scenario.largest_frame()));
        all.iter().find_map(|one| {
            let at_input = one.switch.model.input_side().map(|cioq| cioq.input_buffer);
            if let (Some(from), Some(room)) =
                (one.agent.input_inactive_up_to().and_then(PortThresholds::amount), at_input)
            {
                return is_threshold_unreachable(from, room, frames).then(|| {
                    let name = &one.node.name;
                    format!(
                        "{NOTIFY_KEY} sends no congestion notifications at {name} and switches like it: notification \
                         begins above {from}, but input_buffer is only {room}"
                    )
                });
            }
            let needs = one.switch.overflow.slot.peek().needs();
            // Bounced and trimmed packets have memory beyond the buffer, but count as queued at the port: the queue may
            // exceed the buffer.
            if needs.bounce_lane.is_some() || needs.cut_memory.is_some() {
                return None;
            }
            let from = one.agent.inactive_up_to().and_then(PortThresholds::amount)?;
            let room = one.switch.buffer.slot.peek().fixed_thresholds().and_then(PortThresholds::amount)?;
            is_threshold_unreachable(from, room, frames).then(|| {
                format!(
                    "{NOTIFY_KEY} sends no congestion notifications at {} and switches like it: notification begins \
                     above {from}, but the buffer of a port is only {room}",
                    one.node.name
                )
            })
        })
    }

    /// Warning about congestion points with `keep_alive`, a timer for pauses of the far end, if no such port pauses.
    fn warn_clock_without_pauses(&self, all: &[CongestionPoint<'_>]) -> Option<String> {
        let mut clocks = all.iter().filter(|one| one.agent.needs().timer_in_pause).peekable();
        clocks.peek()?;
        let mut pauses = clocks.map(|one| one.port.pause.slot.pausing());
        pauses.all(|one| one.is_none()).then(|| {
            format!(
                "{NOTIFY_KEY}.keep_alive has no effect: no port with this mechanism pauses its far end. Set \
                              switch.pause, or remove keep_alive"
            )
        })
    }
}
