//! The flow completion time of a flow that is alone on its path, in closed form.

use dataplane::Framing;
use units::{Dur, Rate};

/// The shortest possible FCT of `bytes` over `links`, the sender's NIC link first: store and
/// forward, all headers, `options` bytes of header options in every segment of up to `mss` bytes,
/// an unlimited window, the last payload byte at the receiver, and one traversal of the stack at
/// each end.
///
/// m equal frames leave link i after Σa + (m−1)·max(a), a being the times that a frame takes on
/// the links up to i; a shorter last frame follows them link by link. Exact to the picosecond,
/// each frame's time rounded up as on the link itself.
pub fn ideal_fct(links: &[(Rate, Dur)], framing: &Framing, mss: u16, options: u16, bytes: u64, stack: Dur) -> Dur {
    let mss = u64::from(mss.max(1));
    let wire = |payload: u64| framing.wire(framing.frame(payload as u16, options));
    let (full, rest) = (bytes / mss, bytes % mss);
    let tail = (rest > 0 || full == 0).then(|| wire(rest));
    // The instants at which the last full frame, and the frame after it, have left the link before
    // and crossed it.
    let (mut full_sum, mut slowest, mut delays, mut tail_there) = (0u64, 0u64, 0u64, 0u64);
    let mut full_there = 0;
    for (rate, delay) in links {
        let mut busy_until = 0;
        if full > 0 {
            let each = rate.time(wire(mss)).0;
            full_sum = full_sum.saturating_add(each);
            slowest = slowest.max(each);
            let left = full_sum.saturating_add(slowest.saturating_mul(full - 1));
            busy_until = left.saturating_add(delays);
            full_there = busy_until.saturating_add(delay.0);
        }
        if let Some(size) = tail {
            let left = tail_there.max(busy_until).saturating_add(rate.time(size).0);
            tail_there = left.saturating_add(delay.0);
        }
        delays = delays.saturating_add(delay.0);
    }
    let there = if tail.is_some() { tail_there } else { full_there };
    Dur(there).saturating_add(stack).saturating_add(stack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Purpose, Stream};

    /// Every frame on every link, one after the other.
    fn brute(links: &[(Rate, Dur)], framing: &Framing, (mss, options): (u16, u16), bytes: u64) -> Dur {
        let mut free = vec![0u64; links.len()];
        let (mut left, mut there) = (bytes, 0);
        while left > 0 {
            let payload = left.min(u64::from(mss));
            left -= payload;
            there = 0;
            for ((rate, delay), free) in links.iter().zip(&mut free) {
                *free = there.max(*free) + rate.time(framing.wire(framing.frame(payload as u16, options))).0;
                there = *free + delay.0;
            }
        }
        Dur(there)
    }

    #[test]
    fn one_segment_over_two_links_takes_both_links_and_both_delays() {
        let links = [(Rate::gbps(1), Dur::us(1)); 2];
        let fct = ideal_fct(&links, &Framing::ETHERNET, 1460, 0, 1460, Dur::us(3));
        assert_eq!(fct, Dur::ns(2 * 12_304 + 2 * 1000 + 2 * 3000));
    }

    #[test]
    fn ten_segments_are_pipelined() {
        let links = [(Rate::gbps(1), Dur::us(1)); 6];
        let fct = ideal_fct(&links, &Framing::ETHERNET, 1460, 0, 14_600, Dur::ZERO);
        assert_eq!(fct, Dur::ns((6 + 9) * 12_304 + 6 * 1000));
    }

    #[test]
    fn a_tiny_last_segment_is_padded_and_waits_behind_the_full_ones() {
        let links = [(Rate::gbps(10), Dur::us(1)), (Rate::gbps(1), Dur::us(1))];
        let fct = ideal_fct(&links, &Framing::ETHERNET, 1460, 0, 1461, Dur::ZERO);
        assert_eq!(fct, Dur::ps(1_230_400 + 1_000_000 + 12_304_000 + 84 * 8000 + 1_000_000));
    }

    #[test]
    fn the_closed_form_is_the_recurrence_to_the_picosecond() {
        let mut draw = Stream::new(1, 0, Purpose::Custom(0));
        let rates = [Rate::gbps(1), Rate::mbps(553), Rate::gbps(10), Rate::ratio(1_000_000_000, 3).unwrap()];
        let framings = [Framing::ETHERNET, Framing { header: 0, link: 0, min_frame: 0, gap: 0 }];
        for _ in 0..3000 {
            let n = 1 + draw.below(7);
            let links: Vec<_> =
                (0..n).map(|_| (rates[draw.below(4) as usize], Dur(1 + draw.below(5_000_000)))).collect();
            let mss = [1460, 536, 1, 8960][draw.below(4) as usize];
            let options = [0, 12][draw.below(2) as usize];
            let framing = &framings[draw.below(2) as usize];
            let bytes = 1 + draw.below(40 * u64::from(mss));
            let closed = ideal_fct(&links, framing, mss, options, bytes, Dur::ZERO);
            assert_eq!(closed, brute(&links, framing, (mss, options), bytes), "{links:?} {mss} {options} {bytes}");
        }
    }

    #[test]
    fn the_longest_flow_does_not_overflow() {
        let links = [(Rate::bps(1), Dur::s(1)); 2];
        assert_eq!(ideal_fct(&links, &Framing::ETHERNET, 1460, 0, u64::MAX, Dur::ZERO), Dur::MAX);
    }
}
