//! Round-trip samples without timestamps and without a record of every segment (RFC 6298 §3).
//!
//! Segments that leave at one instant are one burst with one send time, so that every ACK of a first window gives a
//! sample.
//! Two bursts are timed simultaneously, which gives two to four samples a round trip later on.
//! A retransmission stops both measurements: an ACK does not show which transmission of a segment it acknowledges
//! (Karn's algorithm). With timestamps nothing here is used.

use units::{Dur, Time};

/// Bytes sent at one instant, timed for a round-trip sample; empty if start and end are equal.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    at: Time,
    start: u32,
    end: u32,
}

impl Burst {
    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Bursts of new data that are timed for round-trip samples, oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttTiming {
    first: Burst,
    second: Burst,
}

fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl RttTiming {
    /// Records the send time of new data. PRECONDITION: the data was never sent before.
    #[inline]
    pub fn on_sent(&mut self, now: Time, start: u32, end: u32) {
        let last = if self.second.is_empty() { &mut self.first } else { &mut self.second };
        if last.is_empty() {
            *last = Burst { at: now, start, end };
        } else if last.at == now && last.end == start {
            last.end = end;
        } else if self.second.is_empty() {
            self.second = Burst { at: now, start, end };
        }
    }
    /// Returns the age of the newest timed byte before `ack`, where everything before `ack` is acknowledged.
    #[inline]
    pub fn on_acked(&mut self, now: Time, ack: u32) -> Option<Dur> {
        let mut sample = None;
        while !self.first.is_empty() && is_after(ack, self.first.start) {
            sample = Some(now.since(self.first.at));
            // The rest of a burst that is acknowledged in part stays timed.
            if is_after(self.first.end, ack) {
                break;
            }
            self.first = std::mem::take(&mut self.second);
        }
        sample
    }
    /// Stops the timing of both bursts after a retransmission, without a sample.
    /// An ACK does not show which transmission of a segment it acknowledges (Karn's algorithm).
    pub fn clear(&mut self) {
        *self = RttTiming::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    #[test]
    fn only_two_bursts_are_timed_simultaneously() {
        let mut timing = RttTiming::default();
        timing.on_sent(at(0), 0, 1000);
        timing.on_sent(at(0), 1000, 2000);
        timing.on_sent(at(1), 2000, 3000);
        timing.on_sent(at(2), 3000, 4000);
        assert_eq!(timing.on_acked(at(10), 500), Some(Dur::us(10)), "a part of a burst is a sample");
        assert_eq!(timing.on_acked(at(11), 2000), Some(Dur::us(11)));
        assert_eq!(timing.on_acked(at(12), 3000), Some(Dur::us(11)));
        assert_eq!(timing.on_acked(at(13), 4000), None);
    }

    #[test]
    fn ack_samples_newer_burst_and_no_retransmitted_data() {
        let mut timing = RttTiming::default();
        timing.on_sent(at(0), u32::MAX - 999, 0);
        timing.on_sent(at(3), 0, 1000);
        assert_eq!(timing.on_acked(at(10), 1000), Some(Dur::us(7)));
        timing.on_sent(at(10), 1000, 2000);
        timing.clear();
        assert_eq!(timing.on_acked(at(20), 2000), None);
    }
}
