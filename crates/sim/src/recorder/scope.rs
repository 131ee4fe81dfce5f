//! What is recorded, and when: the measurement window, steps of traces, what is told apart.

use dataplane::Pkt;
use scenario::Goodput;
use units::{Dur, Time};

/// What to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The measurement window: time counts from here on, and packets that are sent from here on.
    pub from: Time,
    /// Up to here.
    pub to: Time,
    /// Width of a step of the traces.
    pub bin: Dur,
    /// Follow the queues of all switch ports exactly.
    pub queues: bool,
    /// And the queues of every port apart.
    pub sub_queues: bool,
    /// Write down every delivered or lost packet.
    pub packets: bool,
    /// Whose goodput to follow over time.
    pub goodput: Goodput,
    /// Number of hosts, each with one port: the first port of a switch has this number.
    pub hosts: u32,
}

impl Scope {
    /// Nothing, at no time.
    #[cfg(test)]
    pub(crate) const NOTHING: Scope = Scope {
        from: Time::ZERO,
        to: Time::ZERO,
        bin: Dur(1),
        queues: false,
        sub_queues: false,
        packets: false,
        goodput: Goodput::None,
        hosts: 0,
    };

    /// Whether an instant is inside the measurement window.
    #[inline]
    pub(crate) fn covers(&self, at: Time) -> bool {
        at >= self.from && at < self.to
    }

    /// The step of the traces that an instant is in; [`Clock`] knows that of the present.
    #[inline]
    pub(crate) fn bin_of(&self, at: Time) -> u32 {
        (at.0 / self.bin.0) as u32
    }
}

/// The step of the traces that is open, found without a division.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    bin: u32,
    /// It ends here; 0 before the first look.
    pub(super) edge: Time,
}

impl Clock {
    /// The step that `now` is in. PRECONDITION: time never goes back.
    #[inline]
    pub(super) fn bin(&mut self, scope: &Scope, now: Time) -> u32 {
        if now >= self.edge {
            self.bin = scope.bin_of(now);
            self.edge = Time((u64::from(self.bin) + 1).saturating_mul(scope.bin.0));
        }
        self.bin
    }
}

/// Something that happens to packets at switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Drop = 0,
    Mark = 1,
    Detour = 2,
    Bounce = 3,
    Trim = 4,
    /// A message about congestion was made, of its flow.
    Notice = 5,
}

impl Kind {
    pub(crate) const COUNT: usize = Kind::Notice as usize + 1;
}

/// What is told apart of delivered packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Delay = 0,
    Hops = 1,
    Detours = 2,
    Bounces = 3,
    /// How far bounces have ever brought it back.
    MaxDistance = 4,
}

impl Metric {
    pub(crate) const ALL: [Metric; 5] =
        [Metric::Delay, Metric::Hops, Metric::Detours, Metric::Bounces, Metric::MaxDistance];
    /// Those that are told of every packet: all before it.
    pub(crate) const OF_EVERY: usize = Metric::MaxDistance as usize;
}

/// What hosts of the second half got from hosts of the first inside the measurement window: frames,
/// and their bytes without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crossed {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
}

impl Crossed {
    #[inline]
    pub(super) fn count(&mut self, scope: &Scope, now: Time, pkt: &Pkt) {
        let half = scope.hosts / 2;
        if scope.covers(now) && pkt.head.src.0 < half && pkt.head.dst.0 >= half {
            self.frames += 1;
            self.bytes += u64::from(pkt.head.size);
        }
    }
}
