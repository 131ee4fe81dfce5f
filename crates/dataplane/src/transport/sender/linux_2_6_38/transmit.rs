//! What Linux 2.6.38 sends: lost segments (`tcp_xmit_retransmit_queue`), and new data in pieces (`tcp_write_xmit`).

use crate::transport::loss::{Phase, RackTlp};
use crate::transport::sender::Sender;
use crate::transport::{Io, TcpConfig};
use units::Time;

/// Room for this share of the window is used at once (`sysctl_tcp_tso_win_divisor`).
const WINDOW_SHARE: u64 = 3;
/// Bytes that offload takes at once (`sk_gso_max_size`), and what headers take of them.
const LARGEST: u64 = 65_536;
const HEADERS: u64 = 53;

impl Sender {
    /// Sends again what is lost, and in recovery, if no new data may leave, what is missing below the highest report.
    pub(super) fn send_lost_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        while r.segments.in_flight() < self.congestion.segments(io.cfg.mss.into()) {
            let forward = || {
                let may = r.phase == Phase::Recovery && Sender::has_sack(io.cfg) && !self.may_send_new(r, io.cfg);
                may.then(|| r.next_hole(self.una)).flatten()
            };
            let Some(i) = r.segments.next_waiting().or_else(forward) else { return };
            if !self.pacing.ready() {
                return;
            }
            self.send_again(i, r, io);
        }
    }

    /// Goes on sending without an ACK: the application has written, or the NIC asks for a segment.
    pub(in crate::transport::sender) fn go_on_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        if matches!(r.phase, Phase::Recovery | Phase::Loss { .. }) || self.takes_pack_for_mark(io.cfg) {
            self.send_lost_2_6_38(r, io);
        }
        self.send_new_2_6_38(r, io);
    }

    /// Returns true if windows and Nagle's algorithm let new data leave (`tcp_may_send_now`).
    pub(super) fn may_send_new(&self, r: &RackTlp, cfg: &TcpConfig) -> bool {
        r.segments.in_flight() < self.congestion.segments(cfg.mss.into()) && self.next_new(cfg) > 0
    }

    /// Sends new data. After an idle time the window restarts only once the first piece has left, which the kernel has cut
    /// before by the old window (mended in 2015 by commit 6f021c62d6).
    pub(in crate::transport::sender) fn send_new_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        if self.nxt >= self.written {
            return;
        }
        let (before, timer_ran) = (self.sent, self.rto.expires() < Time::NEVER);
        let idle = self.idle_timeouts(io);
        if idle > 0 && self.send_burst(r, io) | (self.sent > before) {
            self.congestion.restart(idle, Sender::reduces(r), io.now, io.cfg);
        }
        while self.nxt < self.written && self.send_burst(r, io) {}
        if self.sent == before {
            return;
        }
        if r.fack.frto == 2 {
            r.fack.frto = 3;
        }
        let clock = io.cfg.ticks(self.flow.src);
        let timeout = clock.ticks_of(self.rto.timeout(io.cfg));
        self.congestion.validate(r.segments.len() as u32, timeout, r.phase == Phase::Open, io.now, io.cfg);
        if !timer_ran {
            self.rearm_timeout(r, io);
        }
    }

    /// Number of timeouts in the time since the last segment left, if nothing is in flight; 0 within the first.
    fn idle_timeouts(&self, io: &Io) -> u64 {
        if !io.cfg.restart_after_idle || self.sent > self.una || self.sent == 0 {
            return 0;
        }
        let clock = io.cfg.ticks(self.flow.src);
        let idle = clock.passed(io.now) - clock.passed(self.last_sent);
        idle.saturating_sub(1) / clock.ticks_of(self.rto.timeout(io.cfg)).max(1)
    }

    /// End of the piece of new data that leaves next; `None` while data wait.
    pub(in crate::transport::sender) fn next_burst_2_6_38(&self, r: &mut RackTlp, io: &Io) -> Option<u64> {
        let (cfg, mss) = (io.cfg, u64::from(io.cfg.mss));
        let in_flight = u64::from(r.segments.in_flight());
        let quota = u64::from(self.congestion.segments(cfg.mss.into())).saturating_sub(in_flight) * mss;
        if quota == 0 {
            return None;
        }
        let piece = self.piece(r, cfg);
        let by_receiver = u64::from(self.rwnd.saturating_sub(self.flight()));
        if piece > mss && self.defers(piece, quota.min(by_receiver), r, io) {
            return None;
        }
        // What is shorter than a segment at the end leaves by itself, for Nagle's algorithm.
        let whole = piece.min(by_receiver) / mss * mss;
        Some(self.nxt + if piece > mss { quota.min(whole).max(mss) } else { piece })
    }

    /// Bytes left of the piece that the next new byte is in: what offload takes (`tcp_xmit_size_goal`), or a segment. Data that
    /// is written once all before has left begins a new piece.
    fn piece(&self, r: &mut RackTlp, cfg: &TcpConfig) -> u64 {
        let mss = u64::from(cfg.mss);
        if !cfg.rack.tso {
            return mss.min(self.written - self.nxt);
        }
        let most = (LARGEST - HEADERS).min(u64::from(cfg.peer_window) / 2).max(mss) / mss * mss;
        if self.nxt >= r.fack.piece_start + most || self.nxt == r.fack.written {
            r.fack.piece_start = self.nxt;
        }
        r.fack.written = self.written;
        r.fack.piece_start.saturating_add(most).min(self.written) - self.nxt
    }

    /// Returns true if a piece waits for more room (`tcp_tso_should_defer`): it would leave in parts, there is room for less
    /// than a third of the window, and it was not held back a tick or more before.
    fn defers(&self, piece: u64, room: u64, r: &mut RackTlp, io: &Io) -> bool {
        let tick = io.cfg.ticks(self.flow.src).passed(io.now);
        let is_last = self.nxt + piece >= self.written;
        let share = u64::from(self.congestion.window().min(self.rwnd)) / WINDOW_SHARE;
        let is_over = r.fack.deferred.is_some_and(|since| tick - since > 1);
        let leaves = r.phase != Phase::Open || is_over || room >= LARGEST || !is_last && room >= piece || room >= share;
        r.fack.deferred = (!leaves).then_some(tick);
        !leaves
    }
}
