//! Goodput over time: payload that arrived in order, by time bin. A segment that fills a gap counts together with the
//! data that waited behind it.

use super::{Rows, SumRow};
use mech::FlowId;
use scenario::Goodput;

/// Bytes that a host or flow received in the open time bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct OpenBinSum {
    amount: u64,
    bin: u32,
}

impl OpenBinSum {
    /// Adds received bytes to the time bin `bin` of the host or flow `of`; the sum of an earlier bin goes to `rows`.
    fn add(&mut self, amount: u64, bin: u32, of: u32, rows: &mut Vec<SumRow>) {
        if bin != self.bin {
            self.close(of, rows);
            self.bin = bin;
        }
        self.amount += amount;
    }

    /// Writes the row of the open time bin if it is before `bin`. Returns true if a bin is still open.
    fn end_bins_before(&mut self, bin: u32, of: u32, rows: &mut Vec<SumRow>) -> bool {
        if self.bin < bin {
            self.close(of, rows);
        }
        self.amount > 0
    }

    fn close(&mut self, of: u32, rows: &mut Vec<SumRow>) {
        let amount = std::mem::take(&mut self.amount);
        rows.extend((amount > 0).then_some(SumRow { amount, bin: self.bin, owner: of }));
    }
}

/// Payload of a flow that arrived at a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedPayload {
    pub(crate) host: u32,
    pub(crate) flow: FlowId,
    pub(crate) bytes: u64,
}

/// Goodput of hosts and flows in the open time bin.
#[derive(Clone, Debug)]
pub(crate) struct GoodputOverTime {
    kind: Goodput,
    hosts: Vec<OpenBinSum>,
    flows: Vec<OpenBinSum>,
    /// Flows whose time bin may be open.
    /// Listed so that closing bins need not visit all flows, most of which have ended.
    open_flows: Vec<u32>,
}

impl GoodputOverTime {
    pub(crate) fn new(of: Goodput, hosts: u32) -> GoodputOverTime {
        GoodputOverTime {
            kind: of,
            hosts: vec![OpenBinSum::default(); hosts as usize],
            flows: Vec::new(),
            open_flows: Vec::new(),
        }
    }

    /// Counts bytes of a flow that arrived at a host in the bin `bin`.
    pub(crate) fn count_received(&mut self, bin: u32, got: ReceivedPayload, rows: &mut Rows) {
        if self.kind == Goodput::None {
            return;
        }
        let ReceivedPayload { host, flow, bytes } = got;
        self.hosts[host as usize].add(bytes, bin, host, &mut rows.host_goodput);
        if self.kind == Goodput::Flows {
            let number = flow.0;
            let flow = number as usize;
            if self.flows.len() <= flow {
                self.flows.resize(flow + 1, OpenBinSum::default());
            }
            if self.flows[flow].amount == 0 {
                self.open_flows.push(number);
            }
            self.flows[flow].add(bytes, bin, number, &mut rows.flow_goodput);
        }
    }

    /// Copies the sums of another partition for its hosts and for the flows that end there.
    pub(crate) fn take_partition(&mut self, other: &GoodputOverTime, host: impl Fn(usize) -> bool) {
        (0..self.hosts.len()).filter(|at| host(*at)).for_each(|at| self.hosts[at] = other.hosts[at]);
        self.flows.resize(self.flows.len().max(other.flows.len()), OpenBinSum::default());
        let open = other.flows.iter().enumerate().filter(|(_, open)| open.amount > 0);
        open.for_each(|(flow, open)| self.flows[flow] = *open);
    }

    /// Replaces the numbers of flows by those in the whole run, and rebuilds the list of flows with an open time bin.
    pub(crate) fn renumber_flows(&mut self, flow_numbers: &[u32]) {
        let mut flows = vec![OpenBinSum::default(); flow_numbers.len()];
        let open = self.flows.iter().zip(flow_numbers).filter(|(open, _)| open.amount > 0);
        open.clone().for_each(|(open, rank)| flows[*rank as usize] = *open);
        self.open_flows = open.map(|(_, rank)| *rank).collect();
        self.flows = flows;
    }

    /// Writes the rows of all open time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, bin: u32, rows: &mut Rows) {
        let hosts = self.hosts.iter_mut().zip(0..);
        for (open, node) in hosts {
            open.end_bins_before(bin, node, &mut rows.host_goodput);
        }
        let flows = &mut self.flows;
        self.open_flows.retain(|flow| flows[*flow as usize].end_bins_before(bin, *flow, &mut rows.flow_goodput));
    }

    pub(crate) fn close(&mut self, rows: &mut Rows) {
        self.end_bins_before(u32::MAX, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_goodput_writes_one_row_and_none_for_empty_bins() {
        let (mut open, mut rows) = (OpenBinSum::default(), Vec::new());
        open.add(5, 3, 7, &mut rows);
        open.add(6, 3, 7, &mut rows);
        assert_eq!(rows, [], "the step is not over");
        open.add(2, 4, 7, &mut rows);
        open.add(1, 4_000_000_000, 7, &mut rows);
        open.close(7, &mut rows);
        open.close(7, &mut rows);
        let row = |amount, bin| SumRow { amount, bin, owner: 7 };
        assert_eq!(rows, [row(11, 3), row(2, 4), row(1, 4_000_000_000)]);
    }
}
