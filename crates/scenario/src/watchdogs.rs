//! Warnings about PFC watchdogs whose times do not fit the run.

use crate::model::Scenario;
use mech::pause::Watchdog;
use std::collections::BTreeSet;
use units::Dur;

/// PFC watchdog of a port, with the longest time between two pause frames of its far end, if that ever pauses.
struct WatchedPort {
    watchdog: Watchdog,
    refresh: Option<Dur>,
}

/// Returns the warnings about the watchdogs of a scenario.
pub(crate) fn list_warnings(scenario: &Scenario) -> Vec<String> {
    let ports = watched_ports(scenario);
    let end = scenario.latest_end();
    let late: Vec<Dur> = ports.iter().map(|port| port.watchdog.detection_time).filter(|time| *time >= end).collect();
    let never = late.iter().min().map(|time| {
        let some = if late.len() < ports.len() {
            format!(" at {} of {} ports", late.len(), ports.len())
        } else {
            String::new()
        };
        format!(
            "the PFC watchdog never acts{some}: `detection_time` is {time}, and the run ends at {end} at the latest"
        )
    });
    let is_early = |port: &&WatchedPort| {
        port.watchdog.ends_pauses() && port.refresh.is_some_and(|refresh| port.watchdog.restoration_time < refresh)
    };
    let early = ports.iter().filter(is_early).max_by_key(|port| port.refresh).map(|port| {
        format!(
            "the PFC watchdog may end its action before the storm ends: `restoration_time` is {}, and a pause is \
             refreshed only after {}",
            port.watchdog.restoration_time,
            port.refresh.unwrap_or(Dur::ZERO)
        )
    });
    never.or(early).into_iter().collect()
}

fn watched_ports(scenario: &Scenario) -> Vec<WatchedPort> {
    let pausing_hosts: BTreeSet<u32> =
        scenario.events.iter().filter_map(|event| event.host_pause()).map(|pause| pause.host).collect();
    let mut all = Vec::new();
    for (config, node) in scenario.switches.iter().zip(scenario.topology.hosts..) {
        for (port, link) in config.ports.iter().zip(&scenario.topology.nodes[node as usize].ports) {
            let Some(watchdog) = port.pause.slot.pausing().and_then(|pausing| pausing.watchdog()) else { continue };
            let clock = link.rate.clock();
            let refresh = match link.peer.checked_sub(scenario.topology.hosts) {
                None => pausing_hosts.contains(&link.peer).then(|| scenario.host_pause_refresh(link.peer)),
                Some(far) => {
                    let slot = &scenario.switches[far as usize].ports[usize::from(link.peer_port)].pause.slot;
                    let times = slot.for_port(clock).pausing().map(|pausing| pausing.duration_and_refresh());
                    times.map(|(duration, refresh)| refresh.unwrap_or(duration))
                }
            };
            all.push(WatchedPort { watchdog, refresh });
        }
    }
    all
}
