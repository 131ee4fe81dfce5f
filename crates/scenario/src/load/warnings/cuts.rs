//! Warnings about switches that can cut no packet, and about cuts that receivers do not report to senders.

use super::{Node, WarningContext};
use crate::model::SwitchConfig;
use dataplane::transport::TcpConfig;
use mech::{ClassSet, DscpTable, Head};
use std::collections::BTreeSet;

const OVERFLOW_KEY: &str = "switch.overflow";

/// Returns the warning that switches cut nothing, because senders forbid it for all data that could be cut.
fn describe_forbidden_cuts(whose: &str) -> String {
    format!(
        "{OVERFLOW_KEY} cuts nothing: {whose}. RoCE data is not trimmable, because go-back-N cannot use a header \
         without payload. Switches drop these packets instead. Use a transport with `pack = true`"
    )
}

impl WarningContext<'_> {
    pub(super) fn warn_cuts(&self) -> Vec<String> {
        let switches = self.scenario.switches.iter();
        let cutting: Vec<_> =
            switches.filter(|switch| switch.overflow.slot.peek().needs().cut_memory.is_some()).collect();
        if cutting.is_empty() {
            return self.warn_loss_detection().into_iter().collect();
        }
        let nothing = self.warn_ineffective_cuts(&cutting);
        let lists = [nothing, self.warn_shared_dscp(), self.warn_header_class(&cutting), self.warn_codepoint()];
        lists.into_iter().flatten().collect()
    }

    pub(super) fn has_pack_receivers(&self) -> bool {
        self.scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::supports_packs))
    }

    /// Returns the warning about hosts with PACK (ACKs that report cut packets) if no switch cuts packets. They get no
    /// PACK, but detect losses by other rules than hosts without it.
    fn warn_loss_detection(&self) -> Option<String> {
        let stacks = self.scenario.transport_table()?;
        let is_by_count = stacks.any_config(|tcp| tcp.supports_packs() && !tcp.detects_losses_by_time());
        let is_by_time = stacks.any_config(|tcp| tcp.supports_packs() && tcp.detects_losses_by_time());
        let of_count = "senders use pack_dupack_threshold instead of dupack_threshold, and send new segments for \
                        SACKed data as with limited_transmit";
        let of_time = "senders stop waiting for reordered segments after pack_dupack_threshold SACKed segments, \
                       instead of dupack_threshold";
        let changed = match (is_by_count, is_by_time) {
            (false, false) => return None,
            (true, false) => of_count.to_string(),
            (false, true) => of_time.to_string(),
            (true, true) => format!("{of_count}; with recovery = \"rack\" {of_time}"),
        };
        Some(format!(
            "transport.pack: receivers send no PACKs, because no switch cuts packets. Yet `pack` changes how losses \
             are detected: {changed}. Set switch.overflow = \"trim\", or pack = false"
        ))
    }

    /// Returns a value of `switch.overflow` as written.
    fn overflow_setting(&self, key: &str) -> Option<&Node> {
        self.document.get("switch")?.get("overflow")?.get(key)
    }

    /// Returns the warning that switches cut no packet, or that receivers do not report cut packets.
    fn warn_ineffective_cuts(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let longest = self.scenario.largest_frame();
        let stays = cutting.iter().map(|switch| switch.overflow.slot.peek().cut_effect().min_size).min()?;
        if stays >= longest {
            return Some(format!(
                "{OVERFLOW_KEY} cuts nothing: a cut frame keeps {stays} B, and the longest frame has only {longest} B. \
                 Reduce the bytes that are kept"
            ));
        }
        let word = self.overflow_setting("trimmable").map(Node::format_value);
        if word.as_deref() == Some("\"class\"") {
            let class = self.overflow_setting("trimmable_class").map_or("0".into(), Node::format_value);
            let number = class.parse().unwrap_or(0);
            if !self.traffic_classes().has(number) {
                return Some(format!(
                    "{OVERFLOW_KEY} cuts nothing: no packet has class {class}, the only trimmable class"
                ));
            }
            if !self.trimmable_classes().has(number) {
                let whose = format!("all data of class {class}, the only trimmable class, is sent by RoCE");
                return Some(describe_forbidden_cuts(&whose));
            }
        } else if self.trimmable_classes() == ClassSet::NONE {
            return Some(describe_forbidden_cuts("all data is sent by RoCE"));
        }
        let by_cpa = word.is_none_or(|word| word == "\"cpa\"");
        match (self.is_all_raw(), self.has_pack_receivers()) {
            (true, _) if by_cpa => Some(format!(
                "{OVERFLOW_KEY} cuts nothing: packets without a transport are never marked as trimmable (CPA). Set \
                 trimmable = \"any\" to cut all packets"
            )),
            (true, _) | (_, true) => None,
            (false, false) if by_cpa => Some(format!(
                "{OVERFLOW_KEY} cuts nothing: no data is marked as trimmable (CPA). Set transport.pack = true, or \
                 trimmable = \"any\" to cut all packets"
            )),
            (false, false) => Some(format!(
                "{OVERFLOW_KEY} cuts packets of hosts without transport.pack: receivers do not report the cuts, so \
                 each cut is a loss like a drop. Set transport.pack = true"
            )),
        }
    }

    /// Returns the warning about a DSCP that trimmable data and other data share, if the scenario sets DSCPs.
    ///
    /// Otherwise the lowest bit of the DSCP distinguishes the two.
    fn warn_shared_dscp(&self) -> Option<String> {
        let dscps = &self.scenario.dscps;
        let word = self.overflow_setting("trimmable").map(Node::format_value);
        let is_named = dscps.table != DscpTable::CLASS_SELECTORS;
        if !is_named || word.is_none_or(|word| word == "\"cpa\"") {
            return None;
        }
        let stacks = self.scenario.transport_table()?;
        let dscp = |i: usize, class| dscps.table.ipv4_tos(Head::tos_of(class, dscps.code_point(i as u16, class))) >> 2;
        let mut found = BTreeSet::new();
        for (i, traffic) in self.scenario.traffic.iter().enumerate() {
            let sent = (0..8).filter(|class| traffic.sent_classes().has(*class)).map(|class| dscp(i, class));
            let each: Vec<bool> = match traffic.raw_payload() {
                Some(_) => vec![true],
                None => stacks.workload_configs(i as u16).map(TcpConfig::allows_trimming).collect(),
            };
            found.extend(sent.flat_map(|dscp| each.iter().map(move |allows| (dscp, *allows))));
        }
        let (shared, _) = found.iter().find(|(dscp, allows)| *allows && found.contains(&(*dscp, false)))?;
        Some(format!(
            "{OVERFLOW_KEY}: DSCP {shared} marks RoCE data, which is not trimmable, and also trimmable data. Real \
             switches select trimmable packets by their DSCP. Give RoCE data a `dscp` of its own"
        ))
    }

    fn traffic_classes(&self) -> ClassSet {
        self.scenario.traffic.iter().fold(ClassSet::NONE, |set, traffic| set.union(traffic.classes()))
    }

    /// Returns the traffic classes of workloads whose senders allow switches to trim their data.
    fn trimmable_classes(&self) -> ClassSet {
        let stacks = self.scenario.transport_table();
        let allows = |i: usize| {
            stacks.as_ref().is_none_or(|stacks| stacks.workload_configs(i as u16).any(TcpConfig::allows_trimming))
        };
        let traffic = self.scenario.traffic.iter().enumerate();
        let trimmable = traffic.filter(|(i, traffic)| traffic.raw_payload().is_some() || allows(*i));
        trimmable.fold(ClassSet::NONE, |set, (_, traffic)| set.union(traffic.classes()))
    }

    /// Returns the warning about a class of cut headers that data also uses, or that has no priority.
    fn warn_header_class(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let class = cutting.iter().find_map(|switch| switch.overflow.slot.peek().cut_effect().class)?;
        if self.traffic_classes().has(class) {
            return Some(format!(
                "{OVERFLOW_KEY}.header_class = {class}: data also has class {class}, and uses the buffer space that \
                 is reserved for headers. Choose another class"
            ));
        }
        let mut ports = cutting.iter().flat_map(|switch| &switch.ports).map(|port| &port.scheduler.slot);
        let in_turn = ports.all(|scheduler| !scheduler.peek().keeps_queue_order() && !scheduler.reorders());
        in_turn.then(|| {
            format!(
                "{OVERFLOW_KEY}.header_class gives headers their own buffer space but no priority: all packets leave \
                     first in, first out. Set switch.scheduler to send headers first"
            )
        })
    }

    /// Returns the warning about an ECN setting for cut packets if no packet is ECN-capable.
    fn warn_codepoint(&self) -> Option<String> {
        let asked = self.overflow_setting("ecn").filter(|word| word.format_value() != "\"keep\"")?;
        let capable =
            self.scenario.transport_table().is_some_and(|stacks| stacks.any_config(TcpConfig::is_ecn_capable));
        (!capable)
            .then(|| format!("{OVERFLOW_KEY}.ecn = {} has no effect: no packet is ECN-capable", asked.format_value()))
    }
}
