//! QCN's congestion point: samples its queue as bytes arrive, and notifies the source of one flow of congestion.
//! That flow is the culprit (IEEE 802.1Qau, now 802.1Q §30-32). In the standard it is the flow whose frame has just
//! arrived. It can also be drawn from the memory, in proportion to the memory of each flow (QCN-OS §III, occupancy
//! sampling; §V-A, two samples).
//!
//! ```text
//!   every I_s bytes:   q_off = q - Q_eq      q_delta = q - q_old      Fb = q_off + w q_delta
//!                      F6 = 63 Fb / ((2w + 1) Q_eq), 0 to 63           F6 > 0: a message to the culprit's source
//!                      q_old = q             the next I_s by F6: from the base down to 0.123 of it
//! ```
//!
//! q is the memory of one class of the port: the output buffer, or the memory of the input. The sign is
//! that of QCN-OS: a value above 0 means congestion. The standard has the opposite sign and the same six bits. Only
//! bytes of stored frames count, so lost frames start no sample. A frame that passes several intervals is one sample.
//! The first interval is the base. Lengths and intervals continue when the link goes down and comes back.

mod culprit;
mod feedback;
#[cfg(test)]
mod tests;

use crate::params::{Param, ParamKind, Spec, Values};
use crate::{
    Account, Act, Agent, AgentContext, CheckContext, ClassSet, Env, MemorySampling, Needs, Notice, PortId,
    PortThresholds, Report,
};
use crate::{MemorySide, TimerId, choice, params};
pub use culprit::PathIndex;
use culprit::{Culprit, PathIndexChoice};
use feedback::{FeedbackCurve, FeedbackRounding};
use units::{Bytes, Dur, Time};

choice! {
    /// Choice of the memory that a congestion point samples: that of its input or of its output.
    pub(crate) enum SampledSide {
        Inputs = "inputs",
        Outputs = "outputs",
    }
}

params! {
    /// Parameter values of QCN's congestion point.
    pub(crate) struct Params {
        at: SampledSide = {
            doc: "Memory of each port that is sampled. `outputs`: the buffer in front of its link, as in the standard. \
                  `inputs`: frames that came in by the port and have not left for their output (QCN-OS §II-B).",
            kind: SampledSide::KIND,
            default: Some("outputs"),
        },
        culprit: Culprit = {
            doc: "Flow whose source is notified. `arrival`: the flow of the frame that completes an interval \
                  (802.1Qau). `occupancy`: the flow of an occupied unit of the memory, drawn at random (QCN-OS §III). \
                  `two_samples`: of two such flows, the one with the more congested path (QCN-OS §V-A).",
            kind: Culprit::KIND,
            default: Some("arrival"),
        },
        index: PathIndexChoice = {
            doc: "Measure of the congestion of a flow's path, with `culprit` = `two_samples` (QCN-OS §V-A, \
                  path-congestion index). `first_hop`: how full the first buffer in front of a link is, on the path \
                  from the input. In a `fabric` switch that buffer belongs to an internal link, otherwise to the \
                  output. `path`: how full the fullest of these buffers is. `backlog`: the whole backlog of the output \
                  in this switch.",
            kind: PathIndexChoice::KIND,
            default: Some("first_hop"),
        },
        q_eq: Bytes = {
            doc: "Set point Q_eq of the queue (QCN-OS, Table I; the standard's MIB has cpQSp = 26,000 B).",
            kind: ParamKind::Size { min: 1 },
            default: Some("60KB"),
        },
        w: u64 = {
            doc: "Weight w of the queue's growth since the last sample (QCN-OS, Table I; 802.1Qau §30.2.1, cpW: a \
                  power of two).",
            kind: ParamKind::Count { min: 0, max: 64 },
            default: Some("2"),
        },
        interval: Bytes = {
            doc: "Base of the sampling interval I_s: bytes that arrive between two samples without congestion. With \
                  the highest feedback, the interval is about an eighth of it (QCN-OS, Table I; cpSampleBase).",
            kind: ParamKind::Size { min: 1 },
            default: Some("150KB"),
        },
        jitter: f64 = {
            doc: "Share j by which intervals vary: each is multiplied by a draw from U(1 - j, 1 + j). 0 is no \
                  variation.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.15"),
        },
        rounding: FeedbackRounding = {
            doc: "Rounding of feedback to a whole number (802.1Qau §30.2.1: six bits).",
            kind: FeedbackRounding::KIND,
            default: Some("floor"),
        },
        unit: Bytes = {
            doc: "Size of a unit of the memory from which flows are drawn. A frame occupies as many units as it needs, \
                  and shares none (QCN-OS §III).",
            kind: ParamKind::Size { min: 1 },
            default: Some("256B"),
        },
        class: u64 = {
            doc: "Traffic class that is sampled. Frames of other classes do not count and cause no messages.",
            kind: ParamKind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        keep_alive: Option<Dur> = {
            doc: "Period of samples while the far end is paused and no frame arrives (QCN-OS §III, keep-alive). The \
                  default is none. Only with `at` = `inputs` and a drawn culprit.",
            kind: ParamKind::Time { min: 1_000_000 },
            default: Some(""),
        },
    }
}

/// Declaration of QCN's congestion point: name, description and parameters.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.notify",
    kind: "qcn",
    doc: "Congestion point: samples its queue, and notifies the source of a culprit flow of the degree of congestion.",
    cite: "IEEE 802.1Qau §30-32; QCN-OS §II-C, §III, §V-A",
    params: Params::PARAMS,
};

/// Congestion point of QCN at one port.
#[derive(Clone, Debug)]
pub struct Qcn {
    given: Params,
    index: Box<dyn PathIndex>,
    curve: FeedbackCurve,
    /// Queue length q at the last sample, in bytes.
    q_old: u64,
    /// Total number of arrived bytes at which the next sample is due.
    next: u64,
    /// True if the sampled class is paused at the far end.
    paused: bool,
}

/// Timer that causes samples while the far end is paused.
const SAMPLE_TIMER: TimerId = TimerId(0);

impl Qcn {
    /// Declarations of the parameters of QCN's congestion point.
    pub const PARAMS: &'static [Param] = Params::PARAMS;

    /// Creates a congestion point from validated parameters.
    pub fn new(values: &Values) -> Qcn {
        let given = Params::read(values);
        let curve = FeedbackCurve { q_eq: given.q_eq.0, w: given.w, rounding: given.rounding };
        let next = given.interval.0;
        Qcn { index: given.index.clone_boxed(), given, curve, q_old: 0, next, paused: false }
    }
    /// Returns the congestion point with this path-congestion index, in place of that of its parameter `index`.
    #[must_use]
    pub fn with_path_index(self, index: impl PathIndex + 'static) -> Qcn {
        Qcn { index: Box::new(index), ..self }
    }

    fn class(&self) -> u8 {
        self.given.class as u8
    }
    fn side(&self) -> MemorySide {
        match self.given.at {
            SampledSide::Inputs => MemorySide::Input,
            SampledSide::Outputs => MemorySide::Output,
        }
    }

    /// Samples the queue when `arrived` bytes have arrived in total, and sends a message if there is congestion.
    fn sample(&mut self, arrived: u64, at: &AgentContext, env: &mut Env) {
        let q = at.view.bytes_in_memory(self.side(), at.port, self.class());
        let (feedback, q_old) = (self.curve.feedback(q, self.q_old), self.q_old);
        // Each sample, even one without a message, is the reference for the growth at the next sample.
        self.q_old = q;
        self.next = arrived
            .saturating_add(self.jittered_interval(feedback::sampling_interval(self.given.interval.0, feedback), env));
        if feedback == 0 {
            return;
        }
        if let Some((flow, to)) = self.given.culprit.choose_flow(&*self.index, at, env) {
            let above = |of: u64| q as i64 - of as i64;
            let (q_off, q_delta) = (above(self.curve.q_eq), above(q_old));
            env.acts.push(Act::Emit { notice: Notice::Cnm { feedback, q_off, q_delta, point: at.port }, flow, to });
        }
    }

    /// Returns a sampling interval that is randomly longer or shorter by up to the fraction `jitter`.
    fn jittered_interval(&self, interval: u64, env: &mut Env) -> u64 {
        let spread = (interval as f64 * self.given.jitter).round() as u64;
        let varied = match self.given.jitter > 0.0 {
            true => {
                (interval - spread).saturating_add(env.rng.uniform_below(spread.saturating_mul(2).saturating_add(1)))
            }
            false => interval,
        };
        varied.max(1)
    }

    fn arm_sample_timer(&self, env: &mut Env) {
        if let Some(period) = self.given.keep_alive {
            env.acts.push(Act::Arm(env.now + period, SAMPLE_TIMER));
        }
    }
}

impl Agent for Qcn {
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        let follows = match account {
            Account::Entered(_, class) => self.given.at == SampledSide::Inputs && class == self.class(),
            Account::Arrived(_, class) => self.given.at == SampledSide::Outputs && class == self.class(),
            _ => false,
        };
        if follows { (0, self.next - 1) } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        self.sample(bytes, at, env);
    }
    fn on_pause_sent(&mut self, xoff: ClassSet, xon: ClassSet, env: &mut Env) {
        // A refresh of a pause must not arm the timer again: refreshes at a shorter interval than `keep_alive` would
        // put off its expiry forever.
        if xoff.has(self.class()) && !self.paused {
            self.paused = true;
            self.arm_sample_timer(env);
        } else if xon.has(self.class()) && self.paused {
            self.paused = false;
            if self.given.keep_alive.is_some() {
                env.acts.push(Act::Arm(Time::NEVER, SAMPLE_TIMER));
            }
        }
    }
    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        self.sample(at.view.total_bytes_stored_from_input(at.port, self.class()), at, env);
        self.arm_sample_timer(env);
    }
    /// Ends the paused state: the pause ended with the link, and the switch cleared the timer.
    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        self.paused = false;
    }
    fn needs(&self) -> Needs {
        let samples = MemorySampling { side: self.side(), class: self.class(), unit: self.given.unit };
        Needs {
            samples: self.given.culprit.is_drawn().then_some(samples),
            timer_in_pause: self.given.keep_alive.is_some(),
            sends_notices: true,
            ..Needs::default()
        }
    }
    fn inactive_up_to(&self) -> Option<PortThresholds> {
        let bytes = (self.given.at == SampledSide::Outputs).then(|| self.curve.max_uncongested_bytes())?;
        Some(PortThresholds { bytes, ..PortThresholds::UNLIMITED })
    }
    fn input_inactive_up_to(&self) -> Option<PortThresholds> {
        let bytes = (self.given.at == SampledSide::Inputs).then(|| self.curve.max_uncongested_bytes())?;
        Some(PortThresholds { bytes, ..PortThresholds::UNLIMITED })
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        let given = &self.given;
        if given.keep_alive.is_some() {
            let found = "keep_alive with";
            if given.at == SampledSide::Outputs {
                let rule = "at = \"inputs\", because outputs need no clock: frames still arrive there while a far end \
                            is paused";
                report.add_error("keep_alive", format!("{found} at = \"outputs\""), rule);
            } else if !given.culprit.is_drawn() {
                let rule = "`occupancy` or `two_samples`, because a sample by a clock has no arriving frame whose \
                            source could be notified";
                report.add_error("keep_alive", format!("{found} culprit = \"arrival\""), rule);
            }
        }
        self.warn_about_parameters(beside, report);
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Qcn {
    /// Warns about QCN parameters that have no effect, or an unexpected one.
    fn warn_about_parameters(&self, beside: &CheckContext, report: &mut Report) {
        let Params { at, culprit, .. } = self.given;
        if (beside.is_set)("unit") && !culprit.is_drawn() {
            report.add_warning(
                "qcn: unit has no effect with culprit = \"arrival\", because no flow is drawn from the \
                                memory",
            );
        }
        if (beside.is_set)("index") && culprit != Culprit::TwoSamples {
            report.add_warning(format!(
                "qcn: index has no effect with culprit = \"{}\", because no two flows are compared",
                culprit.word()
            ));
        }
        if culprit == Culprit::TwoSamples && at == SampledSide::Outputs {
            report.add_warning(
                "qcn: culprit = \"two_samples\" equals `occupancy` at outputs: all frames of an output leave by one \
                 link, so that the paths of both flows are equally congested. Set at = \"inputs\", or culprit = \
                 \"occupancy\"",
            );
        }
        if culprit == Culprit::Arrival && self.given.jitter == 0.0 {
            report.add_warning(
                "qcn: culprit = \"arrival\" without jitter may notify the same source every time if sources send at \
                 constant rates. Set jitter",
            );
        }
    }
}
