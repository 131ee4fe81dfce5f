//! Departures that are computed at arrival: limits for arrivals, and the frames that still count as queued.
//!
//! A frame is on its link from the moment it is stored, with its start in the future. Only its size stays here, and
//! counts against the memory until the start has passed and the port is settled.

use super::Port;
use units::Time;

/// Memory limits and marking thresholds of a port with computed departures.
/// The port is first-in, first-out. The largest number of a type means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Limits {
    /// Capacity of the port in bytes.
    pub(crate) bytes: u64,
    /// Capacity of the port in frames.
    pub(crate) packets: u32,
    /// Marking threshold in frames: an arrival that finds at least as many queued is marked.
    pub(crate) mark_packets: u32,
    /// Marking threshold in bytes: an arrival that finds at least as many queued is marked.
    pub(crate) mark_bytes: u64,
}

impl Limits {
    /// Limits of a port that never loses or marks a frame.
    pub(super) const NONE: Limits =
        Limits { bytes: u64::MAX, packets: u32::MAX, mark_packets: u32::MAX, mark_bytes: u64::MAX };
    /// Limits of a port whose departures are not computed. Nothing fits, so every frame takes the general path.
    pub(super) const NOT_COMPUTED: Limits =
        Limits { bytes: 0, packets: 0, mark_packets: u32::MAX, mark_bytes: u64::MAX };
}

/// Sizes of the frames queued at a port with computed departures, in a ring buffer.
/// The port has their number.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameSizes {
    ring: Box<[u16]>,
    first: u32,
}

impl FrameSizes {
    #[inline(always)]
    fn push(&mut self, len: u32, size: u16) {
        if len as usize == self.ring.len() {
            self.grow();
        }
        // The length of the ring is a power of two, so that a mask wraps the index.
        let mask = self.ring.len() - 1;
        self.ring[(self.first.wrapping_add(len)) as usize & mask] = size;
    }
    #[inline]
    pub(super) fn pop(&mut self) -> u16 {
        let mask = self.ring.len() - 1;
        let size = self.ring[self.first as usize & mask];
        self.first = self.first.wrapping_add(1);
        size
    }
    #[cold]
    fn grow(&mut self) {
        let mut ring = self.ring.to_vec();
        if !ring.is_empty() {
            ring.rotate_left(self.first as usize & (self.ring.len() - 1));
        }
        ring.resize((ring.len() * 2).max(8), 0);
        (self.ring, self.first) = (ring.into_boxed_slice(), 0);
    }
}

/// Departures computed at arrival, if nothing can change the order or the time of a departure once it is known.
impl Port {
    /// Removes the frames that have started by `now` from the counts of queued frames.
    #[inline(always)]
    pub(crate) fn settle_departures(&mut self, now: Time) {
        // A frame that starts at `now` because the frame before it has ended is gone for arrivals of `now`: ends
        // precede arrivals in a step. A frame that came in this step starts only after all arrivals, so it still counts
        // (`fresh`). Stepped departures have the same order.
        while self.packets > 0 && (self.next_start < now || (self.next_start == now && !self.fresh)) {
            let size = self.sizes.pop();
            self.fresh = false;
            self.packets -= 1;
            self.bytes -= u64::from(size);
            self.next_start = self.next_start.saturating_add(self.transmission_time(size));
        }
    }

    /// Ends a round of the present step: a frame that started in it no longer counts as queued.
    pub(crate) fn begin_round(&mut self) {
        self.fresh = false;
    }

    /// Removes the frames that have started by `now` from the counts, after everything that happens at `now`.
    pub(crate) fn settle_departures_after(&mut self, now: Time) {
        self.fresh = false;
        self.settle_departures(now);
    }

    /// Returns true if a frame of `size` bytes fits the port. PRECONDITION: the port is settled.
    #[inline]
    pub(crate) fn has_room(&self, size: u16) -> bool {
        self.packets < self.limits.packets && self.bytes + u64::from(size) <= self.limits.bytes
    }
    /// Returns true if departures are computed, and the port never drops or marks a frame.
    pub(crate) fn never_drops_or_marks(&self) -> bool {
        self.computed && self.limits == Limits::NONE
    }
    /// Returns true if an arrival at the port is to be marked. PRECONDITION: the port is settled.
    #[inline]
    pub(crate) fn is_mark_due(&self) -> bool {
        self.packets >= self.limits.mark_packets || self.bytes >= self.limits.mark_bytes
    }

    /// Computes the departure of a frame that arrives now, and returns the start and the end of its transmission.
    /// Stores its size. PRECONDITION: the port is settled.
    #[inline(always)]
    pub(crate) fn compute_departure(&mut self, now: Time, size: u16) -> (Time, Time) {
        let idle = self.free_at <= now;
        let start = if idle { now } else { self.free_at };
        if self.packets == 0 {
            (self.next_start, self.fresh) = (start, idle);
        }
        self.sizes.push(self.packets, size);
        self.count_in(size);
        self.free_at = start.saturating_add(self.transmission_time(size));
        (start, self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::PortShape;
    use mech::Lane;
    use units::{Dur, Rate};

    fn port(limits: Limits) -> Port {
        let clock = Rate::gbps(1).clock();
        Port::new(PortShape {
            clock,
            gap: 20,
            is_switch: true,
            top_class: 0,
            last_lane: Lane::Normal,
            computed: Some(limits),
        })
    }

    #[test]
    fn fields_used_by_every_packet_fill_two_cache_lines() {
        assert_eq!((std::mem::size_of::<Port>(), std::mem::offset_of!(Port, sizes)), (128, 64));
    }

    #[test]
    fn frame_counts_as_queued_during_the_step_of_its_start() {
        let mut port = port(Limits::NONE);
        for (now, before) in [(0, 0), (0, 1), (672_000, 0), (672_001, 1), (672_002, 2), (2_016_000, 1), (9_000_000, 0)]
        {
            port.settle_departures(Time(now));
            assert_eq!(port.queued_frames(), before, "at {now} ps");
            let (_, end) = port.compute_departure(Time(now), 64);
            assert!(end >= Time(now) + Dur::ns(672));
        }
        port.settle_departures(Time::NEVER);
        assert_eq!((port.queued_frames(), port.queued_bytes(), port.counts().sent), (0, 0, 7));
        port.compute_departure(Time(20_000_000), 64);
        port.settle_departures(Time(20_000_000));
        assert_eq!(port.queued_frames(), 1, "its step goes on");
        port.settle_departures_after(Time(20_000_000));
        assert_eq!(port.queued_frames(), 0, "and is over");
        assert!(port.conserves_frames());
    }

    #[test]
    fn hundred_frames_leave_in_order_at_computed_instants() {
        let mut port = port(Limits::NONE);
        let size = |n: u64| 64 + (n * 37 % 1400) as u16;
        for round in 0..3 {
            let now = Time(round * 1_000_000_000_000);
            port.settle_departures(now);
            let ends: Vec<Time> = (0..100).map(|n| port.compute_departure(now, size(n)).1).collect();
            for (n, end) in ends.iter().enumerate().take(99) {
                port.settle_departures(Time(end.0 - 1));
                assert_eq!(port.queued_frames() as usize, 99 - n);
                port.settle_departures(*end);
                assert_eq!(port.queued_frames() as usize, 98 - n, "the next starts when one ends");
                assert!(port.conserves_frames());
            }
        }
        assert_eq!(port.counts().sent, 300);
    }

    #[test]
    fn capacity_and_marking_apply_in_frames_or_bytes() {
        let mut frames = port(Limits { packets: 3, mark_packets: 2, ..Limits::NONE });
        let mut bytes = port(Limits { bytes: 300, mark_bytes: 200, ..Limits::NONE });
        for n in 0..3 {
            for p in [&mut frames, &mut bytes] {
                assert_eq!((p.has_room(100), p.is_mark_due()), (true, n >= 2));
                p.compute_departure(Time::ZERO, 100);
            }
        }
        assert!(!frames.has_room(100) && !bytes.has_room(1) && frames.is_mark_due());
    }
}
