//! Loss recovery of a sender: duplicate ACKs, selective acknowledgements and the timeout.

use super::{AckFields, Sender};
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::loss::NextSegment;
use crate::transport::{DuplicateEvent, Io, LossInfo, TcpConfig};
use units::Time;

impl Sender {
    /// Processes an ACK without new data.
    /// It is a duplicate if data is outstanding and it does not move the window (RFC 5681 §2). With SACK it is one if
    /// it newly SACKs bytes (RFC 6675 §2).
    #[cold]
    pub(super) fn on_ack_without_new_data(&mut self, arrived: AckFields, same_window: bool, io: &mut Io) {
        let cfg = io.cfg;
        let acked = self.ack_info(arrived.ece, io);
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        if cfg.recovery == Recovery::Sack {
            if arrived.sacked {
                self.on_sacked(cfg, io);
            }
            return self.send(io);
        }
        let event = match same_window && self.sent > self.una {
            true => self.loss.on_duplicate(self.una, cfg.dupack_threshold, cfg.recovery),
            false => DuplicateEvent::Ignored,
        };
        match event {
            DuplicateEvent::Lost => self.on_lost(io),
            DuplicateEvent::More => self.congestion.on_duplicate(cfg),
            // RFC 3042 §2: each of the first two duplicates allows a segment of new data.
            DuplicateEvent::Early(1..=2) if cfg.limited_transmit && self.nxt == self.sent => {
                return self.transmit_limited(io);
            }
            DuplicateEvent::Early(_) | DuplicateEvent::Ignored => {}
        }
        self.transmit(io);
    }

    /// Processes newly SACKed data (RFC 6675 §5 steps 1 to 4).
    #[cold]
    pub(super) fn on_sacked(&mut self, cfg: &TcpConfig, io: &mut Io) {
        match self.loss.on_sacked(self.una, cfg.is_lost_params()) {
            DuplicateEvent::Lost => self.on_lost(io),
            DuplicateEvent::Early(_) if cfg.limited_transmit => self.send_limited_by_pipe(io),
            DuplicateEvent::Early(_) | DuplicateEvent::More | DuplicateEvent::Ignored => {}
        }
    }

    /// Limited transmit by the bytes in flight (RFC 6675 §5 (3.2), (3.3)). It does not wait for the NIC.
    #[cold]
    fn send_limited_by_pipe(&mut self, io: &mut Io) {
        // Data that the windows allow after the ACK leaves first, and does not count as limited transmit.
        self.transmit(io);
        // No segment counts as lost yet, so the pipe is all data that is neither acknowledged nor SACKed.
        let sacked = self.loss.scoreboard().map_or(0, |b| b.sacked());
        while self.congestion.window() + sacked >= self.flight_size() + u32::from(io.cfg.mss) {
            let len = self.next_new_length(io.cfg);
            if len == 0 {
                break;
            }
            self.emit(self.nxt, len, io);
            self.limited += len;
        }
    }

    /// Begins a fast recovery with a retransmission of the first outstanding segment.
    /// See RFC 5681 §3.2 and RFC 6675 §5 (4.1) to (4.3).
    #[cold]
    fn on_lost(&mut self, io: &mut Io) {
        let cfg = io.cfg;
        let end = self.loss.scoreboard().and_then(|b| b.next_hole(self.una)).map_or(self.sent, |hole| hole.end);
        let first = u64::from(cfg.mss).min(end - self.una);
        let lost = LossInfo {
            range: self.una..self.una + first,
            flight: self.flight_size() - self.limited,
            sent: self.sent,
            // RFC 5681 §3.2 step 3 inflates the window by the duplicate ACKs. With a scoreboard, SACKed data leaves the
            // pipe instead.
            left: if cfg.recovery == Recovery::Sack { 0 } else { cfg.dupack_threshold.unwrap_or(0) },
            now: io.now,
        };
        self.loss.begin_recovery(self.sent, self.una + first);
        self.fast_retransmits += 1;
        self.limited = 0;
        self.congestion.on_lost(&lost, cfg);
        self.cwr = cfg.ecn != EcnMode::Off;
        self.emit(self.una, first as u32, io);
    }

    /// Processes a partial ACK (RFC 6582 §3.2 step 3).
    #[cold]
    pub(super) fn on_partial(&mut self, acked: u32, first: bool, io: &mut Io) {
        self.congestion.on_partial(acked, io.cfg);
        let len = u64::from(io.cfg.mss).min(self.sent - self.una) as u32;
        self.emit(self.una, len, io);
        // RFC 6582 §3.2 step 3: only the first partial ACK restarts the timer.
        if first {
            self.rto.restart(io.now, io.cfg);
        }
    }

    /// Sends the segments of NextSeg() while the window exceeds the pipe (RFC 6675 §5 (B.2), (C)).
    #[cold]
    pub(super) fn send_selected_segments(&mut self, io: &mut Io) {
        let (cfg, reach) = (io.cfg, io.cfg.is_lost_params());
        let Some(state) = self.loss.scoreboard() else { return };
        let mut pipe = state.pipe(self.una, self.sent, reach);
        while u64::from(self.congestion.window()) >= pipe + u64::from(cfg.mss) {
            let new = self.next_new_length(cfg);
            let Some(state) = self.loss.scoreboard() else { return };
            let Some(next) = state.next_segment(self.una..self.sent, new > 0, reach) else { return };
            if !self.pacing.may_send() {
                return;
            }
            let recover = self.loss.recovery_point();
            let (start, len) = match next {
                NextSegment::New => (self.nxt, new),
                NextSegment::Again(start, len) | NextSegment::Rescue(start, len) => (start, len),
            };
            if let Some(state) = self.loss.scoreboard_mut() {
                match next {
                    NextSegment::New => {}
                    NextSegment::Again(..) => state.on_retransmitted(start + u64::from(len)),
                    NextSegment::Rescue(..) => state.on_rescued(recover),
                }
            }
            self.emit(start, len, io);
            pipe += u64::from(len);
        }
    }

    /// Returns true if there were so many consecutive timeouts that only probes are sent (pFabric §4.3).
    #[inline]
    pub(super) fn only_probes(&self, cfg: &TcpConfig) -> bool {
        u32::from(self.loss.expiries) >= cfg.probe_after
    }

    /// Sends a probe of pFabric: the first unacknowledged byte.
    #[cold]
    pub(super) fn send_probe(&mut self, io: &mut Io) {
        let rank = if io.cfg.probes_as_data { self.rank(io.cfg) } else { 0 };
        self.emit_ranked(self.una, 1, rank, io);
    }

    /// Processes a retransmission timeout: RFC 6298 (5.4) to (5.6), RFC 5681 §3.1, RFC 6582 §3.2 step 4, RFC 6675 §5.1.
    pub(super) fn on_timeout(&mut self, now: Time, cfg: &TcpConfig) {
        let lost =
            LossInfo { range: self.una..self.nxt, flight: self.flight_at_timeout(cfg), sent: self.sent, left: 0, now };
        // The timer cuts the threshold once for a segment (RFC 5681 §3.1). Linux does not cut it again if a recovery
        // has already cut it for this loss.
        let again = self.loss.expiries > 0 || cfg.is_linux() && self.loss.in_recovery();
        self.congestion.on_timeout(&lost, again, cfg);
        self.loss.on_timeout(self.una, self.sent);
        self.timeouts += 1;
        self.loss.expiries = self.loss.expiries.saturating_add(1);
        self.cwr = cfg.echoes_marks();
        self.limited = 0;
        self.nxt = self.una;
        self.timing.clear();
        self.rto.back_off(now, cfg);
    }

    /// Byte count whose half becomes the slow start threshold at a timeout.
    /// FlightSize includes SACKed bytes (RFC 5681 §2), and exceeds every window while a hole stays open. The pipe
    /// excludes them (RFC 6675 §5).
    fn flight_at_timeout(&self, cfg: &TcpConfig) -> u32 {
        match self.loss.scoreboard() {
            Some(board) if cfg.timeout_halves_pipe => board.pipe(self.una, self.sent, cfg.is_lost_params()) as u32,
            _ => self.flight_size(),
        }
    }
}
