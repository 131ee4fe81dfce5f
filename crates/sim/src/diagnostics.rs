//! Descriptions in words of failures and deadlocks.

use crate::deadlock::Deadlock;
use crate::driver::{BrokenRuleAt, LosslessViolationAt};
use dataplane::OversizedFrame;
use mech::pause::{PauseLevels, Pausing};
use scenario::Scenario;
use units::{Amount, Bytes, Time};

impl LosslessViolationAt {
    /// Describes where and when a packet was lost, how much memory was in use, and how much headroom the link needs.
    pub fn describe(&self, scenario: &Scenario) -> String {
        let node = &scenario.topology.nodes[self.node as usize];
        let lost = &self.lost;
        let far = |port: u16| &scenario.topology.nodes[node.ports[usize::from(port)].peer as usize].name;
        let place = format!(
            "a packet of a lossless class was lost, because no memory was free: switch {}, port {} (from {}), class \
             {}, at {}",
            node.name,
            lost.ingress.0,
            far(lost.ingress.0),
            lost.class,
            format_microseconds(self.at)
        );
        if let Some(inside) = &lost.inside {
            return format!("{place}. {}; {LOSSLESS_FALSE_HINT}", describe_too_large(inside));
        }
        let (over, needs) = (
            lost.held.saturating_sub(lost.xoff),
            format!(
                "the link needs a headroom of \
                                                                           {}",
                Bytes(lost.headroom)
            ),
        );
        let room = match lost.expired {
            Some(duration) => {
                format!("but a pause lasts only {duration} on this link and may have expired before its refresh")
            }
            None if over > lost.headroom => format!(
                "and {} above it exceeds the {} that may arrive after a pause request: xoff fell after the request \
                 as the memory filled, or the far end did not pause",
                Bytes(over),
                Bytes(lost.headroom)
            ),
            None if over > 0 => format!("so the headroom was less than {}, and {needs}", Bytes(over)),
            None => format!("so there was no headroom, and {needs}: other packets had filled the memory"),
        };
        let cure = match lost.expired {
            Some(_) => "A larger `quanta`, or a `refresh`, prevents such a loss".to_string(),
            None => self.describe_memory_cure(scenario),
        };
        let size = |count: u64| self.fill_amount(scenario, count);
        let used = size(lost.fill.used);
        let full = match lost.fill.limit {
            Some(u64::MAX) => format!("{used} in use, without a limit of its own, and its pool had no more memory"),
            // Each stored frame lowers a dynamic threshold, so that the last one may leave the port above it.
            Some(limit) if lost.fill.used > limit && self.has_dynamic_limit(scenario) => {
                format!("{used} in use, above its limit of {}, which falls as the shared memory fills", size(limit))
            }
            Some(limit) => format!("{used} in use, with a limit of {}", size(limit)),
            None => format!("{used} in use"),
        };
        if let Some(group) = &lost.group {
            let headroom = &group.headroom;
            return format!(
                "{place}. Priority group {} of this port used {} of its headroom of {}, and {} in total. Neither its \
                 headroom nor its pool had space for the packet. {cure}; {LOSSLESS_FALSE_HINT}",
                group.number,
                Bytes(headroom.used),
                Bytes(headroom.limit.unwrap_or(0)),
                Bytes(lost.held),
            );
        }
        let (whose, port, end) = match lost.at_input {
            true => ("The memory of input", lost.ingress.0, "from"),
            false => ("Port", lost.out.0, "to"),
        };
        if self.has_lossless_groups(scenario) {
            return format!(
                "{place}. The queue of port {port} ({end} {}) was full: {full}. {cure}; {LOSSLESS_FALSE_HINT}",
                far(port)
            );
        }
        format!(
            "{place}. With this packet, {} from this port would be stored; xoff is {}, {room}. {whose} {port} \
             ({end} {}) was full: {full}. {cure}; {LOSSLESS_FALSE_HINT}",
            Bytes(lost.held),
            Bytes(lost.xoff),
            far(port),
        )
    }

    /// Returns true if the switch has pools with lossless groups, whose profiles have the thresholds of its pauses.
    fn has_lossless_groups(&self, scenario: &Scenario) -> bool {
        let layout = scenario.memory_layout((self.node - scenario.topology.hosts) as usize);
        layout.is_some_and(|layout| layout.profiles.iter().any(|profile| profile.lossless.is_some()))
    }

    /// Returns true if the limit of the full port depends on the free part of a shared memory.
    fn has_dynamic_limit(&self, scenario: &Scenario) -> bool {
        let switch = &scenario.switches[(self.node - scenario.topology.hosts) as usize];
        let buffer = switch.buffer.slot.peek();
        if self.lost.at_input || !buffer.has_accounts() {
            return !self.lost.at_input && buffer.free_shared_bytes(0).is_some();
        }
        let layout = scenario.memory_layout((self.node - scenario.topology.hosts) as usize);
        layout.is_some_and(|layout| {
            let queue = layout.class_to_queue[usize::from(self.lost.class & 7)];
            let account = layout.queues[usize::from(self.lost.out.0) * 8 + usize::from(queue)];
            layout.profile(account).is_some_and(|profile| profile.threshold.fixed_limit().is_none())
        })
    }

    /// Returns a count of the memory that was full, in packets if its size is in packets.
    fn fill_amount(&self, scenario: &Scenario, count: u64) -> Amount {
        let switch = &scenario.switches[(self.node - scenario.topology.hosts) as usize];
        let input = switch.model.input_side().filter(|_| self.lost.at_input).map(|input| input.input_buffer);
        let size = input.or_else(|| switch.buffer.slot.peek().total_memory(1));
        match size {
            Some(Amount::Packets(_)) => Amount::Packets(count),
            _ => Amount::Bytes(count),
        }
    }

    /// Describes the change of a profile that prevents the loss.
    fn describe_group_cure(&self) -> String {
        let cure = match self.lost.group {
            Some(_) => "A larger `xoff` in the profile of the group, or more shared headroom,",
            None => "A larger limit or pool of the queue at egress",
        };
        format!("{cure} prevents such a loss")
    }

    /// Describes the changes of memory and thresholds that prevent the loss, with the keys that the scenario sets.
    fn describe_memory_cure(&self, scenario: &Scenario) -> String {
        if self.has_lossless_groups(scenario) {
            return self.describe_group_cure();
        }
        let levels = scenario.pause_mechanism(self.node, self.lost.ingress.0).map(Pausing::pause_levels);
        let xoff = match levels {
            Some(PauseLevels::ShareOfFree { .. }) => "switch.pause.alpha",
            _ => "switch.pause.xoff",
        };
        let share = if self.lost.over_threshold { " a larger `switch.buffer.alpha`," } else { "" };
        format!("More memory,{share} or a lower `{xoff}`, prevents such a loss")
    }
}

impl BrokenRuleAt {
    /// Describes a broken rule in two sentences: mechanism, node, port, instant, and the rule with advice.
    pub fn describe(&self, scenario: &Scenario) -> String {
        let node = &scenario.topology.nodes[self.node as usize];
        let (kind, port, slot) = (self.mechanism_kind(scenario), self.broken.port.0, self.broken.slot);
        let whose = if self.node < scenario.topology.hosts { "host" } else { "switch" };
        format!(
            "mechanism `{kind}` broke a rule of the slot `{slot}` ({whose} {}, port {port}, at {}): {}",
            node.name,
            format_microseconds(self.at),
            self.broken.rule
        )
    }

    /// Returns the name of the mechanism that broke the rule.
    fn mechanism_kind<'a>(&self, scenario: &'a Scenario) -> &'a str {
        let Some(switch) = self.node.checked_sub(scenario.topology.hosts) else {
            let host = &scenario.host;
            return match self.broken.slot {
                "overflow" => &host.overflow.kind,
                "scheduler" => &host.scheduler.kind,
                "marking" => &host.marking.kind,
                _ => &host.reaction.kind,
            };
        };
        let switch = &scenario.switches[switch as usize];
        let port = &switch.ports[usize::from(self.broken.port.0).min(switch.ports.len() - 1)];
        let inputs = switch.model.input_side();
        match self.broken.slot {
            "overflow" => &switch.overflow.kind,
            "scheduler" => &port.scheduler.kind,
            "marking" => &port.marking.kind,
            "ack_hold" => &port.ack_hold.kind,
            "notify" => &port.notify.kind,
            "pause" => &port.pause.kind,
            "routing" => &switch.routing.kind,
            "fib" => &switch.fib.kind,
            "arbiter" => inputs.map_or("", |cioq| &cioq.arbiter.kind),
            "fabric" => inputs.and_then(|cioq| cioq.fabric.as_ref()).map_or("", |fabric| &fabric.kind),
            _ => "agent",
        }
    }
}

const LOSSLESS_FALSE_HINT: &str = "with `lossless = false`, such a loss is counted and the run continues";

/// Describes which buffers inside a switch of several stages are too small for a packet, so that it can never cross.
fn describe_too_large(inside: &OversizedFrame) -> String {
    let OversizedFrame { size, stage_buffer, link_buffer } = *inside;
    let small = [("stage_buffer", stage_buffer), ("link_buffer", link_buffer)];
    let small = small.into_iter().filter(|(_, holds)| u64::from(size) > *holds);
    let (names, sizes): (Vec<_>, Vec<_>) = small.map(|(name, holds)| (name, Bytes(holds).to_string())).unzip();
    let keep = if names.len() == 1 { "prevents" } else { "prevent" };
    format!(
        "This frame of {} does not fit in a buffer of {} inside the switch, even if it is empty. A larger {} {keep} \
         such a loss",
        Bytes(u64::from(size)),
        sizes.join(" or "),
        names.join(" and ")
    )
}

/// Formats an instant in microseconds, exact to the picosecond, without trailing zeros.
fn format_microseconds(at: Time) -> String {
    let told = format!("{}.{:06}", at.0 / 1_000_000, at.0 % 1_000_000);
    format!("{}us", told.trim_end_matches('0').trim_end_matches('.'))
}

impl Deadlock {
    /// Returns the nodes and their paused ports as `name:port`, each followed by the one that it waits for.
    pub fn port_names(&self, scenario: &Scenario) -> Vec<String> {
        let name = |(node, port): &(u32, u16)| format!("{}:{port}", scenario.topology.nodes[*node as usize].name);
        self.cycle.iter().map(name).collect()
    }
}
