//! Conformance cases of a sender or receiver alone: scripted input, and comparison of its output.

use super::script::{self, Item, Outcome, Seen, Step, When, blank, extent, extent_name, numbers, offset};
use crate::transport::config::EcnMode;
use crate::transport::tests::pair::flow;
use crate::transport::{Io, Receiver, ReleasedPackets, Sender, TcpConfig};
use crate::{ExtensionSlab, MAX_BLOCKS, NO_EXT, PacketExtension, Pkt, SynOptions, Timestamps};
use mech::{Ecn, Flags};
use units::Time;

/// Sender or receiver that a conformance case tests.
enum Party {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

/// Sender or receiver under test, its clock, and the packets that it has sent.
pub struct End {
    party: Party,
    cfg: TcpConfig,
    mss: u64,
    now: Time,
    exts: ExtensionSlab,
    /// Packets that the last line of the case made it send, with their options.
    sent: Vec<(Pkt, PacketExtension)>,
    /// TSval of each emitted packet, in order.
    stamps: Vec<u32>,
}

impl End {
    pub fn sender(bytes: u64, cfg: TcpConfig) -> End {
        End::new(Party::Sender(Box::new(Sender::new(&flow(bytes), &cfg))), cfg)
    }
    pub fn receiver(bytes: u64, cfg: TcpConfig) -> End {
        End::new(Party::Receiver(Box::new(Receiver::new(&flow(bytes), &cfg))), cfg)
    }
    fn new(party: Party, cfg: TcpConfig) -> End {
        let (exts, mss) = (ExtensionSlab::default(), u64::from(cfg.mss));
        End { party, cfg, mss, now: Time::ZERO, exts, sent: vec![], stamps: vec![] }
    }

    /// Plays one line of a case, and compares packets and variables with the expected ones.
    pub fn play(&mut self, line: &str) -> Outcome {
        let step = Step::read(line)?;
        self.advance(&step)?;
        self.sent.clear();
        self.event(&step)?;
        let (what, exact): (_, &[&str]) = match self.party {
            Party::Sender(_) => ("segments", &["rtx", "cwr", "ece", "cpa"]),
            Party::Receiver(_) => ("ACKs", &["ece", "sack", "cwr", "lost", "nak"]),
        };
        script::compare(what, &step.sent, &self.items(), exact)?;
        self.check_extensions()?;
        step.vars.iter().try_for_each(|(name, expected)| self.seen(name)?.check(name, expected))
    }

    /// Advances the clock to the time of a line. Fails if a timer expires before it.
    fn advance(&mut self, step: &Step) -> Outcome {
        let expire = step.event.first().is_some_and(|w| w == "expire");
        let deadline = self.deadline();
        if expire && matches!(step.when, When::Now) {
            self.now = deadline.ok_or("no timer runs")?;
            return Ok(());
        }
        let to = match step.when {
            When::Now => self.now,
            When::After(by) => self.now + by,
            When::At(at) => at,
        };
        if to < self.now {
            return Err(format!("{to} has passed: it is {}", self.now));
        }
        match deadline.filter(|at| *at < to || (expire && *at != to)) {
            Some(at) => Err(format!("the timer expires at {at}, not at {to}")),
            None => {
                self.now = to;
                Ok(())
            }
        }
    }

    fn event(&mut self, step: &Step) -> Outcome {
        let name = step.event.first().ok_or("no event")?.as_str();
        let times: usize = step.event.iter().find_map(|w| w.strip_prefix('x')?.parse().ok()).unwrap_or(1);
        let step = &Step { event: step.event.iter().filter(|w| !is_times(w)).cloned().collect(), ..step.clone() };
        let place = step.event.get(1).map_or("", String::as_str);
        match name {
            "wait" => step.check(&[]),
            "expire" => self.call(Call::Timer),
            "start" => self.call(Call::Start),
            "open" => self.call(Call::Open),
            "write" => self.call(Call::Write(offset(place, self.mss)?)),
            "ack" => {
                step.check(&["ece", "win", "sack", "lost", "val", "ecr", "nak"])?;
                let mut each = numbers(place)?.into_iter().cycle().take(numbers(place)?.len() * times);
                each.try_for_each(|n| self.ack(&n, step))
            }
            "synack" => {
                step.check(&["ece", "win", "mss", "scale", "nosack", "pack", "val", "ecr"])?;
                self.synack(step)
            }
            "seg" => {
                step.check(&["ce", "cwr", "rtx", "val", "ecr", "not-ect", "push"])?;
                let mut each = numbers(place)?.into_iter().cycle().take(numbers(place)?.len() * times);
                each.try_for_each(|n| self.segment(&n, step))
            }
            "cut" | "back" => {
                step.check(&["ce", "cwr", "rtx", "val", "ecr"])?;
                numbers(place)?.iter().try_for_each(|n| self.cut(n, name == "back", step))
            }
            "syn" => {
                step.check(&["ece", "cwr", "mss", "scale", "nosack", "pack", "val"])?;
                self.syn(step)
            }
            other => Err(format!("no event `{other}`")),
        }
    }

    fn ack(&mut self, number: &str, step: &Step) -> Outcome {
        let mut pkt = blank(true, &self.cfg);
        pkt.ack = offset(number, self.mss)? as u32;
        pkt.head.flags = flags(step, Flags::ACK.with(Flags::REVERSE));
        if step.has("nak") {
            pkt.window = 0;
        }
        if let Some(bytes) = step.parsed::<u32>("win")? {
            pkt.window = (bytes >> self.cfg.window_shift) as u16;
        }
        let mut ext = PacketExtension { timestamps: self.stamps(step)?, ..PacketExtension::default() };
        if step.has("lost") {
            pkt.head.flags = pkt.head.flags.with(Flags::PPL);
        }
        let lost =
            script::blocks(step.word("lost").unwrap_or(""), self.mss)?.into_iter().map(|(start, end)| (end, start));
        for (start, end) in lost.chain(script::blocks(step.word("sack").unwrap_or(""), self.mss)?) {
            if usize::from(ext.blocks) == MAX_BLOCKS {
                return Err("more SACK blocks than fit".into());
            }
            ext.sack[usize::from(ext.blocks)] = (start as u32, end as u32);
            ext.blocks += 1;
        }
        self.deliver(pkt, ext)
    }

    fn synack(&mut self, step: &Step) -> Outcome {
        let mut pkt = blank(true, &self.cfg);
        pkt.head.flags = flags(step, Flags::SYN.with(Flags::ACK).with(Flags::REVERSE));
        pkt.seq = u32::MAX;
        self.deliver_syn(pkt, step)
    }

    fn syn(&mut self, step: &Step) -> Outcome {
        let mut pkt = blank(false, &self.cfg);
        pkt.head.flags = flags(step, Flags::SYN);
        pkt.seq = u32::MAX;
        self.deliver_syn(pkt, step)
    }

    fn deliver_syn(&mut self, mut pkt: Pkt, step: &Step) -> Outcome {
        let window = step.parsed("win")?.unwrap_or(self.cfg.receive_window.min(65_535));
        pkt.window = u16::try_from(window).map_err(|_| "a SYN's window is not scaled")?;
        let window_scale = match step.word("scale") {
            Some("none") => None,
            Some(scale) => Some(script::number(scale)?),
            None => Some(self.cfg.window_shift),
        };
        let mss = step.parsed("mss")?.unwrap_or(self.cfg.mss);
        let syn =
            SynOptions { mss, window_scale, sack_permitted: !step.has("nosack"), pack_permitted: step.has("pack") };
        self.deliver(
            pkt,
            PacketExtension { syn: Some(syn), timestamps: self.stamps(step)?, ..PacketExtension::default() },
        )
    }

    fn segment(&mut self, place: &str, step: &Step) -> Outcome {
        let (start, end) = extent(place, self.mss)?;
        let mut pkt = blank(false, &self.cfg);
        (pkt.seq, pkt.payload) = (start as u32, (end - start) as u16);
        pkt.head.flags = flags(step, Flags::ACK.with(Flags::PAYLOAD));
        match (self.cfg.ecn, step.has("ce"), step.has("not-ect")) {
            (_, true, _) => pkt.head.set_ecn(Ecn::Ce),
            (EcnMode::Off, ..) | (_, _, true) => {}
            _ => pkt.head.set_ecn(Ecn::Ect0),
        }
        self.deliver(
            pkt,
            PacketExtension { timestamps: self.stamps(step)?, push: step.has("push"), ..PacketExtension::default() },
        )
    }

    /// Delivers a trimmed packet, to its receiver or with `back` to its sender.
    fn cut(&mut self, place: &str, back: bool, step: &Step) -> Outcome {
        let (start, end) = extent(place, self.mss)?;
        let mut pkt = blank(false, &self.cfg);
        let cp = Flags::CPA.with(Flags::PPL);
        (pkt.seq, pkt.head.flags) = (start as u32, flags(step, Flags::ACK.with(cp)));
        if step.has("ce") {
            pkt.head.set_ecn(Ecn::Ce);
        }
        let ext = PacketExtension { timestamps: self.stamps(step)?, ..PacketExtension::default() };
        pkt.head.orig_size = self.cfg.framing.frame_size((end - start) as u16, ext.option_bytes());
        pkt.head.size = self.cfg.framing.frame_size(0, ext.option_bytes());
        self.hand(pkt, ext, if back { Call::Back } else { Call::Packet })
    }

    /// Returns the timestamps of a packet, if a case gives them or the transport has them.
    /// By default the peer's clock counts microseconds, and the echo is that of the newest emission.
    fn stamps(&self, step: &Step) -> Outcome<Option<Timestamps>> {
        let (val, ecr) = (step.parsed("val")?, step.word("ecr"));
        if step.word("val").is_none() && ecr.is_none() && !self.cfg.timestamps {
            return Ok(None);
        }
        let of = |n: usize| self.stamps.get(n).copied().ok_or(format!("no emission {n}"));
        let ecr = match ecr.map(|e| e.strip_prefix('#').ok_or(e)) {
            Some(Ok(emission)) => of(script::number(emission)?)?,
            Some(Err(ecr)) => script::number(ecr)?,
            None => self.stamps.last().copied().unwrap_or(0),
        };
        Ok(Some(Timestamps { val: val.unwrap_or((self.now.0 / 1_000_000) as u32), ecr }))
    }

    fn deliver(&mut self, mut pkt: Pkt, ext: PacketExtension) -> Outcome {
        pkt.head.size = self.cfg.framing.frame_size(pkt.payload, ext.option_bytes());
        pkt.head.orig_size = pkt.head.size;
        self.hand(pkt, ext, Call::Packet)
    }

    fn hand(&mut self, mut pkt: Pkt, ext: PacketExtension, call: fn(Pkt) -> Call) -> Outcome {
        pkt.ext = if ext == PacketExtension::default() { NO_EXT } else { self.exts.allocate(ext) };
        self.call(call(pkt))?;
        self.exts.free(pkt.ext);
        Ok(())
    }

    fn call(&mut self, call: Call) -> Outcome {
        let mut out = ReleasedPackets::default();
        let io = &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 };
        match (&mut self.party, call) {
            (Party::Sender(s), Call::Start) => s.start(io),
            (Party::Sender(s), Call::Open) => s.open(io),
            (Party::Sender(s), Call::Write(bytes)) => s.write(bytes, io),
            (Party::Sender(s), Call::Timer) => s.on_timer(io),
            (Party::Sender(s), Call::Packet(pkt)) => s.receive(&pkt, io),
            (Party::Sender(s), Call::Back(pkt)) => s.on_returned(&pkt, io),
            (Party::Receiver(r), Call::Timer) => r.on_timer(io),
            (Party::Receiver(r), Call::Packet(pkt)) => r.receive(&pkt, io),
            (Party::Receiver(_), _) => return Err("a receiver does not send data".into()),
        }
        for pkt in out.take() {
            let ext = self.exts.get(pkt.ext).copied().unwrap_or_default();
            self.stamps.push(ext.timestamps.map_or(0, |t| t.val));
            self.exts.free(pkt.ext);
            self.sent.push((pkt, ext));
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        match &self.party {
            Party::Sender(s) => s.deadline(),
            Party::Receiver(r) => r.deadline(),
        }
    }

    /// Checks that no extension of a packet sent or received stays allocated.
    fn check_extensions(&self) -> Outcome {
        match self.exts.live_count() {
            0 => Ok(()),
            n => Err(format!("{n} extensions are kept")),
        }
    }

    fn items(&self) -> Vec<Item> {
        self.sent.iter().map(|(pkt, ext)| item(pkt, ext, &self.cfg)).collect()
    }

    fn seen(&self, name: &str) -> Outcome<Seen> {
        if name == "timer" {
            return Ok(Seen::Deadline(self.deadline(), self.now));
        }
        match &self.party {
            Party::Sender(s) => sender_seen(s, name),
            Party::Receiver(r) => receiver_seen(r, name),
        }
        .ok_or(format!("no variable `{name}`"))
    }
}

enum Call {
    Start,
    Open,
    Write(u64),
    Timer,
    Packet(Pkt),
    Back(Pkt),
}

fn is_times(word: &str) -> bool {
    word.strip_prefix('x').is_some_and(|n| n.parse::<usize>().is_ok())
}

fn flags(step: &Step, base: Flags) -> Flags {
    [("ece", Flags::ECE), ("cwr", Flags::CWR), ("rtx", Flags::RETRANSMIT)]
        .into_iter()
        .fold(base, |all, (word, flag)| if step.has(word) { all.with(flag) } else { all })
}

/// Returns a packet in the notation of conformance cases.
pub fn item(pkt: &Pkt, ext: &PacketExtension, cfg: &TcpConfig) -> Item {
    let (mss, flags) = (u64::from(cfg.mss), pkt.head.flags);
    let (syn, reverse) = (flags.has(Flags::SYN), flags.has(Flags::REVERSE));
    let start = u64::from(pkt.seq);
    let name = match (syn, reverse) {
        (true, false) => "syn".into(),
        (true, true) => "synack".into(),
        (false, false) => extent_name(start, start + u64::from(pkt.payload), mss),
        (false, true) if u64::from(pkt.ack) % mss == 0 => (u64::from(pkt.ack) / mss).to_string(),
        (false, true) => format!("{}B", pkt.ack),
    };
    let ecn = match pkt.head.ecn() {
        Ecn::NotEct => "not",
        Ecn::Ce => "ce",
        _ => "ect",
    };
    let (lost, sack): (Vec<_>, Vec<_>) = ext.sack[..usize::from(ext.blocks)].iter().partition(|(a, b)| a > b);
    let lost: Vec<String> =
        lost.iter().map(|(right, left)| extent_name(u64::from(*left), u64::from(*right), mss)).collect();
    let sack: Vec<String> = sack.iter().map(|(a, b)| extent_name(u64::from(*a), u64::from(*b), mss)).collect();
    let shift = if syn { 0 } else { cfg.window_shift };
    let mut item = Item::new(name)
        .flag("rtx", flags.has(Flags::RETRANSMIT))
        .flag("cwr", flags.has(Flags::CWR))
        .flag("ece", flags.has(Flags::ECE))
        .flag("nak", reverse && cfg.go_back_n && pkt.window == 0)
        .with("ecn", ecn)
        .with("size", pkt.head.size)
        .with("rank", pkt.head.rank)
        .with("options", ext.option_bytes())
        .with("push", if ext.push { "yes" } else { "no" })
        .with("win", u32::from(pkt.window) << shift)
        .with("val", ext.timestamps.map_or("none".into(), |t| t.val.to_string()))
        .with("ecr", ext.timestamps.map_or("none".into(), |t| t.ecr.to_string()));
    if flags.has(Flags::CPA) {
        item = item.with("cpa", "");
    }
    if flags.has(Flags::PPL) {
        item = item.with("lost", lost.join(","));
    }
    if !sack.is_empty() {
        item = item.with("sack", sack.join(","));
    }
    if let Some(syn) = ext.syn {
        let scale = syn.window_scale.map_or("none".into(), |s| s.to_string());
        item = item
            .with("mss", syn.mss)
            .with("scale", scale)
            .with("sackok", if syn.sack_permitted { "yes" } else { "no" })
            .with("packok", if syn.pack_permitted { "yes" } else { "no" });
    }
    item
}

fn sender_seen(s: &Sender, name: &str) -> Option<Seen> {
    let all = s.stats();
    Some(match name {
        "cwnd" => Seen::Count(all.cwnd.into()),
        "ssthresh" => Seen::Count(all.ssthresh.into()),
        "una" => Seen::Count(all.acked),
        "next" => Seen::Count(all.next),
        "rwnd" => Seen::Count(all.rwnd.into()),
        "segments" => Seen::Count(all.segments.into()),
        "retransmissions" => Seen::Count(all.retransmissions.into()),
        "fast_retransmits" => Seen::Count(all.fast_retransmits.into()),
        "timeouts" => Seen::Count(all.timeouts.into()),
        "packs" => Seen::Count(all.packs.into()),
        "dsacks" => Seen::Count(all.dsacks.into()),
        "tlp_probes" => Seen::Count(all.tlp_probes.into()),
        "undos" => Seen::Count(all.undos.into()),
        "sacked" => Seen::Count(all.sacked.into()),
        "echoes" => Seen::Count(all.echoes.into()),
        "cuts" => Seen::Count(all.cuts.into()),
        "recovery" => Seen::Truth(all.in_recovery),
        "done" => Seen::Truth(s.is_done()),
        "alpha" => Seen::Fraction(all.alpha),
        "srtt" => Seen::Span(all.srtt),
        "rto" => Seen::Span(Some(all.rto)),
        _ => return None,
    })
}

fn receiver_seen(r: &Receiver, name: &str) -> Option<Seen> {
    let all = r.stats();
    Some(match name {
        "received" => Seen::Count(r.received_bytes()),
        "packs" => Seen::Count(all.packs.into()),
        "waiting" => Seen::Count(all.waiting),
        "segments" => Seen::Count(all.segments.into()),
        "duplicates" => Seen::Count(all.duplicates.into()),
        "out_of_order" => Seen::Count(all.out_of_order.into()),
        "marked" => Seen::Count(all.marked.into()),
        "done" => Seen::Truth(r.is_complete()),
        _ => return None,
    })
}
