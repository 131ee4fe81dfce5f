//! State of a sender as observed from the ACKs that reached it, independent of the sender's own state.
//!
//! The bench compares the sender's packets with it.

use crate::transport::unwrap_offset;
use crate::{PacketExtension, Pkt};
use mech::Flags;

/// Windows and acknowledgements of a sender, as observed by the test bench.
#[derive(Clone, Debug, Default)]
pub struct ObservedWindows {
    /// First unacknowledged byte.
    pub una: u64,
    /// End of the data that a window allowed, one past its last byte.
    pub edge: u64,
    /// Disjoint SACKed ranges in order.
    pub sacked: Vec<(u64, u64)>,
}

impl ObservedWindows {
    /// Processes an ACK, with data up to `highest` sent. Old ACKs have no effect.
    pub fn ack(&mut self, pkt: &Pkt, ext: Option<&PacketExtension>, highest: u64, shift: u8) {
        if pkt.head.flags.has(Flags::SYN) {
            self.edge = self.edge.max(u64::from(pkt.window));
            return;
        }
        let Some(ack) = unwrap_offset(pkt.ack, self.una).filter(|a| *a >= self.una && *a <= highest) else { return };
        self.una = ack;
        self.edge = self.edge.max(ack + (u64::from(pkt.window) << shift));
        let blocks = ext.map_or(&[][..], |e| &e.sack[..usize::from(e.blocks)]);
        for &(start, end) in blocks {
            if let (Some(start), Some(end)) = (unwrap_offset(start, ack), unwrap_offset(end, ack)) {
                if start > end && pkt.head.flags.has(Flags::PPL) {
                    assert!(start <= highest, "a range {end}..{start} of what was never sent was lost");
                    continue;
                }
                assert!(start < end && end <= highest, "a block {start}..{end} of what was never sent");
                self.add(start, end);
            }
        }
        self.sacked.retain(|r| r.1 > ack);
    }
    fn add(&mut self, mut start: u64, mut end: u64) {
        self.sacked.retain(|r| {
            let touches = r.0 <= end && start <= r.1;
            if touches {
                (start, end) = (start.min(r.0), end.max(r.1));
            }
            !touches
        });
        self.sacked.push((start, end));
        self.sacked.sort_unstable();
    }
    /// Forgets SACKed ranges after a timeout.
    /// The receiver may have discarded them, and they may be sent again (RFC 2018 §8).
    pub fn forget(&mut self) {
        self.sacked.clear();
    }
    /// Returns true if any byte of `start..end` is known to have arrived.
    pub fn has_any(&self, start: u64, end: u64) -> bool {
        start < self.una || self.sacked.iter().any(|r| r.0 < end && start < r.1)
    }
    /// Returns a lower bound of the number of bytes in flight.
    /// It counts the bytes below `highest` that are neither acknowledged nor lost (RFC 6675 §4, IsLost).
    pub fn in_network(&self, highest: u64, threshold: u64, mss: u64) -> u64 {
        let mut lost_below = self.una;
        for (i, range) in self.sacked.iter().enumerate() {
            let above: u64 = self.sacked[i..].iter().map(|r| r.1 - r.0).sum();
            if (self.sacked.len() - i) as u64 >= threshold || above > (threshold - 1) * mss {
                lost_below = range.0;
            }
        }
        let beyond = |r: &&(u64, u64)| r.1 > lost_below;
        let sacked: u64 = self.sacked.iter().filter(beyond).map(|r| r.1 - r.0.max(lost_below)).sum();
        highest.saturating_sub(lost_below).saturating_sub(sacked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_network_is_neither_acknowledged_nor_lost() {
        let mut t = ObservedWindows { una: 1000, ..ObservedWindows::default() };
        assert_eq!(t.in_network(10_000, 3, 1000), 9000);
        t.add(3000, 4000);
        t.add(5000, 6000);
        assert_eq!(t.in_network(10_000, 3, 1000), 7000, "two blocks of 1000: nothing is lost");
        t.add(8000, 8001);
        assert_eq!(t.in_network(10_000, 3, 1000), 10_000 - 3000 - 2001, "three blocks above 1000..3000");
        t.add(3500, 8500);
        assert_eq!(t.sacked, [(3000, 8500)]);
        assert_eq!(t.in_network(10_000, 3, 1000), 1500);
        assert!(t.has_any(0, 1001) && t.has_any(8499, 9000) && !t.has_any(8500, 9000) && !t.has_any(1000, 3000));
    }
}
