//! Priority flow control: an input whose memory has filled to `hi` stops its upstream neighbour for
//! one class, and lets it go on once it has drained to `lo` (802.1Qbb; QCN-OS §II, Table I).

use crate::params::{Kind, Param, Spec, Values};
use crate::pause::Pause;
use crate::{Act, Change, ClassSet, Env, PortId, QueueView, TimerId, Watch};
use units::{Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pfc {
    hi: u64,
    lo: u64,
    class: u8,
    refresh: Dur,
    stopped: bool,
}

pub const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pfc",
    doc: "An input that fills stops its upstream neighbour.",
    cite: "IEEE 802.1Qbb; QCN-OS Table I",
    params: &[
        Param {
            name: "hi",
            doc: "Memory in use from which STOP is sent.",
            kind: Kind::Size { min: 1 },
            default: Some("110KB"),
        },
        Param {
            name: "lo",
            doc: "Memory in use down to which GO is sent.",
            kind: Kind::Size { min: 0 },
            default: Some("44KB"),
        },
        Param {
            name: "class",
            doc: "The class that it stops.",
            kind: Kind::Count { min: 0, max: 7 },
            default: Some("0"),
        },
        Param {
            name: "refresh",
            doc: "Time after which STOP is sent again: 65535 quanta of 512 bits.",
            kind: Kind::Time { min: 1 },
            default: Some("3.355392ms"),
        },
    ],
};

impl Pfc {
    /// From validated parameters.
    pub fn new(values: &Values) -> Pfc {
        Pfc {
            hi: values.size("hi"),
            lo: values.size("lo"),
            class: values.count("class") as u8,
            refresh: values.time("refresh"),
            stopped: false,
        }
    }
    fn stop(&mut self, port: PortId, env: &mut Env) {
        self.stopped = true;
        env.acts.push(Act::Pause(port, ClassSet::of(self.class)));
        env.acts.push(Act::Arm(env.now + self.refresh, TimerId(0)));
    }
}

impl Watch for Pfc {
    fn changed(&mut self, q: &QueueView, why: Change, env: &mut Env) {
        let (head, stored) = match why {
            Change::Enqueued(head) => (head, true),
            Change::Started(head) | Change::Left(head) => (head, false),
            _ => return,
        };
        if head.class() != self.class {
            return;
        }
        let used = q.view.lent(head.ingress, self.class);
        if stored && !self.stopped && used >= self.hi {
            self.stop(head.ingress, env);
        } else if !stored && self.stopped && used <= self.lo {
            self.stopped = false;
            env.acts.push(Act::Resume(head.ingress, ClassSet::of(self.class)));
            env.acts.push(Act::Arm(Time::NEVER, TimerId(0)));
        }
    }
    fn timer(&mut self, _id: TimerId, q: &QueueView, env: &mut Env) {
        if self.stopped {
            self.stop(q.port, env);
        }
    }
}

impl Pause for Pfc {
    fn boxed(&self) -> Box<dyn Pause> {
        Box::new(self.clone())
    }
}
