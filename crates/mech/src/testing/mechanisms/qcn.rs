//! A congestion point of QCN (802.1Qau §30.2.1) that names its culprit by arrival, by occupancy of
//! its memory, or by two samples of it (QCN-OS §III, §V-A).
//!
//! The feedback's sign is the paper's: above 0 is congestion. q counts every lease on the memory
//! it follows, of its own class: waiting frames and the copies that are kept of frames which have
//! left. The frame that completes an interval is stored already. The message goes to the culprit's
//! source by the switch's tables.

use crate::buffer::Lease;
use crate::params::{Kind, Spec, Values};
use crate::{Account, Act, Agent, AgentContext, ClassSet, Env, FlowId, Needs, Notice, QueueId, TimerId};
use crate::{choice, params};
use units::{Bytes, Dur, Time};

choice! {
    /// Whom a message is about.
    pub(crate) enum Culprit {
        Arrival = "arrival",
        Occupancy = "occupancy",
        TwoSamples = "two_samples",
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Qcn {
    q_eq: i64,
    w: i64,
    interval: i64,
    unit: u32,
    class: u8,
    culprit: Culprit,
    jitter: bool,
    keep_alive: Option<Dur>,
    q_old: i64,
    /// What will have arrived at the next sample, bytes.
    next: u64,
    paused: bool,
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        q_eq: Bytes = {
            doc: "Set point Q_eq.",
            kind: Kind::Size { min: 1 },
            default: Some("60KB"),
        },
        w: u64 = {
            doc: "Weight of the growth of the queue.",
            kind: Kind::Count { min: 0, max: 16 },
            default: Some("2"),
        },
        interval: Bytes = {
            doc: "Bytes that arrive between samples, I_s.",
            kind: Kind::Size { min: 1 },
            default: Some("150KB"),
        },
        unit: Bytes = {
            doc: "Size of a buffer unit.",
            kind: Kind::Size { min: 1 },
            default: Some("256B"),
        },
        class: u64 = {
            doc: "The class that it follows.",
            kind: Kind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        culprit: Culprit = {
            doc: "Whom a message is about.",
            kind: Culprit::KIND,
            default: Some("arrival"),
        },
        jitter: bool = {
            doc: "Intervals vary by 15 %.",
            kind: Kind::Flag,
            default: Some("true"),
        },
        keep_alive: Option<Dur> = {
            doc: "Clock that samples while the upstream neighbour is paused.",
            kind: Kind::Time { min: 1 },
            default: Some(""),
        },
    }
}

/// Its declaration.
pub const SPEC: Spec = Spec {
    slot: "switch.notify",
    kind: "qcn",
    doc: "The source of a culprit flow is told how congested the queue is.",
    cite: "IEEE 802.1Qau §30.2.1; QCN-OS §III, §V",
    params: Given::PARAMS,
};

/// I_s by the upper three bits of the feedback, in 300ths of the base.
const INTERVALS: [i64; 8] = [300, 150, 100, 75, 60, 50, 43, 37];

impl Qcn {
    /// From validated parameters.
    pub fn new(values: &Values) -> Qcn {
        let given = Given::read(values);
        Qcn {
            q_eq: given.q_eq.0 as i64,
            w: given.w as i64,
            interval: given.interval.0 as i64,
            unit: given.unit.0 as u32,
            class: given.class as u8,
            culprit: given.culprit,
            jitter: given.jitter,
            keep_alive: given.keep_alive,
            q_old: 0,
            next: given.interval.0,
            paused: false,
        }
    }

    /// Samples the queue when so many bytes have arrived.
    fn sample(&mut self, arrived: u64, at: &AgentContext, env: &mut Env) {
        let mut leases = Vec::new();
        at.view.leases(at.port, QueueId::normal(self.class), &mut |lease| {
            leases.extend((lease.class == self.class).then_some(*lease))
        });
        let bytes: i64 = leases.iter().map(|lease| i64::from(lease.bytes)).sum();
        let (q_off, q_delta) = (bytes - self.q_eq, bytes - self.q_old);
        let most = self.q_eq * (2 * self.w + 1);
        let feedback = 63 * (q_off + self.w * q_delta).clamp(0, most) / most;
        self.q_old = bytes;
        let mut interval = self.interval * INTERVALS[feedback as usize / 8] / 300;
        if self.jitter {
            interval = interval * (850 + env.rng.below(301) as i64) / 1000;
        }
        self.next = arrived + interval as u64;
        if feedback == 0 {
            return;
        }
        let culprit = match (self.culprit, at.stored) {
            (Culprit::Arrival, head) => head.map(|head| (head.flow, head.src)),
            (Culprit::Occupancy, _) => self.pick(&leases, env),
            (Culprit::TwoSamples, _) => {
                let (a, b) = (self.pick(&leases, env), self.pick(&leases, env));
                if more_congested(at, a.map(|a| a.0), b.map(|b| b.0)) { a } else { b }
            }
        };
        if let Some((flow, source)) = culprit {
            let notice = Notice::Cnm { feedback: feedback as u8, q_off, q_delta, point: at.port };
            env.acts.push(Act::Emit { notice, flow, to: source });
        }
    }

    /// The flow in one of the occupied units, each equally likely.
    fn pick(&self, leases: &[Lease], env: &mut Env) -> Option<(FlowId, crate::HostId)> {
        let units = |lease: &Lease| u64::from(lease.bytes.div_ceil(self.unit));
        let all: u64 = leases.iter().map(units).sum();
        let mut left = if all > 0 { env.rng.below(all) } else { return None };
        for lease in leases {
            match left.checked_sub(units(lease)) {
                Some(rest) => left = rest,
                None => return Some((lease.flow, lease.src)),
            }
        }
        None
    }
}

/// Whether the way of flow `a` is more congested than that of `b`, strictly: a tie is b's.
fn more_congested(at: &AgentContext, a: Option<FlowId>, b: Option<FlowId>) -> bool {
    let index = |flow: Option<FlowId>| {
        let fill = flow.and_then(|flow| at.view.path_fill(flow));
        fill.map_or((0, 1), |fill| (fill.used, fill.limit.unwrap_or(u64::MAX)))
    };
    let ((a_used, a_limit), (b_used, b_limit)) = (index(a), index(b));
    u128::from(a_used) * u128::from(b_limit) > u128::from(b_used) * u128::from(a_limit)
}

impl Agent for Qcn {
    fn levels(&self, of: Account) -> (u64, u64) {
        match of {
            Account::Arrived(_, class) if class == self.class => (0, self.next - 1),
            _ => Account::UNWATCHED,
        }
    }
    fn needs(&self) -> Needs {
        Needs { notices: true, ..Needs::default() }
    }
    fn on_level(&mut self, _of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        self.sample(bytes, at, env);
    }
    fn on_pause_sent(&mut self, xoff: ClassSet, xon: ClassSet, env: &mut Env) {
        if xoff.has(self.class) {
            self.paused = true;
            self.arm(env);
        } else if xon.has(self.class) {
            self.paused = false;
            env.acts.push(Act::Arm(Time::NEVER, TimerId(0)));
        }
    }
    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        if self.paused {
            self.sample(at.view.arrived(at.port, self.class), at, env);
            self.arm(env);
        }
    }
    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Qcn {
    fn arm(&self, env: &mut Env) {
        if let Some(period) = self.keep_alive {
            env.acts.push(Act::Arm(env.now + period, TimerId(0)));
        }
    }
}
