//! Rate limiter of one flow: computes when its next frame may begin.
//!
//! A frame of `s` bytes at rate `r` occupies the limiter for s/r. Unused time is not saved, or only up to a bound by
//! the caller. Times are whole picoseconds, rounded up for each frame as on a link. The caller defines the counted
//! bytes. A NIC includes preamble and gap, so that a limiter at the rate of the link never delays a frame.

use units::{ByteClock, Dur, Rate, Time};

/// Rate limiter of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimiter {
    rate: Rate,
    clock: ByteClock,
    eligible_at: Time,
}

impl RateLimiter {
    /// Creates a limiter that lets the first frame pass immediately.
    pub fn new(rate: Rate) -> RateLimiter {
        RateLimiter { rate, clock: rate.clock(), eligible_at: Time::ZERO }
    }
    /// Returns the current rate limit.
    pub fn rate(&self) -> Rate {
        self.rate
    }
    /// Returns the earliest instant at which the next frame may start.
    pub fn eligible_at(&self) -> Time {
        self.eligible_at
    }
    /// Sets another rate from `now` on. The remaining time of the frame that occupies the limiter changes in
    /// proportion.
    pub fn set_rate(&mut self, rate: Rate, now: Time) {
        if self.eligible_at > now {
            self.eligible_at = now.saturating_add(scale_duration(self.eligible_at - now, self.rate, rate));
        }
        (self.rate, self.clock) = (rate, rate.clock());
    }
    /// Records a sent frame of `bytes` that starts at `now`, without any credit for unused time before.
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.on_sent_saving(now, bytes, 0);
    }
    /// Records a sent frame of `bytes` that starts at `now`, with credit for unused time of up to one such frame.
    ///
    /// Without that, a limiter above the fair share is ready just after another flow has taken the next turn, and loses
    /// that turn. Time before the first frame does not count as unused: no limiter begins with two frames back to back.
    pub fn on_sent_saving_one(&mut self, now: Time, bytes: u64) {
        let credit = if self.eligible_at == Time::ZERO { 0 } else { bytes };
        self.on_sent_saving(now, bytes, credit);
    }
    /// Records a sent frame of `bytes` that starts at `now`, with credit for unused time of up to `credit` bytes.
    pub fn on_sent_saving(&mut self, now: Time, bytes: u64, credit: u64) {
        let saved = Time(now.0.saturating_sub(self.clock.time(credit).0));
        self.eligible_at = self.eligible_at.max(saved).saturating_add(self.clock.time(bytes));
    }
}

/// Converts the duration of a transfer from rate `from` to rate `to`, rounded up; the longest time if it does not fit.
fn scale_duration(time: Dur, from: Rate, to: Rate) -> Dur {
    let ((num, den), (to_num, to_den)) = (from.numerator_and_denominator(), to.numerator_and_denominator());
    let more = u128::from(num) * u128::from(to_den);
    let less = u128::from(den) * u128::from(to_num);
    // Dividing by the greatest common divisor keeps the product within 128 bits for realistic rates.
    let (mut a, mut b) = (more, less);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let ps = u128::from(time.0).checked_mul(more / a).map(|ps| ps.div_ceil(less / a));
    Dur(ps.and_then(|ps| u64::try_from(ps).ok()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_frame_passes_immediately_and_the_next_at_the_rate() {
        let mut limiter = RateLimiter::new(Rate::mbps(100));
        assert_eq!(limiter.eligible_at(), Time::ZERO);
        limiter.on_sent(Time(5), 1538);
        // 1538 B x 8 / 100 Mb/s = 123.04 us.
        assert_eq!(limiter.eligible_at(), Time(5 + 123_040_000));
        limiter.on_sent(Time(5 + 123_040_000), 84);
        assert_eq!(limiter.eligible_at(), Time(5 + 123_040_000 + 6_720_000));
    }

    #[test]
    fn limiter_without_credit_saves_no_idle_time() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent(Time::ZERO, 125);
        limiter.on_sent(Time(9_000_000), 125);
        assert_eq!(limiter.eligible_at(), Time(10_000_000), "a microsecond after the second began");
    }

    #[test]
    fn credit_makes_up_for_late_frames_up_to_its_bytes() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent_saving(Time::ZERO, 125, 125);
        limiter.on_sent_saving(Time(1_400_000), 125, 125);
        assert_eq!(limiter.eligible_at(), Time(2_000_000), "400 ns late, and the next is not");
        limiter.on_sent_saving(Time(9_000_000), 125, 125);
        assert_eq!(limiter.eligible_at(), Time(9_000_000), "7 us late, of which one is saved");
        limiter.on_sent(Time(9_500_000), 125);
        assert_eq!(limiter.eligible_at(), Time(10_500_000));
    }

    #[test]
    fn limiter_saves_the_time_of_one_frame_after_its_first() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent_saving_one(Time(5_000_000), 125);
        assert_eq!(limiter.eligible_at(), Time(6_000_000), "nothing is saved before the first frame");
        limiter.on_sent_saving_one(Time(6_400_000), 125);
        assert_eq!(limiter.eligible_at(), Time(7_000_000), "400 ns late, and the next is not");
        limiter.on_sent_saving_one(Time(9_000_000), 250);
        assert_eq!(limiter.eligible_at(), Time(9_000_000), "2 us late, which are saved for a frame of 2 us");
        limiter.on_sent_saving_one(Time(19_000_000), 125);
        assert_eq!(limiter.eligible_at(), Time(19_000_000), "10 us late, of which one is saved");
    }

    #[test]
    fn times_of_early_frames_add_up() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        (0..3).for_each(|_| limiter.on_sent(Time(7), 125));
        assert_eq!(limiter.eligible_at(), Time(7 + 3_000_000));
    }

    #[test]
    fn frame_times_are_rounded_up_to_whole_picoseconds() {
        let mut limiter = RateLimiter::new(Rate::ratio(1_000_000_000, 7).unwrap());
        limiter.on_sent(Time::ZERO, 1);
        // At 1/7 Gb/s a byte takes exactly 56 ns; at 3/7 Gb/s it takes 18,666.67 ps, which is rounded up.
        assert_eq!(limiter.eligible_at(), Time(56_000));
        let mut limiter = RateLimiter::new(Rate::ratio(3_000_000_000, 7).unwrap());
        limiter.on_sent(Time::ZERO, 1);
        limiter.on_sent(limiter.eligible_at(), 2);
        assert_eq!(limiter.eligible_at(), Time(18_667 + 37_334));
    }

    #[test]
    fn set_rate_rescales_the_remaining_wait_of_a_frame() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent(Time::ZERO, 1250);
        assert_eq!(limiter.eligible_at(), Time(10_000_000));
        limiter.set_rate(Rate::mbps(500), Time(4_000_000));
        assert_eq!(limiter.eligible_at(), Time(16_000_000), "6 us left at half the rate are 12");
        limiter.set_rate(Rate::gbps(3), Time(10_000_000));
        assert_eq!((limiter.eligible_at(), limiter.rate()), (Time(11_000_000), Rate::gbps(3)));
        limiter.set_rate(Rate::bps(1), Time(11_000_000));
        assert_eq!(limiter.eligible_at(), Time(11_000_000), "nothing was left");
        limiter.on_sent(Time(11_000_000), 1);
        assert_eq!(limiter.eligible_at(), Time(11_000_000 + 8_000_000_000_000));
    }

    #[test]
    fn remaining_wait_is_rounded_up_after_set_rate() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent(Time::ZERO, 1);
        limiter.set_rate(Rate::gbps(3), Time(7_990));
        assert_eq!(limiter.eligible_at(), Time(7_994), "10 ps become 3.3");
    }

    #[test]
    fn time_overflow_at_a_very_low_rate_waits_forever() {
        let mut limiter = RateLimiter::new(Rate::gbps(1));
        limiter.on_sent(Time::ZERO, u64::from(u32::MAX));
        limiter.set_rate(Rate::ratio(1, u64::MAX).unwrap(), Time(1));
        assert_eq!(limiter.eligible_at(), Time::NEVER);
        limiter.on_sent(Time(2), 1);
        assert_eq!(limiter.eligible_at(), Time::NEVER);
    }
}
