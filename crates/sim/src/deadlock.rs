//! Deadlocks of paused links, found exactly: sets of links none of which can ever resume.
//!
//! A node B resumes the link from A once what came in by it, or what of that is in the memory of its input, has fallen to
//! a threshold. What waits at B for ports that are not paused leaves sooner or later, unless it waits at an input for a
//! buffer that another class has filled for good, or inside B behind what never leaves. So, beginning with all links that are
//! paused, every one is taken out again that falls to its threshold once all has left B that can leave while the ports
//! still in the set are paused; what remains is a deadlock. Only pauses that are refreshed before they expire count, and only
//! while no resume is under way.

use crate::link::Wires;
use dataplane::{Core, Host, PauseInEffect, PauseSent, Stays, Switch};
use mech::{ClassSet, PortId};
use std::collections::BTreeMap;
use units::Time;

/// Links that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When the last of them was paused.
    pub at: Time,
    /// The class that waits.
    pub class: u8,
    /// The nodes and their paused ports, each followed by the one that it waits for; the last waits for the
    /// first.
    pub cycle: Vec<(u32, u16)>,
}

/// Where a link ends: a node, and the port there that holds it back.
type End = (u32, u16);

/// The nodes of a network and its links, as they stand after all that happened at an instant.
pub(crate) struct Standing<'a> {
    pub(crate) hosts: &'a [Host],
    pub(crate) switches: &'a [Switch],
    pub(crate) wires: &'a Wires,
    /// The first port of every node, in the numbering over the whole network.
    pub(crate) base: &'a [u32],
}

impl Standing<'_> {
    fn core(&self, node: u32) -> &Core {
        match self.hosts.get(node as usize) {
            Some(host) => host.nic(),
            None => self.switches[node as usize - self.hosts.len()].core(),
        }
    }

    /// The far end of a port.
    fn far(&self, node: u32, port: u16) -> End {
        self.wires.far(self.base[node as usize] + u32::from(port))
    }

    /// Links that are paused for good unless what they wait for moves, by their ends.
    fn paused(&self) -> BTreeMap<End, ClassSet> {
        let mut all = BTreeMap::new();
        for (switch, node) in self.switches.iter().zip(self.hosts.len() as u32..) {
            for port in 0..switch.core().ports().len() as u16 {
                let (from, out) = self.far(node, port);
                let both_ends =
                    switch.core().pause_sent(PortId(port)).zip(self.core(from).pause_in_effect(PortId(out)));
                let both = both_ends.map_or(ClassSet::NONE, |(sent, in_effect)| settled(&sent, &in_effect));
                if both != ClassSet::NONE {
                    all.insert((node, port), both);
                }
            }
        }
        all
    }

    /// Links that wait for each other for ever, if there are any.
    pub(crate) fn deadlock(&self) -> Option<Deadlock> {
        let mut stuck = self.paused();
        loop {
            let before = stuck.len();
            let ends: Vec<End> = stuck.keys().copied().collect();
            let by_node = ends.chunk_by(|one, other| one.0 == other.0);
            let goes_on: Vec<(End, ClassSet)> = by_node.flat_map(|ends| self.may_resume(ends, &stuck)).collect();
            let mut changed = false;
            for (end, go) in goes_on {
                let Some(classes) = stuck.get_mut(&end) else { continue };
                changed |= classes.0 & go.0 != 0;
                *classes = classes.minus(go);
            }
            stuck.retain(|_, classes| *classes != ClassSet::NONE);
            if !changed && stuck.len() == before {
                return self.cycle(&stuck);
            }
        }
    }

    /// What never leaves a node, if the links that are stuck are.
    fn stays(&self, node: u32, stuck: &BTreeMap<End, ClassSet>) -> Vec<Stays> {
        let core = self.core(node);
        let ports = 0..core.ports().len() as u16;
        let classes = |port| stuck.get(&self.far(node, port)).copied().unwrap_or(ClassSet::NONE);
        let classes: Vec<ClassSet> = ports.map(classes).collect();
        if classes.iter().all(|own| *own == ClassSet::NONE) { Vec::new() } else { core.stays(&classes) }
    }

    /// By link that ends at a node: the paused classes that resume once all that can leave the node has left.
    fn may_resume(&self, ends: &[End], stuck: &BTreeMap<End, ClassSet>) -> Vec<(End, ClassSet)> {
        let Some((node, _)) = ends.first() else { return Vec::new() };
        let (core, stays) = (self.core(*node), self.stays(*node, stuck));
        let mut by_port = vec![0; core.ports().len()];
        stays.iter().for_each(|own| by_port[usize::from(own.port.0)] += own.bytes);
        let free = core.shared_free(&by_port);
        let resumes = |end: &End| {
            let ingress = PortId(end.1);
            let mut go = ClassSet::NONE;
            for class in (0..8).filter(|class| stuck[end].has(*class)) {
                let Some((pause_group, xon)) = core.resumes_at(ingress, class, free) else { continue };
                let own = stays.iter().filter(|own| own.ingress == ingress && pause_group.has(own.class));
                if own.map(|own| own.bytes).sum::<u64>() <= xon {
                    go = go.union(pause_group);
                }
            }
            (*end, go)
        };
        ends.iter().map(resumes).collect()
    }

    /// Follows who waits for whom, from the first link that is stuck, until one comes again.
    fn cycle(&self, stuck: &BTreeMap<End, ClassSet>) -> Option<Deadlock> {
        let (first, classes) = stuck.iter().next()?;
        let mut way = vec![(*first, (0..8).find(|class| classes.has(*class))?)];
        loop {
            let (end, class) = *way.last()?;
            let next = self.waits_for(end, class, stuck)?;
            if let Some(begin) = way.iter().position(|known| *known == next) {
                let cycle = &way[begin..];
                let sources: Vec<End> = cycle.iter().map(|((node, port), _)| self.far(*node, *port)).collect();
                let since = sources.iter().zip(cycle).filter_map(|((node, port), (_, class))| {
                    Some(self.core(*node).pause_in_effect(PortId(*port))?.since[usize::from(*class)])
                });
                return Some(Deadlock { at: since.max()?, class: next.1, cycle: sources });
            }
            way.push(next);
        }
    }

    /// A stuck link that something waits for which holds another one back.
    fn waits_for(&self, end: End, class: u8, stuck: &BTreeMap<End, ClassSet>) -> Option<(End, u8)> {
        let core = self.core(end.0);
        let (pause_group, _) = core.resumes_at(PortId(end.1), class, None)?;
        let stays = self.stays(end.0, stuck);
        let held = stays.iter().filter(|own| own.ingress == PortId(end.1) && pause_group.has(own.class));
        let mut links = held.filter_map(|own| {
            let far = self.far(end.0, own.port.0);
            let classes = stuck.get(&far)?;
            // It may be behind another class.
            let holder = if classes.has(own.class) { own.class } else { (0..8).find(|class| classes.has(*class))? };
            Some((far, holder))
        });
        links.next()
    }
}

/// The classes that one end has paused and the other does not send, while no resume is under way.
fn settled(sent: &PauseSent, in_effect: &PauseInEffect) -> ClassSet {
    let same = |class: &u8| sent.resumes[usize::from(*class)] == in_effect.resumes[usize::from(*class)];
    let both = ClassSet(sent.paused.0 & in_effect.paused.0);
    let all = (0..8).filter(|class| both.has(*class)).filter(same);
    all.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
}
