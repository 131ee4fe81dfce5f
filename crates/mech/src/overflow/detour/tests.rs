//! Tests of DIBS detours: their ports, their packets, and their times.

use super::policy::probability;
use super::*;
use crate::buffer::BufferSlot;
use crate::routing::Ecmp;
use crate::testing::{
    DecisionInputs, SwitchState, buffer_of_packets, chi_square, parse_head, parse_host, switch_without_packets, values,
};
use crate::{PortId, QueueId};

const QUEUE: QueueId = QueueId::normal(0);
const POLICIES: [&str; 4] =
    ["policy=random", "policy=load_aware", "policy=flow_based", "policy=probabilistic lo=0 hi=0.5"];
const BUFFER_FULL: Fate = Fate::Drop(DropReason::BufferFull);
const NO_DETOUR: Fate = Fate::Drop(DropReason::NoDetour);

fn detour(given: &str) -> Detour {
    let values = values(&SPEC, given);
    detour_with_seed(&values, 5)
}
/// Creates `detour` for a switch with this flow-hash seed.
fn detour_with_seed(values: &Values, hash_seed: u64) -> Detour {
    let mut detour = Detour::new(values);
    detour.for_switch(&SwitchContext { host: &parse_host, ..SwitchContext::without_network(hash_seed, 8) });
    detour
}
/// Creates a switch with eight ports of two packets each, of which some are full and some lead to hosts.
fn switch_with_full_ports(full: &[u16], hosts: &[u16]) -> SwitchState {
    let mut state = switch_without_packets(8, buffer_of_packets(2));
    full.iter().for_each(|port| state.fill_up(2, parse_head(""), (PortId(*port), QUEUE)));
    state.switch_ports.retain(|port| !hosts.contains(port));
    state
}
/// Returns the fate of a packet whose output is port 0.
fn fate(detour: &mut Detour, (pkt, ingress): (&str, u16), state: &SwitchState, desk: &mut DecisionInputs) -> Fate {
    let at = ForwardingContext { view: state, ingress: PortId(ingress), output: PortId(0) };
    detour.admit(&parse_head(pkt), &at, &mut desk.env())
}
fn admit(state: &SwitchState, ingress: u16, desk: &mut DecisionInputs) -> Fate {
    fate(&mut detour(""), ("", ingress), state, desk)
}
fn port_of(fate: Fate) -> u16 {
    let Fate::Detour(PortId(port), QUEUE) = fate else { panic!("a port is free: {fate:?}") };
    port
}

#[test]
fn packet_that_fits_is_stored_without_draw_or_mark() {
    let mut desk = DecisionInputs::with_draws(&[]);
    let mut state = switch_with_full_ports(&[1, 2, 3, 4, 5, 6, 7], &[]);
    state.fill_up(1, parse_head(""), (PortId(0), QUEUE));
    for given in ["", "policy=load_aware", "policy=flow_based", "policy=flow_based flows=long flow_size=0B"] {
        assert_eq!(fate(&mut detour(given), ("", 1), &state, &mut desk), Fate::Enqueue(QUEUE), "{given}");
        assert!(!desk.acts.mark && desk.acts.list.is_empty());
    }
}

#[test]
fn detours_take_only_eligible_ports() {
    let some = |bits: u16| (0..8).filter(|port| bits >> port & 1 == 1).collect::<Vec<u16>>();
    let mut desk = DecisionInputs::with_seed(1);
    for full in 0u16..256 {
        for hosts in [0u16, 0b0101_0101, 0b1111_0000, 0b1010_1010, 0b1111_1110] {
            let state = switch_with_full_ports(&some(full | 1), &some(hosts));
            for (policy, back) in POLICIES.iter().flat_map(|policy| [(policy, true), (policy, false)]) {
                let mut detour = detour(&format!("{policy} ingress={back}"));
                for ingress in [0u16, 1, 2, 6] {
                    let closed = full | hosts | 1 | u16::from(!back) << ingress;
                    let told = format!("{policy}, ingress {back} {ingress}: {full:b} {hosts:b}");
                    match fate(&mut detour, (&format!("hash={full}"), ingress), &state, &mut desk) {
                        Fate::Detour(PortId(port), QUEUE) => assert_eq!(closed >> port & 1, 0, "{told}, {port}"),
                        fate => assert_eq!((fate, closed & 0xff), (NO_DETOUR, 0xff), "{told}"),
                    }
                }
            }
        }
    }
}

#[test]
fn choice_is_uniform_over_eligible_ports_and_the_ingress() {
    for given in ["", "policy=load_aware", "policy=probabilistic"] {
        let (mut desk, state, mut detour) =
            (DecisionInputs::with_seed(2), switch_with_full_ports(&[0, 3], &[6]), detour(given));
        let mut counts = [0u32; 8];
        for _ in 0..50_000 {
            counts[usize::from(port_of(fate(&mut detour, ("", 1), &state, &mut desk)))] += 1;
        }
        assert_eq!((counts[0], counts[3], counts[6]), (0, 0, 0), "{given}");
        // The 99.99 % point of χ² with 4 degrees of freedom is 23.5.
        assert!(chi_square(&[counts[1], counts[2], counts[4], counts[5], counts[7]]) < 23.5, "{given}: {counts:?}");
    }
}

#[test]
fn ingress_false_excludes_the_ingress_port() {
    let mut desk = DecisionInputs::with_draws(&[0.0, 0.0]);
    let only_back = switch_with_full_ports(&[0, 2, 3, 4, 5, 6, 7], &[]);
    assert_eq!(port_of(admit(&only_back, 1, &mut desk)), 1);
    for policy in POLICIES {
        let fate = fate(&mut detour(&format!("{policy} ingress=false")), ("", 1), &only_back, &mut desk);
        assert_eq!(fate, NO_DETOUR, "{policy}");
    }
    assert_eq!(port_of(fate(&mut detour("ingress=false"), ("", 2), &only_back, &mut desk)), 1, "another's");
}

#[test]
fn detoured_packet_is_marked_unless_mark_detoured_is_false() {
    for policy in POLICIES {
        let (mut desk, full) = (DecisionInputs::with_seed(3), switch_with_full_ports(&[0], &[]));
        port_of(fate(&mut detour(policy), ("", 1), &full, &mut desk));
        assert!(desk.acts.mark);
        desk.acts.clear();
        port_of(fate(&mut detour(&format!("{policy} mark_detoured=false")), ("ect", 1), &full, &mut desk));
        assert!(!desk.acts.mark);
    }
}

#[test]
fn packet_without_an_eligible_port_is_not_marked() {
    let mut desk = DecisionInputs::with_draws(&[]);
    for policy in POLICIES {
        let all = switch_with_full_ports(&[0, 1, 2, 3, 4, 5, 6, 7], &[]);
        assert_eq!(fate(&mut detour(policy), ("", 1), &all, &mut desk), NO_DETOUR);
        assert!(!desk.acts.mark);
    }
}

#[test]
fn packet_is_detoured_at_most_max_detours_times() {
    let (mut desk, full, free) =
        (DecisionInputs::with_seed(4), switch_with_full_ports(&[0], &[]), switch_with_full_ports(&[], &[]));
    for most in [1u16, 2, 254] {
        for policy in POLICIES {
            let mut detour = detour(&format!("{policy} max_detours={most}"));
            let mut at = |n: u16, state| fate(&mut detour, (&format!("detours={n}"), 1), state, &mut desk);
            port_of(at(most - 1, &full));
            assert_eq!(at(most, &full), Fate::Drop(DropReason::DetoursSpent), "{policy} {most}");
            assert_eq!(at(most, &free), Fate::Enqueue(QUEUE), "{policy} {most}");
        }
    }
    port_of(fate(&mut detour(""), ("detours=255", 1), &full, &mut desk));
}

#[test]
fn no_random_draw_for_a_packet_at_max_detours() {
    let mut half = switch_with_full_ports(&[], &[]);
    half.fill_up(1, parse_head(""), (PortId(0), QUEUE));
    let mut detour = detour("policy=probabilistic lo=0 hi=1 max_detours=3");
    assert_eq!(fate(&mut detour, ("detours=3", 1), &half, &mut DecisionInputs::with_draws(&[])), Fate::Enqueue(QUEUE));
}

#[test]
fn load_aware_takes_the_port_with_the_fewest_bytes() {
    let mut state = switch_without_packets(4, buffer_of_packets(4));
    state.fill_up(4, parse_head(""), (PortId(0), QUEUE));
    state.fill_up(1, parse_head("size=1500"), (PortId(1), QUEUE));
    state.fill_up(3, parse_head("size=64"), (PortId(2), QUEUE));
    state.fill_up(1, parse_head("size=200"), (PortId(3), QUEUE));
    let mut detour = detour("policy=load_aware");
    assert_eq!(port_of(fate(&mut detour, ("", 1), &state, &mut DecisionInputs::with_draws(&[0.9]))), 2);
    state.fill_up(1, parse_head("size=64"), (PortId(2), QUEUE));
    assert_eq!(
        port_of(fate(&mut detour, ("", 1), &state, &mut DecisionInputs::with_draws(&[0.9]))),
        3,
        "the least loaded is full"
    );
}

#[test]
fn load_counts_bytes_of_all_classes() {
    let mut state = switch_without_packets(3, buffer_of_packets(9));
    state.fill_up(9, parse_head(""), (PortId(0), QUEUE));
    state.fill_up(2, parse_head("size=500"), (PortId(1), QUEUE));
    state.fill_up(1, parse_head("size=1001"), (PortId(2), QueueId::normal(7)));
    let mut detour = detour("policy=load_aware");
    assert_eq!(port_of(fate(&mut detour, ("", 1), &state, &mut DecisionInputs::with_draws(&[0.9]))), 1);
}

#[test]
fn load_aware_draws_among_ports_of_equal_lowest_load() {
    let (mut desk, mut detour) = (DecisionInputs::with_seed(5), detour("policy=load_aware"));
    for load in 0..3u32.pow(5) {
        let of = |port: u16| load / 3u32.pow(u32::from(port)) % 3;
        let mut state = switch_without_packets(6, buffer_of_packets(2));
        state.fill_up(2, parse_head(""), (PortId(5), QUEUE));
        (0..5).for_each(|port| state.fill_up(of(port), parse_head(""), (PortId(port), QUEUE)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(5) };
        match (detour.admit(&parse_head(""), &at, &mut desk.env()), (0..5).map(of).min().unwrap()) {
            (Fate::Detour(PortId(port), QUEUE), least) => assert_eq!(of(port), least, "{load}"),
            (fate, least) => assert_eq!((fate, least), (NO_DETOUR, 2), "{load}"),
        }
    }
}

#[test]
fn flow_based_keeps_the_port_if_other_ports_are_full() {
    let (mut desk, mut detour) = (DecisionInputs::with_draws(&[]), detour("policy=flow_based"));
    for hash in 0..100u32 {
        let pkt = format!("hash={hash}");
        let mut at =
            |full: &[u16], hosts: &[u16]| fate(&mut detour, (&pkt, 2), &switch_with_full_ports(full, hosts), &mut desk);
        let first = port_of(at(&[0], &[]));
        for other in (1..8).filter(|port| *port != first) {
            assert_eq!(port_of(at(&[0, other], &[])), first, "a full port moves only the flows that took it");
        }
        // Eligible ports are tried in a circle: port 1 follows port 7.
        let mut full = vec![0];
        for n in 0..7 {
            let next = 1 + (first - 1 + n) % 7;
            assert_eq!(port_of(at(&full, &[])), next, "hash {hash}");
            full.push(next);
        }
        assert_eq!(at(&full, &[]), NO_DETOUR);
        assert!([2, 5, 6].contains(&port_of(at(&[0], &[1, 3, 4, 7]))), "ports toward hosts are not in the list");
    }
}

#[test]
fn flow_based_ports_are_independent_of_the_ecmp_choice() {
    let (mut desk, mut detour, state) =
        (DecisionInputs::with_draws(&[]), detour("policy=flow_based"), switch_with_full_ports(&[0], &[5, 6, 7]));
    let (ecmp, mut joint) = (Ecmp::new(5), [0u32; 16]);
    for hash in 0..40_000u32 {
        let port = port_of(fate(&mut detour, (&format!("hash={hash}"), 1), &state, &mut desk));
        joint[ecmp.hash_index(hash, 4) * 4 + usize::from(port - 1)] += 1;
    }
    // The 99.99 % point of χ² with 15 degrees of freedom is 44.3.
    assert!(chi_square(&joint) < 44.3, "{joint:?}");
}

#[test]
fn flow_based_port_depends_on_the_hash_seed_of_the_switch() {
    let of = |hash_seed| {
        let values = values(&SPEC, "policy=flow_based");
        let mut detour = detour_with_seed(&values, hash_seed);
        let ports = (0..64).map(|hash| (format!("hash={hash}"), 1));
        let full = switch_with_full_ports(&[0], &[]);
        ports
            .map(|(pkt, at)| port_of(fate(&mut detour, (&pkt, at), &full, &mut DecisionInputs::with_draws(&[]))))
            .collect::<Vec<_>>()
    };
    assert!(of(1) != of(2) && of(1) == of(1));
}

#[test]
fn only_packets_from_or_to_the_named_hosts_are_detoured() {
    let (mut desk, full) = (DecisionInputs::with_draws(&[]), switch_with_full_ports(&[0], &[]));
    let mut detour = detour("policy=flow_based flows=hosts hosts=h7,h3");
    for (src, dst) in [(3, 0), (0, 3), (7, 1), (3, 7)] {
        port_of(fate(&mut detour, (&format!("src={src} dst={dst}"), 1), &full, &mut desk));
    }
    assert_eq!(fate(&mut detour, ("src=4 dst=6", 1), &full, &mut desk), BUFFER_FULL, "others meet tail drop");
}

#[test]
fn a_flow_is_long_after_more_than_flow_size_bytes() {
    let (mut desk, full) = (DecisionInputs::with_draws(&[]), switch_with_full_ports(&[0], &[]));
    let fates = |flows: &str, desk: &mut DecisionInputs| {
        let mut detour = detour(&format!("policy=flow_based flows={flows} flow_size=3000B"));
        let mut at = |pkt: &str| fate(&mut detour, (pkt, 1), &full, desk);
        let own: Vec<bool> = (0..4).map(|_| at("hash=1 size=1500") != BUFFER_FULL).collect();
        assert_eq!(at("hash=2") != BUFFER_FULL, flows == "short", "another flow");
        own
    };
    // Totals after each packet: 1500, 3000, 4500, 6000 bytes.
    assert_eq!(fates("short", &mut desk), [true, true, false, false]);
    assert_eq!(fates("long", &mut desk), [false, false, true, true]);
}

#[test]
fn packets_that_fit_count_for_the_flow_size() {
    let (mut desk, full, free) =
        (DecisionInputs::with_draws(&[]), switch_with_full_ports(&[0], &[]), switch_with_full_ports(&[], &[]));
    let mut detour = detour("policy=flow_based flows=long flow_size=3000B");
    for _ in 0..2 {
        assert_eq!(fate(&mut detour, ("hash=1", 1), &free, &mut desk), Fate::Enqueue(QUEUE));
    }
    port_of(fate(&mut detour, ("hash=1", 1), &full, &mut desk));
}

#[test]
fn a_flow_that_replaces_a_table_entry_counts_from_zero() {
    let (mut desk, full) = (DecisionInputs::with_draws(&[]), switch_with_full_ports(&[0], &[]));
    let mut detour = detour("policy=flow_based flows=long flow_size=2000B flow_table=1");
    let mut long = |hash| fate(&mut detour, (&format!("hash={hash}"), 1), &full, &mut desk) != BUFFER_FULL;
    assert_eq!([long(1), long(1), long(2), long(1), long(1)], [false, true, false, false, true]);
}

#[test]
fn early_detour_probability_is_linear_and_falls_with_class() {
    let near = |p: f64, published: f64| assert!((p - published).abs() < 1e-12, "{p} is not {published}");
    // The probability rises from 0 to 1 between these utilisations: class 0 from 0.3 to 0.8; class 7 from 1 to 1;
    // class 3 from 0.3 + 0.7 x 3/7 = 0.6 to 0.8 + 0.2 x 3/7 = 0.8857….
    for (u, p) in [(0.0, 0.0), (0.3, 0.0), (0.4, 0.2), (0.55, 0.5), (0.7, 0.8), (0.8, 1.0), (0.99, 1.0)] {
        near(probability(u, 0, (0.3, 0.8)), p);
    }
    near(probability(0.6, 3, (0.3, 0.8)), 0.0);
    near(probability(0.6 + 1.0 / 7.0, 3, (0.3, 0.8)), 0.5);
    for u in (0..100).map(|i| f64::from(i) / 100.0) {
        let all: Vec<f64> = (0..8).map(|class| probability(u, class, (0.3, 0.8))).collect();
        assert!(all.windows(2).all(|two| two[0] >= two[1]), "{u}: {all:?}");
        assert_eq!(all[7], 0.0, "the highest class never leaves early");
        assert!((0..8).all(|class| probability(u, class, (1.0, 1.0)) == 0.0));
    }
    assert_eq!([0.49, 0.5, 0.51].map(|u| probability(u, 0, (0.5, 0.5))), [0.0, 1.0, 1.0], "a step");
}

#[test]
fn share_of_early_detours_matches_the_probability() {
    let mut desk = DecisionInputs::with_seed(6);
    // With lo = 0.2 and hi = 0.9, the probability rises between the utilisations 0.2 and 0.9 for class 0, and between
    // 0.4286 and 0.9286 for class 2.
    for (class, waiting, p) in
        [(0, 2, 0.0), (0, 3, 0.1 / 0.7), (0, 6, 0.4 / 0.7), (0, 9, 1.0), (2, 4, 0.0), (2, 6, 12.0 / 35.0)]
    {
        let (mut state, mut detour) =
            (switch_without_packets(3, buffer_of_packets(10)), detour("policy=probabilistic lo=0.2 hi=0.9"));
        state.fill_up(waiting, parse_head(""), (PortId(0), QUEUE));
        let pkt = format!("class={class}");
        let left = (0..20_000).filter(|_| matches!(fate(&mut detour, (&pkt, 1), &state, &mut desk), Fate::Detour(..)));
        let share = left.count() as f64 / 20_000.0;
        // Five standard deviations are at most 0.0177.
        assert!((share - p).abs() < 0.018, "class {class}, {waiting} of 10 packets queued: share {share}, not {p}");
        assert!((share == p) == (p == 0.0 || p == 1.0));
    }
}

#[test]
fn early_detour_without_a_port_is_stored_unmarked() {
    let mut half = switch_with_full_ports(&[1, 2, 3, 4, 5, 6, 7], &[]);
    half.fill_up(1, parse_head(""), (PortId(0), QUEUE));
    let (mut desk, mut detour) = (DecisionInputs::with_draws(&[0.1]), detour("policy=probabilistic lo=0 hi=1"));
    assert_eq!(fate(&mut detour, ("ect", 1), &half, &mut desk), Fate::Enqueue(QUEUE));
    assert!(!desk.acts.mark);
    assert_eq!(desk.rng.remaining_draws(), 0);
}

#[test]
fn draw_equal_to_the_probability_is_not_detoured() {
    let mut half = switch_with_full_ports(&[], &[]);
    half.fill_up(1, parse_head(""), (PortId(0), QUEUE));
    let mut detour = detour("policy=probabilistic lo=0 hi=1");
    assert_eq!(fate(&mut detour, ("", 1), &half, &mut DecisionInputs::with_draws(&[0.5])), Fate::Enqueue(QUEUE));
    port_of(fate(&mut detour, ("", 1), &half, &mut DecisionInputs::with_draws(&[0.5 - 1e-9, 0.1])));
}

#[test]
fn probabilistic_with_lo_and_hi_1_equals_random() {
    let (mut one, mut other) = (DecisionInputs::with_seed(7), DecisionInputs::with_seed(7));
    let (mut random, mut late) = (detour(""), detour("policy=probabilistic lo=1 hi=1"));
    for i in 0..4000u16 {
        let mut state = switch_with_full_ports(&[1 + i % 7, 1 + i / 7 % 7], &[]);
        state.fill_up(u32::from(i % 3), parse_head(""), (PortId(0), QUEUE));
        let pkt = format!("class={}", i % 8);
        let fates = [fate(&mut random, (&pkt, 1), &state, &mut one), fate(&mut late, (&pkt, 1), &state, &mut other)];
        assert_eq!(fates[0], fates[1]);
    }
    assert_eq!(one.rng.u64(), other.rng.u64());
}

#[test]
fn no_early_detour_with_unlimited_memory() {
    let mut state = switch_without_packets(3, BufferSlot::per_port(None));
    state.fill_up(10_000, parse_head(""), (PortId(0), QUEUE));
    let mut detour = detour("policy=probabilistic lo=0 hi=0");
    assert_eq!(fate(&mut detour, ("", 1), &state, &mut DecisionInputs::with_draws(&[])), Fate::Enqueue(QUEUE));
}

#[test]
fn admit_calls_are_always_for_early_detours_and_counted_flows() {
    for given in ["", "ingress=false max_detours=1", "policy=load_aware", "policy=flow_based flows=hosts hosts=h1"] {
        assert_eq!(detour(given).admit_calls(), AdmitCalls::WhenFull, "{given}");
    }
    for given in ["policy=probabilistic", "policy=flow_based flows=short", "policy=flow_based flows=long"] {
        assert_eq!(detour(given).admit_calls(), AdmitCalls::Always, "{given}");
    }
}
