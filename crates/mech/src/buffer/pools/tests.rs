//! Tests of the memory of a switch with pools: its sizes, its slices, and the errors of its tables.

use super::super::BufferSlot;
use super::*;
use crate::PortId;
use crate::headroom::PausedLink;
use crate::testing::toml_values;
use units::{Dur, Rate};

const TABLES: &str = r#"
cell = "208B"
[pools.in]
side = "ingress"
size = "10875072B"
headroom = "4194112B"
[pools.out]
side = "egress"
size = "9243812B"
[profiles.lossless]
pool = "in"
reserve = "1248B"
lossless = true
xoff = "268736B"
xon = "2288B"
xon_offset = "2288B"
threshold = { kind = "dynamic", dynamic_th = 0 }
[profiles.lossy]
pool = "in"
[profiles.queue]
pool = "out"
reserve = "1518B"
threshold = { kind = "dynamic", alpha = 8 }
[[groups]]
group = [0, 1, 2, 3, 4, 5, 6, 7]
profile = "lossy"
[[groups]]
group = [3]
profile = "lossless"
ports = [1]
[[queues]]
queue = [0, 1, 2, 3, 4, 5, 6, 7]
profile = "queue"
"#;

fn port(gbps: u64) -> BufferPort {
    let (clock, delay) = (Rate::gbps(gbps).clock(), Dur::us(1));
    let link = PausedLink {
        rate_to_device: clock,
        rate_from_device: clock,
        delay_to_device: delay,
        delay_from_device: delay,
        response: Dur::ZERO,
        frame: 1518,
        gap: 20,
    };
    BufferPort { rate: Rate::gbps(gbps), link }
}

/// Returns the memory of a switch with ports of 100 Gb/s, after a change of the tables.
fn layout(change: (&str, &str), ports: usize) -> Arc<MemoryLayout> {
    let text = TABLES.replace(change.0, change.1);
    let slot = BufferSlot::from(Pools::new(&toml_values(&SPEC, &text))).for_links(&vec![port(100); ports]);
    slot.peek().layout().expect("memory with accounts")
}

fn faults(change: (&str, &str)) -> Vec<String> {
    let text = TABLES.replace(change.0, change.1);
    let rates = [Rate::gbps(100); 4];
    let beside = CheckContext { ports: Some(4), rates: Some(&rates), ..CheckContext::EMPTY };
    let mut report = Report::default();
    Pools::new(&toml_values(&SPEC, &text)).check(&beside, &mut report);
    report.errors.iter().map(|error| format!("{}: {}", error.key, error.found)).collect()
}

#[test]
fn sizes_are_whole_cells_of_each_slice() {
    let one = layout(("", ""), 4);
    assert_eq!((one.pools[0].size, one.pools[0].headroom), (10_875_072, Some(4_194_112)));
    // 9,243,812 B are 44,441.4 cells.
    assert_eq!(one.pools[1].size, 44_441 * 208);
    let slices = "cell = \"208B\"\nslices = 4\nslice_of = [0, 1, 2, 3]";
    let four = layout(("cell = \"208B\"", slices), 4);
    assert_eq!((four.pools[0].size, four.pools[0].headroom), (13_071 * 208, Some(5041 * 208)));
    assert_eq!(four.pools[1].size, 11_110 * 208);
    // A reserve is rounded up to whole cells: 1518 B are eight.
    assert_eq!(four.profiles[2].reserve, 8 * 208);
    assert_eq!((four.cell_bytes(64), four.cell_bytes(208), four.cell_bytes(209)), (208, 208, 416));
}

#[test]
fn size_may_include_reserves_and_headroom() {
    let with = |what: &str| layout(("cell = \"208B\"", &format!("cell = \"208B\"\nsize_includes = \"{what}\"")), 4);
    // One lossless group of port 1 reserves 1248 B, and 32 queues reserve eight cells each.
    let reserves = with("reserves");
    assert_eq!(reserves.pools[0].size, 10_875_072 - 1248);
    assert_eq!(reserves.pools[1].size, (44_441 - 32 * 8) * 208);
    assert_eq!(with("reserves_and_headroom").pools[0].size, 10_875_072 - 1248 - 4_194_112);
    let nominal = |layout: &MemoryLayout| layout.total_bytes();
    assert_eq!(nominal(&layout(("", ""), 4)), 10_875_072 + 4_194_112 + 1248);
    assert_eq!(nominal(&with("reserves_and_headroom")), 10_875_072);
}

#[test]
fn ratio_of_headroom_shares_it() {
    let by_ratio = layout(("headroom = \"4194112B\"", "over_subscribe_ratio = 2"), 4);
    assert_eq!(by_ratio.pools[0].headroom, Some(268_736 / 208 / 2 * 208));
    let own = layout(("headroom = \"4194112B\"\n", ""), 4);
    assert_eq!(own.pools[0].headroom, None);
    assert_eq!(own.total_bytes(), 10_875_072 + 1248 + 268_736, "headroom of one group is added");
}

#[test]
fn later_entries_and_ports_select_profiles() {
    let all = layout(("", ""), 4);
    let profile = |port: usize, group: usize| all.groups[port * 8 + group].profile;
    assert_eq!((profile(0, 3), profile(1, 3), profile(1, 4)), (Some(1), Some(0), Some(1)));
    assert!(all.is_lossless(PortId(1), 3) && !all.is_lossless(PortId(0), 3));
    let by_rate = layout(("ports = [1]", "rate = \"40Gbps\""), 4);
    assert!((0..4).all(|port| !by_rate.is_lossless(PortId(port), 3)), "no port has this rate");
    let classes = layout(("cell", "class_to_group = [0, 0, 0, 3, 3, 0, 0, 7]\ncell"), 4).classes_of_groups();
    assert_eq!((classes[0].0, classes[3].0, classes[7].0, classes[1].0), (0b0110_0111, 0b0001_1000, 0b1000_0000, 0));
}

#[test]
fn slice_depends_on_both_pipes() {
    let slices = "slices = 4\npipes = [0, 0, 1, 1]\nslice_of = [0, 1, 2, 3]\ncell";
    let layout = layout(("cell", slices), 4);
    let slice = |ingress, egress| layout.slice(PortId(ingress), PortId(egress));
    assert_eq!([slice(0, 1), slice(0, 2), slice(3, 0), slice(3, 2)], [0, 1, 2, 3]);
}

#[test]
fn headroom_that_is_left_out_is_computed_for_each_port() {
    let computed = layout(("xoff = \"268736B\"\n", ""), 2);
    let own = computed.groups[8 + 3].headroom;
    assert_eq!(own, port(100).link.worst_case_headroom(208, 64));
    // Window: 123.04 ns of waiting, 6.72 ns of the pause frame and twice 1 us, 26,622 B on the wire. Frames of 64 B take
    // 84 B of it and a cell each: 317 cells. The largest frame may begin at the end: 8 cells.
    assert_eq!(own, (317 + 8) * 208);
    // With frames of at least 209 B, two cells take 229 B of the wire: 233 cells.
    assert_eq!(port(100).link.worst_case_headroom(208, 209), (233 + 8) * 208);
    // Without cells the largest frames carry the most bytes: 1518 of 1538, then one more.
    assert_eq!(port(100).link.worst_case_headroom(1, 64), 26_277 + 1518);
}

#[test]
fn faults_name_the_table_and_the_key() {
    assert_eq!(faults(("", "")), Vec::<String>::new());
    let told = |change: (&str, &str), expected: &str| assert_eq!(faults(change), [expected]);
    told(("pool = \"out\"", "pool = \"outt\""), "profiles.queue.pool: unknown pool `outt`");
    told(("profile = \"queue\"", "profile = \"qu\""), "queues.0.profile: unknown profile `qu`");
    told(("ports = [1]", "ports = [7]"), "groups.1.ports: 7");
    told(("queue = [0, 1,", "queue = [0,"), "queues: no profile for queue 1 of port 0 (100Gbps)");
    let lossy = faults(("lossless = true\n", ""));
    assert_eq!(lossy[0], "profiles.lossless.xoff: `xoff` of a lossy profile");
    assert_eq!(lossy.len(), 3, "xoff, xon and xon_offset");
    told(
        ("alpha = 8", "alpha = 8, dynamic_th = 3"),
        "profiles.queue.threshold.dynamic_th: dynamic_th together with alpha",
    );
    told(("cell", "slice_of = [0, 0]\ncell"), "slice_of: 2 numbers");
    told(("cell", "slices = 2\ncell"), "slice_of: nothing");
    told(("cell", "slice_of = [1]\ncell"), "slice_of: 1");
    told(("cell", "pipes = [0, 1]\ncell"), "pipes: 1");
    told(("cell", "class_to_queue = [0, 1]\ncell"), "class_to_queue: 2 numbers");
    told(
        ("headroom", "over_subscribe_ratio = 2\nheadroom"),
        "pools.in.headroom: headroom together with over_subscribe_ratio",
    );
    told(("size = \"10875072B\"", "size = \"100B\""), "pools.in.size: 100B");
    let sides = faults(("profile = \"queue\"", "profile = \"lossy\""));
    assert_eq!(sides, ["queues.0.profile: profile `lossy`, whose pool `in` is an ingress pool"]);
    let includes = ("cell = \"208B\"", "cell = \"208B\"\nsize_includes = \"reserves\"");
    assert_eq!(faults(includes), Vec::<String>::new());
    let small = ("reserve = \"1518B\"", "reserve = \"1MB\"");
    assert_eq!(faults(small), Vec::<String>::new(), "the size does not include reserves");
    let text = TABLES.replace(includes.0, includes.1).replace(small.0, small.1);
    let rates = [Rate::gbps(100); 4];
    let mut report = Report::default();
    let beside = CheckContext { ports: Some(4), rates: Some(&rates), ..CheckContext::EMPTY };
    Pools::new(&toml_values(&SPEC, &text)).check(&beside, &mut report);
    assert_eq!(report.errors[0].key, "pools.out.size");
}

#[test]
fn priority_groups_are_lossless_if_a_class_belongs_to_a_lossless_one() {
    let groups = |from: &str, to: &str| {
        assert!(TABLES.contains(from), "{from}");
        Pools::new(&toml_values(&SPEC, &TABLES.replace(from, to))).priority_groups()
    };
    assert_eq!(groups("group = [3]", "group = [3]"), PriorityGroups::Lossless);
    let elsewhere = "cell = \"208B\"\nclass_to_group = [0, 0, 0, 0, 0, 0, 0, 0]";
    assert_eq!(groups("cell = \"208B\"", elsewhere), PriorityGroups::Lossy, "group 3 has no class");
    let lossy = "profile = \"lossy\"\nports = [1]";
    assert_eq!(groups("profile = \"lossless\"\nports = [1]", lossy), PriorityGroups::Lossy);
    let unknown = "profile = \"losless\"\nports = [1]";
    assert_eq!(groups("profile = \"lossless\"\nports = [1]", unknown), PriorityGroups::Lossless);
    let egress = "side = \"egress\"\nsize = \"10875072B\"";
    assert_eq!(groups("side = \"ingress\"\nsize = \"10875072B\"", egress), PriorityGroups::Absent);
    assert_eq!(BufferSlot::per_port(None).peek().priority_groups(), PriorityGroups::Unsupported);
}
