//! Paths between the switches of a network, and the path of each flow.

use super::FlowHash;
use super::yen::{PathStep, SwitchGraph};
use crate::HostId;
use std::collections::BTreeMap;
use std::ops::Range;

/// Paths between all switches with hosts.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Number of each host's switch, among the switches with hosts.
    columns: Vec<u32>,
    width: usize,
    /// Index in `paths` of the first path of each pair of switches with hosts, and the end of the last.
    pairs: Vec<u32>,
    /// Index in `steps` of the first step of each path, and the end of the last.
    paths: Vec<u32>,
    steps: Vec<PathStep>,
    path_hash: FlowHash,
}

impl Paths {
    /// Computes the `k` shortest paths between switches with hosts, given the switch of each host.
    /// `pick` selects a path by a flow's hash.
    pub fn new(graph: &mut SwitchGraph, switches: &[u32], k: usize, pick: FlowHash) -> Paths {
        let mut known = BTreeMap::new();
        let mut column = |switch: &u32| {
            let next = known.len() as u32;
            *known.entry(*switch).or_insert(next)
        };
        let columns = switches.iter().map(&mut column).collect();
        let edges: BTreeMap<u32, u32> = known.iter().map(|(switch, column)| (*column, *switch)).collect();
        let width = edges.len();
        let mut paths = Paths { columns, width, pairs: vec![0], paths: vec![0], steps: Vec::new(), path_hash: pick };
        for from in edges.values() {
            for to in edges.values() {
                let ways = if from == to { Vec::new() } else { graph.shortest_paths((*from, *to), k) };
                for way in ways {
                    paths.steps.extend(way);
                    paths.paths.push(paths.steps.len() as u32);
                }
                paths.pairs.push(paths.paths.len() as u32 - 1);
            }
        }
        paths
    }

    /// Returns the paths from the switch of one host to that of another, the shortest first.
    pub fn paths_between(&self, src: HostId, dst: HostId) -> impl ExactSizeIterator<Item = &[PathStep]> {
        self.path_numbers(src, dst).map(|path| self.path(path))
    }

    /// Returns the range of path numbers between the switches of two hosts.
    /// The range is empty if both hosts are at one switch, or if one end is no host.
    /// The source of a congestion message is the number of its switch and no host, so that it has no path.
    #[inline]
    fn path_numbers(&self, src: HostId, dst: HostId) -> Range<usize> {
        let column = |host: HostId| self.columns.get(host.0 as usize).map(|column| *column as usize);
        let Some((from, to)) = column(src).zip(column(dst)) else { return 0..0 };
        let pair = from * self.width + to;
        self.pairs[pair] as usize..self.pairs[pair + 1] as usize
    }

    /// Returns the path of a packet with this hash; empty if both hosts are at one switch, or if one end is no host.
    #[inline]
    pub fn path_of_hash(&self, src: HostId, dst: HostId, hash: u32) -> &[PathStep] {
        let Range { start, end } = self.path_numbers(src, dst);
        if start == end { &[] } else { self.path(start + self.path_hash.index_below(hash, end - start)) }
    }

    /// Returns the memory that the path tables use, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.steps.len() * size_of::<PathStep>()
            + (self.columns.len() + self.pairs.len() + self.paths.len()) * size_of::<u32>()
    }

    #[inline]
    fn path(&self, path: usize) -> &[PathStep] {
        &self.steps[self.paths[path] as usize..self.paths[path + 1] as usize]
    }
}
