//! ABQ: while the queue toward a host is congested, the ACKs that come from that host are held, so that the senders
//! lose their clock; they go each time the queue has fallen to X, and say that there is congestion (active buffer
//! queueing, fig. 2 and Algorithm 1).
//!
//! ```text
//!            q > K: X = min(Qmax - K, K)                  q <= X: release, X = X / 2
//!   US ───────────────────────────────────▶ CS ────────────────────────────────────▶ LCS ─┐ q <= X: release,
//!   ▲                                       ▲            q > K                        │ ▲  │ X = X / 2
//!   │                                       └─────────────────────────────────────────┘ └──┘
//!   └───────────── X <= 4 MTU: X = 0, everything is released ── from CS and from LCS
//! ```
//!
//! q is what waits to leave by the port, in bytes, without the frame on the wire; it is looked at on every change.
//! The figure and Algorithm 1 differ at three places, which `reading` chooses between: whether X itself is low enough,
//! whether X ends at 4 MTU or below, and whether a queue that has fallen past several levels at once passes them
//! all. `release = "window"` is how the older public code lets go: windows are rewritten, and ACKs go until their windows
//! add up to more than K. Not modelled: its order, last in, first out, with one ACK for each connection.

#[cfg(test)]
mod tests;

use crate::params::{Kind, Spec, Values};
use crate::{Account, Act, Agent, AgentContext, Beside, Env, Flags, Head, Needs, Only, PacketKind, Pass, PortId};
use crate::{QueueId, Report, Room, choice, params};
use std::collections::VecDeque;
use units::{Amount, Bytes};

choice! {
    /// Which text of the article counts where they differ.
    pub(crate) enum Reading {
        Figure = "figure",
        Algorithm = "algorithm",
    }
}

choice! {
    /// Which length X is computed from.
    pub(crate) enum QMax {
        Longest = "longest",
        Buffer = "buffer",
    }
}

choice! {
    /// What counts as an ACK.
    pub(crate) enum IsAck {
        Pure = "pure",
        Flag = "flag",
    }
}

choice! {
    /// How many go in light congestion.
    pub(crate) enum Release {
        All = "all",
        Batch = "batch",
        Window = "window",
    }
}

choice! {
    /// At which ports ACKs are held.
    pub(crate) enum Ports {
        Host = "host",
        All = "all",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        k: Bytes = {
            doc: "Threshold K: the port is congested while more waits to leave by it. 20 packets of 1500 B in the article.",
            kind: Kind::Size { min: 1 },
            default: Some("30000B"),
        },
        mtu: Bytes = {
            doc: "Largest frame. X is zeroed at four of them, which ends the congestion; with 8B at four words of the \
                  NetFPGA, which Algorithm 1 may mean.",
            kind: Kind::Size { min: 1 },
            default: Some("1500B"),
        },
        capacity: Bytes = {
            doc: "Memory of each input queue, in which an ACK takes the bytes of its frame. What does not fit is lost.",
            kind: Kind::Size { min: 1 },
            default: Some("120000B"),
        },
        reading: Reading = {
            doc: "Where the article says two things: `figure` releases at X, zeroes X at 4 MTU and looks at one level a \
                  change of the queue; `algorithm` releases below X, zeroes X below 4 MTU and looks again at once.",
            kind: Reading::KIND,
            default: Some("figure"),
        },
        q_max: QMax = {
            doc: "Qmax, from which X = min(Qmax - K, K): the longest queue since congestion began, or the buffer of the port.",
            kind: QMax::KIND,
            default: Some("longest"),
        },
        floor: bool = {
            doc: "Whether X is at least 4 MTU, if K is, when congestion begins. Without it a queue that is barely over K \
                  holds ACKs until it is nearly empty.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        is_ack: IsAck = {
            doc: "What is held: ACKs without payload, or any segment with the ACK flag. SYN, FIN and RST never are.",
            kind: IsAck::KIND,
            default: Some("pure"),
        },
        packs: bool = {
            doc: "Whether PACKs are held too, which tell a sender what was cut (CP §5.1).",
            kind: Kind::Flag,
            default: Some("false"),
        },
        release: Release = {
            doc: "How many go when the queue has fallen to X: all that are held; `batch` of them; or, with windows bounded by \
                  K over their number, until these exceed K (the older public code). Where congestion ends all do.",
            kind: Release::KIND,
            default: Some("all"),
        },
        batch: Option<u64> = {
            doc: "With `release` = `batch`: at most so many go at once, oldest first.",
            kind: Kind::Count { min: 1, max: 1 << 20 },
            default: Some("10"),
        },
        window_min: Option<Bytes> = {
            doc: "With `release` = `window`: the least window that is written, no less than a segment of the hosts.",
            kind: Kind::Size { min: 1 },
            default: Some("1460B"),
        },
        corrector: bool = {
            doc: "Whether released ACKs say ECE, which senders with ECN take for a mark.",
            kind: Kind::Flag,
            default: Some("true"),
        },
        ports: Ports = {
            doc: "At which ports ACKs are held: those that lead to hosts, or all.",
            kind: Ports::KIND,
            default: Some("host"),
        },
    }
}

/// Its declaration.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.ack_hold",
    kind: "abq",
    doc: "ACKs from a host wait at the switch while the queue toward that host is congested.",
    cite: "ABQ fig. 2, Algorithm 1",
    params: Given::PARAMS,
};

/// Parameters that belong to one choice alone.
pub(super) const ONLY: &[Only] = &[
    Only { key: "batch", by: "release", words: &[Release::Batch.word()] },
    Only { key: "window_min", by: "release", words: &[Release::Window.word()] },
];

/// The three states of fig. 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// US: nothing is held.
    Uncongested = 0,
    /// CS: everything is held.
    Congested = 1,
    /// LCS: everything is held until the queue has fallen to X.
    Light = 2,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Abq {
    given: Given,
    state: State,
    /// The queue at which the next release is due, bytes.
    x: u64,
    /// The longest queue since congestion began, bytes.
    q_max: u64,
    /// Bytes of each ACK that is held, first to last, and of all.
    held: VecDeque<u16>,
    held_bytes: u64,
}

impl Abq {
    /// From validated parameters.
    pub fn new(values: &Values) -> Abq {
        let given = Given::read(values);
        Abq { given, state: State::Uncongested, x: 0, q_max: 0, held: VecDeque::new(), held_bytes: 0 }
    }

    /// X is of no use at or below this: 4 MTU.
    fn least(&self) -> u64 {
        self.given.mtu.0.saturating_mul(4)
    }
    /// The least queue that is still too long for a release.
    fn too_long(&self) -> u64 {
        match self.given.reading {
            Reading::Figure => self.x + 1,
            // An empty queue is low enough whatever X is: nothing would ever call again.
            Reading::Algorithm => self.x.max(1),
        }
    }
    /// Half of X, or 0 where that is of no use.
    fn halved(&self) -> u64 {
        let half = self.x / 2;
        let lasts = match self.given.reading {
            Reading::Figure => half > self.least(),
            Reading::Algorithm => half >= self.least(),
        };
        if lasts { half } else { 0 }
    }
    fn turn(&mut self, to: State, port: PortId, env: &mut Env) {
        self.state = to;
        env.acts.push(Act::Turn { port, state: to as u8, level: self.x });
    }
    /// More than K waits, in a buffer of so many bytes.
    fn congested(&mut self, bytes: u64, buffer: Option<u64>, port: PortId, env: &mut Env) {
        let k = self.given.k.0;
        let goes_on = self.state == State::Congested;
        self.q_max = if goes_on { self.q_max.max(bytes) } else { bytes };
        let longest = match self.given.q_max {
            QMax::Longest => self.q_max,
            QMax::Buffer => buffer.unwrap_or(u64::MAX).max(k),
        };
        let before = self.x;
        self.x = (longest - k).min(k);
        if self.given.floor {
            self.x = self.x.max(self.least().min(k));
        }
        if !goes_on || self.x != before {
            self.turn(State::Congested, port, env);
        }
    }
    /// The queue has fallen to X.
    fn relieved(&mut self, port: PortId, env: &mut Env) {
        self.x = self.halved();
        let to = if self.x > 0 { State::Light } else { State::Uncongested };
        let (some, window) = self.going();
        let max = some.filter(|_| to == State::Light).map_or(u32::MAX, |most| most as u32);
        self.turn(to, port, env);
        let going = self.held.len().min(max as usize);
        self.held_bytes -= self.held.drain(..going).map(u64::from).sum::<u64>();
        if going > 0 {
            env.acts.push(Act::ReleaseHeld { port, max, set_ece: self.given.corrector, window });
        }
    }
    /// How many ACKs go while congestion lasts, and the bound of their windows; `None` for all, and for no bound.
    fn going(&self) -> (Option<u64>, Option<u16>) {
        match self.given.release {
            Release::All => (None, None),
            Release::Batch => (self.given.batch, None),
            Release::Window => {
                let k = self.given.k.0;
                let share = k / (self.held.len() as u64).max(1);
                let window = share.max(self.given.window_min.map_or(1, |least| least.0)).min(u64::from(u16::MAX));
                (Some(k / window + 1), Some(window as u16))
            }
        }
    }
    fn is_held(&self, pkt: &Head) -> bool {
        let is_segment = pkt.kind() == PacketKind::Segment && pkt.flags.has(Flags::ACK);
        if !is_segment || pkt.flags.any(Flags::SYN.with(Flags::FIN).with(Flags::RST)) {
            return false;
        }
        let is_pack = pkt.flags.has(Flags::PPL) && !pkt.is_cut();
        (self.given.packs || !is_pack) && (self.given.is_ack == IsAck::Flag || pkt.is_pure_ack())
    }
}

impl Agent for Abq {
    fn levels(&self, of: Account) -> (u64, u64) {
        let k = self.given.k.0;
        match (of, self.state) {
            (Account::Output(_), State::Uncongested) => (0, k),
            (Account::Output(_), State::Light) => (self.too_long(), k),
            // A longer queue is a higher X, up to K.
            (Account::Output(_), State::Congested) if self.given.q_max == QMax::Longest && self.x < k => {
                (self.too_long(), self.q_max)
            }
            (Account::Output(_), State::Congested) => (self.too_long(), u64::MAX),
            _ => Account::UNWATCHED,
        }
    }
    fn on_level(&mut self, _of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        if bytes > self.given.k.0 {
            let limit = at.view.fill(at.port, QueueId::normal(0)).limit;
            return self.congested(bytes, limit, at.port, env);
        }
        while self.state != State::Uncongested && bytes < self.too_long() {
            self.relieved(at.port, env);
            if self.given.reading == Reading::Figure {
                break;
            }
        }
    }
    fn holds(&self) -> bool {
        true
    }
    fn on_arrival(&mut self, pkt: &Head, _at: &AgentContext, _env: &mut Env) -> Pass {
        if self.state == State::Uncongested || !self.is_held(pkt) {
            return Pass::Forward;
        }
        if self.held_bytes + u64::from(pkt.size) > self.given.capacity.0 {
            return Pass::Drop;
        }
        self.held.push_back(pkt.size);
        self.held_bytes += u64::from(pkt.size);
        Pass::Hold
    }
    /// The device is gone, and what it has acknowledged goes on.
    fn on_link_change(&mut self, at: PortId, env: &mut Env) {
        if self.state != State::Uncongested {
            self.x = 0;
            self.relieved(at, env);
        }
    }
    fn is_for_port(&self, to_switch: bool) -> bool {
        self.given.ports == Ports::All || !to_switch
    }
    fn needs(&self) -> Needs {
        Needs {
            held: Some(self.given.capacity),
            echoes: self.given.corrector,
            bounds_windows: self.given.window_min.filter(|_| self.given.release == Release::Window),
            ..Needs::default()
        }
    }
    fn rests_up_to(&self) -> Option<Room> {
        Some(Room { bytes: self.given.k.0, ..Room::ENDLESS })
    }
    fn check(&self, beside: &Beside, report: &mut Report) {
        if self.given.q_max == QMax::Buffer {
            match beside.memory {
                Some(Amount::Bytes(_)) => {}
                Some(Amount::Packets(_)) => {
                    report.wrong(
                        "q_max",
                        "the buffer of a port in packets",
                        "a buffer in bytes beside q_max = \"buffer\"",
                    );
                }
                None => report.note("abq: q_max = \"buffer\" beside an unlimited buffer is X = K"),
            }
        }
        if self.given.floor && self.given.q_max == QMax::Buffer {
            report.note(
                "abq: floor is for a Qmax that is barely over K; with q_max = \"buffer\" X is the same each time",
            );
        }
        if self.given.k.0 <= self.least() {
            report.note(format!(
                "abq: K = {} is at most 4 MTU, so that congestion ends with the first release: there is no light congestion",
                self.given.k
            ));
        }
    }
    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}
