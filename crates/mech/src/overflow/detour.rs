//! DIBS: a packet whose queue is full is sent to a neighbour switch instead (Zarifis et al., "DIBS: Just-in-time
//! Congestion Mitigation for Data Centers", EuroSys 2014).
//!
//! A port is eligible if its far end is a switch, its queue is not full, and it is not the desired port. The ingress
//! port is eligible too unless `ingress = false`, since the paper's own trace returns packets there (fig. 1). A detour
//! leaves no state: the next switch routes the packet like any other.
//!
//! [`policy`] chooses an eligible port, and the packets that leave before their queue is full. [`flows`] chooses the
//! flows that are detoured at all. Beyond `random` the paper gives ideas (§7), not rules: these rules are ours.

mod flows;
mod policy;
#[cfg(test)]
mod tests;

use super::{DropReason, Fate, Overflow};
use crate::params::{ParamKind, Spec, Values};
use crate::routing::Ecmp;
use crate::{
    AdmitCalls, CheckContext, Env, ForwardingContext, Head, Needs, ParamCondition, Report, SwitchContext, choice,
    params,
};
use flows::FlowRule;
use policy::Policy;
use units::Bytes;

/// DIBS detours at one switch.
#[derive(Clone, Debug)]
pub struct Detour {
    policy: Policy,
    flows: FlowRule,
    mark_detoured: bool,
    ingress: bool,
    /// Number of detours after which a packet is not detoured again; `None` is unlimited.
    max_detours: Option<u64>,
}

choice! {
    /// Choice of the policy for the ports of detours.
    pub(crate) enum PolicyKind {
        Random = "random",
        LoadAware = "load_aware",
        FlowBased = "flow_based",
        Probabilistic = "probabilistic",
    }
}

choice! {
    /// Choice of the flows that may be detoured.
    pub(crate) enum FlowsKind {
        All = "all",
        Short = "short",
        Long = "long",
        Hosts = "hosts",
    }
}

params! {
    /// Parameter values of `detour`.
    pub(crate) struct Params {
        policy: PolicyKind = {
            doc: "Choice among the eligible ports (DIBS §2, §7). `random`: uniform. `load_aware`: the port with the \
                  fewest queued bytes. `flow_based`: the port given by a hash of the flow. `probabilistic`: as \
                  `random`, but detours begin before the queue is full.",
            kind: PolicyKind::KIND,
            default: Some("random"),
        },
        mark_detoured: bool = {
            doc: "Sets CE in detoured packets that are ECN-capable (DIBS §5.3).",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        ingress: bool = {
            doc: "Allows detours to the port by which the packet arrived (DIBS fig. 1).",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        max_detours: Option<u64> = {
            doc: "Maximum number of detours of a packet. After that, the packet is dropped if its queue is full.",
            kind: ParamKind::CountOrOff { min: 1, max: 254 },
            default: Some("off"),
        },
        flows: Option<FlowsKind> = {
            doc: "Flows that are detoured, with `policy` = `flow_based`. Packets of other flows are dropped if their \
                  queue is full (DIBS §7).",
            kind: FlowsKind::KIND,
            default: Some("all"),
        },
        flow_size: Option<Bytes> = {
            doc: "Bytes up to which a flow is short, with `flows` = `short` or `long`. The switch counts the arriving \
                  frames of the flow.",
            kind: ParamKind::Size { min: 0 },
            default: Some("100KB"),
        },
        flow_table: Option<u64> = {
            doc: "Number of flows in the table of each switch, with `flows` = `short` or `long`.",
            kind: ParamKind::Count { min: 1, max: 65_536 },
            default: Some("4096"),
        },
        hosts: Option<Vec<String>> = {
            doc: "Hosts whose packets are detoured, both from and to them, with `flows` = `hosts`.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
        lo: Option<f64> = {
            doc: "Share of its queue's limit from which on class 0, the least urgent, is detoured early, with `policy` \
                  = `probabilistic`. Classes above it begin in equal steps up to 1 for class 7, which is never \
                  detoured early.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.5"),
        },
        hi: Option<f64> = {
            doc: "Share of its queue's limit from which on class 0 is always detoured, with `policy` = \
                  `probabilistic`. Classes above it follow in equal steps up to 1. With lo = hi = 1 the policy is \
                  `random`.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "detour",
    doc: "Sends a packet through another port to a neighbouring switch if its own queue is full.",
    cite: "DIBS §2",
    params: Params::PARAMS,
};

/// Parameters of `detour` that are allowed only with certain policies or choices of flows.
pub(super) const PARAM_CONDITIONS: &[ParamCondition] = &[
    ParamCondition { key: "flows", other_key: "policy", words: &[PolicyKind::FlowBased.word()] },
    ParamCondition { key: "flow_size", other_key: "policy", words: &[PolicyKind::FlowBased.word()] },
    ParamCondition { key: "flow_size", other_key: "flows", words: &[FlowsKind::Short.word(), FlowsKind::Long.word()] },
    ParamCondition { key: "flow_table", other_key: "policy", words: &[PolicyKind::FlowBased.word()] },
    ParamCondition { key: "flow_table", other_key: "flows", words: &[FlowsKind::Short.word(), FlowsKind::Long.word()] },
    ParamCondition { key: "hosts", other_key: "policy", words: &[PolicyKind::FlowBased.word()] },
    ParamCondition { key: "hosts", other_key: "flows", words: &[FlowsKind::Hosts.word()] },
    ParamCondition { key: "lo", other_key: "policy", words: &[PolicyKind::Probabilistic.word()] },
    ParamCondition { key: "hi", other_key: "policy", words: &[PolicyKind::Probabilistic.word()] },
];

impl Params {
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
    /// Returns the rule of the flows that may be detoured, with unresolved hosts. Only `flow_based` has a choice.
    fn flows(&self) -> FlowRule {
        let places = || self.flow_table.unwrap_or_default() as usize;
        match self.flows {
            None | Some(FlowsKind::All) => FlowRule::All,
            Some(FlowsKind::Hosts) => {
                FlowRule::Hosts { names: self.hosts.clone().unwrap_or_default(), found: Vec::new() }
            }
            Some(which @ (FlowsKind::Short | FlowsKind::Long)) => FlowRule::Sized {
                long: which == FlowsKind::Long,
                size: self.flow_size.unwrap_or_default().0,
                table: vec![flows::FlowEntry::default(); places()],
            },
        }
    }
}

impl Detour {
    /// Creates `detour` from validated parameters, for no switch yet: without a hash seed and identifiers of hosts.
    pub fn new(values: &Values) -> Detour {
        let given = Params::read(values);
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
        // Every arrival is counted here, so this comes before all decisions.
        let may = self.flows.count_and_check(pkt);
        let fits = at.fits_port_limit(at.output, queue, pkt.size);
        let stay = |reason| if fits { Fate::Enqueue(queue) } else { Fate::when_full(queue, reason, at) };
        if !may {
            return stay(DropReason::BufferFull);
        }
        // A packet that is never detoured again draws no number, so this comes before the early detour.
        if self.max_detours.is_some_and(|most| u64::from(pkt.detours) >= most) {
            return stay(DropReason::DetoursSpent);
        }
        if fits && !self.policy.is_detoured_early(pkt, at, env) {
            return Fate::Enqueue(queue);
        }
        let Some(port) = self.policy.choose_port(pkt, at, self.ingress, env) else { return stay(DropReason::NoDetour) };
        // Only a packet that is detoured gets the mark (DIBS §5.3).
        env.acts.mark |= self.mark_detoured;
        Fate::Detour(port, queue)
    }
    fn admit_calls(&self) -> AdmitCalls {
        if self.policy.may_detour_early() || self.flows.counts_packets() {
            AdmitCalls::Always
        } else {
            AdmitCalls::WhenFull
        }
    }
    fn needs(&self) -> Needs {
        Needs { detours: true, ..Needs::default() }
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if let Policy::Probabilistic { lo, hi } = self.policy {
            if lo > hi {
                report.add_error("lo", lo, format!("at most hi = {hi}"));
            }
            if hi == 0.0 {
                report.add_error("hi", 0, "more than 0, because with 0 no packet ever waits for its own port");
            }
        }
        if self.flows.host_names().is_some_and(<[String]>::is_empty) {
            let found = if (beside.is_set)("hosts") { "no host" } else { "nothing" };
            report.add_error("hosts", found, "at least one host with flows = \"hosts\"");
        }
        if let Some(places) = self.flows.table_entries() {
            let bytes = Bytes(places * flows::ENTRY_BYTES);
            let text = "detour by flow size: every switch with this policy has a table of";
            report.add_warning(format!("{text} {places} flows, which takes {bytes} in addition to the buffer"));
        }
    }
    fn host_params(&self) -> Option<(&'static str, &[String])> {
        self.flows.host_names().map(|names| ("hosts", names))
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.policy.set_seed(own.hash_seed);
        self.flows.resolve_hosts(own.host);
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
