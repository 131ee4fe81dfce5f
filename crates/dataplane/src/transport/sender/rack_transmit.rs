//! Transmission of a sender that finds losses by time: lost segments and new data, by the bytes in flight.

use super::Sender;
use crate::transport::Io;
use crate::transport::loss::{Frto, Phase, RackTlp, TimerPurpose};
use units::Time;

impl Sender {
    /// Sends lost segments and then new data, while the window exceeds the bytes in flight.
    /// New data comes first if it is to show whether a timeout was spurious (RFC 5682 §3.1 step 2.b).
    pub(super) fn send_lost_and_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            self.send_lost_then_new_2_6_38(r, io);
            return;
        }
        r.pace.forget_waiting();
        if r.phase == (Phase::Loss { frto: Frto::New }) {
            let before = self.sent;
            self.send_new(r, io);
            if self.sent > before || self.pacing.is_waiting() {
                return;
            }
            r.phase = Phase::Loss { frto: Frto::Off };
        }
        let window = u64::from(self.congestion.window());
        while let Some(i) = r.segments.next_lost_to_resend() {
            let len = r.segments.get(i).map_or(0, |s| s.len());
            if !r.ignores_window && r.pipe() + len > window {
                return;
            }
            if io.cfg.follows_linux_6_18() && r.segments.retransmitted_bytes() >= r.segments.lost() {
                break;
            }
            if io.cfg.pacing.on && r.pace.must_wait(io.now) || !self.pacing.may_send() {
                return;
            }
            r.ignores_window = false;
            self.send_again(i, r, io);
        }
        self.send_new(r, io);
    }

    /// Sends a segment again with its old boundaries, and restarts the timeout if it is the first one.
    /// Linux restarts the timeout as well; RFC 6298 §5 leaves it open.
    pub(super) fn send_again(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) {
        self.resend_lost(i, r, io);
        if i == 0 && r.awaited != TimerPurpose::Reordering {
            r.awaited = TimerPurpose::Retransmission;
            self.rearm_timeout(r, io);
        }
    }

    /// Sends a lost segment again, without a change of the timer.
    pub(super) fn resend_lost(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) {
        let bytes = self.resend_segment(i, false, r, io);
        r.on_sent_again(bytes, self.current_tsval(io));
    }

    /// Sends segment `i` again, as a tail loss probe if `probes` is true, and returns its bytes.
    pub(super) fn resend_segment(&mut self, i: usize, probes: bool, r: &mut RackTlp, io: &mut Io) -> u64 {
        let Some(s) = r.segments.get(i).copied() else { return 0 };
        self.emit_ranked(s.start, s.len() as u32, self.rank(io.cfg), io);
        let stamp = if io.cfg.follows_linux_2_6_38() { self.sent as u32 } else { r.counts.delivered_stamp() };
        r.last_retransmission_at = Some(io.now);
        match probes && io.cfg.follows_linux_6_18() {
            true => r.segments.mark_probed(i, io.now, stamp),
            false => r.segments.mark_sent_again(i, io.now, stamp),
        }
        if io.cfg.pacing.on {
            r.pace.on_sent(s.len(), 1, io.now);
        }
        s.len()
    }

    /// Sends new data that the congestion window has space for.
    pub(super) fn send_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            return self.send_new_2_6_38(r, io);
        }
        if self.nxt >= self.written {
            return;
        }
        self.update_after_idle(io);
        let (before, timer_ran) = (self.sent, self.rto.expires() < Time::NEVER);
        if io.cfg.follows_linux_6_18() {
            r.limited = false;
        }
        self.send_bursts(r, io);
        self.note_window_use(self.sent > before, r, io);
        if self.sent > before {
            if r.awaited == TimerPurpose::Probe || !timer_ran {
                self.rearm_timeout(r, io);
            }
            if r.awaited != TimerPurpose::Reordering || io.cfg.follows_linux_6_18() {
                self.schedule_probe(false, r, io);
            }
        }
    }
}
