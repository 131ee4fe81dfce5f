//! The payload that packets carry: what transports have sent, and what became of it.
//!
//! Bytes of frames add up at every node, and would as well where a cut took the bytes of a frame and left its payload.
//! So the payload is followed on its own, over the whole network: a node does not count what it passes on.

use std::fmt::{Display, Formatter};
use std::iter::Sum;
use std::ops::Add;

/// Bytes of payload at a node, or in a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadCounts {
    /// Sent by transports, or in copies of flooded frames.
    pub sent: u64,
    /// Come to transports, or in copies of flooded frames that were of no use.
    pub delivered: u64,
    /// In packets that were lost.
    pub dropped: u64,
    /// Cut off.
    pub cut: u64,
    /// In packets that wait or are under way.
    pub waiting: u64,
}

impl PayloadCounts {
    /// Checks `sent = delivered + dropped + cut + waiting`, of a whole network.
    pub fn balanced(&self) -> bool {
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
            "{sent} B of payload were sent, and {delivered} B delivered, {dropped} B dropped, {cut} B cut, {waiting} B are under way"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_balances_where_all_that_was_sent_is_somewhere() {
        let host = PayloadCounts { sent: 100, delivered: 20, waiting: 5, ..PayloadCounts::default() };
        let switch = PayloadCounts { dropped: 30, cut: 40, waiting: 5, ..PayloadCounts::default() };
        let all: PayloadCounts = [host, switch].into_iter().sum();
        assert!(all.balanced() && !host.balanced());
        for lacks in
            [PayloadCounts { cut: 0, ..all }, PayloadCounts { dropped: 0, ..all }, PayloadCounts { waiting: 0, ..all }]
        {
            assert!(!lacks.balanced(), "{lacks}");
        }
        let said = "100 B of payload were sent, and 20 B delivered, 30 B dropped, 40 B cut, 10 B are under way";
        assert_eq!(all.to_string(), said);
    }
}
