//! The paths between the switches of a network, and which of them a flow takes.

use super::FlowHash;
use super::yen::{Graph, Step};
use crate::HostId;
use std::collections::BTreeMap;

/// The paths between all switches with hosts.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Per host: the number of its switch among those with hosts.
    columns: Vec<u32>,
    width: usize,
    /// Per pair of such switches, and one more: where its paths begin in `paths`.
    pairs: Vec<u32>,
    /// Per path, and one more: where its steps begin in `steps`.
    paths: Vec<u32>,
    steps: Vec<Step>,
    pick: FlowHash,
}

impl Paths {
    /// The `k` shortest of a network, for hosts at these switches, and how a flow's hash picks one.
    pub fn new(graph: &mut Graph, switches: &[u32], k: usize, pick: FlowHash) -> Paths {
        let mut known = BTreeMap::new();
        let mut column = |switch: &u32| {
            let next = known.len() as u32;
            *known.entry(*switch).or_insert(next)
        };
        let columns = switches.iter().map(&mut column).collect();
        let edges: BTreeMap<u32, u32> = known.iter().map(|(switch, column)| (*column, *switch)).collect();
        let width = edges.len();
        let mut paths = Paths { columns, width, pairs: vec![0], paths: vec![0], steps: Vec::new(), pick };
        for from in edges.values() {
            for to in edges.values() {
                let ways = if from == to { Vec::new() } else { graph.ways((*from, *to), k) };
                for way in ways {
                    paths.steps.extend(way);
                    paths.paths.push(paths.steps.len() as u32);
                }
                paths.pairs.push(paths.paths.len() as u32 - 1);
            }
        }
        paths
    }

    /// The paths from the switch of one host to that of another, the shortest first.
    pub fn between(&self, src: HostId, dst: HostId) -> impl ExactSizeIterator<Item = &[Step]> {
        let pair = self.columns[src.0 as usize] as usize * self.width + self.columns[dst.0 as usize] as usize;
        (self.pairs[pair] as usize..self.pairs[pair + 1] as usize).map(|path| self.path(path))
    }

    /// The path that a packet of this hash takes; empty where both hosts are at one switch.
    #[inline]
    pub fn chosen(&self, src: HostId, dst: HostId, hash: u32) -> &[Step] {
        let pair = self.columns[src.0 as usize] as usize * self.width + self.columns[dst.0 as usize] as usize;
        let (first, end) = (self.pairs[pair] as usize, self.pairs[pair + 1] as usize);
        if first == end { &[] } else { self.path(first + self.pick.place(hash, end - first)) }
    }

    /// Bytes that the tables take.
    pub fn memory(&self) -> usize {
        self.steps.len() * size_of::<Step>()
            + (self.columns.len() + self.pairs.len() + self.paths.len()) * size_of::<u32>()
    }

    #[inline]
    fn path(&self, path: usize) -> &[Step] {
        &self.steps[self.paths[path] as usize..self.paths[path + 1] as usize]
    }
}
