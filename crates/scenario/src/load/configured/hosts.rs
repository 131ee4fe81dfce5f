//! Transport and congestion control of hosts in HPCC's configuration file.

use super::{Laying, text};
use crate::load::tree::{Data, Node};
use crate::settings::ROCE;

/// `CC_MODE` of DCQCN.
pub(super) const DCQCN: f64 = 1.0;
/// A byte counter that never expires: that simulator's DCQCN has a timer alone.
const NO_BYTE_COUNTER: &str = "1000000GB";

impl Laying<'_> {
    /// RoCE with DCQCN, if the file asks for it and the scenario leaves it to the file.
    pub(super) fn lay_hosts(&mut self) {
        let is_dcqcn = self.config.number_or("CC_MODE", DCQCN) == DCQCN;
        if self.is_left("transport") {
            if !is_dcqcn {
                return;
            }
            let payload = self.config.number_or("PACKET_PAYLOAD_SIZE", 1000.0);
            let said = format!("`transport` (roce, {payload} B)");
            self.put("transport", vec![("kind", text(ROCE)), ("mss", text(format!("{payload}B")))], said);
        }
        let kind = self.document.get("transport").and_then(|table| table.get("kind")).and_then(Node::text);
        if !is_dcqcn || kind != Some(ROCE) {
            return;
        }
        if self.is_left("host.nic") {
            self.put("host.nic", vec![("kind", text("round_robin"))], "`host.nic` (round_robin)".into());
        }
        if self.is_left("host.reaction") {
            self.put("host.reaction", self.reaction(), "`host.reaction` (dcqcn)".into());
        }
    }

    /// Parameters of DCQCN; the defaults are those of that simulator, or of Overspill if it has none.
    fn reaction(&self) -> Vec<(&'static str, Data)> {
        let config = self.config;
        let time = |key: &str| config.number(key).map(|us| text(format!("{us}us")));
        let number = |key: &str| config.number(key).map(Data::Number);
        let rate = |key: &str| config.rate(key).map(text);
        let given = [
            ("cnp_interval", time("RATE_DECREASE_INTERVAL").or_else(|| Some(text("4us")))),
            ("alpha_timer", time("ALPHA_RESUME_INTERVAL")),
            ("rate_timer", time("RP_TIMER")),
            ("g", number("EWMA_GAIN")),
            ("r_ai", rate("RATE_AI")),
            ("r_hai", rate("RATE_HAI")),
            ("min_rate", rate("MIN_RATE").or_else(|| Some(text("100Mbps")))),
        ];
        // There the stage counts increases that were made, and here the one that is being made.
        let threshold = config.number_or("FAST_RECOVERY_TIMES", 5.0) as i64 + 1;
        let fixed =
            [("kind", text("dcqcn")), ("byte_counter", text(NO_BYTE_COUNTER)), ("threshold", Data::Whole(threshold))];
        fixed.into_iter().chain(given.into_iter().filter_map(|(key, value)| Some((key, value?)))).collect()
    }
}
