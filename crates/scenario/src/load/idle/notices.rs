//! Warnings about congestion points that never send notices, and about parts of them that have no effect.

use super::{Asked, is_beyond};
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::Node;
use mech::{Account, Agent, ClassSet, PortId, Room};

const ON: &str = "switch.notify";

/// Congestion point, with its switch and port.
struct Teller<'a> {
    agent: &'a dyn Agent,
    node: &'a Node,
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    number: PortId,
}

impl Teller<'_> {
    /// Returns the classes that the congestion point follows.
    fn classes(&self) -> ClassSet {
        let follows = |class: &u8| {
            let all = Account::of_port(self.number);
            let own = all.filter(|of| matches!(of, Account::Arrived(_, n) | Account::Entered(_, n) if n == class));
            own.into_iter().any(|of| self.agent.levels(of) != Account::UNWATCHED)
        };
        (0..8).filter(follows).fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
    }
}

impl Asked<'_> {
    pub(super) fn tells(&self) -> Vec<String> {
        let all = self.all_tellers();
        if all.is_empty() {
            return Vec::new();
        }
        let nothing = self.tells_nobody(&all);
        if nothing.is_some() {
            return nothing.into_iter().collect();
        }
        self.no_pauses(&all).into_iter().collect()
    }

    fn all_tellers(&self) -> Vec<Teller<'_>> {
        let hosts = self.scenario.topology.hosts;
        let switches = self.scenario.topology.nodes.iter().skip(hosts as usize).zip(&self.scenario.switches);
        let mut all = Vec::new();
        for (node, switch) in switches {
            for ((number, link), port) in (0..).map(PortId).zip(&node.ports).zip(&switch.ports) {
                let own = port.agents().filter(|agent| agent.needs().notices && agent.is_for_port(link.peer >= hosts));
                all.extend(own.map(|agent| Teller { agent, node, switch, port, number }));
            }
        }
        all
    }

    /// Warning about congestion points of a class that no packet has, or of a length that their queue never reaches.
    fn tells_nobody(&self, all: &[Teller<'_>]) -> Option<String> {
        let followed = all.iter().fold(ClassSet::NONE, |set, one| set.union(one.classes()));
        if followed != ClassSet::NONE && followed.minus(self.scenario.classes()) == followed {
            let classes: Vec<String> =
                (0..8).filter(|class| followed.has(*class)).map(|class| class.to_string()).collect();
            return Some(format!("{ON} never notifies: no packet has class {}, which it monitors", classes.join(", ")));
        }
        let frames = (u64::from(self.scenario.smallest_frame()), u64::from(self.scenario.largest_frame()));
        all.iter().find_map(|one| {
            let at_input = one.switch.model.cioq().map(|cioq| cioq.input_buffer);
            if let (Some(from), Some(room)) = (one.agent.input_rests_up_to().and_then(Room::amount), at_input) {
                return is_beyond(from, room, frames).then(|| {
                    let name = &one.node.name;
                    format!(
                        "{ON} never notifies at {name} and switches like it: notification begins above {from}, and \
                         input_buffer is {room}"
                    )
                });
            }
            let needs = one.switch.overflow.slot.peek().needs();
            // Memory beyond the buffer counts as queued at the port too, so the queue may exceed the buffer.
            if needs.back.is_some() || needs.cut.is_some() {
                return None;
            }
            let from = one.agent.rests_up_to().and_then(Room::amount)?;
            let room = one.switch.buffer.slot.peek().plain().and_then(Room::amount)?;
            is_beyond(from, room, frames).then(|| {
                format!(
                    "{ON} never notifies at {} and switches like it: notification begins above {from}, and the memory \
                     of a port is {room}",
                    one.node.name
                )
            })
        })
    }

    /// Warning about a clock that runs while the far end of a port is paused, if no port pauses.
    fn no_pauses(&self, all: &[Teller<'_>]) -> Option<String> {
        let mut clocks = all.iter().filter(|one| one.agent.needs().clock_in_pause).peekable();
        clocks.peek()?;
        let mut pauses = clocks.map(|one| one.port.pause.slot.pausing());
        pauses
            .all(|one| one.is_none())
            .then(|| format!("{ON}.keep_alive has no effect: no port that has it pauses its far end (switch.pause)"))
    }
}
