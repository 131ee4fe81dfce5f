use super::{faults, star, workload};
use crate::topology::tests::net;
use crate::traffic::*;

#[test]
fn the_bursts_of_pabo_are_five_generations_of_501_packets() {
    let net = net("chain_tree", &[("n", "3"), ("link.delay", "50ns")]);
    let given = [
        ("sources", "h0 h1 h2"),
        ("destination", "h3"),
        ("packets", "501"),
        ("interval", "10us"),
        ("pause", "200ms"),
        ("payload", "1500B"),
    ];
    let (traffic, _) = workload(&net, "bursts", &given).unwrap();
    let specs = traffic.raw_sources(4, 1);
    assert_eq!(specs.len(), 3);
    let spec = specs[2];
    assert_eq!((spec.src, spec.dst, spec.payload, spec.traffic), (HostId(2), HostId(3), 1500, 4));
    let generation = spec.interval * (spec.packets_per_burst - 1) + spec.pause;
    assert_eq!(spec.stop, Time::NEVER, "load goes on while flows that count are unfinished");
    assert_eq!(Dur::s(1).0.div_ceil(generation.0) * spec.packets_per_burst, 2505);
    assert_eq!(traffic.flows(4, &net, 1, Time::NEVER).count(), 0);
}

#[test]
fn a_constant_rate_counts_wire_bytes_unless_told_otherwise() {
    let net = star(4);
    let raw = |more: &[(&str, &str)]| {
        let given = [&[("source", "h0"), ("destination", "h1"), ("rate", "1Gbps")], more].concat();
        workload(&net, "constant", &given).unwrap().0.raw_sources(0, 1)
    };
    assert_eq!(raw(&[])[0].interval, Dur::ns(12_304));
    let payload = raw(&[("bytes", "payload"), ("start", "1ms"), ("stop", "2ms")])[0];
    assert_eq!((payload.interval, payload.packets_per_burst), (Dur::ns(11_680), 0));
    assert_eq!((payload.start, payload.stop), (Time(Dur::ms(1).0), Time(Dur::ms(2).0)));
    let late = raw(&[("jitter", "1us")])[0].start;
    assert!(late > Time::ZERO && late < Time(Dur::us(1).0), "{late}");
}

#[test]
fn several_flows_of_a_pair_have_the_rate_and_a_start_each() {
    let of = |more: &[(&str, &str)]| {
        let given = [&[("sources", "h0 h2"), ("destination", "h1"), ("rate", "1Gbps")], more].concat();
        workload(&star(4), "constant", &given).map(|found| found.0.raw_sources(0, 1)).map_err(super::format_faults)
    };
    let specs = of(&[("flows", "3"), ("jitter", "1us")]).unwrap();
    let sources: Vec<_> = specs.iter().map(|spec| spec.src.0).collect();
    assert_eq!(sources, [0, 0, 0, 2, 2, 2]);
    assert!(specs.iter().zip(0..).all(|(spec, index)| spec.index == index && spec.interval == Dur::ns(12_304)));
    let starts: std::collections::BTreeSet<_> = specs.iter().map(|spec| spec.start).collect();
    assert_eq!(starts.len(), 6, "each has a draw of its own");
    assert_eq!(of(&[]).unwrap().len(), 2);
    let found = of(&[("flows", "600000")]).unwrap_err();
    assert_eq!(found, ["flows: 600000 flows for each source, 1200000 in all; at most 1000000 flows in all"]);
}

#[test]
fn a_source_of_a_constant_rate_may_be_held_back_by_what_waits_and_bursts_are_not() {
    let of = |kind: &str, more: &[(&str, &str)]| {
        let given = [&[("source", "h0"), ("destination", "h1")], more].concat();
        workload(&star(4), kind, &given).unwrap().0
    };
    let constant = of("constant", &[("rate", "1Gbps"), ("backlog", "64KB")]);
    assert_eq!((constant.is_bounded(), constant.raw_sources(0, 1)[0].backlog), (true, Some(64_000)));
    let endless = of("constant", &[("rate", "1Gbps")]);
    assert_eq!((endless.is_bounded(), endless.raw_sources(0, 1)[0].backlog), (false, None));
    let bursts = of("bursts", &[("packets", "1"), ("pause", "1ms")]);
    assert_eq!((bursts.is_bounded(), bursts.raw_sources(0, 1)[0].backlog), (false, None));
}

#[test]
fn a_raw_source_of_exponential_gaps_keeps_its_rate_and_knows_its_place() {
    let given = [("sources", "h0 h2"), ("destination", "h1"), ("rate", "1Gbps"), ("gaps", "exponential")];
    let specs = workload(&star(4), "constant", &given).unwrap().0.raw_sources(0, 1);
    assert!(specs.iter().all(|spec| spec.exponential && spec.interval == Dur::ns(12_304)));
    assert_eq!((specs[0].index, specs[1].index), (0, 1));
    let even = workload(&star(4), "constant", &given[..3]).unwrap().0.raw_sources(0, 1);
    assert!(even.iter().all(|spec| !spec.exponential));
}

#[test]
fn what_raw_sources_cannot_be_is_said() {
    let net = star(4);
    let with = |given: &[(&str, &str)]| faults(&net, "constant", &[&[("rate", "1Gbps")], given].concat());
    let (h0, h1) = (("source", "h0"), ("destination", "h1"));
    assert_eq!(with(&[h1]), ["source: neither `source` nor `sources`; one of the two"]);
    assert_eq!(with(&[h0, h1, ("sources", "h2")]), ["sources: a value; no value if `source` is given"]);
    assert_eq!(with(&[("sources", ""), h1]), ["sources: an empty list; at least one host"]);
    assert_eq!(with(&[h0, ("destination", "h7")]), ["destination: `h7`; the name of a host, from `h0` to `h3`"]);
    assert_eq!(with(&[h0, ("destination", "h0")]), ["destination: `h0` sends to itself; a host other than the source"]);
    let three = [("sources", "h0 h1"), ("destinations", "h1 h2 h3")];
    assert_eq!(with(&three), ["destinations: 3 hosts; 2, as many hosts as in `sources`"]);
}
