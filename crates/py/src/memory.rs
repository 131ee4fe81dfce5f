//! Measurements of switch memory, as JSON.

use serde_json::{Value as Json, json};
use sim::ProbeCounts;

/// Returns the numbers of frames of a measurement; numbers of what did not happen are null.
pub fn counts_json(counts: &ProbeCounts) -> Json {
    json!({
        "mark": counts.mark,
        "pause": counts.pause,
        "ingress_loss": counts.ingress_loss,
        "egress_loss": counts.egress_loss,
        "headroom": counts.headroom,
        "resume": counts.resume,
    })
}

/// Returns the links of a switch as a list of
/// `{port, far_end, rate_bps, back_rate_bps, delay_ps, back_delay_ps, response_ps, frame, gap}`.
///
/// `back` is the direction from the far end. `response_ps` is the time after which the far end obeys a pause, `frame`
/// the size of the largest frame in bytes, and `gap` preamble and gap in bytes.
pub fn links_json(scenario: &scenario::Scenario, switch: usize) -> Json {
    let node = &scenario.topology.nodes[scenario.topology.hosts as usize + switch];
    let of_port = |(port, link): (usize, &scenario::topology::Port)| {
        let far = &scenario.topology.nodes[link.peer as usize];
        let back = &far.ports[usize::from(link.peer_port)];
        let response = scenario.pause_response_time(link.peer, link.peer_port);
        json!({
            "port": port,
            "far_end": far.name,
            "rate_bps": link.rate.as_f64(),
            "back_rate_bps": back.rate.as_f64(),
            "delay_ps": link.delay.0,
            "back_delay_ps": back.delay.0,
            "response_ps": response.0,
            "frame": scenario.largest_frame(),
            "gap": scenario.framing.gap,
        })
    };
    node.ports.iter().enumerate().map(of_port).collect()
}

/// Returns the number of the switch with this name.
pub fn find_switch(scenario: &scenario::Scenario, name: &str) -> Option<usize> {
    let hosts = scenario.topology.hosts as usize;
    scenario.topology.nodes.iter().skip(hosts).position(|node| node.name == name)
}
