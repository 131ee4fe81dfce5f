//! Whole runs on the networks of DIBS §7: `hyperx`, `jellyfish` and `linear`, with either routing.

use crate::common::{column, drops, run, run_with, scenario, total};
use sim::{Options, Results};

const NETS: [&str; 3] = [
    "kind = \"hyperx\"\ndims = [3, 3]\nhosts_per_switch = 2",
    "kind = \"jellyfish\"\nswitches = 9\ndegree = 4\nhosts_per_switch = 2",
    "kind = \"linear\"\nswitches = 4\nhosts_per_switch = 4",
];
const ROUTINGS: [&str; 2] = ["ecmp", "k_shortest"];

/// Returns a scenario of queries of twelve hosts to random ones, with more packets than a port's buffer holds.
fn queries(net: &str, switch: &str) -> String {
    format!(
        "name = \"queries\"\nduration = \"10ms\"\n[topology]\n{net}\n\
         [switch]\nbuffer = {{ kind = \"per_port\", size = \"15pkt\" }}\n{switch}\n\
         [transport]\nkind = \"dctcp\"\nmin_rto = \"2ms\"\ndupack_threshold = \"off\"\n\
         [measure]\npackets = true\nqueues = false\n[[traffic]]\nname = \"query\"\nkind = \"incast\"\nsenders = 12\n\
         receiver = \"random\"\nsize = \"30KB\"\nstart = \"1ms\"\ninterval = \"2ms\"\nrepeat = 4\n"
    )
}

fn finished(results: &Results) -> bool {
    let ends = column(results, "flows", "end_ps");
    ends.len() == 48 && ends.iter().all(|end| *end != u64::MAX)
}

#[test]
fn drop_and_detour_on_every_network_by_either_routing_lose_nothing_unseen_and_finish() {
    for net in NETS {
        for routing in ROUTINGS {
            let of = |overflow| {
                let switch = format!("overflow = {{ kind = \"{overflow}\" }}\nrouting = {{ kind = \"{routing}\" }}");
                // Every run is checked to conserve its packets.
                run(&queries(net, &switch), 1)
            };
            let (dropped, detoured) = (of("tail_drop"), of("detour"));
            assert!(finished(&dropped) && finished(&detoured), "{routing} on {net}");
            assert!(drops(&dropped) > 0 && total(&dropped, "ports", "detoured") == 0, "{routing} on {net}");
            assert!(total(&detoured, "ports", "detoured") > 0, "{routing} on {net}");
            assert!(drops(&detoured) < drops(&dropped), "{routing} on {net}");
        }
    }
}

#[test]
fn the_same_bits_whether_departures_are_computed_or_routes_are_predicted() {
    for net in NETS {
        let s = scenario(&queries(net, "overflow = { kind = \"detour\" }\nrouting = { kind = \"k_shortest\" }"), "");
        let ends = |options, seed| column(&run_with(&s, seed, options), "flows", "end_ps");
        let plain = ends(Options::default(), 1);
        assert_eq!(plain, ends(Options { step_departures: true, ..Options::default() }, 1));
        assert_eq!(plain, ends(Options { heap: true, ..Options::default() }, 1));
        assert_ne!(plain, ends(Options::default(), 2));
    }
}

#[test]
fn ecmp_and_k_shortest_are_identical_on_a_chain() {
    let of = |routing: &str| {
        let switch = format!("overflow = {{ kind = \"detour\" }}\nrouting = {{ kind = \"{routing}\" }}");
        let results = run(&queries(NETS[2], &switch), 3);
        (column(&results, "flows", "end_ps"), total(&results, "ports", "detoured"))
    };
    assert_eq!(of("ecmp"), of("k_shortest"));
}

/// Returns the results of a scenario in which single flows run one after the other, between random hosts.
fn alone(net: &str, routing: &str) -> Results {
    run(
        &format!(
            "name = \"alone\"\nduration = \"40ms\"\n[topology]\n{net}\nfabric = {{ rate = \"553Mbps\", delay = \"3us\" }}\n\
             [switch]\nbuffer = {{ kind = \"unlimited\" }}\nrouting = {{ kind = \"{routing}\" }}\n\
             [transport]\nkind = \"newreno\"\ninitial_window = \"1000pkt\"\n\
             [measure]\nfct_end = \"sender_ack\"\n[[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\n\
             receiver = \"random\"\nsize = \"9KB\"\nstart = \"3us\"\ninterval = \"1ms\"\nrepeat = 40\n"
        ),
        1,
    )
}

#[test]
fn a_flow_alone_takes_what_the_closed_form_says_of_its_own_path() {
    for net in NETS {
        let [short, own] = ROUTINGS.map(|routing| {
            let results = alone(net, routing);
            let (starts, ends) = (column(&results, "flows", "start_ps"), column(&results, "flows", "end_ps"));
            let took: Vec<_> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
            assert_eq!((took.len(), &took), (40, &column(&results, "flows", "ideal_ps")), "{routing} on {net}");
            took
        });
        // Pairs are the same with either routing, and paths are at least as long.
        assert!(short.iter().zip(&own).all(|(short, own)| short <= own));
        assert_eq!(short == own, net == NETS[2], "a chain has no other path");
    }
}

/// Returns the results of an incast from twelve hosts of the second and third switch to a host at the end of a chain.
///
/// Each port has a buffer of this number of packets.
fn into_the_end(packets: u32) -> Results {
    let net = "kind = \"linear\"\nswitches = 3\nhosts_per_switch = 6";
    run(
        &queries(net, "overflow = { kind = \"detour\" }")
            .replace("15pkt", &format!("{packets}pkt"))
            .replace("receiver = \"random\"", "receiver = \"h0\"\npick = \"spread\""),
        1,
    )
}

#[test]
fn on_a_chain_a_detour_goes_back_or_the_packet_is_dropped() {
    // DIBS footnote 10. Each detour costs one link back and one forward again.
    let roomy = into_the_end(60);
    assert!(finished(&roomy) && drops(&roomy) == 0);
    let (hops, detours) = (column(&roomy, "packets", "hops"), column(&roomy, "packets", "detours"));
    let (src, dst) = (column(&roomy, "flows", "src"), column(&roomy, "flows", "dst"));
    assert!(detours.iter().any(|detours| *detours > 1));
    for (i, flow) in column(&roomy, "packets", "flow").into_iter().enumerate() {
        let (src, dst) = (src[flow as usize], dst[flow as usize]);
        assert_eq!(hops[i], 2 + (src / 6).abs_diff(dst / 6) + 2 * detours[i]);
    }
    let tight = into_the_end(3);
    assert!(finished(&tight) && drops(&tight) > 0 && total(&tight, "ports", "detoured") > 0);
}
