//! Tests of PFC at the inputs of switches with combined input and output queueing, where it counts the memory of an
//! input.

use crate::common::watched::watch;
use crate::common::{column, drops, run, same_again, scenario};
use crate::headroom::{HIGH, worst};
use dataplane::Pkt;
use mech::ClassSet;
use sim::{EventLocation, Observer, Options, StopReason};
use units::Bytes;

/// Start of the measurement in the hotspot scenario, in ps; `TO` is its end.
const FROM: u64 = 5_000_000_000;
const TO: u64 = 25_000_000_000;

/// Record, during the measurement, of frames that reached hosts, by source and destination, and of pauses that the
/// switch's first port sent.
#[derive(Clone, Default)]
struct Hotspot {
    frames: Vec<(u32, u32)>,
    pauses: u64,
}

impl Observer for Hotspot {
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        if (FROM..TO).contains(&at.now.0) {
            self.frames.push((pkt.head.src.0, at.node));
        }
    }
    fn on_pause_sent(&mut self, at: EventLocation, xoff: ClassSet, again: ClassSet) {
        // Hosts have the first eight ports of the network.
        let counts = (FROM..TO).contains(&at.now.0) && at.port == 8;
        self.pauses += u64::from(counts && xoff != ClassSet::NONE && again == ClassSet::NONE);
    }
}

/// Returns the scenario of the input-generated hotspot of QCN-OS §II-B.
///
/// `h0` sends f1 to `h6` and f2 to `h7`. Other hosts, each behind an input of its own, also send to `h7`, so that `hot`
/// flows go there. Each flow offers 5 Gb/s.
fn hotspot(hot: u32) -> String {
    let flow = |n: u32, source: u32, destination: u32| {
        format!(
            "[[traffic]]\nname = \"f{n}\"\nkind = \"constant\"\nsource = \"h{source}\"\ndestination = \"h{destination}\"\n\
             payload = \"1460B\"\nrate = \"5Gbps\"\nbytes = \"wire\"\nstart = \"{}ns\"\n",
            n * 137
        )
    };
    let flows = (3..=hot + 1).map(|n| flow(n, n - 2, 7)).collect::<String>();
    format!(
        "name = \"hotspot\"\nduration = \"25ms\"\n[topology]\nkind = \"star\"\nn = 8\n\
         link = {{ rate = \"10Gbps\", delay = \"250ns\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
         [switch]\nmodel = \"cioq\"\ninput_buffer = \"150KB\"\nbuffer = {{ kind = \"per_port\", size = \"150KB\" }}\n\
         pause = {{ kind = \"pfc\", xoff = \"110KB\", xon = \"44KB\" }}\n\
         [measure]\nallow_unfinished = true\n{}{}{flows}",
        flow(1, 0, 6),
        flow(2, 0, 7)
    )
}

/// Test of the shares of flows behind a paused input, and of the cycle of pauses, against closed forms.
/// f2 arrives at 5 Gb/s while its source may send, and leaves at its share of 10 Gb/s throughout. So `h0` may send for
/// that share of 5 Gb/s of the time, and f1 gets no more than f2. Its input fills from XON to XOFF at the difference
/// and drains at the share; of 1538 B on the wire 1518 are stored. The bytes that arrive and leave while a pause takes
/// effect, 2 us at most each way, are 1.5% of that, and a frame is 2.3%.
#[test]
fn behind_a_paused_input_a_victim_gets_the_share_of_the_culprit_in_cycles_of_the_closed_form() {
    for (hot, share) in [(5, 2.0), (4, 2.5)] {
        let s = scenario(&hotspot(hot), "");
        let mut world = watch(&s, 1, Options::default(), Hotspot::default());
        world.run();
        assert!(world.conserves_packets() && world.progress().stop != Some(StopReason::LosslessViolation));
        let measured = (TO - FROM) as f64;
        let gbps = |from: u32, to: u32| {
            let frames = world.observer().frames.iter().filter(|ends| **ends == (from, to)).count();
            frames as f64 * 1538.0 * 8.0 / measured * 1000.0
        };
        let senders = (1..hot).map(|host| (host, 7));
        for (from, to) in [(0, 6), (0, 7)].into_iter().chain(senders) {
            assert!((gbps(from, to) / share - 1.0).abs() < 0.03, "{hot}: h{from} to h{to} {}", gbps(from, to));
        }
        // Picoseconds for 66 KB at this rate in Gb/s on the wire.
        let time = |gbps: f64| 66_000.0 * 8000.0 / (gbps * 1518.0 / 1538.0);
        let cycles = measured / (time(5.0 - share) + time(share));
        let found = world.observer().pauses as f64;
        assert!(found / cycles > 0.95 && found / cycles < 1.01, "{hot}: {found} cycles, not {cycles}");
    }
}

/// Test of the worst case of headroom at an input.
/// The worst case is that of an output-queued switch: all frames from `a` stay at its input, since the first takes
/// seconds to cross. A frame of `c` has begun to leave toward `a` 1 ns before XOFF is reached, 6072 ns after its
/// arrival.
#[test]
fn the_headroom_of_an_input_is_used_in_the_worst_case_and_a_byte_less_loses() {
    let worst = |size: u64| {
        let switch = format!("[switch]\nmodel = \"cioq\"\ninput_buffer = \"{size}B\"\n");
        worst(1_000_000).replace("[switch]\n", &switch).replace("18149ns", "12077ns")
    };
    let headroom = scenario(&worst(1_000_000), "").worst_case_link(3, 0).headroom_bytes();
    assert_eq!(run(&worst(HIGH + headroom), 1).lost, None);
    let lost = run(&worst(HIGH + headroom - 1), 1).lost.expect("one byte less is too little");
    let told = lost.describe(&scenario(&worst(1_000_000), ""));
    let lost = lost.lost;
    assert_eq!((lost.held, lost.xoff, lost.headroom, lost.at_input), (HIGH + headroom, HIGH, headroom, true));
    let (used, limit) = (HIGH + headroom - 1518, HIGH + headroom - 1);
    assert_eq!((lost.fill.used, lost.fill.limit), (used, Some(limit)));
    let (used, limit) = (Bytes(used), Bytes(limit));
    let full = format!("The memory of input 0 (from a) was full: {used} in use, with a limit of {limit}");
    assert!(told.contains(&full), "{told}");
}

/// Returns a ring of switches with `hosts` hosts each, which send two switches further clockwise in the class of their
/// switch.
///
/// Hosts of class 1 send from 5 ms on. Frames on the ring get no more of a link than each of the hosts there, and fill
/// its input.
pub(crate) fn ring(classes: &[u8], hosts: usize, buffer: &str) -> String {
    let n = classes.len();
    let all = |one: &dyn Fn(usize, usize) -> String| {
        (0..n).flat_map(|i| (0..hosts).map(move |h| (i, h))).map(|(i, h)| one(i, h)).collect::<String>()
    };
    let link = |a: String, b: usize| format!("{{ a = \"{a}\", b = \"s{b}\", rate = \"1Gbps\", delay = \"1us\" }}, ");
    let switches: String = (0..n).map(|i| format!("{{ name = \"s{i}\", kind = \"switch\" }}, ")).collect();
    let nodes = all(&|i, h| format!("{{ name = \"h{i}_{h}\", kind = \"host\" }}, ")) + &switches;
    let around: String = (0..n).map(|i| link(format!("s{i}"), (i + 1) % n)).collect();
    let links = all(&|i, h| link(format!("h{i}_{h}"), i)) + &around;
    let flows = all(&|i, h| {
        format!(
            "[[traffic]]\nname = \"t{i}_{h}\"\nkind = \"constant\"\nsource = \"h{i}_{h}\"\ndestination = \"h{}_{h}\"\n\
             payload = \"1460B\"\nrate = \"1Gbps\"\nbytes = \"wire\"\nstart = \"{}us\"\nclass = {}\n",
            (i + 2) % n,
            37 * i + 5 * h + 5000 * usize::from(classes[i]),
            classes[i]
        )
    });
    format!(
        "name = \"ring\"\nduration = \"20ms\"\n[topology]\nkind = \"custom\"\nnode = [{nodes}]\nlink = [{links}]\n\
         [switch]\nmodel = \"cioq\"\nbuffer = {{ {buffer} }}\n\
         pause = {{ kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }}\n\
         [measure]\npackets = true\nallow_unfinished = true\ndrain = \"1ms\"\n{flows}"
    )
}

pub(crate) const SMALL: &str = "kind = \"per_port\", size = \"1pkt\"";

/// Test of deadlocks in a ring of switches with input memory.
/// No class is paused around the whole ring if the hosts of one switch send in another class. Yet their frames wait
/// forever behind the buffer that the other class had filled before. If two switches differ, there is no deadlock.
#[test]
fn inputs_that_wait_for_each_other_are_a_deadlock_also_where_a_class_is_behind_another() {
    let ran = |classes: &[u8], buffer: &str| {
        let results = run(&ring(classes, 2, buffer), 1);
        let last = column(&results, "packets", "end_ps").into_iter().max().unwrap();
        assert_eq!(drops(&results), 0, "{classes:?}");
        (results.deadlock, last)
    };
    for classes in [[0; 5], [1, 0, 0, 0, 0]] {
        let (found, last) = ran(&classes, SMALL);
        let found = found.unwrap_or_else(|| panic!("{classes:?}: every link waits for the next"));
        assert_eq!((found.cycle.len(), found.class), (5, classes[0]), "{classes:?}");
        // The deadlock is real: afterwards only frames in flight reach a host.
        assert!(last < found.at.0 + 50_000_000, "{classes:?}: {last} after {}", found.at.0);
    }
    for (classes, buffer) in [([1, 0, 1, 0, 0], SMALL), ([0; 5], "kind = \"unlimited\"")] {
        let (found, last) = ran(&classes, buffer);
        assert_eq!(found, None, "{classes:?}");
        assert!(last > 19_900_000_000, "{classes:?}: {last}");
    }
    same_again(&ring(&[1, 0, 0, 0, 0], 2, SMALL), 3);
}
