//! Tests of the transports, one per rule of an RFC or paper.

mod application;
mod bounced;
mod bursts;
mod chaos;
mod conformance;
mod cubic;
mod ecn;
mod host;
mod kernel;
mod linux;
mod linux_2_6_38;
mod model_2_6_38;
mod opening;
mod packs;
pub(crate) mod pair;
mod persistent;
mod receiver;
mod recovery;
mod rows;
mod sack;
mod scoreboard;
mod timer;
mod timestamps;
mod window;

use super::{BounceState, Io, Notice, ReleasedPackets, Sender, SenderStats, TcpConfig, segment};
use crate::{ExtensionSlab, PacketExtension, Pkt};
use mech::params::Value;
use pair::{config, flow};
use units::{Amount, Bytes, Dur, Time};

fn packets(n: u64) -> Value {
    Value::Amount(Amount::Packets(n))
}
fn size(n: u64) -> Value {
    Value::Size(Bytes(n))
}
fn word(w: &str) -> Value {
    Value::Word(w.into())
}
fn time(d: Dur) -> Value {
    Value::Time(d)
}

/// Returns the packets that one call of a sender or receiver sends.
fn sent(now: Time, cfg: &TcpConfig, call: impl FnOnce(&mut Io)) -> Vec<Pkt> {
    let mut out = ReleasedPackets::default();
    call(&mut Io { now, cfg, exts: &mut ExtensionSlab::default(), out: &mut out, timers_set: &mut 0 });
    out.take()
}

/// Sender whose ACKs tests write by hand. Segments have 1000 bytes, and are named by their number.
struct SenderHarness {
    cfg: TcpConfig,
    sender: Sender,
    now: Time,
    exts: ExtensionSlab,
    last: Vec<Pkt>,
    bounced: BounceState,
}

impl SenderHarness {
    fn new(kind: &str, set: &[(&str, Value)]) -> SenderHarness {
        SenderHarness::with_flow(1_000_000, kind, set)
    }
    fn with_flow(bytes: u64, kind: &str, set: &[(&str, Value)]) -> SenderHarness {
        let cfg = config(kind, set);
        SenderHarness {
            sender: Sender::new(&flow(bytes), &cfg),
            cfg,
            now: Time::ZERO,
            exts: ExtensionSlab::default(),
            last: vec![],
            bounced: BounceState::default(),
        }
    }
    fn notice(&mut self, notice: &Notice) {
        let mut bounced = self.bounced;
        self.call(|s, io| s.on_notice(notice, &mut bounced, io));
        self.bounced = bounced;
    }
    fn call(&mut self, f: impl FnOnce(&mut Sender, &mut Io)) -> Vec<u32> {
        let mut out = ReleasedPackets::default();
        f(
            &mut self.sender,
            &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 },
        );
        self.last = out.take();
        self.last.iter().map(|p| p.seq / 1000).collect()
    }
    fn start(&mut self) -> Vec<u32> {
        self.call(|s, io| s.start(io))
    }
    fn ack_bytes(&mut self, bytes: u64, ece: bool) -> Vec<u32> {
        let pkt = segment::ack_segment(&flow(0), bytes, ece, &self.cfg);
        self.call(|s, io| s.receive(&pkt, io))
    }
    /// Delivers an ACK of the first `n` segments, and returns the numbers of the segments sent for it.
    fn ack(&mut self, n: u64) -> Vec<u32> {
        self.ack_bytes(n * 1000, false)
    }
    /// Delivers an ACK of the first `n` segments with SACK blocks in segments, the most recent block first.
    fn sack(&mut self, n: u64, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.sack_bytes(n * 1000, &blocks.iter().map(|b| (b.0 * 1000, b.1 * 1000)).collect::<Vec<_>>())
    }
    fn sack_bytes(&mut self, bytes: u64, blocks: &[(u32, u32)]) -> Vec<u32> {
        let mut ext = PacketExtension { blocks: blocks.len() as u8, ..PacketExtension::default() };
        ext.sack[..blocks.len()].copy_from_slice(blocks);
        self.ack_with(bytes, ext)
    }
    fn ack_with(&mut self, bytes: u64, ext: PacketExtension) -> Vec<u32> {
        let ext = self.exts.allocate(ext);
        let pkt = Pkt { ext, ..segment::ack_segment(&flow(0), bytes, false, &self.cfg) };
        let sent = self.call(|s, io| s.receive(&pkt, io));
        self.exts.free(ext);
        sent
    }
    /// Writes bytes of the application, and returns the length of each segment that leaves.
    fn write(&mut self, bytes: u64) -> Vec<u16> {
        self.call(|s, io| s.write(bytes, io));
        self.payloads()
    }
    fn payloads(&self) -> Vec<u16> {
        self.last.iter().map(|p| p.payload).collect()
    }
    fn ack_ece(&mut self, n: u64) -> Vec<u32> {
        self.ack_bytes(n * 1000, true)
    }
    /// Advances time to the timer's expiry, and returns the numbers of the segments sent then.
    fn expire(&mut self) -> Vec<u32> {
        self.now = self.sender.deadline().expect("a timer that runs");
        self.call(|s, io| s.on_timer(io))
    }
    fn wait(&mut self, d: Dur) {
        self.now += d;
    }
    fn stats(&self) -> SenderStats {
        self.sender.stats()
    }
    fn cwnd(&self) -> u32 {
        self.stats().cwnd
    }
    fn ssthresh(&self) -> u32 {
        self.stats().ssthresh
    }
    /// Time from now until the timer expires.
    fn timer_in(&self) -> Option<Dur> {
        self.sender.deadline().map(|at| at - self.now)
    }
}
