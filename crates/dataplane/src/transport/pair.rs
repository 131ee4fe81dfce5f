//! The test bench: one sender and one receiver in simulated time over a scripted network.

use super::{FlowInfo, Io, Receiver, SPECS, Sender, TcpConfig};
use crate::{Exts, Framing, NO_EXT, Pkt};
use mech::params::{Kind, Value, Values};
use mech::{Ecn, Flags, Purpose, Stream};
use std::collections::BTreeMap;
use units::{Bytes, Dur, Time};

/// A direction of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Data,
    Ack,
}

/// What the network does to one emission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Lose,
    Late(Dur),
    Twice,
    Mark,
}

/// Faults at random, in percent of packets of both directions.
#[derive(Clone, Debug)]
pub struct Chaos {
    pub stream: Stream,
    pub lose: u64,
    pub late: u64,
    pub twice: u64,
    pub mark: u64,
}

/// Both ends and what is between them.
#[derive(Clone, Debug)]
pub struct Pair {
    pub cfg: TcpConfig,
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// One-way delay, and the least time between two data packets (the bottleneck's).
    pub delay: Dur,
    pub gap: Dur,
    pub script: Vec<(Way, u32, Fault)>,
    pub chaos: Option<Chaos>,
    /// Everything emitted, in order.
    pub data: Vec<Pkt>,
    pub acks: Vec<Pkt>,
    /// When the sender's timer was called, and what the network did.
    pub expiries: Vec<Time>,
    pub lost: u32,
    pub copied: u32,
    pub delivered: u32,
    pub exts: Exts,
    wire: BTreeMap<(Time, u64), (Way, Pkt)>,
    serial: u64,
    free: Time,
    /// One past the highest byte sent.
    highest: u64,
}

/// Values of a transport: the declared defaults and, over them, `set`.
pub fn values(kind: &str, set: &[(&str, Value)]) -> Values {
    let spec = SPECS.iter().find(|s| s.kind == kind).unwrap();
    let mut all = Values::default();
    for p in spec.params {
        let text = p.default.unwrap();
        let value = match p.kind {
            Kind::Flag => Value::Flag(text.parse().unwrap()),
            Kind::Count { .. } | Kind::CountOrOff { .. } => Value::Count(text.parse().unwrap()),
            Kind::Number { .. } => Value::Number(text.parse().unwrap()),
            Kind::Time { .. } => Value::Time(units::parse_dur(text).unwrap()),
            Kind::Amount { .. } => Value::Amount(units::parse_amount(text).unwrap()),
            Kind::Size { .. } => Value::Size(units::parse_bytes(text).unwrap()),
            Kind::Choice(_) => Value::Word(text.into()),
            other => panic!("no transport has a parameter of {other:?}"),
        };
        all.0.insert(p.name.into(), value);
    }
    for (name, value) in set {
        assert!(all.0.insert((*name).into(), value.clone()).is_some(), "no parameter {name}");
    }
    all
}

/// A configuration with segments of 1000 bytes.
pub fn config(kind: &str, set: &[(&str, Value)]) -> TcpConfig {
    let mut values = values(kind, set);
    values.0.insert("mss".into(), Value::Size(Bytes(1000)));
    TcpConfig::new(kind, &values, Framing::ETHERNET).unwrap()
}

/// A flow of so many bytes.
pub fn flow(bytes: u64) -> FlowInfo {
    let (src, dst) = (mech::HostId(3), mech::HostId(8));
    FlowInfo { flow: mech::FlowId(5), src, dst, hash: 77, back_hash: 99, bytes, class: 2 }
}

impl Pair {
    /// At rest, 50 us apart, 10 us a data packet.
    pub fn new(bytes: u64, cfg: TcpConfig) -> Pair {
        Pair {
            sender: Sender::new(&flow(bytes), &cfg),
            receiver: Receiver::new(&flow(bytes), &cfg),
            cfg,
            now: Time::ZERO,
            delay: Dur::us(50),
            gap: Dur::us(10),
            script: vec![],
            chaos: None,
            data: vec![],
            acks: vec![],
            expiries: vec![],
            lost: 0,
            copied: 0,
            delivered: 0,
            exts: Exts::default(),
            wire: BTreeMap::new(),
            serial: 0,
            free: Time::ZERO,
            highest: 0,
        }
    }
    /// Adds a fault to the n-th emission of a direction.
    pub fn fault(mut self, way: Way, emission: u32, fault: Fault) -> Pair {
        self.script.push((way, emission, fault));
        self
    }
    /// From the start until every byte is acknowledged and the network is empty.
    pub fn run(mut self) -> Pair {
        let mut out = vec![];
        self.sender.start(&mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out });
        self.emit(out);
        for _ in 0..2_000_000 {
            if !self.step() {
                return self;
            }
        }
        panic!("the flow does not end: {:?}", self.sender.stats());
    }
    /// The next event; false where there is none. The network comes before timers.
    fn step(&mut self) -> bool {
        let wire = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let [sender, receiver] = [self.sender.deadline(), self.receiver.deadline()].map(|d| d.unwrap_or(Time::NEVER));
        let next = wire.min(sender).min(receiver);
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "time goes back");
        self.now = next;
        let mut out = vec![];
        let io = &mut Io { now: next, cfg: &self.cfg, exts: &mut self.exts, out: &mut out };
        if wire == next {
            let (_, (way, pkt)) = self.wire.pop_first().unwrap();
            self.delivered += 1;
            match way {
                Way::Data => self.receiver.receive(&pkt, io),
                Way::Ack => self.sender.receive(&pkt, io),
            }
            io.exts.give(pkt.ext);
        } else if sender == next {
            self.expiries.push(next);
            self.sender.timer(io);
        } else {
            self.receiver.timer(io);
        }
        self.emit(out);
        self.check();
        true
    }
    /// What holds at every instant.
    fn check(&self) {
        let s = self.sender.stats();
        assert!(s.acked <= self.receiver.received() && self.receiver.received() <= self.highest);
        assert!(self.sender.done() || self.sender.deadline().is_some() || s.next == s.acked, "nothing would wake it");
        let emitted = (self.data.len() + self.acks.len()) as u32;
        assert_eq!(emitted + self.copied, self.delivered + self.lost + self.wire.len() as u32);
    }
    fn emit(&mut self, out: Vec<Pkt>) {
        for pkt in out {
            let way = if pkt.head.flags.has(Flags::PAYLOAD) { Way::Data } else { Way::Ack };
            let so_far = if way == Way::Data { &mut self.data } else { &mut self.acks };
            assert_eq!(pkt.emission as usize, so_far.len());
            assert_eq!(pkt.sent, self.now);
            so_far.push(pkt);
            if way == Way::Data {
                self.check_data(&pkt);
            }
            self.carry(way, pkt);
        }
    }
    /// New data follows what was sent and never exceeds min(cwnd, rwnd) (RFC 5681 §3.1), limited
    /// transmit aside; what was sent before says so.
    fn check_data(&mut self, pkt: &Pkt) {
        let s = self.sender.stats();
        let start = super::unwrap(pkt.seq, s.acked).unwrap();
        assert_eq!(pkt.head.flags.has(Flags::RETRANSMIT), start < self.highest);
        let end = start + u64::from(pkt.payload);
        if start >= self.highest {
            assert_eq!(start, self.highest);
            let limit = s.cwnd + if self.cfg.limited_transmit { 2 * u32::from(self.cfg.mss) } else { 0 };
            assert!(end - s.acked <= u64::from(limit.min(s.rwnd)), "{} bytes with {s:?}", end - s.acked);
        }
        self.highest = self.highest.max(end);
    }
    fn carry(&mut self, way: Way, mut pkt: Pkt) {
        let mut at = self.now + self.delay;
        if way == Way::Data {
            self.free = self.free.max(self.now) + self.gap;
            at = self.free + self.delay;
        }
        let mut faults: Vec<Fault> =
            self.script.iter().filter(|(w, n, _)| (*w, *n) == (way, pkt.emission)).map(|(_, _, f)| *f).collect();
        if let Some(c) = &mut self.chaos {
            let mut hit = |percent| c.stream.below(100) < percent;
            let hits = [hit(c.lose), hit(c.late), hit(c.twice), hit(c.mark)];
            let late = Fault::Late(Dur::us(c.stream.below(400)));
            let kinds = [Fault::Lose, late, Fault::Twice, Fault::Mark];
            faults.extend(hits.iter().zip(kinds).filter(|(hit, _)| **hit).map(|(_, f)| f));
        }
        let mut copies = 1;
        for fault in faults {
            match fault {
                Fault::Lose => copies = 0,
                Fault::Late(by) => at += by,
                Fault::Twice if copies == 1 => copies = 2,
                Fault::Mark if pkt.head.is_ect() => pkt.head.set_ecn(Ecn::Ce),
                Fault::Twice | Fault::Mark => {}
            }
        }
        self.lost += u32::from(copies == 0);
        self.copied += u32::from(copies == 2);
        let ext = self.exts.get(pkt.ext).copied();
        for copy in 0..copies {
            // Each copy that arrives has an extension of its own.
            let own = if copy == 0 { pkt.ext } else { ext.map_or(NO_EXT, |ext| self.exts.take(ext)) };
            self.wire.insert((at, self.serial), (way, Pkt { ext: own, ..pkt }));
            self.serial += 1;
        }
        if copies == 0 {
            self.exts.give(pkt.ext);
        }
    }
    /// The numbers of the segments of 1000 bytes that were sent, in order.
    pub fn segments(&self) -> Vec<u32> {
        self.data.iter().map(|p| p.seq / 1000).collect()
    }
}

/// A chaos of its own for each seed.
pub fn chaos(seed: u64, lose: u64) -> Chaos {
    Chaos { stream: Stream::new(seed, 0, Purpose::Custom(0)), lose, late: 10, twice: 3, mark: 10 }
}
