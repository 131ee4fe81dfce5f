//! Facts that a sender has learned about its peer from ACKs and their options.

use super::Sender;
use crate::transport::config::{CongestionKind, Recovery};
use crate::transport::{Io, TcpConfig, clock};
use units::Dur;

/// Set of facts that a sender knows about its peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerFacts(u8);

impl PeerFacts {
    /// Returns the facts known at the start: those agreed on when an established connection was opened.
    pub fn initial(cfg: &TcpConfig) -> PeerFacts {
        PeerFacts(if cfg.supports_packs() && !cfg.handshake { PeerFacts::PACK } else { 0 })
    }
    /// A timestamp was received.
    pub const STAMP: u8 = 1;
    /// An ACK was received since the application wrote; kept only with `tail_on_ack`.
    pub const ACK: u8 = 2;
    /// The peer supports PACK (Cut Payload §4.3).
    pub const PACK: u8 = 4;

    pub fn has(self, what: u8) -> bool {
        self.0 & what != 0
    }
    pub fn set(&mut self, what: u8) {
        self.0 |= what;
    }
    pub fn clear(&mut self, what: u8) {
        self.0 &= !what;
    }
}

impl Sender {
    /// Returns the TSval of a segment sent now. Linux 2.6.38 counts the ticks of its host, from 1 on, since 0 means no
    /// timestamp.
    #[inline]
    pub(super) fn current_tsval(&self, io: &Io) -> u32 {
        match io.cfg.follows_linux_2_6_38() {
            true => (io.cfg.host_ticks(self.flow.src).ticks_at(io.now) + 1) as u32,
            false => clock::tsval(io.now, io.cfg),
        }
    }

    /// Processes the TCP options of an ACK.
    /// Returns true if it newly SACKs data, and the round-trip time by its timestamps. The latter counts only if the
    /// ACK acknowledges new data (RFC 7323 §4.1).
    #[inline(never)]
    pub(super) fn process_options(&mut self, ext: u32, ack: u64, io: &Io) -> (bool, Option<Dur>) {
        let Some(ext) = io.exts.get(ext) else { return (false, None) };
        let mut rtt = None;
        if let Some(stamps) = ext.timestamps.filter(|_| io.cfg.timestamps) {
            // RFC 7323 §5.5: after a silence this long, timestamps can no longer be compared.
            let silent = io.now.since(self.last_sent).0 / clock::tick_length(io.cfg).0 >= clock::COMPARABLE_TICKS;
            if silent || !self.peer_facts.has(PeerFacts::STAMP) || !clock::is_older(stamps.val, self.peer_clock) {
                self.peer_clock = stamps.val;
                self.peer_facts.set(PeerFacts::STAMP);
            }
            let ticks = self.current_tsval(io).wrapping_sub(stamps.ecr);
            rtt = Some(Dur(u64::from(ticks).saturating_mul(clock::tick_length(io.cfg).0)));
        }
        let new = io.cfg.recovery == Recovery::Sack
            && !self.keeps_segments(io.cfg)
            && self.loss.on_blocks(ext, ack, self.una, self.sent);
        // pFabric: any new acknowledgement ends probing.
        if new && io.cfg.law == CongestionKind::PFabric {
            self.loss.expiries = 0;
        }
        (new, rtt)
    }
}
