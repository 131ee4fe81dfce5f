//! Tests of overflow mechanisms that trim packets or send them back, in the same switch.

use super::{AS_NAMED, Delivered, FRAMES, burst, run, text};
use crate::common::watched::Watching;
use dataplane::Pkt;
use mech::overflow::{DropReason, Fate, Overflow, OverflowSlot};
use mech::{AdmitCalls, Env, Flags, ForwardingContext, Head, HostId, Needs, PktId, QueueId};
use units::Bytes;

/// Returns a scenario of raw packets to a port that trims, with a buffer of ten frames. Raw packets never have a flag
/// that permits trimming.
fn trimming(given: &str) -> String {
    let overflow = format!("overflow = {{ kind = \"trim\", trimmable = \"any\"{given} }}");
    let buffer = "buffer = { kind = \"per_port\", size = \"15180B\" }";
    text(&format!("{buffer}\n{overflow}"), &burst(FRAMES, "1us"))
}
/// Returns the packets that arrived at h1: whole ones, and trimmed ones.
fn arrived(world: &Watching<Delivered>) -> (Vec<u32>, Vec<u32>) {
    let is_cut = |pkt: &Pkt| pkt.head.flags.has(Flags::PPL) && pkt.payload == 0;
    let of = |cut: bool| world.observer().0.iter().filter(move |(.., pkt)| is_cut(pkt) == cut);
    (of(false).map(|(.., pkt)| pkt.emission).collect(), of(true).map(|(.., pkt)| pkt.emission).collect())
}

/// Test of the packets that are trimmed above a threshold T, computed by hand.
/// T is ten frames. Eleven are queued after frame 12; 13 to 19 are trimmed to 64 B, 17146 B are queued. Then one leaves
/// for every ten arrivals: 20 finds 15628 B and is trimmed like the nine after it, 30 finds 14750 B and is not, 31 to
/// 39 are.
#[test]
fn a_packet_over_the_threshold_loses_its_payload_and_its_header_arrives() {
    for given in ["", ", extra = \"2000B\""] {
        let (whole, cut) = arrived(&run(&trimming(given), AS_NAMED));
        assert_eq!(whole, (0..13).chain([30]).collect::<Vec<u32>>());
        assert_eq!(cut, (13..30).chain(31..40).collect::<Vec<u32>>());
    }
}

/// Test of headers that find no buffer space, computed by hand.
/// 16698 B are queued after frame 12, and T + E is 16800 B: 13 and 14 are trimmed, 16826 B are queued, and the headers
/// of 15 to 19 are lost. One frame leaves, and 20 finds 15308 B; all up to 29 are trimmed, 15948 B are queued. Then
/// 14430 B are queued: 30 stays whole.
#[test]
fn a_header_without_room_is_lost() {
    let world = run(&trimming(", extra = \"1620B\""), AS_NAMED);
    let (whole, cut) = arrived(&world);
    assert_eq!(whole, (0..13).chain([30]).collect::<Vec<u32>>());
    assert_eq!(cut, (13..15).chain(20..30).chain(31..40).collect::<Vec<u32>>());
}

/// Test of headers in a class of their own, with times computed by hand.
/// Headers in class 7 leave as soon as the link is idle, and do not count against T. Frame i arrives at 1230.4 i ns.
/// Frame 1 starts at 12304 ns, before any is trimmed, and eleven frames are queued after 12. From 24608 ns on, the
/// headers of 13 to 19 leave in 672 ns each, and so do those that arrive meanwhile, up to 28. At 35360 ns frame 2
/// starts, so that 29 stays whole.
#[test]
fn headers_of_a_class_of_their_own_leave_first_and_take_no_room_of_data() {
    let world = run(&trimming(", header_class = 7"), AS_NAMED);
    let (whole, cut) = arrived(&world);
    assert_eq!(whole, (0..13).chain([29]).collect::<Vec<u32>>());
    assert_eq!(cut, (13..29).chain(30..40).collect::<Vec<u32>>());
    let order: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(order[..19], [vec![0, 1], (13..29).collect(), vec![2]].concat(), "{order:?}");
    assert!(world.observer().0.iter().all(|(.., pkt)| (pkt.payload > 0) == (pkt.head.class() == 0)));
}

/// Test of trimming the tail of the queue in place of the arrival.
/// The number of trimmed packets is that of the test above. For about half of the 26, the coin selects the tail, which
/// joins the headers.
#[test]
fn the_tail_is_cut_in_place_of_the_arrival_and_joins_the_headers() {
    let world = run(&trimming(", header_class = 7, victim = \"coin\""), AS_NAMED);
    let (whole, cut) = arrived(&world);
    assert_eq!((whole.len(), cut.len()), (14, 26));
    assert!(cut.iter().any(|n| *n <= 12) && whole.iter().any(|n| *n > 12 && *n != 29), "{whole:?}");
    let order: Vec<(u32, bool)> = world.observer().0.iter().map(|(.., pkt)| (pkt.emission, pkt.payload == 0)).collect();
    let overtakes = |(at, &(n, is_cut)): (usize, &(u32, bool))| {
        is_cut && n <= 12 && order[at..].iter().any(|&(later, is_cut)| !is_cut && later < n)
    };
    assert!(order.iter().enumerate().any(overtakes), "a tail that is cut overtakes data before it: {order:?}");
    // A packet trimmed in its queue keeps its place, so that all arrive in order.
    let world = run(&trimming(", victim = \"coin\""), AS_NAMED);
    let order: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(order, (0..FRAMES as u32).collect::<Vec<u32>>());
    assert!(arrived(&world).1.iter().any(|n| *n <= 12));
}

/// Test of headers that are returned to their source if there is no buffer space.
/// The headers that are lost in a test above go back.
#[test]
fn a_header_without_room_goes_back_to_its_source() {
    let world = run(&trimming(", extra = \"1620B\", no_room = \"return\""), AS_NAMED);
    let (whole, cut) = arrived(&world);
    assert_eq!((whole.len(), cut.len()), (14, 21));
    assert_eq!((world.host(HostId(0)).packets_returned(), world.host(HostId(1)).packets_returned()), (5, 0));
}

/// Test of returned headers in a class of their own, computed by hand.
/// Headers in class 7 have 192 B, independent of T. Headers 13 to 16 fill them, and 17 to 19 go back. From 24608 ns on
/// headers leave, nine until 30656 ns. Frame 2 starts then and leaves ten behind it: 25 stays whole. 26 to 29 fill the
/// buffer again, 30 to 34 go back, and at 42960 ns the next header leaves.
#[test]
fn headers_of_a_class_of_their_own_go_back_once_their_own_room_is_full() {
    let world = run(&trimming(", extra = \"192B\", header_class = 7, no_room = \"return\""), AS_NAMED);
    let (whole, cut) = arrived(&world);
    assert_eq!(whole, (0..13).chain([25]).collect::<Vec<u32>>());
    assert_eq!(cut, (13..17).chain(20..25).chain(26..30).chain(35..40).collect::<Vec<u32>>());
    assert_eq!((world.host(HostId(0)).packets_returned(), world.host(HostId(1)).packets_returned()), (8, 0));
}

/// Test of the number of bytes that trimming leaves.
/// Frames of 1518 B are trimmed to 256 B, of which none counts as payload.
#[test]
fn trimming_leaves_the_configured_number_of_bytes() {
    let world = run(&trimming(", trim_size = \"256B\""), AS_NAMED);
    let cut: Vec<&Pkt> = world.observer().0.iter().map(|(.., pkt)| pkt).filter(|pkt| pkt.payload == 0).collect();
    assert!(cut.len() > 20 && cut.iter().all(|pkt| pkt.head.size == 256), "{}", cut.len());
}

/// Overflow mechanism that trims the last whole packet of the queue if an arrival does not fit.
#[derive(Clone)]
struct CutsTheLast;

impl Overflow for CutsTheLast {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        let mut last: Option<PktId> = None;
        at.view.visit_packets(at.output, QueueId::normal(0), &mut |id, head| {
            last = if head.flags.has(Flags::PAYLOAD) { Some(id) } else { last };
        });
        match last {
            _ if at.fits(at.output, pkt.queue(), pkt.size) => Fate::Enqueue(pkt.queue()),
            Some(id) => Fate::TrimQueued(id),
            None => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn admit_calls(&self) -> AdmitCalls {
        AdmitCalls::WhenFull
    }
    fn needs(&self) -> Needs {
        Needs { removes_packets: true, cut_memory: Some(Bytes(0)), ..Needs::default() }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// Test of a packet that is trimmed in the middle of a queue, computed by hand.
/// The buffer holds 15180 B. Frames 2 to 11 fill it; 12 takes the payloads of 11 and 10, 13790 B are queued. Each of 13
/// to 19 takes the payload of the frame before it, and 14174 B are queued after 18. 20 fits, 21 to 29 take payloads, 30
/// fits, 31 to 39 take payloads. 36 finds 15134 B, and one payload is not enough: it takes that of 29 too.
#[test]
fn a_packet_is_cut_where_it_waits_and_keeps_its_place() {
    let text = text("buffer = { kind = \"per_port\", size = \"15180B\" }", &burst(FRAMES, "1us"));
    let world = run(&text, &|_, setup| setup.core.overflow = OverflowSlot::custom(CutsTheLast));
    let order: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(order, (0..FRAMES as u32).collect::<Vec<u32>>());
    let whole: Vec<u32> =
        world.observer().0.iter().filter(|(.., pkt)| pkt.payload > 0).map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(whole, (0..10).chain([19, 39]).collect::<Vec<u32>>());
}

/// Overflow mechanism that returns each packet that does not fit to its source.
#[derive(Clone)]
struct SendsBack;

impl Overflow for SendsBack {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        if at.fits(at.output, pkt.queue(), pkt.size) { Fate::Enqueue(pkt.queue()) } else { Fate::ReturnToSource }
    }
    fn admit_calls(&self) -> AdmitCalls {
        AdmitCalls::WhenFull
    }
    fn needs(&self) -> Needs {
        Needs { returns_to_source: true, ..Needs::default() }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// Test of packets that are returned to their source, computed by hand.
/// The buffer holds ten frames. After frame 11 it is full until the third leaves, when 20 arrives, and the fourth, when
/// 30 arrives: 8 + 9 + 9 packets go back.
#[test]
fn packets_without_buffer_space_return_to_their_source() {
    let text = text("buffer = { kind = \"per_port\", size = \"10pkt\" }", &burst(FRAMES, "1us"));
    let world = run(&text, &|_, setup| setup.core.overflow = OverflowSlot::custom(SendsBack));
    let arrived: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(arrived, (0..12).chain([20, 30]).collect::<Vec<u32>>());
    assert_eq!((world.host(HostId(0)).packets_returned(), world.host(HostId(1)).packets_returned()), (26, 0));
}

/// Test that the settings for existing switches on the page of `trim` run.
#[test]
fn settings_of_existing_switches_on_the_trim_page_run() {
    let page = include_str!("../../../../docs/mechanisms/trim.md");
    let lines = page.lines().filter_map(|line| line.strip_prefix("    ")).collect::<Vec<_>>().join("\n");
    let cuts = lines.split("# ").skip(1).map(|block| {
        let (name, switch) = block.split_once('\n').unwrap();
        let (whole, cut) = arrived(&run(&text(switch, &burst(400, "1us")), AS_NAMED));
        assert!(whole.len() > 20, "{name}: {whole:?}");
        (name.split([',', ':']).next().unwrap(), !cut.is_empty())
    });
    // Raw packets have no CPA, and 400 of them are less than 8 MiB.
    assert_eq!(cuts.collect::<Vec<_>>(), [("CP", false), ("UEC", true), ("SAI", false), ("NDP", true)]);
}
