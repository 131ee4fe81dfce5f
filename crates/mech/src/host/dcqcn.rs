//! Both ends of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3, fig. 7).
//! The receiver notifies the source of a flow with marked packets (NP, notification point). The source lowers the rate
//! of the flow and raises it again (RP, reaction point).
//!
//! ```text
//!   event                          effect on current rate RC, target rate RT and alpha, and on both stages
//!   message (CNP)                  the first of a flow: alpha = initial_alpha; without a limiter: RC = RT = line rate
//!                                  RT = RC; RC = max(min_rate, RC (1 - alpha / 2)); alpha = (1 - g) alpha + g
//!                                  stages = 0; byte counter and both timers restarted
//!   alpha_timer without message    alpha = (1 - g) alpha; restarted
//!   byte counter or rate timer     its stage + 1; restarted; then an increase:
//!     both stages < threshold                                        fast recovery
//!     else, both > threshold       RT = RT + r_hai                   hyper increase
//!     else                         RT = RT + r_ai                    additive increase
//!                                  RT = min(line rate, RT); RC = (RC + RT) / 2
//!   RC = line rate                 byte counter and rate timer stop; the limiter goes once no frame is queued
//! ```
//!
//! Alpha outlives the limiter, until the end of the flow. The byte counter counts frames as they begin to leave,
//! without preamble and gap. Bytes by which a frame exceeds it are not carried over.
//!
//! Rates are whole bits per second: a cut is rounded down, half of a sum up. Alpha is in units of 2⁻³², rounded down.
//! The line rate is that of the NIC's link at the start of the run, or `flow_rate` of the NIC if that is lower.
//!
//! The paper does not define two points: here RT never exceeds the line rate, and the first mark of a flow causes a
//! CNP. Not modelled: the minimum time between CNPs of different flows (NVIDIA: 4 us), and targets that a message
//! leaves unchanged.

use super::fixed_point::{FIXED_POINT_ONE, bits_per_second, multiply_rounding_down, to_fixed_point};
use super::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{FlowId, Notice, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, Dur, Rate, Time};

#[cfg(test)]
mod tests;

params! {
    /// Parameter values of `dcqcn`.
    #[derive(Copy)]
    pub(crate) struct Params {
        cnp_interval: Dur = {
            doc: "Minimum time between two CNPs of a receiver about the same flow. Marked packets in between cause no \
                  CNP.",
            kind: ParamKind::Time { min: 1 },
            default: Some("50us"),
        },
        g: f64 = {
            doc: "Gain g: a CNP sets alpha to (1 - g) alpha + g, and the alpha timer sets it to (1 - g) alpha.",
            kind: ParamKind::Number { min: 1e-6, max: 1.0, below_max: false },
            default: Some("0.00390625"),
        },
        initial_alpha: f64 = {
            doc: "Alpha at the first CNP of a flow. A CNP cuts the rate by the share alpha / 2.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
        alpha_timer: Dur = {
            doc: "Period of the alpha timer: alpha shrinks after each such time without a CNP.",
            kind: ParamKind::Time { min: 1_000_000 },
            default: Some("55us"),
        },
        rate_timer: Dur = {
            doc: "Period T of the rate timer: the time from one increase of the rate to the next.",
            kind: ParamKind::Time { min: 1_000_000 },
            default: Some("55us"),
        },
        byte_counter: Bytes = {
            doc: "Bytes B that a flow sends from one increase of the rate to the next, in frames without preamble and \
                  gap.",
            kind: ParamKind::Size { min: 1 },
            default: Some("10MB"),
        },
        threshold: u64 = {
            doc: "Stage F of the byte counter or the rate timer. Before this stage, increases only recover the target \
                  rate; from this stage on, the target rate itself grows.",
            kind: ParamKind::Count { min: 1, max: 1_000_000 },
            default: Some("5"),
        },
        r_ai: Option<Rate> = {
            doc: "Rate that an additive increase adds to the target rate. The default is the line rate / 5000: 5 Mb/s \
                  at 25 Gb/s.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
        r_hai: Option<Rate> = {
            doc: "Rate that a hyper increase adds to the target rate. The default is the line rate / 500: 50 Mb/s at \
                  25 Gb/s.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
        min_rate: Option<Rate> = {
            doc: "Minimum rate of a flow, including preamble and gap. The default is the line rate / 1000.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "host.reaction",
    kind: "dcqcn",
    doc: "Both ends of DCQCN. Receivers report marked packets by CNPs, which cut the rate of their flow. A byte \
          counter and a timer raise it again.",
    cite: "Zhu et al., SIGCOMM 2015, §3",
    params: Params::PARAMS,
};

/// DCQCN at one host: notification point of received flows, and reaction point of sent flows.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    given: Params,
    line_rate: Rate,
    flow_states: BTreeMap<FlowId, FlowState>,
    /// Instants at which the rate timers expire, for each flow below the line rate.
    timers: BTreeSet<(Time, FlowId)>,
    notified: NotifiedFlows,
}

/// DCQCN state of a flow whose source has had a CNP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowState {
    /// Current rate RC of the flow, in bits per second; `target` is its target rate RT.
    current: u64,
    target: u64,
    /// Congestion estimate alpha in units of 2⁻³², at the last start of the alpha timer.
    alpha: u64,
    alpha_since: Time,
    byte_stage: u64,
    time_stage: u64,
    /// Number of bytes to send until the byte counter expires.
    bytes_left: u64,
    /// Instant at which the rate timer expires; never, if the flow is at the line rate.
    timer: Time,
}

/// Flows whose sources were notified within the last interval.
#[derive(Clone, Debug, Default)]
struct NotifiedFlows {
    flows: BTreeSet<FlowId>,
    order: VecDeque<(Time, FlowId)>,
}

impl NotifiedFlows {
    /// Notes a marked packet of a flow, and returns true if its source must be notified now.
    fn note_marked(&mut self, flow: FlowId, now: Time, interval: Dur) -> bool {
        // Entries are in the order of time and have one interval, so expired ones are at the front.
        while let Some((_, old)) = self.order.front().copied().filter(|(at, _)| at.saturating_add(interval) <= now) {
            self.order.pop_front();
            self.flows.remove(&old);
        }
        let is_due = self.flows.insert(flow);
        if is_due {
            self.order.push_back((now, flow));
        }
        is_due
    }
}

impl Dcqcn {
    /// Creates DCQCN from validated parameters, at no host yet.
    pub(super) fn new(values: &Values) -> Dcqcn {
        Dcqcn {
            given: Params::read(values),
            line_rate: Rate::bps(1),
            flow_states: BTreeMap::new(),
            timers: BTreeSet::new(),
            notified: NotifiedFlows::default(),
        }
    }
    pub(super) fn slot(values: &Values) -> ReactionSlot {
        ReactionSlot::new(Dcqcn::new(values))
    }

    fn line_rate(&self) -> u64 {
        bits_per_second(self.line_rate)
    }
    /// Returns the given rate, or else the line rate divided by `part`, in bits per second.
    fn rate_or_share_of_line(&self, given: Option<Rate>, part: u64) -> u64 {
        given.map_or((self.line_rate() / part).max(1), bits_per_second)
    }
    fn min_rate(&self) -> u64 {
        self.rate_or_share_of_line(self.given.min_rate, 1000).min(self.line_rate())
    }

    /// Applies the expiries of the alpha timer since its last start. They have no events of their own, because alpha is
    /// needed only at the next CNP.
    fn shrink_alpha(&self, state: &mut FlowState, now: Time) {
        let Dur(period) = self.given.alpha_timer;
        let left = FIXED_POINT_ONE - to_fixed_point(self.given.g);
        let times = (now.0 - state.alpha_since.0) / period;
        state.alpha_since = Time(state.alpha_since.0 + times * period);
        for _ in 0..times {
            if state.alpha == 0 {
                break;
            }
            state.alpha = multiply_rounding_down(state.alpha, left);
        }
    }

    fn increase_rates(&self, state: &mut FlowState) {
        let threshold = self.given.threshold;
        // Fig. 7: fast recovery if max(stages) < F, hyper increase if min(stages) > F, else additive increase.
        state.target += match (state.byte_stage.min(state.time_stage), state.byte_stage.max(state.time_stage)) {
            (_, most) if most < threshold => 0,
            (least, _) if least > threshold => self.rate_or_share_of_line(self.given.r_hai, 500),
            _ => self.rate_or_share_of_line(self.given.r_ai, 5000),
        };
        state.target = state.target.min(self.line_rate());
        // Rounding up lets RC reach RT.
        state.current = (u128::from(state.current) + u128::from(state.target)).div_ceil(2) as u64;
    }

    /// Restarts the rate timer of a flow, unless the flow is at the line rate.
    fn start_rate_timer(&mut self, flow: FlowId, point: &mut FlowState, now: Time) {
        self.timers.remove(&(point.timer, flow));
        point.timer = Time::NEVER;
        if point.current < self.line_rate() {
            point.timer = now.saturating_add(self.given.rate_timer);
            self.timers.insert((point.timer, flow));
        }
    }

    /// Stores the DCQCN state of a flow, and sets or removes its rate limiter.
    fn store_state(&mut self, point: FlowState, at: &mut FlowAtNic) {
        self.flow_states.insert(at.flow, point);
        match point.current == self.line_rate() {
            true if at.is_empty => *at.limiter = None,
            // The limiter gets the exact rate of the link: `current` is in whole bits per second, which could be
            // slower and delay frames.
            true => at.set_rate_limit(self.line_rate),
            false => at.set_rate_limit(Rate::bps(point.current)),
        }
    }
}

impl Reaction for Dcqcn {
    fn check(&self, line: Rate, report: &mut Report) {
        if let Some(min_rate) = self.given.min_rate.filter(|rate| *rate >= line) {
            let rule = format!(
                "less than {line}, the rate of the slowest host link, because no CNP cuts a rate below \
                                min_rate"
            );
            report.add_error("min_rate", min_rate, rule);
        }
    }
    fn for_host(&mut self, host: ReactionHost) {
        self.line_rate = host.line_rate;
    }
    fn sends_notices(&self) -> bool {
        true
    }
    fn on_marked(&mut self, flow: FlowId, now: Time) -> Option<Notice> {
        self.notified.note_marked(flow, now, self.given.cnp_interval).then_some(Notice::Cnp)
    }

    fn on_notice(&mut self, notice: &Notice, at: &mut FlowAtNic) {
        if *notice != Notice::Cnp {
            return;
        }
        let line = self.line_rate();
        let mut point = self.flow_states.get(&at.flow).copied().unwrap_or(FlowState {
            current: line,
            target: line,
            alpha: to_fixed_point(self.given.initial_alpha),
            alpha_since: at.now,
            byte_stage: 0,
            time_stage: 0,
            bytes_left: 0,
            timer: Time::NEVER,
        });
        self.shrink_alpha(&mut point, at.now);
        point.target = point.current;
        point.current = multiply_rounding_down(point.current, FIXED_POINT_ONE - point.alpha / 2).max(self.min_rate());
        let g = to_fixed_point(self.given.g);
        (point.alpha, point.alpha_since) = (multiply_rounding_down(point.alpha, FIXED_POINT_ONE - g) + g, at.now);
        (point.byte_stage, point.time_stage, point.bytes_left) = (0, 0, self.given.byte_counter.0);
        self.start_rate_timer(at.flow, &mut point, at.now);
        self.store_state(point, at);
    }

    fn on_sent(&mut self, bytes: u64, at: &mut FlowAtNic) {
        let line = self.line_rate();
        let Some(point) = self.flow_states.get_mut(&at.flow) else { return };
        // At the line rate, every frame needs `store_state`, which removes the limiter once no frame of the flow
        // is queued.
        if point.current == line {
            let point = *point;
            return self.store_state(point, at);
        }
        point.bytes_left = point.bytes_left.saturating_sub(bytes);
        if point.bytes_left > 0 {
            return;
        }
        let mut point = *point;
        (point.byte_stage, point.bytes_left) = (point.byte_stage + 1, self.given.byte_counter.0);
        self.increase_rates(&mut point);
        if point.current == line {
            self.start_rate_timer(at.flow, &mut point, at.now);
        }
        self.store_state(point, at);
    }

    fn next_timer(&self) -> Option<(Time, FlowId)> {
        self.timers.first().copied()
    }

    fn on_timer(&mut self, at: &mut FlowAtNic) {
        let Some(mut point) = self.flow_states.get(&at.flow).copied() else { return };
        point.time_stage += 1;
        self.increase_rates(&mut point);
        self.start_rate_timer(at.flow, &mut point, at.now);
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
