//! Flow completion time of a flow that is alone on its path, in closed form.

use crate::path_links::{PathCosts, PathLink, links_by_hop};
use dataplane::Framing;
use units::Dur;

/// Flow that is alone on its path.
#[derive(Clone, Copy, Debug)]
pub struct IdealFlow<'a> {
    /// Links that the flow's data may cross, the sender's NIC link first.
    pub links: &'a [PathLink],
    /// Links that the flow's ACKs may cross.
    pub back: &'a [PathLink],
    /// Framing: headers, minimum frame and gap around each payload.
    pub framing: &'a Framing,
    /// Largest payload of a segment in bytes.
    pub mss: u16,
    /// Header options in every data segment, in bytes.
    pub options: u16,
    /// Options in the SYN and in the SYN-ACK, in bytes; `None` without a handshake.
    pub syn: Option<u16>,
    /// Options in the ACK that ends the flow at its sender, in bytes; `None` if the flow ends at its receiver.
    pub ack: Option<u16>,
    /// Time of one traversal of a host's stack.
    pub stack: Dur,
    /// Payload of the flow in bytes.
    pub bytes: u64,
}

/// Returns the shortest possible FCT of a flow.
///
/// The time covers a handshake if there is one, then store-and-forward of all segments with their headers and an
/// unlimited window. It ends with the last payload byte at the receiver or its ACK at the sender. Each end adds one
/// traversal of the stack.
///
/// If every packet takes the same links, the result is exact: the FCT of the flow alone. If switches draw the next hop,
/// it is a lower bound. Every packet then takes its fastest path, and packets of the flow wait for one another only at
/// links that all of them take.
pub fn ideal_fct(flow: &IdealFlow) -> Dur {
    let mut fct = transfer_time(flow).saturating_add(flow.stack).saturating_add(flow.stack);
    if let Some(options) = flow.syn {
        fct = fct.saturating_add(handshake_time(flow, options));
    }
    if let Some(options) = flow.ack {
        fct = fct
            .saturating_add(empty_segment_time(flow, options, flow.back))
            .saturating_add(Dur(flow.stack.0.saturating_mul(2)));
    }
    fct
}

/// Returns the time of one empty segment over its fastest path.
fn empty_segment_time(flow: &IdealFlow, options: u16, links: &[PathLink]) -> Dur {
    let size = flow.framing.wire_size(flow.framing.frame_size(0, options));
    let mut sum = PathCosts::default();
    links_by_hop(links).for_each(|hop| sum.add_hop(hop, |link| link.rate.time(size).saturating_add(link.delay).0));
    Dur(sum.min_cost())
}

/// Returns the time of a SYN and its SYN-ACK; the ACK of the latter is the first segment (RFC 9293 §3.5).
fn handshake_time(flow: &IdealFlow, options: u16) -> Dur {
    let there = empty_segment_time(flow, options, flow.links);
    there
        .saturating_add(empty_segment_time(flow, options, flow.back))
        .saturating_add(Dur(flow.stack.0.saturating_mul(4)))
}

/// Returns the time from the first byte on the first link to the last byte at the end of the last link.
///
/// m equal frames have left link i after Σa + (m−1)·max(a), where a are the transmission times of a frame on the links
/// up to i. A shorter last frame follows them link by link. The result is exact to the picosecond, since each frame's
/// time is rounded up as on the link itself. If packets have several paths, each takes its shortest time and none waits
/// for another; the last frame may overtake full ones there.
fn transfer_time(flow: &IdealFlow) -> Dur {
    let mss = u64::from(flow.mss.max(1));
    let wire = |payload: u64| flow.framing.wire_size(flow.framing.frame_size(payload as u16, flow.options));
    let (full, rest) = (flow.bytes / mss, flow.bytes % mss);
    let tail = (rest > 0 || full == 0).then(|| wire(rest));
    let mut course = TransferProgress { full, each: wire(mss), tail, ..TransferProgress::default() };
    for hop in links_by_hop(flow.links) {
        match hop {
            [link] => course.add_shared_link(link),
            _ => course.add_parallel_links(hop),
        }
    }
    Dur(course.last_arrival())
}

/// Progress of a flow's frames along its path, in picoseconds: full frames, and a last frame that may be shorter.
#[derive(Default)]
struct TransferProgress {
    full: u64,
    /// Size of a full frame on the wire in bytes.
    each: u64,
    /// Size of the last frame on the wire in bytes, if it is shorter.
    tail: Option<u64>,
    /// Sum and maximum of a full frame's transmission times (Σa, max a), and sum of the delays, over the links so far.
    full_sum: u64,
    slowest: u64,
    delays: u64,
    /// Instants at which the last full frame, and the last frame of all, have crossed the links so far.
    full_there: u64,
    tail_there: u64,
    /// Earliest instant at which all frames, in any order, have crossed the last link that all of them take.
    all_there: u64,
    /// Shortest times of a full frame and of the last frame over the hops since the last link that all frames take.
    ways: [PathCosts; 2],
    /// True if frames may have overtaken each other.
    is_split: bool,
}

impl TransferProgress {
    /// Adds to the path a link that every frame takes.
    fn add_shared_link(&mut self, link: &PathLink) {
        let [full_way, tail_way] = std::mem::take(&mut self.ways).map(|least| least.cost_to(link.from));
        self.full_sum = self.full_sum.saturating_add(full_way);
        self.tail_there = self.tail_there.saturating_add(tail_way);
        let tail = self.tail.map_or(0, |size| link.rate.time(size).0);
        let mut busy_until = 0;
        if self.full > 0 {
            let each = link.rate.time(self.each).0;
            let first_here = self.full_sum.saturating_add(self.delays);
            // From the first full frame on, the link sends all full frames one after another. The last frame adds to
            // that only if it does not come before them.
            let follows = self.tail_there >= first_here;
            let work = each.saturating_mul(self.full).saturating_add(if follows { tail } else { 0 });
            self.all_there = first_here.saturating_add(work).saturating_add(link.delay.0);
            self.full_sum = self.full_sum.saturating_add(each);
            self.slowest = self.slowest.max(each);
            let left = self.full_sum.saturating_add(self.slowest.saturating_mul(self.full - 1));
            busy_until = left.saturating_add(self.delays);
            self.full_there = busy_until.saturating_add(link.delay.0);
        }
        if self.tail.is_some() {
            // After a hop with several links the last frame may have overtaken full ones. A bound must not let it wait
            // for them.
            let behind = if self.is_split { 0 } else { busy_until };
            self.tail_there = self.tail_there.max(behind).saturating_add(tail).saturating_add(link.delay.0);
        }
        self.delays = self.delays.saturating_add(link.delay.0);
    }

    /// Adds to the path a hop at which each frame takes one of several links.
    fn add_parallel_links(&mut self, links: &[PathLink]) {
        self.is_split = true;
        let [full, tail] = &mut self.ways;
        full.add_hop(links, |link| link.rate.time(self.each).saturating_add(link.delay).0);
        if let Some(size) = self.tail {
            tail.add_hop(links, |link| link.rate.time(size).saturating_add(link.delay).0);
        }
    }

    /// Returns the instant at which the last frame has arrived. PRECONDITION: every frame takes the last link.
    fn last_arrival(&self) -> u64 {
        match (self.tail, self.is_split) {
            (None, _) => self.full_there,
            (Some(_), false) => self.tail_there,
            (Some(_), true) => self.full_there.max(self.tail_there).max(self.all_there),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Stream, StreamPurpose};
    use units::Rate;

    /// Creates the links of a path that every packet takes, one after the other.
    fn chain(links: &[(Rate, Dur)]) -> Vec<PathLink> {
        let way =
            |(hop, (rate, delay)): (u32, &(Rate, Dur))| PathLink { hop, from: 0, to: 0, rate: *rate, delay: *delay };
        (0..).zip(links).map(way).collect()
    }

    fn lone_flow<'a>(links: &'a [PathLink], bytes: u64) -> IdealFlow<'a> {
        let framing = &Framing::ETHERNET;
        IdealFlow { links, back: &[], framing, mss: 1460, options: 0, syn: None, ack: None, stack: Dur::ZERO, bytes }
    }

    /// Computes the FCT of a flow by simulation of every frame on every link.
    fn fct_frame_by_frame(flow: &IdealFlow) -> Dur {
        let time = |rate: &Rate, payload: u64, options| {
            rate.time(flow.framing.wire_size(flow.framing.frame_size(payload as u16, options))).0
        };
        let mut start = 0;
        if let Some(options) = flow.syn {
            for path in [flow.links, flow.back] {
                start += flow.stack.0;
                path.iter().for_each(|link| start += time(&link.rate, 0, options) + link.delay.0);
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
            for (PathLink { rate, delay, .. }, free) in flow.links.iter().zip(&mut free) {
                *free = there.max(*free) + time(rate, payload, flow.options);
                there = *free + delay.0;
            }
        }
        Dur(there + flow.stack.0)
    }

    #[test]
    fn one_segment_takes_the_times_and_delays_of_both_links() {
        let links = chain(&[(Rate::gbps(1), Dur::us(1)); 2]);
        let fct = ideal_fct(&IdealFlow { stack: Dur::us(3), ..lone_flow(&links, 1460) });
        assert_eq!(fct, Dur::ns(2 * 12_304 + 2 * 1000 + 2 * 3000));
    }

    #[test]
    fn twelve_bytes_of_options_lengthen_every_frame() {
        let links = chain(&[(Rate::gbps(1), Dur::us(1)); 2]);
        let fct = ideal_fct(&IdealFlow { options: 12, ..lone_flow(&links, 14_600) });
        assert_eq!(fct, Dur::ns(11 * (12_304 + 96) + 2 * 1000));
    }

    #[test]
    fn a_handshake_crosses_every_link_and_four_stacks() {
        // A SYN with 12 bytes of options has 70 B and takes a slot of 90 B, 720 ns at 1 Gb/s.
        let (links, back) = (chain(&[(Rate::gbps(1), Dur::us(1)); 2]), chain(&[(Rate::gbps(1), Dur::us(5)); 2]));
        let flow = IdealFlow { back: &back, syn: Some(12), stack: Dur::us(3), ..lone_flow(&links, 1460) };
        let opened = Dur::ns(4 * 720 + 2 * 1000 + 2 * 5000 + 4 * 3000);
        assert_eq!(ideal_fct(&flow), ideal_fct(&IdealFlow { syn: None, ..flow }) + opened);
    }

    #[test]
    fn fct_measured_at_the_sender_adds_the_return_path_of_the_last_ack() {
        let (links, back) = (chain(&[(Rate::gbps(1), Dur::us(1)); 2]), chain(&[(Rate::gbps(1), Dur::us(5)); 2]));
        let flow = IdealFlow { back: &back, stack: Dur::us(3), ..lone_flow(&links, 1460) };
        // An ACK of 64 B takes a slot of 84 B, 672 ns at 1 Gb/s; with 12 bytes of options it has 70 B and takes 720 ns.
        let ended = Dur::ns(2 * 672 + 2 * 5000 + 2 * 3000);
        assert_eq!(ideal_fct(&IdealFlow { ack: Some(0), ..flow }), ideal_fct(&flow) + ended);
        assert_eq!(ideal_fct(&IdealFlow { ack: Some(12), ..flow }), ideal_fct(&flow) + ended + Dur::ns(2 * 48));
    }

    #[test]
    fn ten_segments_are_pipelined() {
        let links = chain(&[(Rate::gbps(1), Dur::us(1)); 6]);
        assert_eq!(ideal_fct(&lone_flow(&links, 14_600)), Dur::ns((6 + 9) * 12_304 + 6 * 1000));
    }

    #[test]
    fn a_tiny_last_segment_is_padded_and_waits_behind_the_full_ones() {
        let links = chain(&[(Rate::gbps(10), Dur::us(1)), (Rate::gbps(1), Dur::us(1))]);
        let fct = ideal_fct(&lone_flow(&links, 1461));
        assert_eq!(fct, Dur::ps(1_230_400 + 1_000_000 + 12_304_000 + 84 * 8000 + 1_000_000));
    }

    #[test]
    fn closed_form_equals_the_frame_by_frame_simulation() {
        let mut draw = Stream::new(1, 0, StreamPurpose::Custom(0));
        let rates = [Rate::gbps(1), Rate::mbps(553), Rate::gbps(10), Rate::ratio(1_000_000_000, 3).unwrap()];
        let framings = [Framing::ETHERNET, Framing { header: 0, link: 0, min_frame: 0, gap: 0 }];
        for _ in 0..3000 {
            let n = 1 + draw.uniform_below(7);
            let mut path = || {
                let mut link = || (rates[draw.uniform_below(4) as usize], Dur(1 + draw.uniform_below(5_000_000)));
                chain(&(0..n).map(|_| link()).collect::<Vec<_>>())
            };
            let (links, back) = (path(), path());
            let mss = [1460, 536, 1, 8960][draw.uniform_below(4) as usize];
            let flow = IdealFlow {
                links: &links,
                back: &back,
                framing: &framings[draw.uniform_below(2) as usize],
                mss,
                options: [0, 12][draw.uniform_below(2) as usize],
                syn: [None, Some(8), Some(20)][draw.uniform_below(3) as usize],
                ack: None,
                stack: Dur(draw.uniform_below(3_000_000)),
                bytes: 1 + draw.uniform_below(40 * u64::from(mss)),
            };
            assert_eq!(ideal_fct(&flow), fct_frame_by_frame(&flow), "{flow:?}");
        }
    }

    #[test]
    fn longest_flow_takes_the_maximum_time_without_overflow() {
        let links = chain(&[(Rate::bps(1), Dur::s(1)); 2]);
        let flow = IdealFlow { back: &links, syn: Some(20), stack: Dur::MAX, ..lone_flow(&links, u64::MAX) };
        assert_eq!(ideal_fct(&flow), Dur::MAX);
    }
}
