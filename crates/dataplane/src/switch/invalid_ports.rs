//! Packets that are lost because routing or a forwarding table broke a rule.

use super::{Routes, Switch, SwitchFib, SwitchStep};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::DropReason;
use mech::routing::NO_HOP;
use mech::{PortId, Rule};

impl Switch {
    /// Returns true if the switch has this port.
    #[inline(always)]
    pub(super) fn has_port(&self, port: PortId) -> bool {
        usize::from(port.0) < self.core.ports().len()
    }

    /// Drops a packet whose routing broke a rule, and records the rule.
    #[cold]
    pub(super) fn drop_invalid_route<R: Routes, O: Out>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        step: &mut SwitchStep<R, O>,
    ) {
        let rule = match port {
            _ if !self.acts.list.is_empty() => Rule::ForbiddenAction,
            NO_HOP => Rule::NoHop,
            _ => Rule::NoPort(port),
        };
        self.acts.clear();
        self.core.record_broken_rule("routing", pkt.head.ingress, rule);
        self.drop_before_output(pkt, DropReason::NoRoute, step);
    }

    /// Drops a packet whose forwarding table names a port that does not exist, and records the broken rule.
    pub(super) fn drop_invalid_address<R: Routes, O: Out>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        step: &mut SwitchStep<R, O>,
    ) {
        let slot = switch_fib!(self, step).slot_name();
        self.core.record_broken_rule(slot, pkt.head.ingress, Rule::NoPort(port));
        self.drop_before_output(pkt, DropReason::NoRoute, step);
    }
}
