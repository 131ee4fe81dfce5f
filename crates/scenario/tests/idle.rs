//! Settings that have no effect in combination with the rest of a scenario: each gives a note or is refused.

use crate::common::{loaded, refused, source, star, tree};
use scenario::{Source, load};

/// Returns the notes of a small scenario with these lines, which also extend its workload.
fn notes(more: &str) -> Vec<String> {
    let all = loaded(&star(more), &[]).notes;
    all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string()).collect()
}

/// Returns the text of a fat-tree with this workload instead of the incast.
fn workload(lines: &str) -> String {
    let text = tree("");
    text[..text.find("[[traffic]]").expect("it has one")].to_string() + "[[traffic]]\nname = \"w\"\n" + lines
}

fn notes_of(lines: &str) -> Vec<String> {
    loaded(&workload(lines), &[]).notes
}

#[test]
fn link_failure_keys_without_link_events_warn() {
    let rate = "[[event]]\nkind = \"rate\"\nat = \"1ms\"\nlink = \"h1\"\nrate = \"1Mbps\"\n";
    let down = "[[event]]\nkind = \"link_down\"\nat = \"1ms\"\nlink = \"h1\"\n";
    let with = |events: &str| {
        let text = star(events).replace("[topology]", "reroute_delay = \"1us\"\ndead_port = \"wait\"\n[topology]");
        loaded(&text, &[]).notes.iter().filter(|note| note.contains("no effect")).cloned().collect::<Vec<_>>()
    };
    let said = |key: &str| {
        format!(
            "default: {key} has no effect without an [[event]] of kind `link_down` or \
                                    `link_up`"
        )
    };
    assert_eq!(with(""), [said("reroute_delay"), said("dead_port")]);
    assert_eq!(with(rate), [said("reroute_delay"), said("dead_port")]);
    assert_eq!(with(down), [""; 0]);
}

#[test]
fn measures_that_record_nothing_warn() {
    let said = "measure.displacement_threshold has no effect without measure.reordering = true";
    assert_eq!(notes("[measure]\ndisplacement_threshold = 9\n"), [said]);
    assert_eq!(notes("[measure]\ndisplacement_threshold = 9\nreordering = true\n"), [""; 0]);
    let said = "measure.detours records nothing: no switch detours packets";
    assert_eq!(notes("[measure]\ndetours = 2\n"), [said]);
    assert_eq!(notes("[measure]\ndetours = 2\n[switch]\noverflow = { kind = \"detour\" }\n"), [""; 0]);
    for (key, why) in [
        ("notices", "no switch has `switch.notify`, and `host.reaction` of no host sends CNPs"),
        ("rate_limits", "host.reaction is \"none\""),
        ("inputs", "no switch has model = \"cioq\""),
    ] {
        assert_eq!(notes(&format!("[measure]\n{key} = true\n")), [format!("measure.{key} records nothing: {why}")]);
    }
    assert_eq!(notes("[measure]\nsent = true\ninputs = true\n[switch]\nmodel = \"cioq\"\n"), [""; 0]);
}

#[test]
fn unused_rank_of_packets_warns() {
    let ranked = "[transport]\nkind = \"sack\"\npriority = \"remaining\"\n";
    let said = "transport.priority has no effect: no scheduler and no overflow mechanism uses this rank";
    assert_eq!(notes(ranked), [said]);
    for more in ["[switch]\nscheduler = { kind = \"srpt\" }\n", "[host]\nscheduler = { kind = \"srpt\" }\n"] {
        assert_eq!(notes(&format!("{ranked}{more}")), [""; 0]);
    }
}

#[test]
fn restart_after_idle_without_reused_connections_warns() {
    let rest = "[transport]\nkind = \"sack\"\nrestart_after_idle = false\n";
    assert!(
        notes(rest)[0].starts_with("transport.restart_after_idle has no effect: every flow has its own connection")
    );
    let kept = "kind = \"request_reply\"\nreply = \"9KB\"\nstop = \"1ms\"\n";
    assert_eq!(notes_of(&format!("{kept}{rest}")), [""; 0]);
    assert_eq!(notes_of(&format!("{kept}connection = \"new\"\n{rest}")).len(), 1);
}

#[test]
fn memory_of_connections_that_never_end_is_reported() {
    let kept = "kind = \"request_reply\"\nreply = \"9KB\"\nstop = \"1ms\"\n";
    let forgets = "[transport]\nkind = \"linux_2_6_38\"\nmetrics_save = false\n";
    let said = "default: transport.metrics_save has no effect: hosts save these values when a connection ends, but all \
                connections last for the whole run";
    assert_eq!(notes_of(&format!("{kept}{forgets}")), [said]);
    assert_eq!(notes_of(&format!("{kept}connection = \"new\"\n{forgets}")), [""; 0]);
    assert_eq!(notes(forgets), [""; 0]);
}

#[test]
fn nic_credit_without_a_flow_rate_warns() {
    let credit = "[host]\nnic = { kind = \"round_robin\", credit = \"1538B\" }\n";
    assert_eq!(notes(credit), ["host.nic.credit has no effect: no flow has a rate limit"]);
    assert_eq!(notes(&credit.replace("credit", "flow_rate = \"1Gbps\", credit")), [""; 0]);
}

#[test]
fn ecn_without_marking_and_marking_without_ecn_warn() {
    let marking = "[switch]\nmarking = { kind = \"ecn_threshold\", k = \"5pkt\" }\n";
    let ecn = "[transport]\nkind = \"sack\"\necn = true\n";
    assert_eq!(notes(ecn), ["transport.ecn has no effect: no switch and no host marks packets"]);
    assert_eq!(notes(&format!("{marking}{ecn}")), [""; 0]);
    assert_eq!(
        notes("[transport]\nkind = \"dctcp\"\ng = 0.5\n"),
        ["transport.g has no effect: no switch and no host \
                                                                    marks packets"]
    );
    for kind in ["dctcp", "linux_dctcp"] {
        let said = format!(
            "the transport {kind:?} behaves as Reno, because no switch and no host marks packets. Set \
                            switch.marking"
        );
        assert_eq!(notes(&format!("[transport]\nkind = {kind:?}\n")), [said]);
        assert_eq!(notes(&format!("{marking}[transport]\nkind = {kind:?}\n")), [""; 0]);
    }
    let said = "switch.marking does not mark packets of the transport `linux`, which is not ECN-capable as configured. \
                Set transport.ecn = true, or use `dctcp`";
    assert_eq!(notes(marking), [said]);
    assert_eq!(notes("[switch]\nmarking = { kind = \"red\" }\n"), [""; 0], "it drops what it cannot mark");
    let wred = |marked: &str| {
        let profile = format!("{{ queue = [0], min = \"5KB\", max = \"9KB\", ecn = {marked:?} }}");
        notes(&format!("[switch]\nmarking = {{ kind = \"wred\", queues = [{profile}] }}\n{ecn}"))
    };
    assert_eq!(wred("all"), [""; 0]);
    assert_eq!(wred("none"), notes(ecn), "it drops every packet that is due for a mark");
}

#[test]
fn unused_bounce_signal_and_link_weights_warn() {
    let signal = "[host]\nbounce_signal = { kind = \"window_cut\", window = \"500us\", threshold = 2 }\n";
    assert_eq!(notes(signal), ["host.bounce_signal has no effect: no switch bounces packets"]);
    let bounce = "[switch]\noverflow = { kind = \"bounce\" }\n";
    assert!(!notes(&format!("{signal}{bounce}")).iter().any(|note| note.contains("bounce_signal")));
    let custom = "name = \"c\"\nduration = \"1ms\"\n[topology]\nkind = \"custom\"\n\
                  node = [{ name = \"a\", kind = \"host\" }, { name = \"s\", kind = \"switch\" }, { name = \"b\", kind = \"host\" }]\n\
                  link = [{ a = \"a\", b = \"s\", rate = \"1Gbps\", delay = \"1us\", weight = 0.3 }, { a = \"s\", b = \"b\", rate = \
                  \"1Gbps\", delay = \"1us\" }]\n[[traffic]]\nname = \"t\"\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let said = "default: topology.link: `weight` has no effect without switch.routing = \"weighted\"";
    assert_eq!(loaded(custom, &[]).notes, [said]);
    let weighted = format!("{custom}[switch]\nrouting = {{ kind = \"weighted\" }}\n");
    assert_eq!(loaded(&weighted, &[]).notes, [""; 0]);
}

#[test]
fn empty_reverse_table_of_a_link_warns() {
    let said = |path: &str| format!("topology.{path} has no effect: the table sets neither rate nor delay");
    let with = |back: &str| notes(&format!("[topology.link.back]\n{back}\n"));
    assert_eq!(with(""), [said("link.back")]);
    assert_eq!(with("rate = \"1Mbps\""), [""; 0]);
    let custom = |back: &str| {
        let link = |ends: &str, back: &str| format!("{{ {ends}, rate = \"1Gbps\", delay = \"1us\"{back} }}");
        let links = [link("a = \"a\", b = \"s\"", ""), link("a = \"s\", b = \"b\"", back)].join(", ");
        let nodes =
            "{ name = \"a\", kind = \"host\" }, { name = \"s\", kind = \"switch\" }, { name = \"b\", kind = \"host\" }";
        let topology = format!("[topology]\nkind = \"custom\"\nnode = [{nodes}]\nlink = [{links}]\n");
        let traffic = "[[traffic]]\nname = \"t\"\nkind = \"permutation\"\nsize = \"1KB\"\n";
        loaded(&format!("name = \"c\"\nduration = \"1ms\"\n{topology}{traffic}"), &[]).notes
    };
    assert_eq!(custom(", back = {}"), [format!("default: {}", said("link.2nd.back"))]);
    assert_eq!(custom(", back = { delay = \"2us\" }"), [""; 0]);
}

#[test]
fn frames_that_wait_for_longer_than_timers_are_told() {
    let with = |jitter: &str, tcp: &str| notes(&format!("[host]\nnic_jitter = \"{jitter}\"\n[transport]\n{tcp}"));
    let said = |jitter: &str, least: &str| {
        let found = format!("host.nic_jitter = {jitter} is not below transport.min_rto = {least}");
        [format!(
            "{found}: retransmission timers expire before frames leave the NIC. Reduce nic_jitter, or increase min_rto"
        )]
    };
    assert_eq!(with("1000s", "kind = \"linux\"\n"), said("1000s", "200ms"));
    assert_eq!(with("10ms", "kind = \"sack\"\n"), said("10ms", "10ms"));
    assert_eq!(with("9ms", "kind = \"sack\"\n"), [""; 0]);
    assert_eq!(with("1s", "kind = \"pfabric\"\n").len(), 0, "it has no minimum RTO");
}

#[test]
fn marking_from_a_length_on_that_no_queue_reaches_is_told() {
    let with = |k: &str, size: &str, more: &str| {
        let marking = format!("marking = {{ kind = \"ecn_threshold\", k = \"{k}\" }}\n");
        let buffer = format!("buffer = {{ kind = \"per_port\", size = \"{size}\" }}\n");
        notes(&format!("[switch]\n{marking}{buffer}{more}[transport]\nkind = \"dctcp\"\n"))
    };
    let said = |k: &str, size: &str| {
        let begins = format!("marking begins at {k}, but the buffer of a port is only {size}. Lower the threshold");
        vec![format!("switch.marking marks nothing at s0 and switches like it: {begins}")]
    };
    assert_eq!(with("100pkt", "100pkt", ""), said("100pkt", "100pkt"));
    assert_eq!(with("99pkt", "100pkt", ""), [""; 0], "the last that fits finds 99");
    assert_eq!(with("150KB", "150KB", ""), said("150KB", "150KB"));
    assert_eq!(with("100pkt", "6400B", ""), said("100pkt", "6400B"), "frames have 64 bytes at least");
    assert_eq!(with("99pkt", "6400B", ""), [""; 0]);
    assert_eq!(with("151800B", "100pkt", "").len(), 1, "and 1518 at most");
    let evict = with("100pkt", "100pkt", "overflow = { kind = \"evict\" }\n");
    assert!(!evict.iter().any(|note| note.contains("marks nothing")), "an arrival may take a place: {evict:?}");
    let red = "marking = { kind = \"red\", min = \"100pkt\", max = \"200pkt\" }\n";
    let small = "[switch]\nbuffer = { kind = \"per_port\", size = \"100pkt\" }\n";
    assert_eq!(notes(&format!("{small}{red}")), said("100pkt", "100pkt"));
    assert_eq!(notes(&format!("{small}{}", red.replace("min = \"100pkt", "min = \"99pkt"))), [""; 0]);
    let nic = "[host]\nnic_queue = \"9pkt\"\nmarking = { kind = \"ecn_threshold\", k = \"9pkt\" }\n[transport]\nkind = \"dctcp\"\n";
    let said =
        "host.marking marks nothing: marking begins at 9pkt, but host.nic_queue is only 9pkt. Lower the threshold";
    assert_eq!(notes(nic), [said]);
}

#[test]
fn classes_and_their_order_are_told_where_all_packets_are_of_one() {
    let of = |class: &str, more: &str| {
        let lines = format!("kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"9KB\"\n{class}");
        let all = notes_of(&format!("{lines}{more}"));
        all.iter()
            .map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string())
            .collect::<Vec<_>>()
    };
    let second = "[[traffic]]\nname = \"v\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h1\"\nsize = \"9KB\"\n";
    let alone = "class = 3 has no effect: all packets have this class, and no mechanism uses it";
    assert_eq!(of("class = 3\n", ""), [alone]);
    assert_eq!(of("class = 3\n", second), [""; 0]);
    assert_eq!(
        of("class = 3\n", "[switch]\npause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }\n")
            .iter()
            .filter(|n| *n == alone)
            .count(),
        0
    );
    for kind in ["strict_priority", "round_robin"] {
        let order = format!("[switch]\nscheduler = {{ kind = \"{kind}\" }}\n");
        let said =
            format!("scheduler = \"{kind}\" has no effect: all packets have class 0 and leave first in, first out");
        assert_eq!(of("", &order), [said.as_str()]);
        assert_eq!(of("", &format!("{order}{second}class = 1\n")), [""; 0]);
        let bounced = of("", &format!("{order}overflow = {{ kind = \"bounce\" }}\n"));
        assert!(!bounced.contains(&said), "bounced packets have a lane of their own: {bounced:?}");
    }
}

#[test]
fn a_transport_that_nothing_has_is_told() {
    let raw = "kind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\nrate = \"1Mbps\"\n";
    let table = "[transport]\nkind = \"sack\"\nttl = 9\nmin_rto = \"20ms\"\n";
    let said = "default: transport: min_rto has no effect, because all traffic is sent without a transport";
    assert_eq!(notes_of(&format!("{raw}{table}")), [said]);
    assert_eq!(notes_of(&format!("{raw}[transport]\nkind = \"sack\"\nttl = 9\n")), [""; 0]);
}

#[test]
fn a_segment_without_a_load_in_wire_bytes_is_refused() {
    let poisson = "kind = \"poisson\"\nsizes = \"9KB\"\n";
    let with = |more: &str| refused(&workload(&format!("{poisson}{more}")), &[]);
    let paced = with("interarrival = \"1ms\"\nload.segment = \"1000B\"\n");
    assert!(paced.ends_with("load.segment: found 1KB; expected no value if `interarrival` is given"), "{paced}");
    let payload = with("load = { fraction = 0.1, segment = \"1000B\" }\n");
    assert!(payload.ends_with("load.segment: found 1KB; expected no value if `load.bytes` is `payload`"), "{payload}");
    let incast = "kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"9KB\"\nload.segment = \"1000B\"\n";
    assert!(refused(&workload(incast), &[]).contains("expected no value if `load.fraction` is not given"));
    let wire = "load = { fraction = 0.1, bytes = \"wire\", segment = \"1000B\" }\n";
    assert_eq!(notes_of(&format!("{poisson}{wire}")), [""; 0]);
}

#[test]
fn hosts_are_not_listed_twice() {
    let asked = "kind = \"request_reply\"\nreply = \"9KB\"\nstop = \"1ms\"\n";
    let twice = "expected each host once";
    for more in ["clients = [\"h1\", \"h2\", \"h1\"]\n", "servers = [\"h1\", \"1\"]\n"] {
        let found = refused(&workload(&format!("{asked}{more}")), &[]);
        assert!(found.contains("found the host `h1` twice") && found.ends_with(twice), "{found}");
    }
    let raw = |to: &str| {
        format!("kind = \"constant\"\nsources = [\"h0\", \"h2\", \"h0\"]\ndestination{to}\nrate = \"1Mbps\"\n")
    };
    let found = refused(&workload(&raw(" = \"h1\"")), &[]);
    let rule = "expected each pair of a source and a destination once";
    assert!(found.contains("sources: found the pair `h0` to `h1` twice") && found.ends_with(rule), "{found}");
    assert_eq!(notes_of(&raw("s = [\"h1\", \"h1\", \"h3\"]")), [""; 0], "one source may send to two");
}

#[test]
fn unused_workload_times_warn_or_are_refused() {
    let asked = "kind = \"request_reply\"\nreply = \"9KB\"\nstop = \"1ms\"\nthink_gaps = \"exponential\"\n";
    assert!(refused(&workload(asked), &[]).ends_with("expected no value if `think` is not given"));
    assert_eq!(notes_of(&format!("{asked}think = \"1ms\"\n")), [""; 0]);
    let ring = "kind = \"all_reduce\"\nsize = \"40KB\"\ncompute = \"1ms\"\n";
    let said = "default: traffic `w`: `compute` has no effect with repeat = 1, because no iteration follows another";
    assert_eq!((notes_of(ring), notes_of(&format!("{ring}repeat = 2\n"))), (vec![said.to_string()], vec![]));
    let one = "kind = \"long_lived\"\nsource = \"h0\"\ndestination = \"h3\"\nstagger = \"1us\"\n";
    let said = "default: traffic `w`: `stagger` has no effect, because there is only one flow";
    assert_eq!((notes_of(one), notes_of(&format!("{one}flows = 2\n"))), (vec![said.to_string()], vec![]));
    let stop = "default: traffic `w`: `stop` has no effect, because all flows start at `start`";
    let burst = "kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"9KB\"\nstop = \"2ms\"\n";
    assert_eq!((notes_of(burst), notes_of(&format!("{burst}interval = \"1ms\"\n"))), (vec![stop.to_string()], vec![]));
    let shuffle = "kind = \"all_to_all\"\nsize = \"9KB\"\nstop = \"2ms\"\n";
    assert_eq!(
        (notes_of(shuffle), notes_of(&format!("{shuffle}interval = \"1ms\"\n"))),
        (vec![stop.to_string()], vec![])
    );
}

#[test]
fn what_a_file_of_flows_tells_is_not_told_again() {
    let with = |lines: &str, text: &'static str| {
        let files = Box::new(move |_: &str| Ok(Box::new(text.as_bytes()) as Box<dyn std::io::BufRead>));
        load(&Source { files, ..source(&workload(lines)) }, &[])
    };
    let trace = |text| with("kind = \"trace\"\nfile = \"f\"\nunit = \"us\"\n", text).expect("it is right").notes;
    let said = "default: traffic `w`: `unit` has no effect, because every start time in `f` has its own unit";
    assert_eq!(trace("start,source,destination,bytes\n1us,h0,h1,9\n"), [said]);
    assert_eq!(trace("start,source,destination,bytes\n1us,h0,h1,9\n2,h0,h1,9\n"), [""; 0]);
    let hpcc = "kind = \"hpcc\"\nfile = \"f\"\norigin = \"2s\"\nclass = 1\n";
    let text = "1\n1 3 3 100 60000 2.0\n";
    let found = with(&format!("{hpcc}priority_group = \"class\"\n"), text).expect_err("two say it")[0].to_string();
    assert!(
        found.ends_with(
            "class: found 1; expected no value if `priority_group` is `class`, because the file sets the \
                         class"
        ),
        "{found}"
    );
    assert!(with(hpcc, text).is_ok());
}

#[test]
fn flow_measures_with_only_raw_traffic_warn() {
    let raw = "kind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\nrate = \"1Mbps\"\n";
    let measure = "[measure]\nfct_end = \"sender_ack\"\ndrain = \"1ms\"\nallow_unfinished = true\n";
    let said = |key: &str| {
        format!(
            "default: measure.{key} has no effect: all traffic comes from raw sources, whose flows \
                             have no end"
        )
    };
    assert_eq!(notes_of(&format!("{raw}{measure}")), ["fct_end", "drain", "allow_unfinished"].map(said));
    assert_eq!(notes(measure), [""; 0]);
}

#[test]
fn a_time_between_requests_is_told_where_a_session_has_one() {
    let asked = "kind = \"request_reply\"\nreply = \"9KB\"\nstop = \"1ms\"\n";
    let said =
        |key: &str| format!("default: traffic: {key} has no effect with requests = 1: no request follows another");
    for (key, value) in [("think", "1us"), ("clock", "1ms")] {
        let with = |count: u32| notes_of(&format!("{asked}requests = {count}\n{key} = \"{value}\"\n"));
        assert_eq!((with(1), with(2)), (vec![said(key)], Vec::new()));
    }
}

#[test]
fn ranks_of_probes_and_marks_of_detoured_packets_that_nothing_goes_by_are_told() {
    let probes = "[transport]\nkind = \"pfabric\"\nprobe_priority = \"urgent\"\n";
    let said = "transport.probe_priority has no effect: no scheduler and no overflow mechanism uses this rank";
    assert!(notes(probes).contains(&said.to_string()), "{:?}", notes(probes));
    let detour = "[switch]\noverflow = { kind = \"detour\", mark_detoured = false }\n";
    let with = |kind: &str| notes(&format!("{detour}[transport]\nkind = \"{kind}\"\n"));
    let said = "switch.overflow.mark_detoured has no effect: the transport `newreno` is not ECN-capable as configured";
    assert_eq!((with("newreno"), with("dctcp")), (vec![said.to_string()], Vec::new()));
}

/// Returns the notes of an overflow mechanism that trims packets; `more` begins with further switch options.
fn notes_of_trim(given: &str, more: &str) -> Vec<String> {
    let buffer = "buffer = { kind = \"per_port\", size = \"9KB\" }";
    notes(&format!(
        "[switch]\n{buffer}\noverflow = {{ kind = \"trim\"{given} }}\n{more}\n[transport]\nkind = \"sack\"\npack = true\n"
    ))
}

#[test]
fn options_of_trim_that_do_nothing_where_they_stand_are_told() {
    let any = ", trimmable = \"any\"";
    let cases = [
        (
            ", trim_size = \"1518B\"",
            "",
            Some(
                "switch.overflow cuts nothing: a cut frame keeps 1518 B, and the longest frame has only 1518 B. \
                  Reduce the bytes that are kept",
            ),
        ),
        (", trim_size = \"1517B\"", "", None),
        (
            ", trimmable = \"class\", trimmable_class = 3",
            "",
            Some("switch.overflow cuts nothing: no packet has class 3, the only trimmable class"),
        ),
        (", trimmable = \"class\"", "", None),
        (
            ", header_class = 0",
            "",
            Some(
                "switch.overflow.header_class = 0: data also has class 0, and uses the buffer space that is reserved \
                 for headers. Choose another class",
            ),
        ),
        (", header_class = 6", "", None),
        (
            ", header_class = 6",
            "scheduler = { kind = \"fifo\" }",
            Some(
                "switch.overflow.header_class gives headers their own buffer space but no priority: all packets leave \
                 first in, first out. Set switch.scheduler to send headers first",
            ),
        ),
        (", header_class = 6", "scheduler = { kind = \"srpt\" }", None),
        (", ecn = \"ce\"", "", Some("switch.overflow.ecn = \"ce\" has no effect: no packet is ECN-capable")),
        (", ecn = \"keep\"", "", None),
        (any, "", None),
    ];
    for (given, more, said) in cases {
        let found = notes_of_trim(given, more);
        let found: Vec<&String> = found.iter().filter(|note| note.contains("switch.overflow")).collect();
        assert_eq!(found, said.iter().collect::<Vec<_>>(), "{given} {more}");
    }
}

#[test]
fn packets_without_a_transport_that_nobody_may_cut_are_told() {
    let raw = |given: &str| {
        let text = format!(
            "name = \"raw\"\nduration = \"1ms\"\n[topology]\nkind = \"star\"\nn = 3\n[switch]\noverflow = {{ kind = \"trim\"{given} }}\n\
             [[traffic]]\nname = \"r\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\nrate = \"1Gbps\"\n"
        );
        loaded(&text, &[]).notes.into_iter().filter(|note| note.contains("cuts")).collect::<Vec<_>>()
    };
    let said = raw("");
    assert!(
        said.iter().any(|note| note.contains("packets without a transport are never marked as trimmable")),
        "{said:?}"
    );
    assert!(!raw(", trimmable = \"any\"").iter().any(|note| note.contains("cuts nothing")));
}
