//! Workloads with transports of their own: `[[traffic]] transport`.

use crate::common::{loaded, refused, star};
use scenario::Scenario;
use units::Dur;

/// Returns a small scenario in DCTCP with two workloads: `web`, and `burst` with the lines `own`.
fn text(own: &str, more: &str) -> String {
    star(&format!(
        "{own}\n[host]\nnic = {{ kind = \"round_robin\" }}\n[switch]\nmarking = {{ kind = \"red\" }}\n\
         [transport]\nkind = \"dctcp\"\nmin_rto = \"5ms\"\n{more}"
    ))
    .replacen(
        "[[traffic]]",
        "[[traffic]]\nname = \"web\"\nkind = \"permutation\"\nsize = \"9KB\"\n[[traffic]]",
        1,
    )
}

const ROCE: &str = "transport = { kind = \"roce\" }";
const TWO: &str = "[[override]]\nwhere = { hosts = [\"h1\", \"h2\"] }\n";

/// Returns the transports of a workload's flows at hosts 0 and 1, with their minimum RTO.
fn transports_of_workload(scenario: &Scenario, traffic: usize) -> Vec<(&str, Option<Dur>)> {
    let own = &scenario.own_transports;
    let number = |host: usize| match own.host_transports(traffic) {
        Some(row) => row.host_numbers.get(host).copied().unwrap_or(row.default_number),
        None => own.host_numbers.get(host).copied().unwrap_or(0),
    };
    let made = |number: u8| number.checked_sub(1).map_or(&scenario.transport, |place| &own.kinds[usize::from(place)]);
    let told = |one: &'_ scenario::Choice| one.values.has("min_rto").then(|| one.values.time("min_rto"));
    [0, 1].map(|host| made(number(host))).into_iter().map(|one| (one.kind.as_str(), told(one))).collect()
}

#[test]
fn flows_of_a_workload_go_by_its_transport_and_all_others_by_that_of_the_scenario() {
    let all = loaded(&text(ROCE, ""), &[]);
    let scenario = &all.variants[0];
    assert_eq!(transports_of_workload(scenario, 0), [("dctcp", Some(Dur::ms(5))); 2]);
    assert_eq!(transports_of_workload(scenario, 1), [("roce", None); 2]);
    let stacks = scenario.transport_table().expect("transports");
    let mss = |traffic: u16| stacks.workload_configs(traffic).map(|tcp| tcp.mss()).collect::<Vec<_>>();
    assert_eq!((mss(0), mss(1)), (vec![1460], vec![1000]));
    assert_eq!((stacks.row_of(0), stacks.row_of(1)), (0, 1));
    let resolved = &all.resolved["default"]["traffic"];
    assert_eq!((resolved[0].get("transport"), &resolved[1]["transport"]["kind"]), (None, &serde_json::json!("roce")));
    assert!(all.notes.iter().all(|note| !note.contains("replaces")), "TCP's keys are not RoCE's: {:?}", all.notes);
}

#[test]
fn its_keys_are_laid_upon_the_table_of_the_scenario_and_upon_those_of_hosts() {
    let all = loaded(&text("transport.min_rto = \"7ms\"", ""), &[]);
    assert_eq!(transports_of_workload(&all.variants[0], 1), [("dctcp", Some(Dur::ms(7))); 2]);
    let hosts = format!("{TWO}transport = {{ kind = \"sack\", min_rto = \"6ms\" }}\n");
    let all = loaded(&text("transport.delayed_ack = true", &hosts), &[]);
    let scenario = &all.variants[0];
    assert_eq!(transports_of_workload(scenario, 1), [("dctcp", Some(Dur::ms(5))), ("sack", Some(Dur::ms(6)))]);
    let own = &scenario.own_transports;
    let delayed: Vec<bool> = own.kinds.iter().map(|one| one.values.flag("delayed_ack")).collect();
    assert_eq!(delayed, [false, true, true], "that of h1 and h2, then those of the workload");
    let told = &all.resolved["default"]["traffic"][1]["transports"];
    assert_eq!(told[0]["hosts"], serde_json::json!(["h1", "h2"]));
    assert_eq!(told[0]["transport"]["delayed_ack"], serde_json::json!(true));
    let all = loaded(&text(ROCE, &hosts), &[]);
    assert_eq!(transports_of_workload(&all.variants[0], 1), [("roce", None); 2], "a kind is that of all hosts");
    assert_eq!(transports_of_workload(&all.variants[0], 0)[1].0, "sack");
}

#[test]
fn variants_and_settings_name_the_workload() {
    let variants = "[variants.tcp]\n[variants.roce]\ntraffic.burst.transport.kind = \"roce\"\ntraffic.burst.class = 3\n\
                    [variants.anew]\ntraffic.burst = { kind = \"permutation\", size = \"1KB\" }\n";
    let all = loaded(&text("", variants), &["traffic.web.transport.min_rto=8ms"]);
    let kinds = [0, 1, 2].map(|i| transports_of_workload(&all.variants[i], 1)[0].0);
    assert_eq!(kinds, ["dctcp", "roce", "dctcp"]);
    assert_eq!([0, 1].map(|i| all.variants[i].traffic[1].class()), [0, 3]);
    assert_eq!(
        all.variants.iter().map(|one| transports_of_workload(one, 0)[0].1).collect::<Vec<_>>(),
        [Some(Dur::ms(8)); 3]
    );
    let anew = &all.variants[2].traffic[1];
    assert_eq!((anew.name.as_str(), anew.kind), ("burst", "permutation"));
    let lost = "anew: traffic.burst: the new kind = \"permutation\" replaces the whole table";
    assert!(all.notes.iter().all(|note| !note.starts_with(lost)), "what has to be given goes with its kind");
}

#[test]
fn what_does_not_fit_is_refused_and_what_has_no_effect_is_told() {
    let raw =
        "[[traffic]]\nname = \"raw\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\nrate = \"1Mbps\"\n";
    for (own, more, said) in [
        ("transport = 3", "", "traffic.burst.transport: found 3; expected a table, such as { kind = \"roce\" }"),
        ("transport.kind = \"tcp\"", "", "traffic.burst.transport.kind: found \"tcp\"; expected one of"),
        ("transport.rto = \"1ms\"", "", "traffic.burst.transport.rto: found unknown key `rto`"),
        (
            "transport = { kind = \"roce\", header = \"600B\" }",
            "",
            "header: found 600B; expected it to be at most 512B",
        ),
        (
            ROCE,
            &format!("{raw}transport.kind = \"roce\"\n"),
            "traffic.raw.transport: found a transport; expected no key `transport`, because `constant` sends packets without",
        ),
        ("", "[variants.a]\ntraffic.bust.class = 1\n", "traffic.bust: found `bust`; expected the name of a workload"),
        (
            "",
            "[variants.a]\ntraffic.burst = 1\n",
            "variants.a.traffic.burst: found 1; expected a table of keys of the workload",
        ),
        (
            "",
            "[variants.a]\ntraffic.burst.name = \"b\"\n",
            "found \"b\"; expected no `name`, because a variant cannot rename a workload",
        ),
    ] {
        let found = refused(&text(own, more), &[]);
        assert!(found.contains(said), "{said}: {found}");
    }
    let fifo = text(ROCE, "").replace("nic = { kind = \"round_robin\" }", "");
    let said = "traffic.burst.transport.kind: found \"roce\" with host.nic = \"fifo\"; expected host.nic";
    assert!(refused(&fifo, &[]).contains(said), "{}", refused(&fifo, &[]));
    let told = |own: &str, web: &str, said: &str| {
        let all = loaded(&text(own, ""), &[&format!("traffic.web.transport.{web}")]);
        assert!(all.notes.iter().any(|note| note == &format!("default: {said}")), "{said}: {:?}", all.notes);
    };
    let same = "traffic `web`: `transport` has no effect, because its hosts already have this transport";
    told("", "min_rto=5ms", same);
    told(ROCE, "kind=sack", "transport: min_rto has no effect, because every workload has its own transport");
    let lost = "traffic `web`: transport: the new kind = \"sack\" replaces the whole table, and drops earlier values: \
                min_rto is 10ms instead of 5ms";
    told("", "kind=sack", lost);
}

#[test]
fn a_scenario_has_at_most_32_own_transports() {
    let many = |n: u32| {
        let one = |i: u32| {
            format!(
                "[[traffic]]\nname = \"t{i}\"\nkind = \"permutation\"\nsize = \"1KB\"\ntransport.min_rto = \"{}ms\"\n",
                6 + i
            )
        };
        text("", &(0..n).map(one).collect::<String>())
    };
    assert_eq!(loaded(&many(32), &[]).variants[0].own_transports.kinds.len(), 32);
    assert!(refused(&many(33), &[]).contains("found 33 transports in addition to [transport]; expected at most 32"));
}

#[test]
fn a_load_in_wire_bytes_counts_the_segments_of_the_workloads_own_transport() {
    let load = "[[traffic]]\nname = \"l\"\nkind = \"poisson\"\nsizes = \"10KB\"\nload = { fraction = 0.5, bytes = \"wire\" }\n";
    let ratio = |own: &str, sets: &[&str]| {
        let all = loaded(&text("", &format!("{load}{own}\n")), sets);
        let offered = all.variants[0].traffic[2].offered_load().expect("a load");
        offered.bps / offered.payload_bps
    };
    // 10 KB: 7 segments with 78 B of overhead; 10 with 8 B more for RoCE; 10 with 12 B more for timestamps.
    for (own, sets, bytes) in [
        ("", &[][..], 10_546.0),
        (ROCE, &[], 10_860.0),
        ("", &["transport.kind=roce"], 10_860.0),
        (ROCE, &["traffic.l.load.segment=500B"], 11_720.0),
        ("transport = { kind = \"sack\", timestamps = true, mss = \"1000B\" }", &[], 10_900.0),
    ] {
        assert!((ratio(own, sets) - bytes / 10_000.0).abs() < 1e-12, "{own} {sets:?}: {}", ratio(own, sets));
    }
}

#[test]
fn roce_with_a_rank_scheduler_warns() {
    let ranks = |own: &str, of_all: &str| {
        let more = text(own, "").replace("[switch]", "[switch]\nscheduler = { kind = \"srpt\" }");
        let all = loaded(&more, &[&format!("transport.kind={of_all}")]);
        all.notes.iter().any(|note| note.contains("equally urgent"))
    };
    assert!(ranks(ROCE, "newreno"));
    assert!(!ranks(ROCE, "pfabric"));
    assert!(!ranks("transport.kind = \"pfabric\"", "roce"));
}

/// Test of memory estimates for the first packets of flows, in a scenario with RoCE and TCP.
/// RoCE has no window, and flows of TCP do not begin with the window of another workload.
#[test]
fn what_flows_begin_with_is_counted_by_their_own_window() {
    let bytes = |own: &str| {
        let all = loaded(&text(own, ""), &["traffic.web.size=100MB"]);
        scenario::MemoryNeeds::estimate(&all.variants[0]).total_bytes()
    };
    let (with, without) = (bytes(ROCE), bytes(""));
    assert!(with.abs_diff(without) < 100_000, "{with} {without}");
}
