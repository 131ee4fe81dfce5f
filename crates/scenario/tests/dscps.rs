//! Traffic classes of DSCPs, and DSCPs of workloads.

use crate::common::{loaded, refused, star};
use mech::{DscpTable, Head};
use scenario::Scenario;
use serde_json::json;

/// Returns the text of a workload with this name and these additional lines.
fn workload(name: &str, more: &str) -> String {
    format!("[[traffic]]\nname = \"{name}\"\nkind = \"permutation\"\nsize = \"1KB\"\n{more}\n")
}

/// Returns the class of a workload's packets, and their DSCP in an IPv4 header.
fn class_and_dscp(scenario: &Scenario, traffic: u16) -> (u8, u8) {
    let class = scenario.traffic[usize::from(traffic)].class();
    let tos = Head::tos_of(class, scenario.dscps.code_point(traffic, class));
    (class, scenario.dscps.table.ipv4_tos(tos) >> 2)
}

/// Returns the classes and DSCPs of all workloads of the first variant.
fn dscps(text: &str) -> Vec<(u8, u8)> {
    let loaded = loaded(text, &[]);
    let all = loaded.variants[0].traffic.len() as u16;
    (0..all).map(|traffic| class_and_dscp(&loaded.variants[0], traffic)).collect()
}

#[test]
fn class_of_a_named_dscp_is_in_the_table_or_its_high_bits() {
    let named = |dscp: u8| workload(&format!("w{dscp}"), &format!("dscp = {dscp}"));
    let text = star(&format!("class = 1\n{}{}{}", named(26), named(46), named(63)));
    assert_eq!(dscps(&text), [(1, 8), (3, 26), (5, 46), (7, 63)]);
    let table = "[dscp_to_class]\n26 = 0\n46 = 3\n\"63\" = 3\n";
    assert_eq!(dscps(&format!("{text}{table}")), [(1, 8), (0, 26), (3, 46), (3, 63)]);
}

#[test]
fn dscps_of_a_class_are_numbered_in_ascending_order() {
    let text = star(&format!(
        "class = 3\n{}{}{}",
        workload("high", "dscp = 46\nclass = 3"),
        workload("low", "dscp = 10"),
        "[dscp_to_class]\n46 = 3\n10 = 3\n"
    ));
    assert_eq!(dscps(&text), [(3, 24), (3, 46), (3, 10)]);
    let scenario = &loaded(&text, &[]).variants[0];
    assert_eq!([0, 1, 2].map(|traffic| scenario.dscps.code_point(traffic, 3)), [1, 2, 0]);
    assert_eq!(scenario.dscps.table.ipv4_tos(Head::tos_of(3, 0)), 10 << 2, "packets that get class 3 on their way");
}

#[test]
fn class_without_its_selector_has_its_lowest_dscp() {
    assert_eq!(dscps(&star("class = 3\n[dscp_to_class]\n24 = 1\n2 = 3\n")), [(3, 2)]);
    assert_eq!(dscps(&star("class = 3\n[dscp_to_class]\n24 = 1\n")), [(3, 25)]);
}

#[test]
fn scenario_without_dscps_has_class_selectors_and_no_new_values() {
    let loaded = loaded(&star("class = 3\n"), &[]);
    assert_eq!(loaded.variants[0].dscps.table, DscpTable::CLASS_SELECTORS);
    let resolved = &loaded.resolved["default"];
    assert!(resolved.get("dscp_to_class").is_none() && resolved["traffic"][0].get("dscp").is_none(), "{resolved}");
}

#[test]
fn variants_and_settings_change_the_table() {
    let text = star("dscp = 26\n[variants.a]\n[variants.b]\ndscp_to_class = { 26 = 1 }\n");
    let first = |sets: &[&str]| {
        let all = loaded(&text, sets);
        (all.variants.iter().map(|one| one.traffic[0].class()).collect::<Vec<_>>(), all.resolved)
    };
    assert_eq!(first(&[]).0, [3, 1]);
    let (classes, resolved) = first(&["dscp_to_class.8=5", "traffic.burst.dscp=8"]);
    assert_eq!(classes, [5, 5]);
    assert_eq!(resolved["b"]["dscp_to_class"], json!({ "8": 5, "26": 1 }));
    assert_eq!((&resolved["a"]["traffic"][0]["dscp"], &resolved["a"]["traffic"][0]["class"]), (&json!(8), &json!(5)));
}

#[test]
fn entries_outside_the_table_are_refused() {
    let rule = "expected a table of traffic classes from 0 to 7 by DSCP from 0 to 63, such as { 26 = 3, 48 = 6 }";
    for (entry, found) in [
        ("64 = 3", "a table with 64 = 3"),
        ("-1 = 3", "a table with -1 = 3"),
        ("026 = 3", "a table with 026 = 3"),
        ("26 = 8", "a table with 26 = 8"),
        ("26 = \"3\"", "a table with 26 = \"3\""),
        ("s0 = { 26 = 3 }", "a table with s0 = a table"),
    ] {
        let said = refused(&star(&format!("[dscp_to_class]\n{entry}\n")), &[]);
        assert!(said.ends_with(&format!("dscp_to_class: found {found}; {rule}")), "{said}");
    }
    let said = refused(&star(""), &["dscp_to_class=[0, 1]"]);
    assert_eq!(said, format!("--set: dscp_to_class: found a list; {rule}"));
    let said = refused(&star("dscp = 64\n"), &[]);
    assert!(said.contains("traffic.burst.dscp: found 64; expected a whole number from 0 to 63"), "{said}");
}

#[test]
fn class_and_dscp_that_disagree_are_refused() {
    assert_eq!(dscps(&star("class = 3\ndscp = 26\n")), [(3, 26)]);
    for (more, sets) in [("class = 3\ndscp = 46\n", &[][..]), ("class = 3\n", &["traffic.burst.dscp=46"])] {
        let said = refused(&star(more), sets);
        let rule = "found 3 with dscp = 46; expected 5, the class of DSCP 46 in `dscp_to_class`, or no `class`";
        assert!(said.contains(&format!("traffic.burst.class: {rule}")), "{said}");
    }
}

#[test]
fn fifth_dscp_of_a_class_is_refused() {
    let named: String = [31, 25, 30, 26].map(|n| workload(&format!("w{n}"), &format!("dscp = {n}"))).concat();
    assert_eq!(dscps(&star(&format!("class = 2\n{named}{}", workload("again", "dscp = 25")))).len(), 6);
    for (last, field) in [("dscp = 27", "dscp"), ("class = 3", "class")] {
        let said = refused(&star(&format!("{named}{}", workload("fifth", last))), &[]);
        let dscp = if field == "dscp" { 27 } else { 24 };
        let found = format!("found DSCP {dscp} of class 3, beside DSCPs 25, 26, 30, 31");
        let rule = "expected at most 4 DSCPs of one class in a scenario";
        assert!(said.ends_with(&format!("traffic.fifth.{field}: {found}; {rule}")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn class_that_no_dscp_has_is_refused() {
    let unmapped = |class: u8| -> String {
        let lines: Vec<String> = (class * 8..class * 8 + 8).map(|dscp| format!("{dscp} = 0\n")).collect();
        format!("[dscp_to_class]\n{}", lines.concat())
    };
    let found = |class: u8| format!("found packets of class {class}, to which `dscp_to_class` maps no DSCP");
    let said = refused(&star(&format!("class = 3\n{}", unmapped(3))), &[]);
    let rule = "expected a class with a DSCP: 0, 1, 2, 4, 5, 6, 7";
    assert!(said.ends_with(&format!("traffic.burst.class: {}; {rule}", found(3))), "{said}");
    let trim = "[switch]\nbuffer = { kind = \"per_port\", size = \"150KB\" }\n\
                overflow = { kind = \"trim\", trimmable = \"any\", header_class = 6 }\n";
    let said = refused(&star(&format!("{trim}{}", unmapped(6))), &[]);
    assert!(said.contains(&format!("switch.overflow.header_class: {}", found(6))), "{said}");
    let host = "[host]\nnic = { kind = \"round_robin\" }\nreaction = { kind = \"dcqcn\" }\n";
    let said = refused(&star(&format!("{host}{}", unmapped(7))), &[]);
    assert!(said.contains(&format!("host.reaction: {}", found(7))), "{said}");
    assert_eq!(dscps(&star(&unmapped(3))), [(0, 0)], "an unused class may have no DSCP");
}

#[test]
fn tables_of_ports_and_switches_are_refused() {
    for table in ["[switch]\n", "[host]\n", "[[override]]\nwhere = { node = \"s0\" }\n[override.switch]\n"] {
        let said = refused(&star(&format!("{table}dscp_to_class = {{ 26 = 3 }}\n")), &[]);
        assert!(said.contains("found unknown key `dscp_to_class`"), "{said}");
    }
    let said = refused(&star("[DSCP_TO_TC_MAP]\n26 = 3\n"), &[]);
    let hint = "SONiC's DSCP_TO_TC_MAP is called `dscp_to_class` in Overspill. One map applies to all hosts";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn dscp_of_trimmable_and_other_data_is_noted() {
    let text = |dscp: u8, trimmable: &str| {
        let roce = "transport = { kind = \"roce\" }\ndscp = 26";
        star(&format!(
            "dscp = {dscp}\ntransport = {{ kind = \"newreno\" }}\n{}[host]\nnic = {{ kind = \"round_robin\" }}\n\
             [switch]\noverflow = {{ kind = \"trim\", trimmable = \"{trimmable}\" }}\n",
            workload("roce", roce)
        ))
    };
    let notes = |dscp, trimmable| -> Vec<String> {
        let all = loaded(&text(dscp, trimmable), &[]).notes;
        all.into_iter().filter(|note| note.contains("DSCP")).collect()
    };
    let [note] = &notes(26, "any")[..] else { panic!("one note") };
    assert!(note.contains("DSCP 26 marks RoCE data, which is not trimmable"), "{note}");
    assert_eq!((notes(27, "any").len(), notes(26, "cpa").len()), (0, 0));
}
