//! Transport and congestion control of hosts in HPCC's configuration file.

use super::Overlay;
use crate::load::tree::Node;
use crate::settings::ROCE;
use mech::{DcqcnConstants, Preset, PresetValue};
use units::{Dur, Rate};

/// Value of `CC_MODE` for DCQCN.
pub(super) const DCQCN: f64 = 1.0;

impl Overlay<'_> {
    /// Sets RoCE with DCQCN if the file selects it and the scenario leaves it to the file.
    pub(super) fn set_hosts(&mut self) {
        let is_dcqcn = self.config.number_or("CC_MODE", DCQCN) == DCQCN;
        if self.is_left("transport") {
            if !is_dcqcn {
                return;
            }
            let payload = self.config.number_or("PACKET_PAYLOAD_SIZE", 1000.0);
            let said = format!("`transport` ({ROCE}, {payload} B)");
            let mss = PresetValue::Text(format!("{payload}B"));
            self.put("transport", &Preset { kind: ROCE, values: vec![("mss", mss)] }, said);
        }
        let kind = self.document.get("transport").and_then(|table| table.get("kind")).and_then(Node::text);
        if !is_dcqcn || kind != Some(ROCE) {
            return;
        }
        if self.is_left("host.nic") {
            let nic = Preset::flows_in_turn();
            self.put("host.nic", &nic, format!("`host.nic` ({})", nic.kind));
        }
        if self.is_left("host.reaction") {
            let reaction = Preset::dcqcn(&self.constants());
            self.put("host.reaction", &reaction, format!("`host.reaction` ({})", reaction.kind));
            self.has_dcqcn = true;
        }
    }

    /// Returns the constants of DCQCN. Defaults are those of the HPCC simulator if it has them, else those of
    /// Overspill.
    fn constants(&self) -> DcqcnConstants {
        let config = self.config;
        let time = |key: &str| config.number(key).map(|us| Dur((us * 1e6).round() as u64));
        DcqcnConstants {
            cut_interval: time("RATE_DECREASE_INTERVAL").or(Some(Dur::us(4))),
            alpha_timer: time("ALPHA_RESUME_INTERVAL"),
            rate_timer: time("RP_TIMER"),
            gain: config.number("EWMA_GAIN"),
            recoveries: config.number_or("FAST_RECOVERY_TIMES", 5.0) as u64,
            additive: config.rate("RATE_AI"),
            hyper: config.rate("RATE_HAI"),
            least: config.rate("MIN_RATE").or(Some(Rate::mbps(100))),
        }
    }
}
