//! Parameters of mechanisms and raw sources that have no effect: each gives a note or is refused.

use crate::common::{loaded, refused, star, tree};

/// Returns the notes of a small scenario with these lines.
fn notes(more: &str) -> Vec<String> {
    let all = loaded(&star(more), &[]).notes;
    all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string()).collect()
}

fn has_note(more: &str, said: &str) -> bool {
    notes(more).iter().any(|note| note == said)
}

#[test]
fn a_rounding_of_places_that_nobody_keeps_free_is_told() {
    let with = |more: &str| format!("[switch]\noverflow = {{ kind = \"bounce\"{more} }}\n");
    let said = |n: u32| {
        format!(
            "bounce: rounding has no effect with round_to = {n}, because no queue counts as full \
                                 early"
        )
    };
    for n in [0, 1] {
        assert!(has_note(&with(&format!(", round_to = {n}, rounding = \"multiple\"")), &said(n)));
        assert!(!has_note(&with(&format!(", round_to = {n}")), &said(n)), "nothing was asked for");
    }
    let three = notes(&with(", round_to = 2, rounding = \"multiple\""));
    assert!(!three.iter().any(|note| note.contains("rounding")), "{three:?}");
}

#[test]
fn parameters_of_random_early_detection_that_others_make_void_are_told() {
    let idle = "red: idle_packet has no effect with weight = 1, because the average is then the instantaneous queue";
    let gentle = "red: gentle has no effect with max_p = 1, because every packet is marked from max on anyway";
    let still = "red: weight = 0 keeps the average queue at 0, so that no packet is marked. Set a weight above 0";
    let nic = "nic_queue = \"99pkt\"\n";
    for (place, rest) in [("switch", ""), ("host", nic)] {
        let with = |more: &str| format!("[{place}]\n{rest}marking = {{ kind = \"red\"{more} }}\n");
        assert!(has_note(&with(", weight = 1, idle_packet = \"1us\""), idle), "{place}");
        assert!(has_note(&with(", max_p = 1, gentle = false"), gentle), "{place}");
        assert!(has_note(&with(", weight = 0"), still), "{place}");
        let silent =
            [", weight = 1, max_p = 1", ", weight = 0.5, idle_packet = \"1us\"", ", max_p = 0.5, gentle = false"];
        for more in silent {
            assert!(!notes(&with(more)).iter().any(|note| note.starts_with("red")), "{place}: {more}");
        }
    }
}

#[test]
fn weights_of_classes_without_packets_are_told_and_more_than_there_are_classes_refused() {
    let with = |weights: &str| {
        let order = format!("[switch]\nscheduler = {{ kind = \"round_robin\", weights = [{weights}] }}\n");
        let second =
            "[[traffic]]\nname = \"v\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h1\"\nsize = \"9KB\"\nclass = 2\n";
        format!("{order}{second}")
    };
    let said = |classes: &str| {
        format!(
            "scheduler: the weight for class {classes} has no effect, because no packet has \
                                        this class"
        )
    };
    assert_eq!(notes(&with("1, 4, 2, 3")), [said("1, 3")]);
    assert_eq!(notes(&with("3, 1, 2")), [""; 0], "the place of class 1 has to hold a number");
    let found = refused(&star(&with("1, 1, 1, 1, 1, 1, 1, 1, 9")), &[]);
    assert!(
        found.ends_with("switch.scheduler.weights: found 9 weights; expected at most 8, for classes 0 to 7"),
        "{found}"
    );
}

#[test]
fn strict_classes_and_maximum_rates_without_packets_have_notes() {
    let second =
        "[[traffic]]\nname = \"v\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h1\"\nsize = \"9KB\"\nclass = 2\n";
    let with = |keys: &str| format!("[switch]\nscheduler = {{ kind = \"round_robin\", {keys} }}\n");
    let both = |keys: &str| with(keys) + second;
    let idle = |what: &str, class: u8| {
        format!("scheduler: the {what} for class {class} has no effect, because no packet has this class")
    };
    assert_eq!(notes(&both("strict = [2, 7]")), [idle("strict priority", 7)]);
    assert_eq!(notes(&both("max_rate = [\"off\", \"1Gbps\", \"1Gbps\"]")), [idle("max_rate", 1)]);
    assert_eq!(notes(&both("strict = [2], max_rate = [\"off\", \"off\", \"1Gbps\"]")), [""; 0]);
    // A maximum rate has an effect on a single class, and its order has none.
    assert_eq!(notes(&with("max_rate = [\"1Gbps\"]")), [""; 0]);
    assert_eq!(notes(&with("max_rate = [\"off\", \"1Gbps\"]")), [idle("max_rate", 1)]);
    let burst = "scheduler: burst has no effect, because no class has a maximum rate. Set max_rate";
    assert_eq!(notes(&both("burst = \"3KB\"")), [burst]);
    assert_eq!(notes(&both("burst = \"3KB\", max_rate = [\"off\", \"off\", \"off\"]")), [burst]);
    let at_host = |keys: &str| format!("[host]\nscheduler = {{ kind = \"strict_priority\", {keys} }}\n{second}");
    assert_eq!(notes(&at_host("burst = \"3KB\"")), [burst]);
    assert_eq!(notes(&at_host("max_rate = [\"1Gbps\"]")), [""; 0]);
}

#[test]
fn rates_and_strict_classes_that_fit_no_class_are_refused() {
    let found = |place: &str, keys: &str| refused(&star(&format!("[{place}]\nscheduler = {{ {keys} }}\n")), &[]);
    let round = |keys: &str| found("switch", &format!("kind = \"round_robin\", {keys}"));
    for (keys, end) in [
        ("strict = [7, 7]", "switch.scheduler.strict: found class 7 twice; expected each class once"),
        ("strict = [8]", "found a list with 8; expected a list of whole numbers from 0 to 7, such as [0, 1]"),
        (
            "strict = [1], weights = [1, 2]",
            "switch.scheduler.weights: found weight 2 for class 1; expected 1 for a strict class, because strict \
             classes share nothing by weights",
        ),
        (
            "max_rate = [\"1Gbps\", \"fast\"]",
            "with \"fast\"; expected a list of rates with their unit (bps, Kbps, Mbps, Gbps, Tbps) or \"off\", such as \
             [\"off\", \"10Gbps\"]",
        ),
        ("count = \"frames\"", "switch.scheduler.count: found \"frames\"; expected one of `wire`, `stored`"),
    ] {
        assert!(round(keys).ends_with(end), "{}", round(keys));
    }
    let nine = format!("kind = \"strict_priority\", max_rate = [{}]", ["\"1Gbps\""; 9].join(", "));
    for place in ["switch", "host"] {
        let found = found(place, &nine);
        assert!(
            found.ends_with("scheduler.max_rate: found 9 rates; expected at most 8, for classes 0 to 7"),
            "{found}"
        );
    }
    let nic = refused(
        &star(
            "[host]\nnic = { kind = \"round_robin\" }\nscheduler = { kind = \"strict_priority\", max_rate = [\"1Gbps\"] }\n",
        ),
        &[],
    );
    let end = "host.scheduler.max_rate: found maximum rates of classes with nic = \"round_robin\", where each flow has a \
               queue; expected none, or host.nic = \"fifo\". To limit each flow, set host.nic.flow_rate";
    assert!(nic.ends_with(end), "{nic}");
}

#[test]
fn a_snapshot_that_nothing_looks_at_is_told() {
    let with = |more: &str| format!("[switch]\nsimultaneous = \"snapshot\"\n{more}");
    let found = notes(&with(""));
    let said = "switch.simultaneous = \"snapshot\" has no effect on packets with tail drop and without marking: free \
                buffer space is checked when each packet is stored anyway";
    assert_eq!(found, [said]);
    let seen = notes(&with("[measure]\nsub_queues = true\n"));
    let besides = ". The setting changes only the queue lengths that arrivals see (measure.sub_queues), which are \
                   those before the instant";
    assert_eq!(seen, [format!("{said}{besides}")]);
    let detour = notes(&with("overflow = { kind = \"detour\" }\n"));
    assert!(!detour.iter().any(|note| note.contains("snapshot")), "{detour:?}");
    let pfc = notes(&with("pause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }\n"));
    assert!(!pfc.iter().any(|note| note.contains("snapshot")), "{pfc:?}");
    let marks = notes(&with("marking = { kind = \"ecn_threshold\" }\n[transport]\nkind = \"dctcp\"\n"));
    assert!(!marks.iter().any(|note| note.contains("snapshot")), "{marks:?}");
    assert_eq!(notes("[switch]\nsimultaneous = \"in_turn\"\n"), [""; 0]);
}

#[test]
fn a_burst_of_one_packet_has_no_interval() {
    let text = |more: &str| {
        let tree = tree("");
        let workload = "kind = \"bursts\"\nsource = \"h0\"\ndestination = \"h1\"\npause = \"1ms\"\n";
        format!("{}[[traffic]]\nname = \"w\"\n{workload}{more}", &tree[..tree.find("[[traffic]]").expect("it has one")])
    };
    let said = "default: traffic `w`: `interval` has no effect with packets = 1, because `pause` is the time between \
                packets";
    assert_eq!(loaded(&text("packets = 1\ninterval = \"1us\"\n"), &[]).notes, [said]);
    assert_eq!(loaded(&text("packets = 1\n"), &[]).notes, [""; 0]);
    assert_eq!(loaded(&text("packets = 2\ninterval = \"1us\"\n"), &[]).notes, [""; 0]);
    let found = refused(&text("packets = 2\n"), &[]);
    assert!(found.contains("interval: found nothing; expected the time from one packet of a burst"), "{found}");
}

const HOLD: &str = "switch.ack_hold";

/// Returns the notes about ACK holding of a small scenario with these lines.
fn note_on_holding(more: &str) -> Vec<String> {
    notes(more).into_iter().filter(|note| note.contains("ack_hold") || note.starts_with("abq")).collect()
}

#[test]
fn ineffective_ack_holding_warns() {
    let with = |buffer: &str, abq: &str| {
        let switch = format!("[switch]\nbuffer = {{ kind = \"per_port\", size = \"{buffer}\" }}\n");
        format!("{switch}ack_hold = {{ kind = \"abq\"{abq} }}\n[transport]\nkind = \"dctcp\"\n")
    };
    assert_eq!(note_on_holding(&with("120000B", "")), [""; 0]);
    let beyond = |from: &str, room: &str| {
        let at = "holds nothing at s0 and switches like it";
        let rest = "Lower the threshold, or increase the buffer";
        format!("{HOLD} {at}: holding begins above {from}, but the buffer of a port is only {room}. {rest}")
    };
    assert_eq!(note_on_holding(&with("30000B", "")), [beyond("30KB", "30KB")]);
    assert_eq!(note_on_holding(&with("30001B", "")), [""; 0]);
    assert_eq!(note_on_holding(&with("19pkt", "")), [beyond("30KB", "19pkt")]);
    assert_eq!(note_on_holding(&with("20pkt", "")), [""; 0], "20 frames of 1518 B");
    let packs = format!("{HOLD}.packs has no effect: no host has transport.pack, so there are no PACKs");
    assert_eq!(note_on_holding(&with("120000B", ", packs = true")), [packs]);
    let ends = "abq: K = 6KB is at most 4 MTU, so that congestion ends with the first release and the state of light \
                congestion never occurs. Set a larger k";
    assert_eq!(note_on_holding(&with("120000B", ", k = \"6000B\"")), [ends]);
}

#[test]
fn an_echo_for_senders_that_do_not_know_it_is_told() {
    let with = |transport: &str, abq: &str| {
        format!("[switch]\nack_hold = {{ kind = \"abq\"{abq} }}\n[transport]\nkind = \"{transport}\"\n")
    };
    let said = format!(
        "{HOLD}: the transport `sack` is not ECN-capable as configured and ignores the ECE of released ACKs, so that \
         holding only delays ACKs. Set transport.ecn = true, or use `dctcp`"
    );
    assert_eq!(note_on_holding(&with("sack", "")), [said]);
    assert_eq!(note_on_holding(&with("sack", ", corrector = false")), [""; 0]);
    assert_eq!(note_on_holding(&with("dctcp", "")), [""; 0]);
}

#[test]
fn bounded_windows_of_hosts_with_a_scale_are_told() {
    let with = |window: &str| {
        let abq = "ack_hold = { kind = \"abq\", release = \"window\", corrector = false }";
        format!("[switch]\n{abq}\n[transport]\nkind = \"dctcp\"\nreceive_window = \"{window}\"\n")
    };
    let said = format!(
        "{HOLD}.release = \"window\": switches do not know the window scale of a connection. With a \
         transport.receive_window above 65535B, hosts scale the written window up, so that the bound is too large. \
         Lower receive_window"
    );
    assert_eq!(note_on_holding(&with("200KB")), [said]);
    assert_eq!(note_on_holding(&with("65535B")), [""; 0]);
}

#[test]
fn bounded_windows_without_room_for_a_segment_are_told() {
    let with = |least: &str, transport: &str| {
        let abq = format!("ack_hold = {{ kind = \"abq\", release = \"window\", corrector = false{least} }}");
        note_on_holding(&format!("[switch]\n{abq}\n[transport]\nkind = \"newreno\"\n{transport}\n"))
    };
    let said = |least: &str, mss: u32| {
        format!(
            "{HOLD}.window_min = {least} is less than one segment (transport.mss = {mss}B): a sender may wait forever \
             for a window of one segment. Set window_min to {mss}B or more"
        )
    };
    let narrow = "receive_window = \"65535B\"";
    assert_eq!(with("", narrow), [""; 0], "as by default");
    assert_eq!(with(", window_min = \"1459B\"", narrow), [said("1459B", 1460)]);
    assert_eq!(with("", &format!("{narrow}\nmss = \"8960B\"")), [said("1460B", 8960)]);
    let short = format!("{narrow}\nshort_segments = true");
    assert_eq!(with(", window_min = \"1B\"", &short), [""; 0], "they send what there is room for");
    let scaled = with(", window_min = \"730B\"", "receive_window = \"100KB\"");
    assert_eq!(scaled.len(), 1, "hosts take it for twice as much: {scaled:?}");
    assert!(!scaled[0].contains("window_min"), "{scaled:?}");
}

#[test]
fn holding_at_no_port_or_for_traffic_that_nothing_acknowledges_is_told() {
    let tree = star("");
    let head = &tree[..tree.find("[[traffic]]").expect("it has one")];
    let abq = "[switch]\nack_hold = { kind = \"abq\" }\n";
    let bursts = "kind = \"bursts\"\nsource = \"h0\"\ndestination = \"h1\"\npause = \"1ms\"\npackets = 1\n";
    let text = format!("{head}{abq}[[traffic]]\nname = \"w\"\n{bursts}");
    let said = format!("{HOLD} holds nothing: all traffic is sent without a transport, so there are no ACKs");
    let found = loaded(&text, &[]).notes;
    assert!(found.contains(&format!("default: {said}")), "{found:?}");
    let spines = "[[override]]\nwhere = { tier = \"core\" }\nswitch.ack_hold = { kind = \"abq\" }\n";
    let text = star(spines).replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4");
    let said = format!(
        "{HOLD} holds nothing: no port with this mechanism leads to a host. Set ports = \"all\" to hold ACKs \
                 at other ports as well"
    );
    let found = loaded(&text, &[]).notes;
    assert!(found.contains(&format!("default: {said}")), "{found:?}");
}
