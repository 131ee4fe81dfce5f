//! Parameters of how windows grow and are cut.

use crate::transport::choices::{CongestionControl, OldCongestionControl};
use mech::params::{Kind, Param};

pub(super) const ECN: Param = Param {
    name: "ecn",
    doc: "Data are ECN-capable, and a mark cuts the window as a loss does, at most once a round trip (RFC 3168 §6.1).",
    kind: Kind::Flag,
    default: Some("false"),
};
pub(super) const CONGESTION_CONTROL: Param = Param {
    name: "congestion_control",
    doc: "How the window grows and is cut: `cubic` (RFC 9438) or `reno` (RFC 5681).",
    kind: CongestionControl::KIND,
    default: Some("cubic"),
};
pub(super) const OLD_CONGESTION_CONTROL: Param = Param {
    name: "congestion_control",
    doc: "How the window grows and is cut: `reno`, which the DCTCP patch of 2011 expects, or `bic`. The kernel's own default \
          was `cubic`, which is not built for it; CentOS chose `bic`.",
    kind: OldCongestionControl::KIND,
    default: Some("reno"),
};
/// Weight of DCTCP's estimate in the patch for Linux 2.6.38.
pub(super) const SHIFT_G: Param = Param {
    name: "shift_g",
    doc: "Binary logarithm of 1/g, where g is the weight of the newest window in DCTCP's estimate \
          (`tcp_dctcp_shift_g`); 4 is a g of 1/16.",
    kind: Kind::Count { min: 0, max: 10 },
    default: Some("4"),
};
pub(super) const FAST_CONVERGENCE: Param = Param {
    name: "fast_convergence",
    doc: "A cut of CUBIC below the last one leaves more room to others (RFC 9438 §4.7).",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const HYSTART: Param = Param {
    name: "hystart",
    doc: "Slow start of CUBIC ends before a loss, where a train of ACKs or their delay grows long (HyStart as in Linux).",
    kind: Kind::Flag,
    default: Some("false"),
};
pub(super) const LINUX_HYSTART: Param = Param { default: Some("true"), ..HYSTART };
pub(super) const G: Param = Param {
    name: "g",
    doc: "Weight g of the newest window in the estimate (RFC 8257 §4.2).",
    kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
    default: Some("0.0625"),
};
pub(super) const INITIAL_ALPHA: Param = Param {
    name: "initial_alpha",
    doc: "The estimate α at the start (RFC 8257 §4.1: 1).",
    kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
    default: Some("1"),
};
