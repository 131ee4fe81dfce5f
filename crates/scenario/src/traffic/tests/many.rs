//! Kinds of traffic between many hosts.

use super::{faults, flows, star, workload};
use crate::topology::tests::net;
use crate::traffic::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn in_a_shuffle_every_pair_of_hosts_sends_exactly_once() {
    let given = [("size", "10KB"), ("interval", "100ms"), ("repeat", "2")];
    let all = flows(&star(5), "all_to_all", &given);
    assert_eq!(all.len(), 2 * 20);
    for query in [0, 1] {
        let of: Vec<_> = all.iter().filter(|flow| flow.query == query).collect();
        let pairs: BTreeSet<_> = of.iter().map(|flow| (flow.src, flow.dst)).collect();
        assert_eq!((of.len(), pairs.len()), (20, 20));
        assert!(pairs.iter().all(|(src, dst)| src != dst));
        let start = Time(Dur::ms(100).0 * u64::from(query));
        assert!(of.iter().all(|flow| flow.start == start && flow.bytes == 10_000));
    }
    let to: Vec<_> = all.iter().take(4).map(|flow| flow.dst.0).collect();
    assert_eq!(to, [1, 2, 3, 4], "each host's by the order of the hosts");
}

#[test]
fn shifted_rounds_go_to_the_next_host_but_one_and_leave_nobody_with_two() {
    let given = [("size", "1KB"), ("order", "shifted"), ("gap", "2us"), ("hosts", "h4 1 h2 h0"), ("start", "1us")];
    let all = flows(&star(6), "all_to_all", &given);
    assert_eq!(all.len(), 12);
    let ring = [4, 1, 2, 0];
    for (round, flows) in all.chunks(4).enumerate() {
        assert!(flows.iter().all(|flow| flow.start == Time(Dur::us(1 + 2 * round as u64).0) && flow.query == 0));
        let expected: BTreeSet<_> = (0..4).map(|i| (ring[i], ring[(i + round + 1) % 4])).collect();
        assert_eq!(flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn a_load_of_shuffles_is_the_time_between_them() {
    // 4 hosts of 10 Gb/s at a half: 20 Gb/s. A shuffle is 12 flows of 100 KB, 9.6 Mb, every 480 us.
    let net = net("star", &[("n", "4"), ("link.rate", "10Gbps")]);
    let (traffic, _) = workload(&net, "all_to_all", &[("size", "100KB"), ("load.fraction", "0.5")]).unwrap();
    let all: Vec<_> = traffic.flows(0, &net, 1, Time(Dur::ms(10).0)).collect();
    assert_eq!(all[12].start, Time(Dur::us(480).0));
    let offered = traffic.offered_load().unwrap();
    assert!((offered.bps - 2e10).abs() < 1.0 && offered.fraction == 0.5, "{offered:?}");
    let given = [("size", "100KB"), ("interval", "480us")];
    let (same, _) = workload(&net, "all_to_all", &given).unwrap();
    assert!((same.offered_load().unwrap().fraction - 0.5).abs() < 1e-12);
    let (once, _) = workload(&net, "all_to_all", &given[..1]).unwrap();
    assert_eq!(once.offered_load(), None);
}

#[test]
fn what_a_shuffle_cannot_be_is_said() {
    let net = star(4);
    let with = |more: &[(&str, &str)]| faults(&net, "all_to_all", &[&[("size", "1KB")], more].concat());
    assert_eq!(with(&[("hosts", "h0 h9")]), ["hosts: `h9`; names of hosts, or numbers of hosts from 0 to 3"]);
    assert_eq!(with(&[("hosts", "h0 0")]), ["hosts: the host `h0` twice; each host once"]);
    assert_eq!(with(&[("hosts", "h0")]), ["hosts: one host; at least two hosts"]);
    assert_eq!(with(&[("gap", "1us")]), ["gap: 1us; no value unless `order` is `shifted`"]);
    let shifted = ("order", "shifted");
    assert_eq!(with(&[shifted]), ["gap: nothing; the time between rounds, which order = \"shifted\" needs"]);
    assert_eq!(
        with(&[shifted, ("gap", "1ms"), ("interval", "2ms")]),
        ["interval: shuffles 2ms apart; at least 3ms, the time of all rounds of a shuffle"]
    );
    let at_once = [("size", "1KB"), shifted, ("gap", "1ms"), ("interval", "3ms"), ("repeat", "2")];
    assert_eq!(flows(&net, "all_to_all", &at_once)[12].start, Time(Dur::ms(3).0));
    assert_eq!(with(&[("repeat", "2")]), ["repeat: 2; `repeat` above 1 only together with `interval` or `load`"]);
    assert_eq!(
        with(&[("load.fraction", "0.5"), ("interval", "2ms")]),
        ["interval: 2ms; no value if `load.fraction` is given"]
    );
    assert_eq!(with(&[("load.of", "bisection")]), ["load.of: `bisection`; no value if `load.fraction` is not given"]);
    assert_eq!(
        with(&[("load.fraction", "0.5"), ("load.of", "bisection"), ("hosts", "h0 h1")]),
        ["load.of: `bisection` for a shuffle of only some hosts; `host`, or a shuffle of all hosts (without the key \
          `hosts`)"]
    );
    let heavy = [("size", "pareto shape=1 scale=1KB"), ("load.fraction", "0.5")];
    assert_eq!(
        faults(&net, "all_to_all", &heavy),
        ["load.fraction: a distribution of sizes without a finite mean; a `shape` above 1, or a `max`"]
    );
    assert_eq!(
        faults(&net, "all_to_all", &[("size", "pareto shape=1 mean=1KB")]),
        ["size.shape: 1; a shape above 1, or the key `max`, because a mean is given"]
    );
    assert_eq!(faults(&net, "all_to_all", &[("size", "20")]), ["size: `20`, which has no unit; a size such as `20KB`"]);
    assert_eq!(faults(&net, "all_to_all", &[("size", "0B")]), ["size: 0B; a size from 1B to 1PB, or a distribution"]);
}

#[test]
fn sizes_of_any_kind_go_with_any_kind_of_traffic() {
    let net = star(40);
    let pareto = [("size", "pareto shape=3 mean=30KB")];
    for kind in ["permutation", "all_to_all"] {
        let all = flows(&net, kind, &pareto);
        let distinct: BTreeSet<_> = all.iter().map(|flow| flow.bytes).collect();
        assert!(distinct.len() > all.len() / 2 && distinct.first() >= Some(&20_000), "{kind}");
    }
    let shuffle = flows(&net, "all_to_all", &pareto);
    let mean = shuffle.iter().map(|flow| flow.bytes as f64).sum::<f64>() / shuffle.len() as f64;
    // The deviation of a Pareto with shape 3 is its mean over the root of 3; the bound is five of them for 1560 flows.
    assert!((mean / 30_000.0 - 1.0).abs() < 5.0 / 3f64.sqrt() / 1560f64.sqrt(), "{mean}");
    let given = [("sizes", "20KB"), ("load.fraction", "0.5")];
    let all = flows(&net, "poisson", &given);
    assert!(all.len() > 1000 && all.iter().all(|flow| flow.bytes == 20_000));
    let abq = [("sizes", "pareto shape=1.2 mean=50KB"), ("load.fraction", "0.5")];
    let offered = workload(&net, "poisson", &abq).unwrap().0.offered_load().unwrap();
    assert!(
        (offered.payload_bps / workload(&net, "poisson", &given).unwrap().0.offered_load().unwrap().bps - 1.0).abs()
            < 1e-9
    );
    let heavy = [("sizes", "pareto shape=1 scale=50KB"), ("interarrival", "1ms")];
    assert_eq!(workload(&net, "poisson", &heavy).unwrap().0.offered_load(), None, "no mean, no load");
}

#[test]
fn long_lived_flows_are_a_permutation_or_random_or_listed_and_staggered() {
    let net = star(9);
    let all = flows(&net, "long_lived", &[("pairs", "permutation"), ("flows", "2"), ("stagger", "1ms")]);
    assert_eq!(all.len(), 18);
    let of = |flows: &[FlowSpec]| flows.iter().map(|flow| (flow.src, flow.dst)).collect::<BTreeMap<_, _>>();
    let (once, again) = (of(&all[..9]), of(&all[9..]));
    assert_eq!((once.len(), once.values().collect::<BTreeSet<_>>().len()), (9, 9));
    assert_eq!(once, again);
    assert!(all.iter().all(|flow| flow.bytes == ENDLESS_BYTES && flow.src != flow.dst && flow.query == u32::MAX));
    let starts: Vec<_> = all.iter().map(|flow| flow.start.0).collect();
    assert_eq!(starts, (0..18).map(|i| Dur::ms(i).0).collect::<Vec<_>>());
    let random = flows(&net, "long_lived", &[("pairs", "random"), ("flows", "500")]);
    assert!(random.len() == 500 && random.iter().all(|flow| flow.src != flow.dst));
    assert_eq!(random.iter().map(|flow| (flow.src, flow.dst)).collect::<BTreeSet<_>>().len(), 72);
    let listed = flows(&net, "long_lived", &[("sources", "h1 h3"), ("destination", "h8"), ("jitter", "1us")]);
    assert_eq!(listed.iter().map(|flow| (flow.src.0, flow.dst.0)).collect::<BTreeSet<_>>(), [(1, 8), (3, 8)].into());
    assert!(listed.iter().all(|flow| flow.start < Time(Dur::us(1).0)));
    let (traffic, _) = workload(&net, "long_lived", &[("pairs", "random")]).unwrap();
    assert!(traffic.is_endless() && traffic.offered_load().is_none() && !traffic.is_closed_loop());
}

#[test]
fn what_long_lived_flows_cannot_be_is_said() {
    let with = |given: &[(&str, &str)]| faults(&star(4), "long_lived", given);
    assert_eq!(with(&[]), ["pairs: neither `pairs` nor `source` or `sources`; one of the two"]);
    let both = [("pairs", "random"), ("source", "h0")];
    assert_eq!(with(&both), ["source: a value; no value if `pairs` is given"]);
    assert_eq!(with(&[("source", "h0")]), ["destination: neither `destination` nor `destinations`; one of the two"]);
    let many = [("pairs", "permutation"), ("flows", "1000000")];
    assert_eq!(with(&many), ["flows: 1000000 flows for each of 4 pairs; at most 1000000 flows in all"]);
}

#[test]
fn what_an_all_reduce_cannot_be_is_said() {
    let with = |more: &[(&str, &str)]| faults(&star(8), "all_reduce", &[&[("size", "1KB")], more].concat());
    let chunks = "chunks: 4; no value if `algorithm` is `ring`, which has one chunk per rank";
    assert_eq!(with(&[("chunks", "4")]), [chunks]);
    assert_eq!(with(&[("jobs", "5")]), ["jobs: 5; at least two of 8 hosts for each job"]);
    let crowded = [("jobs", "3"), ("ranks", "3")];
    assert_eq!(with(&crowded), ["ranks: 3 in each of 3 jobs; at most one rank on each of 8 hosts"]);
    let tiny = |more: &[(&str, &str)]| faults(&star(8), "all_reduce", &[&[("size", "7B")], more].concat());
    assert_eq!(tiny(&[]), ["size: 7B; at least one byte for each of 8 ranks"]);
    let just = [("size", "8B"), ("jobs", "2"), ("ranks", "4")];
    assert!(workload(&star(8), "all_reduce", &just).is_ok() && workload(&star(8), "all_reduce", &just[..1]).is_ok());
    let tree = [("algorithm", "tree"), ("chunks", "9")];
    assert_eq!(tiny(&tree), ["size: 7B; at least one byte for each of 9 chunks"]);
    let endless = [("jobs", "4"), ("repeat", "1073741824")];
    assert_eq!(with(&[("hosts", "h1 h1")]), ["hosts: the host `h1` twice; each host once"]);
    assert_eq!(with(&endless), ["repeat: 1073741824 iterations of 4 jobs; less than 4294967295 iterations in all"]);
}

#[test]
fn the_ranks_of_jobs_are_packed_or_drawn_and_begin_at_the_start() {
    let net = star(9);
    let job = [("size", "8KB"), ("jobs", "2"), ("ranks", "4"), ("start", "3us")];
    let all = flows(&net, "all_reduce", &job);
    let plain: Vec<_> = all.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes, flow.query)).collect();
    let ring = |first: u32, job| (0..4).map(move |i| (first + i, first + (i + 1) % 4, 2000, job));
    assert_eq!(plain, ring(0, 0).chain(ring(4, 1)).collect::<Vec<_>>());
    assert!(all.iter().all(|flow| flow.start == Time(Dur::us(3).0)));
    let drawn = flows(&net, "all_reduce", &[&job[..], &[("placement", "random")]].concat());
    let hosts = |flows: &[FlowSpec]| flows.iter().map(|flow| flow.src).collect::<Vec<_>>();
    assert_ne!(hosts(&drawn), hosts(&all));
    assert_eq!(hosts(&drawn).into_iter().collect::<BTreeSet<_>>().len(), 8);
    let late = flows(&net, "all_reduce", &[&job[..], &[("jitter", "2us")]].concat());
    let (from, to) = (Time(Dur::us(3).0), Time(Dur::us(5).0));
    assert!(late.iter().all(|flow| flow.start >= from && flow.start < to) && late[0].start < late[7].start);
    assert!(late.is_sorted_by_key(|flow| flow.start), "not in the order of the ranks");
}

#[test]
fn a_constant_rate_may_be_a_fraction_of_each_sources_link() {
    let net = net("star", &[("n", "4"), ("link.rate", "10Gbps")]);
    let given = [("sources", "h0 h2"), ("destination", "h1"), ("load.fraction", "0.1")];
    let specs = workload(&net, "constant", &given).unwrap().0.raw_sources(0, 1);
    // 1538 B at 1 Gb/s.
    assert!(specs.iter().all(|spec| spec.interval == Dur::ns(12_304)), "{specs:?}");
    let both = [&given[..], &[("rate", "1Gbps")]].concat();
    assert_eq!(faults(&net, "constant", &both), ["rate: 1Gbps; no value if `load` is given"]);
    assert_eq!(faults(&net, "constant", &given[..2]), ["rate: neither `rate` nor `load.fraction`; one of the two"]);
}

#[test]
fn a_load_of_queries_is_their_number_a_second() {
    // 8 hosts of 10 Gb/s at a quarter: 20 Gb/s. A query is 5 flows of 25 KB, 1 Mb: 20,000 per second.
    let net = net("star", &[("n", "8"), ("link.rate", "10Gbps")]);
    let incast = [("receiver", "random"), ("senders", "5"), ("size", "25KB"), ("load.fraction", "0.25")];
    let (traffic, _) = workload(&net, "incast", &incast).unwrap();
    let queries = traffic.flows(0, &net, 1, Time(Dur::s(1).0)).last().unwrap().query;
    assert!(queries.abs_diff(20_000) < 707, "{queries}");
    let offered = traffic.offered_load().unwrap();
    assert!((offered.bps - 2e10).abs() < 1.0 && offered.fraction == 0.25, "{offered:?}");
    // Requests of 5 KB and responses of 20 KB on average make the same load.
    let query = [("target", "random"), ("degree", "5"), ("request", "5KB"), ("response", "exponential mean=20KB")];
    let (asked, _) = workload(&net, "query", &[&query[..], &incast[3..]].concat()).unwrap();
    let same = |kind| asked.flows(0, &net, 1, Time(Dur::s(1).0)).last().unwrap().query == kind;
    assert!(same(queries));
    // Five requests and answers of 25 KB together, every 500 us.
    let (paced, _) = workload(&net, "query", &[&query[..], &[("interval", "500us")]].concat()).unwrap();
    assert!((paced.offered_load().unwrap().bps - 2e9).abs() < 1.0, "{:?}", paced.offered_load());
    let with = |more: &[(&str, &str)]| faults(&net, "incast", &[&incast[..], more].concat());
    assert_eq!(with(&[("qps", "5")]), ["qps: a value; no value if `load.fraction` is given"]);
    let fixed = [("receiver", "h0"), ("senders", "5"), ("size", "25KB"), incast[3], ("load.of", "bisection")];
    let said =
        ["load.of: `bisection` for hosts that are not drawn at random; `host`, or `random` for the receiver and \
                 the other hosts"];
    assert_eq!(faults(&net, "incast", &fixed), said);
    let none = [&incast[..3], &[("load.bytes", "wire")]].concat();
    assert_eq!(faults(&net, "incast", &none), ["load.bytes: `wire`; no value if `load.fraction` is not given"]);
}
