//! Tests of hosts (stack, NIC, and counters) and of the split of packets by routes.

use crate::common::{Bursts, column, drops, run, run_with, scenario, small, total};
use sim::{Options, Results};

/// Topology of two hosts and a switch.
const PAIR: &str = "kind = \"star\"\nn = 2\nlink = { rate = \"1Gbps\", delay = \"1us\" }";

fn one_segment(host: &str) -> String {
    let more = format!(
        "[host]\n{host}\n[transport]\nkind = \"newreno\"\n[[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\n\
         receiver = \"h1\"\npick = \"first\"\nsize = \"1460B\"\n"
    );
    small("10ms", PAIR, &more)
}

fn times(results: &Results) -> Vec<u64> {
    let (start, end) = (column(results, "flows", "start_ps"), column(results, "flows", "end_ps"));
    start.iter().zip(end).map(|(start, end)| end - start).collect()
}

#[test]
fn a_stack_delay_adds_two_traversals_to_the_fct_of_a_segment() {
    let plain = times(&run(&one_segment(""), 1))[0];
    assert_eq!(plain, 2 * 12_304_000 + 2_000_000);
    let results = run(&one_segment("stack_delay = \"7us\""), 1);
    assert_eq!(times(&results), [plain + 2 * 7_000_000]);
    assert_eq!(column(&results, "flows", "ideal_ps"), [plain + 2 * 7_000_000], "the closed form has them too");
    // Data and ACK traverse two stacks each until the sender has its ACK.
    let ack = |host: &str| {
        let text = one_segment(host).replace("[[traffic]]", "[measure]\nfct_end = \"sender_ack\"\n[[traffic]]");
        times(&run(&text, 1))[0]
    };
    assert_eq!(ack("stack_delay = \"7us\"") - ack(""), 4 * 7_000_000);
}

#[test]
fn jitter_lies_between_its_bounds_and_differs_from_seed_to_seed() {
    let plain = 2 * 12_304_000 + 2_000_000;
    let seen: Vec<u64> =
        (1..=20).map(|seed| times(&run(&one_segment("stack_jitter = \"4us\""), seed))[0] - plain).collect();
    assert!(seen.iter().all(|late| *late <= 8_000_000), "{seen:?}");
    assert!(seen.iter().max().unwrap() - seen.iter().min().unwrap() > 2_000_000, "{seen:?}");
}

/// Test of the mean NIC jitter.
/// Jitter before the wire delays the only segment on the way there and, measured at the sender, the ACK on the way
/// back.
#[test]
fn jitter_of_a_nic_has_its_mean_and_delays_no_frame_of_a_switch() {
    let plain = 2 * 12_304_000 + 2_000_000;
    for law in ["exponential", "uniform"] {
        let host = format!("nic_jitter = \"4us\"\nnic_jitter_distribution = \"{law}\"");
        let late: Vec<u64> = (1..=200).map(|seed| times(&run(&one_segment(&host), seed))[0] - plain).collect();
        let mean = late.iter().sum::<u64>() as f64 / 200.0 / 4e6;
        assert!((mean - 1.0).abs() < 5.0 / 200f64.sqrt(), "{law}: {mean}");
        assert!(law == "exponential" || late.iter().all(|late| *late <= 8_000_000));
    }
}

/// Test of the default NIC jitter, a tenth of a frame's time.
/// The jitter is relative to the host's own link: the ACK that ends the flow for the sender comes over one ten times as
/// fast.
#[test]
fn a_tenth_of_a_frame_is_that_of_the_largest_frame_on_the_link_of_the_host() {
    let text = |jitter: &str| {
        let fast = "link = [{ a = \"h0\", b = \"s\", rate = \"1Gbps\", delay = \"1us\" }, \
                    { a = \"h1\", b = \"s\", rate = \"10Gbps\", delay = \"1us\" }]";
        let nodes = "kind = \"custom\"\nnode = [{ name = \"h0\", kind = \"host\" }, { name = \"h1\", kind = \"host\" }, \
                     { name = \"s\", kind = \"switch\" }]";
        let text = one_segment(&format!("nic_jitter = \"{jitter}\"")).replace(PAIR, &format!("{nodes}\n{fast}"));
        text.replace("[[traffic]]", "[measure]\nfct_end = \"sender_ack\"\n[[traffic]]")
    };
    for (word, waits) in [("tenth_frame", [1_230.4e3, 123.04e3]), ("6152ns", [6_152e3, 6_152e3])] {
        let plain = times(&run(&text("0us"), 1))[0];
        let late: Vec<u64> = (1..=200).map(|seed| times(&run(&text(word), seed))[0] - plain).collect();
        let mean = late.iter().sum::<u64>() as f64 / 200.0;
        let deviation = (waits.map(|wait: f64| wait * wait).iter().sum::<f64>() / 200.0).sqrt();
        assert!((mean - waits.iter().sum::<f64>()).abs() < 5.0 * deviation, "{word}: {mean} of {waits:?}");
    }
}

/// Test of two flows that share a link: of modern Linux hosts with NIC jitter, and of older hosts without it.
/// Exact hosts that wait for timeouts share the link unevenly for every seed: one flow has no loss and the other almost
/// no goodput.
#[test]
fn two_flows_of_hosts_of_today_share_a_link_that_older_exact_ones_do_not() {
    let jain = |host: &str, transport: &str, seed| {
        let more = format!(
            "[switch]\nbuffer = {{ kind = \"per_port\", size = \"100pkt\" }}\n[host]\n{host}\n[transport]\n{transport}\n\
             min_rto = \"10ms\"\n[[traffic]]\nname = \"f\"\nkind = \"long_lived\"\nsources = [\"h0\", \"h1\"]\n\
             destinations = [\"h16\", \"h16\"]\njitter = \"12304ns\"\n"
        );
        let star = "kind = \"star\"\nn = 17\nlink = { rate = \"1Gbps\", delay = \"10us\" }";
        let got = column(&run(&small("2s", star, &more), seed), "flows", "received");
        let squares: f64 = got.iter().map(|one| (*one as f64).powi(2)).sum();
        (got.iter().sum::<u64>() as f64).powi(2) / (2.0 * squares)
    };
    for seed in 1..=3 {
        let older = jain("nic_jitter = \"0us\"", "kind = \"cubic\"", seed);
        let today = jain("nic_jitter = \"tenth_frame\"", "kind = \"linux\"", seed);
        assert!(older < 0.7 && today > 0.9, "seed {seed}: {older} and {today}");
    }
}

/// Test that NIC jitter does not reduce the rate of a link.
/// A full window at line rate: the first frame is late, and no frame is later than the largest delay so far.
#[test]
fn jitter_of_a_nic_takes_nothing_from_the_rate_of_the_wire() {
    let long = |host: &str| {
        one_segment(host).replace("1460B", "1460KB").replace("newreno\"", "newreno\"\ninitial_window = \"2MB\"")
    };
    let [plain, late] = ["", "nic_jitter = \"4us\""].map(|host| times(&run(&long(host), 3))[0]);
    assert!(late > plain && late < plain + 100_000_000, "{plain} and {late} ps");
}

#[test]
fn a_flow_alone_takes_its_ideal_by_the_clocks_of_the_ports_that_it_meets() {
    let text =
        one_segment("clock_ppm = 100").replace("1460B", "14600B").replace("[host]", "[switch]\nclock_ppm = 50\n[host]");
    let found: Vec<[u64; 2]> = (1..=20)
        .map(|seed| {
            let results = run(&text, seed);
            [times(&results)[0], column(&results, "flows", "ideal_ps")[0]]
        })
        .collect();
    let plain = 11 * 12_304_000 + 2_000_000;
    assert!(found.iter().all(|[fct, ideal]| fct == ideal && fct.abs_diff(plain) <= plain / 10_000), "{found:?}");
    assert!(found.iter().any(|[fct, _]| *fct < plain) && found.iter().any(|[fct, _]| *fct > plain), "{found:?}");
}

#[test]
fn jitter_never_reorders_packets_of_a_host() {
    // Gaps of 1 us between packets, jitter of 50 us in each stack: without an order, packets would overtake each other.
    let text = "name = \"order\"\nduration = \"2ms\"\n[topology]\nkind = \"star\"\nn = 3\n\
         link = { rate = \"10Gbps\", delay = \"1us\" }\n[host]\nstack_delay = \"3us\"\nstack_jitter = \"50us\"\n\
         [measure]\npackets = true\n[[traffic]]\nname = \"c\"\nkind = \"bursts\"\nsources = [\"h1\", \"h2\"]\n\
         destination = \"h0\"\npayload = \"100B\"\npackets = 1000\ninterval = \"1us\"\npause = \"1s\"\n";
    let results = run(text, 1);
    let [flow, emission, sent, end] = ["flow", "emission", "sent_ps", "end_ps"].map(|c| column(&results, "packets", c));
    assert_eq!(flow.len(), 2000);
    for which in [0, 1] {
        let of: Vec<usize> = (0..flow.len()).filter(|i| flow[*i] == which).collect();
        let order: Vec<u64> = of.iter().map(|i| emission[*i]).collect();
        assert_eq!(order, (0..1000).collect::<Vec<u64>>(), "flow {which}");
        let delay = |i: &usize| end[*i] - sent[*i];
        let (least, most) = (of.iter().map(delay).min().unwrap(), of.iter().map(delay).max().unwrap());
        assert!(most - least > 20_000_000, "there is jitter: {least} to {most}");
    }
}

#[test]
fn a_nic_loses_what_its_queue_does_not_hold() {
    // 1000 packets, one every 10 us, take 12.304 us each on the wire. 9.99 ms of arrivals are 811.9 slots, so that 812
    // have been started when the last arrives; a queue of 50 then holds 50 more.
    let text = |queue: &str| {
        let bursts = Bursts { packets: 1000, interval: "10us", ..Bursts::ONE_FRAME };
        small("20ms", PAIR, &format!("[host]\n{queue}\n{}", bursts.text()))
    };
    for queue in ["nic_queue = \"50pkt\"", "nic_queue = \"75900B\""] {
        let results = run(&text(queue), 1);
        assert_eq!(drops(&results), 1000 - 812 - 50, "{queue}");
        let [node, full] = ["node", "drop_buffer_full"].map(|c| column(&results, "ports", c));
        assert!(node.iter().zip(full).all(|(node, lost)| (*node == 0) == (lost > 0)), "lost at the host itself");
        assert_eq!(total(&results, "flows", "received"), (812 + 50) * 1460);
        assert_eq!(column(&results, "ports", "max_packets")[0], 50);
    }
    assert_eq!(drops(&run(&text(""), 1)), 0, "unlimited where nothing is said");
}

#[test]
fn a_weighted_split_follows_the_weights_of_the_links() {
    let link = |a: &str, b: &str, weight: &str| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"10Gbps\", delay = \"1us\"{weight} }}")
    };
    let links = [
        link("a", "s", ""),
        link("s", "x", ", weight = 0.5"),
        link("s", "y", ", weight = 0.3"),
        link("s", "z", ", weight = 0.2"),
        link("x", "t", ""),
        link("y", "t", ""),
        link("z", "t", ""),
        link("t", "b", ""),
    ];
    let node = |(name, kind): (&str, &str)| format!("{{ name = \"{name}\", kind = \"{kind}\" }}");
    let switches = ["s", "x", "y", "z", "t"].map(|name| node((name, "switch")));
    let nodes = [vec![node(("a", "host")), node(("b", "host"))], switches.to_vec()].concat();
    let text = format!(
        "name = \"split\"\nduration = \"20ms\"\n[topology]\nkind = \"custom\"\nnode = [{}]\nlink = [{}]\n\
         [switch]\nrouting = {{ kind = \"weighted\" }}\n[[traffic]]\nname = \"c\"\nkind = \"constant\"\nsource = \"a\"\n\
         destination = \"b\"\nrate = \"5Gbps\"\npayload = \"1000B\"\n",
        nodes.join(", "),
        links.join(", ")
    );
    let s = scenario(&text, "");
    let of_s = s.topology.nodes.iter().position(|node| node.name == "s").unwrap() as u64;
    let results = run_with(&s, 1, Options::default());
    let [node, sent] = ["node", "sent"].map(|c| column(&results, "ports", c));
    let split: Vec<u64> = node.iter().zip(sent).filter(|(node, _)| **node == of_s).map(|(_, sent)| sent).collect();
    let whole: u64 = split.iter().sum();
    assert!(whole > 11_000 && split[0] == 0, "{split:?}: port 0 leads back to the source");
    for (sent, weight) in split[1..].iter().zip([0.5, 0.3, 0.2]) {
        let (expected, deviation) = (weight * whole as f64, (weight * (1.0 - weight) * whole as f64).sqrt());
        assert!((*sent as f64 - expected).abs() < 4.0 * deviation, "{split:?}: {weight} of {whole}");
    }
}
