//! Transport and congestion control of hosts in HPCC's configuration file.

use super::ConfigurationOverlay;
use crate::load::tree::Node;
use crate::settings::ROCE_KIND;
use mech::{DcqcnConstants, Preset, PresetValue};
use units::{Dur, Rate};

/// Value of `CC_MODE` for DCQCN.
pub(super) const CC_MODE_DCQCN: f64 = 1.0;

impl ConfigurationOverlay<'_> {
    /// Sets RoCE with DCQCN if the file selects it and the scenario leaves it to the file.
    pub(super) fn set_hosts(&mut self) {
        let is_dcqcn = self.config.number_or("CC_MODE", CC_MODE_DCQCN) == CC_MODE_DCQCN;
        if self.claim_unset_table("transport") {
            if !is_dcqcn {
                return;
            }
            let payload = self.config.number_or("PACKET_PAYLOAD_SIZE", 1000.0);
            let said = format!("`transport` ({ROCE_KIND}, {payload} B)");
            let mss = PresetValue::Text(format!("{payload}B"));
            self.put_table("transport", &Preset { kind: ROCE_KIND, values: vec![("mss", mss)] }, said);
        }
        let kind = self.document.get("transport").and_then(|table| table.get("kind")).and_then(Node::text);
        if !is_dcqcn || kind != Some(ROCE_KIND) {
            return;
        }
        if self.claim_unset_table("host.nic") {
            let nic = Preset::round_robin_nic();
            self.put_table("host.nic", &nic, format!("`host.nic` ({})", nic.kind));
        }
        if self.claim_unset_table("host.reaction") {
            let reaction = Preset::dcqcn(&self.dcqcn_constants());
            self.put_table("host.reaction", &reaction, format!("`host.reaction` ({})", reaction.kind));
            self.has_dcqcn = true;
        }
    }

    /// Returns the constants of DCQCN. Defaults are those of the HPCC simulator if it has them, else those of
    /// Overspill.
    fn dcqcn_constants(&self) -> DcqcnConstants {
        let config = self.config;
        let time = |key: &str| config.number(key).map(|us| Dur((us * 1e6).round() as u64));
        DcqcnConstants {
            cut_interval: time("RATE_DECREASE_INTERVAL").or(Some(Dur::us(4))),
            alpha_timer: time("ALPHA_RESUME_INTERVAL"),
            rate_timer: time("RP_TIMER"),
            gain: config.number("EWMA_GAIN"),
            recoveries: config.number_or("FAST_RECOVERY_TIMES", 5.0) as u64,
            additive_increase: config.rate("RATE_AI"),
            hyper_increase: config.rate("RATE_HAI"),
            min_rate: config.rate("MIN_RATE").or(Some(Rate::mbps(100))),
        }
    }
}
