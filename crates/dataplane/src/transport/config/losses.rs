//! What is chosen of how losses are found and mended.

use crate::transport::choices::{PackReaction, Recovery, RecoveryWindow};
use mech::params::Values;
use units::Dur;

/// What a sender does that finds losses by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct RackChoices {
    /// Tail loss probes (RFC 8985 §7).
    pub tlp: bool,
    /// The window in recovery is reduced in proportion to what arrives (RFC 9937).
    pub prr: bool,
    /// What had no reason is undone: by new data after a timeout (RFC 5682), by echoed timestamps (RFC 3522),
    /// by reports of duplicates (RFC 3708).
    pub frto: bool,
    pub eifel: bool,
    pub dsack_undo: bool,
    /// New data leave in bursts.
    pub tso: bool,
    /// What offload takes over a short way is halved for each 2 to the power of so many microseconds of it.
    pub tso_rtt_log: u32,
    /// What the reordering and the probe timer wait longer.
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
    pub fn of_linux_2_6_38(values: &Values) -> RackChoices {
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
    pub fn with(self, recovery: Recovery) -> RackChoices {
        RackChoices { tlp: self.tlp && recovery == Recovery::Rack, ..self }
    }
}

/// What the ends of a flow do with PACKs (CP §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) struct PackChoices {
    /// DupThresh in place of the other one.
    pub threshold: Option<u32>,
    /// What a PACK does to the window.
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

/// A threshold of duplicate ACKs; `None` is off.
pub(super) fn threshold(values: &Values, name: &str) -> Option<u32> {
    values.count_or_off(name).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}
