//! Reaction point of QCN (802.1Qau §32; QCN-OS §III, fig. 6): messages cut the rate of a flow, and the source raises it
//! again by itself.
//!
//! ```text
//!   event                          effect on current rate CR, target rate TR and both stages
//!   message with feedback F        the first: a limiter with CR = TR = line rate
//!                                  byte stage != 0: TR = CR, byte counter reloaded        (`target`)
//!                                  stages = 0; CR = max(min_rate, CR max(min_decrease, 1 - gd F)); timer restarted
//!   byte counter or timer expires  its stage + 1; reloaded, half as long from stage `threshold` on; then an increase:
//!     a stage is 1, TR > 10 CR     TR = TR / 8                                            target rate reduction
//!     both stages < threshold                                                              fast recovery
//!     one of them is not           TR = TR + r_ai                                         active increase
//!     both are not                 TR = TR + r_hai (min(stages) - threshold + first_hai_step)   hyper-active increase
//!                                  CR = min(line rate, (CR + TR) / 2)
//!   CR = line rate, queue empty    the limiter and all state of the flow are removed
//! ```
//!
//! A message in the first cycle of the byte counter leaves TR unchanged: extra fast recovery. The byte counter counts
//! frames as they begin to leave, without preamble and gap. It stops while the flow is paused; the timer does not.
//! Bytes by which a frame exceeds the counter are not carried over.
//!
//! Rates are whole bits per second. A cut is rounded down, half of a sum up (so that CR reaches TR), TR / 8 down. The
//! standard sets no upper bound for TR, nor does this mechanism. The line rate is that of the NIC's link at the start
//! of the run, or `flow_rate` of the NIC if that is lower.
//!
//! Not modelled: several reaction points for a flow, one for several flows, messages about ACKs, CN tags, the defences
//! of priorities.

use super::shares::{ONE, bps, nearest_part, part, parts};
use super::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};
use crate::params::{Kind, Spec, Values};
use crate::{FlowId, Notice, Purpose, Report, Stream, choice, params};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Dur, Rate, Time};

#[cfg(test)]
mod tests;

choice! {
    /// Messages at which the target rate becomes the current rate.
    pub(crate) enum Target {
        ByteStage = "byte_stage",
        Always = "always",
    }
}

params! {
    /// Values of the parameters.
    #[derive(Copy)]
    pub(crate) struct Given {
        timer: Dur = {
            doc: "Period of the timer (802.1Q rpgTimeReset). From stage `threshold` on it is half as long.",
            kind: Kind::Time { min: 1_000_000 },
            default: Some("15ms"),
        },
        byte_counter: Bytes = {
            doc: "Bytes of the byte counter, in frames without preamble and gap (rpgByteReset). From stage `threshold` \
                  on it has half as many.",
            kind: Kind::Size { min: 1 },
            default: Some("150KB"),
        },
        jitter: f64 = {
            doc: "Share by which the byte counter varies: its bytes are multiplied by a draw from U(1 - jitter, 1 + \
                  jitter). 0 is no variation. It comes from the authors' pseudo-code; the standard has none.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.15"),
        },
        threshold: u64 = {
            doc: "Stage of the byte counter or the timer from which on the target rate grows, and is not only \
                  recovered (rpgThreshold).",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: Some("5"),
        },
        r_ai: Rate = {
            doc: "Rate that an active increase adds to the target rate (rpgAiRate).",
            kind: Kind::Rate,
            default: Some("5Mbps"),
        },
        r_hai: Rate = {
            doc: "Rate that a hyper-active increase adds to the target rate, times its step (rpgHaiRate).",
            kind: Kind::Rate,
            default: Some("50Mbps"),
        },
        first_hai_step: u64 = {
            doc: "First step of hyper-active increase: 1 adds `r_hai`; 0 adds nothing, as in other versions of the \
                  pseudo-code.",
            kind: Kind::Count { min: 0, max: 1 },
            default: Some("1"),
        },
        gd: f64 = {
            doc: "Gain Gd: a message with feedback F, 1 to 63, cuts the rate by the share Gd F (rpgGd, 1/128).",
            kind: Kind::Number { min: 1e-6, max: 1.0, below_max: false },
            default: Some("0.0078125"),
        },
        min_decrease: f64 = {
            doc: "Minimum share of the rate that a message leaves (rpgMinDecFac).",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.5"),
        },
        min_rate: Rate = {
            doc: "Minimum rate of a flow, including preamble and gap (rpgMinRate).",
            kind: Kind::Rate,
            default: Some("5Mbps"),
        },
        target: Target = {
            doc: "Messages that set the target rate to the current rate and reload the byte counter. `byte_stage`: \
                  those after the first cycle of the byte counter (extra fast recovery). `always`: all.",
            kind: Target::KIND,
            default: Some("byte_stage"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "host.reaction",
    kind: "qcn",
    doc: "Reaction point of QCN. Congestion messages cut the rate of their flow; a byte counter and a timer raise it \
          again.",
    cite: "IEEE 802.1Qau §32; QCN-OS §III",
    params: Given::PARAMS,
};

/// Reaction point of QCN at one host.
#[derive(Clone, Debug)]
pub struct Qcn {
    given: Given,
    line: Rate,
    rng: Stream,
    points: BTreeMap<FlowId, Point>,
    /// Expiry of the timer of each limited flow.
    timers: BTreeSet<(Time, FlowId)>,
}

/// State of a limited flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    /// Current rate CR, in bits per second; `target` is TR.
    current: u64,
    target: u64,
    byte_stage: u64,
    time_stage: u64,
    /// Bytes until the byte counter expires.
    left: u64,
    timer: Time,
}

impl Qcn {
    /// Creates the mechanism from validated parameters, at no host yet.
    pub(super) fn new(values: &Values) -> Qcn {
        Qcn {
            given: Given::read(values),
            line: Rate::bps(1),
            rng: Stream::new(0, 0, Purpose::Reaction),
            points: BTreeMap::new(),
            timers: BTreeSet::new(),
        }
    }
    pub(super) fn slot(values: &Values) -> ReactionSlot {
        ReactionSlot::new(Qcn::new(values))
    }

    /// Returns the rate after a cut, in bits per second.
    fn cut(&self, rate: u64, feedback: u8) -> u64 {
        let less = parts(self.given.gd).saturating_mul(u64::from(feedback));
        let factor = ONE.saturating_sub(less).max(parts(self.given.min_decrease));
        part(rate, factor).max(bps(self.given.min_rate)).min(bps(self.line))
    }

    /// Returns the target rate after an increase, in bits per second.
    fn raised(&self, of: &Point) -> u64 {
        let Given { threshold, r_ai, r_hai, first_hai_step, .. } = self.given;
        let is_first = of.byte_stage == 1 || of.time_stage == 1;
        let least = of.byte_stage.min(of.time_stage);
        if is_first && u128::from(of.target) > 10 * u128::from(of.current) {
            return of.target / 8;
        }
        of.target.saturating_add(match () {
            () if least >= threshold => bps(r_hai).saturating_mul(least - threshold + first_hai_step),
            () if of.byte_stage.max(of.time_stage) >= threshold => bps(r_ai),
            () => 0,
        })
    }

    fn increase(&self, of: &mut Point) {
        of.target = self.raised(of);
        // Rounding up lets CR reach TR after some 30 increases. Rounded down, it would stay 1 bit/s below.
        let middle = (u128::from(of.current) + u128::from(of.target)).div_ceil(2);
        of.current = middle.min(u128::from(bps(self.line))) as u64;
    }

    /// Returns the bytes of the byte counter in a stage, at least 1.
    fn bytes_of(&mut self, stage: u64) -> u64 {
        let Bytes(full) = self.given.byte_counter;
        let mean = if stage >= self.given.threshold { full / 2 } else { full };
        let spread = nearest_part(mean, parts(self.given.jitter));
        let more = if spread > 0 { self.rng.below(2 * spread + 1) } else { 0 };
        (mean - spread + more).max(1)
    }

    fn start_timer(&mut self, flow: FlowId, point: &mut Point, now: Time) {
        let Dur(full) = self.given.timer;
        let time = if point.time_stage >= self.given.threshold { full / 2 } else { full };
        self.timers.remove(&(point.timer, flow));
        point.timer = now.saturating_add(Dur(time));
        self.timers.insert((point.timer, flow));
    }

    /// Stores the state of a flow and sets its limiter, or removes both if the flow needs no limit.
    fn keep(&mut self, point: Point, at: &mut FlowAtNic) {
        if point.current == bps(self.line) && at.is_empty {
            *at.limiter = None;
            self.points.remove(&at.flow);
            self.timers.remove(&(point.timer, at.flow));
            return;
        }
        self.points.insert(at.flow, point);
        // At the line rate the limiter gets `line` itself: whole bits per second could be slower and delay frames.
        at.limit(if point.current == bps(self.line) { self.line } else { Rate::bps(point.current) });
    }
}

impl Reaction for Qcn {
    fn check(&self, line: Rate, report: &mut Report) {
        if self.given.min_rate >= line {
            let rule = format!("less than {line}, the rate of the slowest host link: no message cuts below min_rate");
            report.wrong("min_rate", self.given.min_rate, rule);
        }
    }

    fn for_host(&mut self, host: ReactionHost) {
        (self.line, self.rng) = (host.line, host.rng);
    }

    fn on_notice(&mut self, notice: &Notice, at: &mut FlowAtNic) {
        // Feedback 0 is no congestion.
        let Notice::Cnm { feedback: feedback @ 1.., .. } = *notice else { return };
        let line = bps(self.line);
        let new = Point { current: line, target: line, byte_stage: 0, time_stage: 0, left: 0, timer: Time::NEVER };
        let known = self.points.get(&at.flow).copied();
        let mut point = known.unwrap_or(new);
        // Extra fast recovery: a message in the first byte cycle (stage 0) keeps TR, so that messages about one
        // congestion do not lower it again.
        if known.is_none() || point.byte_stage != 0 || self.given.target == Target::Always {
            (point.target, point.left) = (point.current, self.bytes_of(0));
        }
        (point.byte_stage, point.time_stage) = (0, 0);
        point.current = self.cut(point.current, feedback);
        self.start_timer(at.flow, &mut point, at.now);
        self.keep(point, at);
    }

    fn on_sent(&mut self, bytes: u64, at: &mut FlowAtNic) {
        let Some(point) = self.points.get_mut(&at.flow) else { return };
        point.left = point.left.saturating_sub(bytes);
        let mut point = *point;
        if point.left == 0 {
            point.byte_stage += 1;
            point.left = self.bytes_of(point.byte_stage);
            self.increase(&mut point);
        // At the line rate, every frame needs `keep`, which removes the limiter once the flow has no frame queued.
        } else if point.current < bps(self.line) {
            return;
        }
        self.keep(point, at);
    }

    fn next_timer(&self) -> Option<(Time, FlowId)> {
        self.timers.first().copied()
    }

    fn on_timer(&mut self, at: &mut FlowAtNic) {
        let Some(mut point) = self.points.get(&at.flow).copied() else { return };
        point.time_stage += 1;
        self.start_timer(at.flow, &mut point, at.now);
        self.increase(&mut point);
        self.keep(point, at);
    }

    fn forget(&mut self, flow: FlowId) {
        if let Some(point) = self.points.remove(&flow) {
            self.timers.remove(&(point.timer, flow));
        }
    }

    fn boxed(&self) -> Box<dyn Reaction> {
        Box::new(self.clone())
    }
}
