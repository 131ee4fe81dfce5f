use super::*;
use crate::topology::tests::{net, values};
use std::collections::BTreeSet;
use std::io::Cursor;

mod closed;
mod files;
mod many;
mod raw;

fn no_files(_: &str) -> Result<String, String> {
    Err("no such file".into())
}

/// Builds a workload for a run of one second on a network, and returns it with the notes for the user.
fn workload(net: &Topology, kind: &str, given: &[(&str, &str)]) -> Result<(Traffic, Vec<String>), Vec<Fault>> {
    with_files(net, kind, given, &no_files)
}

fn with_files(
    net: &Topology,
    kind: &str,
    given: &[(&str, &str)],
    files: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(Traffic, Vec<String>), Vec<Fault>> {
    let notes = RefCell::new(Vec::new());
    let (framing, capacities) = (Framing::ETHERNET, &Capacities::default());
    let open = |name: &str| files(name).map(|text| Box::new(Cursor::new(text)) as Box<dyn BufRead>);
    let segments = None;
    let ctx = Context {
        topology: net,
        duration: Dur::s(1),
        framing,
        segments,
        files,
        open: &open,
        notes: &notes,
        capacities,
    };
    let spec = SPECS.iter().find(|spec| spec.kind == kind).unwrap();
    let traffic = Traffic::build("t", kind, &values(spec, given), &ctx)?;
    Ok((traffic, notes.into_inner()))
}

fn flows(net: &Topology, kind: &str, given: &[(&str, &str)]) -> Vec<FlowSpec> {
    workload(net, kind, given).unwrap().0.flows(0, net, 1, Time(Dur::s(1).0)).collect()
}

fn faults(net: &Topology, kind: &str, given: &[(&str, &str)]) -> Vec<String> {
    format_faults(workload(net, kind, given).unwrap_err())
}

fn format_faults(faults: Vec<Fault>) -> Vec<String> {
    faults.into_iter().map(|f| format!("{}: {}; {}", f.field, f.found, f.rule)).collect()
}

fn star(n: u32) -> Topology {
    net("star", &[("n", &n.to_string())])
}

fn sources(flows: &[FlowSpec]) -> Vec<u32> {
    flows.iter().map(|flow| flow.src.0).collect()
}

const INCAST: [(&str, &str); 2] = [("receiver", "h2"), ("size", "20KB")];

#[test]
fn incast_is_one_query_of_simultaneous_flows() {
    let net = star(9);
    let all = flows(&net, "incast", &[&INCAST[..], &[("senders", "4"), ("pick", "first"), ("start", "1ms")]].concat());
    assert_eq!(sources(&all), [0, 1, 3, 4]);
    let first = FlowSpec {
        start: Time(Dur::ms(1).0),
        src: HostId(0),
        dst: HostId(2),
        bytes: 20_000,
        traffic: 0,
        query: 0,
        class: 0,
        role: FlowRole::Data,
        tag: 0,
        connection: OWN_CONNECTION,
    };
    assert_eq!(all[0], first);
    let spread = flows(&net, "incast", &[&INCAST[..], &[("senders", "4"), ("pick", "spread")]].concat());
    assert_eq!(sources(&spread), [0, 3, 5, 7]);
}

#[test]
fn more_senders_than_hosts_wrap_round() {
    for pick in ["first", "spread", "random"] {
        let all = flows(&star(4), "incast", &[&INCAST[..], &[("senders", "7"), ("pick", pick)]].concat());
        let count = |host| all.iter().filter(|flow| flow.src == HostId(host)).count();
        assert_eq!(count(2), 0);
        let mut counts = [count(0), count(1), count(3)];
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 3]);
    }
}

#[test]
fn random_senders_are_distinct_uniform_and_never_the_target() {
    let net = star(8);
    let given = [("receiver", "random"), ("size", "1KB"), ("senders", "3"), ("qps", "20000")];
    let all = flows(&net, "incast", &given);
    let queries = all.last().unwrap().query + 1;
    // The number of queries is Poisson with mean 20,000: 5 standard deviations are 707.
    assert!(queries.abs_diff(20_000) < 707, "{queries}");
    let (mut sent, mut got) = ([0u32; 8], [0u32; 8]);
    for query in all.chunk_by(|a, b| a.query == b.query) {
        let hosts: BTreeSet<_> = query.iter().map(|flow| flow.src).collect();
        assert_eq!((hosts.len(), query.len()), (3, 3));
        assert!(query.iter().all(|flow| flow.dst == query[0].dst && !hosts.contains(&flow.dst)));
        assert!(query.iter().all(|flow| flow.start == query[0].start));
        query.iter().for_each(|flow| sent[flow.src.0 as usize] += 1);
        got[query[0].dst.0 as usize] += 1;
    }
    assert!(got.iter().all(|n| n.abs_diff(queries / 8) < 240), "{got:?}");
    assert!(sent.iter().all(|n| n.abs_diff(queries * 3 / 8) < 400), "{sent:?}");
}

#[test]
fn queries_repeat_at_fixed_intervals() {
    let net = star(9);
    let given =
        |more: &[(&'static str, &'static str)]| [&INCAST[..], &[("senders", "1"), ("pick", "first")], more].concat();
    let starts = |more: &[(&'static str, &'static str)]| {
        flows(&net, "incast", &given(more)).iter().map(|flow| (flow.query, flow.start.to_string())).collect::<Vec<_>>()
    };
    let thrice = [(0, "0ps".into()), (1, "10ms".into()), (2, "20ms".into())];
    assert_eq!(starts(&[("interval", "10ms"), ("repeat", "3")]), thrice);
    assert_eq!(starts(&[("interval", "10ms"), ("stop", "21ms")]), thrice);
    assert_eq!(starts(&[("interval", "10ms")]).len(), 100);
    let (_, notes) = workload(&net, "incast", &given(&[("interval", "10ms"), ("repeat", "101")])).unwrap();
    assert_eq!(
        notes,
        ["traffic `t`: only 100 of 101 queries start before the end at 1s. Increase `duration` or `stop`, or \
             reduce `interval`"]
    );
}

#[test]
fn impossible_incasts_are_reported() {
    let with = |more: &[(&str, &str)]| faults(&star(4), "incast", &[&INCAST[1..], &[("senders", "2")], more].concat());
    let h2 = ("receiver", "h2");
    assert_eq!(with(&[("receiver", "h9")]), ["receiver: `h9`; the name of a host, from `h0` to `h3`"]);
    assert_eq!(with(&[("receiver", "s0")]), ["receiver: `s0`; the name of a host, from `h0` to `h3`"]);
    assert_eq!(with(&[h2, ("start", "1s")]), ["start: 1s; before the duration, 1s"]);
    assert_eq!(with(&[h2, ("start", "1ms"), ("stop", "1ms")]), ["stop: 1ms; after `start`, 1ms"]);
    assert_eq!(with(&[h2, ("repeat", "5")]), ["repeat: 5; `repeat` above 1 only together with `interval`"]);
    assert_eq!(with(&[h2, ("qps", "5"), ("interval", "1ms")]), ["qps: 5; no value if `interval` is given"]);
    let alone = net("leaf_spine", &[("leaves", "1"), ("spines", "1"), ("hosts_per_leaf", "1")]);
    assert_eq!(faults(&alone, "permutation", &[("size", "1KB")]), ["kind: a network of 1 hosts; at least two hosts"]);
}

#[test]
fn a_permutation_is_one_cycle_through_all_hosts() {
    for (n, seed) in [(2, 1), (3, 2), (16, 3), (128, 4)] {
        let net = star(n);
        let (traffic, _) = workload(&net, "permutation", &[("size", "1MB")]).unwrap();
        let all: Vec<_> = traffic.flows(0, &net, seed, Time::NEVER).collect();
        let mut at = 0;
        let mut ring = BTreeSet::new();
        for _ in 0..n {
            ring.insert(at);
            at = all[at as usize].dst.0;
        }
        assert_eq!((all.len() as u32, ring.len() as u32, at), (n, n, 0));
        assert!(all.iter().all(|flow| flow.src != flow.dst && flow.bytes == 1_000_000 && flow.query == u32::MAX));
    }
    let net = star(128);
    let (traffic, _) = workload(&net, "permutation", &[("size", "1MB")]).unwrap();
    let dst = |seed| traffic.flows(0, &net, seed, Time::NEVER).map(|flow| flow.dst).collect::<Vec<_>>();
    assert_eq!(dst(1), dst(1));
    assert_ne!(dst(1), dst(2));
}

/// Returns the payload bits of flows that start within a second: their offered rate in bits per second.
fn bits(flows: &[FlowSpec]) -> f64 {
    flows.iter().map(|flow| flow.bytes as f64 * 8.0).sum()
}

#[test]
fn a_poisson_load_is_achieved_within_statistical_bounds() {
    let net =
        net("leaf_spine", &[("leaves", "4"), ("spines", "2"), ("hosts_per_leaf", "8"), ("oversubscription", "2")]);
    // imc10: mean 134 packets, deviation about 405; n flows give a relative error of 3.03 / sqrt(n).
    // 24 of the 31 other hosts are in other racks, 16 in the other half.
    let asked =
        [("host", 16e9), ("tor_uplink", 0.5 * 16e9 * 31.0 / 24.0), ("bisection", 0.5 * 8e9 * 2.0 * 31.0 / 16.0)];
    for (of, bps) in asked {
        let given = [("sizes", "imc10"), ("load.fraction", "0.5"), ("load.of", of)];
        let (traffic, notes) = workload(&net, "poisson", &given).unwrap();
        let offered = traffic.offered_load().unwrap();
        assert_eq!((offered.fraction, offered.of.word(), notes.len()), (0.5, of, 0));
        assert!((offered.bps / bps - 1.0).abs() < 1e-9, "{of}: {offered:?}");
        let all: Vec<_> = traffic.flows(0, &net, 7, Time(Dur::s(1).0)).collect();
        let error = bits(&all) / offered.bps - 1.0;
        assert!(error.abs() < 4.0 * 3.2 / (all.len() as f64).sqrt(), "{of}: {error} of {}", all.len());
        assert!(all.is_sorted_by_key(|flow| (flow.start, flow.src)));
        assert!(all.iter().all(|flow| flow.src != flow.dst && flow.bytes > 0));
    }
}

#[test]
fn wire_load_is_also_reported_in_payload_bytes() {
    let net = star(10);
    let given = [("sizes", "imc10"), ("load.fraction", "0.5"), ("load.bytes", "wire")];
    let (traffic, _) = workload(&net, "poisson", &given).unwrap();
    let offered = traffic.offered_load().unwrap();
    assert_eq!(traffic.kind, "poisson");
    // Whole segments of 1460 B take 1538 B; most flows end in a shorter one, which costs more.
    let ratio = offered.payload_bps / offered.bps;
    assert!(ratio < 1460.0 / 1538.0 && ratio > 0.85, "{ratio}");
    let all: Vec<_> = traffic.flows(0, &net, 7, Time(Dur::s(1).0)).collect();
    let error = bits(&all) / offered.payload_bps - 1.0;
    assert!(error.abs() < 4.0 * 3.2 / (all.len() as f64).sqrt(), "{error} of {}", all.len());
    let (payload, _) = workload(&net, "poisson", &given[..2]).unwrap();
    let payload = payload.offered_load().unwrap();
    assert_eq!(payload.payload_bps, payload.bps);
}

#[test]
fn interarrival_sets_flow_count_and_overload_is_noted() {
    let net = star(10);
    let given = [("sizes", "hadoop"), ("interarrival", "1ms")];
    let all = flows(&net, "poisson", &given);
    // The number of flows is Poisson with mean 10 × 1000: 5 standard deviations are 500.
    assert!(all.len().abs_diff(10_000) < 500, "{}", all.len());
    let mut to = [0u32; 10];
    all.iter().filter(|flow| flow.src.0 == 3).for_each(|flow| to[flow.dst.0 as usize] += 1);
    assert_eq!(to[3], 0);
    assert!(to.iter().filter(|n| n.abs_diff(111) < 55).count() == 9, "{to:?}");
    let (traffic, notes) = workload(&net, "poisson", &[("sizes", "web_search"), ("interarrival", "10ms")]).unwrap();
    assert_eq!(
        notes,
        ["traffic `t` offers 137% of the capacity of the host links, so that queues grow for the whole \
                        run. Reduce the load"]
    );
    assert!((traffic.offered_load().unwrap().fraction - 1.369).abs() < 1e-9);
    let wire = [("sizes", "web_search"), ("load.fraction", "0.5"), ("load.bytes", "wire")];
    let (payload, wire) = (flows(&net, "poisson", &[wire[0], wire[1]]).len(), flows(&net, "poisson", &wire).len());
    assert!(wire < payload, "{wire} {payload}");
}

#[test]
fn added_hosts_leave_other_starts_and_sizes_unchanged() {
    let given = [("sizes", "web_search"), ("load.fraction", "0.4"), ("jitter", "10us")];
    let of = |n| {
        let all = flows(&star(n), "poisson", &given).into_iter().filter(|flow| flow.src.0 < 4);
        all.map(|flow| (flow.start, flow.src, flow.bytes)).collect::<Vec<_>>()
    };
    assert!(of(4).len() > 50);
    assert_eq!(of(4), of(9));
}

#[test]
fn same_seed_and_clone_give_the_same_flows() {
    let net = net("fat_tree", &[("k", "4")]);
    let make = |kind, given: &[(&str, &str)]| workload(&net, kind, given).unwrap().0;
    let all = [
        make("poisson", &[("sizes", "imc10"), ("load.fraction", "0.3"), ("jitter", "1ms")]),
        make(
            "incast",
            &[
                ("receiver", "random"),
                ("size", "20KB"),
                ("senders", "20"),
                ("qps", "300"),
                ("jitter", "3ms"),
                ("class", "5"),
            ],
        ),
        make("permutation", &[("size", "1MB"), ("start", "5ms")]),
        make("constant", &[("source", "h0"), ("destination", "h1"), ("rate", "1Gbps")]),
    ];
    let flows = |seed| Flows::new(&all, &net, seed, Time(Dur::s(1).0));
    let once: Vec<_> = flows(1).collect();
    assert_eq!(once, flows(1).collect::<Vec<_>>());
    assert_ne!(once, flows(2).collect::<Vec<_>>());
    assert!(once.is_sorted_by_key(|flow| (flow.start, flow.src, flow.traffic)));
    assert!(once.iter().all(|flow| flow.start < Time(Dur::s(1).0) && (flow.traffic == 1) == (flow.class == 5)));
    assert_eq!(once.iter().map(|flow| flow.traffic).collect::<BTreeSet<_>>(), BTreeSet::from([0, 1, 2]));
    let mut half = flows(1);
    half.by_ref().take(once.len() / 2).for_each(drop);
    assert_eq!(half.clone().collect::<Vec<_>>(), once[once.len() / 2..]);
    assert_eq!(half.collect::<Vec<_>>(), once[once.len() / 2..]);
    // A workload has the same flows if the others are left out.
    let alone: Vec<_> = all[1].flows(1, &net, 1, Time(Dur::s(1).0)).collect();
    assert_eq!(alone, once.into_iter().filter(|flow| flow.traffic == 1).collect::<Vec<_>>());
    fn assert_plain<T: Clone + Send>(_: &T) {}
    assert_plain(&flows(1));
}

#[test]
fn jitter_only_delays_starts_by_less_than_its_value() {
    let net = star(50);
    let given = [("receiver", "h0"), ("size", "1KB"), ("senders", "40"), ("interval", "1ms")];
    let by_identity = |given: &[(&str, &str)]| {
        let mut all = flows(&net, "incast", given);
        all.sort_by_key(|flow| (flow.query, flow.src));
        all
    };
    let (plain, moved) = (by_identity(&given), by_identity(&[&given[..], &[("jitter", "1500us")]].concat()));
    // Jitter of up to 1.5 intervals may move flows of the last queries beyond the end of the run, where they are left
    // out.
    let early: Vec<_> = moved.iter().filter(|flow| flow.query < 998).collect();
    assert_eq!(early.len(), 998 * 40);
    let mut sum = 0;
    for (a, b) in plain.iter().zip(early) {
        assert_eq!((a.src, a.query, a.bytes), (b.src, b.query, b.bytes));
        assert!(b.start.since(a.start) < Dur::us(1500) && b.start >= a.start);
        sum += b.start.since(a.start).0;
    }
    assert!((sum / (998 * 40)).abs_diff(Dur::us(750).0) < Dur::us(11).0);
}

#[test]
fn a_poisson_workload_needs_exactly_one_pace_and_known_sizes() {
    let net = star(4);
    let with = |given: &[(&str, &str)]| faults(&net, "poisson", given);
    let web = ("sizes", "web_search");
    assert_eq!(with(&[web]), ["load.fraction: neither `load.fraction` nor `interarrival`; one of the two"]);
    let both = [web, ("load.fraction", "0.5"), ("interarrival", "1ms")];
    assert_eq!(with(&both), ["interarrival: 1ms; no value if `load.fraction` is given"]);
    let wire = [web, ("interarrival", "1ms"), ("load.bytes", "wire")];
    assert_eq!(with(&wire), ["load.bytes: `wire`; no value if `interarrival` is given"]);
    assert_eq!(
        with(&[web, ("load.fraction", "0.5"), ("load.of", "tor_uplink")]),
        ["load.of: `tor_uplink`; a capacity that exists in this network and that the workload uses"]
    );
    assert_eq!(
        with(&[("sizes", "web_serch"), ("load.fraction", "0.5")]),
        [
            "sizes: `web_serch`: no such file; a size such as `20KB`, `web_search`, `data_mining`, `hadoop`, `imc10`, or a file of sizes"
        ]
    );
    let given = [("sizes", "my.csv"), ("load.fraction", "0.5")];
    let (_, notes) = with_files(&net, "poisson", &given, &|_| Ok("0 0\n1000 100\n".into())).unwrap();
    assert_eq!(notes, ["traffic `t`: sizes of `my.csv` are read as bytes and shares from 0 to 100; mean 500 B"]);
    let bad = with_files(&net, "poisson", &given, &|_| Ok("0 0\n10 0.5\n".into()));
    assert_eq!(format_faults(bad.unwrap_err()), ["sizes: `my.csv`, line 2: the last share is 0.5; 1 or 100"]);
}
