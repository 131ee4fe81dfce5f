//! Warnings about ACK holding that has no effect, or that sends signals that no host can read.

use super::{Asked, is_beyond};
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::Node;
use dataplane::transport::TcpConfig;
use mech::{Agent, Room};

const ON: &str = "switch.ack_hold";

/// Agent that holds packets, with its node and switch; the flag is true if the agent is meant for its port.
type Holder<'a> = (&'a dyn Agent, &'a Node, &'a SwitchConfig, bool);

fn holders(port: &PortConfig) -> impl Iterator<Item = &dyn Agent> {
    port.agents().filter(|agent| agent.needs().held.is_some())
}

impl Asked<'_> {
    pub(super) fn holds(&self) -> Vec<String> {
        let all = self.all_holders();
        if all.is_empty() {
            return Vec::new();
        }
        let nothing = self.holds_nothing(&all);
        if nothing.is_some() {
            return nothing.into_iter().collect();
        }
        let windows = [self.scaled_windows(&all), self.narrow_windows(&all)];
        [self.unheard(&all), self.no_packs()].into_iter().chain(windows).flatten().collect()
    }

    fn all_holders(&self) -> Vec<Holder<'_>> {
        let (net, hosts) = (&self.scenario.topology, self.scenario.topology.hosts);
        let switches = net.nodes.iter().skip(hosts as usize).zip(&self.scenario.switches);
        let ports = switches.flat_map(|(node, config)| {
            node.ports.iter().zip(&config.ports).map(move |(link, port)| (node, config, link, port))
        });
        ports
            .flat_map(|(node, config, link, port)| {
                holders(port).map(move |agent| (agent, node, config, agent.is_for_port(link.peer >= hosts)))
            })
            .collect()
    }

    fn holds_nothing(&self, all: &[Holder<'_>]) -> Option<String> {
        if self.is_raw() {
            return Some(format!("{ON} holds nothing: all traffic is sent without a transport, so there are no ACKs"));
        }
        let mut own = all.iter().filter(|(.., is_for)| *is_for).peekable();
        if own.peek().is_none() {
            return Some(format!(
                "{ON} holds nothing: no port that has it leads to a host. Set ports = \"all\" for other ports"
            ));
        }
        let frames = (u64::from(self.scenario.smallest_frame()), u64::from(self.scenario.largest_frame()));
        own.find_map(|(agent, node, config, _)| {
            let needs = config.overflow.slot.peek().needs();
            // Memory beyond the buffer counts as queued at the port too, so the queue may exceed the buffer.
            if needs.back.is_some() || needs.cut.is_some() {
                return None;
            }
            let from = agent.rests_up_to().and_then(Room::amount)?;
            let room = config.buffer.slot.peek().plain().and_then(Room::amount)?;
            is_beyond(from, room, frames).then(|| {
                format!(
                    "{ON} holds nothing at {} and switches like it: holding begins above {from}, and the memory of a \
                     port is {room}",
                    node.name
                )
            })
        })
    }

    /// Warning about ECE for senders that are not ECN-capable.
    fn unheard(&self, all: &[Holder<'_>]) -> Option<String> {
        let echoes = all.iter().any(|(agent, ..)| agent.needs().echoes);
        let capable = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_ecn_capable));
        (echoes && !capable).then(|| {
            let kinds = self.scenario.kinds_in_use();
            format!(
                "{ON}: transport {kinds} is not ECN-capable as configured and ignores the ECE of released ACKs: \
                 holding only delays ACKs"
            )
        })
    }

    /// Warning about windows that hosts read as larger than written: no switch has the scale of a connection.
    fn scaled_windows(&self, all: &[Holder<'_>]) -> Option<String> {
        let bounds = all.iter().any(|(agent, ..)| agent.needs().bounds_windows.is_some());
        let scaled = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::scales_windows));
        (bounds && scaled).then(|| {
            format!(
                "{ON}.release = \"window\" writes windows without the scale of a connection, which switches do not \
                 have: hosts whose transport.receive_window is above {}B multiply them by it",
                u16::MAX
            )
        })
    }

    /// Warning about windows without space for a segment: the sender sends no window probes (RFC 9293 §3.8.6.1 is not
    /// modelled).
    fn narrow_windows(&self, all: &[Holder<'_>]) -> Option<String> {
        let least = all.iter().filter_map(|(agent, ..)| agent.needs().bounds_windows).min()?;
        let waits = |tcp: &TcpConfig| (!tcp.sends_into(least.0)).then(|| tcp.mss());
        let mss = self.scenario.stacks()?.most(waits)?;
        Some(format!(
            "{ON}.window_min = {least} is less than a segment, transport.mss = {mss}B: a sender may wait forever for \
             a window of one segment"
        ))
    }

    fn no_packs(&self) -> Option<String> {
        let asked = self.is_given(&format!("{ON}.packs")) && !self.takes_packs();
        asked.then(|| format!("{ON}.packs has no effect: no host has transport.pack, so there are no PACKs"))
    }
}
