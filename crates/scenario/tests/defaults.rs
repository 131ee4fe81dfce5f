//! Warnings about values that do not fit the network: K below its guideline always, buffers and timeouts only if the
//! file sets none.

use crate::common::source;
use scenario::load;

/// Returns the notes of an incast with this rate and delay of links, and with these lines before its traffic.
fn notes(link: &str, more: &str) -> Vec<String> {
    let text = format!(
        "name = \"k\"\nduration = \"5ms\"\n[topology]\nkind = \"star\"\nn = 9\nlink = {{ {link} }}\n{more}\n[[traffic]]\n\
         name = \"b\"\nkind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"500KB\"\n"
    );
    let all = load(&source(&text), &[]).expect("it loads").notes;
    all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string()).collect()
}

const FAST: &str = "rate = \"100Gbps\", delay = \"1us\"";
const USUAL: &str = "rate = \"1Gbps\", delay = \"10us\"";
const DCTCP: &str = "[transport]\nkind = \"linux_dctcp\"\n[switch]\nmarking = { kind = \"ecn_threshold\" }\n";

#[test]
fn defaults_of_one_gigabit_are_noted_at_100() {
    let found = notes(FAST, DCTCP);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].starts_with("switch.marking: the default K = 20pkt is the value of the DCTCP paper for 1 Gb/s"),
        "{}",
        found[0]
    );
    // 100 frames of 1518 B.
    assert!(
        found[1].starts_with(
            "switch.buffer: the default size of 100pkt per port holds only 12.1 us of traffic at 100Gbps. An incast"
        ),
        "{}",
        found[1]
    );
    // 4 us of propagation, two times a full frame (123.04 ns) and two times the smallest (6.72 ns).
    assert!(
        found[2].starts_with(
            "transport.min_rto: the default 200ms is 46953 times the round-trip time of 4.3 us. A flow with one timeout"
        ),
        "{}",
        found[2]
    );
}

#[test]
fn values_that_the_file_sets_are_intended() {
    let set = "[transport]\nkind = \"linux_dctcp\"\nmin_rto = \"200ms\"\n[switch]\nbuffer = { kind = \"per_port\", size = \"100pkt\" }\n\
               marking = { kind = \"ecn_threshold\", k = \"20pkt\" }\n";
    assert_eq!(notes(FAST, set), [""; 0]);
    assert_eq!(notes(USUAL, DCTCP), [""; 0], "defaults fit 1 Gb/s");
}

#[test]
fn threshold_below_its_guideline_is_always_noted() {
    let k = |k: u32| {
        let more = format!(
            "[transport]\nkind = \"dctcp\"\n[switch]\nbuffer = {{ kind = \"per_port\", size = \"1MB\" }}\n\
             marking = {{ kind = \"ecn_threshold\", k = \"{k}B\" }}\n"
        );
        notes("rate = \"10Gbps\", delay = \"20us\"", &more)
    };
    // (80 us + 2 x 1.2304 us + 2 x 67.2 ns) x 1.25 B/ns / 7 = 14,749 B.
    let found = k(14_748);
    assert!(found.len() == 1 && found[0].contains("is below C x RTT / 7 = 14749B (10Gbps x 82.6 us / 7"), "{found:?}");
    assert!(found[0].ends_with("Set `switch.marking.k` to 10pkt or more"), "{found:?}");
    assert_eq!(k(14_749), [""; 0]);
}

#[test]
fn buffer_below_one_window_is_noted_unless_set() {
    // 10 Gb/s x 402.6 us is 503 KB.
    let long = "rate = \"10Gbps\", delay = \"100us\"";
    let found = notes(long, "[transport]\nkind = \"reno\"\n");
    assert!(found.len() == 1 && found[0].contains("One flow overflows this buffer, since C x RTT = 503"), "{found:?}");
    assert_eq!(
        notes(long, "[transport]\nkind = \"reno\"\n[switch]\nbuffer = { kind = \"per_port\", size = \"100pkt\" }\n"),
        [""; 0]
    );
}

#[test]
fn networks_that_pause_have_no_note_about_timeouts() {
    let pauses = "[transport]\nkind = \"linux\"\n[switch]\nbuffer = { kind = \"per_port\", size = \"1MB\" }\n\
                  pause = { kind = \"pfc\", xoff = \"200KB\", xon = \"150KB\" }\n";
    assert!(notes(FAST, pauses).iter().all(|note| !note.contains("min_rto")));
    assert!(notes(FAST, "[transport]\nkind = \"linux\"\n").iter().any(|note| note.contains("min_rto")));
}
