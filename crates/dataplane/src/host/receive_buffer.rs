//! Receive buffer of a NIC whose host takes frames at a limited rate.

use crate::Pkt;
use crate::end_table::PacketTally;
use std::collections::VecDeque;
use units::{ByteClock, Time};

/// Receive buffer of a NIC: a FIFO queue without a size limit, which the host drains at a limited rate.
///
/// A frame takes its whole size until its last byte is drained.
#[derive(Clone)]
pub(super) struct ReceiveBuffer {
    drain: ByteClock,
    /// Bytes from which on the NIC pauses the far end, and bytes at which it resumes it.
    xoff: u64,
    xon: u64,
    /// Frames, each with the instant at which its last byte is drained.
    frames: VecDeque<(Time, Pkt)>,
    waiting: PacketTally,
    paused: bool,
}

impl ReceiveBuffer {
    /// Creates an empty buffer. PRECONDITION: `xon` is below `xoff`.
    pub(super) fn new(drain: ByteClock, xoff: u64, xon: u64) -> ReceiveBuffer {
        ReceiveBuffer { drain, xoff, xon, frames: VecDeque::new(), waiting: PacketTally::default(), paused: false }
    }

    /// Adds a frame that arrives at `now`.
    pub(super) fn push(&mut self, now: Time, pkt: &Pkt) {
        let begin = self.frames.back().map_or(now, |(end, _)| now.max(*end));
        self.frames.push_back((begin.saturating_add(self.drain.time(u64::from(pkt.head.size))), *pkt));
        self.waiting.count(pkt);
        self.paused |= self.waiting.bytes >= self.xoff;
    }

    /// Removes and returns the first frame if its last byte is drained by `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Pkt> {
        self.next_end().filter(|end| *end <= now)?;
        let (_, pkt) = self.frames.pop_front()?;
        self.waiting.remove(&pkt);
        self.paused &= self.waiting.bytes > self.xon;
        Some(pkt)
    }

    /// Returns the instant at which the last byte of the first frame is drained; `None` if the buffer is empty.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.frames.front().map(|(end, _)| *end)
    }

    /// Returns true from XOFF on, until the buffer has fallen to XON.
    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Returns the frames that wait, in number and in bytes.
    pub(super) fn waiting(&self) -> PacketTally {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn frame(size: u16) -> Pkt {
        let mut pkt = Pkt::default();
        (pkt.head.size, pkt.head.orig_size) = (size, size);
        pkt
    }

    /// Buffer that drains a byte in 8 ns, with XOFF at 3000 B and XON at 1000 B.
    fn buffer() -> ReceiveBuffer {
        ReceiveBuffer::new(Rate::gbps(1).clock(), 3000, 1000)
    }

    fn ns(time: u64) -> Time {
        Time(time * 1000)
    }

    #[test]
    fn frames_leave_in_order_when_their_last_byte_is_drained() {
        let mut buffer = buffer();
        buffer.push(ns(100), &frame(1000));
        buffer.push(ns(200), &frame(64));
        // The first needs 8000 ns from its arrival on, the second 512 ns after that.
        assert_eq!(buffer.next_end(), Some(ns(8100)));
        assert!(buffer.pop(Time(ns(8100).0 - 1)).is_none());
        assert_eq!(buffer.pop(ns(8100)).map(|pkt| pkt.head.size), Some(1000));
        assert_eq!(buffer.next_end(), Some(ns(8612)));
        // The buffer is empty at 8612 ns, so that a later frame begins at its arrival.
        assert_eq!(buffer.pop(ns(8612)).map(|pkt| pkt.head.size), Some(64));
        buffer.push(ns(9000), &frame(100));
        assert_eq!((buffer.next_end(), buffer.waiting().packets), (Some(ns(9800)), 1));
    }

    #[test]
    fn buffer_pauses_from_xoff_on_and_resumes_at_xon() {
        let mut buffer = buffer();
        buffer.push(ns(0), &frame(1500));
        buffer.push(ns(0), &frame(1499));
        assert!(!buffer.is_paused(), "2999 B");
        buffer.push(ns(0), &frame(501));
        assert!(buffer.is_paused(), "3500 B");
        // 2000 B are left after 12,000 ns, and 501 B after 23,992 ns.
        assert!(buffer.pop(ns(12_000)).is_some() && buffer.is_paused());
        assert_eq!(buffer.waiting().bytes, 2000);
        assert!(buffer.pop(ns(23_992)).is_some() && !buffer.is_paused());
        buffer.push(ns(24_000), &frame(2499));
        assert!(buffer.is_paused(), "3000 B");
    }
}
