//! Choices of transport parameters such as `recovery`, each declared once.

use mech::choice;

choice! {
    /// Algorithm of loss recovery.
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
    /// Congestion window during a recovery from losses that were found by time (RACK).
    pub(super) enum RecoveryWindow {
        /// RFC 9937: reduction in proportion to the data delivered.
        Prr = "prr",
        /// Window at the slow start threshold from the start of a recovery, as in RFC 6675.
        Threshold = "threshold",
    }
}

choice! {
    /// Byte count whose half becomes the slow start threshold at a timeout.
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
        /// Whole timeout: smoothed round-trip time plus deviation term (RFC 6298 (2.4)).
        Sum = "sum",
        /// Deviation term that is added to the smoothed round-trip time, as in Linux.
        Deviation = "deviation",
        /// Timeout after its backoff: the estimate is doubled, however small it is (ns-3 until 3.13).
        Backoff = "backoff",
    }
}

choice! {
    /// Congestion control of a host with Linux 6.18.
    pub(super) enum CongestionControl {
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// Reno (RFC 5681).
        Reno = "reno",
    }
}

choice! {
    /// Congestion control of a host with Linux 2.6.38.
    pub(super) enum CongestionControl2_6_38 {
        /// Reno (RFC 5681), which the DCTCP patch of 2011 expects.
        Reno = "reno",
        /// BIC (Xu et al., INFOCOM 2004).
        Bic = "bic",
    }
}

choice! {
    /// Effect of a PACK (precise ACK of Cut Payload) on the congestion window.
    pub(super) enum PackReaction {
        /// Cut of the window as for a loss, once per recovery (Cut Payload §4.4).
        Loss = "loss",
        /// Cut of the window as for ECN-Echo.
        Mark = "mark",
    }
}

choice! {
    /// State of a connection when its flow starts.
    pub(super) enum Connection {
        /// Connection that is open before the flow starts.
        Established = "established",
        /// Connection that a handshake opens when the flow starts (RFC 9293 §3.5).
        Handshake = "handshake",
    }
}

choice! {
    /// Rank of data packets (pFabric priority), by which switches may order them.
    pub enum Priority {
        /// Equal rank for all packets.
        None = "none",
        /// Bytes of the flow that were not acknowledged when the packet left.
        Remaining = "remaining",
    }
}

choice! {
    /// Rank of pFabric's probes, by which switches may order them.
    pub(super) enum ProbePriority {
        /// Rank that the flow's data has.
        Priority = "priority",
        /// Rank that ACKs have, the most urgent one.
        Urgent = "urgent",
    }
}
