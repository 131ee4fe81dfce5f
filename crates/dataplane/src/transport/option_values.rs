//! Choices of transports, each declared once.

use mech::choice;

choice! {
    /// Recovery of losses.
    pub(super) enum Recovery {
        /// RFC 5681 §3.2: the first ACK of new data ends a recovery.
        Reno = "reno",
        /// RFC 6582: partial ACKs continue a recovery.
        NewReno = "newreno",
        /// RFC 6675: selective acknowledgements show which segments are lost.
        Sack = "sack",
        /// RFC 8985: a segment is lost if one sent long enough after it has arrived.
        Rack = "rack",
    }
}

impl Recovery {
    /// Returns true if the recovery uses selective acknowledgements.
    pub(super) fn has_sack(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

choice! {
    /// Window in a recovery from losses that were found by time.
    pub(super) enum RecoveryWindow {
        /// RFC 9937: reduction in proportion to the data delivered.
        Prr = "prr",
        /// Slow start threshold from the start, as in RFC 6675.
        Threshold = "threshold",
    }
}

choice! {
    /// Bytes of which a timeout makes half the slow start threshold.
    pub(super) enum TimeoutFlight {
        /// FlightSize: all bytes without a cumulative ACK (RFC 5681 §2, eq. 4).
        FlightSize = "flight_size",
        /// Bytes in flight by the scoreboard (RFC 6675 §5).
        Pipe = "pipe",
    }
}

choice! {
    /// Part of the retransmission timeout that the minimum RTO bounds.
    pub(super) enum RtoFloor {
        /// Timeout itself (RFC 6298 (2.4)).
        Sum = "sum",
        /// Term that is added to the smoothed round-trip time, as in Linux.
        Deviation = "deviation",
        /// Timeout after its backoff: the estimate is doubled, however small it is (ns-3 until 3.13).
        Backoff = "backoff",
    }
}

choice! {
    /// Growth and cut of a Linux host's window.
    pub(super) enum CongestionControl {
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// Reno (RFC 5681).
        Reno = "reno",
    }
}

choice! {
    /// Growth and cut of the window of a Linux 2.6.38 host.
    pub(super) enum OldCongestionControl {
        /// Reno (RFC 5681), which the DCTCP patch of 2011 expects.
        Reno = "reno",
        /// BIC (Xu et al., INFOCOM 2004).
        Bic = "bic",
    }
}

choice! {
    /// Effect of a PACK on the window.
    pub(super) enum PackReaction {
        /// Effect of a loss, once per recovery (CP §4.4).
        Loss = "loss",
        /// Effect of an echo of congestion.
        Mark = "mark",
    }
}

choice! {
    /// State of a connection when its flow starts.
    pub(super) enum Connection {
        /// Open before the flow starts.
        Established = "established",
        /// Opened by a handshake when the flow starts (RFC 9293 §3.5).
        Handshake = "handshake",
    }
}

choice! {
    /// Rank of data, by which switches may order packets.
    pub enum Priority {
        /// Equal rank for all packets.
        None = "none",
        /// Bytes of the flow that were not acknowledged when the packet left.
        Remaining = "remaining",
    }
}

choice! {
    /// Rank of probes.
    pub(super) enum ProbePriority {
        /// Rank of data.
        Priority = "priority",
        /// Rank of ACKs.
        Urgent = "urgent",
    }
}
