//! HyStart: slow start ends before it causes a loss, by what the ACKs of a round trip tell (Ha and Rhee,
//! "Taming the elephants: New TCP slow start", Computer Networks 2011), as Linux has it by default.
//!
//! Two signs, from a window of 16 segments on. A train of ACKs, none of them more than 2 ms after the one
//! before, that is longer than half of the least round-trip time (the whole of it where the sender paces) and
//! what segmentation offload may hold back. And a round trip whose least sample, of nine or more, is above the
//! least ever by an eighth of it, 4 ms at least and 16 ms at most. Round trips are told apart at smaller windows
//! too (Linux since 6.14). Slow start goes on in congestion avoidance.
//! RFC 9406 (HyStart++) has the second sign alone and tries again; it is not built.

use super::{Acked, Windows};
use crate::transport::TcpConfig;
use crate::transport::linux_pacing::PacingChoices;
use units::{Dur, Time};

/// Segments of the window from which on signs count.
const LEAST_WINDOW: u32 = 16;
/// Longest time between ACKs of a train.
const GAP: Dur = Dur::ms(2);
/// Samples of a round trip before its delay counts.
const SAMPLES: u8 = 8;
/// By how much the delay may grow, at least and at most.
const DELAY: (Dur, Dur) = (Dur::ms(4), Dur::ms(16));
/// So soon after congestion avoidance has begun a sample does not count.
const AFTER_CUT: Dur = Dur::s(1);
/// Bytes that offload may hold back: four times the largest that it takes at once, for at most a millisecond.
const OFFLOAD: u64 = 4 * 65_536;
const MOST_OFFLOAD: Dur = Dur::ms(1);

/// What the ACKs of one sender have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Least round-trip time; none before the first sample.
    least: Option<Dur>,
    /// When this round trip began, and the last ACK of its train came.
    began: Time,
    last: Time,
    /// Until this byte is acknowledged.
    until: u64,
    /// Least sample of this round trip, and how many there were.
    sample: Dur,
    samples: u8,
    /// A sign was seen.
    found: bool,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart {
            least: None,
            began: Time::ZERO,
            last: Time::ZERO,
            until: 0,
            sample: Dur(u64::MAX),
            samples: 0,
            found: false,
        }
    }
}

impl HyStart {
    /// The same at the beginning of a round trip that ends with the ACK of what was sent last.
    pub fn begun(now: Time, nxt: u64) -> HyStart {
        HyStart { began: now, last: now, until: nxt, ..HyStart::default() }
    }

    /// Least round-trip time; none before the first sample.
    pub fn least(&self) -> Option<Dur> {
        self.least
    }

    /// Whether slow start ends with this ACK. `begun` is for how long it has been congestion avoidance, none outside
    /// of it.
    pub fn on_ack(&mut self, at: Windows, ack: &Acked, begun: Option<Dur>, cfg: &TcpConfig) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if begun.is_some_and(|time| time < AFTER_CUT) {
            return false;
        }
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if !cfg.hystart || self.found || at.cwnd >= at.ssthresh {
            return false;
        }
        if ack.una > self.until {
            *self = HyStart { least: self.least, ..HyStart::begun(ack.now, ack.nxt) };
        }
        if at.cwnd < LEAST_WINDOW * u32::from(cfg.mss) {
            return false;
        }
        self.found = self.is_long_train(at, ack, least, cfg) || self.is_late(rtt, least);
        self.found
    }

    fn is_long_train(&mut self, at: Windows, ack: &Acked, least: Dur, cfg: &TcpConfig) -> bool {
        if ack.now.since(self.last) > GAP {
            return false;
        }
        self.last = ack.now;
        let whole = least.saturating_add(offload(at, ack.srtt, &cfg.pacing));
        // What is paced in slow start takes half of a round trip by itself.
        let longest = if cfg.pacing.on { whole } else { Dur(whole.0 / 2) };
        ack.now.since(self.began) > longest
    }

    fn is_late(&mut self, rtt: Dur, least: Dur) -> bool {
        self.sample = self.sample.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let more = Dur(least.0 / 8).clamp(DELAY.0, DELAY.1);
        self.sample > least.saturating_add(more)
    }
}

/// How long segmentation offload may hold data back at the rate of Linux's pacing.
fn offload(at: Windows, srtt: Dur, pacing: &PacingChoices) -> Dur {
    let percent = u64::from(pacing.percent(at.cwnd, at.ssthresh));
    let time = u128::from(OFFLOAD) * u128::from(srtt.0) * 100 / u128::from(u64::from(at.cwnd.max(1)) * percent);
    Dur(time.min(u128::from(MOST_OFFLOAD.0)) as u64)
}
