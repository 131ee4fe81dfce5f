//! ABQ (active buffer queueing): while the queue toward a host is congested, the switch holds ACKs from that host.
//! Without them, the senders have no ACK clock. The switch releases the ACKs each time the queue has fallen to X, with
//! ECE set by default (fig. 2 and Algorithm 1).
//!
//! ```text
//!            q > K: X = min(Qmax - K, K)                  q <= X: release, X = X / 2
//!   US ───────────────────────────────────▶ CS ────────────────────────────────────▶ LCS ─┐ q <= X: release,
//!   ▲                                       ▲            q > K                        │ ▲  │ X = X / 2
//!   │                                       └─────────────────────────────────────────┘ └──┘
//!   └───────────── X <= 4 MTU: X = 0, everything is released ── from CS and from LCS
//! ```
//!
//! q is the backlog of the port in bytes, without the frame in transmission, compared on every change. The figure and
//! Algorithm 1 differ in three points, which `reading` selects:
//! - whether X itself is low enough;
//! - whether X ends at 4 MTU or below;
//! - whether a queue that has fallen past several levels in one change passes them all.
//!
//! `release = "window"` is the release rule of the older public code: it rewrites windows, and releases ACKs until
//! their windows add up to more than K. The order of that code is not modelled: last in, first out, with one ACK for
//! each connection.

#[cfg(test)]
mod tests;

use crate::params::{ParamKind, Spec, Values};
use crate::{
    Account, Act, Agent, AgentContext, ArrivalDecision, CheckContext, Env, Flags, Head, Needs, PacketKind,
    ParamCondition, PortId,
};
use crate::{PortThresholds, QueueId, Report, choice, params};
use std::collections::VecDeque;
use units::{Amount, Bytes};

choice! {
    /// Variant of ABQ's rule, where figure 2 of the article and its Algorithm 1 differ.
    pub(crate) enum ArticleReading {
        Figure = "figure",
        Algorithm = "algorithm",
    }
}

choice! {
    /// Choice of the queue length Qmax from which the release length X is computed.
    pub(crate) enum QMax {
        Longest = "longest",
        Buffer = "buffer",
    }
}

choice! {
    /// Choice of the packets that count as ACKs, and so may be held.
    pub(crate) enum AckCriterion {
        Pure = "pure",
        Flag = "flag",
    }
}

choice! {
    /// Choice of the number of ACKs that ABQ releases together in light congestion.
    pub(crate) enum ReleaseCount {
        All = "all",
        Batch = "batch",
        Window = "window",
    }
}

choice! {
    /// Choice of the ports at which ABQ holds ACKs: those toward hosts, or all.
    pub(crate) enum HoldPorts {
        Host = "host",
        All = "all",
    }
}

params! {
    /// Parameter values of `abq`.
    pub(crate) struct Params {
        k: Bytes = {
            doc: "Threshold K in bytes: the port is congested while its backlog is above K. The article has 20 packets \
                  of 1500 B.",
            kind: ParamKind::Size { min: 1 },
            default: Some("30000B"),
        },
        mtu: Bytes = {
            doc: "Size of the largest frame. X at four times this size becomes 0, which ends the congestion. Algorithm \
                  1 may mean four words of the NetFPGA instead: `8B`.",
            kind: ParamKind::Size { min: 1 },
            default: Some("1500B"),
        },
        capacity: Bytes = {
            doc: "Memory of each input queue. An ACK takes the bytes of its frame; an ACK that does not fit is lost.",
            kind: ParamKind::Size { min: 1 },
            default: Some("120000B"),
        },
        reading: ArticleReading = {
            doc: "Variant of the rule in the article. `figure` (fig. 2): ACKs leave at X, X becomes 0 at 4 MTU, and a \
                  change of the queue passes one level. `algorithm` (Algorithm 1): ACKs leave below X, X becomes 0 \
                  below 4 MTU, and a change passes all levels.",
            kind: ArticleReading::KIND,
            default: Some("figure"),
        },
        q_max: QMax = {
            doc: "Queue length Qmax that gives X = min(Qmax - K, K). `longest`: the longest queue since congestion \
                  began. `buffer`: the size of the buffer of the port.",
            kind: QMax::KIND,
            default: Some("longest"),
        },
        floor: bool = {
            doc: "Raises X to 4 MTU, but at most to K, when congestion begins. Without it, a queue barely above K \
                  holds ACKs until it is nearly empty.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        is_ack: AckCriterion = {
            doc: "Packets that are held: ACKs without payload (`pure`), or any segment with the ACK flag (`flag`). \
                  SYN, FIN and RST are never held.",
            kind: AckCriterion::KIND,
            default: Some("pure"),
        },
        packs: bool = {
            doc: "Holds PACKs as well, which report cut segments to a sender (CP §5.1).",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        release: ReleaseCount = {
            doc: "Number of ACKs that leave when the queue has fallen to X: `all`, `batch` of them, or those of \
                  `window`, the rule of the older public code. `window` bounds their windows by K over the number of \
                  held ACKs, and releases ACKs until the windows add up to more than K. When congestion ends, all \
                  leave.",
            kind: ReleaseCount::KIND,
            default: Some("all"),
        },
        batch: Option<u64> = {
            doc: "Largest number of ACKs that leave together, oldest first, with `release` = `batch`.",
            kind: ParamKind::Count { min: 1, max: 1 << 20 },
            default: Some("10"),
        },
        window_min: Option<Bytes> = {
            doc: "Smallest window that is written into an ACK, with `release` = `window`. Set at least the segment \
                  size (`mss`) of the hosts.",
            kind: ParamKind::Size { min: 1 },
            default: Some("1460B"),
        },
        corrector: bool = {
            doc: "Sets ECE in released ACKs. Senders with ECN treat it as a mark.",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        ports: HoldPorts = {
            doc: "Ports at which ACKs are held: those that lead to hosts (`host`), or all (`all`).",
            kind: HoldPorts::KIND,
            default: Some("host"),
        },
    }
}

/// Declaration of `abq`: name, description and parameters.
pub(super) const SPEC: Spec = Spec {
    slot: "switch.ack_hold",
    kind: "abq",
    doc: "Holds ACKs from a host at the switch while the queue toward that host is congested.",
    cite: "ABQ fig. 2, Algorithm 1",
    params: Params::PARAMS,
};

/// Parameters of `abq` that are allowed only with one value of another parameter.
pub(super) const PARAM_CONDITIONS: &[ParamCondition] = &[
    ParamCondition { key: "batch", other_key: "release", words: &[ReleaseCount::Batch.word()] },
    ParamCondition { key: "window_min", other_key: "release", words: &[ReleaseCount::Window.word()] },
];

/// Congestion states of ABQ (fig. 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbqState {
    /// US, uncongested: no ACK is held.
    Uncongested = 0,
    /// CS, congested: all ACKs are held.
    Congested = 1,
    /// LCS, lightly congested: all ACKs are held until the queue has fallen to X.
    Light = 2,
}

/// ABQ at one port: congestion state, queue length X of the next release, and held ACKs.
#[derive(Clone, Debug)]
pub struct Abq {
    given: Params,
    state: AbqState,
    /// Queue length X, in bytes, at which the next ACKs are released.
    x: u64,
    /// Longest queue since congestion began, in bytes.
    q_max: u64,
    /// Size in bytes of each held ACK, first to last. The switch has the packets themselves, in the same order.
    held: VecDeque<u16>,
    held_bytes: u64,
}

impl Abq {
    /// Creates ABQ from validated parameters.
    pub fn new(values: &Values) -> Abq {
        let given = Params::read(values);
        Abq { given, state: AbqState::Uncongested, x: 0, q_max: 0, held: VecDeque::new(), held_bytes: 0 }
    }

    /// Returns 4 MTU, in bytes: a half of X below it ends the congestion, and with `figure` also a half equal to it.
    fn four_mtu(&self) -> u64 {
        self.given.mtu.0.saturating_mul(4)
    }
    /// Returns the shortest queue, in bytes, that is too long for a release of ACKs.
    fn min_queue_without_release(&self) -> u64 {
        match self.given.reading {
            ArticleReading::Figure => self.x + 1,
            // An empty queue is short enough even if X is 0: it cannot become shorter, and ACKs would stay held.
            ArticleReading::Algorithm => self.x.max(1),
        }
    }
    /// Returns half of X, or 0 if the half is at most 4 MTU (`figure`) or less than 4 MTU (`algorithm`).
    fn half_of_x(&self) -> u64 {
        let half = self.x / 2;
        let lasts = match self.given.reading {
            ArticleReading::Figure => half > self.four_mtu(),
            ArticleReading::Algorithm => half >= self.four_mtu(),
        };
        if lasts { half } else { 0 }
    }
    fn change_state(&mut self, to: AbqState, port: PortId, env: &mut Env) {
        self.state = to;
        env.acts.push(Act::Turn { port, state: to as u8, level: self.x });
    }
    /// Enters or updates the congested state, for a queue of `bytes` (more than K) in a buffer of `buffer` bytes.
    fn handle_congestion(&mut self, bytes: u64, buffer: Option<u64>, port: PortId, env: &mut Env) {
        let k = self.given.k.0;
        let goes_on = self.state == AbqState::Congested;
        self.q_max = if goes_on { self.q_max.max(bytes) } else { bytes };
        let longest = match self.given.q_max {
            QMax::Longest => self.q_max,
            QMax::Buffer => buffer.unwrap_or(u64::MAX).max(k),
        };
        let before = self.x;
        self.x = (longest - k).min(k);
        if self.given.floor {
            self.x = self.x.max(self.four_mtu().min(k));
        }
        if !goes_on || self.x != before {
            self.change_state(AbqState::Congested, port, env);
        }
    }
    /// Halves X, or ends the congestion, and releases held ACKs, after the queue has fallen to X.
    fn handle_fall_to_x(&mut self, port: PortId, env: &mut Env) {
        self.x = self.half_of_x();
        let to = if self.x > 0 { AbqState::Light } else { AbqState::Uncongested };
        let (some, window) = self.release_count_and_window();
        // A partial release is only for light congestion. In state US no later change of the queue would release the
        // rest.
        let max = some.filter(|_| to == AbqState::Light).map_or(u32::MAX, |most| most as u32);
        self.change_state(to, port, env);
        let going = self.held.len().min(max as usize);
        self.held_bytes -= self.held.drain(..going).map(u64::from).sum::<u64>();
        if going > 0 {
            env.acts.push(Act::ReleaseHeld { port, max, set_ece: self.given.corrector, window });
        }
    }
    /// Returns the number of ACKs to release during congestion (`None`: all), and the bound of their windows, if any.
    fn release_count_and_window(&self) -> (Option<u64>, Option<u16>) {
        match self.given.release {
            ReleaseCount::All => (None, None),
            ReleaseCount::Batch => (self.given.batch, None),
            ReleaseCount::Window => {
                let k = self.given.k.0;
                let share = k / (self.held.len() as u64).max(1);
                let window = share.max(self.given.window_min.map_or(1, |least| least.0)).min(u64::from(u16::MAX));
                // One ACK more than K / window makes their windows add up to more than K.
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
        (self.given.packs || !is_pack) && (self.given.is_ack == AckCriterion::Flag || pkt.is_pure_ack())
    }
}

impl Agent for Abq {
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        let k = self.given.k.0;
        match (account, self.state) {
            (Account::Output(_), AbqState::Uncongested) => (0, k),
            (Account::Output(_), AbqState::Light) => (self.min_queue_without_release(), k),
            // A longer queue raises X, up to K. Once X is K, growth has no effect and needs no call.
            (Account::Output(_), AbqState::Congested) if self.given.q_max == QMax::Longest && self.x < k => {
                (self.min_queue_without_release(), self.q_max)
            }
            (Account::Output(_), AbqState::Congested) => (self.min_queue_without_release(), u64::MAX),
            _ => Account::UNWATCHED,
        }
    }
    fn on_level(&mut self, _account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        if bytes > self.given.k.0 {
            let limit = at.view.fill(at.port, QueueId::normal(0)).limit;
            return self.handle_congestion(bytes, limit, at.port, env);
        }
        while self.state != AbqState::Uncongested && bytes < self.min_queue_without_release() {
            self.handle_fall_to_x(at.port, env);
            // By the figure, one change of the queue passes one level; by Algorithm 1, the loop passes all of them.
            if self.given.reading == ArticleReading::Figure {
                break;
            }
        }
    }
    fn handles_arrivals(&self) -> bool {
        true
    }
    fn on_arrival(&mut self, pkt: &Head, _at: &AgentContext, _env: &mut Env) -> ArrivalDecision {
        if self.state == AbqState::Uncongested || !self.is_held(pkt) {
            return ArrivalDecision::Forward;
        }
        if self.held_bytes + u64::from(pkt.size) > self.given.capacity.0 {
            return ArrivalDecision::Drop;
        }
        self.held.push_back(pkt.size);
        self.held_bytes += u64::from(pkt.size);
        ArrivalDecision::Hold
    }
    /// Ends the congestion (X = 0) and releases all held ACKs, because the device behind the port is unreachable.
    fn on_link_change(&mut self, at: PortId, env: &mut Env) {
        if self.state != AbqState::Uncongested {
            self.x = 0;
            self.handle_fall_to_x(at, env);
        }
    }
    fn is_for_port(&self, to_switch: bool) -> bool {
        self.given.ports == HoldPorts::All || !to_switch
    }
    fn needs(&self) -> Needs {
        Needs {
            hold_memory: Some(self.given.capacity),
            sets_ece: self.given.corrector,
            min_window: self.given.window_min.filter(|_| self.given.release == ReleaseCount::Window),
            ..Needs::default()
        }
    }
    fn inactive_up_to(&self) -> Option<PortThresholds> {
        Some(PortThresholds { bytes: self.given.k.0, ..PortThresholds::UNLIMITED })
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if self.given.q_max == QMax::Buffer {
            match beside.memory {
                Some(Amount::Bytes(_)) => {}
                Some(Amount::Packets(_)) => {
                    report.add_error("q_max", "a buffer in packets", "a buffer in bytes with q_max = \"buffer\"");
                }
                None => report.add_warning(
                    "abq: q_max = \"buffer\" has no effect with an unlimited buffer: X is \
                                            always K. Set a buffer size, or q_max = \"longest\"",
                ),
            }
        }
        if self.given.floor && self.given.q_max == QMax::Buffer {
            report.add_warning(
                "abq: floor has no use with q_max = \"buffer\", because X then never changes. Remove floor, or set \
                 q_max = \"longest\"",
            );
        }
        if self.given.k.0 <= self.four_mtu() {
            report.add_warning(format!(
                "abq: K = {} is at most 4 MTU, so that congestion ends with the first release and the state of light \
                 congestion never occurs. Set a larger k",
                self.given.k
            ));
        }
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}
