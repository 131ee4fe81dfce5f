//! The k shortest loopless paths between two switches (Yen, "Finding the k shortest loopless paths in a network",
//! Management Science 17(11), 1971). Candidates of each path are kept apart by Lawler's method (Management Science
//! 18(7), 1972), so that none is found twice.
//!
//! The length of a path is its number of links; two parallel links are two paths. Of equally long paths, the one whose
//! first port has the lower rank comes first, then the second port counts, and so on. A rank is a hash of the pair, the
//! switch and the port, so that each pair has its own order. With port numbers as ranks, all pairs would prefer the
//! first links of a network and leave the last ones unused.

use crate::{PortId, hash_mix};
use std::collections::{BTreeSet, VecDeque};

/// Step of a path: a switch and the port to leave it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathStep {
    /// Number of the switch.
    pub switch: u32,
    /// Output port toward the next switch.
    pub port: PortId,
}

/// Graph of the switches, numbered from 0: the ports of each switch, with the switch at the far end.
#[derive(Clone, Debug, Default)]
pub struct SwitchGraph {
    ports: Vec<Vec<(PortId, u32)>>,
    /// Number of links from each switch to the target of the search; `UNREACHED` if not reached.
    level: Vec<u32>,
    closed: Vec<bool>,
}

/// Candidate path; candidates are ordered by length, then by the ranks of their ports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CandidatePath {
    length: usize,
    ranks: Vec<u64>,
    steps: Vec<PathStep>,
    /// Index of the step at which this path leaves the earlier path from which it was derived.
    deviation: usize,
}

const UNREACHED: u32 = u32::MAX;

impl SwitchGraph {
    /// Creates the graph from the ports of each switch toward other switches.
    /// PRECONDITION: every link is listed at both of its ends.
    pub fn new(ports: Vec<Vec<(PortId, u32)>>) -> SwitchGraph {
        let n = ports.len();
        SwitchGraph { ports, level: vec![UNREACHED; n], closed: vec![false; n] }
    }

    /// Returns the first `k` paths from one switch to another, or all if there are fewer.
    /// PRECONDITION: `from` and `to` are two switches.
    pub fn shortest_paths(&mut self, (from, to): (u32, u32), k: usize) -> Vec<Vec<PathStep>> {
        let mut found: Vec<CandidatePath> = Vec::new();
        let mut waiting: BTreeSet<CandidatePath> = self.spur_path(&[], (from, to), from, &[]).into_iter().collect();
        while let Some(next) = waiting.pop_first() {
            found.push(next);
            if found.len() == k {
                break;
            }
            waiting.extend(self.deviations(&found, (from, to)));
        }
        found.into_iter().map(|candidate| candidate.steps).collect()
    }

    /// Returns the best paths that deviate from the last found path at each of its switches, from its own deviation on.
    fn deviations(&mut self, found: &[CandidatePath], pair: (u32, u32)) -> Vec<CandidatePath> {
        let Some((last, before)) = found.split_last() else { return Vec::new() };
        let mut made = Vec::new();
        for at in last.deviation..last.length {
            let (root, step) = (&last.steps[..at], last.steps[at]);
            let alike = before.iter().filter(|other| other.steps.get(..at) == Some(root));
            let mut barred: Vec<PortId> = alike.filter_map(|other| other.steps.get(at)).map(|s| s.port).collect();
            barred.push(step.port);
            made.extend(self.spur_path(root, pair, step.switch, &barred));
        }
        made
    }

    /// Returns the best path that begins with `root` and leaves the next switch by no barred port.
    fn spur_path(&mut self, root: &[PathStep], pair: (u32, u32), at: u32, barred: &[PortId]) -> Option<CandidatePath> {
        let salt = hash_mix(u64::from(pair.0), u64::from(pair.1));
        let rank = |step: &PathStep| hash_mix(salt, u64::from(step.switch) << 16 | u64::from(step.port.0));
        root.iter().for_each(|step| self.closed[step.switch as usize] = true);
        self.closed[at as usize] = true;
        let nearest = self.search_levels(pair.1, at, barred);
        root.iter().for_each(|step| self.closed[step.switch as usize] = false);
        self.closed[at as usize] = false;
        let (mut steps, mut node, mut level) = (root.to_vec(), at, nearest?.checked_add(1)?);
        while level > 0 {
            level -= 1;
            let open = |port: &PortId| node != at || !barred.contains(port);
            let lower = self.ports[node as usize]
                .iter()
                .filter(|(port, peer)| self.level[*peer as usize] == level && open(port));
            let choice = lower.map(|(port, peer)| (PathStep { switch: node, port: *port }, *peer));
            let (step, peer) = choice.min_by_key(|(step, _)| (rank(step), step.port))?;
            steps.push(step);
            node = peer;
        }
        let ranks = steps.iter().map(rank).collect();
        Some(CandidatePath { length: steps.len(), ranks, steps, deviation: root.len() })
    }

    /// Computes distances to switch `to` by breadth-first search, up to the nearest neighbour of `at` by an open link.
    /// Closed switches are left out. Returns the distance of that neighbour.
    fn search_levels(&mut self, to: u32, at: u32, barred: &[PortId]) -> Option<u32> {
        self.level.fill(UNREACHED);
        let ends = self.ports[at as usize].iter().filter(|(port, _)| !barred.contains(port));
        let ends: Vec<u32> = ends.map(|(_, peer)| *peer).collect();
        self.level[to as usize] = 0;
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            if ends.contains(&node) {
                // The search may stop: it has set the level of every switch as near to `to` as `node`. The path may
                // begin with another neighbour of `at` at this level.
                return Some(self.level[node as usize]);
            }
            let next = self.level[node as usize] + 1;
            for (_, peer) in &self.ports[node as usize] {
                if self.level[*peer as usize] == UNREACHED && !self.closed[*peer as usize] {
                    self.level[*peer as usize] = next;
                    queue.push_back(*peer);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stream, StreamPurpose};

    /// Creates a graph from links between switches, with ports numbered in the order of links.
    fn graph(n: usize, links: &[(u32, u32)]) -> SwitchGraph {
        let mut ports: Vec<Vec<(PortId, u32)>> = vec![Vec::new(); n];
        for (a, b) in links {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let port = PortId(ports[from as usize].len() as u16);
                ports[from as usize].push((port, to));
            }
        }
        SwitchGraph::new(ports)
    }

    /// Enumerates all loopless paths between two switches, in the order of `shortest_paths`.
    fn enumerate_paths(graph: &SwitchGraph, (from, to): (u32, u32)) -> Vec<Vec<PathStep>> {
        fn extend_path(
            graph: &SwitchGraph,
            (node, to): (u32, u32),
            way: &mut Vec<PathStep>,
            all: &mut Vec<Vec<PathStep>>,
        ) {
            if node == to {
                return all.push(way.clone());
            }
            for (port, peer) in &graph.ports[node as usize] {
                if way.iter().all(|step| step.switch != *peer) && *peer != node {
                    way.push(PathStep { switch: node, port: *port });
                    extend_path(graph, (*peer, to), way, all);
                    way.pop();
                }
            }
        }
        let (mut all, salt) = (Vec::new(), hash_mix(u64::from(from), u64::from(to)));
        extend_path(graph, (from, to), &mut Vec::new(), &mut all);
        let rank = |step: &PathStep| hash_mix(salt, u64::from(step.switch) << 16 | u64::from(step.port.0));
        all.sort_by_key(|way| (way.len(), way.iter().map(rank).collect::<Vec<_>>()));
        all
    }

    #[test]
    fn shortest_paths_are_the_first_k_of_all_paths_in_order() {
        let mut draw = Stream::new(1, 0, StreamPurpose::Custom(0));
        let mut longer = 0;
        for _ in 0..300 {
            let n = 2 + draw.uniform_below(6);
            // Parallel links and unconnected parts occur as well.
            let link = |draw: &mut Stream| (draw.uniform_below(n) as u32, draw.uniform_below(n) as u32);
            let links: Vec<_> =
                (0..6 + draw.uniform_below(9)).map(|_| link(&mut draw)).filter(|(a, b)| a != b).collect();
            let mut net = graph(n as usize, &links);
            let all = enumerate_paths(&net, (0, 1));
            longer += usize::from(all.last().is_some_and(|way| way.len() > all[0].len() + 1));
            for k in [1, 2, 3, 8, 1000] {
                assert_eq!(net.shortest_paths((0, 1), k), all[..k.min(all.len())], "k = {k}, {links:?}");
            }
        }
        assert!(longer > 50, "{longer} networks have ways of very different lengths");
    }

    #[test]
    fn square_with_a_diagonal_has_paths_of_1_2_and_2_links() {
        // Links 0 - 1 - 2 - 3 - 0, and 0 - 2: from 0 to 2 directly, over 1 and over 3.
        let mut net = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]);
        let over = |way: &Vec<PathStep>| way.iter().map(|step| step.switch).collect::<Vec<_>>();
        let mut ways: Vec<_> = net.shortest_paths((0, 2), 8).iter().map(over).collect();
        assert_eq!(ways[0], [0]);
        ways.sort();
        assert_eq!(ways, [vec![0], vec![0, 1], vec![0, 3]]);
        // Between 1 and 3, two paths have two links, and two have three: over 0 and 2, over 2 and 0.
        assert_eq!(net.shortest_paths((1, 3), 8).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 3, 3]);
    }

    #[test]
    fn parallel_links_are_separate_paths_in_varying_order() {
        let mut net = graph(40, &(0..39).flat_map(|i| [(i, i + 1); 2]).collect::<Vec<_>>());
        assert_eq!(net.shortest_paths((0, 1), 8).len(), 2);
        assert_eq!(net.shortest_paths((0, 2), 8).len(), 4);
        // Even port numbers belong to the first of two parallel links.
        let lower = (0..39).filter(|i| net.shortest_paths((*i, i + 1), 1)[0][0].port.0 % 2 == 0).count();
        // For 39 tosses, five standard deviations are 15.6.
        assert!((4..36).contains(&lower), "{lower} of 39 pairs take the first of two links");
    }

    #[test]
    fn unconnected_switches_have_no_path() {
        assert!(graph(3, &[(0, 1)]).shortest_paths((0, 2), 8).is_empty());
    }
}
