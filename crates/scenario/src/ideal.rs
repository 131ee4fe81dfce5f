//! The flow completion time of a flow that is alone on its path, in closed form.

use dataplane::Framing;
use units::{Dur, Rate};

/// A flow that is alone on its path.
#[derive(Clone, Copy, Debug)]
pub struct Alone<'a> {
    /// The links that its data cross, the sender's NIC link first.
    pub links: &'a [(Rate, Dur)],
    /// The links that its ACKs cross.
    pub back: &'a [(Rate, Dur)],
    /// What surrounds a payload.
    pub framing: &'a Framing,
    /// Largest payload of a segment, bytes.
    pub mss: u16,
    /// Bytes of header options in every data segment.
    pub options: u16,
    /// Bytes of options in the SYN and in its answer; `None` without a handshake.
    pub syn: Option<u16>,
    /// Bytes of options in the ACK that ends the flow at its sender; `None` where it ends at its receiver.
    pub ack: Option<u16>,
    /// Time of one traversal of a host's stack.
    pub stack: Dur,
    /// Payload bytes.
    pub bytes: u64,
}

/// The shortest possible FCT of a flow: a handshake where it has one, then store and forward, all
/// headers, an unlimited window, the last payload byte at the receiver (or its ACK at the sender),
/// and one traversal of the stack at each end.
pub fn ideal_fct(flow: &Alone) -> Dur {
    let mut fct = transfer(flow).saturating_add(flow.stack).saturating_add(flow.stack);
    if let Some(options) = flow.syn {
        fct = fct.saturating_add(handshake(flow, options));
    }
    if let Some(options) = flow.ack {
        fct =
            fct.saturating_add(crossing(flow, options, flow.back)).saturating_add(Dur(flow.stack.0.saturating_mul(2)));
    }
    fct
}

/// One empty segment over links.
fn crossing(flow: &Alone, options: u16, links: &[(Rate, Dur)]) -> Dur {
    let size = flow.framing.wire(flow.framing.frame(0, options));
    let cross = |sum: Dur, (rate, delay): &(Rate, Dur)| sum.saturating_add(rate.time(size)).saturating_add(*delay);
    links.iter().fold(Dur::ZERO, cross)
}

/// A SYN there and its answer back; the ACK of that is the first segment (RFC 9293 §3.5).
fn handshake(flow: &Alone, options: u16) -> Dur {
    let there = crossing(flow, options, flow.links);
    there.saturating_add(crossing(flow, options, flow.back)).saturating_add(Dur(flow.stack.0.saturating_mul(4)))
}

/// From the first byte on the first link to the last one at the end of the last.
///
/// m equal frames leave link i after Σa + (m−1)·max(a), a being the times that a frame takes on
/// the links up to i; a shorter last frame follows them link by link. Exact to the picosecond,
/// each frame's time rounded up as on the link itself.
fn transfer(flow: &Alone) -> Dur {
    let mss = u64::from(flow.mss.max(1));
    let wire = |payload: u64| flow.framing.wire(flow.framing.frame(payload as u16, flow.options));
    let (full, rest) = (flow.bytes / mss, flow.bytes % mss);
    let tail = (rest > 0 || full == 0).then(|| wire(rest));
    // The instants at which the last full frame, and the frame after it, have left the link before
    // and crossed it.
    let (mut full_sum, mut slowest, mut delays, mut tail_there) = (0u64, 0u64, 0u64, 0u64);
    let mut full_there = 0;
    for (rate, delay) in flow.links {
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
    Dur(if tail.is_some() { tail_there } else { full_there })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Purpose, Stream};

    fn alone<'a>(links: &'a [(Rate, Dur)], bytes: u64) -> Alone<'a> {
        let framing = &Framing::ETHERNET;
        Alone { links, back: &[], framing, mss: 1460, options: 0, syn: None, ack: None, stack: Dur::ZERO, bytes }
    }

    /// Every frame on every link, one after the other.
    fn brute(flow: &Alone) -> Dur {
        let time = |rate: &Rate, payload: u64, options| {
            rate.time(flow.framing.wire(flow.framing.frame(payload as u16, options))).0
        };
        let mut start = 0;
        if let Some(options) = flow.syn {
            for path in [flow.links, flow.back] {
                start += flow.stack.0;
                path.iter().for_each(|(rate, delay)| start += time(rate, 0, options) + delay.0);
                start += flow.stack.0;
            }
        }
        start += flow.stack.0;
        let mut free = vec![start; flow.links.len()];
        let (mut left, mut there) = (flow.bytes, 0);
        while left > 0 {
            let payload = left.min(u64::from(flow.mss));
            left -= payload;
            there = start;
            for ((rate, delay), free) in flow.links.iter().zip(&mut free) {
                *free = there.max(*free) + time(rate, payload, flow.options);
                there = *free + delay.0;
            }
        }
        Dur(there + flow.stack.0)
    }

    #[test]
    fn one_segment_over_two_links_takes_both_links_and_both_delays() {
        let links = [(Rate::gbps(1), Dur::us(1)); 2];
        let fct = ideal_fct(&Alone { stack: Dur::us(3), ..alone(&links, 1460) });
        assert_eq!(fct, Dur::ns(2 * 12_304 + 2 * 1000 + 2 * 3000));
    }

    #[test]
    fn timestamps_take_twelve_bytes_of_every_frame() {
        let links = [(Rate::gbps(1), Dur::us(1)); 2];
        let fct = ideal_fct(&Alone { options: 12, ..alone(&links, 14_600) });
        assert_eq!(fct, Dur::ns(11 * (12_304 + 96) + 2 * 1000));
    }

    #[test]
    fn a_handshake_crosses_every_link_and_four_stacks() {
        // A SYN with 12 bytes of options: 70 B, a slot of 90 B, 720 ns at 1 Gb/s.
        let (links, back) = ([(Rate::gbps(1), Dur::us(1)); 2], [(Rate::gbps(1), Dur::us(5)); 2]);
        let flow = Alone { back: &back, syn: Some(12), stack: Dur::us(3), ..alone(&links, 1460) };
        let opened = Dur::ns(4 * 720 + 2 * 1000 + 2 * 5000 + 4 * 3000);
        assert_eq!(ideal_fct(&flow), ideal_fct(&Alone { syn: None, ..flow }) + opened);
    }

    #[test]
    fn an_end_at_the_sender_is_the_way_back_of_an_ack_later() {
        let (links, back) = ([(Rate::gbps(1), Dur::us(1)); 2], [(Rate::gbps(1), Dur::us(5)); 2]);
        let flow = Alone { back: &back, stack: Dur::us(3), ..alone(&links, 1460) };
        // 64 B, a slot of 84 B, 672 ns at 1 Gb/s; with 12 bytes of options 70 B and 720 ns.
        let ended = Dur::ns(2 * 672 + 2 * 5000 + 2 * 3000);
        assert_eq!(ideal_fct(&Alone { ack: Some(0), ..flow }), ideal_fct(&flow) + ended);
        assert_eq!(ideal_fct(&Alone { ack: Some(12), ..flow }), ideal_fct(&flow) + ended + Dur::ns(2 * 48));
    }

    #[test]
    fn ten_segments_are_pipelined() {
        let links = [(Rate::gbps(1), Dur::us(1)); 6];
        assert_eq!(ideal_fct(&alone(&links, 14_600)), Dur::ns((6 + 9) * 12_304 + 6 * 1000));
    }

    #[test]
    fn a_tiny_last_segment_is_padded_and_waits_behind_the_full_ones() {
        let links = [(Rate::gbps(10), Dur::us(1)), (Rate::gbps(1), Dur::us(1))];
        let fct = ideal_fct(&alone(&links, 1461));
        assert_eq!(fct, Dur::ps(1_230_400 + 1_000_000 + 12_304_000 + 84 * 8000 + 1_000_000));
    }

    #[test]
    fn the_closed_form_is_the_recurrence_to_the_picosecond() {
        let mut draw = Stream::new(1, 0, Purpose::Custom(0));
        let rates = [Rate::gbps(1), Rate::mbps(553), Rate::gbps(10), Rate::ratio(1_000_000_000, 3).unwrap()];
        let framings = [Framing::ETHERNET, Framing { header: 0, link: 0, min_frame: 0, gap: 0 }];
        for _ in 0..3000 {
            let n = 1 + draw.below(7);
            let mut path = || -> Vec<_> {
                (0..n).map(|_| (rates[draw.below(4) as usize], Dur(1 + draw.below(5_000_000)))).collect()
            };
            let (links, back) = (path(), path());
            let mss = [1460, 536, 1, 8960][draw.below(4) as usize];
            let flow = Alone {
                links: &links,
                back: &back,
                framing: &framings[draw.below(2) as usize],
                mss,
                options: [0, 12][draw.below(2) as usize],
                syn: [None, Some(8), Some(20)][draw.below(3) as usize],
                ack: None,
                stack: Dur(draw.below(3_000_000)),
                bytes: 1 + draw.below(40 * u64::from(mss)),
            };
            assert_eq!(ideal_fct(&flow), brute(&flow), "{flow:?}");
        }
    }

    #[test]
    fn the_longest_flow_does_not_overflow() {
        let links = [(Rate::bps(1), Dur::s(1)); 2];
        let flow = Alone { back: &links, syn: Some(20), stack: Dur::MAX, ..alone(&links, u64::MAX) };
        assert_eq!(ideal_fct(&flow), Dur::MAX);
    }
}
