//! Headroom: what may still come in by a port after it has asked for silence (IEEE 802.1Q annex O).
//!
//! Let the frame that fills the memory to `xoff` be stored at the instant 0. The request waits for the frame
//! that has just begun to leave here, takes its own time on the wire and the delay of the link, and `response`
//! passes at the far end; a frame that begins there by then still comes. All that the far end began from
//! one delay before 0 comes after 0. So frames may begin there for
//!
//! ```text
//! wire(frame here) + wire(64 B) + delay + response + delay
//! ```
//!
//! and whole frames count, the last of which may begin at the very end. To them adds what the frame that
//! crossed `xoff` has beyond it, all but a byte.

use units::{Clock, Dur};

/// Bytes of a PAUSE or PFC frame (IEEE 802.3 §31.4, annex 31B).
pub const CONTROL_FRAME: u16 = 64;

/// A link between a port that asks for silence and the device that is to be silent.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Rate toward the device, of requests.
    pub there: Clock,
    /// Rate from the device, of what is to cease.
    pub back: Clock,
    /// Delay toward the device.
    pub delay_there: Dur,
    /// Delay from the device.
    pub delay_back: Dur,
    /// From the arrival of a request until it takes effect.
    pub response: Dur,
    /// Bytes of the largest frame either way.
    pub frame: u16,
    /// Preamble and gap, bytes.
    pub gap: u16,
}

impl Span {
    fn wire(&self, clock: Clock, size: u16) -> Dur {
        clock.time(u64::from(size) + u64::from(self.gap))
    }

    /// The longest that a request waits for the frame under way; all else takes every request as long.
    pub fn waits(&self) -> Dur {
        self.wire(self.there, self.frame)
    }

    /// From when a request begins to leave until nothing comes any more that began before it took effect.
    pub fn away(&self) -> Dur {
        let received = self.wire(self.there, CONTROL_FRAME).saturating_add(self.delay_there);
        received.saturating_add(self.response).saturating_add(self.delay_back)
    }

    /// Bytes that may come on top of `xoff`.
    pub fn headroom(&self) -> u64 {
        let window = self.waits().saturating_add(self.away());
        let (one, frame) = (self.wire(self.back, self.frame), u64::from(self.frame));
        let whole = window.0 / one.0;
        let left = Dur(window.0 % one.0);
        let fits = |size: &u16| self.wire(self.back, *size) <= left;
        let part = (1..self.frame).rev().find(fits).unwrap_or(0);
        (frame - 1).saturating_add(whole.saturating_mul(frame)).saturating_add(u64::from(part)).saturating_add(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn span(gbps: u64, delay: Dur, response: Dur) -> Span {
        let clock = Rate::gbps(gbps).clock();
        Span { there: clock, back: clock, delay_there: delay, delay_back: delay, response, frame: 1518, gap: 20 }
    }

    #[test]
    fn a_short_link_needs_two_frames_and_a_request_beside_the_frame_that_crosses() {
        // 10 Gb/s: a frame takes 1230.4 ns, a request 67.2, twice 1 ps nothing: one whole frame, 67.2 ns of
        // another, of which 84 - 20 bytes are a frame, and one more.
        let headroom = span(10, Dur(1), Dur::ZERO).headroom();
        assert_eq!(headroom, 1517 + 1518 + 64 + 1518);
    }

    #[test]
    fn delay_counts_twice_and_the_response_once() {
        // 10 Gb/s is 1250 bytes a microsecond: 2 x 1230.4 ns of delay and 1230.4 of response are three frames.
        let one = Dur(1_230_400);
        let (base, more) = (span(10, Dur(1), Dur::ZERO), span(10, Dur(1) + one, one));
        assert_eq!(more.headroom() - base.headroom(), 3 * 1518);
        assert_eq!(more.away(), base.away() + one + one + one);
        assert_eq!(more.waits(), one);
        // The page's example: 4122 bytes of window are two frames and 1046 bytes, of which 1026 are a frame.
        assert_eq!(span(10, Dur::us(1), Dur::ZERO).headroom(), 1517 + 2 * 1518 + 1026 + 1518);
    }

    #[test]
    fn what_comes_slower_is_less() {
        let mut slow = span(10, Dur::us(1), Dur::ZERO);
        let fast = slow.headroom();
        slow.back = Rate::gbps(1).clock();
        // The window of 3297.6 ns is less than a frame at 1 Gb/s: 412 bytes, of which 392 are a frame.
        assert_eq!(slow.headroom(), 1517 + 392 + 1518);
        assert!(fast > slow.headroom());
    }
}
