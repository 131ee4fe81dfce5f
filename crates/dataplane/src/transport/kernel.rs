//! Linux kernels that transports reproduce, and the rules in which these kernels differ.

use super::config::Recovery;
use super::tick_clock::TimerWheel;

/// Linux kernel whose TCP a transport reproduces at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// No kernel: the transport follows the RFCs alone.
    None,
    /// Linux 2.6.38 of 2011, the kernel of Cut Payload's testbed.
    Linux2_6_38,
    /// Linux 6.18 of 2025.
    Linux6_18,
}

/// Rules for SACK blocks that differ between kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SackRules {
    /// Largest degree of reordering that a sender learns, in segments (`TCP_MAX_REORDERING`, `tcp_max_reordering`).
    pub most_reordering: u32,
    /// True if every DSACK counts as one segment whatever its length, even if DSACKs outnumber retransmissions.
    pub trusts_duplicates: bool,
    /// True if reordering shown by a cumulative ACK is measured up to the highest byte SACKed before that ACK.
    /// Linux 6.18 measures up to the ACK itself if no SACKed segment remains above it.
    pub measures_before_ack: bool,
    /// True if a DSACK counts for a segment that the same ACK acknowledges. Linux refused these by mistake until 3.1.
    pub counts_acked_duplicates: bool,
    /// True if SACKed segments merge with a newly SACKed one before them. A DSACK no longer counts for merged segments.
    pub merges: bool,
    /// True if duplicate ACKs without blocks never lower the degree of reordering.
    pub keeps_largest_degree: bool,
    /// True if a retransmission is lost once data sent after it is SACKed (FACK; `tcp_mark_lost_retrans`).
    pub fack: bool,
}

impl Kernel {
    /// Returns the Linux kernel that the transport named `kind` reproduces.
    pub fn for_transport(kind: &str) -> Kernel {
        match kind {
            "linux" | "linux_dctcp" => Kernel::Linux6_18,
            "linux_2_6_38" | "linux_2_6_38_dctcp" => Kernel::Linux2_6_38,
            _ => Kernel::None,
        }
    }

    pub fn is_linux(self) -> bool {
        self != Kernel::None
    }

    /// Returns true if a sender with this recovery keeps the state of every segment. Kernels do so even without SACK.
    pub fn keeps_segments(self, recovery: Recovery) -> bool {
        match self {
            Kernel::None => recovery == Recovery::Rack,
            Kernel::Linux2_6_38 => true,
            Kernel::Linux6_18 => matches!(recovery, Recovery::Rack | Recovery::NewReno),
        }
    }

    /// Returns the kind of timer wheel that the kernel has.
    pub fn timer_wheel(self) -> TimerWheel {
        match self {
            Kernel::Linux2_6_38 => TimerWheel::Exact,
            Kernel::None | Kernel::Linux6_18 => TimerWheel::Levels,
        }
    }

    /// Returns the rules for SACK blocks; `fack` turns on forward acknowledgements, `tso` segmentation offload.
    pub fn sack_rules(self, fack: bool, tso: bool) -> SackRules {
        match self {
            Kernel::Linux2_6_38 => SackRules {
                most_reordering: 127,
                trusts_duplicates: true,
                measures_before_ack: true,
                counts_acked_duplicates: false,
                merges: tso,
                keeps_largest_degree: true,
                fack,
            },
            Kernel::None | Kernel::Linux6_18 => SackRules {
                most_reordering: 300,
                trusts_duplicates: false,
                measures_before_ack: false,
                counts_acked_duplicates: true,
                merges: true,
                keeps_largest_degree: false,
                fack: false,
            },
        }
    }
}
