//! Capacity between the two halves of the hosts, as a maximum flow (Dinic 1970).

use super::Topology;

struct FlowArc {
    to: usize,
    residual: u64,
}

/// Flow network with arcs in pairs: `2 i` and `2 i + 1` are the two directions of one link.
struct FlowGraph {
    arcs: Vec<FlowArc>,
    arcs_by_node: Vec<Vec<usize>>,
}

impl FlowGraph {
    /// Adds a link with capacity `there` from `a` to `b`, and `back` from `b` to `a`.
    fn add_link(&mut self, a: usize, b: usize, there: u64, back: u64) {
        self.arcs_by_node[a].push(self.arcs.len());
        self.arcs.push(FlowArc { to: b, residual: there });
        self.arcs_by_node[b].push(self.arcs.len());
        self.arcs.push(FlowArc { to: a, residual: back });
    }
    /// Returns the hop count from `from` to each node over arcs with residual capacity.
    fn hop_counts(&self, from: usize) -> Vec<usize> {
        let mut level = vec![usize::MAX; self.arcs_by_node.len()];
        level[from] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for arc in self.arcs_by_node[node].iter().map(|at| &self.arcs[*at]) {
                if arc.residual > 0 && level[arc.to] == usize::MAX {
                    level[arc.to] = level[node] + 1;
                    queue.push_back(arc.to);
                }
            }
        }
        level
    }
    /// Augments the flow along one path of rising levels, and returns the amount; 0 if there is no such path. `tried`
    /// counts the arcs of each node that lead nowhere.
    fn augment_path(&mut self, from: usize, to: usize, level: &[usize], tried: &mut [usize]) -> u64 {
        let (mut node, mut path) = (from, Vec::new());
        while node != to {
            match self.arcs_by_node[node].get(tried[node]) {
                Some(&at) => {
                    let arc = &self.arcs[at];
                    if arc.residual > 0 && level[arc.to] == level[node].wrapping_add(1) {
                        path.push(at);
                        node = arc.to;
                    } else {
                        tried[node] += 1;
                    }
                }
                None => {
                    let Some(at) = path.pop() else { return 0 };
                    node = self.arcs[at ^ 1].to;
                    tried[node] += 1;
                }
            }
        }
        let sent = path.iter().map(|at| self.arcs[*at].residual).min().unwrap_or(0);
        for at in path {
            self.arcs[at].residual -= sent;
            self.arcs[at ^ 1].residual = self.arcs[at ^ 1].residual.saturating_add(sent);
        }
        sent
    }
}

/// Returns the maximum flow from the first half of the hosts to the second, in bits per second.
pub(super) fn bisection_capacity(net: &Topology) -> f64 {
    let n = net.nodes.len();
    let (source, sink) = (n, n + 1);
    let mut graph = FlowGraph { arcs: Vec::new(), arcs_by_node: vec![Vec::new(); n + 2] };
    for (a, node) in net.nodes.iter().enumerate() {
        for (i, port) in node.ports.iter().enumerate().filter(|(_, port)| port.peer as usize > a) {
            let back = net.nodes[port.peer as usize].ports[port.peer_port as usize];
            debug_assert_eq!((back.peer as usize, back.peer_port as usize), (a, i));
            graph.add_link(a, port.peer as usize, port.rate.as_f64() as u64, back.rate.as_f64() as u64);
        }
    }
    // Far above the sum of all link rates, so that only links limit the flow, and so low that sums do not overflow.
    const UNLIMITED: u64 = u64::MAX / 4;
    for host in 0..net.hosts as usize {
        let (a, b) = if host < net.hosts as usize / 2 { (source, host) } else { (host, sink) };
        graph.add_link(a, b, UNLIMITED, 0);
    }
    let mut total = 0.0;
    loop {
        let level = graph.hop_counts(source);
        if level[sink] == usize::MAX {
            return total;
        }
        let mut tried = vec![0; n + 2];
        loop {
            match graph.augment_path(source, sink, &level, &mut tried) {
                0 => break,
                sent => total += sent as f64,
            }
        }
    }
}
