//! Rules of PAUSE and PFC for thresholds, pause times and refreshes.

use super::parameters::{PauseFrames, PauseThresholds};
use crate::params::NumberOrOff;
use crate::pause_levels::PauseLevels;
use crate::{Account, CheckContext, Report};
use units::{ByteClock, Dur};

/// Number of bytes in a pause quantum of 512 bit times (IEEE 802.3 annex 31B).
pub const QUANTUM_BYTES: u64 = 64;

/// Time of the response to a pause by link rate: the highest rate in bits per second, and pause quanta (IEEE 802.3
/// §31B.3.7, as the buffer scripts of SONiC list it).
const RESPONSES: [(u64, u64); 8] = [
    (100_000_000, 1),
    (1_000_000_000, 2),
    (10_000_000_000, 67),
    (25_000_000_000, 80),
    (40_000_000_000, 118),
    (50_000_000_000, 147),
    (100_000_000_000, 394),
    (200_000_000_000, 453),
];
/// Time of the response at higher rates, in pause quanta.
const FASTEST_RESPONSE: u64 = 905;

/// Returns the time of the response to a pause for a port with this transmission time per byte.
fn standard_response(clock: ByteClock) -> Dur {
    // A link of at most this rate takes a second or longer for as many bits.
    let is_covered = |(rate, _): &&(u64, u64)| clock.time(rate / 8) >= Dur::s(1);
    let quanta = RESPONSES.iter().find(is_covered).map_or(FASTEST_RESPONSE, |(_, quanta)| *quanta);
    clock.time(quanta * QUANTUM_BYTES)
}

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
    /// Time from the arrival of a pause frame at the far end until it takes effect.
    response: Dur,
}

impl PauseRules {
    /// Creates the pause rules from validated parameters, for no port yet.
    pub(super) fn new(thresholds: PauseThresholds, frames: PauseFrames) -> PauseRules {
        let level = thresholds.to_levels();
        let response = frames.response;
        PauseRules { thresholds, frames, level, duration: Dur::ZERO, refresh: None, response }
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
        if self.frames.response_by_rate {
            self.response = standard_response(clock);
        }
        self.duration = clock.time(quanta * QUANTUM_BYTES);
        self.refresh = refresh.map(|quanta| clock.time(quanta * QUANTUM_BYTES));
    }

    /// Reports pause parameters that conflict.
    pub(super) fn check(&self, beside: &CheckContext, report: &mut Report) {
        self.thresholds.check(beside, report);
        self.frames.check(report);
    }
    /// Returns true if the scenario sets a threshold.
    pub(super) fn has_thresholds(&self) -> bool {
        self.thresholds.given_key().is_some()
    }
    /// Reports thresholds beside memory whose groups have thresholds of their own.
    pub(super) fn check_for_groups(&self, report: &mut Report) {
        if let Some(key) = self.thresholds.given_key() {
            let rule = "no thresholds with a buffer of kind `pools`, whose profiles have `threshold`, `xon` and `xoff`";
            report.add_error(key, format!("`{key}` beside `pools`"), rule);
        }
        self.frames.check(report);
    }

    /// Returns the duration of a pause in quanta, as in a pause frame.
    pub(super) fn quanta(&self) -> u16 {
        self.frames.quanta as u16
    }
    /// Returns the time from the arrival of a pause frame at the far end until it takes effect.
    pub(super) fn response_time(&self) -> Dur {
        self.response
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
            PauseLevels::ShareOfFree { .. } | PauseLevels::OfGroups => Account::EVERY_CHANGE,
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

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    #[test]
    fn standard_response_is_that_of_the_next_listed_rate() {
        let quanta = |gbps: u64| {
            let clock = Rate::gbps(gbps).clock();
            standard_response(clock).0 / clock.time(QUANTUM_BYTES).0
        };
        assert_eq!([1, 2, 10, 25, 40, 50, 100, 200].map(quanta), [2, 67, 67, 80, 118, 147, 394, 453]);
        assert_eq!([400, 800].map(quanta), [905, 905]);
        // 394 quanta of 512 bit times at 100 Gb/s.
        assert_eq!(standard_response(Rate::gbps(100).clock()), Dur(394 * 5120));
    }
}
