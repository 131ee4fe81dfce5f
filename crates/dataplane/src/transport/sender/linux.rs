//! Processing of ACKs at a sender as in Linux 6.18 (`tcp_ack`), with and without SACK.
//!
//! The states of recovery are in `linux_states`. Both files name the kernel functions that they follow.

use super::Sender;
use super::ack_reading::AckReading;
use crate::Pkt;
use crate::transport::clock::tick_length;
use crate::transport::config::Recovery;
use crate::transport::loss::{AckOutcome, Phase, ProbeAck, RackTlp, TimerPurpose};
use crate::transport::{AckInfo, Io, TcpConfig};

/// Contents of an ACK at a Linux sender, and the effects found so far.
pub(super) struct LinuxAck {
    pub outcome: AckOutcome,
    /// True if the ACK acknowledges new data.
    pub advanced: bool,
    /// True if a newer ACK has overtaken this one.
    pub is_old: bool,
    /// True if the ACK opens or moves the receiver's window.
    pub moves_window: bool,
    /// True if the ACK carries ECN-Echo.
    pub ece: bool,
    /// True if the ACK is a PACK, which reports the loss of trimmed data.
    pub is_pack: bool,
    /// Echoed timestamp, if it may undo a cut.
    pub echo: Option<u32>,
    /// SND.UNA before the ACK.
    pub before: u64,
    /// Bytes that the ACK shows to be lost.
    pub lost: u64,
    /// True if the ACK shows a retransmission to be lost.
    pub lost_again: bool,
    /// True if the timer must be set again because of the ACK.
    pub sets_timer: bool,
}

/// Retransmissions that an ACK allows besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowedRetransmissions {
    Nothing,
    /// Lost segments may be sent again.
    Lost,
    /// New data leaves first, to show if a timeout was spurious; lost segments follow only if none could leave.
    New,
}

impl LinuxAck {
    /// Returns the effects of a trimmed header that a switch sent back: a loss, and no acknowledgement.
    fn for_returned_header(outcome: AckOutcome, ece: bool, una: u64) -> LinuxAck {
        LinuxAck {
            outcome,
            advanced: false,
            is_old: false,
            moves_window: false,
            ece,
            is_pack: true,
            echo: None,
            before: una,
            lost: outcome.packed,
            lost_again: false,
            sets_timer: outcome.packed > 0,
        }
    }
    /// Returns true for a plain duplicate ACK: no DSACK, no PACK, no new data or window.
    pub fn is_duplicate(&self) -> bool {
        !self.is_old
            && !self.advanced
            && !self.moves_window
            && self.outcome.acked == 0
            && !self.outcome.duplicate
            && !self.is_pack
    }
}

impl Sender {
    /// Processes an ACK of everything before `ack` as Linux 6.18 does (`tcp_ack`).
    pub(super) fn receive_as_linux(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) {
        let had = r.segments.len() > 0;
        let mut ack = self.read_ack_as_linux(pkt, ack, r, io);
        if ack.is_old {
            // SACK blocks of an old ACK still count (`tcp_ack`, label `old_ack`).
            if has_blocks(pkt, io) {
                let again = self.process_dubious_ack(&mut ack, r, io);
                self.send_lost(again, r, io);
            }
            return self.send_new(r, io);
        }
        if !had {
            // With nothing outstanding a DSACK may still undo a cut (`tcp_ack`, label `no_queue`).
            if ack.outcome.duplicate {
                self.process_dubious_ack(&mut ack, r, io);
            }
            self.process_probe_ack(&ack, r, io);
            return self.send_new(r, io);
        }
        self.process_outstanding_as_linux(ack, r, io);
    }

    /// Updates congestion window, recovery and timers after an ACK while segments are outstanding.
    fn process_outstanding_as_linux(&mut self, mut ack: LinuxAck, r: &mut RackTlp, io: &mut Io) {
        let acked = AckInfo {
            bytes: ack.outcome.delivered as u32,
            open: true,
            rtt: ack.outcome.last_rtt,
            sampled: true,
            ..self.ack_info(ack.ece, io)
        };
        self.congestion.on_sample(&acked, ack.outcome.by_blocks, io.cfg);
        r.update_window();
        self.process_probe_ack(&ack, r, io);
        let tells = ack.outcome.reported || ack.outcome.duplicate || ack.ece || ack.is_pack;
        let is_plain = (ack.moves_window || ack.outcome.acked > 0) && !tells;
        let again = match is_plain && r.phase == Phase::Open {
            true => AllowedRetransmissions::Nothing,
            false => self.process_dubious_ack(&mut ack, r, io),
        };
        if self.una == self.sent {
            r.awaited = TimerPurpose::Retransmission;
            self.rto.stop();
        }
        if ack.sets_timer && self.una < self.sent && !self.schedule_probe(true, r, io) {
            self.rearm_timeout(r, io);
        }
        self.set_window_as_linux(&ack, &acked, r, io.cfg);
        self.set_pacing_rate(r, io.cfg);
        r.outstanding = self.sent - self.una;
        self.send_lost(again, r, io);
        self.send_new(r, io);
    }

    /// Processes a trimmed header that a switch has sent back to the source (Cut Payload §4.4, NDP §3.2.4).
    pub(super) fn process_returned_header(&mut self, outcome: AckOutcome, ece: bool, r: &mut RackTlp, io: &mut Io) {
        let ack = LinuxAck::for_returned_header(outcome, ece, self.una);
        match io.cfg.follows_linux_6_18() {
            true => self.process_outstanding_as_linux(ack, r, io),
            false => self.process_returned_header_2_6_38(ack, r, io),
        }
    }

    /// Processes the contents of an ACK, and takes its round-trip samples.
    fn read_ack_as_linux(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) -> LinuxAck {
        let cfg = io.cfg;
        let has_sack = cfg.recovery == Recovery::Rack;
        let read = self.read_ack((pkt, ack), r, io, |r, input| r.process_ack_as_linux(input, has_sack));
        let AckReading {
            mut outcome,
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
        let moves_window = !is_old && (advanced || self.rwnd > rwnd_before);
        // A round trip below one tick of the timestamps counts as one (`tcp_rtt_tsopt_us`).
        let rtt_by_timestamps = rtt_by_timestamps.filter(|_| outcome.acked > 0).map(|rtt| rtt.max(tick_length(cfg)));
        let sampled = outcome.rtt.or(rtt_by_timestamps).or(outcome.packed_rtt).filter(|_| !is_old);
        if let Some(rtt) = sampled {
            if outcome.rtt.is_none() {
                outcome.last_rtt = Some(rtt);
            }
            self.rto.sample_by_rack(rtt, &mut r.spread, self.una..self.nxt, cfg);
            r.on_rtt_sample(outcome.last_rtt.unwrap_or(rtt));
        }
        // A SACK of data sent before the last sending of the first segment shows that the path still works.
        let head = r.segments.first().map(|s| s.at);
        let is_before = |at| head.is_some_and(|head| at < head);
        let heard = sampled.is_some() && outcome.acked == 0 && outcome.reported_at.is_some_and(is_before);
        let ece = ece || outcome.packed > 0 && self.treats_pack_as_mark(cfg);
        let sets_timer = outcome.acked > 0 || heard || outcome.packed > 0;
        let (lost, lost_again) = (outcome.packed, false);
        let echo = echo.filter(|_| cfg.rack.eifel);
        LinuxAck {
            outcome,
            advanced,
            is_old,
            moves_window,
            ece,
            is_pack,
            echo,
            before: una_before,
            lost,
            lost_again,
            sets_timer,
        }
    }

    /// Processes an ACK of a tail loss probe (`tcp_process_tlp_ack`).
    fn process_probe_ack(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) {
        let bare = ack.is_duplicate() && !ack.outcome.reported;
        let of = ProbeAck { ack: self.una, twice: ack.outcome.probe_twice, bare };
        if !ack.is_old && r.tlp.on_ack(of) {
            self.begin_reduction(true, r, io.cfg);
            self.congestion.end_reduction();
            r.phase = Phase::Reducing;
            self.try_keep_open(r);
        }
    }

    /// Sets the congestion window after an ACK (`tcp_cong_control`).
    fn set_window_as_linux(&mut self, ack: &LinuxAck, acked: &AckInfo, r: &mut RackTlp, cfg: &TcpConfig) {
        if matches!(r.phase, Phase::Reducing | Phase::Recovery) {
            if cfg.rack.prr {
                self.reduce_by_prr(ack.outcome.delivered, ack.advanced && ack.lost == 0, r, cfg);
            }
            return;
        }
        let threshold = self.dupack_threshold(cfg);
        let reorders = threshold.is_some_and(|n| r.reordering_degree(threshold) > n);
        if ack.outcome.acked > 0 || reorders && ack.outcome.reported {
            self.congestion.on_ack(&AckInfo { ece: false, ..*acked }, cfg);
            self.congestion.note_window_change(acked.now);
        }
    }
}

fn has_blocks(pkt: &Pkt, io: &Io) -> bool {
    io.exts.get(pkt.ext).is_some_and(|ext| ext.blocks > 0)
}
