//! Thresholds, quanta and refreshing, common to both kinds of pause.

use super::given::{Frames, Thresholds};
use crate::params::MaybeOff;
use crate::pause_levels::Level;
use crate::{Account, Beside, Report};
use units::{Clock, Dur};

/// Bytes in a quantum of 512 bit times.
const QUANTUM: u64 = 64;

/// Pause frame to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Xoff,
    Xon,
}

/// Common state machine of both kinds of pause.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    thresholds: Thresholds,
    frames: Frames,
    pub(super) level: Level,
    /// Duration of the quanta of a frame at the rate of the port; zero without a port.
    pub(super) duration: Dur,
    /// Time after which a pause is refreshed; `None` if it is not.
    pub(super) refresh: Option<Dur>,
}

impl Rules {
    /// Creates the rules from validated parameters, for no port yet.
    pub(super) fn new(thresholds: Thresholds, frames: Frames) -> Rules {
        let level = thresholds.level();
        Rules { thresholds, frames, level, duration: Dur::ZERO, refresh: None }
    }

    /// Sets the clock (rate) of the port.
    pub(super) fn for_port(&mut self, clock: Clock) {
        let quanta = self.frames.quanta;
        let refresh = match self.frames.refresh {
            // The refresh may wait behind one frame in transmission. Link delay and response are the same for every
            // pause frame.
            MaybeOff::LeftOut => Some((quanta / 2).max(1)),
            MaybeOff::Off => None,
            MaybeOff::Count(refresh) => Some(refresh),
        };
        self.duration = clock.time(quanta * QUANTUM);
        self.refresh = refresh.map(|quanta| clock.time(quanta * QUANTUM));
    }

    /// Reports parameters that conflict.
    pub(super) fn check(&self, beside: &Beside, report: &mut Report) {
        self.thresholds.check(beside, report);
        self.frames.check(report);
    }

    /// Returns the quanta of a pause frame.
    pub(super) fn quanta(&self) -> u16 {
        self.frames.quanta as u16
    }
    /// Returns the time from the arrival of a frame at the far end until it takes effect.
    pub(super) fn response(&self) -> Dur {
        self.frames.response
    }
    /// Returns true if the run fails on a loss in a paused class for want of memory.
    pub(super) fn lossless(&self) -> bool {
        self.frames.lossless
    }

    /// Returns the levels between which nothing is sent. Dynamic thresholds move with every frame of the switch, so
    /// each change of the port's own bytes needs a call.
    pub(super) fn levels(&self, paused: bool) -> (u64, u64) {
        match self.level {
            Level::Fixed { xon, .. } if paused => (xon.saturating_add(1), u64::MAX),
            Level::Fixed { xoff, .. } => (0, xoff.saturating_sub(1)),
            Level::OfFree { .. } => Account::EVERY_CHANGE,
        }
    }

    /// Returns the frame to send after a packet was stored or left and `used` bytes are in use.
    ///
    /// Only a stored packet can cause XOFF, and only a departure XON, even if dynamic thresholds have moved past
    /// `used`.
    pub(super) fn turn(&self, paused: bool, used: u64, stored: bool, free: Option<u64>) -> Option<Signal> {
        let (xoff, xon) = self.level.at(free);
        match (stored, paused) {
            (true, false) if used >= xoff => Some(Signal::Xoff),
            (false, true) if used <= xon => Some(Signal::Xon),
            _ => None,
        }
    }

    /// Returns the frame to send when a pause is due for a refresh.
    pub(super) fn again(&self, used: u64, free: Option<u64>) -> Signal {
        // Between XON and XOFF the far end stays paused: that is the hysteresis of the two thresholds.
        if used <= self.level.at(free).1 { Signal::Xon } else { Signal::Xoff }
    }
}
