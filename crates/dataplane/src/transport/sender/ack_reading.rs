//! Processing of an ACK's contents at senders that find losses by time, by RFC 8985 or as in Linux.

use super::Sender;
use crate::transport::config::EcnMode;
use crate::transport::loss::{AckInput, AckOutcome, PackBlocks, RackTlp, reports_duplicate};
use crate::transport::{Io, clock};
use crate::{NO_EXT, Pkt};
use mech::Flags;
use units::Dur;

/// Contents of an ACK, after the receiver's window and the list of segments were updated with them.
pub(super) struct AckReading {
    pub outcome: AckOutcome,
    /// Round-trip time measured by the echoed timestamp.
    pub rtt_by_timestamps: Option<Dur>,
    /// Echoed timestamp.
    pub echo: Option<u32>,
    /// True if the ACK acknowledges new data.
    pub advanced: bool,
    /// True if a newer ACK has overtaken this one.
    pub is_old: bool,
    /// True if the ACK carries ECN-Echo.
    pub ece: bool,
    /// True if the ACK is a PACK, which reports trimmed data (Cut Payload §4.4).
    pub is_pack: bool,
    /// SND.UNA before this ACK.
    pub una_before: u64,
    /// Receiver's window before this ACK, in bytes.
    pub rwnd_before: u32,
    /// Bytes in flight before this ACK, without probes.
    pub flight: u64,
}

impl Sender {
    /// Processes the contents of an ACK; `update_segments` passes its SACK blocks to the list of segments.
    pub(super) fn read_ack(
        &mut self,
        (pkt, ack): (&Pkt, u64),
        r: &mut RackTlp,
        io: &mut Io,
        update_segments: impl FnOnce(&mut RackTlp, &AckInput) -> AckOutcome,
    ) -> AckReading {
        let cfg = io.cfg;
        let rtt_by_timestamps = if pkt.ext == NO_EXT { None } else { self.process_options(pkt.ext, ack, io).1 };
        let ext = io.exts.get(pkt.ext).copied().unwrap_or_default();
        let echo = ext.timestamps.filter(|_| cfg.timestamps).map(|stamps| stamps.ecr);
        let (una_before, rwnd_before) = (self.una, self.rwnd);
        let is_old = ack < self.una;
        let ece = !is_old && cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE);
        // RFC 9293 §3.10.7.4: an old ACK does not change the window.
        self.rwnd = if is_old { self.rwnd } else { u32::from(pkt.window) << cfg.peer_shift };
        self.echoes += u32::from(ece);
        self.max_rwnd = self.max_rwnd.max(self.rwnd);
        let flight = r.segments.flight();
        let blocks = PackBlocks::from_ext(&ext);
        let input = AckInput {
            now: io.now,
            ack,
            una: self.una,
            sent: self.sent,
            recover: self.loss.recovery_point(),
            mss: u32::from(cfg.mss),
            blocks: blocks.received_blocks(),
            duplicate: reports_duplicate(blocks.received_blocks(), ack),
            echo: echo.map(|echo| (echo, clock::tick_length(cfg))),
            retransmissions: self.retransmissions,
            rules: cfg.sack_rules(),
        };
        let mut outcome = update_segments(r, &input);
        let is_pack = pkt.head.flags.has(Flags::PPL) && self.supports_packs();
        if is_pack {
            r.on_pack(&blocks, ack, (self.una.max(ack), io.now), &mut outcome);
        }
        self.loss.set_sacked_bytes(r.segments.sacked_bytes());
        let advanced = ack > self.una;
        if advanced {
            self.una = ack;
            self.loss.expiries = 0;
        }
        AckReading { outcome, rtt_by_timestamps, echo, advanced, is_old, ece, is_pack, una_before, rwnd_before, flight }
    }
}
