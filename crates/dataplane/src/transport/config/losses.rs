//! Configuration of loss detection and loss recovery at a TCP sender.

use crate::transport::option_values::{PackReaction, Recovery, RecoveryWindow};
use mech::params::Values;
use units::Dur;

/// Configuration of loss recovery at a sender that keeps the state of every outstanding segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct RackChoices {
    /// True if the sender uses tail loss probes (RFC 8985 §7).
    pub tlp: bool,
    /// True if the window in recovery follows the delivered data (PRR, RFC 9937).
    pub prr: bool,
    /// True for each kind of evidence by which the sender undoes a spurious cut of its window.
    /// The evidence is new data after a timeout (RFC 5682), an echoed timestamp (RFC 3522), or DSACKs (RFC 3708).
    pub frto: bool,
    pub eifel: bool,
    pub dsack_undo: bool,
    /// True if new data leaves in bursts (segmentation offload).
    pub tso: bool,
    /// Log2 of the microseconds of minimum round-trip time per halving of the largest burst (Linux: `tcp_tso_rtt_log`).
    pub tso_rtt_log: u32,
    /// Extra delay of the reordering timer and the probe timer.
    pub slack: Dur,
    /// True if the highest SACK shows losses (FACK, Linux 2.6.38 only), not the number of SACKed segments.
    pub fack: bool,
}

impl RackChoices {
    pub fn new(values: &Values) -> RackChoices {
        RackChoices {
            tlp: values.flag("tlp"),
            prr: values.get::<RecoveryWindow>("window_in_recovery") == RecoveryWindow::Prr,
            frto: values.flag("frto"),
            eifel: values.flag("eifel"),
            dsack_undo: values.flag("dsack_undo"),
            tso: values.flag("tso"),
            tso_rtt_log: values.count("tso_rtt_log") as u32,
            slack: values.time("timer_slack"),
            fack: false,
        }
    }
    /// Returns the loss recovery configuration of Linux 2.6.38, which has neither tail loss probes nor PRR.
    /// Timestamps and DSACKs undo its cuts.
    pub fn for_linux_2_6_38(values: &Values) -> RackChoices {
        RackChoices {
            frto: values.flag("frto"),
            eifel: values.flag("timestamps"),
            dsack_undo: true,
            tso: values.flag("tso"),
            fack: values.flag("fack"),
            ..RackChoices::default()
        }
    }
    /// Returns this configuration for another recovery algorithm; tail loss probes stay on only with RACK.
    pub fn with_recovery(self, recovery: Recovery) -> RackChoices {
        RackChoices { tlp: self.tlp && recovery == Recovery::Rack, ..self }
    }
}

/// Reaction of a sender to PACKs, the precise ACKs that name trimmed bytes (Cut Payload §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) struct PackChoices {
    /// DupThresh that replaces the transport's own if both ends support PACK; `None` if it is off.
    pub threshold: Option<u32>,
    /// Effect of a PACK (precise ACK of Cut Payload) on the congestion window.
    pub reaction: PackReaction,
}

impl PackChoices {
    pub fn new(values: &Values) -> Option<PackChoices> {
        let asked = values.has("pack") && values.flag("pack");
        asked.then(|| PackChoices {
            threshold: threshold(values, "pack_dupack_threshold"),
            reaction: values.get("pack_reaction"),
        })
    }
}

/// Returns the duplicate ACK threshold that parameter `name` sets; `None` for `off`.
pub(super) fn threshold(values: &Values, name: &str) -> Option<u32> {
    values.count_or_off(name).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}
