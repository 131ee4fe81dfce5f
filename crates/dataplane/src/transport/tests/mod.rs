//! One test a rule; each names its clause.

mod chaos;
mod conformance;
mod ecn;
mod receiver;
mod recovery;
mod timer;
mod window;

use super::pair::{config, flow};
use super::{Io, Sender, SenderStats, TcpConfig, segment};
use crate::{Exts, Pkt};
use mech::params::Value;
use units::{Amount, Bytes, Dur, Time};

fn packets(n: u64) -> Value {
    Value::Amount(Amount::Packets(n))
}
fn size(n: u64) -> Value {
    Value::Size(Bytes(n))
}
fn time(d: Dur) -> Value {
    Value::Time(d)
}

/// What one call sends.
fn sent(now: Time, cfg: &TcpConfig, call: impl FnOnce(&mut Io)) -> Vec<Pkt> {
    let mut out = vec![];
    call(&mut Io { now, cfg, exts: &mut Exts::default(), out: &mut out });
    out
}

/// A sender whose ACKs are written by hand. Segments are 1000 bytes and named by their number.
struct Hand {
    cfg: TcpConfig,
    sender: Sender,
    now: Time,
    exts: Exts,
    last: Vec<Pkt>,
}

impl Hand {
    fn new(kind: &str, set: &[(&str, Value)]) -> Hand {
        Hand::of(1_000_000, kind, set)
    }
    fn of(bytes: u64, kind: &str, set: &[(&str, Value)]) -> Hand {
        let cfg = config(kind, set);
        Hand { sender: Sender::new(&flow(bytes), &cfg), cfg, now: Time::ZERO, exts: Exts::default(), last: vec![] }
    }
    fn call(&mut self, f: impl FnOnce(&mut Sender, &mut Io)) -> Vec<u32> {
        self.last.clear();
        let io = &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut self.last };
        f(&mut self.sender, io);
        self.last.iter().map(|p| p.seq / 1000).collect()
    }
    fn start(&mut self) -> Vec<u32> {
        self.call(|s, io| s.start(io))
    }
    fn ack_bytes(&mut self, bytes: u64, ece: bool) -> Vec<u32> {
        let pkt = segment::ack(&flow(0), bytes, ece, &self.cfg);
        self.call(|s, io| s.receive(&pkt, io))
    }
    /// An ACK of the first `n` segments; the numbers of the segments that it sends.
    fn ack(&mut self, n: u64) -> Vec<u32> {
        self.ack_bytes(n * 1000, false)
    }
    fn ack_ece(&mut self, n: u64) -> Vec<u32> {
        self.ack_bytes(n * 1000, true)
    }
    /// Lets the timer expire.
    fn expire(&mut self) -> Vec<u32> {
        self.now = self.sender.deadline().expect("a timer that runs");
        self.call(|s, io| s.timer(io))
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
    /// How long from now until the timer expires.
    fn timer_in(&self) -> Option<Dur> {
        self.sender.deadline().map(|at| at - self.now)
    }
}
