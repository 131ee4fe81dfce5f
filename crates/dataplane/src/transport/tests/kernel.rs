//! Tests that replay flows recorded at a Linux kernel's sender, with the sender of transport `linux`.
//!
//! The format of a recording is in `conformance/linux/README.md`.

mod receiving;
mod recording;

use super::conformance::script::{blank, transport};
use super::pair::flow;
use crate::transport::{Io, ReleasedPackets, Sender, TcpConfig};
use crate::{ExtensionSlab, NO_EXT, PacketExtension, Timestamps};
use mech::{Flags, HostId};
use recording::{Event, Line, Recording};
use units::{Dur, Time};

/// Payload bytes of a recorded segment.
const MSS: u64 = 1000;
/// Length of a tick of the kernel's clock.
const TICK: Dur = Dur::ms(4);
/// Number of ticks from which kernel timers fire only at every eighth tick; times eight for each further level.
const COARSER: u64 = 63;
/// Tolerances: delay of the kernel's timers, and error of times that are measured outside of the kernel.
const HANDLED: Dur = Dur::ms(2);
const JITTER: Dur = Dur::us(90);

/// First event at which the sender differs from the kernel.
#[derive(Clone, Debug)]
pub struct Difference {
    pub kind: &'static str,
    pub text: String,
}

fn difference(kind: &'static str, text: String) -> Result<(), Difference> {
    Err(Difference { kind, text })
}

/// Sender that replays a recording, and its clock.
#[derive(Clone)]
struct Play {
    sender: Sender,
    cfg: TcpConfig,
    now: Time,
    exts: ExtensionSlab,
    /// Numbers of the segments sent since the last recorded line.
    sent: Vec<u64>,
    /// TSval of each emitted packet, in order.
    stamps: Vec<u32>,
    /// Time at which the timer was last set, and its expiry.
    set: Time,
    due: Option<Time>,
}

impl Play {
    fn new(of: &Recording) -> Play {
        let cfg = configuration(of);
        let sender = Sender::new(&flow(of.segments() * MSS), &cfg);
        Play {
            sender,
            cfg,
            now: Time::ZERO,
            exts: ExtensionSlab::default(),
            sent: vec![],
            stamps: vec![],
            set: Time::ZERO,
            due: None,
        }
    }

    fn call(&mut self, what: impl FnOnce(&mut Sender, &mut Io)) {
        let mut out = ReleasedPackets::default();
        let io = &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 };
        what(&mut self.sender, io);
        for pkt in out.take() {
            let ext = self.exts.get(pkt.ext).copied().unwrap_or_default();
            self.exts.free(pkt.ext);
            self.stamps.push(ext.timestamps.map_or(0, |t| t.val));
            self.sent.push(u64::from(pkt.seq) / MSS);
        }
        if self.sender.deadline() != self.due {
            (self.set, self.due) = (self.now, self.sender.deadline());
        }
    }

    /// Returns the resolution of the running timer: the tick of its level of the timer wheel.
    fn exact(&self) -> Dur {
        let mut unit = TICK;
        let wait = self.due.map_or(Dur::ZERO, |due| due.max(self.set).since(self.set));
        while wait.0 >= unit.0 * COARSER {
            unit = Dur(unit.0 * 8);
        }
        unit
    }

    fn fire(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.call(|s, io| s.on_timer(io));
    }

    fn acknowledge(&mut self, line: &Line) {
        let Event::Ack { number, blocks, echo, ece } = &line.event else { return };
        let mut pkt = blank(true, &self.cfg);
        pkt.ack = (number * MSS) as u32;
        pkt.head.flags = Flags::ACK.with(Flags::REVERSE);
        if *ece {
            pkt.head.flags = pkt.head.flags.with(Flags::ECE);
        }
        let mut ext = PacketExtension::default();
        if let Some(echo) = echo {
            let ecr = self.stamps.get(*echo).copied().unwrap_or(0);
            ext.timestamps = Some(Timestamps { val: (self.now.0 / Dur::ms(1).0) as u32, ecr });
        }
        for (from, to) in blocks {
            ext.sack[usize::from(ext.blocks)] = ((from * MSS) as u32, (to * MSS) as u32);
            ext.blocks += 1;
        }
        pkt.ext = if ext == PacketExtension::default() { NO_EXT } else { self.exts.allocate(ext) };
        self.call(|s, io| s.receive(&pkt, io));
        self.exts.free(pkt.ext);
    }

    /// Processes timers that expire before a recorded line, and then the line, at time `at`.
    fn step(&mut self, line: &Line, at: Time) -> Result<(), Difference> {
        self.sent.clear();
        let is_timer = line.event == Event::Timer;
        loop {
            let due = self.sender.deadline().filter(|at| *at <= line.at || is_timer);
            let Some(due) = due else { break };
            let exact = self.exact();
            if due > line.at.saturating_add(exact).saturating_add(HANDLED) {
                return difference("timer", format!("the kernel's timer is {} early", due.since(line.at)));
            }
            let mut ahead = self.clone();
            let is_near = line.at <= due.saturating_add(exact).saturating_add(HANDLED);
            ahead.fire(if is_near && is_timer { due.max(line.at) } else { due });
            if ahead.sent.is_empty() {
                self.fire(due);
                continue;
            }
            if is_timer && is_near {
                *self = ahead;
                return Ok(());
            }
            // The kernel's timer expires as well, but was handled after this line.
            if is_near {
                break;
            }
            let early = line.at.since(due);
            return difference("timer", format!("sent {:?} by a timer {early} before", ahead.sent));
        }
        if is_timer {
            return difference("timer", "no timer runs".into());
        }
        self.now = self.now.max(at);
        match &line.event {
            Event::Write(count) => self.call(|s, io| s.write(count * MSS, io)),
            Event::Ack { .. } => self.acknowledge(line),
            Event::Timer | Event::End => {}
        }
        Ok(())
    }

    fn compare(&self, line: &Line) -> Result<(), Difference> {
        if self.sent != line.sent {
            return difference("segments", format!("sent {:?}, the kernel {:?}", self.sent, line.sent));
        }
        let stats = self.sender.stats();
        let (window, threshold) = (u64::from(stats.cwnd) / MSS, u64::from(stats.ssthresh) / MSS);
        if window != line.cwnd {
            return difference("window", format!("cwnd is {window}, the kernel's {}", line.cwnd));
        }
        match line.ssthresh {
            Some(high) if high != threshold => {
                difference("threshold", format!("ssthresh is {threshold}, the kernel's {high}"))
            }
            None if threshold < 1 << 20 => {
                difference("threshold", format!("ssthresh is {threshold}, the kernel's none"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the transport of a recording, on a host whose ticks are those of the kernel.
fn configuration(of: &Recording) -> TcpConfig {
    let recovery = if of.sack { "rack" } else { "newreno" };
    let cfg = transport(&format!(
        "linux tick=4ms congestion_control={} timestamps={} ecn={} recovery={recovery} \
         limited_transmit=true handshake_rtt={}us",
        of.control, of.stamps, of.ecn, of.rtt
    ))
    .expect("a transport");
    on_kernel_ticks(cfg, flow(0).src)
}

/// Returns the configuration with a seed for which the host's ticks coincide with the kernel's.
fn on_kernel_ticks(cfg: TcpConfig, host: HostId) -> TcpConfig {
    let mut seeds = (0..).map(|seed| cfg.clone().with_seed(seed));
    seeds.find(|cfg| cfg.host_ticks(host).phase < Dur::us(5)).expect("a seed")
}

/// Replays a recording. Returns the first line with a difference, and that difference.
pub fn play(of: &Recording) -> Result<(), (usize, Difference)> {
    let mut play = Play::new(of);
    play.call(|s, io| s.open(io));
    for (n, line) in of.lines.iter().enumerate() {
        // Times are measured beside the kernel, so a slightly earlier or later time may agree with it.
        let instants = [line.at, line.at + JITTER, Time(line.at.0.saturating_sub(JITTER.0))];
        let tries = instants.map(|at| {
            let mut ahead = play.clone();
            let done =
                ahead.step(line, at).and_then(|()| if line.event == Event::End { Ok(()) } else { ahead.compare(line) });
            (ahead, done)
        });
        let found = tries.iter().position(|(_, done)| done.is_ok()).unwrap_or(0);
        let (ahead, step) = tries.into_iter().nth(found).expect("a try");
        play = ahead;
        step.map_err(|difference| (n, difference))?;
    }
    Ok(())
}

/// Replays the recordings of a file that the environment names, and prints the differences.
#[test]
#[ignore = "benches/linux/exact runs it"]
fn flows_of_a_file() {
    let path = std::env::var("OVERSPILL_FLOWS").expect("OVERSPILL_FLOWS");
    let text = std::fs::read_to_string(&path).expect(&path);
    let all = Recording::read_all(&text);
    let mut agree = 0;
    for of in &all {
        match play(of) {
            Ok(()) => agree += 1,
            Err((n, why)) => println!("differs {} line {} {} {}", of.seed, n + 1, why.kind, why.text),
        }
    }
    let streams = receiving::Stream::read_all(&text);
    for of in &streams {
        match of.play() {
            Ok(()) => agree += 1,
            Err((n, why)) => println!("differs {} line {} {} {}", of.seed, n + 1, why.kind, why.text),
        }
    }
    println!("agree {agree} of {}", all.len() + streams.len());
}

fn recorded(file: &str) -> String {
    let path = format!("{}/../../conformance/linux/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect(&path)
}

#[test]
fn recorded_flows_are_sent_as_by_the_kernel() {
    let all = Recording::read_all(&recorded("flows.txt"));
    assert!(all.len() > 100 && all.iter().any(|of| of.ecn) && all.iter().any(|of| !of.sack), "{}", all.len());
    for of in &all {
        let done = play(of).map_err(|(n, why)| format!("flow {}, line {}: {}: {}", of.seed, n + 1, why.kind, why.text));
        assert_eq!(done, Ok(()));
    }
}

#[test]
fn recorded_arrivals_are_acknowledged_as_by_the_kernel() {
    let all = receiving::Stream::read_all(&recorded("arrivals.txt"));
    assert!(all.len() > 30, "{}", all.len());
    for of in &all {
        let done = of.play().map_err(|(n, why)| format!("stream {}, line {}: {}", of.seed, n + 1, why.text));
        assert_eq!(done, Ok(()));
    }
}
