//! Rules of PAUSE and PFC for thresholds, pause times and refreshes.

use super::parameters::{PauseFrames, PauseThresholds};
use crate::params::NumberOrOff;
use crate::pause_levels::PauseLevels;
use crate::{Account, CheckContext, Report};
use units::{ByteClock, Dur};

/// Number of bytes in a pause quantum of 512 bit times.
const QUANTUM_BYTES: u64 = 64;

/// Kind of the pause frame to send: XOFF or XON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PauseSignal {
    Xoff,
    Xon,
}

/// Rules for sending pause frames, common to PAUSE and PFC.
#[derive(Clone, Debug)]
pub(super) struct PauseRules {
    thresholds: PauseThresholds,
    frames: PauseFrames,
    pub(super) level: PauseLevels,
    /// Duration of a pause at the rate of the port; zero without a port.
    pub(super) duration: Dur,
    /// Time after which a pause is refreshed; `None` if it never is.
    pub(super) refresh: Option<Dur>,
}

impl PauseRules {
    /// Creates the pause rules from validated parameters, for no port yet.
    pub(super) fn new(thresholds: PauseThresholds, frames: PauseFrames) -> PauseRules {
        let level = thresholds.to_levels();
        PauseRules { thresholds, frames, level, duration: Dur::ZERO, refresh: None }
    }

    /// Computes pause and refresh times for a port with this transmission time per byte.
    pub(super) fn for_port(&mut self, clock: ByteClock) {
        let quanta = self.frames.quanta;
        let refresh = match self.frames.refresh {
            // Half of the pause, since a refresh may wait behind one frame in transmission. Link delay and response
            // need no margin: they are the same for every pause frame.
            NumberOrOff::LeftOut => Some((quanta / 2).max(1)),
            NumberOrOff::Off => None,
            NumberOrOff::Count(refresh) => Some(refresh),
        };
        self.duration = clock.time(quanta * QUANTUM_BYTES);
        self.refresh = refresh.map(|quanta| clock.time(quanta * QUANTUM_BYTES));
    }

    /// Reports pause parameters that conflict.
    pub(super) fn check(&self, beside: &CheckContext, report: &mut Report) {
        self.thresholds.check(beside, report);
        self.frames.check(report);
    }

    /// Returns the duration of a pause in quanta, as in a pause frame.
    pub(super) fn quanta(&self) -> u16 {
        self.frames.quanta as u16
    }
    /// Returns the time from the arrival of a pause frame at the far end until it takes effect.
    pub(super) fn response_time(&self) -> Dur {
        self.frames.response
    }
    /// Returns true if the run fails when a paused class loses a packet for lack of memory.
    pub(super) fn is_lossless(&self) -> bool {
        self.frames.lossless
    }

    /// Returns the byte counts between which no pause frame is sent.
    /// Dynamic thresholds move with every frame of the switch, so each change of the port's own bytes needs a call.
    pub(super) fn levels_without_pause_frames(&self, paused: bool) -> (u64, u64) {
        match self.level {
            PauseLevels::Fixed { xon, .. } if paused => (xon.saturating_add(1), u64::MAX),
            PauseLevels::Fixed { xoff, .. } => (0, xoff.saturating_sub(1)),
            PauseLevels::ShareOfFree { .. } => Account::EVERY_CHANGE,
        }
    }

    /// Returns the pause frame to send, if any, after a packet was stored or left and `used` bytes are in use.
    ///
    /// Only a stored packet can cause XOFF, and only a departure XON, even if dynamic thresholds have moved past
    /// `used`.
    pub(super) fn signal_after_change(
        &self,
        paused: bool,
        used: u64,
        stored: bool,
        free: Option<u64>,
    ) -> Option<PauseSignal> {
        let (xoff, xon) = self.level.in_bytes(free);
        match (stored, paused) {
            (true, false) if used >= xoff => Some(PauseSignal::Xoff),
            (false, true) if used <= xon => Some(PauseSignal::Xon),
            _ => None,
        }
    }

    /// Returns the pause frame to send when a pause is due for a refresh.
    pub(super) fn refresh_signal(&self, used: u64, free: Option<u64>) -> PauseSignal {
        // Between XON and XOFF the far end stays paused: that is the hysteresis of the two thresholds.
        if used <= self.level.in_bytes(free).1 { PauseSignal::Xon } else { PauseSignal::Xoff }
    }
}
