//! The ends of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3, fig. 7): a
//! host tells the source of a flow whose packets come marked (NP, notification point), and the source slows it and lets
//! it have its rate back (RP, reaction point).
//!
//! ```text
//!   event                          what becomes of current rate RC, target rate RT and alpha, and of the two stages
//!   message (CNP)                  the first of a flow: alpha = initial_alpha; without a limiter: RC = RT = line rate
//!                                  RT = RC; RC = max(min_rate, RC (1 - alpha / 2)); alpha = (1 - g) alpha + g
//!                                  stages = 0; byte counter and both timers started anew
//!   alpha_timer without message    alpha = (1 - g) alpha; started anew
//!   byte counter or rate timer     its stage + 1; started anew; then an increase:
//!     both stages < threshold                                        fast recovery
//!     else, both > threshold       RT = RT + r_hai                   hyper increase
//!     else                         RT = RT + r_ai                    additive increase
//!                                  RT = min(line rate, RT); RC = (RC + RT) / 2
//!   RC = line rate                 byte counter and rate timer stop; the limiter goes when nothing of the flow waits
//! ```
//!
//! Alpha outlives the limiter, up to the end of the flow. The byte counter counts frames as they begin to leave, without preamble and
//! gap; what a frame exceeds it by is not carried over. Rates are whole bits per second: a cut is rounded down, half of a
//! sum up. Alpha is in parts of 2⁻³², rounded down. The line rate is that of the NIC's link at the start of the run, or
//! `flow_rate` of the NIC where it is lower.
//!
//! Not in the paper, and so: RT never exceeds the line rate, and a flow with marks is told at the first of them. Not
//! modelled: the least time between CNPs of different flows (NVIDIA: 4 us), targets that a message leaves as they are.

use super::shares::{ONE, bps, part, parts};
use super::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};
use crate::params;
use crate::params::{Kind, Spec, Values};
use crate::{FlowId, Notice, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, Dur, Rate, Time};

#[cfg(test)]
mod tests;

params! {
    /// The values of its parameters.
    #[derive(Copy)]
    pub(crate) struct Given {
        cnp_interval: Dur = {
            doc: "A receiver sends a CNP for a marked packet if it has sent none about its flow for so long.",
            kind: Kind::Time { min: 1 },
            default: Some("50us"),
        },
        g: f64 = {
            doc: "Gain g of alpha; also by how much it shrinks each `alpha_timer`.",
            kind: Kind::Number { min: 1e-6, max: 1.0, below_max: false },
            default: Some("0.00390625"),
        },
        initial_alpha: f64 = {
            doc: "Alpha at the first CNP of a flow; the rate is cut by half of it.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
        alpha_timer: Dur = {
            doc: "Each time that so long no CNP has come, alpha shrinks.",
            kind: Kind::Time { min: 1_000_000 },
            default: Some("55us"),
        },
        rate_timer: Dur = {
            doc: "Time from one increase of the rate to the next (T).",
            kind: Kind::Time { min: 1_000_000 },
            default: Some("55us"),
        },
        byte_counter: Bytes = {
            doc: "Bytes that a flow sends from one increase of the rate to the next (B), in frames without preamble and gap.",
            kind: Kind::Size { min: 1 },
            default: Some("10MB"),
        },
        threshold: u64 = {
            doc: "Stage F from which on rates are not only recovered but probed for.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: Some("5"),
        },
        r_ai: Option<Rate> = {
            doc: "What an additive increase adds to the target rate. By default the line rate / 5000: 5 Mb/s at 25 Gb/s.",
            kind: Kind::Rate,
            default: Some(""),
        },
        r_hai: Option<Rate> = {
            doc: "What a hyper increase adds. By default the line rate / 500: 50 Mb/s at 25 Gb/s.",
            kind: Kind::Rate,
            default: Some(""),
        },
        min_rate: Option<Rate> = {
            doc: "Least rate of a flow, preamble and gap included. By default the line rate / 1000.",
            kind: Kind::Rate,
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "host.reaction",
    kind: "dcqcn",
    doc: "Both ends of DCQCN: receivers tell of marked packets by CNPs, which cut the rate of their flow; a byte counter and a \
          timer raise it again.",
    cite: "Zhu et al., SIGCOMM 2015, §3",
    params: Given::PARAMS,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    given: Given,
    line: Rate,
    points: BTreeMap<FlowId, Point>,
    /// When the rate timer of each of these expires.
    timers: BTreeSet<(Time, FlowId)>,
    told: Told,
}

/// What is known of a flow that was slowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    /// RC and RT, bits per second.
    current: u64,
    target: u64,
    /// In parts of 2⁻³², as it was when the alpha timer was last started.
    alpha: u64,
    alpha_since: Time,
    byte_stage: u64,
    time_stage: u64,
    /// Bytes until the byte counter expires.
    left: u64,
    /// When the rate timer expires; never where there is nothing to get back.
    timer: Time,
}

/// Whose sources have been told within the last interval.
#[derive(Clone, Debug, Default)]
struct Told {
    flows: BTreeSet<FlowId>,
    order: VecDeque<(Time, FlowId)>,
}

impl Told {
    /// Whether a flow's source is to be told now.
    fn is_due(&mut self, flow: FlowId, now: Time, interval: Dur) -> bool {
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
    /// From validated parameters, at no host yet.
    pub(super) fn new(values: &Values) -> Dcqcn {
        Dcqcn {
            given: Given::read(values),
            line: Rate::bps(1),
            points: BTreeMap::new(),
            timers: BTreeSet::new(),
            told: Told::default(),
        }
    }
    pub(super) fn slot(values: &Values) -> ReactionSlot {
        ReactionSlot::new(Dcqcn::new(values))
    }

    fn line(&self) -> u64 {
        bps(self.line)
    }
    /// What is given, or this part of the line rate.
    fn or_part(&self, given: Option<Rate>, part: u64) -> u64 {
        given.map_or((self.line() / part).max(1), bps)
    }
    fn min_rate(&self) -> u64 {
        self.or_part(self.given.min_rate, 1000).min(self.line())
    }

    /// Alpha has shrunk once for each time that its timer has expired since.
    fn shrink_alpha(&self, of: &mut Point, now: Time) {
        let Dur(period) = self.given.alpha_timer;
        let left = ONE - parts(self.given.g);
        let times = (now.0 - of.alpha_since.0) / period;
        of.alpha_since = Time(of.alpha_since.0 + times * period);
        for _ in 0..times {
            if of.alpha == 0 {
                break;
            }
            of.alpha = part(of.alpha, left);
        }
    }

    fn increase(&self, of: &mut Point) {
        let threshold = self.given.threshold;
        of.target += match (of.byte_stage.min(of.time_stage), of.byte_stage.max(of.time_stage)) {
            (_, most) if most < threshold => 0,
            (least, _) if least > threshold => self.or_part(self.given.r_hai, 500),
            _ => self.or_part(self.given.r_ai, 5000),
        };
        of.target = of.target.min(self.line());
        of.current = (u128::from(of.current) + u128::from(of.target)).div_ceil(2) as u64;
    }

    /// Starts the rate timer anew; not where there is nothing to get back.
    fn start_timer(&mut self, flow: FlowId, point: &mut Point, now: Time) {
        self.timers.remove(&(point.timer, flow));
        point.timer = Time::NEVER;
        if point.current < self.line() {
            point.timer = now.saturating_add(self.given.rate_timer);
            self.timers.insert((point.timer, flow));
        }
    }

    /// Keeps what has become of a flow, and sets its limiter or takes it away.
    fn keep(&mut self, point: Point, at: &mut FlowAtNic) {
        self.points.insert(at.flow, point);
        match point.current == self.line() {
            true if at.is_empty => *at.limiter = None,
            true => at.limit(self.line),
            false => at.limit(Rate::bps(point.current)),
        }
    }
}

impl Reaction for Dcqcn {
    fn check(&self, line: Rate, report: &mut Report) {
        if let Some(min_rate) = self.given.min_rate.filter(|rate| *rate >= line) {
            let rule =
                format!("less than the rate of every host's link, of which the least is {line}: no CNP cuts below it");
            report.wrong("min_rate", min_rate, rule);
        }
    }
    fn for_host(&mut self, host: ReactionHost) {
        self.line = host.line;
    }
    fn sends_notices(&self) -> bool {
        true
    }
    fn on_marked(&mut self, flow: FlowId, now: Time) -> Option<Notice> {
        self.told.is_due(flow, now, self.given.cnp_interval).then_some(Notice::Cnp)
    }

    fn on_notice(&mut self, notice: &Notice, at: &mut FlowAtNic) {
        if *notice != Notice::Cnp {
            return;
        }
        let line = self.line();
        let mut point = self.points.get(&at.flow).copied().unwrap_or(Point {
            current: line,
            target: line,
            alpha: parts(self.given.initial_alpha),
            alpha_since: at.now,
            byte_stage: 0,
            time_stage: 0,
            left: 0,
            timer: Time::NEVER,
        });
        self.shrink_alpha(&mut point, at.now);
        point.target = point.current;
        point.current = part(point.current, ONE - point.alpha / 2).max(self.min_rate());
        let g = parts(self.given.g);
        (point.alpha, point.alpha_since) = (part(point.alpha, ONE - g) + g, at.now);
        (point.byte_stage, point.time_stage, point.left) = (0, 0, self.given.byte_counter.0);
        self.start_timer(at.flow, &mut point, at.now);
        self.keep(point, at);
    }

    fn on_sent(&mut self, bytes: u64, at: &mut FlowAtNic) {
        let line = self.line();
        let Some(point) = self.points.get_mut(&at.flow) else { return };
        if point.current == line {
            let point = *point;
            return self.keep(point, at);
        }
        point.left = point.left.saturating_sub(bytes);
        if point.left > 0 {
            return;
        }
        let mut point = *point;
        (point.byte_stage, point.left) = (point.byte_stage + 1, self.given.byte_counter.0);
        self.increase(&mut point);
        if point.current == line {
            self.start_timer(at.flow, &mut point, at.now);
        }
        self.keep(point, at);
    }

    fn next_timer(&self) -> Option<(Time, FlowId)> {
        self.timers.first().copied()
    }

    fn on_timer(&mut self, at: &mut FlowAtNic) {
        let Some(mut point) = self.points.get(&at.flow).copied() else { return };
        point.time_stage += 1;
        self.increase(&mut point);
        self.start_timer(at.flow, &mut point, at.now);
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
