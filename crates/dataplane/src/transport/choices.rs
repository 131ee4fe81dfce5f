//! The choices that transports have, each declared once.

use mech::choice;

choice! {
    /// How losses are mended.
    pub(super) enum Recovery {
        /// RFC 5681 §3.2: the first ACK of new data ends it.
        Reno = "reno",
        /// RFC 6582: partial ACKs go on with it.
        NewReno = "newreno",
        /// RFC 6675: selective acknowledgements tell what is lost.
        Sack = "sack",
        /// RFC 8985: what was sent long enough before something that has arrived is lost.
        Rack = "rack",
    }
}

impl Recovery {
    /// Whether selective acknowledgements are used.
    pub(super) fn has_sack(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

choice! {
    /// The window while losses are mended that were found by time.
    pub(super) enum RecoveryWindow {
        /// RFC 9937: reduced in proportion to what arrives.
        Prr = "prr",
        /// The slow start threshold from the start, as RFC 6675 has it.
        Threshold = "threshold",
    }
}

choice! {
    /// Bytes of which a timeout makes half the slow start threshold.
    pub(super) enum TimeoutFlight {
        /// FlightSize: all that is not acknowledged cumulatively (RFC 5681 §2, eq. 4).
        FlightSize = "flight_size",
        /// What is in flight by the scoreboard (RFC 6675 §5).
        Pipe = "pipe",
    }
}

choice! {
    /// What the least retransmission timeout bounds.
    pub(super) enum RtoFloor {
        /// The timeout itself (RFC 6298 (2.4)).
        Sum = "sum",
        /// What is added to the smoothed round-trip time, as Linux has it.
        Deviation = "deviation",
        /// The timeout with its backoff: what is doubled is the estimate, however small (ns-3 until 3.13).
        Backoff = "backoff",
    }
}

choice! {
    /// How a Linux host's window grows and is cut.
    pub(super) enum CongestionControl {
        /// RFC 9438.
        Cubic = "cubic",
        /// RFC 5681.
        Reno = "reno",
    }
}

choice! {
    /// What a PACK does to the window.
    pub(super) enum PackReaction {
        /// What a loss does, once a recovery (CP §4.4).
        Loss = "loss",
        /// What an echo of congestion does.
        Mark = "mark",
    }
}

choice! {
    /// Whether a connection is there before its flow starts.
    pub(super) enum Connection {
        /// It is.
        Established = "established",
        /// It is opened by a handshake (RFC 9293 §3.5).
        Handshake = "handshake",
    }
}

choice! {
    /// The rank of data, by which switches may tell packets apart.
    pub enum Priority {
        /// All are equally urgent.
        None = "none",
        /// The bytes of the flow that were not acknowledged as they left.
        Remaining = "remaining",
    }
}

choice! {
    /// The rank of probes.
    pub(super) enum ProbePriority {
        /// That of data.
        Priority = "priority",
        /// That of ACKs.
        Urgent = "urgent",
    }
}
