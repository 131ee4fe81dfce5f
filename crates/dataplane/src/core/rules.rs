//! Checks of the decisions and requests of mechanisms against the rules of their slots.
//! A mechanism that breaks a rule of its slot loses at most the packet, and ends the run with an error. It cannot hang
//! or crash the run.

use super::agents::ReadyEntry;
use super::{Core, Decision, StepContext};
use crate::packet_store::{Fib, PacketStore};
use crate::{BrokenRule, Out, Outcome, Pkt};
use mech::overflow::{DropReason, Fate};
use mech::{Act, Needs, PacketKind, PktId, PortId, QueueId, Rule};

/// Bits of a queue's number that are 0 in normal and bounce queues of the classes from 0 to 7.
const DATA_QUEUE_ZERO_BITS: u8 = !0b1_1101;

/// Returns true if packets other than congestion messages may wait in this queue.
#[inline]
fn is_for_data(queue: QueueId) -> bool {
    queue.0 & DATA_QUEUE_ZERO_BITS == 0
}

/// Rule that was broken while a mechanism read its view, and the slot at fault if it is not the mechanism's own.
type BrokenViewRule = Option<(Option<&'static str>, Rule)>;

const fn undeclared(used: &'static str, declare: &'static str) -> Rule {
    Rule::Undeclared { used, declare }
}

const UNDECLARED_EVICT: Rule = undeclared("`Fate::Evict`", "`removes_packets: true` in `needs()`");
const UNDECLARED_TRIM_QUEUED: Rule = undeclared("`Fate::TrimQueued`", "`removes_packets: true` in `needs()`");
const UNDECLARED_DETOUR: Rule = undeclared("`Fate::Detour`", "`detours: true` in `needs()`");
const UNDECLARED_BOUNCE: Rule = undeclared("`Fate::Bounce`", "`bounce_lane: Some(size)` in `needs()`");
const UNDECLARED_CUT: Rule =
    undeclared("`Fate::Trim`, `Fate::TrimAndReturn` or `Fate::TrimQueued`", "`cut_memory: Some(bytes)` in `needs()`");
const UNDECLARED_CUT_CLASS: Rule =
    undeclared("a class for cut packets in `cut_effect()`", "the same class as `cut_class` in `needs()`");
const UNDECLARED_RETURN: Rule =
    undeclared("`Fate::ReturnToSource` or `Fate::TrimAndReturn`", "`returns_to_source: true` in `needs()`");
const UNDECLARED_PAUSE: Rule = undeclared("`Act::Pause` or `Act::Resume`", "`pausing()` in the slot `pause`");
const UNDECLARED_NOTICE: Rule = undeclared("`Act::Emit`", "`sends_notices: true` in `needs()`");
const UNDECLARED_ECHO: Rule = undeclared("`set_ece` of `Act::ReleaseHeld`", "`sets_ece: true` in `needs()`");
const UNDECLARED_WINDOW_BOUND: Rule =
    undeclared("`window` of `Act::ReleaseHeld`", "`min_window: Some(bytes)` in `needs()`");
/// Rule that a scheduler breaks if it chooses a packet that is not the first of its queue without declaring it.
pub(super) const SCHEDULER_REORDERS: Rule =
    undeclared("a packet that is not the first of its queue", "`reorders: true` in `needs()`");

impl Core {
    /// Keeps a broken rule until the end of the step, when the driver receives it.
    #[cold]
    pub(crate) fn record_broken_rule(&mut self, slot: &'static str, port: PortId, rule: Rule) {
        self.broken.get_or_insert(BrokenRule { slot, port, rule });
        // The end of a step, which reports the rule, is skipped if this list is empty.
        self.ready.push(ReadyEntry::Work);
    }

    /// Records the rule that a mechanism broke by reading its view or by requesting forbidden acts.
    #[cold]
    pub(super) fn record_broken_view_rule(&mut self, slot: &'static str, port: PortId, seen: BrokenViewRule) {
        self.acts.clear();
        let (other, rule) = seen.unwrap_or((None, Rule::ForbiddenAction));
        self.record_broken_rule(other.unwrap_or(slot), port, rule);
    }

    /// Reports a broken rule to the driver.
    #[inline]
    pub(super) fn report_broken_rule<O: Out>(&mut self, out: &mut O) {
        if let Some(broken) = self.broken.take() {
            out.report_outcome(Outcome::RuleBroken(&broken));
        }
    }

    /// Returns true if any overflow mechanism may choose this fate, so that it needs no check.
    #[inline]
    pub(super) fn is_always_allowed(fate: Fate) -> bool {
        match fate {
            Fate::Enqueue(queue) => is_for_data(queue),
            Fate::Drop(_) => true,
            _ => false,
        }
    }

    /// Checks the decision of the overflow slot, and replaces it by a drop if it breaks a rule.
    /// `seen` is a rule that the mechanism broke by reading its view.
    #[cold]
    pub(super) fn check_decision(
        &mut self,
        decision: Decision,
        seen: BrokenViewRule,
        pkt: &Pkt,
        port: PortId,
    ) -> Decision {
        if seen.is_some() || !self.acts.list.is_empty() {
            self.record_broken_view_rule("overflow", port, seen);
            return Decision::drop_frame(DropReason::BufferFull);
        }
        let Some(rule) = self.rule_broken_by_fate(decision.fate, pkt) else { return decision };
        self.record_broken_rule("overflow", port, rule);
        Decision::drop_frame(DropReason::BufferFull)
    }

    fn rule_broken_by_fate(&self, fate: Fate, pkt: &Pkt) -> Option<Rule> {
        let needs = &self.needs;
        let when = |wrong: bool, rule: Rule| wrong.then_some(rule);
        let port = |port: PortId| when(usize::from(port.0) >= self.store.ports.len(), Rule::NoPort(port));
        // At a node without a lane for congestion messages, a mechanism may return the queue that the message names:
        // `resolve_queue` replaces it later.
        let queue = |queue: QueueId| {
            let own = pkt.head.kind() == PacketKind::Notice && queue == pkt.head.queue();
            when(!own && !is_for_data(queue), Rule::NoQueue(queue))
        };
        let cut = || when(needs.cut_memory.is_none(), UNDECLARED_CUT).or_else(|| self.rule_broken_by_cut_class());
        let removes = |rule: Rule| when(!needs.removes_packets, rule);
        let returns = || when(!needs.returns_to_source, UNDECLARED_RETURN);
        match fate {
            Fate::Enqueue(to) => queue(to),
            Fate::Drop(_) => None,
            Fate::Bounce(back) => when(needs.bounce_lane.is_none(), UNDECLARED_BOUNCE).or_else(|| port(back)),
            Fate::Detour(other, to) => {
                when(!needs.detours, UNDECLARED_DETOUR).or_else(|| port(other)).or_else(|| queue(to))
            }
            Fate::Trim(to) => cut().or_else(|| queue(to)),
            Fate::TrimAndReturn => cut().or_else(returns),
            Fate::ReturnToSource => returns(),
            Fate::TrimQueued(_) => removes(UNDECLARED_TRIM_QUEUED).or_else(cut),
            Fate::Evict(_) => removes(UNDECLARED_EVICT),
        }
    }

    fn rule_broken_by_cut_class(&self) -> Option<Rule> {
        let class = self.overflow.peek().cut_effect().class;
        class.is_some_and(|class| self.needs.cut_class != Some(class)).then_some(UNDECLARED_CUT_CLASS)
    }

    /// Returns a drop for an arrival whose overflow mechanism chose a packet that it may not remove.
    /// Records the broken rule.
    pub(super) fn drop_for_invalid_victim(&mut self, id: PktId, port: PortId) -> Decision {
        let rule = if self.store.is_queued_anywhere(id) { Rule::QueuedElsewhere(id) } else { Rule::NoPacket(id) };
        self.record_broken_rule("overflow", port, rule);
        Decision::drop_frame(DropReason::BufferFull)
    }

    /// Returns the rule that an agent breaks by requesting an act; `None` if the act is allowed.
    pub(super) fn rule_broken_by_act<F: Fib, O: Out>(
        &self,
        needs: &Needs,
        act: &Act,
        step: &StepContext<F, O>,
    ) -> Option<Rule> {
        let can_pause = self.pausing.is_some();
        let port = |port: PortId| (usize::from(port.0) >= self.store.ports.len()).then_some(Rule::NoPort(port));
        match act {
            Act::Pause(at, ..) | Act::Resume(at, _) => (!can_pause).then_some(UNDECLARED_PAUSE).or_else(|| port(*at)),
            Act::Turn { port: at, .. } => port(*at),
            Act::Forget(_) => None,
            Act::Arm(_, id) => (id.0 > 7).then_some(Rule::NoTimer(*id)),
            Act::Emit { flow, to, .. } => {
                let flow = || (!step.out.has_flow(*flow)).then_some(Rule::NoFlow(*flow));
                let host = || (!step.fib.has_host(*to)).then_some(Rule::NoHost(*to));
                (!needs.sends_notices).then_some(UNDECLARED_NOTICE).or_else(flow).or_else(host)
            }
            Act::ReleaseHeld { port: at, set_ece, window, .. } => {
                let echoes = (*set_ece && !needs.sets_ece).then_some(UNDECLARED_ECHO);
                let windows = || (window.is_some() && needs.min_window.is_none()).then_some(UNDECLARED_WINDOW_BOUND);
                echoes.or_else(windows).or_else(|| port(*at))
            }
        }
    }
}

impl PacketStore {
    /// Returns true if a packet waits in a queue of any port, or at an input.
    fn is_queued_anywhere(&self, id: PktId) -> bool {
        let at_inputs =
            self.inputs.as_ref().is_some_and(|inputs| inputs.stored_frames(&self.arena).any(|(_, slot)| slot == id.0));
        let queues = self.ports.iter().flat_map(|port| port.rest.queues.iter());
        at_inputs || queues.into_iter().any(|queue| self.arena.ids(queue).any(|slot| slot == id.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Lane;

    #[test]
    fn data_waits_only_in_normal_and_bounce_queues() {
        let found: Vec<u8> = (0..=u8::MAX).filter(|queue| is_for_data(QueueId(*queue))).collect();
        let each = |class| [QueueId::new(class, Lane::Normal).0, QueueId::new(class, Lane::Bounce).0];
        assert_eq!(found, (0..8).flat_map(each).collect::<Vec<u8>>());
    }
}
