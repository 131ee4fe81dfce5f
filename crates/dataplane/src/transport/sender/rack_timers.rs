//! Single timer of a sender that finds losses by time: retransmission, probe, reordering (RFC 8985 §8).

use super::Sender;
use super::rack::RecoveryEffects;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::loss::{Frto, Phase, RackTlp, TimerPurpose, Tlp};
use crate::transport::{Io, LossInfo, TcpConfig};
use units::{Dur, Time};

impl Sender {
    /// Processes an expiry of the sender's single timer, for the event that it was set for.
    pub(super) fn timer_by_rack(&mut self, io: &mut Io) {
        self.with_rack_tlp(|s, r| {
            if io.now >= s.rto.expires() {
                match r.awaited {
                    TimerPurpose::Retransmission => s.on_expiry(r, io),
                    TimerPurpose::Probe => s.on_probe_timer(r, io),
                    TimerPurpose::Reordering => s.on_reordering_timer(r, io),
                }
            }
            if r.pace.is_due(io.now) {
                s.send_lost_and_new(r, io);
            }
        });
    }

    /// Restarts the timer after an ACK of new data, or after a SACK of old data.
    /// Linux restarts it for SACKed data that was sent before the last sending of the first segment.
    pub(super) fn set_timer(&mut self, event: &RecoveryEffects, r: &mut RackTlp, io: &mut Io) {
        let head = r.segments.first().map_or(Time::ZERO, |s| s.at);
        if self.una == self.sent {
            r.awaited = TimerPurpose::Retransmission;
            return self.rto.stop();
        }
        // A PACK shows that the path to the receiver and back still works.
        let heard = event.outcome.packed > 0 || event.outcome.reported_at.is_some_and(|at| at < head);
        let anew = event.advanced || heard;
        if anew && r.awaited != TimerPurpose::Reordering && !self.schedule_probe(true, r, io) {
            self.rearm_timeout(r, io);
        }
    }

    /// Sets the timer for the retransmission timeout.
    /// It counts from now. If the timer was set for another event, it counts from the last sending of the first
    /// segment.
    pub(super) fn rearm_timeout(&mut self, r: &mut RackTlp, io: &mut Io) {
        let wait = match r.awaited {
            TimerPurpose::Retransmission => self.rto.timeout(io.cfg),
            // A timeout that is already over still waits: for one tick, or 1 us without ticks.
            TimerPurpose::Probe | TimerPurpose::Reordering => self.time_until_timeout(r, io).max(Dur::us(1)),
        };
        r.awaited = TimerPurpose::Retransmission;
        match io.cfg.retransmission_timer {
            true => self.set_timer_after(wait.saturating_add(pacing_delay(r, io)), io),
            false => self.rto.stop(),
        }
    }

    /// Sets the timer to expire after `wait`, by the clock of this host.
    pub(super) fn set_timer_after(&mut self, wait: Dur, io: &mut Io) {
        let at = io.timer_expiry(self.flow.src, wait, self.rto.expires());
        self.rto.set(at);
    }

    /// Time until the retransmission timeout of the first segment; zero if it is over.
    fn time_until_timeout(&self, r: &RackTlp, io: &Io) -> Dur {
        let expiry = r.segments.first().map_or(Time::NEVER, |s| s.at.saturating_add(self.rto.timeout(io.cfg)));
        expiry.max(io.now).since(io.now)
    }

    /// Sets the timer for a tail loss probe, unless it would show nothing (RFC 8985 §7.2). Returns true if it was set.
    /// A probe shows nothing while losses are being recovered, or while SACKs will show them. The test if a probe may
    /// be sent (§7.3) is made now; Linux makes it at the expiry. `advancing` is true if the timeout would count from
    /// now.
    pub(super) fn schedule_probe(&mut self, advancing: bool, r: &mut RackTlp, io: &mut Io) -> bool {
        let cfg = io.cfg;
        let may = match cfg.follows_linux_6_18() {
            true => Sender::may_schedule_probe(r),
            false => (cfg.is_linux() || r.tlp.may_probe()) && !r.in_recovery() && r.segments.sacked_bytes() == 0,
        };
        if !cfg.rack.tlp || !may {
            return false;
        }
        // TLP.max_ack_delay (RFC 8985 §7.2) is the minimum RTO, as in Linux.
        let mut wait = Tlp::timeout(self.rto.srtt(), r.segments.len() == 1, cfg.min_rto, cfg.rack.slack);
        if cfg.retransmission_timer {
            let left = if advancing { self.rto.timeout(io.cfg) } else { self.time_until_timeout(r, io) };
            wait = if left > Dur::ZERO { wait.min(left) } else { wait };
        }
        r.awaited = TimerPurpose::Probe;
        self.set_timer_after(wait.saturating_add(pacing_delay(r, io)), io);
        true
    }

    /// Sends a tail loss probe beyond the window: new data, or else the last segment again (RFC 8985 §7.3).
    fn on_probe_timer(&mut self, r: &mut RackTlp, io: &mut Io) {
        let may = if io.cfg.follows_linux_6_18() { !r.tlp.is_in_flight() } else { r.tlp.may_probe() };
        if !may || r.segments.len() == 0 {
            return self.rearm_timeout(r, io);
        }
        let new = self.probe_with_new(r, io);
        if !new {
            // No loss is known, so this retransmission is not one that an undo counts.
            let last = r.segments.len() - 1;
            self.resend_segment(last, true, r, io);
        }
        r.tlp.on_probe_sent(self.sent, !new);
        r.awaited = TimerPurpose::Retransmission;
        self.rearm_timeout(r, io);
    }

    /// Processes the expiry of the reordering timer: overtaken segments have not arrived (RFC 8985 §6.2 step 5).
    fn on_reordering_timer(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_6_18() {
            return self.on_reordering_as_linux(r, io);
        }
        let flight = r.segments.flight();
        let found = self.detect_and_set_timer(r, io);
        if found.lost > 0 {
            if r.phase != Phase::Recovery {
                self.begin_recovery(flight, false, r, io);
                if io.cfg.rack.prr {
                    self.reduce_by_prr(u64::from(io.cfg.mss), false, r, io.cfg);
                }
            }
            self.send_lost_and_new(r, io);
        }
    }

    /// Processes a retransmission timeout (RFC 8985 §6.3, RFC 6298 (5.4) to (5.6), RFC 5681 §3.1).
    /// The first segment is sent again, and segments sent long enough ago are lost too. The threshold falls once for
    /// the data outstanding. As in Linux, the window is one segment more than the bytes in flight.
    fn on_expiry(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            return self.on_expiry_2_6_38(r, io);
        }
        let (now, cfg) = (io.now, io.cfg);
        if r.segments.len() == 0 {
            return self.rto.stop();
        }
        if cfg.follows_linux_6_18() {
            self.mark_lost_at_timeout(r, io);
        }
        let flight = r.segments.flight().min(u64::from(self.congestion.window())) as u32;
        let cut = match r.phase {
            Phase::Open | Phase::Disorder => true,
            Phase::Recovery | Phase::Reducing => false,
            Phase::Loss { .. } => self.loss.expiries == 0,
        } || self.una >= self.loss.recovery_point();
        if cut {
            let probes = u32::from(cfg.follows_linux_6_18() && r.tlp.repeats());
            let under_way = r.segments.retransmitted_bytes().div_ceil(u64::from(cfg.mss)) as u32 + probes;
            r.undo.begin(self.save_window(cfg), self.una, under_way, false);
        }
        let lost = LossInfo { range: self.una..self.nxt, flight, sent: self.sent, left: 0, now };
        // RFC 5682 §3.1 step 1: no F-RTO if the timeout ends another recovery, unless it repeats for the same segment.
        let asks = cfg.rack.frto && (r.phase < Phase::Recovery || self.loss.expiries > 0);
        self.congestion.on_timeout(&lost, !cut, cfg);
        self.after_timeout(cfg, now);
        r.phase = Phase::Loss { frto: if asks { Frto::Asked } else { Frto::Off } };
        r.tlp.forget_probe();
        match cfg.recovery {
            _ if cfg.follows_linux_6_18() => {}
            Recovery::Rack => {
                let settling = self.reordering_window_params(r, cfg);
                r.rack.on_timeout(&mut r.segments, now, settling);
            }
            _ => r.mark_unsacked_lost(),
        }
        let window = r.pipe() + u64::from(cfg.mss);
        self.congestion.set_window(u32::try_from(window).unwrap_or(u32::MAX));
        self.resend_lost(0, r, io);
        // Pacing does not delay this timeout (`tcp_retransmit_timer`).
        self.set_timer_after(self.rto.timeout(io.cfg), io);
    }

    /// Updates recovery point, counters, CWR and backoff after any timeout.
    fn after_timeout(&mut self, cfg: &TcpConfig, now: Time) {
        self.loss.on_timeout(self.una, self.sent);
        self.timeouts += 1;
        self.loss.expiries = self.loss.expiries.saturating_add(1);
        self.cwr = cfg.ecn != EcnMode::Off;
        self.rto.back_off(now, cfg);
    }
}

/// Extra delay of timeouts and tail loss probes, because pacing delays the next segment (`tcp_pacing_delay`).
/// It is rounded down to whole ticks of the host's clock, if that has ticks.
fn pacing_delay(r: &RackTlp, io: &Io) -> Dur {
    match (io.cfg.pacing.on, io.cfg.tick) {
        (false, _) => Dur::ZERO,
        (true, Dur::ZERO) => r.pace.delay(io.now),
        (true, tick) => Dur(r.pace.delay(io.now).0 / tick.0 * tick.0),
    }
}
