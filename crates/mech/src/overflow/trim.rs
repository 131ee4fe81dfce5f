//! CP: a switch over its threshold cuts the payload of a packet instead of dropping it, and the
//! header goes on in the same queue (Cheng et al., NSDI 2014, §4.2, §5).
//!
//! What waits at the port is compared with the threshold T, the limit of its buffer, before the packet is added. Cut
//! packets and PACKs may use E bytes more. Only a segment that carries CPA and a payload is cut, and only once; all
//! else over T is lost, and so is a header over T + E. What switches have made of it since are choices: so many bytes
//! stay (SAI), headers have a class and so a queue of their own (NDP, UEC), other packets may be cut (never those that their
//! sender marks as [`Head::NOT_TRIMMABLE`]), the tail is cut in place of the arrival (NDP), headers without room go back to their source (NDP). Where headers have a class of their own,
//! what waits in it is compared with E alone, and what waits beside it with T.

#[cfg(test)]
mod tests;

use super::{Cut, CutEcn, DropReason, Fate, Overflow};
use crate::buffer::ExtraRoom;
use crate::params::{Kind, Spec, Values};
use crate::{Asks, Beside, Env, Flags, ForwardingContext, Head, Needs, Only, PktId, QueueId, Report, choice, params};
use units::{Amount, Bytes, Dur};

/// See the module.
#[derive(Clone, Debug)]
pub struct Trim {
    extra: Bytes,
    /// As it was given.
    trim_size: u64,
    cut: Cut,
    trimmable: Trimmable,
    trimmable_class: Option<u64>,
    by_coin: bool,
    returns: bool,
}

choice! {
    /// Which packets may be cut.
    pub(crate) enum Trimmable {
        Cpa = "cpa",
        Class = "class",
        Any = "any",
    }
}

choice! {
    /// What becomes of the ECN codepoint of a packet that is cut.
    pub(crate) enum EcnOfCut {
        Keep = "keep",
        Ce = "ce",
        NotEct = "not_ect",
    }
}

choice! {
    /// Which packet is cut for want of room.
    pub(crate) enum Victim {
        Arrival = "arrival",
        Coin = "coin",
    }
}

choice! {
    /// What becomes of a header for which there is no room.
    pub(crate) enum NoRoom {
        Drop = "drop",
        Return = "return",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        extra: Bytes = {
            doc: "Room E of each port beyond its buffer, for cut packets and PACKs (CP §4.6); with `header_class` for that \
                  class alone.",
            kind: Kind::Size { min: 0 },
            default: Some("4KiB"),
        },
        trim_size: Bytes = {
            doc: "Bytes of the frame that stay, and no less than its headers; 0 is the headers alone (CP §4.2; SAI: \
                  PACKET_TRIM_SIZE). A packet that would get no shorter is not cut.",
            kind: Kind::Size { min: 0 },
            default: Some("0B"),
        },
        header_class: Option<u64> = {
            doc: "The class that cut packets get, and so the queue in which they wait, served as `scheduler` says; `off` \
                  is the queue of their data (CP §4.2). What waits in that class is then compared with `extra`, and \
                  what waits beside it with the buffer, each without the other.",
            kind: Kind::CountOrOff { min: 0, max: 7 },
            default: Some("off"),
        },
        trimmable: Trimmable = {
            doc: "Data that may be cut: segments with CPA (CP §4.1), data of `trimmable_class`, or any data. RoCE data is never \
                  cut, because its senders mark it as not trimmable.",
            kind: Trimmable::KIND,
            default: Some("cpa"),
        },
        trimmable_class: Option<u64> = {
            doc: "With `trimmable` = `class`: the class whose data may be cut (UEC: DSCP_TRIMMABLE).",
            kind: Kind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        ecn: EcnOfCut = {
            doc: "The ECN codepoint of a packet that is cut: it keeps it and is marked like any, it gets CE where it is \
                  ECN-capable, or it is ECN-capable no longer.",
            kind: EcnOfCut::KIND,
            default: Some("keep"),
        },
        victim: Victim = {
            doc: "What is cut for want of room: the packet that arrives, or by a fair coin it or the last of its queue \
                  that may be cut (NDP §3.1).",
            kind: Victim::KIND,
            default: Some("arrival"),
        },
        no_room: NoRoom = {
            doc: "What becomes of a header for which there is no room: it is lost, or goes back to its source (NDP §3.2.4).",
            kind: NoRoom::KIND,
            default: Some("drop"),
        },
        cut_delay: Dur = {
            doc: "From the cut of a packet that arrives until its header is in its queue (CP §5.2: 7 cycles, 56 ns); it has \
                  its place in the buffer, and its mark, from the cut on.",
            kind: Kind::Time { min: 0 },
            default: Some("0s"),
        },
    }
}

/// Its declaration.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "trim",
    doc: "A packet over the threshold loses its payload, and its header goes on.",
    cite: "CP §4.2",
    params: Given::PARAMS,
};

/// Parameters that belong to one choice alone.
pub(super) const ONLY: &[Only] = &[Only { key: "trimmable_class", by: "trimmable", words: &[Trimmable::Class.word()] }];

/// The smallest frame of Ethernet.
const SMALLEST: u64 = 64;
/// What it says of itself with endless memory.
const NEVER_CUTS: &str = "trim with an unlimited buffer never cuts: no port is ever over its threshold";
/// What it says of itself with shared memory.
const SHARED_CUTS: &str = "trim with a shared buffer: the threshold is the dynamic one of the instant, and extra is room \
                           beyond it in the same memory, as far as that has any";

impl Trim {
    /// From validated parameters.
    pub fn new(values: &Values) -> Trim {
        let given = Given::read(values);
        let ecn = match given.ecn {
            EcnOfCut::Keep => CutEcn::Keep,
            EcnOfCut::Ce => CutEcn::Ce,
            EcnOfCut::NotEct => CutEcn::NotEct,
        };
        let keep = u16::try_from(given.trim_size.0).unwrap_or(u16::MAX);
        let class = given.header_class.map(|class| class as u8);
        Trim {
            extra: given.extra,
            trim_size: given.trim_size.0,
            cut: Cut { keep, class, ecn, delay: given.cut_delay },
            trimmable: given.trimmable,
            trimmable_class: given.trimmable_class,
            by_coin: given.victim == Victim::Coin,
            returns: given.no_room == NoRoom::Return,
        }
    }
    /// Returns true if the payload of a packet may be cut off.
    fn may_cut(&self, pkt: &Head) -> bool {
        let is_chosen = match self.trimmable {
            Trimmable::Cpa => pkt.flags.has(Flags::CPA),
            Trimmable::Class => self.trimmable_class == Some(u64::from(pkt.class())),
            Trimmable::Any => true,
        } && pkt.is_trimmable();
        let is_other = pkt.flags.any(Flags::PPL.with(Flags::SYN).with(Flags::RETURNED));
        is_chosen && pkt.flags.has(Flags::PAYLOAD) && !is_other && pkt.size > self.cut.keep
    }
    /// The room of a packet of a class, whole or `cut`, as PACKs are too.
    fn room(&self, class: u8, cut: bool) -> ExtraRoom {
        match self.cut.class {
            Some(headers) if headers == class => ExtraRoom::Class(self.extra),
            Some(headers) => ExtraRoom::Beside(headers),
            None => ExtraRoom::Port(if cut { self.extra } else { Bytes(0) }),
        }
    }
    /// Whether a header of `size` bytes has room in a queue.
    fn takes_header(&self, size: u16, queue: QueueId, at: &ForwardingContext) -> bool {
        at.view.fits_beyond(at.out, queue, size, self.room(queue.class(), true))
    }
    /// The last packet of a queue that may be cut.
    fn tail(&self, at: &ForwardingContext, queue: QueueId) -> Option<PktId> {
        let mut last = None;
        at.view.visit_from_last(at.out, queue, &mut |id, head| {
            last = (self.may_cut(head) && u64::from(head.size) > SMALLEST).then_some(id);
            last.is_some()
        });
        last
    }
    /// What becomes of a packet that may be cut, over the threshold.
    fn choose(&self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = self.cut.class.map_or(pkt.queue(), QueueId::normal);
        if !self.takes_header(self.cut.keep.max(SMALLEST as u16), queue, at) {
            return if self.returns { Fate::TrimBack } else { Fate::Trim(queue) };
        }
        let tail = if self.by_coin { self.tail(at, pkt.queue()) } else { None };
        match tail {
            Some(id) if env.rng.below(2) == 1 => Fate::TrimWaiting(id),
            _ => Fate::Trim(queue),
        }
    }
}

impl Overflow for Trim {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if pkt.flags.has(Flags::PPL) {
            let goes_back = self.returns && pkt.is_cut() && !pkt.flags.has(Flags::RETURNED);
            return match self.takes_header(pkt.size, queue, at) {
                true => Fate::Enqueue(queue),
                false if goes_back => Fate::SendBack,
                false => Fate::without_place(queue, DropReason::BufferFull, at),
            };
        }
        match at.view.fits_beyond(at.out, queue, pkt.size, self.room(pkt.class(), false)) {
            true => Fate::Enqueue(queue),
            false if self.may_cut(pkt) => self.choose(pkt, at, env),
            false => Fate::without_place(queue, DropReason::BufferFull, at),
        }
    }
    fn extra_room(&self, pkt: &Head) -> Option<ExtraRoom> {
        Some(self.room(pkt.class(), pkt.flags.has(Flags::PPL)))
    }
    fn cut(&self) -> Cut {
        self.cut
    }
    fn asks(&self) -> Asks {
        if self.cut.class.is_some() { Asks::Always } else { Asks::WhenFull }
    }
    fn needs(&self) -> Needs {
        Needs {
            returns: self.returns,
            removes: self.by_coin,
            cut: Some(self.extra),
            cut_class: self.cut.class,
            ..Needs::default()
        }
    }
    /// It needs a buffer that can be over its threshold, and tells headers from data by their bytes.
    fn check(&self, beside: &Beside, report: &mut Report) {
        if (1..SMALLEST).contains(&self.trim_size) || self.trim_size > u64::from(u16::MAX) {
            let rule = format!("0B, or {SMALLEST}B to {}B: no frame is shorter", u16::MAX);
            report.wrong("trim_size", Bytes(self.trim_size), rule);
        }
        let only = self.trimmable_class.filter(|_| self.trimmable == Trimmable::Class);
        if let Some(class) = self.cut.class.filter(|class| only == Some(u64::from(*class))) {
            report.wrong(
                "header_class",
                class,
                "another class than `trimmable_class`: headers are told from data by it",
            );
        }
        match beside.memory {
            None => report.note(NEVER_CUTS),
            Some(_) if beside.shared => report.note(SHARED_CUTS),
            Some(Amount::Packets(_)) if self.cut.class.is_some() => {
                let found = "a class of its own for headers beside a buffer in packets";
                report.wrong("header_class", found, "a buffer in bytes: headers and data are told apart by their bytes");
            }
            Some(Amount::Packets(_)) => report.note(format!(
                "trim with a buffer in packets: a header takes the place of a whole packet, and extra = {} is room for {} \
                 more",
                self.extra,
                self.extra.0 / SMALLEST
            )),
            Some(Amount::Bytes(_)) => {}
        }
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
