//! Registry of the mechanisms that a scenario may name: those of the catalogue and any added ones.

use crate::Mechanism;
use crate::ack_hold::{self, AckHoldSlot};
use crate::arbiter::{self, ArbiterSlot};
use crate::buffer::{self, BufferSlot};
use crate::fabric::{self, FabricSlot};
use crate::fib::{self, FibSlot};
use crate::host::{self, BounceSignal, NicOrder, ReactionSlot};
use crate::marking::{self, MarkingSlot};
use crate::notify::{self, NotifySlot};
use crate::overflow::{self, OverflowSlot};
use crate::params::{Spec, Values};
use crate::pause::{self, PauseSlot};
use crate::routing::{self, RoutingSlot};
use crate::scheduler::{self, SchedulerSlot};

/// Slots of a switch in their order, each with the mechanism used if the scenario names none.
pub const SLOTS: [(&str, &str); 11] = [
    ("fib", "static"),
    ("routing", "ecmp"),
    ("buffer", "per_port"),
    ("overflow", "tail_drop"),
    ("marking", "none"),
    ("ack_hold", "none"),
    ("notify", "none"),
    ("pause", "none"),
    ("scheduler", "strict_priority"),
    ("arbiter", "round_robin"),
    ("fabric", "none"),
];

/// Slots that may be filled per port; all other slots are filled once per switch.
pub const PORT_SLOTS: [&str; 5] = ["marking", "ack_hold", "notify", "pause", "scheduler"];

/// Slots of a host, each with the mechanism used if the scenario names none.
pub const HOST_SLOTS: [(&str, &str); 6] = [
    ("marking", "none"),
    ("scheduler", "strict_priority"),
    ("overflow", "tail_drop"),
    ("bounce_signal", "none"),
    ("nic", "fifo"),
    ("reaction", "none"),
];

/// Registry of all known mechanisms, by slot.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Forwarding tables, which give a switch the ports of addresses.
    pub fib: Vec<Mechanism<FibSlot>>,
    /// Routing mechanisms, which choose the next hop.
    pub routing: Vec<Mechanism<RoutingSlot>>,
    /// Buffer mechanisms, which allocate memory to queues.
    pub buffer: Vec<Mechanism<BufferSlot>>,
    /// Overflow mechanisms, which decide the fate of arrivals.
    pub overflow: Vec<Mechanism<OverflowSlot>>,
    /// Marking mechanisms, which set congestion marks.
    pub marking: Vec<Mechanism<MarkingSlot>>,
    /// Mechanisms that hold ACKs from the far end of a port.
    pub ack_hold: Vec<Mechanism<AckHoldSlot>>,
    /// Mechanisms that send congestion messages to sources.
    pub notify: Vec<Mechanism<NotifySlot>>,
    /// Mechanisms that pause the far end of a port.
    pub pause: Vec<Mechanism<PauseSlot>>,
    /// Schedulers of an output port.
    pub scheduler: Vec<Mechanism<SchedulerSlot>>,
    /// Arbiters that choose the next input of an output.
    pub arbiter: Vec<Mechanism<ArbiterSlot>>,
    /// Wirings of the stages inside a switch.
    pub fabric: Vec<Mechanism<FabricSlot>>,
    /// Reactions of a source's transport to its bounced packets.
    pub bounce_signal: Vec<Mechanism<BounceSignal>>,
    /// Orders in which a NIC takes frames from transports.
    pub nic: Vec<Mechanism<NicOrder>>,
    /// Reaction points, which change the rates of flows on congestion messages.
    pub reaction: Vec<Mechanism<ReactionSlot>>,
}

/// Slot whose mechanisms are listed in a registry.
///
/// ```
/// use mech::buffer::BufferSlot;
/// use mech::marking::MarkingSlot;
/// use mech::{RegistrySlot, Registry};
///
/// /// Returns the names of the mechanisms of a slot.
/// fn names<S: RegistrySlot>(registry: &Registry) -> Vec<&'static str> {
///     S::mechanisms(registry).iter().map(|mechanism| mechanism.spec.kind).collect()
/// }
///
/// let registry = Registry::catalogue();
/// assert_eq!(names::<MarkingSlot>(&registry), ["none", "ecn_threshold", "red", "wred"]);
/// assert_eq!(names::<BufferSlot>(&registry), ["per_port", "shared", "pools", "unlimited"]);
/// ```
pub trait RegistrySlot: Sized + 'static {
    /// Returns the mechanisms of this slot in a registry.
    fn mechanisms(registry: &Registry) -> &[Mechanism<Self>];
    /// Returns the mechanisms of this slot in a registry, mutable.
    fn mechanisms_mut(registry: &mut Registry) -> &mut Vec<Mechanism<Self>>;
}

macro_rules! slots {
    ($($field:ident: $slot:ty,)*) => {$(
        impl RegistrySlot for $slot {
            fn mechanisms(registry: &Registry) -> &[Mechanism<$slot>] {
                &registry.$field
            }
            fn mechanisms_mut(registry: &mut Registry) -> &mut Vec<Mechanism<$slot>> {
                &mut registry.$field
            }
        }
    )*};
}

slots! {
    fib: FibSlot,
    routing: RoutingSlot,
    buffer: BufferSlot,
    overflow: OverflowSlot,
    marking: MarkingSlot,
    ack_hold: AckHoldSlot,
    notify: NotifySlot,
    pause: PauseSlot,
    scheduler: SchedulerSlot,
    arbiter: ArbiterSlot,
    fabric: FabricSlot,
    bounce_signal: BounceSignal,
    nic: NicOrder,
    reaction: ReactionSlot,
}

/// Returns the declarations of the mechanisms for which `wanted` is true.
fn specs<S>(mechanisms: &[Mechanism<S>], wanted: impl Fn(&Mechanism<S>) -> bool) -> Vec<&'static Spec> {
    mechanisms.iter().filter(|one| wanted(one)).map(|one| one.spec).collect()
}

impl Registry {
    /// Returns the registry of all mechanisms of this crate.
    pub fn catalogue() -> Registry {
        Registry {
            fib: fib::ALL.to_vec(),
            routing: routing::ALL.to_vec(),
            buffer: buffer::ALL.to_vec(),
            overflow: overflow::ALL.to_vec(),
            marking: marking::ALL.to_vec(),
            ack_hold: ack_hold::ALL.to_vec(),
            notify: notify::ALL.to_vec(),
            pause: pause::ALL.to_vec(),
            scheduler: scheduler::ALL.to_vec(),
            arbiter: arbiter::ALL.to_vec(),
            fabric: fabric::ALL.to_vec(),
            bounce_signal: host::ALL.to_vec(),
            nic: host::NIC_ORDERS.to_vec(),
            reaction: host::REACTIONS.to_vec(),
        }
    }

    /// Returns the registry with one more mechanism, which replaces one of the same name.
    #[must_use]
    pub fn with_mechanism<S: RegistrySlot>(mut self, added: Mechanism<S>) -> Registry {
        let all = S::mechanisms_mut(&mut self);
        all.retain(|one| one.spec.kind != added.spec.kind);
        all.push(added);
        self
    }

    /// Returns the mechanism with this name; `None` if there is none.
    pub fn find<S: RegistrySlot>(&self, kind: &str) -> Option<&Mechanism<S>> {
        S::mechanisms(self).iter().find(|one| one.spec.kind == kind)
    }

    /// Makes the mechanism with this name from validated parameters; `None` if there is none.
    pub fn make<S: RegistrySlot>(&self, kind: &str, values: &Values) -> Option<S> {
        self.find::<S>(kind).map(|found| (found.make)(values))
    }

    /// Returns the declarations of all mechanisms, slot by slot.
    pub fn specs(&self) -> Vec<&'static Spec> {
        let switch = SLOTS.map(|(slot, _)| self.switch_specs(slot));
        let host = ["bounce_signal", "nic", "reaction"].map(|slot| self.host_specs(slot));
        [switch.concat(), host.concat()].concat()
    }

    /// Returns the declarations of the mechanisms of a switch slot, given the name of the slot.
    pub fn switch_specs(&self, slot: &str) -> Vec<&'static Spec> {
        match slot {
            "fib" => specs(&self.fib, |_| true),
            "routing" => specs(&self.routing, |_| true),
            "buffer" => specs(&self.buffer, |_| true),
            "overflow" => specs(&self.overflow, |_| true),
            "marking" => specs(&self.marking, |_| true),
            "ack_hold" => specs(&self.ack_hold, |_| true),
            "notify" => specs(&self.notify, |_| true),
            "pause" => specs(&self.pause, |_| true),
            "scheduler" => specs(&self.scheduler, |_| true),
            "arbiter" => specs(&self.arbiter, |_| true),
            "fabric" => specs(&self.fabric, |_| true),
            _ => Vec::new(),
        }
    }

    /// Returns the declarations of the mechanisms of a host slot, given the name of the slot.
    /// They are host mechanisms, or switch mechanisms that a NIC may have.
    pub fn host_specs(&self, slot: &str) -> Vec<&'static Spec> {
        match slot {
            "marking" => specs(&self.marking, |one| one.at_nic),
            "scheduler" => specs(&self.scheduler, |one| one.at_nic),
            "overflow" => specs(&self.overflow, |one| one.at_nic),
            "bounce_signal" => specs(&self.bounce_signal, |_| true),
            "nic" => specs(&self.nic, |_| true),
            "reaction" => specs(&self.reaction, |_| true),
            _ => Vec::new(),
        }
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::catalogue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overflow::TailDrop;

    #[test]
    fn every_slot_lists_its_own_mechanisms_with_the_default() {
        let all = Registry::catalogue();
        for (slot, default) in SLOTS {
            let specs = all.switch_specs(slot);
            assert!(specs.iter().all(|spec| spec.slot.strip_prefix("switch.") == Some(slot)), "{slot}");
            assert!(specs.iter().any(|spec| spec.kind == default), "{slot}");
        }
        for (slot, default) in HOST_SLOTS {
            assert!(all.host_specs(slot).iter().any(|spec| spec.kind == default), "{slot}");
        }
    }

    #[test]
    fn kind_none_makes_empty_agent_and_reaction_slots() {
        let (all, values) = (Registry::catalogue(), Values::default());
        assert!(all.make::<AckHoldSlot>("none", &values).expect("it is there").peek().is_none());
        assert!(all.make::<NotifySlot>("none", &values).expect("it is there").peek().is_none());
        assert!(!all.make::<ReactionSlot>("none", &values).expect("it is there").has_reaction());
    }

    #[test]
    fn added_mechanism_is_found_and_replaces_one_of_its_name() {
        const CUSTOM_SPEC: Spec =
            Spec { slot: "switch.overflow", kind: "mine", doc: "As tail drop.", cite: "", params: &[] };
        let one = Mechanism::new(&CUSTOM_SPEC, |_| OverflowSlot::custom(TailDrop));
        let all = Registry::catalogue().with_mechanism(one).with_mechanism(one);
        assert_eq!(all.overflow.len(), Registry::catalogue().overflow.len() + 1);
        let found = all.find::<OverflowSlot>("mine").expect("it is there");
        assert_eq!(format!("{:?}", (found.make)(&Values::default())), "Custom");
        assert!(all.find::<RoutingSlot>("mine").is_none());
        assert!(all.specs().iter().any(|spec| spec.kind == "mine"));
    }
}
