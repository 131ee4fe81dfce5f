//! Test bench: one sender and one receiver in simulated time over a scripted network.
//!
//! The network can lose, delay, duplicate and mark any emission that a test names, or random ones.
//!
//! The bench is independent of the transport's code: it calls both ends, carries packets, and compares the traffic with
//! counters of its own ([`ObservedWindows`]). It checks at every step:
//! - New data follows the data sent before, and stays inside the windows.
//! - Data that is known to have arrived is not sent again, unless the timer has expired since.
//! - No packet and no extension appears or vanishes.
//! - The advertised right edge never moves back.

mod observed;

use crate::transport::{BounceState, FlowInfo, Io, Notice, Receiver, ReleasedPackets, SPECS, Sender, TcpConfig};
use crate::{ExtensionSlab, Framing, NO_EXT, PacketExtension, Pkt};
use mech::params::{Param, ParamKind, Value, Values};
use mech::{Ecn, Flags, Stream};
use observed::ObservedWindows;
use std::collections::BTreeMap;
use units::{Bytes, Dur, Time};

/// Direction of a packet of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Data,
    Ack,
}

/// Fault of the network that one emitted packet meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Lose,
    Late(Dur),
    Twice,
    Mark,
    /// Trimming of the payload at a switch, if there is any and the packet allows it; the header gets class 6.
    Cut,
    /// Return to the sender's host, which sends the packet again: it arrives two delays later.
    Back,
}

/// Random faults, in percent of the packets of both directions.
#[derive(Clone, Debug)]
pub struct Chaos {
    pub stream: Stream,
    pub lose: u64,
    pub late: u64,
    pub twice: u64,
    pub mark: u64,
    pub cut: u64,
}

/// Packet as a sender or a receiver emitted it, with its extension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emitted {
    pub way: Direction,
    pub pkt: Pkt,
    pub ext: PacketExtension,
}

/// Test bench: a sender, a receiver, and the network between them.
#[derive(Clone, Debug)]
pub struct Pair {
    pub cfg: TcpConfig,
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// Delay of the network in one direction, and the bottleneck's shortest time between two data packets.
    pub delay: Dur,
    pub gap: Dur,
    /// Faults of the network at the n-th emission of a direction.
    pub script: Vec<(Direction, u32, Fault)>,
    /// Faults of the network at the n-th sending of the segment that begins at a byte.
    pub sendings: Vec<(u64, u32, Fault)>,
    pub chaos: Option<Chaos>,
    /// All emitted packets in order, if they are logged.
    pub log: Option<Vec<Emitted>>,
    /// All emitted packets in order, by direction.
    pub data: Vec<Pkt>,
    pub acks: Vec<Pkt>,
    /// Times at which the sender's timer was called, and counts of the network's faults.
    pub expiries: Vec<Time>,
    pub lost: u32,
    pub copied: u32,
    pub cut: u32,
    pub delivered: u32,
    /// Time at which the last byte arrived.
    pub completed: Option<Time>,
    pub exts: ExtensionSlab,
    wire: BTreeMap<(Time, u64), (Direction, Pkt)>,
    /// Bounced packets on their way to the sender's host, as bytes of payload.
    back: BTreeMap<(Time, u64), u16>,
    bounced: BounceState,
    serial: u64,
    free: Time,
    /// End of the data sent so far, one past its highest byte.
    highest: u64,
    told: ObservedWindows,
    /// Number of packets in flight that carry an extension.
    carrying: usize,
    /// End of the data that the receiver's windows allowed, one past its last byte.
    edge: u64,
}

/// Returns the parameter values of a transport: the declared defaults, overridden by `set`.
pub fn values(kind: &str, set: &[(&str, Value)]) -> Values {
    let spec = SPECS.iter().find(|s| s.kind == kind).unwrap();
    let mut all = Values::default();
    for p in spec.params {
        all.0.insert(p.name.into(), value(p, p.default.unwrap()));
    }
    for (name, value) in set {
        assert!(all.0.insert((*name).into(), value.clone()).is_some(), "no parameter {name}");
    }
    all
}

/// Returns a parameter's value from text, as a scenario writes it.
pub fn value(param: &Param, text: &str) -> Value {
    match param.kind {
        ParamKind::Flag => Value::Flag(text.parse().expect(param.name)),
        ParamKind::CountOrOff { .. } if text == "off" => Value::Off,
        ParamKind::Count { .. } | ParamKind::CountOrOff { .. } => Value::Count(text.parse().expect(param.name)),
        ParamKind::Number { .. } => Value::Number(text.parse().expect(param.name)),
        ParamKind::Time { .. } => Value::Time(units::parse_dur(text).expect(param.name)),
        ParamKind::Amount { .. } => Value::Amount(units::parse_amount(text).expect(param.name)),
        ParamKind::Size { .. } => Value::Size(units::parse_bytes(text).expect(param.name)),
        ParamKind::Choice(words) if words.contains(&text) => Value::Word(text.into()),
        other => panic!("{}: `{text}` is none of {other:?}", param.name),
    }
}

/// Returns a configuration with segments of 1000 bytes.
pub fn config(kind: &str, set: &[(&str, Value)]) -> TcpConfig {
    let mut values = values(kind, set);
    values.0.insert("mss".into(), Value::Size(Bytes(1000)));
    TcpConfig::new(kind, &values, Framing::ETHERNET).unwrap()
}

/// Returns a flow of this many bytes.
pub fn flow(bytes: u64) -> FlowInfo {
    let (src, dst) = (mech::HostId(3), mech::HostId(8));
    FlowInfo { flow: mech::FlowId(5), src, dst, hash: 77, back_hash: 99, bytes, class: 2, code_point: 0, row: 0 }
}

impl Pair {
    /// Creates an idle sender and receiver 50 us apart, with 10 us per data packet.
    pub fn new(bytes: u64, cfg: TcpConfig) -> Pair {
        let edge = if cfg.handshake { 0 } else { u64::from(cfg.receive_window) };
        Pair {
            sender: Sender::new(&flow(bytes), &cfg),
            receiver: Receiver::new(&flow(bytes), &cfg),
            cfg,
            now: Time::ZERO,
            delay: Dur::us(50),
            gap: Dur::us(10),
            script: vec![],
            sendings: vec![],
            chaos: None,
            log: None,
            data: vec![],
            acks: vec![],
            expiries: vec![],
            lost: 0,
            copied: 0,
            cut: 0,
            delivered: 0,
            completed: None,
            exts: ExtensionSlab::default(),
            wire: BTreeMap::new(),
            back: BTreeMap::new(),
            bounced: BounceState::default(),
            serial: 0,
            free: Time::ZERO,
            highest: 0,
            told: ObservedWindows { edge, ..ObservedWindows::default() },
            carrying: 0,
            edge: 0,
        }
    }
    /// Adds a network fault to the n-th emission of a direction.
    pub fn fault(mut self, way: Direction, emission: u32, fault: Fault) -> Pair {
        self.script.push((way, emission, fault));
        self
    }
    /// Adds a network fault to the n-th sending, from 0, of a full segment.
    pub fn fault_at(mut self, segment: u64, sending: u32, fault: Fault) -> Pair {
        self.sendings.push((segment * u64::from(self.cfg.mss), sending, fault));
        self
    }
    /// Runs from the start until no timer runs and the network is empty.
    pub fn run(mut self) -> Pair {
        let mut out = ReleasedPackets::default();
        self.sender.start(&mut Io {
            now: self.now,
            cfg: &self.cfg,
            exts: &mut self.exts,
            out: &mut out,
            timers_set: &mut 0,
        });
        self.emit(out.take());
        for _ in 0..2_000_000 {
            if !self.step() {
                assert_eq!(self.exts.live_count(), 0, "extensions are kept");
                return self;
            }
        }
        panic!("the flow does not end: {:?}", self.sender.stats());
    }
    /// Processes the next event, and returns false if there is none. At one instant, arrivals come before timers.
    fn step(&mut self) -> bool {
        self.hand_back();
        let wire = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let [sender, receiver] = [self.sender.deadline(), self.receiver.deadline()].map(|d| d.unwrap_or(Time::NEVER));
        let next = wire.min(sender).min(receiver);
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "time goes back");
        self.now = next;
        let (mut out, mut probes) = (ReleasedPackets::default(), false);
        let io = &mut Io { now: next, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 };
        if wire == next {
            let (_, (way, pkt)) = self.wire.pop_first().unwrap();
            self.delivered += 1;
            self.carrying -= usize::from(pkt.ext != NO_EXT);
            match way {
                Direction::Data => self.receiver.receive(&pkt, io),
                Direction::Ack => {
                    self.told.ack(&pkt, io.exts.get(pkt.ext), self.highest, self.cfg.window_shift);
                    self.sender.receive(&pkt, io);
                }
            }
            io.exts.free(pkt.ext);
        } else if sender == next {
            let before = self.sender.stats();
            self.expiries.push(next);
            self.sender.on_timer(io);
            let after = self.sender.stats();
            if after.timeouts > before.timeouts {
                self.told.forget();
            }
            probes = after.tlp_probes > before.tlp_probes;
        } else {
            self.receiver.on_timer(io);
        }
        if self.completed.is_none() && self.receiver.is_complete() {
            self.completed = Some(next);
        }
        // Linux probes with the last segment, even if it is SACKed.
        let told = (probes && self.cfg.follows_linux_6_18()).then(|| core::mem::take(&mut self.told.sacked));
        self.emit(out.take());
        self.told.sacked = told.unwrap_or_else(|| core::mem::take(&mut self.told.sacked));
        self.check();
        true
    }
    /// Notifies the sender of bounced packets that come back before the next event.
    fn hand_back(&mut self) {
        let next = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let next = self.sender.deadline().into_iter().fold(next, Time::min);
        while let Some(back) = self.back.first_entry().filter(|back| back.key().0 <= next) {
            let ((at, _), payload) = back.remove_entry();
            if !self.sender.is_done() {
                let io = Io {
                    now: at,
                    cfg: &self.cfg,
                    exts: &mut self.exts,
                    out: &mut ReleasedPackets::default(),
                    timers_set: &mut 0,
                };
                self.sender.on_notice(&Notice::Bounced(payload), &mut self.bounced, &io);
            }
        }
    }
    /// Checks the invariants that hold at every instant.
    fn check(&self) {
        let s = self.sender.stats();
        assert!(s.acked <= self.receiver.received_bytes() && self.receiver.received_bytes() <= self.highest);
        let wakes = self.sender.is_done() || self.sender.deadline().is_some() || s.next == s.acked;
        assert!(wakes || !self.cfg.retransmission_timer, "nothing would wake it");
        let emitted = (self.data.len() + self.acks.len()) as u32;
        assert_eq!(emitted + self.copied, self.delivered + self.lost + self.wire.len() as u32);
        assert_eq!(self.exts.live_count(), self.carrying, "extensions in use and packets that carry one");
    }
    fn emit(&mut self, out: Vec<Pkt>) {
        for pkt in out {
            let way = if pkt.head.flags.has(Flags::REVERSE) { Direction::Ack } else { Direction::Data };
            let so_far = if way == Direction::Data { &mut self.data } else { &mut self.acks };
            assert_eq!(pkt.emission as usize, so_far.len());
            assert_eq!(pkt.sent, self.now);
            so_far.push(pkt);
            let ext = self.exts.get(pkt.ext).copied().unwrap_or_default();
            let size = match (self.cfg.go_back_n, way) {
                (true, Direction::Ack) => self.cfg.ack_size,
                (true, Direction::Data) => self.cfg.framing.frame_size(pkt.payload, self.cfg.data_option_bytes()),
                (false, _) => self.cfg.framing.frame_size(pkt.payload, ext.option_bytes()),
            };
            assert_eq!(pkt.head.size, size, "a frame's size");
            match way {
                Direction::Data if pkt.payload > 0 => self.check_data(&pkt),
                Direction::Data => {}
                Direction::Ack => self.check_ack(&pkt),
            }
            if let Some(log) = &mut self.log {
                log.push(Emitted { way, pkt, ext });
            }
            self.carry(way, pkt);
        }
    }
    /// Checks a data packet: new data follows the data sent before, and never exceeds the windows (RFC 5681 §3.1).
    /// Limited transmit may exceed cwnd. Retransmissions are marked as such, and are not known to have arrived.
    fn check_data(&mut self, pkt: &Pkt) {
        let s = self.sender.stats();
        let start = crate::transport::unwrap_offset(pkt.seq, s.acked).unwrap();
        let end = start + u64::from(pkt.payload);
        assert_eq!(pkt.head.flags.has(Flags::RETRANSMIT), start < self.highest);
        assert!(end <= self.told.edge, "{end} is beyond the window's edge {}", self.told.edge);
        assert!(!self.told.has_any(start, end), "{start}..{end} has arrived: {:?}", self.told);
        if start >= self.highest {
            assert_eq!(start, self.highest);
            // Senders that find losses by time or PACKs have rules of their own, and their probes ignore the window.
            let by_time = self.cfg.keeps_segments() || self.cfg.supports_packs();
            let mss = u64::from(self.cfg.mss);
            let threshold = u64::from(self.cfg.dupack_threshold.unwrap_or(u32::MAX));
            let limited = if self.cfg.limited_transmit { 2 * mss } else { 0 };
            let network = self.told.in_network(start, threshold, mss) + u64::from(pkt.payload);
            assert!(by_time || network <= u64::from(s.cwnd) + limited, "{network} bytes in the network with {s:?}");
        }
        self.highest = self.highest.max(end);
    }
    /// Checks an ACK: granted window is never withdrawn, apart from the rounding of a scaled window (RFC 7323 §2.4).
    fn check_ack(&mut self, pkt: &Pkt) {
        // RoCE has no window.
        if pkt.head.flags.has(Flags::SYN) || self.cfg.go_back_n {
            return;
        }
        let ack = crate::transport::unwrap_offset(pkt.ack, self.receiver.received_bytes()).unwrap();
        let edge = ack + (u64::from(pkt.window) << self.cfg.window_shift);
        assert!(edge + (1 << self.cfg.window_shift) > self.edge, "the edge {} moves back to {edge}", self.edge);
        self.edge = self.edge.max(edge);
    }
    fn faults(&mut self, way: Direction, pkt: &Pkt) -> Vec<Fault> {
        let emission = self.script.iter().filter(|(w, n, _)| (*w, *n) == (way, pkt.emission)).map(|(_, _, f)| *f);
        let mut faults: Vec<Fault> = emission.collect();
        if !self.sendings.is_empty() && way == Direction::Data && pkt.payload > 0 {
            let same = self.data.iter().filter(|p| p.payload > 0 && p.seq == pkt.seq).count() as u32;
            let struck = |s: &&(u64, u32, Fault)| (s.0 as u32, s.1 + 1) == (pkt.seq, same);
            faults.extend(self.sendings.iter().filter(struck).map(|s| s.2));
        }
        if let Some(c) = &mut self.chaos {
            let mut hit = |percent| c.stream.uniform_below(100) < percent;
            let hits = [hit(c.lose), hit(c.late), hit(c.twice), hit(c.mark)];
            let late = Fault::Late(Dur::us(c.stream.uniform_below(400)));
            let kinds = [Fault::Lose, late, Fault::Twice, Fault::Mark];
            faults.extend(hits.iter().zip(kinds).filter(|(hit, _)| **hit).map(|(_, f)| f));
            if c.cut > 0 && c.stream.uniform_below(100) < c.cut {
                faults.push(Fault::Cut);
            }
        }
        faults
    }
    fn carry(&mut self, way: Direction, mut pkt: Pkt) {
        let mut at = self.now + self.delay;
        if way == Direction::Data {
            self.free = self.free.max(self.now) + self.gap;
            at = self.free + self.delay;
        }
        let mut copies = 1;
        for fault in self.faults(way, &pkt) {
            match fault {
                Fault::Lose => copies = 0,
                Fault::Late(by) => at += by,
                Fault::Twice if copies == 1 => copies = 2,
                Fault::Mark if pkt.head.is_ect() => pkt.head.set_ecn(Ecn::Ce),
                Fault::Back => {
                    self.back.insert((at, self.serial), pkt.payload);
                    at += self.delay * 2;
                }
                // A packet that would not become shorter is not cut.
                Fault::Cut if pkt.head.flags.has(Flags::CPA) && pkt.head.size > self.cfg.framing.min_frame => {
                    pkt.head.size = (pkt.head.size - pkt.payload).max(self.cfg.framing.min_frame);
                    pkt.head.flags = pkt.head.flags.with(Flags::PPL).without(Flags::PAYLOAD);
                    pkt.head.set_class(6);
                    pkt.payload = 0;
                    self.cut += 1;
                }
                Fault::Twice | Fault::Mark | Fault::Cut => {}
            }
        }
        self.lost += u32::from(copies == 0);
        self.copied += u32::from(copies == 2);
        let ext = self.exts.get(pkt.ext).copied();
        for copy in 0..copies {
            // Each copy that arrives has an extension of its own.
            let own = if copy == 0 { pkt.ext } else { ext.map_or(NO_EXT, |ext| self.exts.allocate(ext)) };
            self.carrying += usize::from(own != NO_EXT);
            self.wire.insert((at, self.serial), (way, Pkt { ext: own, ..pkt }));
            self.serial += 1;
        }
        if copies == 0 {
            self.exts.free(pkt.ext);
        }
    }
    /// Returns the numbers of the segments of 1000 bytes that were sent, in order.
    pub fn segments(&self) -> Vec<u32> {
        self.data.iter().map(|p| p.seq / 1000).collect()
    }
}
