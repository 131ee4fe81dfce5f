//! Scope of the records: the measurement window, time bins, and the records that are selected.

use dataplane::Pkt;
use scenario::Goodput;
use units::{Dur, Time};

/// Selection of the records by a scenario's `[measure]`, with the measurement window and the width of time bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Start of the measurement window: only time from here on counts, and only packets sent from here on.
    pub from: Time,
    /// End of the measurement window, exclusive.
    pub to: Time,
    /// Width of a time bin of the traces.
    pub bin: Dur,
    /// True if the queues of all switch ports are recorded exactly.
    pub queues: bool,
    /// True if the single queues of every port are recorded too.
    pub sub_queues: bool,
    /// True if a row is written for every delivered or lost packet.
    pub packets: bool,
    /// Hosts or flows whose goodput is followed over time.
    pub goodput: Goodput,
    /// Number of hosts, each with one port. The first port of a switch has this number.
    pub hosts: u32,
}

impl Scope {
    /// Scope that selects no records, and an empty measurement window.
    #[cfg(test)]
    pub(crate) const EMPTY: Scope = Scope {
        from: Time::ZERO,
        to: Time::ZERO,
        bin: Dur(1),
        queues: false,
        sub_queues: false,
        packets: false,
        goodput: Goodput::None,
        hosts: 0,
    };

    /// Returns true if an instant is inside the measurement window.
    #[inline]
    pub(crate) fn covers(&self, at: Time) -> bool {
        at >= self.from && at < self.to
    }

    /// Returns the number of the time bin of an instant. It takes a division; [`BinClock`] finds the bin of the present
    /// instant without one.
    #[inline]
    pub(crate) fn bin_of(&self, at: Time) -> u32 {
        (at.0 / self.bin.0) as u32
    }
}

/// Open time bin, found without a division.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BinClock {
    bin: u32,
    /// End of the open time bin; 0 before the first call.
    pub(super) edge: Time,
}

impl BinClock {
    /// Returns the number of the time bin of `now`. PRECONDITION: time never goes back.
    #[inline]
    pub(super) fn bin_at(&mut self, scope: &Scope, now: Time) -> u32 {
        if now >= self.edge {
            self.bin = scope.bin_of(now);
            self.edge = Time((u64::from(self.bin) + 1).saturating_mul(scope.bin.0));
        }
        self.bin
    }
}

/// Events of packets at switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketEvent {
    Drop = 0,
    Mark = 1,
    Detour = 2,
    Bounce = 3,
    Trim = 4,
    /// Congestion message about a flow, made by a switch.
    Notice = 5,
}

impl PacketEvent {
    pub(crate) const COUNT: usize = PacketEvent::Notice as usize + 1;
}

/// Metrics of delivered packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketMetric {
    Delay = 0,
    Hops = 1,
    Detours = 2,
    Bounces = 3,
    /// Largest distance by which bounces brought the packet back.
    MaxDistance = 4,
}

impl PacketMetric {
    pub(crate) const ALL: [PacketMetric; 5] = [
        PacketMetric::Delay,
        PacketMetric::Hops,
        PacketMetric::Detours,
        PacketMetric::Bounces,
        PacketMetric::MaxDistance,
    ];
    /// Number of metrics that every packet has: all before `MaxDistance`.
    pub(crate) const COMMON_COUNT: usize = PacketMetric::MaxDistance as usize;
}

/// Frames that hosts of the second half received from hosts of the first inside the measurement window, and their
/// bytes without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BisectionFrames {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
}

impl BisectionFrames {
    #[inline]
    pub(super) fn count_frame(&mut self, scope: &Scope, now: Time, pkt: &Pkt) {
        let half = scope.hosts / 2;
        if scope.covers(now) && pkt.head.src.0 < half && pkt.head.dst.0 >= half {
            self.frames += 1;
            self.bytes += u64::from(pkt.head.size);
        }
    }
}
