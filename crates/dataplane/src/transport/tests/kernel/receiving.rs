//! Tests that replay arrivals recorded at a Linux kernel's receiver, with the receiver of transport `linux`.

use super::{Difference, HANDLED, MSS, TICK, difference, on_kernel_ticks};
use crate::transport::tests::conformance::script::{blank, transport};
use crate::transport::tests::pair::flow;
use crate::transport::{Io, Receiver, ReleasedPackets, TcpConfig};
use crate::{ExtensionSlab, NO_EXT, PacketExtension, Timestamps};
use mech::{Ecn, Flags};
use units::{Dur, Time};

/// Recorded stream of segments that arrived at a Linux kernel's receiver.
#[derive(Clone, Debug)]
pub struct Stream {
    pub seed: u64,
    sack: bool,
    stamps: bool,
    ecn: bool,
    lines: Vec<Line>,
}

/// Recorded arrival of a segment with the ACKs sent for it, or a timer of the kernel if there is no segment.
#[derive(Clone, Debug)]
struct Line {
    at: Time,
    segment: Option<u64>,
    flags: Vec<String>,
    acks: Vec<String>,
    is_end: bool,
}

impl Line {
    fn read(line: &str) -> Line {
        let mut parts = line.split(" > ");
        let words: Vec<&str> = parts.next().unwrap_or("").split_whitespace().collect();
        let (kind, at) = words[0].split_at(if words[0] == "end" { 3 } else { 1 });
        let at = if at.is_empty() { words[1] } else { at };
        Line {
            at: Time::ZERO + Dur::us(at.parse().expect("a time")),
            segment: (kind == "d").then(|| words[1].parse().expect("a segment")),
            flags: words.iter().skip(2).map(|word| (*word).to_owned()).collect(),
            acks: parts.map(str::to_owned).collect(),
            is_end: kind == "end",
        }
    }
}

impl Stream {
    /// Parses all recorded streams of a text.
    pub fn read_all(text: &str) -> Vec<Stream> {
        let mut all: Vec<Stream> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("stream ") {
                Some(head) => all.push(Stream {
                    seed: head.split(' ').next().and_then(|seed| seed.parse().ok()).expect("a seed"),
                    sack: head.contains("sack=1"),
                    stamps: head.contains("stamps=1"),
                    ecn: head.contains("ecn=1"),
                    lines: Vec::new(),
                }),
                None => all.last_mut().into_iter().for_each(|of| of.lines.push(Line::read(line))),
            }
        }
        all
    }

    fn configuration(&self) -> TcpConfig {
        let recovery = if self.sack { "rack" } else { "newreno" };
        let line = format!(
            "linux tick=4ms timestamps={} ecn={} recovery={recovery} receive_window=64KiB",
            self.stamps, self.ecn
        );
        on_kernel_ticks(transport(&line).expect("a transport"), flow(0).dst)
    }

    /// Replays the recorded stream. Returns the first line with a difference, and that difference.
    pub fn play(&self) -> Result<(), (usize, Difference)> {
        let cfg = self.configuration();
        let mut play = Play {
            receiver: Receiver::new(&flow(1 << 30), &cfg),
            cfg,
            now: Time::ZERO,
            exts: ExtensionSlab::default(),
            acks: vec![],
        };
        for (n, line) in self.lines.iter().enumerate() {
            play.step(line).map_err(|difference| (n, difference))?;
        }
        Ok(())
    }
}

struct Play {
    receiver: Receiver,
    cfg: TcpConfig,
    now: Time,
    exts: ExtensionSlab,
    /// ACKs since the last line, as recordings write them.
    acks: Vec<String>,
}

impl Play {
    fn call(&mut self, what: impl FnOnce(&mut Receiver, &mut Io)) {
        let mut out = ReleasedPackets::default();
        let io = &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 };
        what(&mut self.receiver, io);
        for pkt in out.take() {
            let ext = self.exts.get(pkt.ext).copied().unwrap_or_default();
            self.exts.free(pkt.ext);
            let block = |(a, b): &(u32, u32)| format!("{}-{}", u64::from(*a) / MSS, u64::from(*b) / MSS);
            let blocks: Vec<String> = ext.sack[..usize::from(ext.blocks)].iter().map(block).collect();
            let mut words = vec![(u64::from(pkt.ack) / MSS).to_string()];
            words.extend((!blocks.is_empty()).then(|| blocks.join(",")));
            words.extend(pkt.head.flags.has(Flags::ECE).then(|| "ece".to_owned()));
            self.acks.push(words.join(" "));
        }
    }

    fn step(&mut self, line: &Line) -> Result<(), Difference> {
        self.acks.clear();
        let due = self.receiver.deadline().filter(|at| *at <= line.at || line.segment.is_none());
        let exact = TICK.saturating_add(HANDLED);
        if let Some(due) = due {
            let near = line.at <= due.saturating_add(exact) && due <= line.at.saturating_add(exact);
            match (line.segment, near) {
                (None, true) if !line.is_end => {
                    self.now = due.max(line.at);
                    self.call(|r, io| r.on_timer(io));
                    return self.compare(line);
                }
                (None, _) if line.is_end && due > line.at => {}
                (Some(_), true) => {}
                _ => return difference("timer", format!("an ACK is due at {due}, and it is {}", line.at)),
            }
        } else if line.segment.is_none() && !line.is_end {
            return difference("timer", "no ACK waits".into());
        }
        self.now = self.now.max(line.at);
        if let Some(segment) = line.segment {
            self.arrive(segment, line);
        }
        self.compare(line)
    }

    fn arrive(&mut self, segment: u64, line: &Line) {
        let has = |word: &str| line.flags.iter().any(|flag| flag == word);
        let mut pkt = blank(false, &self.cfg);
        (pkt.seq, pkt.payload) = ((segment * MSS) as u32, MSS as u16);
        pkt.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        if has("cwr") {
            pkt.head.flags = pkt.head.flags.with(Flags::CWR);
        }
        if self.cfg.is_ecn_capable() {
            pkt.head.set_ecn(if has("ce") { Ecn::Ce } else { Ecn::Ect0 });
        }
        let stamps = Timestamps { val: (self.now.0 / Dur::ms(1).0) as u32, ecr: 0 };
        let ext = PacketExtension {
            push: has("push"),
            timestamps: self.cfg.timestamps.then_some(stamps),
            ..PacketExtension::default()
        };
        pkt.ext = if ext == PacketExtension::default() { NO_EXT } else { self.exts.allocate(ext) };
        self.call(|r, io| r.receive(&pkt, io));
        self.exts.free(pkt.ext);
    }

    fn compare(&self, line: &Line) -> Result<(), Difference> {
        match self.acks == line.acks {
            true => Ok(()),
            false => difference("ACKs", format!("sent {:?}, the kernel {:?}", self.acks, line.acks)),
        }
    }
}
