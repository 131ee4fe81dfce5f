//! Warnings about memory that is too small for full frames or for copies of frames.

use super::WarningContext;
use crate::SwitchConfig;
use mech::PortThresholds;
use mech::fabric::StageParams;
use units::{Amount, Bytes, Dur, Rate};

fn fabric_stage_rules(switch: &SwitchConfig) -> Option<&StageParams> {
    switch.model.input_side()?.fabric.as_ref()?.slot.peek().stage_params()
}

impl WarningContext<'_> {
    /// Warnings about buffers and queues that hold no full frame.
    pub(super) fn warn_small_memory(&self) -> Vec<String> {
        let frame = u64::from(self.scenario.largest_frame());
        let lacks = |room: Option<Amount>| room.filter(|room| matches!(room, Amount::Bytes(bytes) if *bytes < frame));
        let said = |key: &str, room: Amount, all: &str| {
            format!(
                "{key} = {room} is less than a full frame of {frame}B: all full frames{all} are lost. Increase \
                     this size"
            )
        };
        let switches = &self.scenario.switches;
        let buffer = switches
            .iter()
            .find_map(|switch| lacks(switch.buffer.slot.peek().fixed_thresholds().and_then(PortThresholds::amount)));
        let input = switches.iter().find_map(|switch| lacks(switch.model.input_side().map(|cioq| cioq.input_buffer)));
        let of_stages = |size: fn(&StageParams) -> Bytes| {
            switches
                .iter()
                .find_map(|switch| lacks(fabric_stage_rules(switch).map(|rules| Amount::Bytes(size(rules).0))))
        };
        let all = [
            ("switch.buffer.size", buffer, ""),
            ("switch.input_buffer", input, ""),
            ("switch.fabric.stage_buffer", of_stages(|rules| rules.stage_buffer), ""),
            ("switch.fabric.link_buffer", of_stages(|rules| rules.link_buffer), " for another stage"),
        ];
        all.into_iter().filter_map(|(key, room, all)| Some(said(key, room?, all))).collect()
    }

    /// Warning about a `fabric` switch whose inputs fill with copies of frames, or pause, before the first internal
    /// acknowledgement frees a copy. Such an input carries less than its link.
    pub(super) fn warn_copy_time(&self) -> Vec<String> {
        let scenario = self.scenario;
        let nodes = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
        let told = scenario.switches.iter().zip(nodes).find_map(|(switch, node)| {
            let delay = fabric_stage_rules(switch).filter(|rules| rules.end_to_end)?.ack_delay;
            let memory = match switch.model.input_side()?.input_buffer {
                Amount::Bytes(bytes) => bytes,
                Amount::Packets(packets) => packets.saturating_mul(u64::from(scenario.largest_frame())),
            };
            let mut ports = node.ports.iter().zip(&switch.ports).filter(|_| delay > Dur::ZERO);
            ports.find_map(|(link, port)| {
                let fills = |bytes: u64| link.rate.time(bytes) < delay;
                let xoff =
                    port.pause.slot.for_port(link.rate.clock()).pausing().map(|pausing| pausing.thresholds(None).0);
                let what = match xoff.filter(|xoff| fills(*xoff)) {
                    Some(xoff) => format!("an input pauses its link at {}", Bytes(xoff)),
                    None if fills(memory) => {
                        format!(
                            "an input carries at most {} with its memory of {}",
                            rate_from_bytes(memory, delay)?,
                            Bytes(memory)
                        )
                    }
                    None => return None,
                };
                Some(format!(
                    "switch.fabric.ack_delay = {delay} is too long for inputs with links of {} at {} and switches like \
                     it: their memory fills with copies that wait for an acknowledgement, and {what}",
                    link.rate, node.name
                ))
            })
        });
        told.into_iter().collect()
    }
}

/// Returns the rate of `bytes` per `time`, rounded down to whole Mb/s from 1 Mb/s on; `None` below 1 b/s.
fn rate_from_bytes(bytes: u64, time: Dur) -> Option<Rate> {
    let bps = u128::from(bytes) * 8_000_000_000_000 / u128::from(time.0);
    let bps = u64::try_from(bps).unwrap_or(u64::MAX);
    (bps > 0).then(|| Rate::bps(if bps > 1_000_000 { bps - bps % 1_000_000 } else { bps }))
}
