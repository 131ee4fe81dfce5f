//! Warnings about ACK holding that has no effect, or that sends signals that no host can read.

use super::{WarningContext, is_threshold_unreachable};
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::Node;
use dataplane::transport::TcpConfig;
use mech::{Agent, PortThresholds};

const ACK_HOLD_KEY: &str = "switch.ack_hold";

/// Agent that holds packets, with its switch and the switch's settings, and true if the agent works at its port.
type AckHolder<'a> = (&'a dyn Agent, &'a Node, &'a SwitchConfig, bool);

fn port_holders(port: &PortConfig) -> impl Iterator<Item = &dyn Agent> {
    port.agents().filter(|agent| agent.needs().hold_memory.is_some())
}

impl WarningContext<'_> {
    pub(super) fn warn_ack_holds(&self) -> Vec<String> {
        let all = self.list_ack_holders();
        if all.is_empty() {
            return Vec::new();
        }
        let nothing = self.warn_ineffective_holds(&all);
        if nothing.is_some() {
            return nothing.into_iter().collect();
        }
        let windows = [self.warn_scaled_windows(&all), self.warn_small_windows(&all)];
        [self.warn_ignored_ece(&all), self.warn_held_packs()].into_iter().chain(windows).flatten().collect()
    }

    fn list_ack_holders(&self) -> Vec<AckHolder<'_>> {
        let (net, hosts) = (&self.scenario.topology, self.scenario.topology.hosts);
        let switches = net.nodes.iter().skip(hosts as usize).zip(&self.scenario.switches);
        let ports = switches.flat_map(|(node, config)| {
            node.ports.iter().zip(&config.ports).map(move |(link, port)| (node, config, link, port))
        });
        ports
            .flat_map(|(node, config, link, port)| {
                port_holders(port).map(move |agent| (agent, node, config, agent.is_for_port(link.peer >= hosts)))
            })
            .collect()
    }

    fn warn_ineffective_holds(&self, all: &[AckHolder<'_>]) -> Option<String> {
        if self.is_all_raw() {
            return Some(format!(
                "{ACK_HOLD_KEY} holds nothing: all traffic is sent without a transport, so there are no ACKs"
            ));
        }
        let mut own = all.iter().filter(|(.., is_for)| *is_for).peekable();
        if own.peek().is_none() {
            return Some(format!(
                "{ACK_HOLD_KEY} holds nothing: no port with this mechanism leads to a host. Set ports = \"all\" to \
                 hold ACKs at other ports as well"
            ));
        }
        let frames = (u64::from(self.scenario.smallest_frame()), u64::from(self.scenario.largest_frame()));
        own.find_map(|(agent, node, config, _)| {
            let needs = config.overflow.slot.peek().needs();
            // Bounced and trimmed packets have memory beyond the buffer, but count as queued at the port: the queue may
            // exceed the buffer.
            if needs.bounce_lane.is_some() || needs.cut_memory.is_some() {
                return None;
            }
            let from = agent.inactive_up_to().and_then(PortThresholds::amount)?;
            let room = config.buffer.slot.peek().fixed_thresholds().and_then(PortThresholds::amount)?;
            is_threshold_unreachable(from, room, frames).then(|| {
                format!(
                    "{ACK_HOLD_KEY} holds nothing at {} and switches like it: holding begins above {from}, but the \
                     buffer of a port is only {room}. Lower the threshold, or increase the buffer",
                    node.name
                )
            })
        })
    }

    /// Warning about ECE for senders that are not ECN-capable.
    fn warn_ignored_ece(&self, all: &[AckHolder<'_>]) -> Option<String> {
        let echoes = all.iter().any(|(agent, ..)| agent.needs().sets_ece);
        let capable =
            self.scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::is_ecn_capable));
        (echoes && !capable).then(|| {
            let kinds = self.scenario.kinds_in_use();
            format!(
                "{ACK_HOLD_KEY}: the transport {kinds} is not ECN-capable as configured and ignores the ECE of \
                 released ACKs, so that holding only delays ACKs. Set transport.ecn = true, or use `dctcp`"
            )
        })
    }

    /// Warning about windows in ACKs that hosts read as larger than written: no switch knows a connection's window
    /// scale.
    fn warn_scaled_windows(&self, all: &[AckHolder<'_>]) -> Option<String> {
        let bounds = all.iter().any(|(agent, ..)| agent.needs().min_window.is_some());
        let scaled = self.scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::scales_windows));
        (bounds && scaled).then(|| {
            format!(
                "{ACK_HOLD_KEY}.release = \"window\": switches do not know the window scale of a connection. With a \
                 transport.receive_window above {}B, hosts scale the written window up, so that the bound is too \
                 large. Lower receive_window",
                u16::MAX
            )
        })
    }

    /// Warning about windows in ACKs that are smaller than a segment: the sender sends no window probes (RFC 9293
    /// §3.8.6.1 is not modelled).
    fn warn_small_windows(&self, all: &[AckHolder<'_>]) -> Option<String> {
        let least = all.iter().filter_map(|(agent, ..)| agent.needs().min_window).min()?;
        let waits = |tcp: &TcpConfig| (!tcp.can_send_into(least.0)).then(|| tcp.mss());
        let mss = self.scenario.transport_table()?.max_of(waits)?;
        Some(format!(
            "{ACK_HOLD_KEY}.window_min = {least} is less than one segment (transport.mss = {mss}B): a sender may wait \
             forever for a window of one segment. Set window_min to {mss}B or more"
        ))
    }

    fn warn_held_packs(&self) -> Option<String> {
        let asked = self.is_given(&format!("{ACK_HOLD_KEY}.packs")) && !self.has_pack_receivers();
        asked.then(|| format!("{ACK_HOLD_KEY}.packs has no effect: no host has transport.pack, so there are no PACKs"))
    }
}
