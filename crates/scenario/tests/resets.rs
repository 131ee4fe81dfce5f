//! Parameters that return to a default without being written: each gives a note.

use crate::common::{loaded, star};

/// Returns the notes of a small scenario, without the one about DCTCP without marks.
fn notes(more: &str, sets: &[&str]) -> Vec<String> {
    let all = loaded(&star(more), sets).notes;
    all.into_iter().filter(|note| !note.contains("no switch and no host marks packets")).collect()
}

const TIMED: &str = "[transport]\nkind = \"newreno\"\nmin_rto = \"20ms\"\nmss = \"1000B\"\nttl = \"off\"\n";

#[test]
fn a_new_kind_in_a_variant_tells_what_it_resets_and_to_what() {
    let variants = "[variants.a]\ntransport.kind = \"dctcp\"\n\
                    [variants.b]\ntransport = { kind = \"dctcp\", min_rto = \"20ms\", mss = \"1000B\", ttl = 255 }\n\
                    [variants.c]\ntransport.ttl = 9\n";
    let said = "a: transport: the new kind = \"dctcp\" replaces the whole table, and drops earlier values: mss is \
                1460B instead of 1000B, min_rto is 10ms instead of 20ms, ttl is 255 instead of off";
    assert_eq!(notes(&format!("{TIMED}{variants}"), &[]), [said]);
}

#[test]
fn the_same_kind_again_resets_too() {
    let more = "[switch]\noverflow = { kind = \"bounce\", theta = 0.5 }\nbuffer = { kind = \"per_port\", size = \"50pkt\" }\n\
                [variants.a]\nswitch.overflow = { kind = \"bounce\", lambda = 9 }\n\
                [variants.b]\nswitch.buffer.size = \"60pkt\"\n";
    let said = "a: switch.overflow: the new kind = \"bounce\" replaces the whole table, and drops earlier values: \
                theta is 0.8 instead of 0.5";
    assert_eq!(notes(more, &[]), [said]);
}

#[test]
fn what_was_at_its_default_and_what_another_kind_does_by_itself_is_not_reset() {
    let more =
        "[transport]\nkind = \"newreno\"\nmin_rto = \"10ms\"\necn = true\n[variants.a]\ntransport.kind = \"dctcp\"\n";
    assert_eq!(notes(more, &[]), [""; 0]);
}

#[test]
fn values_dropped_by_a_new_kind_are_noted() {
    let told = |more: &str| notes(more, &[]).concat();
    let timed = "[transport]\nkind = \"dctcp\"\nmin_rto = \"1ms\"\ninitial_rto = \"1ms\"\ng = 0.5\ntimestamps = true\n";
    let found = told(&format!("{timed}[variants.pf]\ntransport.kind = \"pfabric\"\n"));
    for lost in [
        "timestamps is false instead of true",
        "min_rto = 1ms is dropped",
        "initial_rto = 1ms is dropped",
        "g = 0.5 is dropped",
    ] {
        assert!(found.contains(lost), "{lost}: {found}");
    }
    let found = told(&format!("{timed}[variants.s]\ntransport.kind = \"sack\"\n"));
    assert!(found.contains("g = 0.5 is dropped") && !found.contains("min_rto = "), "{found}");
    let bounce = "[switch]\noverflow = { kind = \"bounce\", theta = 0.5, bounce_size = \"7pkt\" }\n";
    let found = told(&format!("{bounce}[variants.d]\nswitch.overflow.kind = \"tail_drop\"\n"));
    assert!(found.contains("bounce_size = 7pkt is dropped") && found.contains("theta = 0.5 is dropped"), "{found}");
}

#[test]
fn a_flag_that_the_new_kind_does_not_have_is_told() {
    let with_pack = "[transport]\nkind = \"sack\"\npack = true\n";
    for kind in ["reno", "newreno"] {
        let said = format!(
            "--set transport: the new kind = \"{kind}\" replaces the whole table, and drops earlier \
                            values: pack = true is dropped"
        );
        assert_eq!(notes(with_pack, &[&format!("transport.kind={kind}")]), [said]);
    }
    let found = notes(with_pack, &["transport.kind=dctcp"]).concat();
    assert!(found.contains("pack is false instead of true"), "{found}");
    let ecn = "[transport]\nkind = \"sack\"\necn = true\n";
    assert_eq!(notes(ecn, &["transport.kind=dctcp"]), [""; 0], "which has it by itself");
}

#[test]
fn a_table_of_an_override_and_one_of_a_host_reset_too() {
    let more = "[switch]\nmarking = { kind = \"red\", min = \"5pkt\", max = \"9pkt\", weight = 0.5 }\n\
                [host]\nnic = { kind = \"fifo\" }\nmarking = { kind = \"red\", min = \"5pkt\", max = \"9pkt\", weight = 0.5 }\n\
                [[override]]\nwhere = { port = \"host\" }\n\
                switch.marking = { kind = \"red\", min = \"5pkt\", max = \"9pkt\" }\n\
                [variants.a]\nhost.marking = { kind = \"red\", min = \"5pkt\", max = \"9pkt\" }\n";
    let lost =
        "the new kind = \"red\" replaces the whole table, and drops earlier values: weight is 0.002 instead of 0.5";
    let found = notes(more, &[]);
    let told = |start: &str| found.iter().any(|note| *note == format!("{start}: {lost}"));
    assert!(told("a: host.marking") && told("a: override: switch.marking") && found.len() == 2, "{found:?}");
}

#[test]
fn a_setting_of_the_command_line_tells_what_it_resets_unless_another_brings_it_back() {
    let said = "--set transport: the new kind = \"dctcp\" replaces the whole table, and drops earlier values: mss is \
                1460B instead of 1000B, ttl is 255 instead of off";
    assert_eq!(notes(TIMED, &["transport.kind=dctcp", "transport.min_rto=20ms"]), [said]);
    let traffic = ["traffic.burst.kind=permutation", "traffic.burst.size=20KB"];
    assert_eq!(
        notes("start = \"1ms\"\n", &traffic),
        ["--set traffic.burst: the new kind = \"permutation\" replaces the whole table, and drops earlier values: \
          start is 0s instead of 1ms"]
    );
    let of_variant = format!(
        "{TIMED}[variants.a]\ntransport = {{ kind = \"sack\", min_rto = \"30ms\", mss = \"1000B\", ttl = 9 }}\n"
    );
    let found = notes(&of_variant, &["variants.a.transport.kind=dctcp"]);
    assert!(
        found[0].starts_with("--set variants.a.transport: the new kind = \"dctcp\" replaces")
            && found[0].contains("min_rto is 10ms instead of 30ms"),
        "{found:?}"
    );
}

#[test]
fn bounds_of_a_timeout_that_contradict_its_first_value_are_told() {
    let with = |more: &str| notes(&format!("[transport]\nkind = \"newreno\"\n{more}\n"), &[]);
    let said = "default: transport.min_rto = 1ms does not change initial_rto, whose default of 10ms is the timeout of \
                a flow until its first sample of the round-trip time. Set initial_rto as well";
    assert_eq!(with("min_rto = \"1ms\""), [said]);
    assert_eq!(with("min_rto = \"1ms\"\ninitial_rto = \"10ms\""), [""; 0], "both are said");
    assert_eq!(with("min_rto = \"20ms\""), [""; 0], "the first is at least the least");
    let low = "default: transport.initial_rto = 2ms is below min_rto, so that min_rto = 10ms is used";
    assert_eq!(with("initial_rto = \"2ms\""), [low]);
    let high = "default: transport.initial_rto = 10ms is above max_rto, so that max_rto = 5ms is used";
    assert_eq!(with("min_rto = \"1ms\"\nmax_rto = \"5ms\""), [high]);
}

#[test]
fn an_ack_that_waits_longer_than_the_sender_is_told() {
    let with = |more: &str| notes(&format!("[transport]\n{more}\n"), &[]);
    let found = with("kind = \"sack\"\ndelayed_ack = true");
    assert!(
        found.len() == 1 && found[0].contains("delayed_ack_timeout = 40ms is not below min_rto = 10ms"),
        "{found:?}"
    );
    assert_eq!(with("kind = \"sack\"\ndelayed_ack = true\ndelayed_ack_timeout = \"1ms\""), [""; 0]);
    assert!(with("kind = \"pfabric\"\ndelayed_ack = true")[0].contains("is not below rto = 45us"));
}

#[test]
fn windows_above_the_one_that_bounds_them_are_told() {
    let with = |more: &str| notes(&format!("[transport]\n{more}\n"), &[]);
    let found = with("kind = \"sack\"\ninitial_window = \"64pkt\"\nreceive_window = \"64KB\"");
    assert_eq!(
        found,
        ["default: transport.initial_window is above receive_window, which limits the window of a \
                        sender"]
    );
    assert_eq!(with("kind = \"sack\"\ninitial_window = \"40pkt\"\nreceive_window = \"64KB\""), [""; 0]);
    assert_eq!(with("kind = \"pfabric\"\nreceive_window = \"20KB\"\nmax_window = \"20pkt\"").len(), 1);
}

#[test]
fn ineffective_transport_parameters_warn() {
    let with = |more: &str| notes(&format!("[host]\nscheduler = {{ kind = \"srpt\" }}\n[transport]\n{more}\n"), &[]);
    for (more, said) in [
        (
            "kind = \"sack\"\ndelayed_ack_timeout = \"1ms\"",
            "delayed_ack_timeout = 1ms has no effect without delayed_ack = true",
        ),
        (
            "kind = \"pfabric\"\nclock_granularity = \"1ms\"",
            "clock_granularity has no effect without timestamps = true, because the timeout is fixed",
        ),
        (
            "kind = \"pfabric\"\nprobe_priority = \"urgent\"\nprobe_after = \"off\"",
            "probe_priority has no effect with probe_after = \"off\"",
        ),
        (
            "kind = \"pfabric\"\nprobe_priority = \"urgent\"\npriority = \"none\"",
            "probe_priority has no effect with priority = \"none\", because the rank of all packets is 0",
        ),
        (
            "kind = \"sack\"\nmin_rto = \"1ms\"\nretransmission_timer = false",
            "retransmission_timer = false also disables min_rto",
        ),
        (
            "kind = \"pfabric\"\nlimited_transmit = true\ndupack_threshold = 3",
            "limited_transmit has no effect with sack_opens_window = true, because SACKed bytes free window space \
             immediately",
        ),
        (
            "kind = \"sack\"\nwindow_less_out_of_order = true",
            "window_less_out_of_order has no effect with a receive_window as large as this",
        ),
        (
            "kind = \"sack\"\nlimited_transmit = true\ndupack_threshold = \"off\"",
            "limited_transmit has no effect with this dupack_threshold, because the first duplicate ACK already shows \
             a loss",
        ),
    ] {
        assert!(with(more).contains(&format!("default: transport.{said}")), "{more}: {:?}", with(more));
    }
    assert_eq!(with("kind = \"pfabric\"\nclock_granularity = \"1ms\"\ntimestamps = true"), [""; 0]);
}
