//! ABQ: while the queue toward a host is congested, the ACKs that come from that host are held, so
//! that the senders lose their clock; they go in one batch each time the queue has fallen to X,
//! with ECE set (ABQ article, fig. 2 and Algorithm 1).
//!
//! X is not floored when congestion begins, and is zeroed at exactly 4 MTU, as the text says.
//! Not modelled: the older repository's window rewrite, LIFO order and coalescing.

use crate::params::{Kind, Spec, Values};
use crate::{Account, Act, Agent, AgentContext, Env, Head, Pass, PortId, params};
use units::Bytes;

/// The three states of fig. 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Congestion {
    /// US: nothing is held.
    No,
    /// CS: everything is held.
    Yes,
    /// LCS: everything is held until the queue has fallen to X.
    Light,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Abq {
    k: u64,
    mtu: u64,
    room: u64,
    state: Congestion,
    /// The queue at which the next batch goes, bytes.
    x: u64,
    /// The longest queue since congestion began, bytes.
    q_max: u64,
    held: u64,
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        k: Bytes = {
            doc: "Threshold K of the output queue.",
            kind: Kind::Size { min: 1 },
            default: Some("30000B"),
        },
        mtu: Bytes = {
            doc: "Largest frame; X is zeroed at four of them.",
            kind: Kind::Size { min: 1 },
            default: Some("1500B"),
        },
        room: u64 = {
            doc: "ACKs that may be held.",
            kind: Kind::Count { min: 1, max: 1 << 32 },
            default: Some("1875"),
        },
    }
}

/// Its declaration.
pub const SPEC: Spec = Spec {
    slot: "switch.ack_hold",
    kind: "abq",
    doc: "ACKs from a host wait while the queue toward it is congested.",
    cite: "ABQ fig. 2, Algorithm 1",
    params: Given::PARAMS,
};

impl Abq {
    /// From validated parameters.
    pub fn new(values: &Values) -> Abq {
        let Given { k, mtu, room } = Given::read(values);
        Abq { k: k.0, mtu: mtu.0, room, state: Congestion::No, x: 0, q_max: 0, held: 0 }
    }
    /// Algorithm 1, where a change of the queue matters to it.
    fn follow(&mut self, port: PortId, bytes: u64, env: &mut Env) {
        if bytes > self.k {
            self.q_max = if self.state == Congestion::Yes { self.q_max.max(bytes) } else { bytes };
            self.state = Congestion::Yes;
            self.x = (self.q_max - self.k).min(self.k);
        } else if self.state != Congestion::No && bytes <= self.x {
            let half = self.x / 2;
            self.x = if half > 4 * self.mtu { half } else { 0 };
            self.state = if self.x > 0 { Congestion::Light } else { Congestion::No };
            self.held = 0;
            env.acts.push(Act::ReleaseHeld { port, max: u32::MAX, set_ece: true });
        }
    }
}

impl Agent for Abq {
    fn levels(&self, of: Account) -> (u64, u64) {
        match (of, self.state) {
            (Account::Output(_), Congestion::No) => (0, self.k),
            (Account::Output(_), Congestion::Light) => (self.x + 1, self.k),
            // A longer queue is a longer wait for X, up to K.
            (Account::Output(_), Congestion::Yes) if self.x < self.k => (self.x + 1, self.q_max),
            (Account::Output(_), Congestion::Yes) => (self.x + 1, u64::MAX),
            _ => Account::UNWATCHED,
        }
    }
    fn on_level(&mut self, _of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        self.follow(at.port, bytes, env);
    }
    fn holds(&self) -> bool {
        true
    }
    fn on_arrival(&mut self, pkt: &Head, _at: &AgentContext, _env: &mut Env) -> Pass {
        match self.state {
            Congestion::No => Pass::Forward,
            _ if !pkt.is_pure_ack() => Pass::Forward,
            _ if self.held == self.room => Pass::Drop,
            _ => {
                self.held += 1;
                Pass::Hold
            }
        }
    }
    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}
