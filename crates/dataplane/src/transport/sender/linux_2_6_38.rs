//! Processing of ACKs at a sender as in Linux 2.6.38 (`tcp_ack`).
//!
//! The states of recovery are in `states`, timeouts and F-RTO in `timeouts`, transmission in `transmit`. All files name
//! the kernel functions that they follow.
//!
//! Counts are in segments, since only the last segment of a flow is shorter than the others.

mod states;
mod timeouts;
mod transmit;

use super::Sender;
use super::ack_reading::AckReading;
use super::linux::LinuxAck;
use crate::Pkt;
use crate::transport::congestion::DctcpAck;
use crate::transport::loss::{Phase, RackTlp, TimerPurpose};
use crate::transport::metrics_cache::{EndedConnection, Metrics};
use crate::transport::{Io, TcpConfig};
use units::Dur;

impl Sender {
    /// Takes the duration of the handshake as first sample (RFC 6298 (2.2)), and the estimate of an earlier connection.
    pub(super) fn on_handshake_2_6_38(&mut self, rtt: Dur, r: &mut RackTlp, cfg: &TcpConfig) {
        if !cfg.timestamps {
            return;
        }
        let (clock, floor) = (cfg.host_ticks(self.flow.src), self.min_rto_ticks(cfg));
        r.ticks.sample(rtt.0 / clock.every.0, floor, &(self.una..self.nxt));
        let (srtt, mdev) = r.fack.recalled;
        r.ticks.raise_from_metrics(srtt, mdev, floor, self.nxt);
        self.rto.set_estimate(&r.ticks, clock, cfg);
    }

    /// Starts the connection with the measurements of earlier connections to the destination (`tcp_init_metrics`).
    pub(crate) fn apply_metrics(&mut self, of: &Metrics, cfg: &TcpConfig) {
        let of = of.in_ticks(cfg.tick);
        if of.ssthresh > 0 {
            self.congestion.recall_threshold(of.ssthresh, cfg.mss.into());
        }
        self.with_rack_tlp(|s, r| {
            if of.reordering > 0 {
                r.raise_reordering_degree(of.reordering, 0, cfg.sack_rules().most_reordering);
                s.disable_fack(r, cfg);
            }
            if of.srtt > 0 {
                r.fack.recalled = (of.srtt, of.rttvar);
            }
        });
    }

    /// Updates the entry of the destination with the measurements of this connection (`tcp_update_metrics`).
    pub(crate) fn update_metrics(&self, of: &mut Metrics, cfg: &TcpConfig) {
        let Some(r) = self.loss.rack_tlp() else { return };
        *of = of.in_ticks(cfg.tick);
        let mss = u32::from(cfg.mss);
        let threshold = self.congestion.ssthresh();
        let estimate = cfg.host_ticks(self.flow.src).time_of(r.ticks.timeout()).min(cfg.max_rto);
        of.update(&EndedConnection {
            rtt: r.ticks,
            cwnd: self.congestion.window_segments(mss),
            ssthresh: (threshold < cfg.initial_ssthresh).then_some(threshold / mss),
            is_open: r.phase == Phase::Open,
            is_backed_off: self.rto.timeout(cfg) > estimate,
            reordering: self.reordering_degree(r, cfg),
            least_reordering: self.dupack_threshold(cfg).unwrap_or(u32::MAX),
        });
    }

    /// Minimum RTO in ticks.
    fn min_rto_ticks(&self, cfg: &TcpConfig) -> u64 {
        cfg.host_ticks(self.flow.src).ticks_of(cfg.min_rto)
    }

    /// Degree of reordering (`tp->reordering`): DupThresh, or more after reordering.
    fn reordering_degree(&self, r: &RackTlp, cfg: &TcpConfig) -> u32 {
        r.reordering_degree(self.dupack_threshold(cfg))
    }

    fn has_sack(cfg: &TcpConfig) -> bool {
        cfg.recovery.has_sack()
    }

    /// Processes an ACK of everything before `ack` as Linux 2.6.38 does (`tcp_ack`).
    pub(super) fn receive_2_6_38(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) {
        let (had, in_flight) = (r.segments.len() > 0, r.segments.in_flight());
        let ack = self.read_ack_2_6_38(pkt, ack, r, io);
        self.disable_fack(r, io.cfg);
        if ack.is_old {
            if r.phase == Phase::Open {
                self.try_keep_open_2_6_38(r);
            }
            return self.send_new(r, io);
        }
        self.congestion.update_estimate(&self.dctcp_ack(&ack), io.cfg);
        match had {
            true => self.update_after_ack(ack, in_flight, r, io),
            false => self.send_new(r, io),
        }
    }

    /// Processes a trimmed header that a switch has sent back to the source (Cut Payload §4.4, NDP §3.2.4).
    pub(super) fn process_returned_header_2_6_38(&mut self, ack: LinuxAck, r: &mut RackTlp, io: &mut Io) {
        let in_flight = r.segments.in_flight();
        self.update_after_ack(ack, in_flight, r, io);
    }

    fn dctcp_ack(&self, ack: &LinuxAck) -> DctcpAck {
        let bytes = self.una - ack.before;
        DctcpAck { una: self.una, nxt: self.nxt, bytes, ece: ack.ece, opens_window: ack.moves_window }
    }

    /// Processes the contents of an ACK, and takes its round-trip sample.
    fn read_ack_2_6_38(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) -> LinuxAck {
        let cfg = io.cfg;
        let has_sack = Sender::has_sack(cfg);
        let read = self.read_ack((pkt, ack), r, io, |r, input| r.process_ack_as_linux(input, has_sack));
        let AckReading {
            outcome,
            rtt_by_timestamps,
            echo,
            advanced,
            is_old,
            ece,
            is_pack,
            una_before,
            rwnd_before,
            ..
        } = read;
        // Timestamps give a sample even for a retransmission. Without timestamps only data sent once gives a sample
        // (`tcp_ack_update_rtt`).
        let sample = match cfg.timestamps {
            true => rtt_by_timestamps,
            false => outcome.acked_at.filter(|_| !outcome.again_acked).map(|(first, _)| self.since_in_ticks(first, io)),
        };
        let sample = sample.filter(|_| outcome.acked > 0).or(outcome.packed_rtt).filter(|_| !is_old);
        if let Some(rtt) = sample {
            let (clock, floor) = (cfg.host_ticks(self.flow.src), self.min_rto_ticks(cfg));
            r.ticks.sample(rtt.0 / clock.every.0, floor, &(self.una..self.nxt));
            self.rto.set_estimate(&r.ticks, clock, cfg);
        }
        LinuxAck {
            outcome,
            advanced,
            is_old,
            moves_window: !is_old && (advanced || self.rwnd > rwnd_before),
            ece: ece || outcome.packed > 0 && self.treats_pack_as_mark(cfg),
            is_pack,
            echo: echo.filter(|_| cfg.rack.eifel),
            before: una_before,
            lost: outcome.packed,
            lost_again: false,
            sets_timer: outcome.acked > 0 || outcome.packed > 0,
        }
    }

    /// Returns the time since `at`, in whole ticks of the host's clock.
    fn since_in_ticks(&self, at: units::Time, io: &Io) -> Dur {
        let clock = io.cfg.host_ticks(self.flow.src);
        clock.time_of(clock.ticks_at(io.now) - clock.ticks_at(at))
    }

    /// Turns forward acknowledgements off if the degree of reordering exceeds DupThresh.
    fn disable_fack(&self, r: &mut RackTlp, cfg: &TcpConfig) {
        if self.dupack_threshold(cfg).is_some_and(|threshold| r.reordering_degree(Some(threshold)) > threshold) {
            r.fack.is_off = true;
        }
    }

    /// Updates timer, F-RTO, window and recovery after an ACK; `in_flight` counts segments in flight before it.
    fn update_after_ack(&mut self, ack: LinuxAck, in_flight: u32, r: &mut RackTlp, io: &mut Io) {
        let acked = ack.outcome.acked > 0;
        if self.una == self.sent {
            r.awaited = TimerPurpose::Retransmission;
            self.rto.stop();
        } else if ack.sets_timer {
            r.awaited = TimerPurpose::Retransmission;
            self.rearm_timeout(r, io);
        }
        if acked && r.phase == Phase::Open {
            self.congestion.note_acked(ack.outcome.acked);
        }
        let asks = r.fack.frto > 0 && self.process_frto(&ack, r, io);
        if r.fack.highmark < self.una {
            r.fack.highmark = 0;
        }
        let tells = ack.outcome.reported || ack.ece || ack.is_pack;
        let is_dubious = !ack.moves_window && !acked || tells || r.phase != Phase::Open;
        let is_held = ack.ece && self.congestion.window() >= self.congestion.ssthresh() || Sender::is_reducing(r);
        if acked && !asks && !(is_dubious && is_held) {
            self.congestion.grow(in_flight, self.reordering_degree(r, io.cfg), io.now, io.cfg);
        }
        if is_dubious {
            self.process_dubious_ack_2_6_38(&ack, r, io);
        }
        self.send_new(r, io);
    }
}
