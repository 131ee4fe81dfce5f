//! Headroom: bytes that may still come in by a port after it has sent a pause frame (IEEE 802.1Q annex O).
//!
//! Let the frame that fills the memory to `xoff` be stored at time 0. The pause frame waits for a frame that has just
//! begun to leave here. Then it takes its own time on the link, the delay of the link, and `response` at the far end. A
//! frame that begins there by then still arrives. All frames that the far end began later than one delay before time 0
//! arrive after it. So frames may begin there during
//!
//! ```text
//! wire(frame here) + wire(64 B) + delay + response + delay
//! ```
//!
//! Whole frames count, and the last of them may begin at the very end. The frame that crossed `xoff` may exceed it by
//! all but one of its bytes, which adds to them.

use units::{ByteClock, Dur};

/// Size of a PAUSE or PFC frame in bytes (IEEE 802.3 §31.4, annex 31B).
pub const CONTROL_FRAME_BYTES: u16 = 64;

/// Link between a port that sends pause frames and the device that it pauses.
#[derive(Clone, Copy, Debug)]
pub struct PausedLink {
    /// Rate toward the paused device, at which pause frames are sent.
    pub rate_to_device: ByteClock,
    /// Rate from the paused device, of the traffic to pause.
    pub rate_from_device: ByteClock,
    /// Link delay toward the paused device.
    pub delay_to_device: Dur,
    /// Link delay from the paused device.
    pub delay_from_device: Dur,
    /// Time from the arrival of a pause frame at the device until it takes effect.
    pub response: Dur,
    /// Size of the largest frame in either direction, in bytes.
    pub frame: u16,
    /// Preamble and inter-frame gap, in bytes.
    pub gap: u16,
}

impl PausedLink {
    fn wire_time(&self, clock: ByteClock, size: u16) -> Dur {
        clock.time(u64::from(size) + u64::from(self.gap))
    }

    /// Returns the longest wait of a pause frame behind a frame in transmission.
    /// All other delays are the same for every pause frame.
    pub fn max_wait(&self) -> Dur {
        self.wire_time(self.rate_to_device, self.frame)
    }

    /// Returns the time from the start of a pause frame's transmission until the last frame begins to arrive.
    /// That frame is the last that the device began before the pause took effect.
    pub fn reaction_time(&self) -> Dur {
        let received = self.wire_time(self.rate_to_device, CONTROL_FRAME_BYTES).saturating_add(self.delay_to_device);
        received.saturating_add(self.response).saturating_add(self.delay_from_device)
    }

    /// Returns the headroom in bytes of whole cells, if every frame has at least `least` bytes.
    ///
    /// Frames of the size with the most cells per byte on the wire arrive during the window, and one largest frame may
    /// begin at its end. The frame that reaches `xoff` takes no headroom.
    pub fn worst_case_headroom(&self, cell: u64, least: u16) -> u64 {
        let window = self.max_wait().saturating_add(self.reaction_time());
        const MANY: u64 = 1 << 20;
        let wire = u128::from(window.0) * u128::from(MANY) / u128::from(self.rate_from_device.time(MANY).0.max(1)) + 1;
        let cells = |size: u64| size.div_ceil(cell);
        let (least, most) = (u64::from(least).min(u64::from(self.frame)), u64::from(self.frame));
        // A frame of one byte more than whole cells fills the most cells for its size.
        let worst = (least.div_ceil(cell)..=most.div_ceil(cell)).map(|whole| (whole * cell + 1).min(most));
        let fills = |size: u64| (u128::from(cells(size)) * wire).div_ceil(u128::from(size + u64::from(self.gap)));
        let filled = worst.chain([least, most]).map(fills).max().unwrap_or(0);
        u64::try_from(filled).unwrap_or(u64::MAX).saturating_add(cells(most)).saturating_mul(cell)
    }

    /// Returns the headroom: the bytes that may still arrive after the memory in use has reached `xoff`.
    pub fn headroom_bytes(&self) -> u64 {
        let window = self.max_wait().saturating_add(self.reaction_time());
        let (one, frame) = (self.wire_time(self.rate_from_device, self.frame), u64::from(self.frame));
        let whole = window.0 / one.0;
        // The rest of the window holds the largest frame that, with preamble and gap, fits into it.
        let left = Dur(window.0 % one.0);
        let fits = |size: &u16| self.wire_time(self.rate_from_device, *size) <= left;
        let part = (1..self.frame).rev().find(fits).unwrap_or(0);
        (frame - 1).saturating_add(whole.saturating_mul(frame)).saturating_add(u64::from(part)).saturating_add(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn paused_link(gbps: u64, delay: Dur, response: Dur) -> PausedLink {
        let clock = Rate::gbps(gbps).clock();
        PausedLink {
            rate_to_device: clock,
            rate_from_device: clock,
            delay_to_device: delay,
            delay_from_device: delay,
            response,
            frame: 1518,
            gap: 20,
        }
    }

    #[test]
    fn headroom_of_a_short_link_matches_the_calculation() {
        // At 10 Gb/s a frame takes 1230.4 ns, a pause frame 67.2 ns, and the delays are negligible. Headroom is the
        // rest of the crossing frame, one whole frame, 67.2 ns of another (84 B, of which 64 B are frame), and one
        // more.
        let headroom = paused_link(10, Dur(1), Dur::ZERO).headroom_bytes();
        assert_eq!(headroom, 1517 + 1518 + 64 + 1518);
    }

    #[test]
    fn headroom_counts_the_delay_twice_and_the_response_once() {
        // At 1250 bytes a microsecond, 2 x 1230.4 ns of delay and 1230.4 ns of response are three frames.
        let one = Dur(1_230_400);
        let (base, more) = (paused_link(10, Dur(1), Dur::ZERO), paused_link(10, Dur(1) + one, one));
        assert_eq!(more.headroom_bytes() - base.headroom_bytes(), 3 * 1518);
        assert_eq!(more.reaction_time(), base.reaction_time() + one + one + one);
        assert_eq!(more.max_wait(), one);
        // Example of the page: a window of 4122 bytes is two frames and 1046 bytes, of which 1026 are frame.
        assert_eq!(paused_link(10, Dur::us(1), Dur::ZERO).headroom_bytes(), 1517 + 2 * 1518 + 1026 + 1518);
    }

    #[test]
    fn a_slower_far_end_needs_less_headroom() {
        let mut slow = paused_link(10, Dur::us(1), Dur::ZERO);
        let fast = slow.headroom_bytes();
        slow.rate_from_device = Rate::gbps(1).clock();
        // The window of 3297.6 ns is less than a frame at 1 Gb/s: 412 bytes, of which 392 are frame.
        assert_eq!(slow.headroom_bytes(), 1517 + 392 + 1518);
        assert!(fast > slow.headroom_bytes());
    }
}
