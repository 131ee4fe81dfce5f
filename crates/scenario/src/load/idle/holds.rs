//! Holding ACKs of which nothing comes, or that says what nobody hears.

use super::{Asked, is_beyond};
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::Node;
use dataplane::transport::TcpConfig;
use mech::{Agent, Room};

const ON: &str = "switch.ack_hold";

/// An agent that holds packets, its switch, and whether it is for its port.
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
            return Some(format!(
                "{ON} holds nothing: all traffic is sent without a transport, and nothing acknowledges it"
            ));
        }
        let mut own = all.iter().filter(|(.., is_for)| *is_for).peekable();
        if own.peek().is_none() {
            return Some(format!(
                "{ON} holds nothing: no port that has it leads to a host, and ports = \"all\" is for the others"
            ));
        }
        let frames = (u64::from(self.scenario.smallest_frame()), u64::from(self.scenario.largest_frame()));
        own.find_map(|(agent, node, config, _)| {
            let needs = config.overflow.slot.peek().needs();
            // Memory beside the buffer counts as waiting at the port as well.
            if needs.back.is_some() || needs.cut.is_some() {
                return None;
            }
            let from = agent.rests_up_to().and_then(Room::amount)?;
            let room = config.buffer.slot.peek().plain().and_then(Room::amount)?;
            is_beyond(from, room, frames).then(|| {
                format!(
                    "{ON} holds nothing at {}, and switches like it: it begins above {from}, and the memory of a port is {room}",
                    node.name
                )
            })
        })
    }

    /// ECE for senders that do not know it.
    fn unheard(&self, all: &[Holder<'_>]) -> Option<String> {
        let echoes = all.iter().any(|(agent, ..)| agent.needs().echoes);
        let capable = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_ecn_capable));
        (echoes && !capable).then(|| {
            let kinds = self.scenario.kinds_in_use();
            format!(
                "{ON}: transport {kinds} is not ECN-capable as it stands, and ignores the ECE of released ACKs: they are late, \
                 and nothing else"
            )
        })
    }

    /// Windows that are more than what is written: no switch knows the scale of a connection.
    fn scaled_windows(&self, all: &[Holder<'_>]) -> Option<String> {
        let bounds = all.iter().any(|(agent, ..)| agent.needs().bounds_windows.is_some());
        let scaled = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::scales_windows));
        (bounds && scaled).then(|| {
            format!(
                "{ON}.release = \"window\" writes windows without a scale, as a switch sees them: hosts whose \
                 transport.receive_window is above {}B take them for a multiple of that",
                u16::MAX
            )
        })
    }

    /// Windows without room for a segment: nobody asks again for what a sender keeps back (RFC 9293 §3.8.6.1 is not modelled).
    fn narrow_windows(&self, all: &[Holder<'_>]) -> Option<String> {
        let least = all.iter().filter_map(|(agent, ..)| agent.needs().bounds_windows).min()?;
        let waits = |tcp: &TcpConfig| (!tcp.sends_into(least.0)).then(|| tcp.mss());
        let mss = self.scenario.stacks()?.most(waits)?;
        Some(format!(
            "{ON}.window_min = {least} is less than a segment, transport.mss = {mss}B: a sender may wait for ever for a window \
             with room for one"
        ))
    }

    fn no_packs(&self) -> Option<String> {
        let asked = self.is_given(&format!("{ON}.packs")) && !self.takes_packs();
        asked.then(|| format!("{ON}.packs has no effect: no host has transport.pack, and there are no PACKs"))
    }
}
