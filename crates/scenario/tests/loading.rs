//! Results of loading valid scenarios.

use crate::common::{INCAST, loaded, refused, size_of, star};
use scenario::memory::switch_memory;
use scenario::{FctEnd, SimultaneousArrivals, TieOrder};
use serde_json::json;
use units::{Amount, Dur, Rate, Time};

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
    assert_eq!((switch.simultaneous, switch.ties), (SimultaneousArrivals::InTurn, TieOrder::Random));
    assert_eq!(only.framing, dataplane::Framing::ETHERNET);
    assert_eq!((only.host.stack_delay, only.host.stack_jitter, only.host.nic_queue), (Dur::ZERO, Dur::ZERO, None));
    assert_eq!(only.host.nic_jitter, None, "a tenth of a frame");
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
fn an_event_that_a_run_may_not_reach_is_told_of() {
    let notes = |up: &str| {
        let event = |kind: &str, at: &str| format!("[[event]]\nkind = \"{kind}\"\nat = \"{at}\"\nlink = \"h1:s0\"\n");
        loaded(&star(&format!("{}{}", event("link_down", "2ms"), event("link_up", up))), &[]).notes
    };
    assert_eq!(notes("9999us").len(), 1, "of completion times in a network that changes, as ever");
    let said = "default: 1 of 2 events are at or after the end of the duration, 10ms (first `h1:s0` at 10ms). These \
                events happen only if measured flows are still unfinished then. Increase `duration` if they must \
                happen";
    assert!(notes("10ms").contains(&said.to_string()), "{:?}", notes("10ms"));
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
    assert!(
        blind.len() == 1
            && blind[0].starts_with("default: srpt and evict have no effect within a class with transport.priority"),
        "{blind:?}"
    );
    let endless = format!("{slots}[transport]\nkind = \"sack\"\npriority = \"remaining\"\n")
        .replace("[switch]\n", "[switch]\nbuffer = { kind = \"unlimited\" }\n");
    let notes = loaded(&star(&endless), &[]).notes;
    assert_eq!(
        notes,
        ["default: evict has no effect with an unlimited buffer, because no queue is ever full. Set a \
                        buffer size"]
    );
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
    assert_eq!(
        (variant.switches[0].simultaneous, variant.switches[0].ties),
        (SimultaneousArrivals::Snapshot, TieOrder::Port)
    );
    assert_eq!(variant.switches[0].ports[3].scheduler.kind, "fifo");
    let m = &variant.measure;
    assert_eq!((m.from, m.to, m.drain, m.bin), (Time(Dur::ms(1).0), Time(Dur::ms(9).0), Dur::s(2), Dur::us(5)));
    assert_eq!((m.fct_end, m.allow_unfinished, m.queues, m.packets), (FctEnd::SenderAck, true, false, true));
}

/// Memory for trimmed headers, which a switch with input memory does not need.
/// Headers that do not fit the buffer of their output wait at their input, which has the memory.
#[test]
fn room_for_headers_is_memory_beside_a_buffer_and_not_beside_inputs() {
    let bytes = |model: &str| {
        let buffer =
            "buffer = { kind = \"per_port\", size = \"10KB\" }\noverflow = { kind = \"trim\", extra = \"1KB\" }\n";
        let loaded = loaded(&star(&format!("[switch]\n{model}{buffer}")), &[]);
        switch_memory(&loaded.variants[0])[0].total_memory().and_then(|memory| memory.bytes)
    };
    assert_eq!((bytes(""), bytes("model = \"cioq\"\n")), (Some(4 * 11_000), Some(4 * 160_000)));
}

#[test]
fn the_other_framings_leave_out_what_papers_do_not_count() {
    let framing = |kind: &str| loaded(&star(&format!("[framing]\nkind = \"{kind}\"\n")), &[]).variants[0].framing;
    let payload = framing("payload");
    assert_eq!((payload.frame_size(1000, 0), payload.wire_size(1000), payload.frame_size(0, 0)), (1000, 1000, 1));
    let mtu = framing("mtu");
    assert_eq!((mtu.frame_size(1460, 0), mtu.wire_size(1500), mtu.frame_size(0, 0)), (1500, 1500, 40));
}

#[test]
fn bounce_beside_memory_that_it_cannot_measure_is_noted() {
    let more = |buffer: &str| {
        star(&format!("[switch]\nbuffer = {buffer}\noverflow = {{ kind = \"bounce\", bounce_size = \"50KB\" }}\n"))
    };
    let endless = loaded(&more("{ kind = \"unlimited\" }"), &[]);
    assert_eq!(
        endless.notes,
        ["default: bounce has no effect with an unlimited buffer, because the utilisation is \
                                always 0. Set a buffer size"]
    );
    let shared = loaded(&more("{ kind = \"shared\", size = \"1MB\" }"), &[]);
    assert_eq!(shared.notes.len(), 1);
    assert!(shared.notes[0].starts_with("default: bounce with a shared buffer: utilisation"), "{:?}", shared.notes);
}

#[test]
fn a_table_of_flows_is_told_as_memory_beside_the_buffer() {
    let with = |more: &str| loaded(&star(&format!("[switch]\noverflow = {{ kind = \"detour\"{more} }}\n")), &[]).notes;
    let note = "default: detour by flow size: every switch with this policy has a table of 500 flows, which takes 4KB in \
         addition to the buffer";
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
        "test.toml:9: traffic.burst.size.shape: found 1; expected a shape above 1, or the key `max`, because a mean is \
         given"
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
fn a_scenario_that_says_no_transport_has_the_hosts_of_today() {
    let kind = |more: &str, sets: &[&str]| loaded(&star(more), sets).variants[0].transport.kind.clone();
    assert_eq!(kind("", &[]), "linux");
    assert_eq!(kind("[transport]\nmin_rto = \"10ms\"\n", &[]), "linux");
    assert_eq!(kind("", &["transport.kind=newreno"]), "newreno");
}

#[test]
fn a_key_of_another_kind_is_told_with_the_variants_of_that_kind() {
    let cut = "[switch]\noverflow = { kind = \"tail_drop\" }\n[variants.drop]\n\
               [variants.cp]\nswitch.overflow = { kind = \"trim\", trimmable = \"any\" }\n";
    let set = "switch.overflow.extra=8KiB";
    let found = "--set: switch.overflow.extra: found unknown key `extra`; expected `kind` (this key belongs to the \
                 kind `trim`";
    let here = "to set it there, write variants.cp.switch.overflow.extra)";
    assert_eq!(refused(&star(cut), &[set]), format!("{found}, which variant `cp` uses; {here}"));
    let two = format!("{cut}[variants.ndp]\nswitch.overflow = {{ kind = \"trim\", no_room = \"return\" }}\n");
    assert_eq!(refused(&star(&two), &[set]), format!("{found}, which variants `cp`, `ndp` use; {here}"));
    let variant = |n: u32| format!("[variants.v{n}]\nswitch.overflow = {{ kind = \"trim\", trimmable = \"any\" }}\n");
    let many = format!("{cut}{}", (0..4).map(variant).collect::<String>());
    assert_eq!(refused(&star(&many), &[set]), format!("{found}, which variants `cp` and others use; {here}"));
    loaded(&star(cut), &["variants.cp.switch.overflow.extra=8KiB"]);

    let base = "[switch]\noverflow = { kind = \"tail_drop\", theta = 0.5 }\n";
    let own = "switch.overflow.theta: found unknown key `theta`; expected `kind` (this key belongs to the kind \
               `bounce`)";
    assert!(refused(&star(base), &[]).ends_with(own), "{}", refused(&star(base), &[]));
    assert!(!refused(&star(cut), &["switch.overflow.thta=1"]).contains("this key belongs"), "nobody has it");
}

/// Test of queries with more flows than hosts other than the target.
/// The star has four hosts, so that three others share the flows.
#[test]
fn more_flows_than_other_hosts_are_noted_with_their_shares() {
    let notes = |senders: u64| loaded(&star(""), &[&format!("traffic.burst.senders={senders}")]).notes;
    let said = |senders: u64, share: &str| {
        [format!(
            "default: traffic `burst`: `senders` = {senders}, but there are only 3 hosts other than the receiver. In \
             each query, {share}"
        )]
    };
    assert_eq!(notes(3), [""; 0]);
    assert_eq!(notes(4), said(4, "1 of them sends 2 flows, each other host 1"));
    assert_eq!(notes(6), said(6, "each of them sends 2 flows"));
    assert_eq!(notes(8), said(8, "2 of them send 3 flows, each other host 2"));
    let query = star("").replace("incast\"\nsenders = 2\nreceiver", "query\"\ndegree = 4\ntarget");
    let told = &loaded(&query.replace("size =", "response ="), &[]).notes[0];
    assert!(told.contains("`degree` = 4, but there are only 3 hosts other than the target."), "{told}");
}
