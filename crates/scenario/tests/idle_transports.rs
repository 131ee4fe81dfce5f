//! Parameters of transports that have no effect in combination with other settings: each gives a note.

use crate::common::{loaded, star};

/// Returns the notes of a small scenario with these lines.
fn notes(more: &str) -> Vec<String> {
    let all = loaded(&star(more), &[]).notes;
    all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string()).collect()
}

fn notes_of_transport(kind: &str, more: &str) -> Vec<String> {
    notes(&format!("[transport]\nkind = \"{kind}\"\n{more}"))
}

const NONE: [&str; 0] = [];

#[test]
fn ticks_that_are_longer_than_the_least_timeout_are_told() {
    let said = "transport.tick = 3600s is above min_rto = 200ms, so that min_rto is rounded up to one tick";
    assert_eq!(notes_of_transport("linux", "tick = \"3600s\"\n").first().map(String::as_str), Some(said));
    assert_eq!(notes_of_transport("linux", "tick = \"200ms\"\n"), NONE);
    let said = "transport.min_rto = 1ms is below the default tick = 4ms and is rounded up to one tick: set a shorter tick, \
                or \"0us\" for exact timers";
    assert_eq!(notes_of_transport("linux", "min_rto = \"1ms\"\n"), [said]);
    let said =
        "transport.min_rto = 200us is below the default tick = 1ms and is rounded up to one tick: set a shorter tick";
    assert_eq!(
        notes_of_transport("linux_2_6_38", "min_rto = \"200us\"\ndelayed_ack = false\n"),
        [said],
        "no tick of 0us there"
    );
    let said = "transport.delayed_ack_timeout = 40ms is not below min_rto = 10ms. If a flow has an odd number of segments, the \
                timer of its sender may expire before the last ACK is sent. Reduce delayed_ack_timeout, or increase min_rto";
    assert_eq!(notes_of_transport("linux_2_6_38", "min_rto = \"10ms\"\n"), [said], "on linux it is shortened");
    assert_eq!(notes_of_transport("linux", "min_rto = \"10ms\"\n"), NONE, "12 ms: as a kernel rounds it");
    assert_eq!(notes_of_transport("linux", "min_rto = \"1ms\"\ntick = \"0us\"\n"), NONE);
    assert_eq!(
        notes_of_transport("linux", "min_rto = \"1ms\"\nrecovery = \"sack\"\n"),
        NONE,
        "without RACK there are no ticks"
    );
}

#[test]
fn bounds_of_the_timeout_that_ticks_or_each_other_void_are_told() {
    let same = "min_rto = \"10ms\"\nmax_rto = \"10ms\"\n";
    let said = "transport.max_rto = 10ms is below min_rto in whole ticks of 4ms: both become 12ms";
    assert_eq!(notes_of_transport("linux", same), [said]);
    assert_eq!(notes_of_transport("linux", &same.replace("10", "12")), NONE);
    assert_eq!(notes_of_transport("linux", &format!("{same}tick = \"0us\"\n")), NONE);
    let said = "transport.rto_floor has no effect with min_rto = max_rto, because all timeouts are equal";
    let floor = "initial_rto = \"10ms\"\nrto_floor = \"deviation\"\n";
    assert_eq!(notes_of_transport("sack", &format!("{same}{floor}")), [said]);
    assert_eq!(notes_of_transport("sack", floor), NONE);
}

#[test]
fn a_first_timeout_that_a_sample_of_a_handshake_replaces_is_told() {
    let first = "initial_rto = \"30ms\"\n";
    let said = "transport.initial_rto has no effect with handshake_rtt = 100us, because this first sample sets the \
                first timeout of established connections";
    let rtt = "handshake_rtt = \"100us\"\n";
    assert_eq!(notes_of_transport("sack", &format!("{first}{rtt}")), [said]);
    assert_eq!((notes_of_transport("sack", first), notes_of_transport("sack", rtt)), (vec![], vec![]));
    let said = "transport.handshake_rtt has no effect with connection = \"handshake\", which measures it";
    assert_eq!(notes_of_transport("sack", &format!("{first}{rtt}connection = \"handshake\"\n")), [said]);
}

#[test]
fn timeout_settings_without_a_retransmission_timer_warn() {
    let off = "retransmission_timer = false\n";
    let with = |kind: &str, more: &str| notes_of_transport(kind, &format!("{off}{more}")).join("; ");
    let said = |names: &str| format!("transport.retransmission_timer = false also disables {names}");
    assert_eq!(with("linux", "frto = false\nrto_floor = \"sum\"\n"), said("rto_floor, frto"));
    assert_eq!(
        with("linux", "handshake_rtt = \"1ms\"\ntick = \"1ms\"\n"),
        "",
        "probes and reordering have timers, too"
    );
    assert_eq!(with("sack", "handshake_rtt = \"1ms\"\n"), said("handshake_rtt"));
    let least = "min_rto = \"5ms\"\n";
    assert_eq!(
        (with("sack", least), with("linux", least)),
        (said("min_rto"), String::new()),
        "Linux delays ACKs by it"
    );
    assert_eq!(with("linux", &format!("{least}delayed_ack = false\n")), said("min_rto"));
}

#[test]
fn without_a_timer_the_age_of_segments_still_counts_on_linux_2_6_38() {
    let off = "retransmission_timer = false\nmin_rto = \"5ms\"\nfrto = false\ndelayed_ack = false\n";
    let said = |names: &str| format!("transport.retransmission_timer = false also disables {names}");
    assert_eq!(notes_of_transport("linux_2_6_38", off), [said("frto")]);
    assert_eq!(notes_of_transport("linux_2_6_38", &format!("{off}fack = false\n")), [said("min_rto, frto")]);
}

#[test]
fn parameters_without_effect_on_linux_2_6_38_are_reported() {
    let said = "transport.limited_transmit has no effect with this kind, because each SACKed segment allows a new \
                segment anyway";
    assert_eq!(notes_of_transport("linux_2_6_38", "limited_transmit = true\n"), [said]);
    let without = "timestamps = false\n";
    let said = "transport.handshake_rtt has no effect without timestamps = true";
    assert_eq!(notes_of_transport("linux_2_6_38", &format!("{without}handshake_rtt = \"1ms\"\n")), [said]);
    let first = "initial_rto = \"1s\"\n";
    assert!(
        notes_of_transport("linux_2_6_38", first)[0]
            .starts_with("transport.initial_rto has no effect without connection")
    );
    assert_eq!(
        notes_of_transport("linux_2_6_38", &format!("{without}{first}")),
        NONE,
        "the sample of the handshake is forgotten"
    );
}

#[test]
fn frames_that_wait_for_longer_than_the_timers_of_some_hosts_are_told() {
    let jitter = "[host]\nnic_jitter = \"6ms\"\n[transport]\nkind = \"sack\"\n";
    assert_eq!(notes(jitter), NONE);
    let over =
        "[[override]]\nwhere = { hosts = [\"h1\"] }\ntransport.min_rto = \"5ms\"\ntransport.initial_rto = \"5ms\"\n";
    let said = "host.nic_jitter = 6ms is not below transport.min_rto = 5ms: retransmission timers expire before frames \
                leave the NIC. Reduce nic_jitter, or increase min_rto";
    assert_eq!(notes(&format!("{jitter}{over}")), [said]);
}

#[test]
fn clock_ppm_that_rounds_to_zero_warns() {
    let said = |key: &str| {
        format!(
            "{key}.clock_ppm has no effect: the value rounds to 0 parts per billion, so that clocks \
                             are exact"
        )
    };
    for key in ["host", "switch"] {
        let with = |ppm: &str| notes(&format!("[{key}]\nclock_ppm = {ppm}\n"));
        assert_eq!(with("0.0004"), [said(key)]);
        assert_eq!((with("0.001"), with("0.0"), with("0")), (vec![], vec![], vec![]));
    }
}

#[test]
fn rack_settings_without_rack_warn() {
    let dctcp = "[switch]\nmarking = { kind = \"ecn_threshold\", k = \"5pkt\" }\n[transport]\nkind = \"dctcp\"\n";
    let with = |more: &str| notes(&format!("{dctcp}{more}"));
    let said = |name: &str| format!("transport.{name} has no effect without recovery = \"rack\"");
    assert_eq!(with("tlp = false\ntimer_slack = \"1ms\"\n"), [said("tlp"), said("timer_slack")]);
    assert_eq!(with("recovery = \"rack\"\ntlp = false\ntimer_slack = \"1ms\"\n"), [""; 0]);
    let eifel = "recovery = \"rack\"\neifel = false\n";
    assert_eq!(with(eifel), ["transport.eifel has no effect without timestamps = true"]);
    assert_eq!(with(&format!("{eifel}timestamps = true\n")), [""; 0]);
    let said = "transport.limited_transmit has no effect with recovery = \"rack\", because SACKed bytes do not count as in \
         flight";
    assert_eq!(with("recovery = \"rack\"\nlimited_transmit = true\n"), [said]);
}

#[test]
fn what_is_said_of_pacing_is_told_where_nothing_goes_by_it() {
    let with = |more: &str| notes(&format!("[transport]\nkind = \"linux\"\n{more}"));
    let shares = "pacing_ss_ratio = 150\npacing_ca_ratio = 110\n";
    let said = |name: &str| format!("transport.{name} has no effect without pacing, tso or hystart");
    let both = [said("pacing_ss_ratio"), said("pacing_ca_ratio")];
    assert_eq!(with(shares), [""; 0], "bursts go by them");
    assert_eq!(with(&format!("{shares}tso = false\n")), [""; 0], "and HyStart");
    assert_eq!(with(&format!("{shares}hystart = false\n")), [""; 0], "either alone");
    assert_eq!(with(&format!("{shares}tso = false\nhystart = false\n")), both);
    assert_eq!(with(&format!("{shares}tso = false\ncongestion_control = \"reno\"\n")), both);
    assert_eq!(with(&format!("{shares}tso = false\nhystart = false\npacing = true\n")), [""; 0]);
    assert_eq!(with("tso = false\ntso_rtt_log = 0\n"), ["transport.tso_rtt_log has no effect without tso = true"]);
    let unknown = "transport.pacing has no effect before the first ACK of a flow, because with handshake_rtt = 0us the \
                   rate is unknown until then";
    assert_eq!(with("pacing = true\nhandshake_rtt = \"0us\"\n"), [unknown]);
    assert_eq!(with("pacing = true\n"), [""; 0]);
    let by_count = "recovery = \"sack\"\nhystart = false\npacing = true\ntso_rtt_log = 0\n";
    let rack = |name: &str| format!("transport.{name} has no effect without recovery = \"rack\"");
    assert_eq!(with(by_count), [rack("tso_rtt_log"), rack("pacing")]);
    assert_eq!(with(&format!("{by_count}{shares}"))[2..], both);
}

#[test]
fn what_is_said_of_packs_is_told_where_there_are_none_and_of_duplicates_where_there_are() {
    let with = |more: &str| {
        let all = notes(&format!("[transport]\nkind = \"sack\"\n{more}"));
        all.into_iter().filter(|note| note.contains("has no effect w")).collect::<Vec<_>>()
    };
    let said = |name: &str| format!("transport.{name} has no effect without pack = true");
    let given = "pack_dupack_threshold = 9\npack_reaction = \"mark\"\n";
    assert_eq!(with(given), [said("pack_dupack_threshold"), said("pack_reaction")]);
    assert_eq!(with(&format!("pack = true\n{given}")), [""; 0]);
    let with_pack = with("pack = true\ndupack_threshold = 9\nlimited_transmit = true\n");
    let said = "transport.dupack_threshold has no effect with pack = true, because pack_dupack_threshold is used \
                instead";
    assert_eq!(with_pack[0], said);
    let said = "transport.limited_transmit has no effect with pack = true: SACKed bytes do not count as in flight";
    assert_eq!(with_pack[1], said);
    assert_eq!(with_pack.len(), 2);
}

#[test]
fn a_first_sample_that_no_long_path_can_give_is_told() {
    let with = |delay: &str, transport: &str| {
        let text = star(&format!("[transport]\n{transport}\n"));
        let far = text.replace("n = 4", &format!("n = 4\nlink = {{ rate = \"1Gbps\", delay = \"{delay}\" }}"));
        let told = loaded(&far, &[]).notes.into_iter().filter(|note| note.contains("of the round-trip time from"));
        told.collect::<Vec<_>>()
    };
    let said = "default: transport.handshake_rtt = 100us is less than half of the round-trip time from h0 to h1, 80ms \
                without queues. Flows on this path send their first probes and timeouts too early. Set handshake_rtt to \
                at least 80ms, or connection = \"handshake\" to measure the round-trip time";
    assert_eq!(with("20ms", "kind = \"linux\""), [said], "the default");
    assert_eq!(with("50us", "kind = \"linux\""), NONE, "half of the round trip is near enough");
    assert_eq!(with("51us", "kind = \"linux\"").len(), 1);
    assert_eq!(with("51us", "kind = \"sack\"\nhandshake_rtt = \"100us\"").len(), 1);
    for none in ["handshake_rtt = \"40ms\"", "handshake_rtt = \"0us\"", "connection = \"handshake\""] {
        assert_eq!(with("20ms", &format!("kind = \"linux\"\n{none}")), NONE, "{none}");
    }
    assert_eq!(with("20ms", "kind = \"sack\""), NONE, "it has no sample before its own");
    let old = "kind = \"linux_2_6_38\"";
    assert_eq!(with("20ms", old), [said]);
    assert_eq!(with("51us", old), NONE, "a sample is one tick at least");
    assert_eq!(with("20ms", &format!("{old}\ntimestamps = false")), NONE, "and forgotten without timestamps");
}

#[test]
fn packs_without_switches_that_cut_and_cuts_for_hosts_without_pack_are_told() {
    let with = |overflow: &str, pack: bool| {
        notes(&format!(
            "[switch]\nbuffer = {{ kind = \"per_port\", size = \"9KB\" }}\noverflow = {overflow}\n[transport]\nkind = \"sack\"\npack = {pack}\n"
        ))
    };
    let starts = |notes: Vec<String>, with: &str| notes.len() == 1 && notes[0].starts_with(with);
    let found = with("{ kind = \"tail_drop\" }", true);
    assert!(starts(found.clone(), "transport.pack: receivers send no PACKs, because no switch cuts packets"));
    assert!(found[0].contains("Yet `pack` changes how losses are detected"), "{found:?}");
    assert!(found[0].contains("pack_dupack_threshold") && found[0].contains("limited_transmit"), "{found:?}");
    let rack = notes("[transport]\nkind = \"linux\"\npack = true\n").concat();
    assert!(
        rack.contains("after pack_dupack_threshold SACKed segments") && !rack.contains("limited_transmit"),
        "{rack}"
    );
    assert!(starts(with("{ kind = \"trim\" }", false), "switch.overflow cuts nothing: no data is marked as trimmable"));
    let any = "{ kind = \"trim\", trimmable = \"any\" }";
    assert!(starts(with(any, false), "switch.overflow cuts packets of hosts without transport.pack"));
    assert_eq!(
        (with(any, true), with("{ kind = \"trim\" }", true), with("{ kind = \"tail_drop\" }", false)),
        (vec![], vec![], vec![])
    );
}

/// Returns the warnings that RoCE packets are not trimmed, for a scenario with RoCE in class 3 and with `more`.
fn warnings_of_trimmed_roce(trimmable: &str, more: &str) -> Vec<String> {
    let switch = format!(
        "[switch]\nbuffer = {{ kind = \"per_port\", size = \"9KB\" }}\noverflow = {{ kind = \"trim\", {trimmable} }}\n"
    );
    let host = "[host]\nnic = { kind = \"round_robin\" }\n[transport]\nkind = \"sack\"\npack = true\n";
    let workload = |name: &str, more: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"incast\"\nsenders = 3\nreceiver = \"h0\"\nsize = \"1MB\"\n{more}\n"
        )
    };
    let text = star(&format!("{host}{switch}"));
    let base = &text[..text.find("[[traffic]]").expect("it has traffic")];
    let roce = workload("roce", "class = 3\ntransport = { kind = \"roce\" }");
    let more = if more.is_empty() { String::new() } else { workload("tcp", more) };
    let head = "switch.overflow cuts nothing";
    let all = loaded(&format!("{base}{host}{switch}{roce}{more}"), &[]).notes;
    all.into_iter().filter_map(|note| note.find(head).map(|at| note[at + head.len()..].to_string())).collect()
}

#[test]
fn trim_that_every_sender_of_its_class_forbids_warns() {
    let class = "trimmable = \"class\", trimmable_class = 3";
    for (trimmable, more) in [("trimmable = \"any\"", ""), (class, ""), (class, "class = 0")] {
        let found = warnings_of_trimmed_roce(trimmable, more);
        assert_eq!(found.len(), 1, "{trimmable}, {more}: {found:?}");
        assert!(found[0].contains("not trimmable") && found[0].contains("pack = true"), "{found:?}");
    }
    for (trimmable, more) in [(class, "class = 3"), ("trimmable = \"any\"", "class = 0")] {
        assert_eq!(warnings_of_trimmed_roce(trimmable, more), NONE, "{trimmable}, {more}");
    }
}
