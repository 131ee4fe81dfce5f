//! Undo of window cuts: a spurious recovery or timeout restores the window (RFC 3522, RFC 3708, RFC 5682).

use super::cubic::CubicCurve;
use super::linux::remembered_threshold;
use super::{Congestion, CongestionState};

/// Congestion window, slow start threshold and cubic curve before a cut, for an undo.
#[derive(Clone, Copy, Debug)]
pub struct SavedWindow {
    cwnd: u32,
    ssthresh: u32,
    cut_until: u64,
    curve: Option<CubicCurve>,
}

impl Congestion {
    /// Returns the window, threshold and cubic curve that a cut would change now.
    pub fn save_window(&self) -> SavedWindow {
        let curve = match &self.law {
            CongestionState::Cubic(c) => Some(c.save_curve()),
            CongestionState::Reno | CongestionState::Dctcp(_) | CongestionState::PFabric | CongestionState::NicRate => {
                None
            }
            // Linux ends the curve's epoch at the cut (`epoch_start = 0`), and an undo does not restore it.
            CongestionState::Linux(_) | CongestionState::CubicLinux(_) | CongestionState::Linux2_6_38(_) => None,
        };
        SavedWindow { cwnd: self.cwnd, ssthresh: self.ssthresh, cut_until: self.cut_until, curve }
    }
    /// Returns the state that an undo restores, with a threshold of at least 3/4 of the window as in Linux.
    pub fn save_linux_window(&self, mss: u32) -> SavedWindow {
        SavedWindow { ssthresh: self.ssthresh.max(remembered_threshold(self.cwnd, mss)), ..self.save_window() }
    }
    /// Restores window and threshold to at least their values before a cut, as Linux does.
    /// Both keep what they have gained since. RFC 4015 §3.2 would send more slowly at first.
    pub fn undo(&mut self, saved: &SavedWindow) {
        self.cwnd = self.cwnd.max(saved.cwnd);
        self.ssthresh = self.ssthresh.max(saved.ssthresh);
        self.cut_until = saved.cut_until;
        if let (CongestionState::Cubic(c), Some(curve)) = (&mut self.law, saved.curve) {
            c.undo(curve);
        }
    }
    /// Sets the congestion window, as PRR and timeouts do (RFC 6937, RFC 8985 §6.3); the threshold stays.
    pub fn set_window(&mut self, bytes: u32) {
        self.cwnd = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tests::pair::config;
    use crate::transport::tick_clock::TickClock;
    use crate::transport::{AckInfo, LossInfo};
    use mech::params::Value;
    use units::{Bytes, Dur, Time};

    #[test]
    fn undo_restores_at_least_window_and_threshold_before_cut() {
        let cfg = config("sack", &[]);
        let mut c = Congestion::new(&cfg, CLOCK);
        let before = c.save_window();
        let (cwnd, ssthresh) = (c.window(), c.ssthresh());
        c.on_lost(&LossInfo { range: 0..1000, flight: 10_000, sent: 10_000, left: 0, now: Time::ZERO }, &cfg);
        assert_eq!((c.window(), c.ssthresh(), c.may_cut(5000)), (5000, 5000, false));
        c.undo(&before);
        assert_eq!((c.window(), c.ssthresh(), c.may_cut(5000)), (cwnd, ssthresh, true));
        c.set_window(90_000);
        c.undo(&before);
        assert_eq!(c.window(), 90_000, "what was gained since is kept");
    }

    const CLOCK: TickClock =
        TickClock { every: Dur::ZERO, phase: Dur::ZERO, wheel: crate::transport::tick_clock::TimerWheel::Levels };
    const ACK_OF_NOTHING: AckInfo = AckInfo {
        bytes: 0,
        una: 0,
        nxt: 0,
        ece: false,
        open: true,
        rwnd: u32::MAX,
        now: Time::ZERO,
        flight: 0,
        srtt: Dur::ZERO,
        rtt: None,
        sampled: false,
    };

    #[test]
    fn undo_restores_cubic_curve_before_cut() {
        // RFC 9438 §4.9: an undo restores W_max and the time since the previous cut. Other cuts start a new epoch.
        let cfg = config("cubic", &[("initial_ssthresh", Value::Size(Bytes(1)))]);
        let ack = |us: u64| {
            let (una, nxt) = (us * 1000, us * 1000 + 10_000);
            AckInfo { bytes: 1000, una, nxt, flight: 10_000, now: Time::ZERO + Dur::us(us), ..ACK_OF_NOTHING }
        };
        let lost = LossInfo { range: 0..1000, flight: 10_000, sent: 10_000, left: 0, now: Time::ZERO };
        let after = |undone: bool| {
            let mut c = Congestion::new(&cfg, CLOCK);
            c.on_ack(&ack(1), &cfg);
            let before = c.save_window();
            c.on_lost(&lost, &cfg);
            if undone {
                c.undo(&before);
            }
            c.on_ack(&ack(3_000_000), &cfg);
            c.window()
        };
        // If the cut is undone, W_cubic(3 s) is far above the window, which grows by half in a round trip. Otherwise
        // W_est counts: it grows by 9/17 of a segment in a round trip, which is 9/17 / 7 at each of its seven ACKs.
        assert_eq!((after(true), after(false)), (10_600, 7000 + 75));
    }
}
