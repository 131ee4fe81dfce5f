//! Tests of deadlocks of paused links that pass through switches with several stages: detected if frames are stuck
//! inside, and never if any frame could move.

use crate::common::draw::{Draw, drawn_run};
use crate::common::{column, drops, pauses, run, same_again, scenario, world};
use crate::paused_inputs::{SMALL, ring};
use property::for_all;
use sim::{Deadlock, Options};

/// Returns the ring of `paused_inputs` with each port at a stage of its own, so that all transit crosses an internal
/// link.
fn inside(classes: &[u8], hosts: usize, buffer: &str, fabric: &str) -> String {
    let model = format!("model = \"fabric\"\nfabric = {{ elements = {}, {fabric} }}\n", hosts + 2);
    ring(classes, hosts, buffer).replace("model = \"cioq\"\n", &model)
}

const MESH: &str = "kind = \"mesh\", link_rate = \"2Gbps\", link_buffer = \"3036B\", stage_buffer = \"3036B\"";
const CLOS: &str =
    "kind = \"folded_clos\", cores = 2, link_rate = \"2Gbps\", link_buffer = \"3036B\", stage_buffer = \"4KB\"";

#[test]
fn a_ring_deadlocks_through_its_internal_links_and_the_cycle_is_named() {
    let check = |classes: &[u8], fabric: &str| {
        let text = inside(classes, 3, SMALL, fabric);
        let results = run(&text, 1);
        let found = results.deadlock.clone().unwrap_or_else(|| panic!("{fabric}: every link waits for the next"));
        assert_eq!((found.cycle.len(), found.class), (5, classes[0]), "{fabric}");
        let s = scenario(&text, "");
        for (at, next) in found.cycle.iter().zip(found.cycle.iter().cycle().skip(1)) {
            assert_eq!(s.topology.nodes[at.0 as usize].ports[usize::from(at.1)].peer, next.0, "{fabric}");
        }
        // The deadlock is real: afterwards only frames in flight reach a host.
        let last = column(&results, "packets", "end_ps").into_iter().max().unwrap();
        assert!(last < found.at.0 + 100_000_000, "{fabric}: {last} after {}", found.at.0);
        assert_eq!(drops(&results), 0, "{fabric}");
    };
    for more in ["", ", lists = \"fifo\"", ", end_to_end = true", ", lists = \"fifo\", end_to_end = true"] {
        check(&[0; 5], &format!("{MESH}{more}"));
        check(&[1, 0, 0, 0, 0], &format!("{MESH}{more}"));
        check(&[0; 5], &format!("{CLOS}{more}"));
    }
    same_again(&inside(&[0; 5], 2, SMALL, &format!("{CLOS}, end_to_end = true")), 3);
}

/// Test of rings without a deadlock, because frames inside can move.
/// Unlimited outputs take all frames inside, so that none stays at inputs. If the hosts of two switches send in another
/// class, which has buffers of its own inside, there is no deadlock, as in switches without stages.
#[test]
fn where_frames_can_move_on_inside_no_deadlock_is_told() {
    for more in ["", ", lists = \"fifo\"", ", end_to_end = true"] {
        for (classes, buffer) in [([1, 0, 1, 0, 0], SMALL), ([0; 5], "kind = \"unlimited\"")] {
            let text = inside(&classes, 2, buffer, &format!("{MESH}{more}"));
            let results = run(&text, 1);
            let last = column(&results, "packets", "end_ps").into_iter().max().unwrap();
            assert_eq!(results.deadlock, None, "{text}");
            assert!(last > 19_900_000_000, "{text}: {last}");
        }
    }
}

/// Returns a random ring of switches with input memory, most of which have several stages.
fn random(draw: &mut Draw) -> String {
    let classes: Vec<u8> = (0..draw.number(3, 5)).map(|_| draw.number(0, 3).saturating_sub(2) as u8).collect();
    let buffer =
        draw.pick(&[SMALL, SMALL, "kind = \"per_port\", size = \"3pkt\"", "kind = \"per_port\", size = \"20KB\""]);
    let rate = draw.pick(&["900Mbps", "2Gbps", "10Gbps"]);
    let [stage, link] = [(); 2].map(|()| draw.pick(&["1518B", "3036B", "5KB", "9KB"]));
    let (lists, copies) = (draw.pick(&["by_exit", "fifo"]), draw.pick(&["true", "false"]));
    let kind = draw.pick(&["mesh\"", "mesh\"", "folded_clos\", cores = 1", "folded_clos\", cores = 2"]);
    let fabric = format!(
        "kind = \"{kind}, link_rate = \"{rate}\", link_buffer = \"{link}\", stage_buffer = \"{stage}\", lists = \"{lists}\", \
         end_to_end = {copies}"
    );
    let hosts = draw.number(2, 3) as usize;
    let text = match draw.number(0, 4) {
        0 => ring(&classes, hosts, buffer),
        _ => inside(&classes, hosts, buffer, &fabric),
    };
    let xon = draw.pick(&["2KB", "10KB", "19KB"]);
    let payload = draw.pick(&["1460B", "1460B", "700B"]);
    let text = text
        .replace("xon = \"10KB\"", &format!("xon = \"{xon}\""))
        .replace("payload = \"1460B\"", &format!("payload = \"{payload}\""));
    text.replace("duration = \"20ms\"", "duration = \"12ms\"")
}

/// Test of reported deadlocks over random rings.
/// A deadlock may be reported after any event: every port of its cycle is paused by then, and stays paused to the end.
#[test]
fn the_ports_of_a_deadlock_never_resume_over_random_rings() {
    let (mut found, mut none) = (0, 0);
    for_all(32, drawn_run(random), |(text, n)| {
        let s = scenario(&text, "");
        let mut world = world(&s, n, Options::default());
        let mut told: Vec<Deadlock> = Vec::new();
        while world.progress().stop.is_none() {
            world.advance(2_000);
            told.extend(world.clone().results(&s).deadlock);
        }
        let results = world.results(&s);
        assert!(results.conserved && results.lost.is_none(), "{text}");
        let in_the_end = pauses(&results).into_iter().filter(|row| row[1] == results.progress.now.0);
        let in_the_end: Vec<[u64; 5]> = in_the_end.collect();
        for deadlock in &told {
            for (node, port) in &deadlock.cycle {
                let mut own = in_the_end.iter().filter(|row| (row[2], row[3]) == (u64::from(*node), u64::from(*port)));
                assert!(own.any(|row| row[0] <= deadlock.at.0), "{node}:{port} of {deadlock:?}\n{text}");
            }
        }
        // No deadlock is missed: without a report, frames arrive until the end.
        let last = column(&results, "packets", "end_ps").into_iter().max().unwrap();
        assert!(!told.is_empty() || last > 11_000_000_000, "{last}\n{text}");
        *if told.is_empty() { &mut none } else { &mut found } += 1;
    });
    assert!(found > 8 && none > 4, "{found} deadlocks, {none} runs without");
}
