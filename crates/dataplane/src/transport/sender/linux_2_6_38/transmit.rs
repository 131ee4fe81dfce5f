//! Transmission of Linux 2.6.38: lost segments (`tcp_xmit_retransmit_queue`), new data in pieces (`tcp_write_xmit`).

use crate::transport::loss::{Phase, RackTlp};
use crate::transport::sender::Sender;
use crate::transport::{Io, TcpConfig};
use units::Time;

/// Divisor of the window: new data leaves immediately if this share is free (`sysctl_tcp_tso_win_divisor`).
const TSO_WIN_DIVISOR: u64 = 3;
/// Largest burst of segmentation offload in bytes (`sk_gso_max_size`), and bytes of headers in it.
const MAX_BURST_BYTES: u64 = 65_536;
const HEADER_BYTES: u64 = 53;

impl Sender {
    /// Resends lost segments, and in recovery, if no new data may leave, holes below the highest SACK.
    pub(super) fn send_lost_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        while r.segments.in_flight() < self.congestion.window_segments(io.cfg.mss.into()) {
            let forward = || {
                let may = r.phase == Phase::Recovery && Sender::has_sack(io.cfg) && !self.may_send_new(r, io.cfg);
                may.then(|| r.next_hole(self.una)).flatten()
            };
            let Some(i) = r.segments.next_lost_to_resend().or_else(forward) else { return };
            if !self.pacing.may_send() {
                return;
            }
            self.send_again(i, r, io);
        }
    }

    /// Continues to send without an ACK: the application has written, or the NIC requests a segment.
    pub(in crate::transport::sender) fn send_lost_then_new_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        if matches!(r.phase, Phase::Recovery | Phase::Loss { .. }) || self.treats_pack_as_mark(io.cfg) {
            self.send_lost_2_6_38(r, io);
        }
        self.send_new_2_6_38(r, io);
    }

    /// Returns true if windows and Nagle's algorithm let new data leave (`tcp_may_send_now`).
    pub(super) fn may_send_new(&self, r: &RackTlp, cfg: &TcpConfig) -> bool {
        r.segments.in_flight() < self.congestion.window_segments(cfg.mss.into()) && self.next_new_length(cfg) > 0
    }

    /// Sends new data that the windows allow, as Linux 2.6.38 does (`tcp_write_xmit`).
    /// After an idle time the window restarts only after the first piece has left, whose size follows the old window.
    /// That was a fault of the kernel until its commit 6f021c62d6 of 2015.
    pub(in crate::transport::sender) fn send_new_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        if self.nxt >= self.written {
            return;
        }
        let (before, timer_ran) = (self.sent, self.rto.expires() < Time::NEVER);
        let idle = self.idle_timeouts(io);
        if idle > 0 && self.send_burst(r, io) | (self.sent > before) {
            self.congestion.restart_after_idle(idle, Sender::is_reducing(r), io.now, io.cfg);
        }
        while self.nxt < self.written && self.send_burst(r, io) {}
        if self.sent == before {
            return;
        }
        if r.fack.frto == 2 {
            r.fack.frto = 3;
        }
        let clock = io.cfg.host_ticks(self.flow.src);
        let timeout = clock.ticks_of(self.rto.timeout(io.cfg));
        self.congestion.validate_window(r.segments.len() as u32, timeout, r.phase == Phase::Open, io.now, io.cfg);
        if !timer_ran {
            self.rearm_timeout(r, io);
        }
    }

    /// Number of whole timeouts since the last segment left; 0 if anything is in flight.
    fn idle_timeouts(&self, io: &Io) -> u64 {
        if !io.cfg.restart_after_idle || self.sent > self.una || self.sent == 0 {
            return 0;
        }
        let clock = io.cfg.host_ticks(self.flow.src);
        let idle = clock.ticks_at(io.now) - clock.ticks_at(self.last_sent);
        idle.saturating_sub(1) / clock.ticks_of(self.rto.timeout(io.cfg)).max(1)
    }

    /// End of the next burst of new data; `None` if data must wait.
    pub(in crate::transport::sender) fn next_burst_end_2_6_38(&self, r: &mut RackTlp, io: &Io) -> Option<u64> {
        let (cfg, mss) = (io.cfg, u64::from(io.cfg.mss));
        let in_flight = u64::from(r.segments.in_flight());
        let quota = u64::from(self.congestion.window_segments(cfg.mss.into())).saturating_sub(in_flight) * mss;
        if quota == 0 {
            return None;
        }
        let piece = self.current_piece_bytes(r, cfg);
        let by_receiver = u64::from(self.rwnd.saturating_sub(self.flight_size()));
        if piece > mss && self.should_defer(piece, quota.min(by_receiver), r, io) {
            return None;
        }
        // A last segment shorter than the others leaves by itself, for Nagle's algorithm.
        let whole = piece.min(by_receiver) / mss * mss;
        Some(self.nxt + if piece > mss { quota.min(whole).max(mss) } else { piece })
    }

    /// Number of unsent bytes in the current offload-sized piece of new data.
    /// A piece is as long as offload takes (`tcp_xmit_size_goal`), or one segment. Data written after everything before
    /// has left begins a new piece.
    fn current_piece_bytes(&self, r: &mut RackTlp, cfg: &TcpConfig) -> u64 {
        let mss = u64::from(cfg.mss);
        if !cfg.rack.tso {
            return mss.min(self.written - self.nxt);
        }
        let most = (MAX_BURST_BYTES - HEADER_BYTES).min(u64::from(cfg.peer_window) / 2).max(mss) / mss * mss;
        // If the receiver's window has shortened a segment, less than a segment may be left of the piece. This rest
        // begins the next piece.
        if self.nxt + mss > r.fack.piece_start.saturating_add(most) || self.nxt == r.fack.written {
            r.fack.piece_start = self.nxt;
        }
        r.fack.written = self.written;
        r.fack.piece_start.saturating_add(most).min(self.written) - self.nxt
    }

    /// Returns true if a piece of new data must wait for a larger burst (`tcp_tso_should_defer`).
    /// Less than a third of the window is free, and the last deferral was at most one tick ago.
    fn should_defer(&self, piece: u64, room: u64, r: &mut RackTlp, io: &Io) -> bool {
        let tick = io.cfg.host_ticks(self.flow.src).ticks_at(io.now);
        let is_last = self.nxt + piece >= self.written;
        let share = u64::from(self.congestion.window().min(self.rwnd)) / TSO_WIN_DIVISOR;
        let is_over = r.fack.deferred.is_some_and(|since| tick - since > 1);
        let leaves =
            r.phase != Phase::Open || is_over || room >= MAX_BURST_BYTES || !is_last && room >= piece || room >= share;
        r.fack.deferred = (!leaves).then_some(tick);
        !leaves
    }
}
