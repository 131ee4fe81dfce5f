//! Order of precedence of overrides, variants and settings of the command line.

use crate::common::{INCAST, loaded, refused, size_of, star, tree};
use mech::params::Value;
use scenario::TieOrder;
use serde_json::json;
use units::{Dur, Rate, Time};

#[test]
fn an_override_changes_the_switches_of_its_tier_and_no_others() {
    let drop = &loaded(&INCAST.replace("where = { tier = \"agg\" }", "where = { tier = \"core\" }"), &[]).variants[0];
    for (switch, node) in drop.switches.iter().zip(&drop.topology.nodes[128..]) {
        let size = if node.tier == "core" { "384KiB" } else { "100pkt" };
        assert_eq!(size_of(&switch.buffer), size, "{}", node.name);
    }
}

#[test]
fn among_overrides_that_match_the_last_wins() {
    let overrides = "[[override]]\nwhere = { tier = \"edge\" }\nswitch.buffer.size = \"10pkt\"\n\
                     [[override]]\nwhere = { node = \"edge1\" }\nswitch.buffer.size = \"20pkt\"\n\
                     [[override]]\nwhere = { node = \"edge2\" }\nswitch.buffer = { kind = \"unlimited\" }\n\
                     switch.ties = \"port\"\n";
    let variant = &loaded(&tree(overrides), &[]).variants[0];
    let buffers: Vec<_> = variant.switches[..4].iter().map(|s| &s.buffer).collect();
    assert_eq!(
        (size_of(buffers[0]), size_of(buffers[1]), size_of(buffers[3])),
        ("10pkt".into(), "20pkt".into(), "10pkt".into())
    );
    assert_eq!(buffers[2].kind, "unlimited");
    assert_eq!((variant.switches[1].ties, variant.switches[2].ties), (TieOrder::Random, TieOrder::Port));
    assert_eq!(size_of(&variant.switches[8].buffer), "100pkt", "an aggregation switch");
    let turned = overrides.replace("node = \"edge1\"", "tier = \"agg\"").replace("tier = \"edge\"", "node = \"edge1\"");
    let variant = &loaded(&tree(&turned), &[]).variants[0];
    assert_eq!(
        (size_of(&variant.switches[1].buffer), size_of(&variant.switches[8].buffer)),
        ("10pkt".into(), "20pkt".into())
    );
}

#[test]
fn an_override_of_a_kind_of_port_changes_marking_there_only() {
    let overrides = "[[override]]\nwhere = { tier = \"edge\", port = \"host\" }\n\
                     switch.marking = { kind = \"ecn_threshold\", k = \"7pkt\" }\n";
    let variant = &loaded(&tree(overrides), &[]).variants[0];
    let kinds: Vec<&str> = variant.switches[0].ports.iter().map(|p| p.marking.kind.as_str()).collect();
    assert_eq!(kinds, ["ecn_threshold", "ecn_threshold", "none", "none"]);
    assert!(variant.switches[8].ports.iter().all(|port| port.marking.kind == "none"));
}

#[test]
fn a_table_with_a_kind_replaces_and_other_keys_merge() {
    let more = "[switch]\noverflow = { kind = \"bounce\", theta = 0.5, lambda = 9 }\n\
                [variants.merged]\nswitch.overflow.theta = 0.7\n\
                [variants.replaced]\nswitch.overflow = { kind = \"bounce\", theta = 0.7 }\n\
                [variants.base]\n";
    let loaded = loaded(&star(more), &[]);
    let seen = loaded.variants.iter().map(|v| {
        let values = &v.switches[0].overflow.values;
        (values.number("theta"), values.number("lambda"))
    });
    assert_eq!(seen.collect::<Vec<_>>(), [(0.7, 9.0), (0.7, 50.0), (0.5, 9.0)]);
}

#[test]
fn a_list_of_a_variant_replaces_the_list() {
    let more = "[variants.two]\ntraffic = [{ name = \"a\", kind = \"incast\", senders = 1, receiver = \"h1\", size = \"1KB\" },\
                { name = \"b\", kind = \"incast\", senders = 1, receiver = \"h2\", size = \"1KB\" }]\n[variants.one]\n";
    let loaded = loaded(&star(more), &[]);
    let names = |i: usize| loaded.variants[i].traffic.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["a".to_string(), "b".into()], vec!["burst".to_string()]));
}

#[test]
fn settings_change_the_base_under_every_variant() {
    let sets =
        ["topology.k=4", "topology.link.rate=1/3 Gbps", "seed=7", "traffic.burst.size=40KB", "traffic.0.senders=3"];
    let loaded = loaded(INCAST, &sets);
    assert_eq!(loaded.seed, 7);
    assert_eq!(loaded.variants[3].topology.hosts, 16);
    assert_eq!(loaded.variants[3].topology.nodes[0].ports[0].rate, Rate::gbps(1).divide(3, 1).unwrap());
    let burst = &loaded.resolved["bounce"]["traffic"][0];
    assert_eq!((&burst["size"], &burst["senders"]), (&json!("40KB"), &json!(3)));
}

#[test]
fn the_last_of_two_settings_wins_and_a_new_kind_starts_from_its_defaults() {
    let base = star("[switch]\noverflow = { kind = \"bounce\", theta = 0.5 }\n");
    let sets =
        ["switch.overflow.kind=detour", "switch.overflow.mark_detoured=true", "switch.overflow.mark_detoured=false"];
    let overflow = loaded(&base, &sets).variants[0].switches[0].overflow.clone();
    assert_eq!(overflow.kind, "detour");
    assert_eq!(overflow.values.0.get("mark_detoured"), Some(&Value::Flag(false)));
    let same = loaded(&base, &["switch.overflow.kind=bounce"]).variants[0].switches[0].overflow.clone();
    assert_eq!(same.values.number("theta"), 0.5);
    let whole = loaded(&base, &["switch.overflow={ kind = \"bounce\", lambda = 2 }"]);
    assert_eq!(whole.variants[0].switches[0].overflow.values.number("theta"), 0.8);
}

#[test]
fn a_setting_that_some_variants_override_is_noted_and_one_that_all_do_is_refused() {
    let some = loaded(INCAST, &["transport.dupack_threshold=5"]);
    assert_eq!(some.variants[0].transport.values.count_or_off("dupack_threshold"), Some(5));
    assert_eq!(some.variants[1].transport.values.count_or_off("dupack_threshold"), None);
    let note = "--set transport.dupack_threshold=5: overridden by variant drop_no_fast_retransmit, detour, bounce";
    assert_eq!(some.notes[0], note);
    let all = star("[variants.a]\nduration = \"1ms\"\n[variants.b]\nduration = \"2ms\"\n");
    assert_eq!(
        refused(&all, &["duration=5ms"]),
        "--set: duration: found a path that every variant overrides; expected a path that at least one variant does \
         not override. To set it in a variant, use variants.NAME.PATH=VALUE"
    );
}

#[test]
fn a_setting_can_reach_into_a_variant() {
    let loaded = loaded(INCAST, &["variants.bounce.switch.overflow.theta=0.25"]);
    assert_eq!(loaded.variants[3].switches[0].overflow.values.number("theta"), 0.25);
    let note = "bounce: bounce queues of 50pkt beside a buffer of 384KiB: two units in one switch";
    assert_eq!(loaded.notes, [note], "of the override, and none of the setting");
}

#[test]
fn a_setting_can_label_a_variant() {
    let base = star("[variants.a]\n[variants.b]\nlabel = \"two\"\n");
    let labelled = loaded(&base, &["variants.a.label=DIBS, tuned", "variants.b.label=other"]);
    let labels = [("a", "DIBS, tuned"), ("b", "other")].map(|(name, label)| (name.to_string(), label.to_string()));
    assert_eq!(labelled.labels.into_iter().collect::<Vec<_>>(), labels);
    assert_eq!(labelled.notes, [""; 0]);
}

/// Test of settings whose value a later setting of the same path replaces.
/// The first one has made the table `switch` of the variant, but none of its values is left.
#[test]
fn a_setting_of_a_variant_can_be_replaced_by_a_later_one() {
    let base = star("[switch]\noverflow = { kind = \"bounce\" }\n[variants.a]\n[variants.b]\n");
    let with = |theta: &str| format!("variants.a.switch.overflow={{ kind = \"bounce\", theta = {theta} }}");
    let twice = loaded(&base, &[&with("0.3"), &with("0.4")]);
    let theta = |i: usize| twice.variants[i].switches[0].overflow.values.number("theta");
    assert_eq!((theta(0), theta(1)), (0.4, 0.8));
    assert_eq!(twice.notes, [""; 0]);
}

#[test]
fn the_duration_is_that_of_the_longest_variant() {
    let loaded = loaded(&star("[variants.a]\nduration = \"30ms\"\n[variants.b]\n"), &[]);
    assert_eq!(loaded.duration, Dur::ms(30));
    assert_eq!((loaded.variants[0].duration, loaded.variants[1].duration), (Dur::ms(30), Dur::ms(10)));
    assert_eq!(loaded.variants[1].measure.to, Time(Dur::ms(10).0));
}

#[test]
fn labels_of_variants_are_texts_that_change_no_run() {
    let with = |more: &str| star(&format!("[variants.a]\n{more}\n[variants.b]\nswitch.overflow.kind = \"detour\"\n"));
    let labelled = loaded(&with("label = \"DIBS, tuned\""), &[]);
    assert_eq!(labelled.labels.into_iter().collect::<Vec<_>>(), [("a".to_string(), "DIBS, tuned".to_string())]);
    let plain = loaded(&with(""), &[]);
    assert!(plain.labels.is_empty());
    assert_eq!(labelled.resolved, plain.resolved);
    for (label, rule) in [
        ("label = \"\"", "found an empty name; expected a name"),
        ("label = 7", "found 7; expected a text in quotes"),
        ("label = \"b\"", "expected a label that differs from the name and the label of variant `b`"),
    ] {
        assert!(refused(&with(label), &[]).contains(rule), "{}", refused(&with(label), &[]));
    }
    let named = refused(&star("[variants.\"DIBS, tuned\"]\n"), &[]);
    assert!(named.contains("For other characters in tables and figures, set the key `label`"), "{named}");
}
