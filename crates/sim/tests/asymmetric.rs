//! Links whose directions differ in rate and delay, checked against values computed by hand.

use crate::common::{column, drops, run, scenario};

/// Setting of links with 1 Gb/s and 1 us up, and 100 Mb/s and 5 us down.
const LINK: &str = "link = { rate = \"1Gbps\", delay = \"1us\", back = { rate = \"100Mbps\", delay = \"5us\" } }";

/// Returns a star with a flow of ten segments from h1 to h0, all in the initial window.
fn flow(more: &str) -> String {
    format!(
        "name = \"uneven\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 3\n{LINK}\n[transport]\nkind = \"newreno\"\n\
         initial_window = \"10pkt\"\n[measure]\nlinks = true\n{more}\n[[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\n\
         receiver = \"h0\"\npick = \"first\"\nsize = \"14600B\"\n"
    )
}

#[test]
fn a_flow_takes_the_rate_and_the_delay_of_each_direction() {
    let results = run(&flow(""), 1);
    // 1538 bytes with preamble and gap: 12.304 us up, 123.04 us down; the first frame up, then all ten down.
    let by_hand = 12_304_000 + 1_000_000 + 10 * 123_040_000 + 5_000_000;
    assert_eq!(column(&results, "flows", "end_ps"), [by_hand]);
    assert_eq!(column(&results, "flows", "ideal_ps"), [by_hand]);
    // Nine frames arrive while the first is on the wire down, each 12.304 us after the one before.
    let [nodes, most] = ["node", "max_packets"].map(|name| column(&results, "ports", name));
    let waited = nodes.iter().zip(most).filter(|(node, _)| **node == 3).map(|(_, most)| most);
    assert_eq!(waited.max(), Some(9));
    assert_eq!(drops(&results), 0);
}

#[test]
fn an_ack_comes_back_by_the_other_direction_of_both_links() {
    let results = run(&flow("fct_end = \"sender_ack\""), 1);
    let there = 12_304_000 + 1_000_000 + 10 * 123_040_000 + 5_000_000;
    // 84 bytes: 672 ns up from the receiver, 6.72 us down to the sender.
    let back = 672_000 + 1_000_000 + 6_720_000 + 5_000_000;
    assert_eq!(column(&results, "flows", "end_ps"), [there + back]);
    assert_eq!(column(&results, "flows", "ideal_ps"), [there + back]);
}

#[test]
fn tables_have_the_rate_of_the_direction_that_a_port_sends_in() {
    let results = run(&flow(""), 1);
    let nodes = column(&results, "ports", "node");
    let rates: Vec<f64> = column(&results, "ports", "rate_bps").into_iter().map(f64::from_bits).collect();
    for (node, rate) in nodes.iter().zip(rates) {
        assert_eq!(rate, if *node < 3 { 1e9 } else { 1e8 }, "node {node}");
    }
}

#[test]
fn headroom_is_of_what_comes_in_at_its_rate_while_a_pause_goes_out_at_the_other() {
    let text = flow("").replace(
        "[transport]",
        "[switch]\nbuffer = { kind = \"per_port\", size = \"1MB\" }\n\
         pause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\" }\n[transport]",
    );
    // Port 1 of the switch pauses h1: a request goes down, data goes up.
    let span = scenario(&text, "").worst_case_link(3, 1);
    // The request waits for a frame of 1538 bytes down and takes 84 bytes itself; delays are 5 us there and 1 us back:
    // 135.76 us.
    let window = 123_040 + 6_720 + 5_000 + 1_000;
    assert_eq!(span.max_wait().0 + span.reaction_time().0, window * 1000);
    // Until the pause takes effect, eleven frames of 12.304 us arrive, and 416 ns of a shorter one (52 bytes, 20 of
    // them preamble and gap). A last frame begins at the very end. All but a byte of the frame that crossed the
    // threshold is added.
    assert_eq!(span.headroom_bytes(), 11 * 1518 + 32 + 1518 + 1517);
}
