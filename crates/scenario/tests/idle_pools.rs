//! Settings of memory with pools that have no effect, or may lose lossless packets: each gives a note.

use crate::common::{loaded, refused, star};

/// Returns a small scenario with these tables of pools, in a switch with these other settings.
fn pools(switch: &str, tables: &str) -> String {
    let more = format!("[switch]\n{switch}\n[switch.buffer]\nkind = \"pools\"\n{tables}\n");
    star("")
        .replace("[[traffic]]", &format!("{more}[[traffic]]"))
        .replace("size = \"20KB\"", "size = \"20KB\"\nclass = 3")
}

/// Returns the notes of a scenario, except those about its single class and its minimum RTO.
fn notes(text: &str) -> Vec<String> {
    let mut all = loaded(text, &[]).notes;
    all.retain(|note| !note.contains(" class = 3 has no effect") && !note.contains(" transport.min_rto"));
    all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string()).collect()
}

const POOLS: &str =
    "pools = { in = { side = \"ingress\", size = \"1MB\" }, out = { side = \"egress\", size = \"1MB\" } }";
const GROUPS: &str = "groups = [{ group = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"g\" }]";
const QUEUES: &str = "queues = [{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"q\" }]";
const PROFILES: &str = "profiles = { g = { pool = \"in\" }, q = { pool = \"out\" } }";
const PFC: &str = "pause = { kind = \"pfc\" }";

/// Returns tables with a profile of groups with these settings, and these other lines.
fn lossless(settings: &str, more: &str) -> String {
    let profiles =
        PROFILES.replace("g = { pool = \"in\" }", &format!("g = {{ pool = \"in\", lossless = true{settings} }}"));
    [POOLS, &profiles, GROUPS, QUEUES, more].join("\n")
}

/// Returns lossy tables with these other lines.
fn lossy(more: &str) -> String {
    [POOLS, PROFILES, GROUPS, QUEUES, more].join("\n")
}

#[test]
fn settings_of_lossless_groups_without_such_a_group_warn() {
    assert_eq!(notes(&pools("", &lossy(""))), [""; 0]);
    assert_eq!(
        notes(&pools("", &lossy("react = \"pool\""))),
        ["switch.buffer.react has no effect without a lossless group"]
    );
    let of_frame = "switch.buffer.worst_frame has no effect: it counts for computed headroom alone, which only \
                    lossless groups without `xoff` have";
    assert_eq!(notes(&pools("", &lossy("worst_frame = \"128B\""))), [of_frame]);
    assert_eq!(notes(&pools(PFC, &lossless(", xoff = \"90KB\"", "worst_frame = \"128B\""))), [of_frame]);
    assert_eq!(notes(&pools(PFC, &lossless("", "react = \"pool\""))), [""; 0]);
    for key in ["headroom = \"9KB\"", "over_subscribe_ratio = 2"] {
        let with = lossy("").replace("size = \"1MB\" }, out", &format!("size = \"1MB\", {key} }}, out"));
        let name = key.split(' ').next().expect("a word");
        let said = format!("switch.buffer.pools.in.{name} has no effect: no lossless group uses the pool");
        assert_eq!(notes(&pools("", &with)), [said]);
    }
}

#[test]
fn pools_slices_and_entries_without_effect_warn() {
    let more = lossy("").replace("pools = {", "pools = { left = { side = \"egress\", size = \"1KB\" },");
    assert_eq!(notes(&pools("", &more)), ["switch.buffer: no profile uses the pool `left`"]);
    let slices = |table: &str| notes(&pools("", &lossy(&format!("slices = 3\npipes = [0, 1]\nslice_of = {table}"))));
    assert_eq!(slices("[0, 1, 2, 0]"), [""; 0]);
    let said = "switch.buffer: slice_of uses 2 of 3 slices. The memory of the others stays empty, and each slice has \
                only its part of a pool. Set slices = 2, or use all slices";
    assert_eq!(slices("[0, 1, 1, 0]"), [said]);
    let entry = |keys: &str| {
        let own = format!("queues = [{{ queue = [3], profile = \"q\"{keys} }}, ");
        notes(&pools("", &lossy("").replace("queues = [", &own)))
    };
    let end = "has no effect. No port has its `ports` and `rate`, or later entries override it";
    assert_eq!(
        entry(""),
        [format!("switch.buffer: the 1st entry of `queues` {end}")],
        "the later entry has all queues"
    );
    let last = |keys: &str| {
        let own = format!("{}, {{ group = [3], profile = \"g\"{keys} }}]", GROUPS.trim_end_matches(']'));
        notes(&pools("", &lossy("").replace(GROUPS, &own)))
    };
    assert_eq!(last(", rate = \"40Gbps\""), [format!("switch.buffer: the 2nd entry of `groups` {end}")]);
    assert_eq!(last(", ports = []"), [format!("switch.buffer: the 2nd entry of `groups` {end}")]);
    assert_eq!(last(", ports = [1]"), [""; 0]);
}

#[test]
fn entries_for_a_rate_of_another_switch_have_an_effect() {
    let text = pools("", &lossy("")).replace(
        "kind = \"star\"\nn = 4",
        "kind = \"leaf_spine\"\nleaves = 2\nspines = 1\n\
        hosts_per_leaf = 2\nlink = { rate = \"10Gbps\" }\nfabric = { rate = \"40Gbps\" }",
    );
    let all = GROUPS.trim_end_matches(']');
    let own = format!("{all}, {{ group = [3], profile = \"g\", rate = \"10Gbps\" }}]");
    assert_eq!(notes(&text.replace(GROUPS, &own)), [""; 0], "the spine has no port of 10 Gb/s");
    assert_eq!(notes(&text.replace(GROUPS, &own.replace("10Gbps", "25Gbps"))).len(), 1);
}

#[test]
fn xon_that_is_not_below_the_limit_warns() {
    let with = |xon: &str, threshold: &str| {
        notes(&pools(PFC, &lossless(&format!(", xon = \"{xon}\", threshold = {{ {threshold} }}"), "")))
    };
    let end = "a paused group is resumed at its first departure without headroom in use. Decrease xon";
    let fixed = "kind = \"static\", limit = \"40KB\"";
    assert_eq!(
        with("40KB", fixed),
        [format!("switch.buffer.profiles.g.xon = 40KB is not below the limit of 40KB: {end}")]
    );
    assert_eq!(with("39KB", fixed), [""; 0]);
    let dynamic = "kind = \"dynamic\", alpha = 0.5";
    assert_eq!(
        with("600KB", dynamic),
        [format!("switch.buffer.profiles.g.xon = 600KB is not below the limit of 500KB: {end}")]
    );
    assert_eq!(with("400KB", dynamic), [""; 0]);
}

#[test]
fn small_headroom_is_described_with_the_key_that_determines_it() {
    let said = |pause: &str, tables: &str| {
        let found = notes(&pools(pause, tables));
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let more = "(and 3 more groups have too little)";
    let given = said(PFC, &lossless(", xoff = \"2KB\"", ""));
    assert!(given.contains("group 3 of port 0 has a headroom of 2KB") && given.contains(more), "{given}");
    assert!(given.ends_with("unless lossless = false. Increase `xoff` of its profile, or leave it out"), "{given}");
    let frame = said(PFC, &lossless("", "cell = \"208B\"\nworst_frame = \"1518B\""));
    assert!(frame.contains(more) && !frame.contains("xoff"), "{frame}");
    assert!(frame.ends_with("Decrease `worst_frame` to 64B, the smallest frame"), "{frame}");
    let counted = said("pause = { kind = \"pfc\", lossless = false }", &lossless(", xoff = \"2KB\"", ""));
    assert!(counted.contains("Packets may be lost. The run counts them and continues. Increase"), "{counted}");
}

#[test]
fn shared_headroom_warns_only_if_packets_are_in_lossless_groups() {
    let shared = "size = \"1MB\", headroom = \"9KB\" }, out";
    let with = |more: &str| lossless("", more).replace("size = \"1MB\" }, out", shared);
    let found = notes(&pools(PFC, &with("")));
    assert!(found.len() == 1 && found[0].contains("pool `in` has 9KB of shared headroom in each slice"), "{found:?}");
    // Group 0 is lossless, but class 3 is in group 1.
    let profiles =
        "profiles = { g = { pool = \"in\", lossless = true }, y = { pool = \"in\" }, q = { pool = \"out\" } }";
    let groups = "groups = [{ group = [0], profile = \"g\" }, { group = [1], profile = \"y\" }]";
    let map = "class_to_group = [0, 1, 1, 1, 1, 1, 1, 1]";
    let other = [&POOLS.replace("size = \"1MB\" }, out", shared), profiles, groups, QUEUES, map].join("\n");
    assert_eq!(notes(&pools(PFC, &other)), [""; 0]);
}

#[test]
fn settings_of_queues_without_packets_warn_with_a_map_of_classes() {
    let two =
        "[[traffic]]\nname = \"u\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h1\"\nsize = \"9KB\"\nclass = 2\n";
    let map = lossy("class_to_queue = [0, 1, 5, 3, 4, 5, 6, 7]");
    let with = |switch: &str| notes(&(pools(switch, &map) + two));
    let idle = |what: &str, queue: u8| {
        vec![format!("scheduler: the {what} for queue {queue} has no effect, because no packet has this queue")]
    };
    assert_eq!(with("scheduler = { kind = \"round_robin\", strict = [2] }"), idle("strict priority", 2));
    assert_eq!(
        with("scheduler = { kind = \"round_robin\", max_rate = [\"off\", \"off\", \"1Gbps\"] }"),
        idle("max_rate", 2)
    );
    assert_eq!(with("scheduler = { kind = \"round_robin\", weights = [1, 1, 7] }"), idle("weight", 2));
    assert_eq!(with("scheduler = { kind = \"round_robin\", strict = [5] }"), [""; 0]);
    // Hosts have no map: they serve class 2.
    let rates = "[\"off\", \"off\", \"1Gbps\", \"off\", \"off\", \"1Gbps\"]";
    let at_host = format!("[host]\nscheduler = {{ kind = \"strict_priority\", max_rate = {rates} }}\n");
    let said = "scheduler: the max_rate for class 5 has no effect, because no packet has this class";
    assert_eq!(notes(&(pools("", &map) + two + &at_host)), [said]);
}

#[test]
fn marking_profiles_of_queues_without_packets_warn() {
    let wred = |queues: &str| {
        let profile = format!("{{ queue = {queues}, min = \"5KB\", max = \"9KB\" }}");
        let marking = format!(
            "marking = {{ kind = \"wred\", queues = [{{ queue = [5], min = \"5KB\", max = \"9KB\" }}, {profile}] }}"
        );
        let map = lossy("class_to_queue = [0, 1, 2, 5, 4, 5, 6, 7]");
        notes(&(pools(&marking, &map) + "[transport]\nkind = \"dctcp\"\n"))
    };
    let said =
        |queues: &str| vec![format!("switch.marking: the 2nd profile has no effect, because no packet is in {queues}")];
    assert_eq!(wred("[3]"), said("queue 3"));
    assert_eq!(wred("[3, 2]"), said("queues 2, 3"));
    assert_eq!(wred("[3, 5]"), [""; 0]);
}

#[test]
fn dynamic_pause_beside_thresholds_of_queues_is_refused_by_name() {
    let buffer =
        "buffer = { kind = \"shared\", size = \"1MB\", per = \"queue\" }\npause = { kind = \"pfc\", alpha = 1 }";
    let found = refused(&star(&format!("[switch]\n{buffer}\n")), &[]);
    let said = "found alpha with a buffer of kind `shared` and per = \"queue\"; expected a `shared` buffer with per = \
                \"port\", or xoff and xon";
    assert!(found.ends_with(said), "{found}");
}

#[test]
fn messages_of_a_single_thing_are_in_the_singular() {
    let found = |more: &str| refused(&pools("", &lossy(more)), &[]);
    assert!(
        found("class_to_group = [0]")
            .ends_with("class_to_group: found 1 number; expected 8 numbers, for classes 0 to 7")
    );
    let pipes = found("pipes = [0, 1]");
    let said = "pipes: found 1; expected pipe 0 alone without `slice_of`, which has the slice of each pair of pipes";
    assert!(pipes.ends_with(said), "{pipes}");
    let slice = found("slice_of = [1]");
    assert!(slice.ends_with("slice_of: found 1; expected slice 0 alone, because slices = 1"), "{slice}");
    let cell = found("cell = \"2MB\"");
    assert!(cell.contains("size: found 1MB; expected at least a cell of 2MB\n"), "{cell}");
}
