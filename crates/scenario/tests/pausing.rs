//! Warnings about pausing: headroom, thresholds, and other users of the memory.

use crate::common::{loaded, star};

/// Last sentence of a warning about a loss that ends the run.
const ENDS_RUN: &str = "A packet may be lost, which ends the run with an error unless lossless = false";
/// Last sentences of a warning about losses that are only counted.
const COUNTED: &str = "Packets may be lost. The run counts them and continues, because lossless = false";

/// Test of headroom in a shared buffer.
/// Three ports may fill the memory of the fourth, which is sufficient for `xoff` and headroom of three.
#[test]
fn a_buffer_that_cannot_hold_all_headroom_is_noted_with_its_numbers_and_one_that_can_is_not() {
    let pause = |size: u64, kind: &str| {
        star(&format!(
            "[switch]\nbuffer = {{ kind = \"per_port\", size = \"{size}B\" }}\n\
             pause = {{ kind = \"{kind}\", xoff = \"10KB\", xon = \"1KB\" }}\n"
        ))
    };
    for kind in ["pause", "pfc"] {
        let headroom = loaded(&pause(1_000_000, kind), &[]).variants[0].worst_case_link(4, 0).headroom_bytes();
        let enough = 3 * (10_000 + headroom);
        assert!(loaded(&pause(enough, kind), &[]).notes.is_empty());
        let notes = loaded(&pause(enough - 1, kind), &[]).notes;
        let [note] = &notes[..] else { panic!("{notes:?}") };
        let said = format!("3 ports with xoff = 10KB and a headroom of {headroom}B can hold {enough}B");
        assert!(note.contains(&said) && note.contains(&format!("guarantees only {}B", enough - 1)), "{note}");
        let with = |size: u64| loaded(&pause(size, kind), &["switch.pause.lossless=false"]).notes;
        assert_eq!(with(enough), [""; 0]);
        assert_eq!(with(enough - 1), [note.replace(ENDS_RUN, COUNTED)]);
    }
}

/// Test of headroom in a `cioq` switch, whose inputs have memory of their own.
/// Arrivals by a port fill only the memory of that input. It is sufficient if it holds `xoff` and the headroom of each
/// class in use, and XOFF is reached if it holds `xoff`.
#[test]
fn the_memory_of_an_input_is_to_hold_the_headroom_of_its_own_port() {
    let pause = |memory: &str| {
        star(&format!(
            "[switch]\nmodel = \"cioq\"\ninput_buffer = \"{memory}\"\nbuffer = {{ kind = \"per_port\", size = \"9KB\" }}\n\
             pause = {{ kind = \"pfc\", xoff = \"10KB\", xon = \"1KB\" }}\n"
        ))
    };
    let headroom = loaded(&pause("1MB"), &[]).variants[0].worst_case_link(4, 0).headroom_bytes();
    let enough = 10_000 + headroom;
    assert_eq!(loaded(&pause(&format!("{enough}B")), &[]).notes, [""; 0]);
    let one = |memory: &str| {
        let notes = loaded(&pause(memory), &[]).notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        notes[0].clone()
    };
    let short = enough - 1;
    let said = format!(
        "4 inputs with xoff = 10KB and a headroom of {headroom}B can hold {enough}B each, but the memory of each \
         (input_buffer, {short}B) guarantees only {short}B"
    );
    assert!(one(&format!("{short}B")).contains(&said), "{}", one(&format!("{short}B")));
    assert!(one("20pkt").contains("(input_buffer, 20pkt of 64B) guarantees only 1280B"), "{}", one("20pkt"));
    let second = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
                  size = \"20KB\"\nclass = 3\n";
    let two = |memory: u64| loaded(&format!("{}{second}", pause(&format!("{memory}B"))), &[]).notes;
    assert_eq!(two(2 * enough), [""; 0]);
    assert!(two(2 * enough - 1)[0].contains("4 inputs of 2 classes each"), "{:?}", two(2 * enough - 1));
}

#[test]
fn pause_may_differ_between_ports_and_classes_in_use_count_apart() {
    let pfc = "[switch]\nbuffer = { kind = \"shared\", size = \"200KB\", alpha = 1 }\n\
               pause = { kind = \"pfc\", xoff = \"25KB\", xon = \"1KB\" }\n";
    // 100 KB are guaranteed; four ports hold 25 KB each and their headroom.
    assert_eq!(loaded(&star(pfc), &[]).notes.len(), 1);
    let spared = "[[override]]\nwhere = { port = \"host\" }\nswitch.pause = { kind = \"none\" }\n";
    let none = loaded(&star(&format!("{pfc}{spared}")), &[]);
    assert!(none.notes.is_empty() && !none.variants[0].has_pauses());
    let second = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
                  size = \"20KB\"\nclass = 3\n";
    let two = loaded(&star(&format!("{pfc}{second}")), &[]);
    assert!(two.notes[0].contains("4 ports of 2 classes each"), "{:?}", two.notes);
}

/// Returns the notes of a switch with nine ports and these slots.
fn pausing(switch: &str, more: &str) -> Vec<String> {
    loaded(&star(&format!("[switch]\n{switch}\n{more}")).replace("n = 4", "n = 9"), &[])
        .notes
        .iter()
        .map(|note| note.replace("default: ", ""))
        .collect()
}

const PER_PORT: &str = "buffer = { kind = \"per_port\", size = \"500KB\" }";
const PFC: &str = "pause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }";

/// Test of dynamic XOFF thresholds, which nine ports reach one after another.
/// Each port takes half of what the last one left: 500,000, 250,000, … 1953 bytes of 1 MB. Simultaneously they would
/// take a tenth each, and the memory would suffice for that and the headroom.
#[test]
fn thresholds_of_what_is_free_are_reached_one_after_another() {
    let text = "[switch]\nbuffer = { kind = \"shared\", size = \"1MB\", alpha = 1000000 }\n\
                pause = { kind = \"pfc\", alpha = 1 }\n";
    let nine = loaded(&star(text).replace("n = 4", "n = 9"), &[]);
    let headroom = nine.variants[0].worst_case_link(9, 0).headroom_bytes();
    assert!(9 * (100_000 + headroom) < 999_999);
    let may_hold = 998_047 + 9 * headroom;
    let said = format!(
        "9 ports with xoff = 500KB (lower for each further queue) and a headroom of {headroom}B can hold {may_hold}B"
    );
    assert!(matches!(&nine.notes[..], [note] if note.contains(&said)), "{:?}", nine.notes);
    // Four ports leave a sixteenth.
    assert_eq!(loaded(&star(text), &[]).notes, [""; 0]);
}

#[test]
fn what_is_never_paused_and_takes_of_the_same_memory_is_noted() {
    assert_eq!(pausing(&format!("{PER_PORT}\n{PFC}"), ""), [""; 0]);
    let only_one = PFC.replace("xoff", "classes = [1], xoff");
    let both = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
                size = \"20KB\"\nclass = 1\n";
    let end = &format!("may fill the memory that lossless packets need. {ENDS_RUN}");
    assert_eq!(pausing(&format!("{PER_PORT}\n{only_one}"), both), [format!("pause at s0: class 0 {end}")]);
    let counted = only_one.replace("xoff", "lossless = false, xoff");
    let packets = format!("pause at s0: class 0 may fill the memory that packets of paused classes need. {COUNTED}");
    assert_eq!(pausing(&format!("{PER_PORT}\n{counted}"), both), [packets]);
    assert_eq!(pausing(&format!("{PER_PORT}\n{only_one}"), ""), [""; 0], "nobody is paused, and nobody to be kept");
    let two_tiers =
        star(&format!("[switch]\n{PER_PORT}\n[[override]]\nwhere = {{ port = \"switch\" }}\nswitch.{PFC}\n"));
    let tree = two_tiers.replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4");
    assert_eq!(
        loaded(&tree, &[]).notes,
        [format!(
            "default: pause at edge0 and 7 switches like it: packets that arrive at 2 ports without lossless pause \
             {end}"
        )]
    );
}

/// Test of a buffer counted in packets, which guarantees no more bytes than that many frames of the smallest size.
/// 500 packets hold 759,000 bytes of full frames and 32,000 bytes of ACKs.
#[test]
fn a_buffer_in_packets_is_sure_only_of_the_smallest_frames() {
    let switch = |size: &str| format!("buffer = {{ kind = \"per_port\", size = \"{size}\" }}\n{PFC}");
    let notes = pausing(&switch("500pkt"), "");
    assert!(
        matches!(&notes[..], [note] if note.contains("(per_port, 500pkt of 64B) guarantees only 32KB")),
        "{notes:?}"
    );
    assert_eq!(pausing(&switch("759KB"), ""), [""; 0]);
}

/// Test of the warning about pauses that may expire before they are refreshed.
/// 20 quanta are 10.24 us at 1 Gb/s, and a pause frame may wait 12.304 us for the frame in transmission.
#[test]
fn pauses_that_may_expire_before_they_are_refreshed_are_noted_with_their_times() {
    let with = |more: &str| pausing(&format!("{PER_PORT}\n{}", PFC.replace("xon", &format!("{more}, xon"))), "");
    let note = |again: &str, duration: &str| {
        format!(
            "pause at s0: a pause lasts {duration} and {again}, so that the far end sends in between and may exceed \
             the headroom. {ENDS_RUN}"
        )
    };
    let again = |after: &str| format!("is refreshed only after {after} plus a delay of up to 12304ns");
    assert_eq!(with("quanta = 20, refresh = \"off\""), [note("is never refreshed", "10240ns")]);
    assert_eq!(with("quanta = 20, refresh = 20"), [note(&again("10240ns"), "10240ns")]);
    assert_eq!(with("quanta = 100, refresh = 76"), [note(&again("38912ns"), "51200ns")]);
    assert_eq!(with("quanta = 100, refresh = 75"), [""; 0], "38.4 and 12.304 of 51.2 us");
    let counted = with("quanta = 20, refresh = \"off\", lossless = false");
    assert_eq!(counted, [note("is never refreshed", "10240ns").replace(ENDS_RUN, COUNTED)]);
}

/// Test of watchdogs that are too slow for the run: it ends after `duration`, and the drain if there are flows.
#[test]
fn watchdog_that_detects_no_storm_before_the_run_ends_is_noted() {
    let with = |time: &str, more: &str| {
        let watchdog = format!("watchdog = \"drop\", detection_time = \"{time}\", restoration_time = \"200ms\", xon");
        pausing(&format!("{PER_PORT}\n{}", PFC.replace("xon", &watchdog)), more)
    };
    let note = |time: &str, end: &str| {
        format!("the PFC watchdog never acts: `detection_time` is {time}, and the run ends at {end} at the latest")
    };
    let drain = "[measure]\ndrain = \"30ms\"\n";
    assert_eq!(with("40ms", drain), [note("40ms", "40ms")]);
    assert_eq!(with("39ms", drain), [""; 0]);
    let some = "[[override]]\nwhere = { port = \"host\" }\nswitch.pause.detection_time = \"1ms\"\n";
    assert_eq!(with("40ms", &format!("{drain}{some}")), [""; 0], "all ports have another time");
}

#[test]
fn times_of_a_watchdog_without_an_effect_are_noted() {
    let with = |more: &str| pausing(&format!("{PER_PORT}\n{}", PFC.replace("xon", &format!("{more}, xon"))), "");
    assert_eq!(with("poll_interval = \"1ms\""), ["pfc: poll_interval has no effect without a `watchdog`"]);
    let alert = "watchdog = \"alert\", detection_time = \"1ms\"";
    assert_eq!(with(alert), [""; 0]);
    let note = "pfc: restoration_time has no effect with the watchdog `alert`, which ends with the stall";
    assert_eq!(with(&format!("{alert}, restoration_time = \"1ms\"")), [note]);
}

#[test]
fn pauses_by_hosts_that_change_nothing_are_noted() {
    let with = |event: &str| {
        pausing(&format!("{PER_PORT}\n{PFC}"), &format!("[[event]]\nat = \"1ms\"\nhost = \"h0\"\n{event}\n"))
    };
    let idle = "event: the pause storm of `h0` has no effect, because no traffic has a class that it pauses";
    assert_eq!(with("kind = \"pause_storm\"\nclasses = [3]"), [idle]);
    assert_eq!(with("kind = \"pause_storm\"\nclasses = [0, 3]"), [""; 0]);
    let fast = "event: the slow receiver at 1Gbps of `h0` has no effect, because its link has only 1Gbps";
    assert_eq!(with("kind = \"slow_receiver\"\nrate = \"1Gbps\""), [fast]);
    assert_eq!(with("kind = \"slow_receiver\"\nrate = \"999Mbps\""), [""; 0]);
}

/// Test of the warning that the absence of a pause frame for `restoration_time` is no sign that the storm has ended.
/// 65,535 quanta of 64 B take 33,553,920 ns at 1 Gb/s, and hosts refresh a pause after half of this.
#[test]
fn watchdog_that_ends_its_action_between_two_refreshes_is_noted() {
    let storm = "[[event]]\nkind = \"pause_storm\"\nat = \"1ms\"\nhost = \"h0\"\n";
    let with = |restoration: &str, action: &str, event: &str| {
        let more = format!("watchdog = \"{action}\", detection_time = \"2us\", restoration_time = \"{restoration}\"");
        pausing(&format!("{PER_PORT}\n{}", PFC.replace("xon", &format!("{more}, xon"))), event)
    };
    let note = |time: &str| {
        format!(
            "the PFC watchdog may end its action before the storm ends: `restoration_time` is {time}, and a pause is \
             refreshed only after 16776960ns"
        )
    };
    assert_eq!(with("16776959ns", "drop", storm), [note("16776959ns")]);
    assert_eq!(with("1ms", "forward", storm), [note("1ms")]);
    assert_eq!(with("16776960ns", "drop", storm), [""; 0]);
    let alert = "pfc: restoration_time has no effect with the watchdog `alert`, which ends with the stall";
    assert_eq!(with("1ms", "alert", storm), [alert]);
    assert_eq!(with("1ms", "drop", ""), [""; 0], "no host pauses");
}

#[test]
fn detours_beside_lossless_pause_are_noted_where_packets_have_a_ttl() {
    let detour = format!("{PER_PORT}\n{PFC}\noverflow = {{ kind = \"detour\" }}");
    let note = "detours with lossless pause: packets whose TTL expires on detours are still dropped. Such a drop \
                counts as `ttl_expired` and does not end the run";
    assert_eq!(pausing(&detour, ""), [note]);
    assert_eq!(pausing(&detour, "[transport]\nkind = \"dctcp\"\nttl = \"off\"\n"), [""; 0]);
    assert_eq!(pausing(&detour.replace("xoff", "lossless = false, xoff"), ""), [""; 0]);
}

/// Test of ports with different values of `lossless` in one switch.
/// A switch where any loss ends the run counts only the memory of such ports; the others take memory from them.
#[test]
fn counted_losses_of_some_ports_leave_the_warning_about_the_others() {
    let spared = "[[override]]\nwhere = { port = \"host\" }\nswitch.pause = { kind = \"pfc\", xoff = \"20KB\", \
                  xon = \"10KB\", lossless = false }\n";
    let tree =
        star(&format!("[switch]\n{PER_PORT}\n{PFC}\n{spared}")).replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4");
    let notes = loaded(&tree, &[]).notes;
    assert_eq!(
        notes,
        [format!(
            "default: pause at edge0 and 7 switches like it: packets that arrive at 2 ports without lossless pause may \
             fill the memory that lossless packets need. {ENDS_RUN}"
        )]
    );
}
