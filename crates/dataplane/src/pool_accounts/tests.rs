//! Tests of the accounts of groups and queues: worked numbers, and properties under random arrivals and departures.

use super::{CountedFrame, PoolAccounts};
use mech::buffer::{BufferPort, BufferSlot};
use mech::pause::PausedLink;
use mech::testing::toml_values;
use mech::{MemorySide, PortId, Registry};
use property::for_all;
use proptest::collection::vec;
use units::{Dur, Rate};

const PORTS: u16 = 4;

/// Tables of a small memory: a pool of 100 cells of 100 B at each side, reserves of two cells, groups 0 to 3 lossy and
/// the others lossless with four cells of headroom.
const SMALL: &str = r#"
cell = "100B"
[pools.in]
side = "ingress"
size = "10000B"
[pools.out]
side = "egress"
size = "10000B"
[profiles.lossy]
pool = "in"
reserve = "200B"
threshold = { kind = "dynamic", alpha = 1 }
[profiles.lossless]
pool = "in"
reserve = "200B"
lossless = true
xoff = "400B"
xon_offset = "300B"
threshold = { kind = "dynamic", alpha = 0.5 }
[profiles.queue]
pool = "out"
reserve = "200B"
threshold = { kind = "dynamic", alpha = 2 }
[[groups]]
group = [0, 1, 2, 3]
profile = "lossy"
[[groups]]
group = [4, 5, 6, 7]
profile = "lossless"
[[queues]]
queue = [0, 1, 2, 3, 4, 5, 6, 7]
profile = "queue"
"#;

/// Returns the buffer that these tables of `pools` describe.
pub(crate) fn buffer_with_pools(tables: &str) -> BufferSlot {
    let registry = Registry::catalogue();
    let spec = registry.switch_specs("buffer").into_iter().find(|spec| spec.kind == "pools").expect("pools");
    registry.make("pools", &toml_values(spec, tables)).expect("pools")
}

/// Returns a port of this rate with a link of 1 us in both directions.
pub(crate) fn buffer_port(rate: Rate) -> BufferPort {
    let clock = rate.clock();
    let link = PausedLink {
        rate_to_device: clock,
        rate_from_device: clock,
        delay_to_device: Dur::us(1),
        delay_from_device: Dur::us(1),
        response: Dur::ZERO,
        frame: 1518,
        gap: 20,
    };
    BufferPort { rate, link }
}

fn accounts(change: (&str, &str)) -> PoolAccounts {
    let slot = buffer_with_pools(&SMALL.replace(change.0, change.1));
    let slot = slot.for_links(&[buffer_port(Rate::gbps(10)); PORTS as usize]);
    PoolAccounts::new(slot.peek().layout().expect("a layout"), true)
}

fn frame(ingress: u16, class: u8, egress: u16, size: u16) -> CountedFrame {
    CountedFrame { ingress: Some(PortId(ingress)), class, egress: PortId(egress), queue: class, size }
}

/// Stores equal frames until one is refused, and returns their number and the side that refused.
fn fill(accounts: &mut PoolAccounts, frame: &CountedFrame) -> (u32, MemorySide) {
    let mut stored = 0;
    loop {
        match accounts.refusal(frame, 0) {
            Some(side) => return (stored, side),
            None => accounts.store(frame),
        }
        stored += 1;
    }
}

#[test]
fn one_account_uses_its_reserve_and_its_share_of_the_pool() {
    // Choudhury and Hahne: α B / (1 + α) of 100 cells, and two cells of reserve. The frame that finds the use below the
    // limit is stored. At ingress α is 1: 50 cells. The queue with α = 2 would hold 67.
    let mut own = accounts(("", ""));
    assert_eq!(fill(&mut own, &frame(0, 0, 1, 64)), (2 + 50, MemorySide::Input));
    // Two queues at their limits hold 2 B / (1 + 2·2) each: 40 cells, filled by groups of several ports.
    let mut own = accounts(("alpha = 1 }", "alpha = 1000 }"));
    let (first, second) = (frame(0, 0, 1, 64), frame(0, 0, 2, 64));
    let mut sent = [0, 0];
    loop {
        let fits = [first, second].map(|frame| own.refusal(&frame, 0).is_none());
        for (i, frame) in [first, second].iter().enumerate() {
            if own.refusal(frame, 0).is_none() {
                own.store(frame);
                sent[i] += 1;
            }
        }
        if fits == [false, false] {
            break;
        }
    }
    assert_eq!(sent, [2 + 40, 2 + 40]);
}

#[test]
fn lossless_group_is_stopped_at_its_limit_and_uses_headroom_after_it() {
    let mut own = accounts(("", ""));
    let frame = frame(0, 4, 1, 100);
    let mut stopped_at = None;
    for i in 1..=100 {
        if own.refusal(&frame, 0).is_some() {
            // α = 1/2: the use s reaches 0.5 (100 - s) at 34 cells; with two of reserve, the 36th frame finds 33.
            assert_eq!((stopped_at, i), (Some(36), 36 + 4 + 1), "four cells of headroom");
            break;
        }
        own.store(&frame);
        if own.is_stopped(PortId(0), 4) && stopped_at.is_none() {
            stopped_at = Some(i);
        }
    }
    assert_eq!(own.take_signal(), Some((PortId(0), 4)));
    assert_eq!((own.headroom_fill(PortId(0), 4).used, own.group_bytes(PortId(0), 4)), (400, 4000));
    // Departures free headroom first. Then use s of shared memory resumes at 0.5 (100 - s) - 3, where the departing
    // frame still counts in the pool: 0.5 (100 - 31) - 3 = 31.5.
    for left in 1..=7 {
        assert!(own.is_stopped(PortId(0), 4), "{left} frames have left");
        own.free(&frame);
    }
    assert!(!own.is_stopped(PortId(0), 4));
    assert_eq!((own.headroom_fill(PortId(0), 4).used, own.group_bytes(PortId(0), 4)), (0, 3300));
    assert_eq!((own.take_signal(), own.take_signal()), (Some((PortId(0), 4)), None));
}

#[test]
fn shared_headroom_limits_all_groups_together() {
    let pool = ("[pools.in]", "[pools.in]\nheadroom = \"600B\"");
    let mut own = accounts(pool);
    for ingress in [0, 1] {
        fill(&mut own, &frame(ingress, 4, 3, 100));
    }
    let used = [0, 1].map(|port| own.headroom_fill(PortId(port), 4).used);
    assert_eq!(used, [400, 200], "600 B for all, of which the first took 400");
}

#[test]
fn group_that_refuses_a_frame_is_stopped_although_its_use_did_not_grow() {
    let mut own = accounts(("xoff = \"400B\"", "xoff = \"0B\""));
    let quiet = frame(0, 4, 1, 100);
    (0..2 + 20).for_each(|_| own.store(&quiet));
    // Others leave 38 cells free, and the limit falls to 19 cells.
    let other = frame(2, 0, 3, 100);
    (0..2 + 42).for_each(|_| own.store(&other));
    assert_eq!((own.refusal(&quiet, 0), own.is_stopped(PortId(0), 4)), (Some(MemorySide::Input), false));
    own.stop_refused(&quiet);
    assert_eq!((own.is_stopped(PortId(0), 4), own.take_signal()), (true, Some((PortId(0), 4))));
    own.stop_refused(&other);
    assert!(!own.has_signals(), "a lossy group is never stopped");
}

#[test]
fn group_is_stopped_while_any_slice_stops_it() {
    let slices = ("cell", "slices = 2\npipes = [0, 1, 0, 1]\nslice_of = [0, 1, 0, 1]\ncell");
    let mut own = accounts(slices);
    let (even, odd) = (frame(0, 4, 2, 100), frame(0, 4, 1, 100));
    fill(&mut own, &even);
    assert_eq!((own.take_signal(), own.take_signal()), (Some((PortId(0), 4)), None));
    let stored = fill(&mut own, &odd).0;
    (0..stored).for_each(|_| own.free(&odd));
    assert!(own.is_stopped(PortId(0), 4) && !own.has_signals(), "the other slice is still full");
    (0..stored).for_each(|_| own.free(&even));
    assert!(!own.is_stopped(PortId(0), 4));
    assert_eq!((own.take_signal(), own.take_signal()), (Some((PortId(0), 4)), None));
}

#[test]
fn limit_moved_by_others_stops_a_group_only_if_it_reacts_to_the_pool() {
    for (react, expected) in [("own", false), ("pool", true)] {
        let change = format!("react = \"{react}\"\ncell");
        let mut own = accounts(("cell", &change));
        let quiet = frame(0, 4, 1, 100);
        (0..2 + 20).for_each(|_| own.store(&quiet));
        assert!(!own.is_stopped(PortId(0), 4));
        // Others fill the pool to 62 cells: 0.5 (100 - 62) = 19, below the 20 cells in use.
        let other = frame(2, 0, 3, 100);
        (0..2 + 42).for_each(|_| own.store(&other));
        assert_eq!(own.is_stopped(PortId(0), 4), expected, "{react}");
        // When they leave, the limit is 40 again, and the level of XON 37.
        (0..2 + 42).for_each(|_| own.free(&other));
        assert!(!own.is_stopped(PortId(0), 4), "{react}");
    }
}

#[test]
fn frame_that_becomes_shorter_frees_its_cells() {
    let mut own = accounts(("", ""));
    let (whole, cut) = (frame(0, 0, 1, 1500), frame(0, 0, 1, 64));
    own.store(&whole);
    own.shorten(&whole, &cut);
    assert_eq!(own.group_bytes(PortId(0), 0), 100);
    assert!(own.equal([cut].into_iter()) && !own.equal([whole].into_iter()));
}

#[test]
fn accounts_stay_consistent_and_keep_their_promises() {
    // Arrivals by (input, class, output, size); in two of five cases a stored frame leaves instead.
    let events = vec((0..PORTS, 0..8_u8, 0..PORTS, 64..=1518_u16, 0..5_u8), 0..=600);
    let tables = [
        ("", ""),
        ("cell", "react = \"pool\"\ncell"),
        ("[pools.in]", "[pools.in]\nheadroom = \"1000B\""),
        ("cell", "slices = 2\npipes = [0, 0, 1, 1]\nslice_of = [0, 1, 1, 0]\ncell"),
        ("alpha = 2", "alpha = 100"),
    ];
    for change in tables {
        for_all(24, &events, |events| {
            let mut own = accounts(change);
            let mut stored: Vec<CountedFrame> = Vec::new();
            for (ingress, class, egress, size, kind) in events {
                if kind >= 3 && !stored.is_empty() {
                    let leaves = stored.swap_remove(usize::from(size) % stored.len());
                    own.free(&leaves);
                } else {
                    let arrives = frame(ingress, class, egress, size);
                    let cells = u64::from(size).div_ceil(100) * 100;
                    let held = |same: &dyn Fn(&&CountedFrame) -> bool| {
                        let all = stored.iter().filter(same);
                        all.map(|one| u64::from(one.size).div_ceil(100) * 100).sum::<u64>()
                    };
                    let of_group = held(&|one| one.ingress == arrives.ingress && one.class == class);
                    let of_queue = held(&|one| one.egress == arrives.egress && one.queue == arrives.queue);
                    match own.refusal(&arrives, 0) {
                        None => {
                            own.store(&arrives);
                            stored.push(arrives);
                        }
                        Some(MemorySide::Input) => {
                            assert!(of_group + cells > 200, "the reserve of a group was refused")
                        }
                        Some(MemorySide::Output) => {
                            assert!(of_queue + cells > 200, "the reserve of a queue was refused")
                        }
                    }
                }
                assert!(own.equal(stored.iter().copied()), "{change:?}");
            }
            // The order of departures is irrelevant: an empty memory is as new.
            stored.drain(..).rev().for_each(|frame| own.free(&frame));
            assert!(own.equal(std::iter::empty()));
            assert!((0..PORTS).all(|port| (0..8).all(|group| !own.is_stopped(PortId(port), group))));
        });
    }
}

#[test]
fn order_of_arrivals_does_not_change_the_sums() {
    let frames = vec((0..PORTS, 0..8_u8, 0..PORTS, 64..=300_u16), 0..=25);
    for_all(64, &frames, |frames| {
        // So few frames all fit.
        let all: Vec<CountedFrame> = frames.into_iter().map(|(i, class, e, size)| frame(i, class, e, size)).collect();
        let total = |order: &mut dyn Iterator<Item = &CountedFrame>| {
            let mut own = accounts(("", ""));
            order.for_each(|frame| own.store(frame));
            let bytes: Vec<u64> = (0..PORTS)
                .flat_map(|port| (0..8).map(move |class| (PortId(port), class)))
                .map(|(port, class)| own.group_bytes(port, class))
                .collect();
            (bytes, own.equal(all.iter().copied()))
        };
        let (there, back) = (total(&mut all.iter()), total(&mut all.iter().rev()));
        assert_eq!(there, back);
        assert!(there.1);
    });
}
