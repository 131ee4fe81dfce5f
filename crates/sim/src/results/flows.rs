//! Outcomes of every flow.

use super::path_links::PathLinks;
use super::shortcuts::Shortcuts;
use super::{Column, Table, make_column, named_columns};
use crate::progress::FlowRecord;
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;
use dataplane::transport::TcpConfig;
use mech::FlowId;
use scenario::ideal::{IdealFlow, ideal_fct};
use scenario::traffic::{ENDLESS_BYTES, OWN_CONNECTION};
use scenario::{FctEnd, Scenario};
use units::Dur;

impl<T: Tap> World<Recorder, T> {
    pub(super) fn flows_table(&self, scenario: &Scenario) -> Table {
        let received = self.received_bytes();
        let mut stats: Vec<_> = self.state.records.iter().map(|r| r.sender).collect();
        for host in &self.hosts {
            for (flow, sender) in host.unfinished_senders() {
                let (now, kept) = (sender.stats(), self.flows.is_persistent(flow));
                let first = if kept { self.flows.open_messages(flow).next().map(|m| m.flow) } else { Some(flow) };
                first
                    .into_iter()
                    .for_each(|m| stats[m.0 as usize] = (&self.flows.stats_since_report(flow, &now)).into());
            }
        }
        let ids: Vec<usize> = (0..self.state.records.len()).collect();
        let record = |i: &usize| &self.state.records[*i];
        let info = |i: &usize| self.flows.info(FlowId(*i as u32));
        let raw = |i: &usize| self.flows.is_raw(FlowId(*i as u32));
        let endless = |i: &usize| info(i).bytes == ENDLESS_BYTES;
        let ideals = self.ideal_fcts(scenario);
        let lost = &self.state.observer.data_drops;
        let columns = [
            ("flow", make_column(&ids, Column::U32, |i| *i as u32)),
            ("traffic", make_column(&ids, Column::U16, |i| record(i).traffic)),
            ("query", make_column(&ids, Column::U32, |i| record(i).query)),
            ("src", make_column(&ids, Column::U32, |i| info(i).src.0)),
            ("dst", make_column(&ids, Column::U32, |i| info(i).dst.0)),
            ("bytes", make_column(&ids, Column::U64, |i| if endless(i) { 0 } else { info(i).bytes })),
            ("start_ps", make_column(&ids, Column::U64, |i| record(i).start.0)),
            ("end_ps", make_column(&ids, Column::U64, |i| record(i).end.0)),
            ("ideal_ps", Column::U64(ideals)),
            ("measured", make_column(&ids, Column::U8, |i| u8::from(record(i).measured))),
            ("raw", make_column(&ids, Column::U8, |i| u8::from(raw(i)))),
            ("retransmits", make_column(&ids, Column::U32, |i| stats[*i].retransmits)),
            ("fast_retransmits", make_column(&ids, Column::U32, |i| stats[*i].fast_retransmits)),
            ("timeouts", make_column(&ids, Column::U32, |i| stats[*i].timeouts)),
            ("ece_acks", make_column(&ids, Column::U32, |i| stats[*i].ece_acks)),
            ("data_drops", make_column(&ids, Column::U32, |i| lost.drops_of_flow(*i as u32))),
            ("received", make_column(&ids, Column::U64, |i| received[*i])),
            ("role", make_column(&ids, Column::U8, |i| record(i).role as u8)),
            ("connection", make_column(&ids, Column::U32, |i| record(i).connection.0)),
        ];
        let mut columns = named_columns(columns);
        if self.tcp.any_config(TcpConfig::detects_losses_by_time) {
            columns.extend(named_columns([("tlp_probes", make_column(&ids, Column::U32, |i| stats[*i].tlp_probes))]));
        }
        if self.tcp.any_config(TcpConfig::undoes_recoveries) {
            columns.extend(named_columns([("undos", make_column(&ids, Column::U32, |i| stats[*i].undos))]));
        }
        if self.tcp.any_config(TcpConfig::supports_packs) {
            columns.extend(named_columns([("packs", make_column(&ids, Column::U32, |i| stats[*i].packs))]));
        }
        Table { name: "flows", columns }
    }

    fn received_bytes(&self) -> Vec<u64> {
        let done = |(i, record): (usize, &FlowRecord)| {
            let flow = FlowId(i as u32);
            match self.flows.is_raw(flow) {
                true => self.flows.raw_bytes_received(flow),
                false if record.connection_number != OWN_CONNECTION => self.flows.info(flow).bytes,
                false => self.flows.completed_bytes(flow),
            }
        };
        let mut received: Vec<u64> = self.state.records.iter().enumerate().map(done).collect();
        let mut so_far = |flow: FlowId, bytes: u64| match self.flows.is_persistent(flow) {
            true => self.flows.open_messages(flow).for_each(|m| {
                received[m.flow.0 as usize] = bytes.clamp(m.start, m.end) - m.start;
            }),
            false => received[flow.0 as usize] = bytes,
        };
        self.flows.persistent_connections().for_each(|flow| so_far(flow, 0));
        for host in &self.hosts {
            host.active_receivers().for_each(|(flow, receiver)| so_far(flow, receiver.received_bytes()));
        }
        received
    }

    /// Returns each flow's FCT in an otherwise empty network, in closed form; 0 if a flow has none. In a network with
    /// detours it is a lower bound: it uses the fastest path of all if that is faster than the flow's own.
    fn ideal_fcts(&self, scenario: &Scenario) -> Vec<u64> {
        let mut paths = (PathLinks::new(self, scenario), Shortcuts::new(scenario, self.seed));
        let ideal = |i: usize| {
            let flow = FlowId(i as u32);
            let none = self.flows.is_raw(flow) || self.flows.info(flow).bytes == ENDLESS_BYTES;
            if none { 0 } else { self.ideal_fct(scenario, i, &mut paths).0 }
        };
        (0..self.state.records.len()).map(ideal).collect()
    }

    fn ideal_fct(
        &self,
        scenario: &Scenario,
        flow: usize,
        (ways, shortcuts): &mut (PathLinks<'_>, Option<Shortcuts<'_>>),
    ) -> Dur {
        let info = self.flows.info(FlowId(flow as u32));
        // A message on a connection that is already open needs no handshake.
        let tcp = self.tcp.config_at(|| info.sender_ends());
        let syn = tcp.syn_option_bytes().filter(|_| self.state.records[flow].connection.0 as usize == flow);
        let ack = (scenario.measure.fct_end == FctEnd::SenderAck).then(|| tcp.ack_option_bytes());
        let back = match (syn, ack) {
            (None, None) => Vec::new(),
            _ => ways.links_between(info.dst, info.src, info.back_hash),
        };
        let links = ways.links_between(info.src, info.dst, info.hash);
        let alone = IdealFlow {
            links: &links,
            back: &back,
            framing: &scenario.framing,
            mss: tcp.mss(),
            options: tcp.data_option_bytes(),
            syn,
            ack,
            stack: scenario.host.stack_delay,
            bytes: info.bytes,
        };
        let own = ideal_fct(&alone);
        let Some(shortcuts) = shortcuts else { return own };
        // A shorter frame behind full ones may take another path. The bound thus uses full frames only, or the single
        // frame of a flow without full frames.
        let bytes =
            if info.bytes < u64::from(tcp.mss()) { info.bytes } else { info.bytes - info.bytes % u64::from(tcp.mss()) };
        let frame = |payload: u64| {
            scenario.framing.wire_size(scenario.framing.frame_size(payload as u16, tcp.data_option_bytes()))
        };
        let there = shortcuts.faster_path((info.src, info.dst), &links, frame(bytes.min(tcp.mss().into())));
        let back_again = shortcuts.faster_path((info.dst, info.src), &back, frame(0));
        if there.is_none() && back_again.is_none() {
            return own;
        }
        let fast = there.as_deref().unwrap_or(&links);
        own.min(ideal_fct(&IdealFlow { links: fast, back: back_again.as_deref().unwrap_or(&back), bytes, ..alone }))
    }
}
