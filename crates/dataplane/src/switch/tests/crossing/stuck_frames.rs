//! Tests of frames that never leave the memory of inputs while outputs may not send.
//! They go frame by frame in a `fabric` switch, and check a law over random runs. Ports 0 and 1 are at the first stage,
//! 2 and 3 at the second.

use super::overflow_mechanisms::bounces;
use super::*;
use mech::fabric::FabricSlot;
use mech::{ClassSet, Registry, Stream, StreamPurpose};
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

/// Bytes that stay at any time of a random run are still there at any later time.
/// When nothing moves any more, they are all bytes that are left.
#[test]
fn stuck_bytes_never_leave_and_are_all_that_remains() {
    let (mut early, mut much) = (0, 0);
    for n in 0..400 {
        let mut draws = Stream::new(7, n, StreamPurpose::Custom(0));
        let mut of = |choices: &[u64]| choices[draws.uniform_below(choices.len() as u64) as usize];
        let room = [of(&[1500, 2000, 3100, 6000]), of(&[1500, 2600, 4000])];
        let lists = ["by_exit", "fifo"][of(&[0, 1]) as usize];
        let joined = match of(&[0, 1, 1, 1, 2]) {
            0 => None,
            1 => Some(stages("mesh", room, lists, of(&[0, 1]) == 1)),
            _ => Some(stages("folded_clos", room, lists, of(&[0, 1]) == 1)),
        };
        let stuck = std::array::from_fn(|_| ClassSet(of(&[0, 0, 1, 2, 3, 8, 15]) as u8));
        let overflow = match of(&[0, 1, 2]) {
            0 => bounces(of(&[1, 2, 9]), "forward"),
            _ => mech::overflow::TailDrop.into(),
        };
        let mut switch = paused_switch_with_overflow(overflow, joined, of(&[1500, 1999, 4000]), stuck);
        let arrival = |n| {
            let size = of(&[64, 300, 999, 1000, 1001, 1500]) as u16;
            let (way, class) = ((of(&[0, 1, 2, 3]) as u16, of(&[0, 1, 2, 3]) as u32), of(&[0, 0, 1, 3]) as u8);
            let mut pkt = if of(&[0, 0, 0, 0, 0, 1]) == 1 { notice(n, way) } else { frame(n, size, way, class) };
            pkt.head.hash = of(&[0, 1 << 31]) as u32;
            (pkt.head.src, pkt.head.bounces) = (HostId(u32::from(way.0)), of(&[0, 0, 1]) as u8);
            (of(&[0, 10, 20, 30, 40, 50, 60, 70, 200]), pkt)
        };
        let mut arrivals: Vec<(u64, Pkt)> = (0..60).map(arrival).collect();
        arrivals.sort_by_key(|(at, _)| *at);
        let mut said: BTreeMap<(u16, u8), u64> = BTreeMap::new();
        run_watched(&mut switch, &arrivals, |switch| {
            let there = held(switch);
            let check = |said: &BTreeMap<(u16, u8), u64>| {
                said.iter().all(|(at, bytes)| there.get(at).copied().unwrap_or(0) >= *bytes)
            };
            assert!(check(&said), "run {n}: {said:?} was to stay, {there:?} is there");
            let mut now = BTreeMap::new();
            for own in switch.core.stuck_bytes(&stuck) {
                *now.entry((own.ingress.0, own.class)).or_default() += own.bytes;
                assert!(stuck[usize::from(own.port.0)] != ClassSet::NONE, "run {n}: it waits for a port that sends");
            }
            assert!(check(&now), "run {n}: {now:?} is more than {there:?}");
            early += u64::from(!now.is_empty());
            now.into_iter().for_each(|(at, bytes)| {
                let most = said.entry(at).or_default();
                *most = bytes.max(*most);
            });
        });
        assert_eq!(said, held(&switch), "run {n}: in the end");
        much += u64::from(!said.is_empty());
    }
    assert!(much > 200 && early > 5_000, "{much} runs, {early} looks");
}
