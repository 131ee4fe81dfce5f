//! Laws that hold for every scenario, over many random small ones.
//!
//! Each sent packet ends once, one path keeps the order, more memory loses no more, and a longer path is never faster.
//! The ACK clock has a file of its own, and so have the counters of every node (`conservation.rs`).

use crate::common::draw::{Draw, drawn_run};
use crate::common::watched::watch;
use crate::common::{column, drops, run, scenario};
use dataplane::Pkt;
use mech::Flags;
use mech::overflow::DropReason;
use property::for_all;
use sim::{EventLocation, Observer, Options, StopReason};
use std::collections::BTreeMap;

/// Delivery or loss of a packet.
#[derive(Clone, Copy)]
struct End {
    at: u64,
    pkt: Pkt,
    lost: bool,
}

/// Record of the deliveries and losses of all packets, in order of time.
#[derive(Clone, Default)]
struct Ends(Vec<End>);

impl Observer for Ends {
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, _reason: DropReason) {
        self.0.push(End { at: at.now.0, pkt: *pkt, lost: true });
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.0.push(End { at: at.now.0, pkt: *pkt, lost: false });
    }
}

/// Returns the deliveries and losses of a run, and true if it ended with no packet in flight.
fn ends(text: &str, seed: u64) -> (Vec<End>, bool) {
    let s = scenario(text, "");
    let mut world = watch(&s, seed, Options::default(), Ends::default());
    let progress = world.run();
    assert!(world.conserves_packets(), "{:?}\n{text}", world.describe_imbalance());
    (world.observer().0.clone(), progress.stop == Some(StopReason::Done) && progress.now.0 < s.duration.0)
}

/// Returns the flow and the direction of a packet.
fn flow_and_direction(pkt: &Pkt) -> (u32, bool) {
    (pkt.head.flow.0, pkt.head.flags.has(Flags::REVERSE))
}

const PATHS: [&str; 6] = [
    "kind = \"star\"\nn = 5",
    "kind = \"dumbbell\"\nn = 3\nbottleneck = { rate = \"300Mbps\", delay = \"5us\" }",
    "kind = \"chain_tree\"\nn = 3\ndepth = 2\nreceivers = 2",
    "kind = \"leaf_spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2",
    "kind = \"leaf_spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 4\noversubscription = 4",
    "kind = \"fat_tree\"\nk = 4",
];

/// Transport settings of modern and older hosts.
const HOSTS: [&str; 7] = [
    "kind = \"newreno\"",
    "kind = \"dctcp\"",
    "kind = \"dctcp\"\nrecovery = \"rack\"",
    "kind = \"cubic\"",
    "kind = \"cubic\"\nrecovery = \"rack\"",
    "kind = \"linux\"",
    "kind = \"linux_dctcp\"",
];

/// Returns true if the transport in a scenario text detects losses by time (RACK).
fn finds_by_time(text: &str) -> bool {
    text.contains("\"rack\"") || text.contains("\"linux")
}

/// Returns a random scenario of flows and raw packets; each flow has one path unless the switches' settings say
/// otherwise.
fn busy(draw: &mut Draw, switch: &str) -> String {
    let topology = draw.pick(&PATHS);
    let buffer = draw.pick(&[
        "kind = \"per_port\", size = \"6pkt\"",
        "kind = \"per_port\", size = \"12KB\"",
        "kind = \"shared\", size = \"40KB\", alpha = 0.7, reserved = \"1KB\"",
        "kind = \"unlimited\"",
    ]);
    let marking = draw.pick(&["none", "ecn_threshold", "red"]);
    let host = draw.pick(&[
        "",
        "[host]\nstack_delay = \"3us\"\nstack_jitter = \"9us\"\nnic_jitter = \"4us\"\nclock_ppm = 100\nnic_queue = \"30pkt\"\n",
    ]);
    let rest = format!(
        "scheduler = {{ kind = \"{}\" }}\nties = \"{}\"\nsimultaneous = \"{}\"",
        draw.pick(&["fifo", "strict_priority"]),
        draw.pick(&["random", "port"]),
        draw.pick(&["in_turn", "snapshot"])
    );
    let transport = format!(
        "{}\nmss = \"1460B\"\nmin_rto = \"1ms\"\ndelayed_ack = {}\nlimited_transmit = {}",
        draw.pick(&HOSTS),
        draw.pick(&["true", "false"]),
        draw.pick(&["true", "false"])
    );
    let size = draw.number(1, 90_000);
    let (classes, gaps) = ([draw.number(0, 7), draw.number(0, 7)], draw.pick(&["even", "exponential"]));
    format!(
        "name = \"busy\"\nduration = \"2s\"\n[topology]\n{topology}\n{host}[switch]\nbuffer = {{ {buffer} }}\n\
         marking = {{ kind = \"{marking}\" }}\n{rest}\n{switch}\n[transport]\n{transport}\n\
         [measure]\nqueues = false\nallow_unfinished = true\n\
         [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 7\nreceiver = \"random\"\nsize = \"{size}B\"\n\
         interval = \"900us\"\nrepeat = 2\njitter = \"30us\"\nclass = {}\n\
         [[traffic]]\nname = \"raw\"\nkind = \"constant\"\nsources = [\"h0\", \"h1\"]\ndestination = \"h3\"\n\
         rate = \"400Mbps\"\ngaps = \"{gaps}\"\npayload = \"{}B\"\nstop = \"1ms\"\nclass = {}\n",
        classes[0],
        draw.number(1, 1460),
        classes[1]
    )
}

const MECHANISMS: [&str; 8] = [
    "overflow = { kind = \"tail_drop\" }",
    "overflow = { kind = \"detour\" }\nrouting = { kind = \"spray\" }",
    "overflow = { kind = \"detour\", policy = \"load_aware\", ingress = false, max_detours = 2 }",
    "overflow = { kind = \"detour\", policy = \"flow_based\", flows = \"short\", flow_size = \"9KB\", flow_table = 5 }",
    "overflow = { kind = \"detour\", policy = \"probabilistic\", lo = 0.2, hi = 0.7 }",
    "overflow = { kind = \"bounce\", theta = 0.5, bounce_size = \"SIZE\" }",
    "overflow = { kind = \"bounce\", lambda = 0, back_port = \"ingress\", bounce_size = \"SIZE\" }",
    "routing = { kind = \"weighted\" }",
];

/// Sets the size of the bounce queue in the unit of the buffer, packets or bytes.
fn with_unit(text: String) -> String {
    text.replace("SIZE", if text.contains("6pkt") { "5pkt" } else { "8KB" })
}

#[test]
fn every_packet_ends_once_and_payload_arrives_no_more_often_than_it_was_sent() {
    let (mut quiet, mut lost, mut twice, mut again) = (0, 0, 0, 0);
    let scenarios = drawn_run(|draw| {
        let switch = draw.pick(&MECHANISMS);
        with_unit(busy(draw, switch))
    });
    for_all(200, scenarios, |(text, n)| {
        let (ends, is_quiet) = ends(&text, n);
        if !is_quiet {
            return;
        }
        quiet += 1;
        let mut sent: BTreeMap<(u32, bool), Vec<u32>> = BTreeMap::new();
        // Number of transmissions and arrivals of a flow's payload, by its first byte.
        let mut payload: BTreeMap<(u32, u32), (u32, u32, u32)> = BTreeMap::new();
        for end in &ends {
            let pkt = &end.pkt;
            sent.entry(flow_and_direction(pkt)).or_default().push(pkt.emission);
            lost += u64::from(end.lost);
            if pkt.payload > 0 {
                let first = if pkt.head.flags.has(Flags::RETRANSMIT) { 0 } else { 1 };
                let workload = payload.entry((pkt.head.flow.0, pkt.seq)).or_default();
                *workload = (workload.0 + 1, workload.1 + u32::from(!end.lost), workload.2 + first);
            }
        }
        for (who, emissions) in &mut sent {
            emissions.sort_unstable();
            let whole = emissions.iter().zip(0..).all(|(emission, i)| *emission == i);
            assert!(whole, "{who:?}: {emissions:?} do not end once each\n{text}");
        }
        let results = run(&text, n);
        let [raw, bytes, received] = ["raw", "bytes", "received"].map(|c| column(&results, "flows", c));
        for flow in 0..raw.len() {
            let of = payload.range((flow as u32, 0)..=(flow as u32, u32::MAX));
            let (sent, arrived, first) = of.fold((0, 0, 0), |a, (_, b)| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
            assert!(arrived <= sent, "flow {flow}");
            if raw[flow] == 1 {
                continue;
            }
            assert_eq!(received[flow], bytes[flow], "flow {flow} finished\n{text}");
            // A rescue retransmission (RFC 6675 §4 NextSeg (4)) may begin between two segments. If losses are detected
            // by time, a segment is sent again unchanged, and so is the last segment as a probe.
            let all = payload.range((flow as u32, 0)..=(flow as u32, u32::MAX));
            let segments = all.filter(|(_, counts)| counts.2 > 0).count() as u64;
            assert_eq!(segments, bytes[flow].div_ceil(1460), "flow {flow}: every segment was sent");
            assert_eq!(u64::from(first), segments, "flow {flow}: each for the first time once");
        }
        for (&(flow, seq), &(sent, arrived, first)) in &payload {
            let bytes = bytes[flow as usize];
            if raw[flow as usize] == 1 {
                continue;
            }
            if first == 0 {
                assert!(!finds_by_time(&text), "flow {flow}, byte {seq}: no segment begins here\n{text}");
                assert_eq!(u64::from(seq) + 1460, bytes, "flow {flow}: a rescue ends last");
                continue;
            }
            // A short last segment may arrive with a rescue retransmission only.
            let rescued = || {
                let rescue = bytes.checked_sub(1460).and_then(|from| payload.get(&(flow, from as u32)));
                !finds_by_time(&text) && u64::from(seq) + 1460 > bytes && rescue.is_some_and(|of| of.1 > 0)
            };
            let arrives = (1..=sent).contains(&arrived) || rescued();
            assert!(first == 1 && arrives, "flow {flow}, byte {seq}: {arrived} of {sent}\n{text}");
            twice += u64::from(arrived > 1);
            again += u64::from(sent > 1 && finds_by_time(&text));
        }
    });
    assert!(quiet >= 140 && lost > 5000 && twice > 0, "{quiet} quiet, {lost} lost, {twice} arrived twice");
    assert!(again > 500, "{again} segments were sent again where losses are found by time");
}

/// Returns the number of packets that arrive after a packet of their flow and direction that was sent later.
fn overtaken(ends: &[End]) -> usize {
    let mut last: BTreeMap<(u32, bool), u32> = BTreeMap::new();
    let arrived = ends.iter().filter(|end| !end.lost);
    arrived
        .filter(|end| {
            let newest = last.entry(flow_and_direction(&end.pkt)).or_default();
            let late = end.pkt.emission < *newest;
            *newest = end.pkt.emission.max(*newest);
            late
        })
        .count()
}

#[test]
fn packets_of_a_flow_arrive_in_the_order_in_which_they_were_sent_where_there_is_one_path() {
    let (mut lost, mut arrived) = (0, 0);
    for_all(200, drawn_run(|draw| busy(draw, "routing = { kind = \"ecmp\" }")), |(text, n)| {
        let (ends, _) = ends(&text, n);
        assert_eq!(overtaken(&ends), 0, "{text}");
        assert!(ends.windows(2).all(|pair| pair[0].at <= pair[1].at), "time goes on");
        lost += ends.iter().filter(|end| end.lost).count();
        arrived += ends.iter().filter(|end| !end.lost).count();
    });
    assert!(lost > 1000 && arrived > 20_000, "{arrived} arrived and {lost} were lost");
    // Packets do overtake each other if there are several paths, so that the check is effective.
    let fabric = |draw: &mut Draw| busy(draw, "routing = { kind = \"spray\" }").replace(PATHS[0], PATHS[3]);
    let mut sprayed = 0;
    for_all(20, drawn_run(fabric), |(text, n)| sprayed += overtaken(&ends(&text, n).0));
    assert!(sprayed > 100, "{sprayed} overtaken where packets are sprayed");
}

/// Returns a random scenario in which several hosts send packets of one size to one host, by their own clocks; no
/// sender reacts to losses.
fn open_loop(draw: &mut Draw) -> String {
    let payload = draw.number(200, 1460);
    let workload = |draw: &mut Draw, i: u64| {
        let kind = match draw.number(0, 2) {
            0 => format!("kind = \"constant\"\nrate = \"{}Mbps\"", draw.number(100, 900)),
            1 => format!("kind = \"constant\"\nrate = \"{}Mbps\"\ngaps = \"exponential\"", draw.number(100, 900)),
            _ => format!(
                "kind = \"bursts\"\npackets = {}\ninterval = \"{}ns\"\npause = \"{}us\"",
                draw.number(2, 40),
                draw.number(1, 20_000),
                draw.number(10, 400)
            ),
        };
        format!(
            "[[traffic]]\nname = \"t{i}\"\n{kind}\nsource = \"h{i}\"\ndestination = \"h0\"\npayload = \"{payload}B\"\n\
             jitter = \"20us\"\nstop = \"2ms\"\n"
        )
    };
    let workloads: String = (1..=draw.number(2, 5)).map(|i| workload(draw, i)).collect();
    let switch = format!(
        "ties = \"{}\"\nsimultaneous = \"{}\"",
        draw.pick(&["random", "port"]),
        draw.pick(&["in_turn", "snapshot"])
    );
    format!(
        "name = \"open\"\nduration = \"20ms\"\n[topology]\nkind = \"star\"\nn = 6\n[switch]\n{switch}\n\
         buffer = {{ kind = \"per_port\", size = \"BUFFER\" }}\n[measure]\nqueues = false\n{workloads}"
    )
}

#[test]
fn more_memory_never_loses_more_of_the_same_arrivals() {
    // The law holds for equal packets at one queue. With packets of several sizes it does not: a long packet that a
    // larger buffer takes may displace several short ones.
    let mut fewer = 0;
    for_all(25, drawn_run(open_loop), |(text, n)| {
        let lost = |size: u64| drops(&run(&text.replace("BUFFER", &format!("{size}pkt")), n));
        let losses: Vec<u64> = [1, 2, 3, 4, 6, 9, 13, 20, 40, 80, 1_000_000].map(lost).to_vec();
        assert!(losses.windows(2).all(|pair| pair[0] >= pair[1]), "{losses:?}\n{text}");
        assert_eq!(losses.last(), Some(&0), "memory enough loses nothing");
        fewer += losses.windows(2).filter(|pair| pair[0] > pair[1]).count();
    });
    assert!(fewer > 100, "memory mattered {fewer} times");
}

#[test]
fn a_longer_way_never_finishes_a_lone_flow_sooner() {
    // Without losses and marks: with them, a slower start may be the luckier one.
    let scenarios = drawn_run(|draw| {
        let (topology, to) =
            [("kind = \"star\"\nn = 2", 1), ("kind = \"dumbbell\"\nn = 1", 1), ("kind = \"fat_tree\"\nk = 4", 15)]
                [draw.number(0, 2) as usize];
        let transport = format!(
            "{}\ninitial_window = \"{}pkt\"\ninitial_ssthresh = \"{}B\"\nreceive_window = \"{}B\"\n\
             delayed_ack = {}\ndelayed_ack_timeout = \"300us\"\nmin_rto = \"1s\"\ninitial_rto = \"1s\"",
            draw.pick(&HOSTS),
            draw.number(1, 20),
            draw.number(3_000, 100_000),
            draw.number(5_000, 400_000),
            draw.pick(&["true", "false"])
        );
        let (mbps, bytes) = (draw.number(50, 20_000), draw.number(1, 400_000));
        format!(
            "name = \"lone\"\nduration = \"1ms\"\n[topology]\n{topology}\nlink = {{ rate = \"{mbps}Mbps\", delay = \"DELAY\" }}\n\
             [switch]\nbuffer = {{ kind = \"unlimited\" }}\n[transport]\n{transport}\n[measure]\nqueues = false\ndrain = \"60s\"\n\
             [[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\nreceiver = \"h{to}\"\npick = \"first\"\nsize = \"{bytes}B\"\n"
        )
    });
    for_all(200, scenarios, |(text, n)| {
        let mut last = 0;
        for delay in [1, 1_000, 20_000, 20_001, 3_000_000, 70_000_000] {
            let text = text.replace("DELAY", &format!("{delay}ps"));
            let results = run(&text, n);
            let fct = column(&results, "flows", "end_ps")[0];
            assert!(fct < u64::MAX && column(&results, "flows", "timeouts") == [0], "{text}");
            assert!(fct > last, "{fct} ps after {last} ps\n{text}");
            last = fct;
        }
    });
}
