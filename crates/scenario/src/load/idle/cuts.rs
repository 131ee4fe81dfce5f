//! Warnings about switches that cut nothing, and about cuts that no sender is notified of.

use super::{Asked, Node};
use crate::model::SwitchConfig;
use dataplane::transport::TcpConfig;
use mech::ClassSet;

const ON: &str = "switch.overflow";

/// Warning if every sender of data that switches could cut forbids it.
fn forbidden(whose: &str) -> String {
    format!(
        "{ON} cuts nothing: {whose}. RoCE senders mark data as not trimmable, because go-back-N cannot use a header. Switches drop \
         these packets. Use a transport with `pack = true`"
    )
}

impl Asked<'_> {
    pub(super) fn cuts(&self) -> Vec<String> {
        let switches = self.scenario.switches.iter();
        let cutting: Vec<_> = switches.filter(|switch| switch.overflow.slot.peek().needs().cut.is_some()).collect();
        if cutting.is_empty() {
            return self.detects_otherwise().into_iter().collect();
        }
        let nothing = self.cuts_nothing(&cutting);
        let lists = [nothing, self.class_of_headers(&cutting), self.codepoint()];
        lists.into_iter().flatten().collect()
    }

    pub(super) fn takes_packs(&self) -> bool {
        self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::takes_packs))
    }

    /// Warning about hosts with PACK if no switch cuts. They get no PACK, but detect losses in another way than without
    /// it.
    fn detects_otherwise(&self) -> Option<String> {
        let stacks = self.scenario.stacks()?;
        let is_by_count = stacks.any(|tcp| tcp.takes_packs() && !tcp.finds_by_time());
        let is_by_time = stacks.any(|tcp| tcp.takes_packs() && tcp.finds_by_time());
        let of_count = "pack_dupack_threshold duplicate ACKs indicate a loss (instead of dupack_threshold), and \
                        reported data allows new segments as limited_transmit does";
        let of_time = "pack_dupack_threshold reports (instead of dupack_threshold) end the wait for reordered segments";
        let changed = match (is_by_count, is_by_time) {
            (false, false) => return None,
            (true, false) => of_count.to_string(),
            (false, true) => of_time.to_string(),
            (true, true) => format!("{of_count}; with recovery = \"rack\" {of_time}"),
        };
        Some(format!(
            "transport.pack brings no PACKs, because no switch cuts packets (switch.overflow = \"trim\"), but changes \
             how senders detect losses: {changed}"
        ))
    }

    /// Returns a value of `switch.overflow` as written.
    fn overflow(&self, key: &str) -> Option<&Node> {
        self.document.get("switch")?.get("overflow")?.get(key)
    }

    /// Warning if nothing is cut, or if hosts do not learn of cuts.
    fn cuts_nothing(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let longest = self.scenario.largest_frame();
        let stays = cutting.iter().map(|switch| switch.overflow.slot.peek().cut().keep).min()?;
        if stays >= longest {
            return Some(format!(
                "{ON} cuts nothing: {stays} B of each packet are kept, and no frame is longer than {longest} B"
            ));
        }
        let word = self.overflow("trimmable").map(Node::shown);
        if word.as_deref() == Some("\"class\"") {
            let class = self.overflow("trimmable_class").map_or("0".into(), Node::shown);
            let number = class.parse().unwrap_or(0);
            if !self.of_traffic().has(number) {
                return Some(format!("{ON} cuts nothing: no packet has class {class}, the only trimmable class"));
            }
            if !self.of_trimmable().has(number) {
                let whose = format!("all data of class {class}, the only trimmable class, is sent by RoCE");
                return Some(forbidden(&whose));
            }
        } else if self.of_trimmable() == ClassSet::NONE {
            return Some(forbidden("all data is sent by RoCE"));
        }
        let by_cpa = word.is_none_or(|word| word == "\"cpa\"");
        match (self.is_raw(), self.takes_packs()) {
            (true, _) if by_cpa => Some(format!(
                "{ON} cuts nothing: packets without a transport are never marked as trimmable (CPA). Set trimmable = \
                 \"any\" to cut all packets"
            )),
            (true, _) | (_, true) => None,
            (false, false) if by_cpa => Some(format!(
                "{ON} cuts nothing: no data is marked as trimmable (CPA). Set transport.pack = true, or trimmable = \
                 \"any\" to cut all packets"
            )),
            (false, false) => Some(format!(
                "{ON} cuts packets of hosts without transport.pack: no host is notified, and a cut packet is lost \
                 like a dropped one"
            )),
        }
    }

    fn of_traffic(&self) -> ClassSet {
        self.scenario.traffic.iter().fold(ClassSet::NONE, |set, traffic| set.union(traffic.classes()))
    }

    /// Returns the classes of workloads whose senders allow switches to cut their data.
    fn of_trimmable(&self) -> ClassSet {
        let stacks = self.scenario.stacks();
        let allows =
            |i: usize| stacks.as_ref().is_none_or(|stacks| stacks.of_workload(i as u16).any(TcpConfig::allows_cuts));
        let traffic = self.scenario.traffic.iter().enumerate();
        let trimmable = traffic.filter(|(i, traffic)| traffic.raw_payload().is_some() || allows(*i));
        trimmable.fold(ClassSet::NONE, |set, (_, traffic)| set.union(traffic.classes()))
    }

    /// Warning about a class of headers that data also uses, or that the scheduler does not serve separately.
    fn class_of_headers(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let class = cutting.iter().find_map(|switch| switch.overflow.slot.peek().cut().class)?;
        if self.of_traffic().has(class) {
            return Some(format!(
                "{ON}.header_class = {class} is also the class of data, so that data counts against the buffer space \
                 of headers"
            ));
        }
        let mut ports = cutting.iter().flat_map(|switch| &switch.ports).map(|port| &port.scheduler.slot);
        let in_turn = ports.all(|scheduler| !scheduler.peek().is_by_queue() && !scheduler.reorders());
        in_turn.then(|| {
            format!("{ON}.header_class: headers have their own buffer space, but all packets leave first in, first out")
        })
    }

    /// Warning about a codepoint for cut packets if no packet is ECN-capable.
    fn codepoint(&self) -> Option<String> {
        let asked = self.overflow("ecn").filter(|word| word.shown() != "\"keep\"")?;
        let capable = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_ecn_capable));
        (!capable).then(|| format!("{ON}.ecn = {} has no effect: no packet is ECN-capable", asked.shown()))
    }
}
