//! DIBS: a packet whose queue is full is sent to a neighbour switch instead (Zarifis et al.,
//! "DIBS: Just-in-time Congestion Mitigation for Data Centers", EuroSys 2014).
//!
//! Eligible is a port whose far end is a switch, whose queue is not full and which is not the
//! desired one; the ingress port is eligible too unless `ingress` says otherwise, since the paper's
//! own trace returns packets to where they came from (fig. 1). Nothing is remembered of a detour: the
//! next switch routes the packet as any other. Which of the eligible ports it takes, and which packets
//! leave before their queue is full, is in [`policy`]; which flows are detoured at all in [`flows`].
//! Beyond `random` the paper gives ideas (§7), not rules: the rules are ours.

mod flows;
mod policy;
#[cfg(test)]
mod tests;

use super::{DropReason, Fate, Overflow};
use crate::params::{Kind, Spec, Values};
use crate::routing::Ecmp;
use crate::{Asks, Beside, Env, ForwardingContext, Head, Needs, Only, Report, SwitchContext, choice, params};
use flows::Flows;
use policy::Policy;
use units::Bytes;

/// See the module.
#[derive(Clone, Debug)]
pub struct Detour {
    policy: Policy,
    flows: Flows,
    mark_detoured: bool,
    ingress: bool,
    /// As many detours as a packet may have had to be detoured once more; `None` is any number.
    max_detours: Option<u64>,
}

choice! {
    /// How the other port is chosen.
    pub(crate) enum PolicyKind {
        Random = "random",
        LoadAware = "load_aware",
        FlowBased = "flow_based",
        Probabilistic = "probabilistic",
    }
}

choice! {
    /// Which flows are detoured.
    pub(crate) enum FlowsKind {
        All = "all",
        Short = "short",
        Long = "long",
        Hosts = "hosts",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        policy: PolicyKind = {
            doc: "How the other port is chosen: `random` is uniform over the eligible ones (DIBS §2), `load_aware` \
                  takes the one where the fewest bytes wait, `flow_based` the one that a hash of the flow gives, and \
                  `probabilistic` is `random` that begins before the queue is full (DIBS §7).",
            kind: PolicyKind::KIND,
            default: Some("random"),
        },
        mark_detoured: bool = {
            doc: "Set CE on a detoured packet that is ECN-capable (DIBS §5.3).",
            kind: Kind::Flag,
            default: Some("true"),
        },
        ingress: bool = {
            doc: "Whether a packet may be detoured to the port by which it arrived (DIBS fig. 1).",
            kind: Kind::Flag,
            default: Some("true"),
        },
        max_detours: Option<u64> = {
            doc: "A packet that was detoured so often is not detoured again: where its queue is full it is dropped.",
            kind: Kind::CountOrOff { min: 1, max: 254 },
            default: Some("off"),
        },
        flows: Option<FlowsKind> = {
            doc: "With `flow_based`, which flows are detoured; packets of others are lost where their queue is full \
                  (DIBS §7).",
            kind: FlowsKind::KIND,
            default: Some("all"),
        },
        flow_size: Option<Bytes> = {
            doc: "With `flows` = `short` or `long`: a flow is long once more bytes of its frames have arrived at the switch.",
            kind: Kind::Size { min: 0 },
            default: Some("100KB"),
        },
        flow_table: Option<u64> = {
            doc: "With `flows` = `short` or `long`: entries of the table, at each switch, in which flows are counted.",
            kind: Kind::Count { min: 1, max: 65_536 },
            default: Some("4096"),
        },
        hosts: Option<Vec<String>> = {
            doc: "With `flows` = `hosts`: packets from or to one of these are detoured.",
            kind: Kind::Texts,
            default: Some(""),
        },
        lo: Option<f64> = {
            doc: "With `probabilistic`: the share of its queue's limit from which on class 0, the least urgent, is \
                  detoured early; the classes above it begin in equal steps up to 1, which is never early, for class 7.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.5"),
        },
        hi: Option<f64> = {
            doc: "With `probabilistic`: the share from which on class 0 is always detoured; the classes above it in \
                  equal steps up to 1. With lo = hi = 1 it is `random`.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "detour",
    doc: "A packet whose queue is full leaves by another port toward a switch.",
    cite: "DIBS §2",
    params: Given::PARAMS,
};

/// Parameters that belong to one policy alone, or to certain choices of flows in it.
pub(super) const ONLY: &[Only] = &[
    Only { key: "flows", by: "policy", words: &[PolicyKind::FlowBased.word()] },
    Only { key: "flow_size", by: "policy", words: &[PolicyKind::FlowBased.word()] },
    Only { key: "flow_size", by: "flows", words: &[FlowsKind::Short.word(), FlowsKind::Long.word()] },
    Only { key: "flow_table", by: "policy", words: &[PolicyKind::FlowBased.word()] },
    Only { key: "flow_table", by: "flows", words: &[FlowsKind::Short.word(), FlowsKind::Long.word()] },
    Only { key: "hosts", by: "policy", words: &[PolicyKind::FlowBased.word()] },
    Only { key: "hosts", by: "flows", words: &[FlowsKind::Hosts.word()] },
    Only { key: "lo", by: "policy", words: &[PolicyKind::Probabilistic.word()] },
    Only { key: "hi", by: "policy", words: &[PolicyKind::Probabilistic.word()] },
];

impl Given {
    fn policy(&self) -> Policy {
        match self.policy {
            PolicyKind::Random => Policy::Random,
            PolicyKind::LoadAware => Policy::LoadAware,
            PolicyKind::FlowBased => Policy::FlowBased(Ecmp::default()),
            PolicyKind::Probabilistic => {
                Policy::Probabilistic { lo: self.lo.unwrap_or_default(), hi: self.hi.unwrap_or_default() }
            }
        }
    }
    /// No host is found yet. Only `flow_based` has a rule.
    fn flows(&self) -> Flows {
        let places = || self.flow_table.unwrap_or_default() as usize;
        match self.flows {
            None | Some(FlowsKind::All) => Flows::All,
            Some(FlowsKind::Hosts) => Flows::Hosts { names: self.hosts.clone().unwrap_or_default(), found: Vec::new() },
            Some(which @ (FlowsKind::Short | FlowsKind::Long)) => Flows::Sized {
                long: which == FlowsKind::Long,
                size: self.flow_size.unwrap_or_default().0,
                table: vec![flows::Entry::default(); places()],
            },
        }
    }
}

impl Detour {
    /// From validated parameters, for no switch in particular: without a hash of its own, and without hosts.
    pub fn new(values: &Values) -> Detour {
        let given = Given::read(values);
        Detour {
            policy: given.policy(),
            flows: given.flows(),
            mark_detoured: given.mark_detoured,
            ingress: given.ingress,
            max_detours: given.max_detours,
        }
    }
}

impl Overflow for Detour {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let may = self.flows.may(pkt);
        let fits = at.has_place(at.out, queue, pkt.size);
        let stay = |reason| if fits { Fate::Enqueue(queue) } else { Fate::without_place(queue, reason, at) };
        if !may {
            return stay(DropReason::BufferFull);
        }
        if self.max_detours.is_some_and(|most| u64::from(pkt.detours) >= most) {
            return stay(DropReason::DetoursSpent);
        }
        if fits && !self.policy.early(pkt, at, env) {
            return Fate::Enqueue(queue);
        }
        let Some(port) = self.policy.choose(pkt, at, self.ingress, env) else { return stay(DropReason::NoDetour) };
        env.acts.mark |= self.mark_detoured;
        Fate::Detour(port, queue)
    }
    fn asks(&self) -> Asks {
        if self.policy.begins_early() || self.flows.counts() { Asks::Always } else { Asks::WhenFull }
    }
    fn needs(&self) -> Needs {
        Needs { aside: true, ..Needs::default() }
    }
    fn check(&self, beside: &Beside, report: &mut Report) {
        if let Policy::Probabilistic { lo, hi } = self.policy {
            if lo > hi {
                report.wrong("lo", lo, format!("at most hi = {hi}"));
            }
            if hi == 0.0 {
                report.wrong("hi", 0, "more than 0, or no packet ever waits for its own port");
            }
        }
        if self.flows.names().is_some_and(<[String]>::is_empty) {
            let found = if (beside.given)("hosts") { "no host" } else { "nothing" };
            report.wrong("hosts", found, "one host or more with flows = \"hosts\"");
        }
        if let Some(places) = self.flows.places() {
            let bytes = Bytes(places * flows::ENTRY_BYTES);
            let text = "detour by flow size: every such switch has a table of";
            report.note(format!("{text} {places} flows, {bytes} beside its buffer"));
        }
    }
    fn hosts(&self) -> Option<(&'static str, &[String])> {
        self.flows.names().map(|names| ("hosts", names))
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.policy.seed(own.hash_seed);
        self.flows.find(own.host);
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
