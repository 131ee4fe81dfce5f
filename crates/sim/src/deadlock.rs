//! Exact search for deadlocks: sets of paused links none of which can ever resume.
//!
//! A node B resumes the link from A once the bytes that came in by the link have fallen to a threshold. Where inputs
//! have memories of their own, only the bytes in that memory count. Frames at B for ports that are not paused leave
//! sooner or later, with two exceptions. A frame at an input may wait for a buffer that another class has filled
//! forever, or a frame may be behind frames inside B that never leave.
//!
//! The search begins with all paused links. It assumes that the ports of links in the set stay paused, and lets all
//! frames leave that then can. It removes each link whose bytes fall to their threshold, and repeats this until none
//! does. The set that remains is a deadlock. Only pauses that are refreshed before they expire count, and only while
//! no resume is in flight. A pause that a PFC watchdog ends before the run may
//! end does not count.

use crate::link::Links;
use dataplane::{Core, Host, ReceivedPauses, SentPauses, StuckBytes, Switch};
use mech::{ClassSet, PortId};
use std::collections::BTreeMap;
use units::Time;

/// Links that wait for each other forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Instant at which the last of the links was paused.
    pub at: Time,
    /// Priority class that is paused on the first link of `cycle`.
    pub class: u8,
    /// Nodes and their paused ports, each followed by the one that it waits for; the last waits for the first.
    pub cycle: Vec<(u32, u16)>,
}

/// Receiving end of a link: a node, and its port that pauses the link.
type LinkEnd = (u32, u16);

/// Nodes and links of a network, as they are after all events of an instant.
pub(crate) struct NetworkState<'a> {
    pub(crate) hosts: &'a [Host],
    pub(crate) switches: &'a [Switch],
    pub(crate) wires: &'a Links,
    /// Number of each node's first port, counted over the whole network.
    pub(crate) base: &'a [u32],
    /// Latest instant at which the run may end.
    pub(crate) latest_end: Time,
}

impl NetworkState<'_> {
    fn core(&self, node: u32) -> &Core {
        match self.hosts.get(node as usize) {
            Some(host) => host.nic(),
            None => self.switches[node as usize - self.hosts.len()].core(),
        }
    }

    /// Returns the far end of a port.
    fn far_end(&self, node: u32, port: u16) -> LinkEnd {
        self.wires.far_end(self.base[node as usize] + u32::from(port))
    }

    /// Returns the links, by their receiving ends, that are paused and can only resume after frames have left.
    fn paused_links(&self) -> BTreeMap<LinkEnd, ClassSet> {
        let mut all = BTreeMap::new();
        for (switch, node) in self.switches.iter().zip(self.hosts.len() as u32..) {
            for port in 0..switch.core().ports().len() as u16 {
                let (from, out) = self.far_end(node, port);
                let both_ends =
                    switch.core().sent_pauses(PortId(port)).zip(self.core(from).received_pauses(PortId(out)));
                let both = both_ends.map_or(ClassSet::NONE, |(sent, in_effect)| effective_pauses(&sent, &in_effect));
                let both = both.minus(self.core(from).classes_resumed_by_watchdog(PortId(out), self.latest_end));
                if both != ClassSet::NONE {
                    all.insert((node, port), both);
                }
            }
        }
        all
    }

    /// Returns links that wait for each other forever; `None` if there are none.
    pub(crate) fn find_deadlock(&self) -> Option<Deadlock> {
        let mut stuck = self.paused_links();
        loop {
            let before = stuck.len();
            let ends: Vec<LinkEnd> = stuck.keys().copied().collect();
            let by_node = ends.chunk_by(|one, other| one.0 == other.0);
            let goes_on: Vec<(LinkEnd, ClassSet)> = by_node.flat_map(|ends| self.may_resume(ends, &stuck)).collect();
            let mut changed = false;
            for (end, go) in goes_on {
                let Some(classes) = stuck.get_mut(&end) else { continue };
                changed |= classes.0 & go.0 != 0;
                *classes = classes.minus(go);
            }
            stuck.retain(|_, classes| *classes != ClassSet::NONE);
            if !changed && stuck.len() == before {
                return self.find_cycle(&stuck);
            }
        }
    }

    /// Returns the bytes that never leave a node while the stuck links stay paused.
    fn stuck_bytes_at_node(&self, node: u32, stuck: &BTreeMap<LinkEnd, ClassSet>) -> Vec<StuckBytes> {
        let core = self.core(node);
        let ports = 0..core.ports().len() as u16;
        let classes = |port| stuck.get(&self.far_end(node, port)).copied().unwrap_or(ClassSet::NONE);
        let classes: Vec<ClassSet> = ports.map(classes).collect();
        if classes.iter().all(|own| *own == ClassSet::NONE) { Vec::new() } else { core.stuck_bytes(&classes) }
    }

    /// Returns, for each link that ends at a node, the paused classes that resume once every frame that can leave the
    /// node has left.
    fn may_resume(&self, ends: &[LinkEnd], stuck: &BTreeMap<LinkEnd, ClassSet>) -> Vec<(LinkEnd, ClassSet)> {
        let Some((node, _)) = ends.first() else { return Vec::new() };
        let (core, stays) = (self.core(*node), self.stuck_bytes_at_node(*node, stuck));
        let mut by_port = vec![0; core.ports().len()];
        stays.iter().for_each(|own| by_port[usize::from(own.port.0)] += own.bytes);
        let free = core.shared_memory_free(&by_port);
        let resumes = |end: &LinkEnd| {
            let ingress = PortId(end.1);
            let mut go = ClassSet::NONE;
            for class in (0..8).filter(|class| stuck[end].has(*class)) {
                let Some((pause_group, xon)) = core.resume_threshold(ingress, class, free, &stays) else { continue };
                let own = stays.iter().filter(|own| own.ingress == ingress && pause_group.has(own.class));
                if own.map(|own| own.bytes).sum::<u64>() <= xon {
                    go = go.union(pause_group);
                }
            }
            (*end, go)
        };
        ends.iter().map(resumes).collect()
    }

    /// Finds a cycle of stuck links: follows from the first one which link each waits for, until a link repeats.
    fn find_cycle(&self, stuck: &BTreeMap<LinkEnd, ClassSet>) -> Option<Deadlock> {
        let (first, classes) = stuck.iter().next()?;
        let mut way = vec![(*first, (0..8).find(|class| classes.has(*class))?)];
        loop {
            let (end, class) = *way.last()?;
            let next = self.stuck_link_waited_for(end, class, stuck)?;
            if let Some(begin) = way.iter().position(|known| *known == next) {
                let cycle = &way[begin..];
                let sources: Vec<LinkEnd> = cycle.iter().map(|((node, port), _)| self.far_end(*node, *port)).collect();
                let since = sources.iter().zip(cycle).filter_map(|((node, port), (_, class))| {
                    Some(self.core(*node).received_pauses(PortId(*port))?.since[usize::from(*class)])
                });
                return Some(Deadlock { at: since.max()?, class: next.1, cycle: sources });
            }
            way.push(next);
        }
    }

    /// Returns a stuck link that keeps the link into `end` paused: frames that came in at `end` wait to leave by it.
    fn stuck_link_waited_for(
        &self,
        end: LinkEnd,
        class: u8,
        stuck: &BTreeMap<LinkEnd, ClassSet>,
    ) -> Option<(LinkEnd, u8)> {
        let core = self.core(end.0);
        let (pause_group, _) = core.resume_threshold(PortId(end.1), class, None, &[])?;
        let stays = self.stuck_bytes_at_node(end.0, stuck);
        let held = stays.iter().filter(|own| own.ingress == PortId(end.1) && pause_group.has(own.class));
        let mut links = held.filter_map(|own| {
            let far = self.far_end(end.0, own.port.0);
            let classes = stuck.get(&far)?;
            // If the class of these frames is not stuck there, they wait behind frames of another class, which is.
            let holder = if classes.has(own.class) { own.class } else { (0..8).find(|class| classes.has(*class))? };
            Some((far, holder))
        });
        links.next()
    }
}

/// Returns the classes that a port has paused and its far end does not send, while no resume is in flight.
fn effective_pauses(sent: &SentPauses, in_effect: &ReceivedPauses) -> ClassSet {
    let same = |class: &u8| sent.resumes[usize::from(*class)] == in_effect.resumes[usize::from(*class)];
    let both = ClassSet(sent.paused.0 & in_effect.paused.0);
    let all = (0..8).filter(|class| both.has(*class)).filter(same);
    all.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
}
