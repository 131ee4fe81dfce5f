//! QCN: a congestion point samples its queue as bytes come in, and tells the source of a culprit flow how congested it
//! is (IEEE 802.1Qau, now 802.1Q §30-32). The culprit is the flow whose frame has just come, as in the standard, or one
//! drawn from the memory in proportion to what it has there (QCN-OS §III, occupancy sampling; §V-A, two samples).
//!
//! ```text
//!   every I_s bytes:   q_off = q - Q_eq      q_delta = q - q_old      Fb = q_off + w q_delta
//!                      F6 = 63 Fb / ((2w + 1) Q_eq), 0 to 63           F6 > 0: a message to the culprit's source
//!                      q_old = q             the next I_s by F6: from the base down to 0.123 of it
//! ```
//!
//! q is the memory of its port, of its class: of the buffer in front of the link, or of the input. The sign is that of
//! QCN-OS: above 0 is congestion; the standard's is the other, and the six bits are the same. What is counted are bytes
//! of frames that were stored: those that are lost start no sample. A frame that passes several intervals at once is one
//! sample. The first interval is the base. Where the link goes down and comes back, lengths and intervals go on.

mod culprit;
mod feedback;
#[cfg(test)]
mod tests;

use crate::params::{Kind, Param, Spec, Values};
use crate::{Account, Act, Agent, AgentContext, Beside, ClassSet, Env, Needs, Notice, PortId, Report, Room, Samples};
use crate::{Side, TimerId, choice, params};
pub use culprit::PathIndex;
use culprit::{Culprit, Index};
use feedback::{Curve, Rounding};
use units::{Bytes, Dur, Time};

choice! {
    /// Which memory of its port a congestion point follows.
    pub(crate) enum At {
        Inputs = "inputs",
        Outputs = "outputs",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        at: At = {
            doc: "Which memory of each port is followed: the buffer in front of its link, as in the standard, or what came in by \
                  the port and has not left for its output (QCN-OS §II-B).",
            kind: At::KIND,
            default: Some("outputs"),
        },
        culprit: Culprit = {
            doc: "Which flow is told: that of the frame that completes an interval (802.1Qau), that of an occupied unit of the \
                  memory drawn at random (QCN-OS §III), or of two such the one with the more congested way (QCN-OS §V-A).",
            kind: Culprit::KIND,
            default: Some("arrival"),
        },
        index: Index = {
            doc: "With `culprit` = `two_samples`, how congested the way of a flow is: by how full the first buffer in front of a \
                  link is on its way from the input (in a `fabric` switch that of an internal link, else that of its output), by \
                  the fullest of these, or by all that waits for its output here (QCN-OS §V-A, path-congestion index).",
            kind: Index::KIND,
            default: Some("first_hop"),
        },
        q_eq: Bytes = {
            doc: "Set point Q_eq (QCN-OS, Table I; cpQSp of the standard's MIB has 26,000 B).",
            kind: Kind::Size { min: 1 },
            default: Some("60KB"),
        },
        w: u64 = {
            doc: "Weight w of the growth of the queue since the last sample (QCN-OS, Table I; 802.1Qau §30.2.1, cpW: a power of two).",
            kind: Kind::Count { min: 0, max: 64 },
            default: Some("2"),
        },
        interval: Bytes = {
            doc: "Base of the sampling interval I_s: bytes that come between two samples where there is no congestion, down to an \
                  eighth of it where there is most (QCN-OS, Table I; cpSampleBase).",
            kind: Kind::Size { min: 1 },
            default: Some("150KB"),
        },
        jitter: f64 = {
            doc: "Share j by which intervals vary: each is multiplied by a draw from U(1 - j, 1 + j); 0 is none.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.15"),
        },
        rounding: Rounding = {
            doc: "To which whole number feedback is quantized (802.1Qau §30.2.1: six bits).",
            kind: Rounding::KIND,
            default: Some("floor"),
        },
        unit: Bytes = {
            doc: "Size of a unit of the memory, where flows are drawn: a frame takes as many as it needs, and shares none (QCN-OS §III).",
            kind: Kind::Size { min: 1 },
            default: Some("256B"),
        },
        class: u64 = {
            doc: "The class that is followed; frames of others neither count nor are told of.",
            kind: Kind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        keep_alive: Option<Dur> = {
            doc: "At inputs, with a drawn culprit: a clock of this period samples while the far end is paused and nothing comes \
                  (QCN-OS §III, keep-alive). None by default.",
            kind: Kind::Time { min: 1_000_000 },
            default: Some(""),
        },
    }
}

/// Its declaration.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.notify",
    kind: "qcn",
    doc: "A congestion point samples its queue and tells the source of a culprit flow how congested it is.",
    cite: "IEEE 802.1Qau §30-32; QCN-OS §II-C, §III, §V-A",
    params: Given::PARAMS,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Qcn {
    given: Given,
    index: Box<dyn PathIndex>,
    curve: Curve,
    /// q at the last sample, bytes.
    q_old: u64,
    /// What will have come, in all, at the next sample, bytes.
    next: u64,
    /// The far end is paused.
    paused: bool,
}

/// What wakes it while the far end is paused.
const CLOCK: TimerId = TimerId(0);

impl Qcn {
    /// What is declared of its parameters.
    pub const PARAMS: &'static [Param] = Given::PARAMS;

    /// From validated parameters.
    pub fn new(values: &Values) -> Qcn {
        let given = Given::read(values);
        let curve = Curve { q_eq: given.q_eq.0, w: given.w, rounding: given.rounding };
        let next = given.interval.0;
        Qcn { index: given.index.boxed(), given, curve, q_old: 0, next, paused: false }
    }
    /// The same with another path-congestion index than the parameter `index` names.
    #[must_use]
    pub fn with_index(self, index: impl PathIndex + 'static) -> Qcn {
        Qcn { index: Box::new(index), ..self }
    }

    fn class(&self) -> u8 {
        self.given.class as u8
    }
    fn side(&self) -> Side {
        match self.given.at {
            At::Inputs => Side::Input,
            At::Outputs => Side::Output,
        }
    }

    /// Looks at the queue, when so many bytes have come in all, and says how congested it is.
    fn sample(&mut self, come: u64, at: &AgentContext, env: &mut Env) {
        let q = at.view.in_memory(self.side(), at.port, self.class());
        let (feedback, q_old) = (self.curve.feedback(q, self.q_old), self.q_old);
        self.q_old = q;
        self.next = come.saturating_add(self.varied(feedback::interval(self.given.interval.0, feedback), env));
        if feedback == 0 {
            return;
        }
        if let Some((flow, to)) = self.given.culprit.choose(&*self.index, at, env) {
            let above = |of: u64| q as i64 - of as i64;
            let (q_off, q_delta) = (above(self.curve.q_eq), above(q_old));
            env.acts.push(Act::Emit { notice: Notice::Cnm { feedback, q_off, q_delta, point: at.port }, flow, to });
        }
    }

    /// An interval, longer or shorter by up to `jitter` of it.
    fn varied(&self, interval: u64, env: &mut Env) -> u64 {
        let spread = (interval as f64 * self.given.jitter).round() as u64;
        let varied = match self.given.jitter > 0.0 {
            true => (interval - spread).saturating_add(env.rng.below(spread.saturating_mul(2).saturating_add(1))),
            false => interval,
        };
        varied.max(1)
    }

    fn arm(&self, env: &mut Env) {
        if let Some(period) = self.given.keep_alive {
            env.acts.push(Act::Arm(env.now + period, CLOCK));
        }
    }
}

impl Agent for Qcn {
    fn levels(&self, of: Account) -> (u64, u64) {
        let follows = match of {
            Account::Entered(_, class) => self.given.at == At::Inputs && class == self.class(),
            Account::Arrived(_, class) => self.given.at == At::Outputs && class == self.class(),
            _ => false,
        };
        if follows { (0, self.next - 1) } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        self.sample(bytes, at, env);
    }
    fn on_pause_sent(&mut self, xoff: ClassSet, xon: ClassSet, env: &mut Env) {
        // A pause that is sent again goes on, and so does its clock.
        if xoff.has(self.class()) && !self.paused {
            self.paused = true;
            self.arm(env);
        } else if xon.has(self.class()) && self.paused {
            self.paused = false;
            if self.given.keep_alive.is_some() {
                env.acts.push(Act::Arm(Time::NEVER, CLOCK));
            }
        }
    }
    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        self.sample(at.view.entered(at.port, self.class()), at, env);
        self.arm(env);
    }
    /// Nobody is paused any more, and the clock has stopped.
    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        self.paused = false;
    }
    fn needs(&self) -> Needs {
        let samples = Samples { side: self.side(), class: self.class(), unit: self.given.unit };
        Needs {
            samples: self.given.culprit.is_drawn().then_some(samples),
            clock_in_pause: self.given.keep_alive.is_some(),
            notices: true,
            ..Needs::default()
        }
    }
    fn rests_up_to(&self) -> Option<Room> {
        let bytes = (self.given.at == At::Outputs).then(|| self.curve.rests_up_to())?;
        Some(Room { bytes, ..Room::ENDLESS })
    }
    fn input_rests_up_to(&self) -> Option<Room> {
        let bytes = (self.given.at == At::Inputs).then(|| self.curve.rests_up_to())?;
        Some(Room { bytes, ..Room::ENDLESS })
    }
    fn check(&self, beside: &Beside, report: &mut Report) {
        let given = &self.given;
        if given.keep_alive.is_some() {
            let found = "keep_alive with";
            if given.at == At::Outputs {
                let rule = "at = \"inputs\" beside it: pausing a far end keeps nothing from coming to outputs, which need no clock";
                report.wrong("keep_alive", format!("{found} at = \"outputs\""), rule);
            } else if !given.culprit.is_drawn() {
                let rule = "`occupancy` or `two_samples` beside it: on a clock no frame has just come whose flow could be told";
                report.wrong("keep_alive", format!("{found} culprit = \"arrival\""), rule);
            }
        }
        self.idle(beside, report);
    }
    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Qcn {
    /// What has no effect, or another than one might think.
    fn idle(&self, beside: &Beside, report: &mut Report) {
        let Given { at, culprit, .. } = self.given;
        if (beside.given)("unit") && !culprit.is_drawn() {
            report.note("qcn: unit has no effect with culprit = \"arrival\": nothing is drawn from the memory");
        }
        if (beside.given)("index") && culprit != Culprit::TwoSamples {
            report.note(format!(
                "qcn: index has no effect with culprit = \"{}\": no two flows are compared",
                culprit.word()
            ));
        }
        if culprit == Culprit::TwoSamples && at == At::Outputs {
            report.note(
                "qcn: culprit = \"two_samples\" at outputs is `occupancy`: all that waits there leaves by one link, so that the ways \
                 of both flows are as congested",
            );
        }
        if culprit == Culprit::Arrival && self.given.jitter == 0.0 {
            report.note(
                "qcn: culprit = \"arrival\" without jitter: among sources of constant rates the same flow may be told every time",
            );
        }
    }
}
