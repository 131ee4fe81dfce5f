//! Tests that whole connections survive the conversion to real headers and back without any loss.

use crate::common::scenario;
use dataplane::{Framing, NO_EXT, PacketExtension, Pkt};
use mech::Flags;
use sim::{CrossedFrame, Options, Tap, build_with_tap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::{Checksums, LengthField, NetworkFormat, PacketOnLink, SideData, read_checksums, write_frame};

/// Numbers of TCP segments: all, those with SACK blocks, SYN options, timestamps, ECN flags, a mark, a detour, CPA, or
/// trimmed payload, and PACKs.
#[derive(Default)]
struct Seen([AtomicU64; 10]);

/// Tap that converts every frame that crosses a link to bytes, and parses the bytes into a packet again.
#[derive(Clone)]
struct ThereAndBack(NetworkFormat, Arc<Seen>);

impl Tap for ThereAndBack {
    fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>) {
        let (pkt, ext, plan) = (crossed.pkt, crossed.ext, self.0.plan);
        let mut frame = Vec::new();
        write_frame(&PacketOnLink { pkt, ext, push: false, plan, roce: None, dscps: &self.0.dscps }, &mut frame);
        assert_eq!(read_checksums(&frame, LengthField::Ip), Ok(Checksums { ipv4: true, tcp: true }));
        let back =
            self.0.restore(&frame, &SideData::from_packet(pkt, ext)).unwrap_or_else(|why| panic!("{pkt:?}: {why}"));
        assert_eq!(back.pkt, Pkt { ext: NO_EXT, ..*pkt });
        assert_eq!(back.ext, ext.copied().filter(|ext| *ext != PacketExtension::default()));
        let told = [
            true,
            ext.is_some_and(|ext| ext.blocks > 0),
            ext.is_some_and(|ext| ext.syn.is_some()),
            ext.is_some_and(|ext| ext.timestamps.is_some()),
            pkt.head.flags.any(Flags::ECE.with(Flags::CWR)),
            pkt.head.tos & 3 == 3,
            pkt.head.detours > 0,
            pkt.head.flags.has(Flags::CPA),
            pkt.head.flags.has(Flags::CPA.with(Flags::PPL)),
            pkt.head.flags.has(Flags::PPL.with(Flags::REVERSE)),
        ];
        for (count, is) in self.1.0.iter().zip(told) {
            count.fetch_add(u64::from(is), Relaxed);
        }
    }
}

/// Runs an incast with small buffers, so that packets are marked, detoured and lost; returns the numbers of segments.
fn incast(transport: &str, routing: &str) -> [u64; 10] {
    incast_with(transport, routing, "")
}

/// Runs the same incast with further lines of its workload.
fn incast_with(transport: &str, routing: &str, more: &str) -> [u64; 10] {
    let text = format!(
        "name = \"on-wire\"\nduration = \"20ms\"\n[topology]\nkind = \"fat_tree\"\nk = 4\n\
         link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[switch]\nbuffer = {{ kind = \"per_port\", size = \"12pkt\" }}\n\
         marking = {{ kind = \"ecn_threshold\", k = \"6pkt\" }}\n{routing}\n[transport]\n{transport}\n\
         [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 12\nreceiver = \"h0\"\nsize = \"40KB\"\n{more}"
    );
    let scenario = scenario(&text, "");
    let network =
        NetworkFormat { framing: Framing::ETHERNET, plan: scenario.address_plan(), dscps: scenario.dscps.table };
    let seen = Arc::new(Seen::default());
    build_with_tap(&scenario, 1, Options::default(), (), ThereAndBack(network, seen.clone())).unwrap().run();
    std::array::from_fn(|n| seen.0[n].load(Relaxed))
}

const DETOUR: &str = "overflow = { kind = \"detour\", policy = \"random\" }";
const TWO_LEVEL: &str = "routing = { kind = \"two_level\" }";

#[test]
fn a_whole_connection_comes_back_from_its_frames() {
    let handshake = "connection = \"handshake\"\nmin_rto = \"1ms\"\ntimestamps = true";
    let [segments, blocks, syns, stamps, echoes, marks, detours, ..] =
        incast(&format!("kind = \"dctcp\"\n{handshake}"), DETOUR);
    assert!(segments > 2000 && stamps == segments, "{stamps} of {segments} with timestamps");
    assert!(syns > 20 && echoes > 100 && marks > 100 && detours > 100, "{syns} {echoes} {marks} {detours}");
    assert!(blocks > 20, "{blocks} with blocks");
}

#[test]
fn a_whole_connection_comes_back_where_places_have_addresses() {
    let [segments, blocks, syns, ..] = incast("kind = \"sack\"\nmin_rto = \"1ms\"", TWO_LEVEL);
    assert!(segments > 2000 && blocks > 20 && syns == 0, "{segments} {blocks} {syns}");
}

/// Test that class and DSCP number are restored from the DSCP of a frame, also for the second DSCP of a class.
#[test]
fn a_whole_connection_with_a_named_dscp_comes_back() {
    let other = "[[traffic]]\nname = \"other\"\nkind = \"permutation\"\nsize = \"2KB\"\ndscp = 10\n";
    let table = "[dscp_to_class]\n10 = 3\n46 = 3\n";
    let [segments, blocks, _, _, echoes, marks, ..] =
        incast_with("kind = \"dctcp\"\nmin_rto = \"1ms\"", DETOUR, &format!("dscp = 46\n{other}{table}"));
    assert!(segments > 2000 && blocks > 20 && echoes > 100 && marks > 100, "{segments} {blocks} {echoes} {marks}");
}

/// Test that a connection of modern Linux hosts survives the conversion.
/// Bursts of modern Linux hosts end with PSH.
#[test]
fn a_whole_connection_of_hosts_of_today_comes_back() {
    let [segments, blocks, _, stamps, ..] = incast("kind = \"linux_dctcp\"\nmin_rto = \"10ms\"", "");
    assert!(segments > 2000 && blocks > 20 && stamps == segments, "{segments} {blocks} {stamps}");
}

#[test]
fn a_whole_connection_of_cp_comes_back_with_what_was_cut_and_its_packs() {
    let trim = "overflow = { kind = \"trim\" }";
    let [segments, blocks, syns, _, echoes, marks, _, data, cut, packs] =
        incast("kind = \"dctcp\"\npack = true\nconnection = \"handshake\"\nmin_rto = \"1ms\"\ntimestamps = true", trim);
    assert!(segments > 2000 && syns > 20 && echoes > 100 && marks > 100, "{segments} {syns} {echoes} {marks}");
    assert!(data > 500 && cut > 100 && packs > 100 && blocks > packs, "{data} {cut} {packs} {blocks}");
}
