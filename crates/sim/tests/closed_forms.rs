//! Tests of runs whose outcome is derived by hand, to the picosecond and to the packet.

use crate::common::{Bursts, PABO_TREE, column, drops, run, small, total};

fn one_flow(topology: &str, bytes: u64, destination: &str) -> String {
    let more = format!(
        "[switch]\nbuffer = {{ kind = \"unlimited\" }}\n[transport]\nkind = \"newreno\"\ninitial_window = \"100000pkt\"\n\
         [[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\nreceiver = \"{destination}\"\n\
         pick = \"first\"\nsize = \"{bytes}B\"\nstart = \"3us\"\n"
    );
    small("1s", topology, &more)
}

fn fct(text: &str) -> u64 {
    let results = run(text, 1);
    let (start, end) = (column(&results, "flows", "start_ps")[0], column(&results, "flows", "end_ps")[0]);
    let ideal = column(&results, "flows", "ideal_ps")[0];
    assert_eq!(end - start, ideal, "the closed form and the run agree");
    end - start
}

#[test]
fn a_packet_on_a_star_takes_two_serialisations_and_two_delays() {
    let star = "kind = \"star\"\nn = 2\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    // 1460 B make a slot of 1538 B, 12.304 us at 1 Gb/s; store and forward over two links of 1 us.
    assert_eq!(fct(&one_flow(star, 1460, "h1")), 2 * 12_304_000 + 2 * 1_000_000);
    // One byte: a frame of 64 B, a slot of 84 B.
    assert_eq!(fct(&one_flow(star, 1, "h1")), 2 * 672_000 + 2 * 1_000_000);
}

#[test]
fn segments_of_a_flow_follow_each_other_on_every_link() {
    let star = "kind = \"star\"\nn = 2\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    // 20 KB: 13 full segments and one of 1020 B (slot 1098 B, 8.784 us).
    let last = 1_098 * 8_000;
    assert_eq!(fct(&one_flow(star, 20_000, "h1")), 14 * 12_304_000 + last + 2_000_000);
}

#[test]
fn a_flow_between_pods_of_a_fat_tree_crosses_six_links() {
    let tree = "kind = \"fat_tree\"\nk = 4\nlink = { rate = \"10Gbps\", delay = \"500ns\" }";
    // 1 MB: 684 full segments and one of 1360 B; a byte takes 800 ps.
    let (full, last) = (1538 * 800, (1360 + 78) * 800);
    let expected = 684 * full + 5 * full + last + 6 * 500_000;
    // The last, shorter frame waits behind full ones on every link but the first, so that the full ones set the pace.
    let text = one_flow(tree, 1_000_000, "h15");
    assert_eq!(fct(&text), expected);
}

/// Returns a scenario of one flow over links of different rates, with stack delays of 3 us and these transport
/// settings.
fn stacked_flow(bytes: u64, transport: &str) -> String {
    let dumbbell = "kind = \"dumbbell\"\nn = 2\nlink = { rate = \"10Gbps\", delay = \"1us\" }\n\
                    bottleneck = { rate = \"553Mbps\", delay = \"5us\" }\n[host]\nstack_delay = \"3us\"";
    let text = one_flow(dumbbell, bytes, "h2");
    text.replace("kind = \"newreno\"\n", &format!("kind = \"sack\"\n{transport}\n"))
}

/// Returns the time in ps that `bytes` bytes on the wire take at 553 Mb/s, and at 10 Gb/s.
fn slot(bytes: u64) -> (u64, u64) {
    ((bytes * 8 * 1_000_000).div_ceil(553), bytes * 800)
}

#[test]
fn timestamps_take_twelve_bytes_of_every_segment() {
    for segments in [1, 2, 20, 685] {
        let with = |stamps: bool| fct(&stacked_flow(segments * 1460, &format!("timestamps = {stamps}")));
        let (slow, fast) = (slot(1550).0 - slot(1538).0, slot(12).1);
        assert_eq!(with(true) - with(false), segments * slow + 2 * fast, "{segments} segments");
    }
}

#[test]
fn a_handshake_takes_one_crossing_there_and_one_back() {
    for bytes in [1, 1460, 1461, 29_200, 60_000] {
        for stamps in [false, true] {
            let with = |how: &str| fct(&stacked_flow(bytes, &format!("timestamps = {stamps}\nconnection = \"{how}\"")));
            // SYN and SYN-ACK carry 12 or 20 B of options: slots of 90 or 98 B on three links each.
            let (slow, fast) = slot(if stamps { 98 } else { 90 });
            let crossing = slow + 2 * fast + 7_000_000 + 2 * 3_000_000;
            assert_eq!(with("handshake") - with("established"), 2 * crossing, "{bytes} B");
        }
    }
}

#[test]
fn a_slow_link_in_the_middle_sets_the_pace() {
    let dumbbell = "kind = \"dumbbell\"\nn = 2\nlink = { rate = \"10Gbps\", delay = \"1us\" }\n\
                    bottleneck = { rate = \"553Mbps\", delay = \"5us\" }";
    for bytes in [1, 1459, 1460, 1461, 29_200, 1_000_000] {
        let text = one_flow(dumbbell, bytes, "h2");
        assert!(fct(&text) > 7_000_000, "delays alone are 7 us");
    }
}

#[test]
fn two_senders_overload_a_port_and_the_number_of_drops_is_known() {
    // Two sources send n frames each at line rate to one port, phase-locked. A frame ends just before the next two
    // arrive, and the port then takes one from its queue. So the queue grows by one each slot, to n or to its capacity;
    // n frames have gone to the wire, and the rest is lost. Only the very first frame is still queued while its own
    // instant is decided. A queue of 1 therefore loses that slot's other frame. Since the queue is empty again at every
    // slot, it loses one in each.
    for (n, capacity, lost) in [(5u64, 10u64, 0u64), (10, 10, 0), (11, 10, 1), (50, 10, 40), (50, 2, 48), (50, 1, 50)] {
        let sources = &["h1", "h2"];
        let bursts =
            Bursts { sources, destination: "h0", packets: n, interval: "12304ns", pause: "10ms", ..Bursts::ONE_FRAME };
        let switch = format!("[switch]\nbuffer = {{ kind = \"per_port\", size = \"{capacity}pkt\" }}\n");
        let text = small("1ms", "kind = \"star\"\nn = 3", &format!("{switch}{}", bursts.text()));
        let results = run(&text, 1);
        assert_eq!(drops(&results), lost, "n = {n}, capacity = {capacity}");
        assert_eq!(total(&results, "flows", "received"), (2 * n - lost) * 1460);
    }
}

#[test]
fn bursts_in_pabos_tree_lose_what_the_paper_says() {
    // PABO V-B: (2(N+1) - 1000) / (3(N+1)) of the packets; 0.1331, 44.459 and 53.339%.
    for (packets, lost) in [(501u64, 2u64), (1501, 2002), (2501, 4002)] {
        let bursts = Bursts {
            sources: &["h0", "h1", "h2"],
            destination: "h3",
            payload: "1500B",
            packets,
            interval: "10us",
            pause: "200ms",
            ..Bursts::ONE_FRAME
        };
        let switch = "[framing]\nkind = \"ethernet\"\nheader = \"0B\"\n[switch]\nsimultaneous = \"snapshot\"\n\
                      buffer = { kind = \"per_port\", size = \"1000pkt\" }\n";
        let text = small("150ms", PABO_TREE, &format!("{switch}{}", bursts.text()));
        assert_eq!(drops(&run(&text, 1)), lost, "{packets} packets a sender");
    }
}
