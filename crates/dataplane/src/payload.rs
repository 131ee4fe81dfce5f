//! Payload bytes of packets: counts of bytes sent, delivered, dropped, cut off and waiting.
//!
//! Bytes of frames add up at every node, and would also do so if a cut took bytes of a frame and left its payload. So
//! payload is counted separately over the whole network; a node does not count payload that it forwards.

use std::fmt::{Display, Formatter};
use std::iter::Sum;
use std::ops::Add;

/// Payload bytes at a node or in a network: sent, delivered, dropped, cut off and waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadCounts {
    /// Payload bytes sent by transports, or in copies made by flooding.
    pub sent: u64,
    /// Payload bytes delivered to transports, or in flood copies that ended away from their destination.
    pub delivered: u64,
    /// Payload bytes of packets that were lost.
    pub dropped: u64,
    /// Payload bytes removed by trimming.
    pub cut: u64,
    /// Payload bytes of packets that are queued or in flight.
    pub waiting: u64,
}

impl PayloadCounts {
    /// Checks `sent = delivered + dropped + cut + waiting` for a whole network.
    pub fn is_conserved(&self) -> bool {
        self.sent == self.delivered + self.dropped + self.cut + self.waiting
    }
}

impl Add for PayloadCounts {
    type Output = PayloadCounts;
    fn add(self, other: PayloadCounts) -> PayloadCounts {
        PayloadCounts {
            sent: self.sent + other.sent,
            delivered: self.delivered + other.delivered,
            dropped: self.dropped + other.dropped,
            cut: self.cut + other.cut,
            waiting: self.waiting + other.waiting,
        }
    }
}

impl Sum for PayloadCounts {
    fn sum<I: Iterator<Item = PayloadCounts>>(all: I) -> PayloadCounts {
        all.fold(PayloadCounts::default(), Add::add)
    }
}

impl Display for PayloadCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let PayloadCounts { sent, delivered, dropped, cut, waiting } = self;
        write!(
            f,
            "{sent} B of payload were sent: {delivered} B were delivered, {dropped} B dropped, {cut} B cut, and \
             {waiting} B are queued or in flight"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_conserved_if_all_sent_bytes_are_accounted_for() {
        let host = PayloadCounts { sent: 100, delivered: 20, waiting: 5, ..PayloadCounts::default() };
        let switch = PayloadCounts { dropped: 30, cut: 40, waiting: 5, ..PayloadCounts::default() };
        let all: PayloadCounts = [host, switch].into_iter().sum();
        assert!(all.is_conserved() && !host.is_conserved());
        for lacks in
            [PayloadCounts { cut: 0, ..all }, PayloadCounts { dropped: 0, ..all }, PayloadCounts { waiting: 0, ..all }]
        {
            assert!(!lacks.is_conserved(), "{lacks}");
        }
        let said = "100 B of payload were sent: 20 B were delivered, 30 B dropped, 40 B cut, and 10 B are queued or \
                    in flight";
        assert_eq!(all.to_string(), said);
    }
}
