//! Tests of frames that never leave the memory of inputs while outputs may not send.
//! They go frame by frame in a `fabric` switch, and check a law over random runs. Ports 0 and 1 are at the first stage,
//! 2 and 3 at the second.

use super::overflow_mechanisms::bounces;
use super::*;
use mech::fabric::FabricSlot;
use mech::{ClassSet, Registry};
use proptest::array::uniform4;
use proptest::bool::weighted;
use proptest::option;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use units::{Bytes, Dur};

/// Creates the parameters of stages from the sizes of their buffers and of link buffers, in bytes.
fn stages(kind: &str, [stage, link]: [u64; 2], lists: &str, end_to_end: bool) -> StagesSetup {
    let values = [
        ("elements", Value::Count(2)),
        ("cores", Value::Count(2)),
        ("link_rate", Value::Rate(Rate::gbps(1))),
        ("link_buffer", Value::Size(Bytes(link))),
        ("stage_buffer", Value::Size(Bytes(stage))),
        ("lists", Value::Word(lists.into())),
        ("end_to_end", Value::Flag(end_to_end)),
        ("ack_delay", Value::Time(Dur::us(1))),
    ];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into_iter().collect());
    let clock = Rate::gbps(2).clock();
    StagesSetup {
        fabric: Registry::catalogue().make::<FabricSlot>(kind, &values).unwrap(),
        inward: vec![clock; usize::from(PORTS)],
        across: clock,
        link: Rate::gbps(1).clock(),
    }
}

/// Creates a switch with output buffers of `buffer` bytes, whose ports may not send `classes`.
fn switch_with_paused_classes(stages: Option<StagesSetup>, buffer: u64, classes: [ClassSet; PORTS as usize]) -> Switch {
    paused_switch_with_overflow(mech::overflow::TailDrop.into(), stages, buffer, classes)
}

/// Creates a switch with the mechanism `overflow` and output buffers of `buffer` bytes.
/// Its ports may not send `classes`.
fn paused_switch_with_overflow(
    overflow: OverflowSlot,
    stages: Option<StagesSetup>,
    buffer: u64,
    classes: [ClassSet; PORTS as usize],
) -> Switch {
    let room = [Amount::Bytes(buffer), Amount::Bytes(20_000)];
    let mut switch = with_stages(RoundRobin::default().into(), overflow, room, stages);
    for (port, classes) in switch.core.store.ports.iter_mut().zip(classes) {
        let of_class = |class| Lane::PAUSED.map(|lane| QueueId::new(class, lane).bit());
        port.rest.paused = (0..8).filter(|class| classes.has(*class)).flat_map(of_class).sum();
    }
    switch
}

/// Paused classes by port: only class 0 at port 2.
const CLASS_0_AT_PORT_2: [ClassSet; PORTS as usize] = [ClassSet::NONE, ClassSet::NONE, ClassSet(1), ClassSet::NONE];

/// Returns the bytes that stay forever, by input port, by the port that they wait for, and by class.
fn stuck_bytes_by_class(switch: &Switch, stuck: &[ClassSet]) -> BTreeMap<(u16, u16, u8), u64> {
    let mut all = BTreeMap::new();
    let found = switch.core.stuck_bytes(stuck);
    found.iter().for_each(|own| *all.entry((own.ingress.0, own.port.0, own.class)).or_default() += own.bytes);
    all
}

/// Returns `to_2` frames of 1000 B from input 0 to port 2, and the frames `behind` after them.
fn frames(to_2: u32, behind: &[(u64, u16, u32)]) -> Vec<(u64, Pkt)> {
    let first = (0..to_2).map(|n| (0, frame(n, 1000, (0, 2), 0)));
    let behind = behind.iter().zip(to_2..).map(|((at, size, output), n)| (*at, frame(n, *size, (0, *output), 0)));
    first.chain(behind).collect()
}

/// Frames at an input stay while port 2 may not send, and so do copies of frames inside.
/// Six frames are inside: one in the output buffer, two behind the link, one in front of it, two in the stage's buffer.
#[test]
fn frames_for_a_paused_port_and_copies_inside_are_stuck() {
    for (copies, bytes) in [(false, 2000), (true, 7000)] {
        for lists in ["by_exit", "fifo"] {
            let mut switch =
                switch_with_paused_classes(Some(stages("mesh", [2000, 1000], lists, copies)), 1000, CLASS_0_AT_PORT_2);
            run(&mut switch, &frames(8, &[]));
            assert_eq!(
                stuck_bytes_by_class(&switch, &CLASS_0_AT_PORT_2),
                BTreeMap::from([((0, 2, 0), bytes)]),
                "{lists}, {copies}"
            );
            assert!(stuck_bytes_by_class(&switch, &[ClassSet::NONE; 4]).is_empty(), "all of it can leave");
        }
    }
}

/// Frames for a free port pass frames that stay in the stage's buffer only if they fit beside them.
/// The buffer has space for 500 B beside two frames that stay there. Behind them, a frame for a free port gets out, and
/// so does the next one of its size. A frame that is larger by a byte stays, with all frames behind it; it waits for
/// port 2.
#[test]
fn frame_for_a_free_port_passes_stuck_frames_only_if_it_fits() {
    let by_exit =
        || switch_with_paused_classes(Some(stages("mesh", [2500, 1000], "by_exit", false)), 1000, CLASS_0_AT_PORT_2);
    let mut switch = by_exit();
    let asked = run(&mut switch, &frames(6, &[(200, 500, 1), (200, 500, 1), (200, 501, 1), (200, 100, 1)]));
    assert_eq!(asked.sent.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [6, 7]);
    assert_eq!(stuck_bytes_by_class(&switch, &CLASS_0_AT_PORT_2), BTreeMap::from([((0, 2, 0), 601)]));
    // While frame 6 moves, frame 7 waits at its input and does not count as staying.
    let mut switch = by_exit();
    let mut most = 0;
    let asked = run_watched(&mut switch, &frames(6, &[(200, 500, 1), (200, 500, 1)]), |switch| {
        most = most.max(switch.core.store.inputs.as_ref().unwrap().used_by_input(PortId(0)).0);
        let behind = stuck_bytes_by_class(switch, &CLASS_0_AT_PORT_2).values().sum::<u64>();
        assert_eq!(behind % 1000, 0, "only frames for port 2 stay at any time");
    });
    assert_eq!((asked.sent.len(), most > 1), (2, true));
    assert!(stuck_bytes_by_class(&switch, &CLASS_0_AT_PORT_2).is_empty());
}

/// A frame for a free port stays behind frames for a paused port if all frames are in one list.
/// The first frame for the free port stays inside, and the second no longer fits.
#[test]
fn fifo_list_blocks_a_frame_behind_one_for_a_paused_port() {
    let mut switch =
        switch_with_paused_classes(Some(stages("mesh", [2500, 1000], "fifo", false)), 1000, CLASS_0_AT_PORT_2);
    let asked = run(&mut switch, &frames(6, &[(200, 500, 1), (200, 500, 1)]));
    assert_eq!(
        (asked.sent.len(), stuck_bytes_by_class(&switch, &CLASS_0_AT_PORT_2)),
        (0, BTreeMap::from([((0, 2, 0), 500)]))
    );
}

/// Frames of class 1 fill the buffer of port 2, so frames of class 0 stay although the port may send them.
#[test]
fn unpaused_class_is_stuck_behind_a_paused_one_at_the_output() {
    let stuck = CLASS_0_AT_PORT_2.map(|classes| ClassSet(classes.0 << 1));
    let mut switch = switch_with_paused_classes(Some(stages("mesh", [1000, 1000], "by_exit", false)), 1500, stuck);
    let mut all = vec![(0, frame(0, 1000, (1, 2), 1))];
    all.extend((1..6).map(|n| (90, frame(n, 501, (0, 2), 0))));
    run(&mut switch, &all);
    // Three frames are inside, one in each buffer on the path.
    assert_eq!(stuck_bytes_by_class(&switch, &stuck), BTreeMap::from([((0, 2, 0), 1002)]));
}

/// Returns the bytes in the memory of inputs, by input and class.
fn held(switch: &Switch) -> BTreeMap<(u16, u8), u64> {
    let mut all = BTreeMap::new();
    for lying in switch.core.store.sampled_frames().into_iter().filter(|lying| lying.at_input) {
        let head = &switch.core.store.arena.get(lying.slot).head;
        *all.entry((head.ingress.0, lying.at.queue.class())).or_default() += u64::from(head.size);
    }
    all
}

/// Settings of a switch whose ports may not send some classes.
#[derive(Clone, Debug)]
struct Settings {
    /// Stages: their kind, sizes of stage buffers and link buffers, order of lists, and `end_to_end`.
    stages: Option<(&'static str, [u64; 2], &'static str, bool)>,
    buffer: u64,
    /// Bits of the paused classes of each port.
    paused: [u8; PORTS as usize],
    /// Size of bounce queues in packets; without it, frames that do not fit are dropped.
    bounce_size: Option<u64>,
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let buffers = (select(&[1500, 2000, 3100, 6000]), select(&[1500, 2600, 4000]));
    let kind = select(&["mesh", "mesh", "mesh", "folded_clos"]);
    let stages = (kind, buffers, select(&["by_exit", "fifo"]), any::<bool>())
        .prop_map(|(kind, (stage, link), lists, end_to_end)| (kind, [stage, link], lists, end_to_end));
    let paused = uniform4(select(&[0, 0, 1, 2, 3, 8, 15]));
    let bounce_size = option::weighted(1.0 / 3.0, select(&[1, 2, 9]));
    (option::weighted(0.8, stages), select(&[1500, 1999, 4000]), paused, bounce_size)
        .prop_map(|(stages, buffer, paused, bounce_size)| Settings { stages, buffer, paused, bounce_size })
}

/// Returns frames and congestion messages, each with its arrival time.
fn any_arrivals() -> impl Strategy<Value = Vec<(u64, Pkt)>> {
    let size = select(&[64, 300, 999, 1000, 1001, 1500]);
    let body = (size, (0..PORTS, 0..u32::from(PORTS)), select(&[0, 0, 1, 3]), weighted(1.0 / 6.0));
    let rest = (any::<bool>(), weighted(1.0 / 3.0), select(&[0, 10, 20, 30, 40, 50, 60, 70, 200]));
    vec((body, rest), 0..=120).prop_map(|all| {
        let arrival = |(n, ((size, way, class, is_notice), (hash, is_bounced, at)))| {
            let mut pkt = if is_notice { notice(n, way) } else { frame(n, size, way, class) };
            pkt.head.hash = u32::from(hash) << 31;
            (pkt.head.src, pkt.head.bounces) = (HostId(u32::from(way.0)), u8::from(is_bounced));
            (at, pkt)
        };
        let mut all: Vec<(u64, Pkt)> = (0..).zip(all).map(arrival).collect();
        all.sort_by_key(|(at, _)| *at);
        all
    })
}

/// Bytes that stay at any time of a random run are still there at any later time.
/// When nothing moves any more, they are all bytes that are left.
#[test]
fn stuck_bytes_never_leave_and_are_all_that_remains() {
    let (mut early, mut much) = (0, 0);
    for_all(400, (any_settings(), any_arrivals()), |(settings, arrivals)| {
        let joined = settings.stages.map(|(kind, buffers, lists, copies)| stages(kind, buffers, lists, copies));
        let stuck = settings.paused.map(ClassSet);
        let overflow = match settings.bounce_size {
            Some(size) => bounces(size, "forward"),
            None => mech::overflow::TailDrop.into(),
        };
        let mut switch = paused_switch_with_overflow(overflow, joined, settings.buffer, stuck);
        let mut said: BTreeMap<(u16, u8), u64> = BTreeMap::new();
        run_watched(&mut switch, &arrivals, |switch| {
            let there = held(switch);
            let check = |said: &BTreeMap<(u16, u8), u64>| {
                said.iter().all(|(at, bytes)| there.get(at).copied().unwrap_or(0) >= *bytes)
            };
            assert!(check(&said), "reported as stuck: {said:?}; held now: {there:?}");
            let mut now = BTreeMap::new();
            for own in switch.core.stuck_bytes(&stuck) {
                *now.entry((own.ingress.0, own.class)).or_default() += own.bytes;
                assert!(stuck[usize::from(own.port.0)] != ClassSet::NONE, "it waits for a port that sends");
            }
            assert!(check(&now), "{now:?} is more than {there:?}");
            early += u32::from(!now.is_empty());
            now.into_iter().for_each(|(at, bytes)| {
                let most = said.entry(at).or_default();
                *most = bytes.max(*most);
            });
        });
        assert_eq!(said, held(&switch), "in the end");
        much += u32::from(!said.is_empty());
    });
    assert!(much > 200 && early > 5_000, "{much} runs, {early} looks");
}
