//! The one timer of a sender that finds losses by time: retransmission, probe, reordering (RFC 8985 §8).

use super::Sender;
use super::rack::Event;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::loss::{Awaited, Frto, Phase, RackTlp, Tlp};
use crate::transport::{Io, Lost, TcpConfig};
use units::{Dur, Time};

impl Sender {
    /// The timer has expired.
    pub(super) fn timer_by_rack(&mut self, io: &mut Io) {
        self.by_rack(|s, r| {
            if io.now >= s.rto.expires() {
                match r.awaited {
                    Awaited::Retransmission => s.on_expiry(r, io),
                    Awaited::Probe => s.on_probe_time(r, io),
                    Awaited::Reordering => s.on_reordering_time(r, io),
                }
            }
            if r.pace.is_due(io.now) {
                s.send_lost_and_new(r, io);
            }
        });
    }

    /// After an ACK: the timer runs anew where new data is acknowledged, or data is reported that was sent
    /// before the first outstanding segment was sent last, as Linux has it.
    pub(super) fn set_timer(&mut self, event: &Event, r: &mut RackTlp, io: &mut Io) {
        let head = r.segments.first().map_or(Time::ZERO, |s| s.at);
        if self.una == self.sent {
            r.awaited = Awaited::Retransmission;
            return self.rto.stop();
        }
        // A PACK shows that there still is a way to the receiver and back.
        let heard = event.told.packed > 0 || event.told.reported_at.is_some_and(|at| at < head);
        let anew = event.advanced || heard;
        if anew && r.awaited != Awaited::Reordering && !self.await_probe(true, r, io) {
            self.rearm_timeout(r, io);
        }
    }

    /// Lets the timer wait for the retransmission timeout: from now, or where it waited for something else
    /// from the last sending of the first segment.
    pub(super) fn rearm_timeout(&mut self, r: &mut RackTlp, io: &mut Io) {
        let wait = match r.awaited {
            Awaited::Retransmission => self.rto.timeout(io.cfg),
            // What is over already is waited for all the same: for a tick, where there are any.
            Awaited::Probe | Awaited::Reordering => self.left(r, io).max(Dur::us(1)),
        };
        r.awaited = Awaited::Retransmission;
        match io.cfg.retransmission_timer {
            true => self.wake_after(wait.saturating_add(paced(r, io)), io),
            false => self.rto.stop(),
        }
    }

    /// The timer expires after so long, by the clock of this host.
    pub(super) fn wake_after(&mut self, wait: Dur, io: &mut Io) {
        let at = io.expiry(self.flow.src, wait, self.rto.expires());
        self.rto.set(at);
    }

    /// How long until the retransmission timeout of the first segment is over; zero where it is.
    fn left(&self, r: &RackTlp, io: &Io) -> Dur {
        let expiry = r.segments.first().map_or(Time::NEVER, |s| s.at.saturating_add(self.rto.timeout(io.cfg)));
        expiry.max(io.now).since(io.now)
    }

    /// Lets the timer wait for a probe, unless it would find nothing out: losses are being recovered, or
    /// reports will show them (RFC 8985 §7.2). Whether a probe may be sent is asked now, or as in Linux then
    /// (§7.3). `advancing` says that the timeout would run from now.
    pub(super) fn await_probe(&mut self, advancing: bool, r: &mut RackTlp, io: &mut Io) -> bool {
        let cfg = io.cfg;
        let may = match cfg.follows_linux() {
            true => Sender::may_await_probe(r),
            false => (cfg.as_linux() || r.tlp.may_probe()) && !r.in_recovery() && r.segments.reported() == 0,
        };
        if !cfg.rack.tlp || !may {
            return false;
        }
        let mut wait = Tlp::timeout(self.rto.srtt(), r.segments.len() == 1, cfg.min_rto, cfg.rack.slack);
        if cfg.retransmission_timer {
            let left = if advancing { self.rto.timeout(io.cfg) } else { self.left(r, io) };
            wait = if left > Dur::ZERO { wait.min(left) } else { wait };
        }
        r.awaited = Awaited::Probe;
        self.wake_after(wait.saturating_add(paced(r, io)), io);
        true
    }

    /// Sends a probe beside the window: new data, or else the last segment again (RFC 8985 §7.3).
    fn on_probe_time(&mut self, r: &mut RackTlp, io: &mut Io) {
        let may = if io.cfg.follows_linux() { !r.tlp.is_out() } else { r.tlp.may_probe() };
        if !may || r.segments.len() == 0 {
            return self.rearm_timeout(r, io);
        }
        let new = self.probe_with_new(r, io);
        if !new {
            // No loss is known of: this is no retransmission that a recovery would answer for.
            let last = r.segments.len() - 1;
            self.repeat(last, true, r, io);
        }
        r.tlp.begin(self.sent, !new);
        r.awaited = Awaited::Retransmission;
        self.rearm_timeout(r, io);
    }

    /// What was overtaken has not come (RFC 8985 §6.2 step 5).
    fn on_reordering_time(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux() {
            return self.on_reordering_as_linux(r, io);
        }
        let flight = r.segments.flight();
        let found = self.detect(r, io);
        if found.lost > 0 {
            if r.phase != Phase::Recovery {
                self.begin_recovery(flight, false, r, io);
                if io.cfg.rack.prr {
                    self.reduce(u64::from(io.cfg.mss), false, r, io.cfg);
                }
            }
            self.send_lost_and_new(r, io);
        }
    }

    /// RFC 8985 §6.3, RFC 6298 (5.4) to (5.6), RFC 5681 §3.1: the first segment is sent again, and what was
    /// sent long enough ago is lost too. The threshold falls once for what is outstanding, and the window is
    /// one segment more than what is under way, as Linux has it.
    fn on_expiry(&mut self, r: &mut RackTlp, io: &mut Io) {
        if io.cfg.follows_linux_2_6_38() {
            return self.on_expiry_2_6_38(r, io);
        }
        let (now, cfg) = (io.now, io.cfg);
        if r.segments.len() == 0 {
            return self.rto.stop();
        }
        if cfg.follows_linux() {
            self.mark_lost_at_timeout(r, io);
        }
        let flight = r.segments.flight().min(u64::from(self.congestion.window())) as u32;
        let cut = match r.phase {
            Phase::Open | Phase::Disorder => true,
            Phase::Recovery | Phase::Reducing => false,
            Phase::Loss { .. } => self.loss.expiries == 0,
        } || self.una >= self.loss.recovery_point();
        if cut {
            let probes = u32::from(cfg.follows_linux() && r.tlp.repeats());
            let under_way = r.segments.again().div_ceil(u64::from(cfg.mss)) as u32 + probes;
            r.undo.begin(self.saved(cfg), self.una, under_way, false);
        }
        let lost = Lost { range: self.una..self.nxt, flight, sent: self.sent, left: 0, now };
        // RFC 5682 §3.1 step 1: not where the timeout ends another recovery, unless it is of the same segment again.
        let asks = cfg.rack.frto && (r.phase < Phase::Recovery || self.loss.expiries > 0);
        self.congestion.on_timeout(&lost, !cut, cfg);
        self.after_timeout(cfg, now);
        r.phase = Phase::Loss { frto: if asks { Frto::Asked } else { Frto::Off } };
        r.tlp.end();
        match cfg.recovery {
            _ if cfg.follows_linux() => {}
            Recovery::Rack => {
                let settling = self.settling(r, cfg);
                r.rack.on_timeout(&mut r.segments, now, settling);
            }
            _ => r.lose_all(),
        }
        let window = r.pipe() + u64::from(cfg.mss);
        self.congestion.set_window(u32::try_from(window).unwrap_or(u32::MAX));
        self.repeat_lost(0, r, io);
        // Pacing does not put off this one (`tcp_retransmit_timer`).
        self.wake_after(self.rto.timeout(io.cfg), io);
    }

    /// What every timeout does.
    fn after_timeout(&mut self, cfg: &TcpConfig, now: Time) {
        self.loss.on_timeout(self.una, self.sent);
        self.timeouts += 1;
        self.loss.expiries = self.loss.expiries.saturating_add(1);
        self.cwr = cfg.ecn != EcnMode::Off;
        self.rto.back_off(now, cfg);
    }
}

/// What timeouts and probes wait longer since the next segment may not leave before (`tcp_pacing_delay`): whole ticks of the
/// host's clock, where it has any.
fn paced(r: &RackTlp, io: &Io) -> Dur {
    match (io.cfg.pacing.on, io.cfg.tick) {
        (false, _) => Dur::ZERO,
        (true, Dur::ZERO) => r.pace.delay(io.now),
        (true, tick) => Dur(r.pace.delay(io.now).0 / tick.0 * tick.0),
    }
}
