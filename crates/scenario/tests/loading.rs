//! What scenarios that are right come to.

use mech::Registry;
use mech::buffer::BufferSlot;
use mech::params::Value;
use scenario::{FctEnd, Filled, Loaded, Simultaneous, Source, Ties, load};
use serde_json::json;
use std::path::Path;
use units::{Amount, Dur, Rate, Time};

/// The example of the drawing.
const INCAST: &str = include_str!("incast.toml");

fn source(text: &str) -> Source {
    Source::new("test.toml", text, Path::new("."))
}

fn loaded(text: &str, sets: &[&str]) -> Loaded {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    load(&source(text), &sets).unwrap_or_else(|found| panic!("{}", shown(&found)))
}

fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    shown(&load(&source(text), &sets).expect_err("this should be refused"))
}

fn shown(found: &[scenario::Diagnostic]) -> String {
    found.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("\n")
}

/// A small scenario with these lines behind its own.
fn star(more: &str) -> String {
    format!(
        "name = \"small\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 4\n[[traffic]]\nname = \"burst\"\n\
         kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"20KB\"\n{more}"
    )
}

fn tree(more: &str) -> String {
    star(more).replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4")
}

fn size_of(buffer: &Filled<BufferSlot>) -> String {
    buffer.values.amount("size").to_string()
}

#[test]
fn the_example_of_the_drawing_loads_with_its_four_variants_in_the_order_of_the_file() {
    let loaded = loaded(INCAST, &[]);
    let names: Vec<&str> = loaded.variants.iter().map(|v| v.variant.as_str()).collect();
    assert_eq!(names, ["drop", "drop_no_fast_retransmit", "detour", "bounce"]);
    assert_eq!((loaded.name.as_str(), loaded.seed, loaded.duration), ("incast", 1, Dur::ms(200)));
    let [drop, slow, detour, bounce] = loaded.variants.as_slice() else { panic!("four variants") };
    assert_eq!((drop.topology.hosts, drop.switches.len()), (128, 80));
    assert_eq!(drop.transport.kind, "dctcp");
    assert_eq!(drop.transport.values.count_or_off("dupack_threshold"), Some(3));
    for variant in [slow, detour, bounce] {
        assert_eq!(variant.transport.values.count_or_off("dupack_threshold"), None);
        assert_eq!(variant.transport.values.time("min_rto"), Dur::ms(10));
        assert_eq!(variant.transport.kind, "dctcp");
    }
    assert_eq!(detour.switches[0].overflow.kind, "detour");
    let bounced = &bounce.switches[0];
    assert_eq!(size_of(&bounced.buffer), "50pkt");
    assert_eq!(bounced.overflow.values.amount("bounce_size"), Amount::Packets(50));
    assert_eq!(bounced.overflow.values.count("round_to"), 3, "a default");
    assert_eq!(bounced.ports[0].marking.values.amount("k"), Amount::Packets(20));
}

#[test]
fn an_override_changes_the_switches_of_its_tier_and_no_others() {
    let drop = &loaded(&INCAST.replace("where = { tier = \"agg\" }", "where = { tier = \"core\" }"), &[]).variants[0];
    for (switch, node) in drop.switches.iter().zip(&drop.topology.nodes[128..]) {
        let size = if node.tier == "core" { "384KiB" } else { "100pkt" };
        assert_eq!(size_of(&switch.buffer), size, "{}", node.name);
    }
}

#[test]
fn among_overrides_that_match_the_last_wins() {
    let overrides = "[[override]]\nwhere = { tier = \"edge\" }\nswitch.buffer.size = \"10pkt\"\n\
                     [[override]]\nwhere = { node = \"edge1\" }\nswitch.buffer.size = \"20pkt\"\n\
                     [[override]]\nwhere = { node = \"edge2\" }\nswitch.buffer = { kind = \"unlimited\" }\n\
                     switch.ties = \"port\"\n";
    let variant = &loaded(&tree(overrides), &[]).variants[0];
    let buffers: Vec<_> = variant.switches[..4].iter().map(|s| &s.buffer).collect();
    assert_eq!(
        (size_of(buffers[0]), size_of(buffers[1]), size_of(buffers[3])),
        ("10pkt".into(), "20pkt".into(), "10pkt".into())
    );
    assert_eq!(buffers[2].kind, "unlimited");
    assert_eq!((variant.switches[1].ties, variant.switches[2].ties), (Ties::Random, Ties::Port));
    assert_eq!(size_of(&variant.switches[8].buffer), "100pkt", "an aggregation switch");
    let turned = overrides.replace("node = \"edge1\"", "tier = \"agg\"").replace("tier = \"edge\"", "node = \"edge1\"");
    let variant = &loaded(&tree(&turned), &[]).variants[0];
    assert_eq!(
        (size_of(&variant.switches[1].buffer), size_of(&variant.switches[8].buffer)),
        ("10pkt".into(), "20pkt".into())
    );
}

#[test]
fn an_override_of_a_kind_of_port_changes_marking_there_only() {
    let overrides = "[[override]]\nwhere = { tier = \"edge\", port = \"host\" }\n\
                     switch.marking = { kind = \"ecn_threshold\", k = \"7pkt\" }\n";
    let variant = &loaded(&tree(overrides), &[]).variants[0];
    let kinds: Vec<&str> = variant.switches[0].ports.iter().map(|p| p.marking.kind.as_str()).collect();
    assert_eq!(kinds, ["ecn_threshold", "ecn_threshold", "none", "none"]);
    assert!(variant.switches[8].ports.iter().all(|port| port.marking.kind == "none"));
}

#[test]
fn what_is_left_out_has_its_default() {
    let loaded = loaded(&star(""), &[]);
    let [only] = loaded.variants.as_slice() else { panic!("one variant") };
    assert_eq!(only.variant, "default");
    let switch = &only.switches[0];
    let port = &switch.ports[0];
    let of_switch = [&switch.routing.kind, &switch.buffer.kind, &switch.overflow.kind];
    let kinds = [of_switch.as_slice(), &[&port.marking.kind, &port.scheduler.kind]].concat();
    assert_eq!(kinds, ["ecmp", "per_port", "tail_drop", "none", "strict_priority"]);
    assert_eq!(size_of(&switch.buffer), "100pkt");
    assert_eq!((switch.simultaneous, switch.ties), (Simultaneous::InTurn, Ties::Random));
    assert_eq!(only.framing, dataplane::Framing::ETHERNET);
    assert_eq!((only.host.stack_delay, only.host.stack_jitter, only.host.nic_queue), (Dur::ZERO, Dur::ZERO, None));
    let of_host = [&only.host.marking.kind, &only.host.scheduler.kind, &only.host.overflow.kind];
    assert_eq!(of_host, ["none", "strict_priority", "tail_drop"]);
    let m = &only.measure;
    assert_eq!((m.from, m.to, m.drain, m.bin), (Time::ZERO, Time(Dur::ms(10).0), Dur::s(1), Dur::us(50)));
    assert_eq!((m.fct_end, m.allow_unfinished, m.queues, m.packets), (FctEnd::LastByte, false, true, false));
    let link = &only.topology.nodes[0].ports[0];
    assert_eq!((link.rate, link.delay), (Rate::gbps(1), Dur::us(1)));
}

#[test]
fn a_trace_has_steps_of_at_least_a_microsecond() {
    let loaded = loaded(&star("").replace("10ms", "20us"), &[]);
    assert_eq!(loaded.variants[0].measure.bin, Dur::us(1));
}

#[test]
fn pfabric_is_four_slots_and_a_transport_and_says_where_it_does_nothing() {
    let slots = "[switch]\noverflow = { kind = \"evict\" }\nscheduler = { kind = \"srpt\" }\n[host]\n\
                 nic_queue = \"24pkt\"\nscheduler = { kind = \"srpt\" }\noverflow = { kind = \"evict\" }\n";
    let whole = loaded(&star(&format!("{slots}[transport]\nkind = \"pfabric\"\n")), &[]);
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    let host = &whole.resolved["default"]["host"];
    assert_eq!((&host["scheduler"]["kind"], &host["overflow"]["kind"]), (&json!("srpt"), &json!("evict")));
    let transport = &whole.resolved["default"]["transport"];
    let values = ["initial_window", "max_window", "rto", "dupack_threshold", "probe_after", "priority"];
    let found = values.map(|key| transport[key].to_string());
    assert_eq!(found, ["\"12pkt\"", "\"24pkt\"", "\"45us\"", "\"off\"", "5", "\"remaining\""]);
    let blind = loaded(&star(slots), &[]).notes;
    assert!(blind.len() == 1 && blind[0].starts_with("default: srpt and evict with transport.priority"), "{blind:?}");
    let endless = format!("{slots}[transport]\nkind = \"sack\"\npriority = \"remaining\"\n")
        .replace("[switch]\n", "[switch]\nbuffer = { kind = \"unlimited\" }\n");
    let notes = loaded(&star(&endless), &[]).notes;
    assert_eq!(notes, ["default: evict with an unlimited buffer never evicts: no queue is ever full"]);
}

#[test]
fn every_table_can_be_given_in_full() {
    let more = "[host]\nstack_delay = \"10us\"\nstack_jitter = \"2us\"\nnic_queue = \"300pkt\"\n\
                marking = { kind = \"ecn_threshold\", k = \"9pkt\" }\n\
                [framing]\nkind = \"mtu\"\ngap = \"20B\"\n\
                [switch]\nsimultaneous = \"snapshot\"\nties = \"port\"\nscheduler = { kind = \"fifo\" }\n\
                [measure]\nfrom = \"1ms\"\nto = \"9ms\"\ndrain = \"2s\"\nfct_end = \"sender_ack\"\n\
                allow_unfinished = true\nbin = \"5us\"\nqueues = false\npackets = true\n";
    let variant = &loaded(&star(more), &[]).variants[0];
    assert_eq!(variant.host.nic_queue, Some(Amount::Packets(300)));
    assert_eq!(variant.host.marking.values.amount("k"), Amount::Packets(9));
    assert_eq!(variant.framing, dataplane::Framing { header: 40, link: 0, min_frame: 40, gap: 20 });
    assert_eq!((variant.switches[0].simultaneous, variant.switches[0].ties), (Simultaneous::Snapshot, Ties::Port));
    assert_eq!(variant.switches[0].ports[3].scheduler.kind, "fifo");
    let m = &variant.measure;
    assert_eq!((m.from, m.to, m.drain, m.bin), (Time(Dur::ms(1).0), Time(Dur::ms(9).0), Dur::s(2), Dur::us(5)));
    assert_eq!((m.fct_end, m.allow_unfinished, m.queues, m.packets), (FctEnd::SenderAck, true, false, true));
}

#[test]
fn the_other_framings_leave_out_what_papers_do_not_count() {
    let framing = |kind: &str| loaded(&star(&format!("[framing]\nkind = \"{kind}\"\n")), &[]).variants[0].framing;
    let payload = framing("payload");
    assert_eq!((payload.frame(1000, 0), payload.wire(1000), payload.frame(0, 0)), (1000, 1000, 1));
    let mtu = framing("mtu");
    assert_eq!((mtu.frame(1460, 0), mtu.wire(1500), mtu.frame(0, 0)), (1500, 1500, 40));
}

#[test]
fn a_table_with_a_kind_replaces_and_other_keys_merge() {
    let more = "[switch]\noverflow = { kind = \"bounce\", theta = 0.5, lambda = 9 }\n\
                [variants.merged]\nswitch.overflow.theta = 0.7\n\
                [variants.replaced]\nswitch.overflow = { kind = \"bounce\", theta = 0.7 }\n\
                [variants.base]\n";
    let loaded = loaded(&star(more), &[]);
    let seen = loaded.variants.iter().map(|v| {
        let values = &v.switches[0].overflow.values;
        (values.number("theta"), values.number("lambda"))
    });
    assert_eq!(seen.collect::<Vec<_>>(), [(0.7, 9.0), (0.7, 50.0), (0.5, 9.0)]);
}

#[test]
fn a_list_of_a_variant_replaces_the_list() {
    let more = "[variants.two]\ntraffic = [{ name = \"a\", kind = \"incast\", senders = 1, receiver = \"h1\", size = \"1KB\" },\
                { name = \"b\", kind = \"incast\", senders = 1, receiver = \"h2\", size = \"1KB\" }]\n[variants.one]\n";
    let loaded = loaded(&star(more), &[]);
    let names = |i: usize| loaded.variants[i].traffic.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["a".to_string(), "b".into()], vec!["burst".to_string()]));
}

#[test]
fn settings_change_the_base_under_every_variant() {
    let sets =
        ["topology.k=4", "topology.link.rate=1/3 Gbps", "seed=7", "traffic.burst.size=40KB", "traffic.0.senders=3"];
    let loaded = loaded(INCAST, &sets);
    assert_eq!(loaded.seed, 7);
    assert_eq!(loaded.variants[3].topology.hosts, 16);
    assert_eq!(loaded.variants[3].topology.nodes[0].ports[0].rate, Rate::gbps(1).divided_by(3, 1).unwrap());
    let burst = &loaded.resolved["bounce"]["traffic"][0];
    assert_eq!((&burst["size"], &burst["senders"]), (&json!("40KB"), &json!(3)));
}

#[test]
fn the_last_of_two_settings_wins_and_a_new_kind_starts_from_its_defaults() {
    let base = star("[switch]\noverflow = { kind = \"bounce\", theta = 0.5 }\n");
    let sets =
        ["switch.overflow.kind=detour", "switch.overflow.mark_detoured=true", "switch.overflow.mark_detoured=false"];
    let overflow = loaded(&base, &sets).variants[0].switches[0].overflow.clone();
    assert_eq!(overflow.kind, "detour");
    assert_eq!(overflow.values.0.get("mark_detoured"), Some(&Value::Flag(false)));
    let same = loaded(&base, &["switch.overflow.kind=bounce"]).variants[0].switches[0].overflow.clone();
    assert_eq!(same.values.number("theta"), 0.5);
    let whole = loaded(&base, &["switch.overflow={ kind = \"bounce\", lambda = 2 }"]);
    assert_eq!(whole.variants[0].switches[0].overflow.values.number("theta"), 0.8);
}

#[test]
fn a_setting_that_some_variants_override_is_noted_and_one_that_all_do_is_refused() {
    let some = loaded(INCAST, &["transport.dupack_threshold=5"]);
    assert_eq!(some.variants[0].transport.values.count_or_off("dupack_threshold"), Some(5));
    assert_eq!(some.variants[1].transport.values.count_or_off("dupack_threshold"), None);
    let note = "--set transport.dupack_threshold=5: overridden by variant drop_no_fast_retransmit, detour, bounce";
    assert_eq!(some.notes[0], note);
    let all = star("[variants.a]\nduration = \"1ms\"\n[variants.b]\nduration = \"2ms\"\n");
    assert_eq!(
        refused(&all, &["duration=5ms"]),
        "--set: duration: found a value that every variant overrides; expected a path that some variant leaves as it \
         is; set it in a variant: variants.NAME.PATH=VALUE"
    );
}

#[test]
fn a_setting_can_reach_into_a_variant() {
    let loaded = loaded(INCAST, &["variants.bounce.switch.overflow.theta=0.25"]);
    assert_eq!(loaded.variants[3].switches[0].overflow.values.number("theta"), 0.25);
    let note = "bounce: bounce queues of 50pkt beside a buffer of 384KiB: two units in one switch";
    assert_eq!(loaded.notes, [note], "of the override, and none of the setting");
}

#[test]
fn the_duration_is_that_of_the_longest_variant() {
    let loaded = loaded(&star("[variants.a]\nduration = \"30ms\"\n[variants.b]\n"), &[]);
    assert_eq!(loaded.duration, Dur::ms(30));
    assert_eq!((loaded.variants[0].duration, loaded.variants[1].duration), (Dur::ms(30), Dur::ms(10)));
    assert_eq!(loaded.variants[1].measure.to, Time(Dur::ms(10).0));
}

#[test]
fn bounce_beside_memory_that_it_cannot_measure_is_noted() {
    let more = |buffer: &str| {
        star(&format!("[switch]\nbuffer = {buffer}\noverflow = {{ kind = \"bounce\", bounce_size = \"50KB\" }}\n"))
    };
    let endless = loaded(&more("{ kind = \"unlimited\" }"), &[]);
    assert_eq!(endless.notes, ["default: bounce with an unlimited buffer never bounces: its utilisation is always 0"]);
    let shared = loaded(&more("{ kind = \"shared\", size = \"1MB\" }"), &[]);
    assert_eq!(shared.notes.len(), 1);
    assert!(shared.notes[0].starts_with("default: bounce with a shared buffer: utilisation"), "{:?}", shared.notes);
}

#[test]
fn a_table_of_flows_is_told_as_memory_beside_the_buffer() {
    let with = |more: &str| loaded(&star(&format!("[switch]\noverflow = {{ kind = \"detour\"{more} }}\n")), &[]).notes;
    let note = "default: detour by flow size: every such switch has a table of 500 flows, 4KB beside its buffer";
    assert_eq!(with(", policy = \"flow_based\", flows = \"long\", flow_table = 500"), [note]);
    assert!(with(", policy = \"flow_based\"").is_empty() && with("").is_empty());
}

#[test]
fn sizes_are_a_text_or_a_table_and_resolved_as_they_were_written() {
    let all = star("").replace("kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"", "kind = \"permutation\"");
    let with = |size: &str| all.replace("size = \"20KB\"", &format!("size = {size}"));
    assert_eq!(loaded(&with("\"20KB\""), &[]).resolved["default"]["traffic"][0]["size"], "20KB");
    let pareto = with("{ kind = \"pareto\", shape = 1.2, mean = \"50KB\" }");
    let resolved = loaded(&pareto, &["traffic.burst.size.shape=1.5"]).resolved["default"]["traffic"][0]["size"].clone();
    assert_eq!(resolved, json!({ "kind": "pareto", "shape": 1.5, "mean": "50KB" }));
    assert_eq!(
        refused(&with("{ kind = \"pareto\", shap = 1.2, mean = \"50KB\", shape = 1 }"), &[]),
        "test.toml:9: traffic.burst.size.shap: found unknown key `shap`; expected one of `kind`, `shape`, `scale`, \
         `mean`, `max` (did you mean `shape`?)"
    );
    assert_eq!(
        refused(&with("{ kind = \"pareto\", mean = \"50KB\", shape = 1 }"), &[]),
        "test.toml:9: traffic.burst.size.shape: found 1; expected more than 1, or a `max`, where a mean is given"
    );
    assert!(refused(&with("20"), &[]).contains("found 20, which has no unit; expected a size with its unit"));
}

#[test]
fn every_value_is_resolved_with_its_unit() {
    let loaded = loaded(INCAST, &[]);
    let bounce = &loaded.resolved["bounce"];
    assert_eq!(bounce["duration"], "200ms");
    assert_eq!(bounce["seed"], 1);
    assert_eq!(bounce["topology"]["kind"], "fat_tree");
    assert_eq!(bounce["topology"]["link"], json!({ "rate": "1Gbps", "delay": "1us" }));
    assert_eq!(
        bounce["framing"],
        json!({ "kind": "ethernet", "header": "40B", "link": "18B", "min_frame": "64B", "gap": "20B" })
    );
    assert_eq!(bounce["host"]["nic_queue"], "unlimited");
    assert_eq!(bounce["measure"]["bin"], "1ms");
    assert_eq!(bounce["transport"]["dupack_threshold"], "off");
    let groups = bounce["switches"].as_array().expect("groups of switches");
    let sizes: Vec<_> =
        groups.iter().map(|g| (g["buffer"]["size"].clone(), g["nodes"].as_array().map(Vec::len))).collect();
    assert_eq!(sizes, [(json!("50pkt"), Some(48)), (json!("384KiB"), Some(32))]);
    assert_eq!(groups[0]["overflow"]["round_to"], 3);
    assert_eq!(groups[0]["marking"], json!({ "kind": "ecn_threshold", "k": "20pkt" }));
}

#[test]
fn a_custom_network_comes_from_its_nodes_and_links() {
    let text = star(
        "[[topology.node]]\nname = \"a\"\nkind = \"host\"\n[[topology.node]]\nname = \"s\"\nkind = \"switch\"\n\
                     tier = \"tor\"\n[[topology.node]]\nname = \"b\"\nkind = \"host\"\n\
                     [[topology.link]]\na = \"a\"\nb = \"s\"\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
                     [[topology.link]]\na = \"s\"\nb = \"b\"\nrate = \"1Gbps\"\ndelay = \"3us\"\nweight = 0.5\n",
    );
    let text = text.replace("\"star\"\nn = 4", "\"custom\"").replace("\"h0\"", "\"b\"");
    let net = &loaded(&text, &[]).variants[0].topology;
    assert_eq!((net.hosts, net.nodes[2].name.as_str(), net.nodes[2].tier.as_str()), (2, "s", "tor"));
    let port = &net.nodes[2].ports[1];
    assert_eq!((port.peer, port.rate, port.delay, port.weight), (1, Rate::gbps(1), Dur::us(3), 0.5));
}

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
    let files = Box::new(|_: &str| Ok("0 0.9999999\n1 1\n".to_string()));
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
    let ports = "found 4325376 ports in the variants up to here; expected at most 4000000 in all variants together";
    assert_eq!(great, format!("test.toml:3: topology: {ports}"));
}

#[test]
fn variants_times_the_values_of_the_base_are_bounded() {
    let variants = |n| (0..n).map(|i| format!("[variants.v{i}]\n")).collect::<String>();
    let base = format!("[[traffic]]\nsources = [{}]\n", "\"h1\", ".repeat(20_000));
    let found = "found 50 variants of a base of 20015 values";
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
    let rule = "at most 10000000 times hosts, in all variants together";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:6: traffic: found 201 workloads over 60000 hosts; expected {rule}")
    );
}

#[test]
fn overrides_times_switches_are_bounded() {
    let place = |i| format!("[[override]]\nwhere = {{ node = \"edge{i}\" }}\nswitch.ties = \"port\"\n");
    let text = tree(&(0..6000).map(place).collect::<String>()).replace("k = 4", "k = 64");
    let rule = "at most 30000000 times switches, in all variants together";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:13: override.0.where: found 6000 overrides over 5120 switches; expected {rule}")
    );
}

#[test]
fn a_network_whose_routing_tables_take_more_than_a_gigabyte_is_refused() {
    let text = star("").replace("\"star\"\nn = 4", "\"chain_tree\"\nn = 10000\ndepth = 10");
    let rule = "at most 250000000 entries in all routing tables, the product of the two";
    assert_eq!(
        refused(&text, &[]),
        format!("test.toml:3: topology: found 100001 switches, 10001 of them with hosts; expected {rule}")
    );
}

#[test]
fn of_many_unknown_switches_a_hundred_are_told() {
    let place = |i| format!("[[override]]\nwhere = {{ node = \"egde{i}\" }}\nswitch.ties = \"port\"\n");
    let found = refused(&tree(&(0..2000).map(place).collect::<String>()).replace("k = 4", "k = 32"), &[]);
    assert_eq!(found.lines().count(), 100);
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
    assert_eq!(found.lines().count(), 100, "so many are told");
    let right = star(&more.replace("\"n0\", ", "").replace("\"n", "\"h")).replace("n = 4", "n = 60000");
    assert_eq!(loaded(&right, &[]).variants[0].traffic[1].raw(1, 1).len(), 29_999);
}

#[test]
fn names_of_any_length_are_told_in_messages_of_some_length() {
    let long = "a".repeat(1_000_000);
    let found = refused(&star(&format!("[host]\n{long} = 1\n")), &[]);
    assert!(found.len() < 4000 && found.contains("aaa…; expected"), "{} bytes", found.len());
    let path = vec!["a"; 10_000].join(".");
    assert!(refused(&star(""), &[&format!("{path}=1")]).len() < 4000);
}

/// Three ports may fill the fourth: memory that holds `xoff` and the headroom of three is enough.
#[test]
fn a_buffer_that_cannot_hold_all_headroom_is_noted_with_its_numbers_and_one_that_can_is_not() {
    let pause = |size: u64, kind: &str| {
        star(&format!(
            "[switch]\nbuffer = {{ kind = \"per_port\", size = \"{size}B\" }}\n\
             pause = {{ kind = \"{kind}\", xoff = \"10KB\", xon = \"1KB\" }}\n"
        ))
    };
    for kind in ["pause", "pfc"] {
        let headroom = loaded(&pause(1_000_000, kind), &[]).variants[0].span(4, 0).headroom();
        let enough = 3 * (10_000 + headroom);
        assert!(loaded(&pause(enough, kind), &[]).notes.is_empty());
        let notes = loaded(&pause(enough - 1, kind), &[]).notes;
        let [note] = &notes[..] else { panic!("{notes:?}") };
        let said = format!("3 ports with xoff = 10KB and a headroom of {headroom}B may hold {enough}B");
        assert!(note.contains(&said) && note.contains(&format!("has {}B guaranteed", enough - 1)), "{note}");
        let may_lose = loaded(&pause(enough - 1, kind), &["switch.pause.lossless=false"]);
        assert!(may_lose.notes.is_empty(), "where loss is only counted nothing is to be said");
    }
}

#[test]
fn pause_may_differ_between_ports_and_classes_in_use_count_apart() {
    let pfc = "[switch]\nbuffer = { kind = \"shared\", size = \"200KB\", alpha = 1 }\n\
               pause = { kind = \"pfc\", xoff = \"25KB\", xon = \"1KB\" }\n";
    // 100 KB are guaranteed; four ports hold 25 KB each and their headroom.
    assert_eq!(loaded(&star(pfc), &[]).notes.len(), 1);
    let spared = "[[override]]\nwhere = { port = \"host\" }\nswitch.pause = { kind = \"none\" }\n";
    let none = loaded(&star(&format!("{pfc}{spared}")), &[]);
    assert!(none.notes.is_empty() && !none.variants[0].pauses());
    let second = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
                  size = \"20KB\"\nclass = 3\n";
    let two = loaded(&star(&format!("{pfc}{second}")), &[]);
    assert!(two.notes[0].contains("4 ports of 2 classes each"), "{:?}", two.notes);
}

/// A switch of nine ports whose slots are these.
fn pausing(switch: &str, more: &str) -> Vec<String> {
    loaded(&star(&format!("[switch]\n{switch}\n{more}")).replace("n = 4", "n = 9"), &[])
        .notes
        .iter()
        .map(|note| note.replace("default: ", ""))
        .collect()
}

const PER_PORT: &str = "buffer = { kind = \"per_port\", size = \"500KB\" }";
const PFC: &str = "pause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }";

/// Each takes half of what the last has left: 500 000, 250 000, … 1953 bytes of 1 MB. All at once they would
/// take a tenth each, for which and for the headroom there is room.
#[test]
fn thresholds_of_what_is_free_are_reached_one_after_another() {
    let text = "[switch]\nbuffer = { kind = \"shared\", size = \"1MB\", alpha = 1000000 }\n\
                pause = { kind = \"pfc\", alpha = 1 }\n";
    let nine = loaded(&star(text).replace("n = 4", "n = 9"), &[]);
    let headroom = nine.variants[0].span(9, 0).headroom();
    assert!(9 * (100_000 + headroom) < 999_999);
    let may_hold = 998_047 + 9 * headroom;
    let said = format!(
        "9 ports with xoff = 500KB and less, one after another, and a headroom of {headroom}B may hold {may_hold}B"
    );
    assert!(matches!(&nine.notes[..], [note] if note.contains(&said)), "{:?}", nine.notes);
    // Of four ports a sixteenth is left.
    assert_eq!(loaded(&star(text), &[]).notes, [""; 0]);
}

#[test]
fn what_is_never_stopped_and_takes_of_the_same_memory_is_noted() {
    assert_eq!(pausing(&format!("{PER_PORT}\n{PFC}"), ""), [""; 0]);
    let only_one = PFC.replace("xoff", "classes = [1], xoff");
    let both = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
                size = \"20KB\"\nclass = 1\n";
    let end = "may fill the memory that others need: a packet may be lost, which ends the run as an error \
               unless lossless = false";
    assert_eq!(pausing(&format!("{PER_PORT}\n{only_one}"), both), [format!("pause at s0: class 0 {end}")]);
    assert_eq!(pausing(&format!("{PER_PORT}\n{only_one}"), ""), [""; 0], "nobody is stopped, and nobody to be kept");
    let two_tiers =
        star(&format!("[switch]\n{PER_PORT}\n[[override]]\nwhere = {{ port = \"switch\" }}\nswitch.{PFC}\n"));
    let tree = two_tiers.replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4");
    assert_eq!(
        loaded(&tree, &[]).notes,
        [format!("default: pause at edge0 and 7 like it: what comes in by 2 ports without lossless pause {end}")]
    );
}

/// 500 packets hold 759 000 bytes of full frames and 32 000 of ACKs.
#[test]
fn a_buffer_in_packets_is_sure_only_of_the_smallest_frames() {
    let switch = |size: &str| format!("buffer = {{ kind = \"per_port\", size = \"{size}\" }}\n{PFC}");
    let notes = pausing(&switch("500pkt"), "");
    assert!(
        matches!(&notes[..], [note] if note.contains("(per_port, 500pkt of 64B) has 32KB guaranteed")),
        "{notes:?}"
    );
    assert_eq!(pausing(&switch("759KB"), ""), [""; 0]);
}

/// 20 quanta are 10.24 us at 1 Gb/s, and a pause frame may wait 12.304 us for the frame under way.
#[test]
fn pauses_that_may_expire_before_they_are_refreshed_are_noted_with_their_times() {
    let with = |more: &str| pausing(&format!("{PER_PORT}\n{}", PFC.replace("xon", &format!("{more}, xon"))), "");
    let note = |again: &str, duration: &str| {
        format!(
            "pause at s0: a pause lasts {duration} and {again}: the far end sends meanwhile, and no headroom is for that: a \
             packet may be lost, which ends the run as an error unless lossless = false"
        )
    };
    let again = |after: &str| format!("is refreshed after {after}, up to 12304ns late");
    assert_eq!(with("quanta = 20, refresh = \"off\""), [note("is never refreshed", "10240ns")]);
    assert_eq!(with("quanta = 20, refresh = 20"), [note(&again("10240ns"), "10240ns")]);
    assert_eq!(with("quanta = 100, refresh = 76"), [note(&again("38912ns"), "51200ns")]);
    assert_eq!(with("quanta = 100, refresh = 75"), [""; 0], "38.4 and 12.304 of 51.2 us");
    assert_eq!(with("quanta = 20, refresh = \"off\", lossless = false"), [""; 0]);
}

#[test]
fn detours_beside_lossless_pause_are_noted_where_packets_have_a_ttl() {
    let detour = format!("{PER_PORT}\n{PFC}\noverflow = {{ kind = \"detour\" }}");
    let note = "detour beside lossless pause: a packet may use up its TTL on detours, which is for no want of memory and \
                counted as ttl_expired alone";
    assert_eq!(pausing(&detour, ""), [note]);
    assert_eq!(pausing(&detour, "[transport]\nkind = \"dctcp\"\nttl = \"off\"\n"), [""; 0]);
    assert_eq!(pausing(&detour.replace("xoff", "lossless = false, xoff"), ""), [""; 0]);
}
