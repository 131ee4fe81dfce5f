//! Warnings about switches that cut nothing, or whose cuts no sender learns of.

use super::{Asked, Node};
use crate::model::SwitchConfig;
use dataplane::transport::TcpConfig;
use mech::ClassSet;

const ON: &str = "switch.overflow";

/// Warning for switches that cut nothing, since every sender of data that they would cut forbids it.
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

    /// Hosts with PACK where nothing is cut: there is none, and senders find losses otherwise than without it.
    fn detects_otherwise(&self) -> Option<String> {
        let stacks = self.scenario.stacks()?;
        let is_by_count = stacks.any(|tcp| tcp.takes_packs() && !tcp.finds_by_time());
        let is_by_time = stacks.any(|tcp| tcp.takes_packs() && tcp.finds_by_time());
        let of_count = "pack_dupack_threshold duplicate ACKs show a loss, in place of dupack_threshold, and what they report \
                        makes room for new data as limited_transmit does";
        let of_time =
            "pack_dupack_threshold reports, in place of dupack_threshold, end the wait for what may only be late";
        let changed = match (is_by_count, is_by_time) {
            (false, false) => return None,
            (true, false) => of_count.to_string(),
            (false, true) => of_time.to_string(),
            (true, true) => format!("{of_count}; with recovery = \"rack\" {of_time}"),
        };
        Some(format!(
            "transport.pack brings no PACK, since no switch cuts packets (switch.overflow = \"trim\"), but changes how senders \
             find losses: {changed}"
        ))
    }

    /// What was written of the answer to overflow.
    fn overflow(&self, key: &str) -> Option<&Node> {
        self.document.get("switch")?.get("overflow")?.get(key)
    }

    /// Why nothing is cut, or who does not know that it was.
    fn cuts_nothing(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let longest = self.scenario.largest_frame();
        let stays = cutting.iter().map(|switch| switch.overflow.slot.peek().cut().keep).min()?;
        if stays >= longest {
            return Some(format!(
                "{ON} cuts nothing: {stays} B of a packet stay, and no frame is longer than {longest} B"
            ));
        }
        let word = self.overflow("trimmable").map(Node::shown);
        if word.as_deref() == Some("\"class\"") {
            let class = self.overflow("trimmable_class").map_or("0".into(), Node::shown);
            let number = class.parse().unwrap_or(0);
            if !self.of_traffic().has(number) {
                return Some(format!("{ON} cuts nothing: no packet is of class {class}, the only one that may be cut"));
            }
            if !self.of_trimmable().has(number) {
                let whose = format!("all data of class {class}, the only one that may be cut, is RoCE's");
                return Some(forbidden(&whose));
            }
        } else if self.of_trimmable() == ClassSet::NONE {
            return Some(forbidden("all data is RoCE's"));
        }
        let by_cpa = word.is_none_or(|word| word == "\"cpa\"");
        match (self.is_raw(), self.takes_packs()) {
            (true, _) if by_cpa => Some(format!(
                "{ON} cuts nothing: packets without a transport never say that they may be cut (CPA); trimmable = \"any\" cuts all"
            )),
            (true, _) | (_, true) => None,
            (false, false) if by_cpa => Some(format!(
                "{ON} cuts nothing: no data says that it may be cut (CPA), which transport.pack = true does; trimmable = \"any\" \
                 cuts all"
            )),
            (false, false) => Some(format!(
                "{ON} cuts packets of hosts without transport.pack: nobody is told, and what is cut is lost to them as what is \
                 dropped"
            )),
        }
    }

    fn of_traffic(&self) -> ClassSet {
        self.scenario.traffic.iter().fold(ClassSet::NONE, |set, traffic| set.union(traffic.classes()))
    }

    /// Classes of the workloads whose senders allow that switches cut their data.
    fn of_trimmable(&self) -> ClassSet {
        let stacks = self.scenario.stacks();
        let allows =
            |i: usize| stacks.as_ref().is_none_or(|stacks| stacks.of_workload(i as u16).any(TcpConfig::allows_cuts));
        let traffic = self.scenario.traffic.iter().enumerate();
        let trimmable = traffic.filter(|(i, traffic)| traffic.raw_payload().is_some() || allows(*i));
        trimmable.fold(ClassSet::NONE, |set, (_, traffic)| set.union(traffic.classes()))
    }

    /// A class of headers that data has as well, or that has no turn of its own.
    fn class_of_headers(&self, cutting: &[&SwitchConfig]) -> Option<String> {
        let class = cutting.iter().find_map(|switch| switch.overflow.slot.peek().cut().class)?;
        if self.of_traffic().has(class) {
            return Some(format!(
                "{ON}.header_class = {class} is the class of data too, which is held against the room of headers then"
            ));
        }
        let mut ports = cutting.iter().flat_map(|switch| &switch.ports).map(|port| &port.scheduler.slot);
        let in_turn = ports.all(|scheduler| !scheduler.peek().is_by_queue() && !scheduler.reorders());
        in_turn.then(|| {
            format!("{ON}.header_class: headers have room of their own, but leave first in, first out like all else")
        })
    }

    /// A codepoint for cut packets where none has any.
    fn codepoint(&self) -> Option<String> {
        let asked = self.overflow("ecn").filter(|word| word.shown() != "\"keep\"")?;
        let capable = self.scenario.stacks().is_some_and(|stacks| stacks.any(TcpConfig::is_ecn_capable));
        (!capable).then(|| format!("{ON}.ecn = {} has no effect: no packet is ECN-capable", asked.shown()))
    }
}
