//! CP: a switch over its threshold cuts the payload of a packet instead of dropping it. The header goes on in the same
//! queue (Cheng et al., NSDI 2014, §4.2, §5).
//!
//! The backlog of the port is compared with the threshold T, the limit of its buffer, before the packet is added. Cut
//! packets and PACKs may use E bytes more. Only a segment with CPA and a payload is cut, and only once. All other
//! packets over T are dropped, and headers over T + E.
//!
//! Parameters select later variants:
//! - a number of bytes stays (SAI);
//! - headers have a class and thus a queue of their own (NDP, UEC): its backlog is compared with E, and all other
//!   backlog of the port with T;
//! - other packets may be cut, but never those that their sender marks as [`Head::NOT_TRIMMABLE`];
//! - the tail of the queue is cut instead of the arrival (NDP);
//! - headers without free buffer space return to their source (NDP).

#[cfg(test)]
mod tests;

use super::{CutEcn, CutEffect, DropReason, Fate, Overflow};
use crate::buffer::ExtraMemory;
use crate::params::{ParamKind, Spec, Values};
use crate::{
    AdmitCalls, CheckContext, Env, Flags, ForwardingContext, Head, Needs, ParamCondition, PktId, QueueId, Report,
    choice, params,
};
use units::{Amount, Bytes, Dur};

/// Overflow mechanism that cuts the payloads of packets over a threshold (CP).
#[derive(Clone, Debug)]
pub struct Trim {
    extra: Bytes,
    /// Parameter `trim_size` as given, in bytes.
    trim_size: u64,
    cut: CutEffect,
    trimmable: TrimmablePackets,
    trimmable_class: Option<u64>,
    draws_victim: bool,
    returns: bool,
}

choice! {
    /// Choice of the packets whose payload may be cut.
    pub(crate) enum TrimmablePackets {
        Cpa = "cpa",
        Class = "class",
        Any = "any",
    }
}

choice! {
    /// Choice of the ECN codepoint of packets whose payload is cut.
    pub(crate) enum CutEcnChoice {
        Keep = "keep",
        Ce = "ce",
        NotEct = "not_ect",
    }
}

choice! {
    /// Choice of the packet that is cut if there is no free buffer space.
    pub(crate) enum Victim {
        Arrival = "arrival",
        Coin = "coin",
    }
}

choice! {
    /// Choice of the treatment of a cut packet's header without free buffer space: drop it, or return it to the source.
    pub(crate) enum FullHeaderAction {
        Drop = "drop",
        Return = "return",
    }
}

params! {
    /// Parameter values of `trim`.
    pub(crate) struct Params {
        extra: Bytes = {
            doc: "Memory E of each port beyond its buffer, for cut packets and PACKs (CP §4.6). With `header_class`, \
                  this memory is for that class alone.",
            kind: ParamKind::Size { min: 0 },
            default: Some("4KiB"),
        },
        trim_size: Bytes = {
            doc: "Bytes of a cut frame that stay, at least its headers; 0 is the headers alone (CP §4.2; SAI: \
                  PACKET_TRIM_SIZE). A packet that would get no shorter is not cut.",
            kind: ParamKind::Size { min: 0 },
            default: Some("0B"),
        },
        header_class: Option<u64> = {
            doc: "Class of cut packets, which wait in the queue of that class and are served by `scheduler`. `off` \
                  keeps them in the queue of their data (CP §4.2). The backlog of the class is compared with `extra` \
                  and the other backlog with the buffer, independently.",
            kind: ParamKind::CountOrOff { min: 0, max: 7 },
            default: Some("off"),
        },
        trimmable: TrimmablePackets = {
            doc: "Data that may be cut: segments with CPA (`cpa`, CP §4.1), data of `trimmable_class` (`class`), or \
                  any data (`any`). RoCE data is never cut, because its senders mark it as not trimmable.",
            kind: TrimmablePackets::KIND,
            default: Some("cpa"),
        },
        trimmable_class: Option<u64> = {
            doc: "Class whose data may be cut, with `trimmable` = `class` (UEC: DSCP_TRIMMABLE).",
            kind: ParamKind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        ecn: CutEcnChoice = {
            doc: "ECN codepoint of a cut packet. `keep`: unchanged, and the packet may be marked like any other. `ce`: \
                  CE if the packet is ECN-capable. `not_ect`: no longer ECN-capable.",
            kind: CutEcnChoice::KIND,
            default: Some("keep"),
        },
        victim: Victim = {
            doc: "Packet that is cut if the port is over its threshold. `arrival`: the arriving packet. `coin`: by a \
                  fair coin, the arriving packet or the last one of its queue that may be cut (NDP §3.1).",
            kind: Victim::KIND,
            default: Some("arrival"),
        },
        no_room: FullHeaderAction = {
            doc: "Treatment of a header without free buffer space: dropped (`drop`), or returned to its source \
                  (`return`, NDP §3.2.4).",
            kind: FullHeaderAction::KIND,
            default: Some("drop"),
        },
        cut_delay: Dur = {
            doc: "Time from the cut of an arriving packet until its header is in its queue (CP §5.2: 7 cycles, 56 ns). \
                  The header has its place in the buffer, and its mark, from the cut on.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0s"),
        },
    }
}

/// Declaration of `trim`: name, description and parameters.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "trim",
    doc: "Cuts the payload of a packet over the threshold, and forwards its header.",
    cite: "CP §4.2",
    params: Params::PARAMS,
};

/// Parameters of `trim` that are allowed only with one value of another parameter.
pub(super) const PARAM_CONDITIONS: &[ParamCondition] =
    &[ParamCondition { key: "trimmable_class", other_key: "trimmable", words: &[TrimmablePackets::Class.word()] }];

/// Smallest Ethernet frame, in bytes.
const MIN_FRAME_BYTES: u64 = 64;
/// Warning about `trim` with an unlimited buffer.
const NEVER_CUTS_WARNING: &str = "trim has no effect with an unlimited buffer, because no port is ever over its \
                                  threshold. Set a buffer size";
/// Warning about `trim` with a shared buffer.
const SHARED_BUFFER_WARNING: &str = "trim with a shared buffer: the threshold is the current dynamic threshold, and \
                                     extra takes only free memory of the same buffer";

impl Trim {
    /// Creates `trim` from validated parameters.
    pub fn new(values: &Values) -> Trim {
        let given = Params::read(values);
        let ecn = match given.ecn {
            CutEcnChoice::Keep => CutEcn::Keep,
            CutEcnChoice::Ce => CutEcn::Ce,
            CutEcnChoice::NotEct => CutEcn::NotEct,
        };
        let keep = u16::try_from(given.trim_size.0).unwrap_or(u16::MAX);
        let class = given.header_class.map(|class| class as u8);
        Trim {
            extra: given.extra,
            trim_size: given.trim_size.0,
            cut: CutEffect { min_size: keep, class, ecn, delay: given.cut_delay },
            trimmable: given.trimmable,
            trimmable_class: given.trimmable_class,
            draws_victim: given.victim == Victim::Coin,
            returns: given.no_room == FullHeaderAction::Return,
        }
    }
    /// Returns true if the payload of a packet may be cut.
    fn may_cut(&self, pkt: &Head) -> bool {
        let is_chosen = match self.trimmable {
            TrimmablePackets::Cpa => pkt.flags.has(Flags::CPA),
            TrimmablePackets::Class => self.trimmable_class == Some(u64::from(pkt.class())),
            TrimmablePackets::Any => true,
        } && pkt.is_trimmable();
        // PPL means already cut, or a PACK (CP §5.1). A returned packet is on its way back to its source.
        let is_other = pkt.flags.any(Flags::PPL.with(Flags::SYN).with(Flags::RETURNED));
        is_chosen && pkt.flags.has(Flags::PAYLOAD) && !is_other && pkt.size > self.cut.min_size
    }
    /// Returns the memory beyond the limit for packets of a class: whole ones, or `cut` ones, which include PACKs.
    fn extra_memory_of(&self, class: u8, cut: bool) -> ExtraMemory {
        match self.cut.class {
            Some(headers) if headers == class => ExtraMemory::Class(self.extra),
            Some(headers) => ExtraMemory::Separate(headers),
            None => ExtraMemory::Port(if cut { self.extra } else { Bytes(0) }),
        }
    }
    /// Returns true if a queue of the output port accepts a cut packet's header of `size` bytes.
    fn accepts_header(&self, size: u16, queue: QueueId, at: &ForwardingContext) -> bool {
        at.view.fits_with_extra_memory(at.output, queue, size, self.extra_memory_of(queue.class(), true))
    }
    /// Returns the last of those packets of a queue whose payload may be cut.
    fn last_cuttable(&self, at: &ForwardingContext, queue: QueueId) -> Option<PktId> {
        let mut last = None;
        at.view.visit_packets_from_last(at.output, at.view.waiting_queue(queue), &mut |id, head| {
            last = (self.may_cut(head) && u64::from(head.size) > MIN_FRAME_BYTES).then_some(id);
            last.is_some()
        });
        last
    }
    /// Returns the fate of an arrival over the threshold that may be cut.
    fn choose_victim(&self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = self.cut.class.map_or(pkt.queue(), QueueId::normal);
        // Only the dataplane has the size of the headers, so this test takes the smallest frame. The dataplane tests
        // again, and counts a header that is lost as cut.
        if !self.accepts_header(self.cut.min_size.max(MIN_FRAME_BYTES as u16), queue, at) {
            return if self.returns { Fate::TrimAndReturn } else { Fate::Trim(queue) };
        }
        let tail = if self.draws_victim { self.last_cuttable(at, pkt.queue()) } else { None };
        match tail {
            Some(id) if env.rng.uniform_below(2) == 1 => Fate::TrimQueued(id),
            _ => Fate::Trim(queue),
        }
    }
}

impl Overflow for Trim {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if pkt.flags.has(Flags::PPL) {
            let goes_back = self.returns && pkt.is_cut() && !pkt.flags.has(Flags::RETURNED);
            return match self.accepts_header(pkt.size, queue, at) {
                true => Fate::Enqueue(queue),
                false if goes_back => Fate::ReturnToSource,
                false => Fate::when_full(queue, DropReason::BufferFull, at),
            };
        }
        match at.view.fits_with_extra_memory(at.output, queue, pkt.size, self.extra_memory_of(pkt.class(), false)) {
            true => Fate::Enqueue(queue),
            false if self.may_cut(pkt) => self.choose_victim(pkt, at, env),
            false => Fate::when_full(queue, DropReason::BufferFull, at),
        }
    }
    fn extra_memory(&self, pkt: &Head) -> Option<ExtraMemory> {
        Some(self.extra_memory_of(pkt.class(), pkt.flags.has(Flags::PPL)))
    }
    fn cut_effect(&self) -> CutEffect {
        self.cut
    }
    fn admit_calls(&self) -> AdmitCalls {
        // Headers with a class of their own are not compared with the whole backlog of the port. So the switch's own
        // test of the port does not apply, and every arrival needs a decision.
        if self.cut.class.is_some() { AdmitCalls::Always } else { AdmitCalls::WhenFull }
    }
    fn needs(&self) -> Needs {
        Needs {
            returns_to_source: self.returns,
            removes_packets: self.draws_victim,
            cut_memory: Some(self.extra),
            cut_class: self.cut.class,
            ..Needs::default()
        }
    }
    /// Reports conflicts with the buffer's unit and limit, a wrong `trim_size`, and a class for both headers and data.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if (1..MIN_FRAME_BYTES).contains(&self.trim_size) || self.trim_size > u64::from(u16::MAX) {
            let rule = format!("0B, or {MIN_FRAME_BYTES}B to {}B, because no frame is shorter", u16::MAX);
            report.add_error("trim_size", Bytes(self.trim_size), rule);
        }
        let only = self.trimmable_class.filter(|_| self.trimmable == TrimmablePackets::Class);
        if let Some(class) = self.cut.class.filter(|class| only == Some(u64::from(*class))) {
            report.add_error(
                "header_class",
                class,
                "a class other than `trimmable_class`, because the class distinguishes headers from data",
            );
        }
        match beside.memory {
            None => report.add_warning(NEVER_CUTS_WARNING),
            Some(_) if beside.shared => report.add_warning(SHARED_BUFFER_WARNING),
            Some(Amount::Packets(_)) if self.cut.class.is_some() => {
                let found = "header_class with a buffer in packets";
                report.add_error(
                    "header_class",
                    found,
                    "a buffer in bytes, because in packets a header counts as much \
                                                         as data",
                );
            }
            Some(Amount::Packets(_)) => report.add_warning(format!(
                "trim with a buffer in packets: each header counts as a whole packet, so that extra = {} has space for \
                 only {} headers. Set the buffer in bytes",
                self.extra,
                self.extra.0 / MIN_FRAME_BYTES
            )),
            Some(Amount::Bytes(_)) => {}
        }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
