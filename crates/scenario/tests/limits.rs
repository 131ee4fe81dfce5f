//! Scenarios that need too much memory or time, and texts of any length.

use crate::common::{loaded, refused, shown, star, tree};
use mech::Registry;
use scenario::{Source, load};
use std::path::Path;

#[test]
fn a_file_that_is_not_text_is_refused_with_the_line_where_text_ends() {
    let refused =
        Source::from_bytes("x.toml", b"name = \"a\"\n\xff\xfe".to_vec(), Path::new(".")).expect_err("no text");
    assert_eq!(refused.to_string(), "x.toml:2: found bytes that are not text (byte 11); expected TOML in UTF-8");
    let missing = Source::read(Path::new("/nonexistent/x.toml")).expect_err("no file");
    assert!(missing.to_string().starts_with("/nonexistent/x.toml: found a file that cannot be read ("), "{missing}");
}

#[test]
fn flows_whose_gaps_would_all_round_to_nothing_are_refused_and_do_not_hang_the_run() {
    let more = "[[traffic]]\nname = \"endless\"\nkind = \"poisson\"\nsizes = \"sizes.txt\"\nload.fraction = 10\n";
    let text = star(more).replace("n = 4", "n = 4\nlink.rate = \"1000Tbps\"");
    let files = Box::new(|_: &str| Ok(Box::new("0 0.9999999\n1 1\n".as_bytes()) as Box<dyn std::io::BufRead>));
    let found = load(&Source { path: "test.toml".into(), text, files, registry: Registry::catalogue() }, &[])
        .expect_err("this should be refused");
    assert_eq!(
        shown(&found),
        "test.toml:17: traffic.endless.load.fraction: found flows of a host less than 1ps apart on average; expected a load \
         that leaves at least 1ps between them"
    );
}

#[test]
fn all_variants_together_may_ask_for_so_much_and_no_more() {
    let variants: String = (0..1001).map(|i| format!("[variants.v{i}]\n")).collect();
    assert_eq!(refused(&star(&variants), &[]), "test.toml:12: variants: found 1001 variants; expected at most 1000");
    let few: String = (0..12).map(|i| format!("[variants.v{i}]\n")).collect();
    let great = refused(&tree(&few).replace("k = 4", "k = 64"), &[]);
    let ports = "found 4325376 ports in the variants read so far; expected at most 4000000 in all variants together";
    assert_eq!(great, format!("test.toml:3: topology: {ports}"));
}

#[test]
fn variants_times_the_values_of_the_base_are_bounded() {
    let variants = |n| (0..n).map(|i| format!("[variants.v{i}]\n")).collect::<String>();
    let base = format!("[[traffic]]\nsources = [{}]\n", "\"h1\", ".repeat(20_000));
    let found = "found 50 variants of a scenario with 20015 values";
    let rule = "expected at most 1000000 values in all variants together";
    assert_eq!(
        refused(&star(&(base.clone() + &variants(50))), &[]),
        format!("test.toml:14: variants: {found}; {rule}")
    );
    assert!(!refused(&star(&(base + &variants(1))), &[]).contains(rule), "one variant is as large as its file");
}

#[test]
fn workloads_times_hosts_are_bounded() {
    let workload = |i| format!("[[traffic]]\nname = \"t{i}\"\nkind = \"permutation\"\nsize = \"1KB\"\n");
    let text = star(&(0..200).map(workload).collect::<String>()).replace("n = 4", "n = 60000");
    let rule = "at most 10000000 as the product of workloads and hosts in all variants together";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:6: traffic: found 201 workloads over 60000 hosts; expected {rule}")
    );
}

#[test]
fn overrides_times_switches_are_bounded() {
    let place = |i| format!("[[override]]\nwhere = {{ node = \"edge{i}\" }}\nswitch.ties = \"port\"\n");
    let text = tree(&(0..6000).map(place).collect::<String>()).replace("k = 4", "k = 64");
    let rule = "at most 30000000 as the product of overrides and switches in all variants together";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:13: override.1st.where: found 6000 overrides over 5120 switches; expected {rule}")
    );
}

#[test]
fn a_network_whose_routing_tables_take_more_than_a_gigabyte_is_refused() {
    let text = star("").replace("\"star\"\nn = 4", "\"chain_tree\"\nn = 10000\ndepth = 10");
    let rule = "at most 250000000 routing entries (switches times switches with hosts)";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:3: topology: found 100001 switches, 10001 of them with hosts; expected {rule}")
    );
}

#[test]
fn of_many_unknown_switches_fifty_are_shown() {
    let place = |i| format!("[[override]]\nwhere = {{ node = \"egde{i}\" }}\nswitch.ties = \"port\"\n");
    let found = refused(&tree(&(0..2000).map(place).collect::<String>()).replace("k = 4", "k = 32"), &[]);
    assert_eq!(found.lines().count(), 51);
    assert!(found.contains("(did you mean `edge0`?)"), "{}", found.lines().next().unwrap_or(""));
}

#[test]
fn thirty_thousand_sources_are_found_by_name_without_a_walk_for_each() {
    let all: Vec<String> = (0..30_000).map(|i| format!("\"n{i}\"")).collect();
    let more = format!(
        "[[traffic]]\nname = \"raw\"\nkind = \"constant\"\nrate = \"1Mbps\"\ndestination = \"h0\"\nsources = [{}]\n",
        all.join(", ")
    );
    let found = refused(&star(&more).replace("n = 4", "n = 60000"), &[]);
    assert_eq!(found.lines().count(), 51, "so many are shown, and their number");
    let right = star(&more.replace("\"n0\", ", "").replace("\"n", "\"h")).replace("n = 4", "n = 60000");
    assert_eq!(loaded(&right, &[]).variants[0].traffic[1].raw_sources(1, 1).len(), 29_999);
}

#[test]
fn names_of_any_length_are_told_in_messages_of_some_length() {
    let long = "a".repeat(1_000_000);
    let found = refused(&star(&format!("[host]\n{long} = 1\n")), &[]);
    assert!(found.len() < 4000 && found.contains("aaa…; expected"), "{} bytes", found.len());
    let path = vec!["a"; 10_000].join(".");
    assert!(refused(&star(""), &[&format!("{path}=1")]).len() < 4000);
}

#[test]
fn switches_may_have_so_many_virtual_output_queues_and_no_more() {
    let star = |hosts: &str| star("[switch]\nmodel = \"cioq\"\n").replace("n = 4", hosts);
    assert_eq!(loaded(&star("n = 3162"), &[]).variants.len(), 1);
    let queues = "found 10004569 virtual output queues in the switches read so far; expected at most 10000000 in \
                  all variants together, one for each pair of ports";
    assert_eq!(refused(&star("n = 3163"), &[]), format!("test.toml:13: switch.model: {queues}"));
    let fast =
        star("n = 4\nlink.rate = \"1000003/1000007 Tbps\"").replace("\"cioq\"\n", "\"cioq\"\nspeedup = 99.999999\n");
    let rate = refused(&fast, &[]);
    assert!(rate.starts_with("test.toml:15: switch.speedup: found 99.999999 times "), "{rate}");
    assert!(rate.ends_with("; expected a multiple of the link's rate that fits 64 bits"), "{rate}");
}

#[test]
fn more_flows_than_fit_the_memory_are_refused_before_the_run_with_what_would_fit() {
    let cases = [
        (
            "kind = \"incast\"\nsenders = 1000000\nreceiver = \"h0\"\nsize = \"5KB\"\ninterval = \"1us\"\n",
            "about 10 billion flows before the end of the duration, 10 billion of them from `w`; expected at most 20 \
             million flows, which need about 10 GB with their results: divide the number by 501 or more",
        ),
        (
            "kind = \"request_reply\"\nclients = [\"h0\"]\nservers = [\"h1\"]\nreply = \"1KB\"\nclock = \"1ps\"\n",
            "about 20 billion flows before the end of the duration, 20 billion of them from `w`",
        ),
        (
            "kind = \"poisson\"\nsizes = \"1B\"\ninterarrival = \"1ns\"\n",
            "about 40 million flows before the end of the duration, 40 million of them from `w`",
        ),
        (
            "kind = \"poisson\"\nsizes = \"1B\"\ninterarrival = \"3ns\"\n[[traffic]]\nname = \"v\"\nkind = \"poisson\"\n\
             sizes = \"1B\"\ninterarrival = \"3ns\"\n",
            "about 26.7 million flows before the end of the duration, 13.3 million of them from `w`",
        ),
        (
            "kind = \"query\"\ndegree = 1000\nresponse = \"1KB\"\nqps = 1000000000\n",
            "about 20 billion flows before the end of the duration, 20 billion of them from `w`",
        ),
        (
            "kind = \"long_lived\"\npairs = \"permutation\"\nflows = 1000000\n",
            "traffic.w.flows: found 1000000 flows for each of 4 pairs; expected at most 1000000 flows in all",
        ),
    ];
    for (lines, said) in cases {
        let found = refused(&star(&format!("[[traffic]]\nname = \"w\"\n{lines}")), &[]);
        assert!(found.contains(said), "{found}");
    }
    let fits = "[[traffic]]\nname = \"w\"\nkind = \"request_reply\"\nclients = [\"h0\"]\nservers = [\"h1\"]\nreply = \"1KB\"\n\
                clock = \"1ps\"\nrequests = 100\n";
    loaded(&star(fits), &[]);
}

#[test]
fn the_memory_that_a_run_takes_is_counted_from_its_ports_and_its_flows() {
    let burst = |hosts: u32, senders: u32| {
        let lines = format!(
            "[[traffic]]\nname = \"w\"\nkind = \"incast\"\nsenders = {senders}\nreceiver = \"h0\"\nsize = \"5KB\"\n"
        );
        let text = star(&lines).replace("n = 4", &format!("n = {hosts}"));
        scenario::MemoryNeeds::estimate(&loaded(&text, &[]).variants[0]).total_bytes()
    };
    let (few, more_hosts, more_flows) = (burst(100, 10), burst(200, 10), burst(100, 90));
    assert_eq!(more_hosts - few, 200 * 6000, "each host has a port, and its switch one to it");
    assert_eq!(more_flows - few, 80 * (512 + 4 * 256), "a flow and its first packets");
    assert!(few > 64 << 20);
}

#[test]
fn an_initial_window_of_more_packets_than_fit_the_memory_is_refused() {
    let burst = "[transport]\nkind = \"newreno\"\ninitial_window = \"1000000000pkt\"\n[[traffic]]\nname = \"w\"\n\
                 kind = \"incast\"\nsenders = 1000\nreceiver = \"h0\"\nsize = \"900MB\"\n";
    let found = refused(&star(burst), &[]);
    let said = "found an initial window of 1073725440 B, and so 616 million simultaneous packets, 616 million of them \
                from `w`; expected at most 10 million simultaneous packets: divide the number by 62 or more";
    assert!(found.contains("transport.initial_window: ") && found.contains(said), "{found}");
    loaded(&star(&burst.replace("senders = 1000\n", "senders = 10\n")), &[]);
}

#[test]
fn windows_take_no_memory_if_nics_ask_for_each_segment() {
    let endless = "[transport]\nkind = \"roce\"\n[[traffic]]\nname = \"w\"\nkind = \"long_lived\"\n";
    let pairs = "sources = [\"h1\"]\ndestinations = [\"h0\"]\nflows = 100\n";
    let nic = |kind: &str| format!("[host]\nnic = {{ kind = \"{kind}\" }}\n");
    let found = refused(&star(&format!("{}{endless}{pairs}", nic("fifo"))), &[]);
    assert!(found.contains("simultaneous packets"), "{found}");
    loaded(&star(&format!("{}{endless}{pairs}", nic("round_robin"))), &[]);
}

#[test]
fn too_many_raw_packets_within_a_grid_step_are_refused() {
    let flood = |more: &str| {
        star(&format!(
            "[[traffic]]\nname = \"w\"\nkind = \"constant\"\nsource = \"h1\"\ndestination = \"h0\"\nflows = 1000\n{more}"
        ))
    };
    let found = refused(&flood("rate = \"1000Tbps\"\n"), &[]);
    let said = "test.toml:12: traffic.w: found 80.7 million packets without a transport within 1.05 us, 80.7 million \
                of them from `w`; expected at most 10 million simultaneous packets: divide the number by 9 or more";
    assert_eq!(found, said);
    loaded(&flood("rate = \"10Gbps\"\n"), &[]);
    loaded(&flood("rate = \"1000Tbps\"\n[host]\nnic_queue = \"100pkt\"\n"), &[]);
}

#[test]
fn flows_of_a_file_that_start_at_once_are_counted() {
    let text = star(
        "[[traffic]]\nname = \"w\"\nkind = \"trace\"\nfile = \"f.csv\"\n[transport]\nkind = \"newreno\"\ninitial_window = \"6000pkt\"\n",
    );
    let load_with = |gap: u64| {
        let rows: String = (0..2000).map(|i| format!("{}us,h0,h1,90MB\n", i * gap)).collect();
        let files = Box::new(move |_: &str| {
            let text = format!("start,source,destination,bytes\n{rows}");
            Ok(Box::new(std::io::Cursor::new(text)) as Box<dyn std::io::BufRead>)
        });
        load(&Source { path: "test.toml".into(), text: text.clone(), files, registry: Registry::catalogue() }, &[])
    };
    let found = shown(&load_with(0).expect_err("twelve million packets at once"));
    assert!(found.contains("12 million simultaneous packets, 12 million of them from `w`"), "{found}");
    load_with(5).expect("a few at a time");
}

#[test]
fn a_network_that_is_too_large_is_refused_before_it_is_built() {
    for (kind, said) in [
        ("\"hyperx\"\ndims = [32, 32]\nhosts_per_switch = 1024", "1048576 hosts; expected at most 1000000 hosts"),
        ("\"hyperx\"\ndims = [1024]\nhosts_per_switch = 900", "2890752 ports of 921600 hosts and 1024 switches; "),
        ("\"jellyfish\"\nswitches = 4096\ndegree = 900\nhosts_per_switch = 1", "3694592 ports of 4096 hosts"),
        ("\"leaf_spine\"\nleaves = 1024\nspines = 1024\nhosts_per_leaf = 900", "3940352 ports of 921600 hosts"),
        ("\"linear\"\nswitches = 4096\nhosts_per_switch = 1024", "4194304 hosts; "),
        ("\"hyperx\"\ndims = [1024, 1024, 1024, 1024, 1024, 1024, 1024]\nhosts_per_switch = 1", " hosts; "),
    ] {
        let found = refused(&star("").replace("\"star\"\nn = 4", kind), &[]);
        assert!(found.starts_with("test.toml:3: topology: found ") && found.contains(said), "{found}");
    }
}

#[test]
fn keys_of_any_length_and_depth_cost_what_their_text_does() {
    let long = "k".repeat(200_000);
    let below: String = (0..2000).map(|i| format!("a{i} = 1\n")).collect();
    assert!(refused(&star(&format!("[{long}]\n{below}")), &[]).len() < 4000);
    let deep = vec!["k"; 100_000].join(".");
    let found = refused(&star(&format!("[host]\n{deep} = 1\n")), &[]);
    assert!(found.contains("found tables and lists nested more than 32 levels deep"), "{found}");
    assert!(refused(&star(""), &[&format!("{deep}=1")]).len() < 4000);
    loaded(&star(&format!("[[traffic]]\nname = \"dots\"\nkind = \"permutation\"\nsize = \"1KB\" # {deep}\n")), &[]);
}

#[test]
fn of_many_faults_fifty_are_shown_and_the_rest_counted() {
    let keys: String = (0..100_000).map(|i| format!("k{i} = 1\n")).collect();
    let found = refused(&star(&format!("[host]\n{keys}")), &[]);
    assert_eq!(found.lines().count(), 51);
    assert!(found.starts_with("test.toml:13: host.k0: found unknown key `k0`"), "{found}");
    assert_eq!(found.lines().last(), Some("test.toml: and 99950 more"));
    // As many unknown workloads in a variant as there are workloads.
    let list: String = (0..20_000)
        .map(|i| format!("[[traffic]]\nname = \"t{i}\"\nkind = \"permutation\"\nsize = \"1KB\"\n"))
        .collect();
    let named: String = (0..20_000).map(|i| format!("[variants.a.traffic.u{i}]\nsize = \"2KB\"\n")).collect();
    let found = refused(&star(&(list + &named)), &[]);
    assert_eq!(found.lines().count(), 51);
}
