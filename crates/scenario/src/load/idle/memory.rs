//! Warnings about memory that is too small for full frames or for copies of frames.

use super::Asked;
use crate::SwitchConfig;
use mech::Room;
use mech::fabric::StageRules;
use units::{Amount, Bytes, Dur, Rate};

fn rules(switch: &SwitchConfig) -> Option<&StageRules> {
    switch.model.cioq()?.fabric.as_ref()?.slot.peek().rules()
}

impl Asked<'_> {
    /// Warnings about memory that holds no full frame.
    pub(super) fn too_small(&self) -> Vec<String> {
        let frame = u64::from(self.scenario.largest_frame());
        let lacks = |room: Option<Amount>| room.filter(|room| matches!(room, Amount::Bytes(bytes) if *bytes < frame));
        let said = |key: &str, room: Amount, all: &str| {
            format!("{key} = {room} holds no full frame of {frame}B: all full frames{all} are lost")
        };
        let switches = &self.scenario.switches;
        let buffer = switches.iter().find_map(|switch| lacks(switch.buffer.slot.peek().plain().and_then(Room::amount)));
        let input = switches.iter().find_map(|switch| lacks(switch.model.cioq().map(|cioq| cioq.input_buffer)));
        let of_stages = |size: fn(&StageRules) -> Bytes| {
            switches.iter().find_map(|switch| lacks(rules(switch).map(|rules| Amount::Bytes(size(rules).0))))
        };
        let all = [
            ("switch.buffer.size", buffer, ""),
            ("switch.input_buffer", input, ""),
            ("switch.fabric.stage_buffer", of_stages(|rules| rules.stage_buffer), ""),
            ("switch.fabric.link_buffer", of_stages(|rules| rules.link_buffer), " for another stage"),
        ];
        all.into_iter().filter_map(|(key, room, all)| Some(said(key, room?, all))).collect()
    }

    /// Warning about copies at an input that fill its memory, or pause its link, before the first acknowledgement frees
    /// one. Such an input carries less than its link.
    pub(super) fn copies(&self) -> Vec<String> {
        let scenario = self.scenario;
        let nodes = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
        let told = scenario.switches.iter().zip(nodes).find_map(|(switch, node)| {
            let delay = rules(switch).filter(|rules| rules.end_to_end)?.ack_delay;
            let memory = match switch.model.cioq()?.input_buffer {
                Amount::Bytes(bytes) => bytes,
                Amount::Packets(packets) => packets.saturating_mul(u64::from(scenario.largest_frame())),
            };
            let mut ports = node.ports.iter().zip(&switch.ports).filter(|_| delay > Dur::ZERO);
            ports.find_map(|(link, port)| {
                let fills = |bytes: u64| link.rate.time(bytes) < delay;
                let xoff =
                    port.pause.slot.for_port(link.rate.clock()).pausing().map(|pausing| pausing.thresholds(None).0);
                let what = match xoff.filter(|xoff| fills(*xoff)) {
                    Some(xoff) => format!("the input pauses its link from {} on", Bytes(xoff)),
                    None if fills(memory) => {
                        format!(
                            "the input carries at most {}, because its memory is {}",
                            rate(memory, delay)?,
                            Bytes(memory)
                        )
                    }
                    None => return None,
                };
                Some(format!(
                    "switch.fabric.ack_delay = {delay}: unacknowledged copies limit an input of {}, and of switches \
                     like it, at the {} of its link: {what}",
                    node.name, link.rate
                ))
            })
        });
        told.into_iter().collect()
    }
}

/// Returns the rate of `bytes` in `time`, rounded down to whole Mb/s from 1 Mb/s on; `None` below 1 b/s.
fn rate(bytes: u64, time: Dur) -> Option<Rate> {
    let bps = u128::from(bytes) * 8_000_000_000_000 / u128::from(time.0);
    let bps = u64::try_from(bps).unwrap_or(u64::MAX);
    (bps > 0).then(|| Rate::bps(if bps > 1_000_000 { bps - bps % 1_000_000 } else { bps }))
}
