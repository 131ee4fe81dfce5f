//! What both kinds of pause share: thresholds, quanta and refreshing.

use super::given::{Frames, Thresholds};
use crate::params::MaybeOff;
use crate::pause_levels::Level;
use crate::{Account, Beside, Report};
use units::{Clock, Dur};

/// Bytes in a quantum: 512 bits.
const QUANTUM: u64 = 64;

/// What is to be said now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Xoff,
    Xon,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    thresholds: Thresholds,
    frames: Frames,
    pub(super) level: Level,
    /// The time of all quanta of a frame at the rate of the port; zero without a port.
    pub(super) duration: Dur,
    /// After how long a pause is refreshed, if ever.
    pub(super) refresh: Option<Dur>,
}

impl Rules {
    /// From validated parameters, for no port in particular.
    pub(super) fn new(thresholds: Thresholds, frames: Frames) -> Rules {
        let level = thresholds.level();
        Rules { thresholds, frames, level, duration: Dur::ZERO, refresh: None }
    }

    /// Takes the rate of its port.
    pub(super) fn for_port(&mut self, clock: Clock) {
        let quanta = self.frames.quanta;
        let refresh = match self.frames.refresh {
            MaybeOff::LeftOut => Some((quanta / 2).max(1)),
            MaybeOff::Off => None,
            MaybeOff::Count(refresh) => Some(refresh),
        };
        self.duration = clock.time(quanta * QUANTUM);
        self.refresh = refresh.map(|quanta| clock.time(quanta * QUANTUM));
    }

    /// What does not go together.
    pub(super) fn check(&self, beside: &Beside, report: &mut Report) {
        self.thresholds.check(beside, report);
        self.frames.check(report);
    }

    /// What a frame says, in quanta.
    pub(super) fn quanta(&self) -> u16 {
        self.frames.quanta as u16
    }
    /// From the arrival of a frame at the far end until it takes effect there.
    pub(super) fn response(&self) -> Dur {
        self.frames.response
    }
    /// Whether the run fails where a packet of a paused class finds no memory.
    pub(super) fn lossless(&self) -> bool {
        self.frames.lossless
    }

    /// Between which levels nothing is to be said. Levels that follow the free memory move with every frame of
    /// the switch, so that each change of one's own bytes is looked at.
    pub(super) fn levels(&self, paused: bool) -> (u64, u64) {
        match self.level {
            Level::Fixed { xon, .. } if paused => (xon.saturating_add(1), u64::MAX),
            Level::Fixed { xoff, .. } => (0, xoff.saturating_sub(1)),
            Level::OfFree { .. } => Account::EVERY_CHANGE,
        }
    }

    /// Whether `used` bytes, after a packet was stored or left, change what was said last.
    pub(super) fn turn(&self, paused: bool, used: u64, stored: bool, free: Option<u64>) -> Option<Signal> {
        let (xoff, xon) = self.level.at(free);
        match (stored, paused) {
            (true, false) if used >= xoff => Some(Signal::Xoff),
            (false, true) if used <= xon => Some(Signal::Xon),
            _ => None,
        }
    }

    /// What is to be said when it is time to refresh a pause.
    pub(super) fn again(&self, used: u64, free: Option<u64>) -> Signal {
        if used <= self.level.at(free).1 { Signal::Xon } else { Signal::Xoff }
    }
}
