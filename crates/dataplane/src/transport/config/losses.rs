//! Choices of loss detection and recovery.

use crate::transport::option_values::{PackReaction, Recovery, RecoveryWindow};
use mech::params::Values;
use units::Dur;

/// Choices of a sender that keeps the state of every segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct RackChoices {
    /// Tail loss probes (RFC 8985 §7).
    pub tlp: bool,
    /// Reduction of the window in recovery in proportion to the delivered data (RFC 9937).
    pub prr: bool,
    /// Undoing of spurious cuts.
    /// New data after a timeout (RFC 5682), echoed timestamps (RFC 3522) and DSACKs (RFC 3708) show that a cut was.
    pub frto: bool,
    pub eifel: bool,
    pub dsack_undo: bool,
    /// True if new data leaves in bursts (segmentation offload).
    pub tso: bool,
    /// Binary logarithm of the microseconds of round-trip time for which a burst's size is halved once.
    pub tso_rtt_log: u32,
    /// Extra delay of the reordering timer and the probe timer.
    pub slack: Dur,
    /// Linux 2.6.38: the highest SACK shows losses (FACK), not the number of SACKed segments.
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
    /// Returns the choices of Linux 2.6.38, which has neither probes nor PRR. Timestamps and DSACKs undo its cuts.
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
    /// Returns these choices for another recovery, which has no probes without selective acknowledgements.
    pub fn with_recovery(self, recovery: Recovery) -> RackChoices {
        RackChoices { tlp: self.tlp && recovery == Recovery::Rack, ..self }
    }
}

/// PACK behaviour of both ends (CP §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) struct PackChoices {
    /// DupThresh that replaces the usual one.
    pub threshold: Option<u32>,
    /// Effect of a PACK on the window.
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

/// Returns a threshold of duplicate ACKs; `None` for off.
pub(super) fn threshold(values: &Values, name: &str) -> Option<u32> {
    values.count_or_off(name).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}
