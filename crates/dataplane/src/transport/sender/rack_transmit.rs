//! Transmission of a sender that finds losses by time: lost segments and new data, by the bytes in flight.

use super::Sender;
use crate::transport::Io;
use crate::transport::loss::{Awaited, Frto, Phase, RackTlp};
use units::Time;

impl Sender {
    /// Sends lost segments and then new data, while the window exceeds the bytes in flight.
    /// New data comes first if it is to show whether a timeout was spurious (RFC 5682 §3.1 step 2.b).
    pub(super) fn send_lost_and_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            self.go_on_2_6_38(r, io);
            return;
        }
        r.pace.look_again();
        if r.phase == (Phase::Loss { frto: Frto::New }) {
            let before = self.sent;
            self.send_new(r, io);
            if self.sent > before || self.pacing.waits() {
                return;
            }
            r.phase = Phase::Loss { frto: Frto::Off };
        }
        let window = u64::from(self.congestion.window());
        while let Some(i) = r.segments.next_waiting() {
            let len = r.segments.get(i).map_or(0, |s| s.len());
            if !r.at_once && r.pipe() + len > window {
                return;
            }
            if io.cfg.follows_linux() && r.segments.again() >= r.segments.lost() {
                break;
            }
            if io.cfg.pacing.on && r.pace.holds(io.now) || !self.pacing.ready() {
                return;
            }
            r.at_once = false;
            self.send_again(i, r, io);
        }
        self.send_new(r, io);
    }

    /// Sends a segment again with its old boundaries.
    /// If it is the first one, the timeout restarts, as in Linux (RFC 6298 §5 leaves it open).
    pub(super) fn send_again(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) {
        self.repeat_lost(i, r, io);
        if i == 0 && r.awaited != Awaited::Reordering {
            r.awaited = Awaited::Retransmission;
            self.rearm_timeout(r, io);
        }
    }

    /// Sends a lost segment again, without a change of the timer.
    pub(super) fn repeat_lost(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) {
        let bytes = self.repeat(i, false, r, io);
        r.on_sent_again(bytes, self.stamp_now(io));
    }

    /// Sends segment `i` again, as a probe if `probes`, and returns its bytes.
    pub(super) fn repeat(&mut self, i: usize, probes: bool, r: &mut RackTlp, io: &mut Io) -> u64 {
        let Some(s) = r.segments.get(i).copied() else { return 0 };
        self.emit_ranked(s.start, s.len() as u32, self.rank(io.cfg), io);
        let stamp = if io.cfg.follows_linux_2_6_38() { self.sent as u32 } else { r.counts.sent_at() };
        r.again_at = Some(io.now);
        match probes && io.cfg.follows_linux() {
            true => r.segments.probed(i, io.now, stamp),
            false => r.segments.sent_again(i, io.now, stamp),
        }
        if io.cfg.pacing.on {
            r.pace.on_sent(s.len(), 1, io.now);
        }
        s.len()
    }

    /// Sends new data that the window has space for.
    pub(super) fn send_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            return self.send_new_2_6_38(r, io);
        }
        if self.nxt >= self.written {
            return;
        }
        self.wake(io);
        let (before, timer_ran) = (self.sent, self.rto.expires() < Time::NEVER);
        if io.cfg.follows_linux() {
            r.limited = false;
        }
        self.send_bursts(r, io);
        self.note_use(self.sent > before, r, io);
        if self.sent > before {
            if r.awaited == Awaited::Probe || !timer_ran {
                self.rearm_timeout(r, io);
            }
            if r.awaited != Awaited::Reordering || io.cfg.follows_linux() {
                self.await_probe(false, r, io);
            }
        }
    }
}
