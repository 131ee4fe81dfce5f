//! Comparison of the sender of Linux 2.6.38 with a second sender, written from the kernel's source alone.
//!
//! Both play flows over random networks, and must send the same at every step.

mod sender;

use super::*;
use crate::transport::tick_clock::TickClock;
use mech::{Flags, Stream, StreamPurpose};
use sender::{Ack, INFINITE, Law, Model, Setup};
use std::collections::{BTreeMap, BTreeSet};

/// Receiver of the compared flows, which acknowledges segments by their numbers.
#[derive(Default)]
struct Peer {
    next: u32,
    waiting: BTreeSet<u32>,
    /// Segments beyond `next`, in the order of their last arrival.
    recent: Vec<u32>,
    echo: u64,
    acked: u32,
    is_held: bool,
}

impl Peer {
    /// Processes a segment, and returns the SACK blocks of the ACK.
    fn take(&mut self, n: u32, val: u64, most: usize) -> Vec<(u32, u32)> {
        if n <= self.acked && val >= self.echo {
            self.echo = val;
        }
        let is_twice = n < self.next || self.waiting.contains(&n);
        self.waiting.insert(n);
        while self.waiting.remove(&self.next) {
            self.next += 1;
        }
        self.waiting = self.waiting.split_off(&self.next);
        self.recent.retain(|r| *r >= self.next && *r != n);
        if n >= self.next {
            self.recent.push(n);
        }
        let run = |n: u32| {
            let start = (0..=n).rev().take_while(|m| self.waiting.contains(m)).last().unwrap();
            let end = (n..).find(|m| !self.waiting.contains(m)).unwrap();
            (start, end)
        };
        let mut blocks = vec![];
        if is_twice {
            blocks.push((n, n + 1));
        }
        for block in self.recent.iter().rev().map(|n| run(*n)) {
            if !blocks.iter().skip(usize::from(is_twice)).any(|b| *b == block) {
                blocks.push(block);
            }
        }
        blocks.truncate(most);
        blocks
    }
}

enum Event {
    Data { n: u32, val: u64, ce: bool },
    Ack(Ack),
    Write,
}

/// Random network of the compared flows: probabilities of faults in percent, and durations in microseconds.
#[derive(Debug)]
struct Network {
    lose: u64,
    lose_acks: u64,
    late: u64,
    twice: u64,
    mark: u64,
    stall: u64,
    delay: u64,
    hold: u64,
}

struct Bench {
    hand: SenderHarness,
    model: Model,
    setup: Setup,
    clock: TickClock,
    peer: Peer,
    events: BTreeMap<(Time, u64), Event>,
    serial: u64,
    stream: Stream,
    network: Network,
    free: Time,
    /// Number of bytes before the end of each written segment.
    ends: Vec<u64>,
    messages: u32,
    log: Vec<String>,
}

fn setup(seed: u64) -> Setup {
    let law = [Law::Reno, Law::Reno, Law::Bic, Law::Dctcp][(seed % 4) as usize];
    Setup {
        law,
        sack: seed % 5 != 4,
        fack: seed / 4 % 4 != 3,
        frto: seed / 3 % 4 != 3,
        stamps: seed / 2 % 3 != 2,
        ecn: law == Law::Dctcp || seed % 3 == 0 && law == Law::Reno,
        idle: seed % 6 != 5,
        first: 3 + (seed % 13) as u32,
    }
}

impl Bench {
    fn new(seed: u64) -> Bench {
        let setup = setup(seed);
        let mut set = vec![
            ("tso", Value::Flag(false)),
            ("min_rto", time(Dur::ms(10))),
            ("timestamps", Value::Flag(setup.stamps)),
            ("fack", Value::Flag(setup.fack)),
            ("frto", Value::Flag(setup.frto)),
            ("restart_after_idle", Value::Flag(setup.idle)),
            ("initial_window", packets(setup.first.into())),
        ];
        if setup.law == Law::Bic {
            set.push(("congestion_control", word("bic")));
        }
        if setup.law == Law::Reno {
            set.push(("ecn", Value::Flag(setup.ecn)));
        }
        let kind = if setup.law == Law::Dctcp { "linux_2_6_38_dctcp" } else { "linux_2_6_38" };
        let mut hand = SenderHarness::with_flow(1 << 40, kind, &set);
        if !setup.sack {
            hand.cfg = hand.cfg.with_peer(&config(
                "newreno",
                &[("timestamps", Value::Flag(setup.stamps)), ("ecn", Value::Flag(setup.ecn))],
            ));
            hand.sender = Sender::new(&flow(1 << 40), &hand.cfg);
        }
        let mut stream = Stream::new(seed, 0, StreamPurpose::Custom(0));
        let mut pick = |most: u64| stream.uniform_below(most);
        let network = Network {
            lose: pick(2) * pick(15),
            lose_acks: pick(2) * pick(12),
            late: pick(2) * pick(8),
            twice: pick(2) * pick(4),
            mark: pick(30),
            stall: pick(2) * pick(3),
            delay: [40, 500, 3000][pick(3) as usize],
            hold: pick(2) * pick(70),
        };
        let clock = hand.cfg.host_ticks(flow(0).src);
        let model = Model::new(setup, clock.ticks_at(Time::ZERO));
        hand.call(|s, io| s.open(io));
        let mut bench = Bench {
            hand,
            model,
            setup,
            clock,
            peer: Peer { echo: clock.ticks_at(Time::ZERO) + 1, ..Peer::default() },
            events: BTreeMap::new(),
            serial: 0,
            stream,
            network,
            free: Time::ZERO,
            ends: vec![],
            messages: 0,
            log: vec![],
        };
        bench.put(Time::ZERO, Event::Write);
        bench
    }
    fn put(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.serial), event);
        self.serial += 1;
    }
    fn hits(&mut self, percent: u64) -> bool {
        self.stream.uniform_below(100) < percent
    }
    fn bytes(&self, n: u32) -> u64 {
        n.checked_sub(1).map_or(0, |n| self.ends[n as usize])
    }

    /// Plays the next event at both senders; returns false if no event is left.
    fn step(&mut self) -> bool {
        let next = self.events.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let expiry = self.hand.sender.deadline().unwrap_or(Time::NEVER);
        if next.min(expiry) == Time::NEVER {
            return false;
        }
        self.hand.now = next.min(expiry);
        self.model.now = self.clock.ticks_at(self.hand.now);
        self.hand.last.clear();
        self.model.sent.clear();
        if expiry < next {
            self.log.push(format!("{} expire", self.hand.now));
            self.hand.call(|s, io| s.on_timer(io));
            self.model.expire();
        } else {
            match self.events.pop_first().unwrap().1 {
                Event::Data { n, val, ce } => {
                    self.arrive(n, val, ce);
                    return true;
                }
                Event::Ack(ack) => self.acknowledge(&ack),
                Event::Write => self.write(),
            }
        }
        self.compare();
        self.carry();
        true
    }
    fn write(&mut self) {
        if self.messages == 0 {
            self.messages = 1 + self.stream.uniform_below(3) as u32;
        }
        if self.model.next < self.model.written {
            return self.put(self.hand.now + Dur::us(500), Event::Write);
        }
        let (full, short) =
            (self.stream.uniform_below(70) + 1, self.stream.uniform_below(2) * self.stream.uniform_below(1000));
        let mut end = self.ends.last().copied().unwrap_or(0);
        let before = end;
        for _ in 0..full {
            end += 1000;
            self.ends.push(end);
        }
        if short > 0 {
            end += short;
            self.ends.push(end);
        }
        self.model.written = self.ends.len() as u32;
        self.log.push(format!("{} write {full} {short}", self.hand.now));
        self.hand.call(|s, io| s.write(end - before, io));
        self.model.push();
        self.messages -= 1;
        if self.messages > 0 {
            let wait = self.stream.uniform_below(3) * self.stream.uniform_below(40_000);
            self.put(self.hand.now + Dur::us(wait), Event::Write);
        }
    }
    fn acknowledge(&mut self, ack: &Ack) {
        self.log.push(format!("{} {ack:?}", self.hand.now));
        let mut ext = PacketExtension { blocks: ack.blocks.len() as u8, ..PacketExtension::default() };
        for (to, from) in ext.sack.iter_mut().zip(&ack.blocks) {
            *to = (self.bytes(from.0) as u32, self.bytes(from.1) as u32);
        }
        if self.setup.stamps {
            ext.timestamps = Some(crate::Timestamps { val: 1, ecr: ack.ecr as u32 });
        }
        let end = self.bytes(ack.ack);
        let bytes = end - self.bytes(self.model.una.min(ack.ack));
        let ext = self.hand.exts.allocate(ext);
        let pkt = Pkt { ext, ..segment::ack_segment(&flow(0), end, ack.ece, &self.hand.cfg) };
        self.hand.call(|s, io| s.receive(&pkt, io));
        self.hand.exts.free(ext);
        self.model.receive(&Ack { bytes, ..ack.clone() });
    }
    fn arrive(&mut self, n: u32, val: u64, ce: bool) {
        let most = if self.setup.stamps { 3 } else { 4 };
        let was = self.peer.next;
        let mut blocks = self.peer.take(n, val, most);
        let is_plain = self.peer.next == was + 1 && blocks.is_empty();
        let is_last = self.peer.next == self.model.next;
        let hold = self.network.hold;
        if is_plain && !is_last && !self.peer.is_held && self.hits(hold) {
            self.peer.is_held = true;
            return;
        }
        self.peer.is_held = false;
        self.peer.acked = self.peer.next;
        if !self.setup.sack {
            blocks.clear();
        }
        let ecr = if self.setup.stamps { self.peer.echo } else { 0 };
        let (lose, late) = (self.network.lose_acks, self.network.late);
        if self.hits(lose) {
            return;
        }
        let mut at = self.hand.now + Dur::us(self.network.delay);
        if self.hits(late) {
            at += Dur::us(self.stream.uniform_below(300));
        }
        self.put(at, Event::Ack(Ack { ack: self.peer.next, blocks, ece: ce, ecr, bytes: 0 }));
    }
    /// Puts the packets that were sent into the network.
    fn carry(&mut self) {
        for pkt in std::mem::take(&mut self.hand.last) {
            let val = self.hand.exts.get(pkt.ext).and_then(|ext| ext.timestamps).map_or(0, |t| t.val);
            self.hand.exts.free(pkt.ext);
            let n = self.number(&pkt);
            let stall = self.network.stall;
            if self.stream.uniform_below(1000) < stall {
                self.free = self.free.max(self.hand.now) + Dur::us(self.stream.uniform_below(40_000));
            }
            self.free = self.free.max(self.hand.now) + Dur::us(10);
            let (lose, late, twice, mark) =
                (self.network.lose, self.network.late, self.network.twice, self.network.mark);
            let ce = self.setup.ecn && self.hits(mark);
            let mut at = self.free + Dur::us(self.network.delay);
            if self.hits(late) {
                at += Dur::us(self.stream.uniform_below(600));
            }
            if self.hits(twice) {
                self.put(at, Event::Data { n, val: val.into(), ce });
            }
            if !self.hits(lose) {
                self.put(at, Event::Data { n, val: val.into(), ce });
            }
        }
    }
    fn number(&self, pkt: &Pkt) -> u32 {
        self.ends.partition_point(|end| *end <= u64::from(pkt.seq)) as u32
    }

    /// Compares packets, windows and timers of both senders.
    fn compare(&mut self) {
        let (stats, m) = (self.hand.stats(), &self.model);
        let of = |pkt: &Pkt| (self.number(pkt), pkt.head.flags.has(Flags::RETRANSMIT), pkt.head.flags.has(Flags::CWR));
        let sent: Vec<_> = self.hand.last.iter().map(of).collect();
        let ssthresh = match m.ssthresh {
            INFINITE => self.hand.cfg.initial_ssthresh,
            n => n * 1000,
        };
        let timer = self.hand.sender.deadline().map(|at| self.clock.ticks_at(at));
        let alpha = stats.alpha.map(|alpha| alpha >> 20);
        let theirs = (&m.sent, m.cwnd * 1000, ssthresh, m.timer, Dur::ms(m.rto), alpha.map(|_| m.alpha));
        let ours = (&sent, stats.cwnd, stats.ssthresh, timer, stats.rto, alpha);
        if ours != theirs {
            let log = self.log.join("\n");
            panic!("{:?}\n{:?}\n{log}\nmodel {theirs:?}, {:?}\nours  {ours:?}", self.setup, self.network, m.state);
        }
    }
}

/// Number of seeds from 0 on, and further seeds at which rare differences were found.
const FLOWS: u64 = 500;
const FOUND: [u64; 5] = [1365, 33_335, 34_512, 44_179, 53_156];

#[test]
fn random_flows_go_as_a_model_of_the_kernel_has_them() {
    let mut steps = 0;
    for seed in (0..FLOWS).chain(FOUND) {
        let mut bench = Bench::new(seed);
        while bench.step() {
            steps += 1;
        }
        assert_eq!(bench.model.una, bench.model.written, "seed {seed}: all arrives");
    }
    assert!(steps > 100 * FLOWS, "{steps} events");
}
