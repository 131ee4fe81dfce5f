//! Errors that suggest the intended word.

use crate::common::{loaded, refused, star, tree};

#[test]
fn names_of_papers_and_other_tools_are_answered_with_the_kind_that_is_meant() {
    for (more, said) in [
        ("[switch]\noverflow = { kind = \"dibs\" }\n", "(DIBS is called `detour` in Overspill)"),
        ("[switch]\noverflow.kind = \"DIBS\"\n", "(DIBS is called `detour` in Overspill)"),
        ("[switch]\noverflow = { kind = \"pabo\" }\n", "(PABO is called `bounce` in Overspill)"),
        (
            "[switch]\noverflow = { kind = \"ndp\" }\n",
            "(NDP's switch is called `trim` in Overspill. Only the switch of NDP is modelled, not the receivers that \
             pull.)",
        ),
        ("[switch]\noverflow = { kind = \"cp\" }\n", "(CP is called `trim` in Overspill)"),
        ("[switch]\noverflow = { kind = \"pfc\" }\n", "(`pfc` is a kind of the table `switch.pause`)"),
        ("[switch]\noverflow = { kind = \"dctcp\" }\n", "(`dctcp` is a kind of the table `transport`)"),
        ("[switch]\nmarking = { kind = \"dctcp\" }\n", "(DCTCP's marking is called `ecn_threshold` in Overspill)"),
        (
            "[switch]\noverflow = { kind = \"ECN\" }\n",
            "(ECN is called `ecn_threshold` in Overspill, in the table \
                                                       `switch.marking`)",
        ),
        ("[switch]\nscheduler = { kind = \"pfabric\" }\n", "(pFabric's order is called `srpt` in Overspill)"),
        ("[transport]\nkind = \"dibs\"\n", "(DIBS is called `detour` in Overspill, in the table `switch.overflow`)"),
        ("[switch]\nscheduler = { kind = \"dwrr\" }\n", "(DWRR is called `round_robin` in Overspill)"),
        (
            "[switch]\nrouting = { kind = \"WCMP\" }\n",
            "(WCMP is called `weighted` in Overspill. A path is drawn for each packet, not for each flow.)",
        ),
    ] {
        let found = refused(&star(more), &[]);
        assert!(found.ends_with(said) && found.contains("expected one of `"), "{found}");
    }
    let near = refused(&star("[switch]\noverflow = { kind = \"detoru\" }\n"), &[]);
    assert!(near.ends_with("(did you mean `detour`?)"), "{near}");
}

#[test]
fn keys_of_papers_are_answered_with_the_key_that_is_meant() {
    for (more, said) in [
        ("[switch]\nmarking = { kind = \"red\", pmax = 0.5 }\n", "(Pmax is called `max_p` in Overspill)"),
        (
            "[switch]\nmarking = { kind = \"red\", Kmin = \"5pkt\" }\n",
            "(Kmin is called `min` in Overspill. RED compares an average queue",
        ),
        (
            "[switch]\nmarking = { kind = \"ecn_threshold\", kmax = \"5pkt\" }\n",
            "(Kmax is called `k` in Overspill. K is both Kmin and Kmax",
        ),
        ("[transport]\niw = \"2pkt\"\n", "(IW is called `initial_window` in Overspill)"),
        (
            "[switch]\npause = { kind = \"pfc\", headroom = \"9KB\" }\n",
            "(headroom is called `xoff` in Overspill. Headroom is not a setting of a pause mechanism",
        ),
    ] {
        let found = refused(&star(more), &[]);
        assert!(found.contains(said) && found.contains("found unknown key `"), "{found}");
    }
}

#[test]
fn misspelt_quantities_are_answered_with_accepted_ones() {
    let size = |text: &str| format!("[switch]\nbuffer = {{ kind = \"per_port\", size = \"{text}\" }}\n");
    let delay = |text: &str| format!("[host]\nstack_delay = \"{text}\"\n");
    for (more, said) in [
        (size("1e3pkt"), "(did you mean \"1000pkt\"?)"),
        (size("60kb"), "(did you mean \"60KB\" for kilobytes or \"7.5KB\" for kilobits?)"),
        (delay("10US"), "(did you mean \"10us\"?)"),
    ] {
        assert!(refused(&star(&more), &[]).ends_with(said), "{}", refused(&star(&more), &[]));
    }
    let rate = |text: &str| refused(&star(""), &[&format!("topology.link.rate={text}")]);
    assert!(rate("100gbps").ends_with("(did you mean \"100Gbps\"?)"), "{}", rate("100gbps"));
    assert!(rate("100G").ends_with("(did you mean \"100Gbps\"?)"), "{}", rate("100G"));
    assert!(!rate("9000Tb").contains("did you mean"), "faster than any link: {}", rate("9000Tb"));
    let of_flow = refused(&star(""), &["traffic.0.size=1gb"]);
    assert!(of_flow.contains("\"1GB\" for gigabytes or \"0.125GB\" for gigabits"), "{of_flow}");
}

#[test]
fn a_name_in_place_of_a_table_is_answered_with_the_table() {
    for (more, said) in [
        ("[switch]\noverflow = \"bounce\"\n", "found \"bounce\"; expected a table, such as { kind = \"bounce\" }"),
        ("[switch]\noverflow = \"dibs\"\n", "found \"dibs\"; expected a table, such as { kind = \"detour\" }"),
        ("[switch]\noverflow = \"what\"\n", "found \"what\"; expected a table"),
        (
            "[host]\nnic = \"round_robin\"\n",
            "found \"round_robin\"; expected a table, such as { kind = \"round_robin\" }",
        ),
    ] {
        assert!(refused(&star(more), &[]).ends_with(said), "{said}: {}", refused(&star(more), &[]));
    }
    let text =
        star("").replace("[[traffic]]", "[[traffic]]\n").replace("[topology]", "transport = \"dctcp\"\n[topology]");
    assert!(refused(&text, &[]).ends_with("expected a table, such as { kind = \"dctcp\" }"));
}

#[test]
fn the_keys_of_a_file_are_all_told() {
    let found = refused(&star("").replace("[topology]", "varients = 1\n[topology]"), &[]);
    assert!(found.contains("`event`, `variants` (did you mean `variants`?)"), "{found}");
}

#[test]
fn entries_without_a_name_are_counted_as_one_reads_and_settings_take_the_same() {
    let events = "[[event]]\nkind = \"rate\"\nat = \"1ms\"\nlink = \"h1\"\nrate = \"2Mbps\"\n\
                  [[event]]\nkind = \"rate\"\nat = \"2ms\"\nlink = \"h9\"\nrate = \"1Mbps\"\n";
    let found = refused(&star(events), &[]);
    assert!(found.starts_with("test.toml:20: event.2nd.link: found `h9`"), "{found}");
    for place in ["2nd", "1"] {
        let set = format!("event.{place}.link=h2");
        assert_eq!(loaded(&star(events), &[&set]).variants[0].events.len(), 2);
    }
    let none = refused(&star(events), &["event.3rd.link=h2", "event.2st.link=h2"]);
    assert_eq!(none.matches("expected a number from 0 to 1, or `1st` to `2nd`").count(), 2, "{none}");
}

#[test]
fn what_an_override_does_wrong_to_the_whole_network_is_told_at_its_line() {
    let symmetric =
        "[[override]]\nwhere = { node = \"edge1\" }\nswitch.routing = { kind = \"ecmp\", symmetric = true }\n";
    let found = refused(&tree(symmetric), &[]);
    assert!(
        found.starts_with("test.toml:14: override.1st.switch.routing: found a symmetric hash of `ecmp` at 1 of"),
        "{found}"
    );
    let paths = "[switch]\nties = \"port\"\n[[override]]\nwhere = { node = \"edge1\" }\nswitch.routing = { kind = \"k_shortest\" }\n";
    assert!(refused(&tree(paths), &[]).starts_with("test.toml:16: override.1st.switch.routing: found `k_shortest`"));
    let fib = "[[override]]\nwhere = { node = \"edge1\" }\nswitch.fib = { kind = \"learning\" }\n";
    assert!(refused(&tree(fib), &[]).starts_with("test.toml:14: override.1st.switch.fib: found `learning` at 1 of"));
}
