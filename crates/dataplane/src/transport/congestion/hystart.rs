//! HyStart: ends slow start before it causes a loss, by signs in the ACKs of a round trip, as in Linux by default.
//!
//! Source: Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 2011.
//!
//! Two signs end slow start, from a window of 16 segments on:
//! - A long train of ACKs, each at most 2 ms after the one before. It is longer than half of the least round-trip time
//!   plus the time that segmentation offload may hold data back. If the sender paces, the whole of that counts.
//! - A late round trip. Its least sample, of nine or more, exceeds the least ever by an eighth, at least 4 ms and at
//!   most 16 ms.
//!
//! Round trips are separated at smaller windows too (Linux since 6.14). Slow start continues as congestion avoidance.
//! RFC 9406 (HyStart++) has only the second sign, and tries slow start again; it is not built.

use super::{AckInfo, CongestionWindows};
use crate::transport::TcpConfig;
use crate::transport::linux_pacing::PacingChoices;
use units::{Dur, Time};

/// Smallest window in segments at which HyStart may end slow start.
const MIN_WINDOW: u32 = 16;
/// Longest gap between two ACKs of one ACK train of HyStart.
const MAX_TRAIN_GAP: Dur = Dur::ms(2);
/// Number of round-trip samples that HyStart collects in a round trip before it examines the delay.
const MIN_RTT_SAMPLES: u8 = 8;
/// Lower and upper limit of the delay increase at which HyStart ends slow start.
const DELAY_INCREASE_BOUNDS: (Dur, Dur) = (Dur::ms(4), Dur::ms(16));
/// Time after the start of congestion avoidance during which HyStart ignores round-trip samples.
const IGNORED_TIME_AFTER_CUT: Dur = Dur::s(1);
/// Bytes that segmentation offload may hold back (four of its largest bursts), and the longest time for that.
const MAX_OFFLOAD_BYTES: u64 = 4 * 65_536;
const MAX_OFFLOAD_DELAY: Dur = Dur::ms(1);

/// State of HyStart (early end of slow start) of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Minimum round-trip time so far; `None` before the first sample.
    least: Option<Dur>,
    /// Start of the current round trip, and time of the last ACK of its ACK train.
    began: Time,
    last: Time,
    /// End of the current round trip: it is over once a byte beyond this one is acknowledged.
    until: u64,
    /// Smallest round-trip sample of the current round trip, and number of its samples.
    sample: Dur,
    samples: u8,
    /// True if HyStart has found a reason to end slow start.
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
    /// Returns the state of HyStart at the start of a round trip, which ends with the ACK of the data sent last.
    pub fn at_round_start(now: Time, nxt: u64) -> HyStart {
        HyStart { began: now, last: now, until: nxt, ..HyStart::default() }
    }

    /// Minimum round-trip time so far; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Dur> {
        self.least
    }

    /// Processes an ACK, and returns true if it ends slow start; `begun` is the time since congestion avoidance began.
    pub fn on_ack(&mut self, at: CongestionWindows, ack: &AckInfo, begun: Option<Dur>, cfg: &TcpConfig) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if begun.is_some_and(|time| time < IGNORED_TIME_AFTER_CUT) {
            return false;
        }
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if !cfg.hystart || self.found || at.cwnd >= at.ssthresh {
            return false;
        }
        if ack.una > self.until {
            *self = HyStart { least: self.least, ..HyStart::at_round_start(ack.now, ack.nxt) };
        }
        if at.cwnd < MIN_WINDOW * u32::from(cfg.mss) {
            return false;
        }
        self.found = self.is_long_train(at, ack, least, cfg) || self.is_delay_increased(rtt, least);
        self.found
    }

    fn is_long_train(&mut self, at: CongestionWindows, ack: &AckInfo, least: Dur, cfg: &TcpConfig) -> bool {
        if ack.now.since(self.last) > MAX_TRAIN_GAP {
            return false;
        }
        self.last = ack.now;
        let whole = least.saturating_add(offload_delay(at, ack.srtt, &cfg.pacing));
        // Pacing in slow start spreads a window over half of a round trip by itself, so the limit is higher.
        let longest = if cfg.pacing.on { whole } else { Dur(whole.0 / 2) };
        ack.now.since(self.began) > longest
    }

    fn is_delay_increased(&mut self, rtt: Dur, least: Dur) -> bool {
        self.sample = self.sample.min(rtt);
        if self.samples < MIN_RTT_SAMPLES {
            self.samples += 1;
            return false;
        }
        let more = Dur(least.0 / 8).clamp(DELAY_INCREASE_BOUNDS.0, DELAY_INCREASE_BOUNDS.1);
        self.sample > least.saturating_add(more)
    }
}

/// Returns the time for which segmentation offload may hold data back at Linux's pacing rate.
fn offload_delay(at: CongestionWindows, srtt: Dur, pacing: &PacingChoices) -> Dur {
    let percent = u64::from(pacing.rate_percent(at.cwnd, at.ssthresh));
    let time =
        u128::from(MAX_OFFLOAD_BYTES) * u128::from(srtt.0) * 100 / u128::from(u64::from(at.cwnd.max(1)) * percent);
    Dur(time.min(u128::from(MAX_OFFLOAD_DELAY.0)) as u64)
}
