//! Parameters of congestion windows: growth and reduction.

use crate::transport::option_values::{CongestionControl, CongestionControl2_6_38};
use mech::params::{Param, ParamKind};

pub(super) const ECN: Param = Param {
    name: "ecn",
    doc: "Makes data ECN-capable. A mark cuts the window like a loss, at most once a round trip (RFC 3168 §6.1).",
    kind: ParamKind::Flag,
    default: Some("false"),
};
pub(super) const CONGESTION_CONTROL: Param = Param {
    name: "congestion_control",
    doc: "Growth and cut of the window: `cubic` (RFC 9438) or `reno` (RFC 5681).",
    kind: CongestionControl::KIND,
    default: Some("cubic"),
};
pub(super) const LINUX_2_6_38_CONGESTION_CONTROL: Param = Param {
    name: "congestion_control",
    doc: "Growth and cut of the window: `reno`, which the DCTCP patch of 2011 expects, or `bic`, the choice of CentOS. \
          CUBIC, the kernel's own default, is not implemented for it.",
    kind: CongestionControl2_6_38::KIND,
    default: Some("reno"),
};
/// Parameter `shift_g`: weight of DCTCP's estimate in the patch for Linux 2.6.38.
pub(super) const SHIFT_G: Param = Param {
    name: "shift_g",
    doc: "Binary logarithm of 1/g, where g is the weight of the newest window in DCTCP's estimate \
          (`tcp_dctcp_shift_g`); 4 is a g of 1/16.",
    kind: ParamKind::Count { min: 0, max: 10 },
    default: Some("4"),
};
pub(super) const FAST_CONVERGENCE: Param = Param {
    name: "fast_convergence",
    doc: "Departure more capacity to other flows after a cut of CUBIC at a smaller window than the last one (RFC 9438 \
          §4.7).",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const HYSTART: Param = Param {
    name: "hystart",
    doc: "Ends slow start of CUBIC before a loss, if a train of ACKs or their delay grows long (HyStart as in Linux).",
    kind: ParamKind::Flag,
    default: Some("false"),
};
pub(super) const LINUX_HYSTART: Param = Param { default: Some("true"), ..HYSTART };
pub(super) const G: Param = Param {
    name: "g",
    doc: "Weight g of the newest window in the estimate (RFC 8257 §4.2).",
    kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
    default: Some("0.0625"),
};
pub(super) const INITIAL_ALPHA: Param = Param {
    name: "initial_alpha",
    doc: "Initial value of the estimate α (RFC 8257 §4.1: 1).",
    kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
    default: Some("1"),
};
