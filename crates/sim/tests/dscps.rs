//! Tests of DSCPs in whole runs: classes of packets, frames on links, and packets that get another class on their way.

use crate::common::{scenario, small};
use mech::{DscpTable, Flags, Head, PacketKind};
use sim::{CrossedFrame, Options, Recorder, Results, Tap, build, build_with_tap};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use wire::{PacketOnLink, write_frame};

/// Properties of a packet that its class and DSCP are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    flow: u32,
    kind: u8,
    is_back: bool,
    is_cut_or_pack: bool,
    class: u8,
    code_point: u8,
    dscp: u8,
    ecn: u8,
}

/// Tap that records the DSCP in the bytes of each frame, with the class of its packet.
#[derive(Clone)]
struct Dscps(DscpTable, Arc<Mutex<BTreeSet<Seen>>>);

impl Tap for Dscps {
    fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>) {
        let (pkt, mut frame) = (crossed.pkt, Vec::new());
        let on_link = PacketOnLink { pkt, ext: crossed.ext, push: false, plan: None, roce: None, dscps: &self.0 };
        write_frame(&on_link, &mut frame);
        let Head { flow, flags, .. } = pkt.head;
        self.1.lock().unwrap().insert(Seen {
            flow: flow.0,
            kind: flags.kind() as u8,
            is_back: flags.has(Flags::REVERSE),
            is_cut_or_pack: flags.has(Flags::PPL),
            class: pkt.head.class(),
            code_point: pkt.head.code_point(),
            dscp: frame[15] >> 2,
            ecn: frame[15] & 3,
        });
        assert_eq!(frame[15] & 3, pkt.head.tos & 3, "ECN bits are those of the packet");
    }
}

/// Runs a scenario, and returns what its frames had.
fn seen(text: &str) -> Vec<Seen> {
    let scenario = scenario(text, "");
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let tap = Dscps(scenario.dscps.table, found.clone());
    build_with_tap(&scenario, 1, Options::default(), (), tap).unwrap().run();
    let found = found.lock().unwrap();
    found.iter().copied().collect()
}

/// Returns a scenario with workloads of three DSCPs, two of them of class 3, in a congested star. `keys` are the lines
/// of the workloads that select their class.
fn workloads(keys: [&str; 4]) -> String {
    let [burst, across, calls, raw] = keys;
    let star = "kind = \"star\"\nn = 5\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let more = format!(
        "[switch]\nbuffer = {{ kind = \"per_port\", size = \"20pkt\" }}\n\
         marking = {{ kind = \"ecn_threshold\", k = \"5pkt\" }}\nscheduler = {{ kind = \"strict_priority\" }}\n\
         [transport]\nkind = \"dctcp\"\nmin_rto = \"1ms\"\nconnection = \"handshake\"\n\
         [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 4\nreceiver = \"h0\"\nsize = \"40KB\"\n{burst}\n\
         [[traffic]]\nname = \"across\"\nkind = \"permutation\"\nsize = \"20KB\"\n{across}\n\
         [[traffic]]\nname = \"calls\"\nkind = \"request_reply\"\nclients = [\"h1\"]\nservers = [\"h2\"]\nrequest = \"2KB\"\n\
         reply = \"8KB\"\nrequests = 3\n{calls}\n\
         [[traffic]]\nname = \"raw\"\nkind = \"constant\"\nsource = \"h3\"\ndestination = \"h4\"\nrate = \"50Mbps\"\n{raw}\n"
    );
    small("5ms", star, &more)
}

const TABLE: &str = "[dscp_to_class]\n46 = 3\n10 = 3\n34 = 1\n";
const NAMED: [&str; 4] = ["dscp = 46", "dscp = 10", "dscp = 34", "class = 3"];

#[test]
fn data_acks_and_replies_have_the_dscp_of_their_workload() {
    let found = seen(&(workloads(NAMED) + TABLE));
    let mut flows: BTreeMap<u32, BTreeSet<(u8, u8)>> = BTreeMap::new();
    for one in &found {
        flows.entry(one.flow).or_default().insert((one.class, one.dscp));
    }
    assert!(flows.values().all(|all| all.len() == 1), "{flows:?}");
    let mut counts = BTreeMap::new();
    flows.values().flatten().for_each(|one| *counts.entry(*one).or_insert(0) += 1);
    // Raw packets have the class selector. The connection of the session has one flow in each direction.
    assert_eq!(counts, BTreeMap::from([((3, 46), 4), ((3, 10), 5), ((1, 34), 2), ((3, 24), 1)]));
    let of_burst = |is_back, ecn| found.iter().any(|one| (one.dscp, one.is_back, one.ecn) == (46, is_back, ecn));
    assert!(of_burst(false, 2) && of_burst(false, 3) && of_burst(true, 0), "{found:?}");
}

#[test]
fn a_dscp_of_a_class_gives_the_results_of_the_class() {
    let results = |text: &str| -> Results {
        let scenario = scenario(text, "");
        let mut world = build(&scenario, 1, Options::default(), Recorder::from_scenario(&scenario)).unwrap();
        world.run();
        world.results(&scenario)
    };
    let by_class = results(&workloads(["class = 3", "class = 3", "class = 1", "class = 3"]));
    assert_eq!(results(&(workloads(NAMED) + TABLE)).tables, by_class.tables);
    let other = results(&workloads(["class = 3", "class = 2", "class = 1", "class = 3"]));
    assert_ne!(other.tables, by_class.tables, "classes matter here");
}

/// Test of packets that get another class on their way: cut headers and the PACKs that answer them.
#[test]
fn headers_and_packs_of_another_class_have_its_first_dscp() {
    let star = "kind = \"star\"\nn = 9\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let text = |header_class: &str| {
        let more = format!(
            "[switch]\nbuffer = {{ kind = \"per_port\", size = \"12KB\" }}\nscheduler = {{ kind = \"strict_priority\" }}\n\
             overflow = {{ kind = \"trim\", trimmable = \"any\"{header_class} }}\n\
             [transport]\nkind = \"dctcp\"\npack = true\nmin_rto = \"1ms\"\n\
             [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"40KB\"\n\
             dscp = 46\n[[traffic]]\nname = \"low\"\nkind = \"permutation\"\nsize = \"2KB\"\ndscp = 10\n{TABLE}48 = 0\n"
        );
        small("5ms", star, &more)
    };
    let found = seen(&text(", header_class = 6"));
    let cut: Vec<&Seen> = found.iter().filter(|one| one.is_cut_or_pack).collect();
    assert!(cut.iter().any(|one| one.is_back) && cut.iter().any(|one| !one.is_back), "headers and PACKs");
    assert!(cut.iter().all(|one| (one.class, one.code_point, one.dscp) == (6, 0, 49)), "{cut:?}");
    let found = seen(&text(""));
    let cut: Vec<&Seen> = found.iter().filter(|one| one.is_cut_or_pack && one.dscp != 10).collect();
    assert!(!cut.is_empty());
    assert!(cut.iter().all(|one| (one.class, one.code_point, one.dscp) == (3, 1, 46)), "the class stays: {cut:?}");
}

/// Test of RoCE and its CNPs. Data that must not be cut have the named DSCP, as ACKs have.
#[test]
fn roce_data_have_the_named_dscp_and_cnps_that_of_class_7() {
    let star = "kind = \"star\"\nn = 4\nlink = { rate = \"10Gbps\", delay = \"1us\" }";
    let text = |keys: &str| {
        let more = format!(
            "[host]\nnic = {{ kind = \"round_robin\" }}\nreaction = {{ kind = \"dcqcn\" }}\n\
             [switch]\nmarking = {{ kind = \"ecn_threshold\", k = \"5pkt\" }}\n[transport]\nkind = \"roce\"\n\
             [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 3\nreceiver = \"h0\"\nsize = \"60KB\"\n{keys}\n"
        );
        let found = seen(&small("5ms", star, &more));
        let of = |kind: PacketKind, is_back| -> BTreeSet<u8> {
            let all = found.iter().filter(|one| one.kind == kind as u8 && one.is_back == is_back);
            all.map(|one| one.dscp).collect()
        };
        [of(PacketKind::Segment, false), of(PacketKind::Segment, true), of(PacketKind::Notice, false)]
    };
    let one = |dscp: u8| BTreeSet::from([dscp]);
    assert_eq!(text("dscp = 26"), [one(26), one(26), one(56)]);
    assert_eq!(text("class = 3"), [one(25), one(24), one(56)]);
    assert_eq!(text("class = 3\n[dscp_to_class]\n56 = 0"), [one(24), one(24), one(57)]);
}
