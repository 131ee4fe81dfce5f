//! Reaction point of QCN: congestion messages cut the rate of a flow, and the source raises it again by itself
//! (802.1Qau §32; QCN-OS §III, fig. 6).
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

use super::fixed_point::{
    FIXED_POINT_ONE, bits_per_second, multiply_rounding_down, multiply_rounding_to_nearest, to_fixed_point,
};
use super::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};
use crate::params::{ParamKind, Spec, Values};
use crate::{FlowId, Notice, Report, Stream, StreamPurpose, choice, params};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Dur, Rate, Time};

#[cfg(test)]
mod tests;

choice! {
    /// Choice of the congestion messages that set the target rate to the current rate.
    pub(crate) enum TargetUpdate {
        ByteStage = "byte_stage",
        Always = "always",
    }
}

params! {
    /// Parameter values of QCN's reaction point.
    #[derive(Copy)]
    pub(crate) struct Params {
        timer: Dur = {
            doc: "Period of the timer (802.1Q rpgTimeReset). From stage `threshold` on, the period is half as long.",
            kind: ParamKind::Time { min: 1_000_000 },
            default: Some("15ms"),
        },
        byte_counter: Bytes = {
            doc: "Bytes of a stage of the byte counter, in frames without preamble and gap (rpgByteReset). From stage \
                  `threshold` on, a stage has half as many bytes.",
            kind: ParamKind::Size { min: 1 },
            default: Some("150KB"),
        },
        jitter: f64 = {
            doc: "Share by which the byte counter varies: its bytes are multiplied by a draw from U(1 - jitter, 1 + \
                  jitter), and 0 means no variation. The jitter comes from the pseudo-code of the authors; the \
                  standard has none.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.15"),
        },
        threshold: u64 = {
            doc: "Stage of the byte counter or the timer (rpgThreshold). Before this stage, increases only recover the \
                  target rate; from this stage on, the target rate itself grows.",
            kind: ParamKind::Count { min: 1, max: 1_000_000 },
            default: Some("5"),
        },
        r_ai: Rate = {
            doc: "Rate that an active increase adds to the target rate (rpgAiRate).",
            kind: ParamKind::Rate,
            default: Some("5Mbps"),
        },
        r_hai: Rate = {
            doc: "Rate that a hyper-active increase adds to the target rate, times its step (rpgHaiRate).",
            kind: ParamKind::Rate,
            default: Some("50Mbps"),
        },
        first_hai_step: u64 = {
            doc: "First step of hyper-active increase: 1 adds `r_hai`; 0 adds nothing, as in other versions of the \
                  pseudo-code.",
            kind: ParamKind::Count { min: 0, max: 1 },
            default: Some("1"),
        },
        gd: f64 = {
            doc: "Gain Gd: a message with feedback F, 1 to 63, cuts the rate by the share Gd F (rpgGd, 1/128).",
            kind: ParamKind::Number { min: 1e-6, max: 1.0, below_max: false },
            default: Some("0.0078125"),
        },
        min_decrease: f64 = {
            doc: "Minimum share of the rate that a message leaves (rpgMinDecFac).",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.5"),
        },
        min_rate: Rate = {
            doc: "Minimum rate of a flow, including preamble and gap (rpgMinRate).",
            kind: ParamKind::Rate,
            default: Some("5Mbps"),
        },
        target: TargetUpdate = {
            doc: "Messages that set the target rate to the current rate and reload the byte counter. `byte_stage`: \
                  those after the first cycle of the byte counter (extra fast recovery). `always`: all.",
            kind: TargetUpdate::KIND,
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
    params: Params::PARAMS,
};

/// Reaction point of QCN at one host.
#[derive(Clone, Debug)]
pub struct Qcn {
    given: Params,
    line_rate: Rate,
    rng: Stream,
    flow_states: BTreeMap<FlowId, FlowState>,
    /// Instants at which the timers expire, for each rate-limited flow.
    timers: BTreeSet<(Time, FlowId)>,
}

/// QCN state of a rate-limited flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowState {
    /// Current rate CR of the flow, in bits per second; `target` is its target rate TR.
    current: u64,
    target: u64,
    byte_stage: u64,
    time_stage: u64,
    /// Number of bytes to send until the byte counter expires.
    bytes_left: u64,
    timer: Time,
}

impl Qcn {
    /// Creates QCN's reaction point from validated parameters, at no host yet.
    pub(super) fn new(values: &Values) -> Qcn {
        Qcn {
            given: Params::read(values),
            line_rate: Rate::bps(1),
            rng: Stream::new(0, 0, StreamPurpose::Reaction),
            flow_states: BTreeMap::new(),
            timers: BTreeSet::new(),
        }
    }
    pub(super) fn slot(values: &Values) -> ReactionSlot {
        ReactionSlot::new(Qcn::new(values))
    }

    /// Returns the rate of a flow after a congestion message with this feedback, in bits per second.
    fn rate_after_cut(&self, rate: u64, feedback: u8) -> u64 {
        let less = to_fixed_point(self.given.gd).saturating_mul(u64::from(feedback));
        let factor = FIXED_POINT_ONE.saturating_sub(less).max(to_fixed_point(self.given.min_decrease));
        multiply_rounding_down(rate, factor)
            .max(bits_per_second(self.given.min_rate))
            .min(bits_per_second(self.line_rate))
    }

    /// Returns the target rate of a flow after an increase, in bits per second.
    fn raised_target(&self, state: &FlowState) -> u64 {
        let Params { threshold, r_ai, r_hai, first_hai_step, .. } = self.given;
        let is_first = state.byte_stage == 1 || state.time_stage == 1;
        let least = state.byte_stage.min(state.time_stage);
        if is_first && u128::from(state.target) > 10 * u128::from(state.current) {
            return state.target / 8;
        }
        state.target.saturating_add(match () {
            () if least >= threshold => bits_per_second(r_hai).saturating_mul(least - threshold + first_hai_step),
            () if state.byte_stage.max(state.time_stage) >= threshold => bits_per_second(r_ai),
            () => 0,
        })
    }

    fn increase_rates(&self, state: &mut FlowState) {
        state.target = self.raised_target(state);
        // Rounding up lets CR reach TR after some 30 increases. Rounded down, it would stay 1 bit/s below.
        let middle = (u128::from(state.current) + u128::from(state.target)).div_ceil(2);
        state.current = middle.min(u128::from(bits_per_second(self.line_rate))) as u64;
    }

    /// Returns the number of bytes, at least 1, after which the byte counter expires in a stage.
    /// The number is drawn at random if the counter has jitter.
    fn draw_stage_bytes(&mut self, stage: u64) -> u64 {
        let Bytes(full) = self.given.byte_counter;
        let mean = if stage >= self.given.threshold { full / 2 } else { full };
        let spread = multiply_rounding_to_nearest(mean, to_fixed_point(self.given.jitter));
        let more = if spread > 0 { self.rng.uniform_below(2 * spread + 1) } else { 0 };
        (mean - spread + more).max(1)
    }

    fn start_rate_timer(&mut self, flow: FlowId, point: &mut FlowState, now: Time) {
        let Dur(full) = self.given.timer;
        let time = if point.time_stage >= self.given.threshold { full / 2 } else { full };
        self.timers.remove(&(point.timer, flow));
        point.timer = now.saturating_add(Dur(time));
        self.timers.insert((point.timer, flow));
    }

    /// Stores the QCN state of a flow and sets its rate limiter, or removes both if the flow needs no limit.
    fn store_state(&mut self, point: FlowState, at: &mut FlowAtNic) {
        if point.current == bits_per_second(self.line_rate) && at.is_empty {
            *at.limiter = None;
            self.flow_states.remove(&at.flow);
            self.timers.remove(&(point.timer, at.flow));
            return;
        }
        self.flow_states.insert(at.flow, point);
        // At the line rate the limiter gets `line` itself: whole bits per second could be slower and delay frames.
        at.set_rate_limit(if point.current == bits_per_second(self.line_rate) {
            self.line_rate
        } else {
            Rate::bps(point.current)
        });
    }
}

impl Reaction for Qcn {
    fn check(&self, line: Rate, report: &mut Report) {
        if self.given.min_rate >= line {
            let rule = format!(
                "less than {line}, the rate of the slowest host link, because no message cuts a rate \
                                below min_rate"
            );
            report.add_error("min_rate", self.given.min_rate, rule);
        }
    }

    fn for_host(&mut self, host: ReactionHost) {
        (self.line_rate, self.rng) = (host.line_rate, host.rng);
    }

    fn on_notice(&mut self, notice: &Notice, at: &mut FlowAtNic) {
        // Feedback 0 reports no congestion, so the rate stays.
        let Notice::Cnm { feedback: feedback @ 1.., .. } = *notice else { return };
        let line = bits_per_second(self.line_rate);
        let new =
            FlowState { current: line, target: line, byte_stage: 0, time_stage: 0, bytes_left: 0, timer: Time::NEVER };
        let known = self.flow_states.get(&at.flow).copied();
        let mut point = known.unwrap_or(new);
        // Extra fast recovery: a message in the first byte cycle (stage 0) keeps TR, so that messages about one
        // congestion do not lower it again.
        if known.is_none() || point.byte_stage != 0 || self.given.target == TargetUpdate::Always {
            (point.target, point.bytes_left) = (point.current, self.draw_stage_bytes(0));
        }
        (point.byte_stage, point.time_stage) = (0, 0);
        point.current = self.rate_after_cut(point.current, feedback);
        self.start_rate_timer(at.flow, &mut point, at.now);
        self.store_state(point, at);
    }

    fn on_sent(&mut self, bytes: u64, at: &mut FlowAtNic) {
        let Some(point) = self.flow_states.get_mut(&at.flow) else { return };
        point.bytes_left = point.bytes_left.saturating_sub(bytes);
        let mut point = *point;
        if point.bytes_left == 0 {
            point.byte_stage += 1;
            point.bytes_left = self.draw_stage_bytes(point.byte_stage);
            self.increase_rates(&mut point);
        // At the line rate, every frame needs `store_state`, which removes the limiter once no frame of the flow
        // is queued.
        } else if point.current < bits_per_second(self.line_rate) {
            return;
        }
        self.store_state(point, at);
    }

    fn next_timer(&self) -> Option<(Time, FlowId)> {
        self.timers.first().copied()
    }

    fn on_timer(&mut self, at: &mut FlowAtNic) {
        let Some(mut point) = self.flow_states.get(&at.flow).copied() else { return };
        point.time_stage += 1;
        self.start_rate_timer(at.flow, &mut point, at.now);
        self.increase_rates(&mut point);
        self.store_state(point, at);
    }

    fn remove_flow(&mut self, flow: FlowId) {
        if let Some(point) = self.flow_states.remove(&flow) {
            self.timers.remove(&(point.timer, flow));
        }
    }

    fn clone_boxed(&self) -> Box<dyn Reaction> {
        Box::new(self.clone())
    }
}
