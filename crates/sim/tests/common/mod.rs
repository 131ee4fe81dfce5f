//! Helpers that run scenarios given as text.

pub mod digest;
pub mod draw;
pub mod page;
pub mod watched;

use mech::Registry;
use scenario::Scenario;
use scenario::load::{Source, load};
use sim::{Column, Options, Recorder, Results, World, build};

/// Loads the variant `name` of a scenario text; the first one if `name` is empty.
pub fn scenario(text: &str, name: &str) -> Scenario {
    named(text, name, Registry::catalogue())
}

/// Loads the first variant of a scenario text that may name these mechanisms.
pub fn scenario_of(text: &str, registry: Registry) -> Scenario {
    named(text, "", registry)
}

fn named(text: &str, name: &str, registry: Registry) -> Scenario {
    let text = in_step(&with_transport(text));
    let source = Source { registry, ..Source::new("test.toml", &text, std::path::Path::new("")) };
    let loaded = load(&source, &[]).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    });
    loaded.variants.into_iter().find(|v| name.is_empty() || v.variant == name).expect("the variant exists")
}

/// Adds the transport `newreno` to a text without one: it has few parts, so that results are easy to compute.
fn with_transport(text: &str) -> String {
    const HEADER: &str = "[transport]\n";
    let kind = "kind = \"newreno\"\n";
    let Some(at) = text.find(HEADER) else {
        let is_said = text.lines().take_while(|line| !line.starts_with('[')).any(|line| line.starts_with("transport"));
        return if is_said { text.to_string() } else { format!("transport.{kind}{text}") };
    };
    let (before, rest) = text.split_at(at + HEADER.len());
    let is_said = rest.lines().take_while(|line| !line.starts_with('[')).any(|line| line.starts_with("kind"));
    format!("{before}{}{rest}", if is_said { "" } else { kind })
}

/// Sets `nic_jitter` to 0 in a text without it, so that frames leave hosts as early as possible.
fn in_step(text: &str) -> String {
    const NO_JITTER: &str = "nic_jitter = \"0us\"\n";
    match text.find("[host]\n") {
        _ if text.contains("nic_jitter =") => text.to_string(),
        Some(at) => {
            let (before, rest) = text.split_at(at + "[host]\n".len());
            format!("{before}{NO_JITTER}{rest}")
        }
        None => format!("host.{NO_JITTER}{text}"),
    }
}

/// Parameters of a small memory with pools at both sides, lossless groups 3 and 7, two slices and cells of 80 B.
pub const POOLS: &str = "kind = \"pools\", cell = \"80B\", \
     pools = { in = { side = \"ingress\", size = \"60KB\" }, out = { side = \"egress\", size = \"50KB\" } }, \
     profiles = { lossy = { pool = \"in\", reserve = \"2KB\", threshold = { kind = \"dynamic\", alpha = 2 } }, \
     lossless = { pool = \"in\", reserve = \"2KB\", lossless = true, xoff = \"8KB\", xon_offset = \"2KB\", \
     threshold = { kind = \"dynamic\", alpha = 0.25 } }, \
     queue = { pool = \"out\", reserve = \"2KB\", threshold = { kind = \"dynamic\", alpha = 1 } } }, \
     groups = [{ group = [0, 1, 2, 4, 5, 6], profile = \"lossy\" }, { group = [3, 7], profile = \"lossless\" }], \
     queues = [{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"queue\" }]";

/// Topology of PABO §V: three senders, a receiver, and seven switches in a tree.
pub const PABO_TREE: &str = "kind = \"chain_tree\"\nn = 3\ndepth = 2\nlink = { rate = \"1Gbps\", delay = \"50ns\" }";

/// Returns the text of a small scenario with this duration, these lines of its network, and further lines.
pub fn small(duration: &str, topology: &str, more: &str) -> String {
    format!("name = \"small\"\nduration = \"{duration}\"\n[topology]\n{topology}\n{more}")
}

/// Workload of bursts of raw packets.
pub struct Bursts<'a> {
    pub name: &'a str,
    pub sources: &'a [&'a str],
    pub destination: &'a str,
    pub payload: &'a str,
    /// Number of packets in a burst.
    pub packets: u64,
    /// Time from one packet of a burst to the next.
    pub interval: &'a str,
    /// Time from the last packet of a burst to the next burst.
    pub pause: &'a str,
    pub class: u8,
}

impl Bursts<'_> {
    /// Workload with a single full frame from `h0` to `h1`.
    pub const ONE_FRAME: Bursts<'static> = Bursts {
        name: "b",
        sources: &["h0"],
        destination: "h1",
        payload: "1460B",
        packets: 1,
        interval: "1us",
        pause: "1s",
        class: 0,
    };

    /// Returns the workload as lines of a scenario file.
    pub fn text(&self) -> String {
        let Bursts { name, sources, destination, payload, packets, interval, pause, class } = self;
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"bursts\"\nsources = {sources:?}\ndestination = \"{destination}\"\n\
             payload = \"{payload}\"\npackets = {packets}\ninterval = \"{interval}\"\npause = \"{pause}\"\n\
             class = {class}\n"
        )
    }
}

/// Returns a workload of full frames at the rate of a 1 Gb/s link, one every 12.304 us.
pub fn full_frames(name: &str, [source, destination]: [&str; 2], stop: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"constant\"\nsource = \"{source}\"\n\
         destination = \"{destination}\"\npayload = \"1460B\"\nrate = \"1Gbps\"\nbytes = \"wire\"\nstop = \"{stop}\"\n"
    )
}

/// Returns a scenario in which `h0` (workload `a`) and `h1` (`b`) send full frames simultaneously to `h2`, through a
/// port of 1 Gb/s.
///
/// `switch` has further settings of the switch and tables after it; `a` and `b` are the times at which the workloads
/// stop.
pub fn two_senders(switch: &str, [a, b]: [&str; 2]) -> String {
    let star = "kind = \"star\"\nn = 3\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let frames = [full_frames("a", ["h0", "h2"], a), full_frames("b", ["h1", "h2"], b)].concat();
    small("1ms", star, &format!("[switch]\nties = \"port\"\n{switch}\n{frames}"))
}

/// Returns the world of a scenario, with a recorder of all that the scenario measures.
pub fn world(scenario: &Scenario, seed: u64, options: Options) -> World<Recorder> {
    build(scenario, seed, options, Recorder::from_scenario(scenario)).unwrap()
}

/// Runs a scenario text to its end and returns the results.
pub fn run(text: &str, seed: u64) -> Results {
    run_with(&scenario(text, ""), seed, Options::default())
}

/// Runs a scenario to its end and returns the results, after a check of conservation.
pub fn run_with(scenario: &Scenario, seed: u64, options: Options) -> Results {
    let mut world = world(scenario, seed, options);
    world.run();
    let results = world.results(scenario);
    assert!(results.conserved, "packets are unaccounted for: {:?}", world.describe_imbalance());
    results
}

/// Returns a column of a table as 64-bit numbers.
pub fn column(results: &Results, table: &str, name: &str) -> Vec<u64> {
    let table = results.table(table).expect("the table exists");
    let (_, column) = table.columns.iter().find(|(n, _)| n == name).expect("the column exists");
    match column {
        Column::U8(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U16(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U32(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U64(v) => v.clone(),
        Column::I64(v) => v.iter().map(|x| *x as u64).collect(),
        Column::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
    }
}

/// Returns the sum of a column.
pub fn total(results: &Results, table: &str, name: &str) -> u64 {
    column(results, table, name).iter().sum()
}

/// Returns the number of packets that ports dropped, for all reasons together.
pub fn drops(results: &Results) -> u64 {
    let table = results.table("ports").expect("the table exists");
    let names = table.columns.iter().filter(|(name, _)| name.starts_with("drop_"));
    names.map(|(name, _)| total(results, "ports", name)).sum()
}

/// Returns the rows of a table of results, with these columns.
pub fn rows<const N: usize>(results: &Results, table: &str, names: [&str; N]) -> Vec<[u64; N]> {
    let columns = names.map(|name| column(results, table, name));
    (0..columns[0].len()).map(|i| std::array::from_fn(|c| columns[c][i])).collect()
}

/// Returns every pause of a run as `from_ps, to_ps, node, port, class`.
pub fn pauses(results: &Results) -> Vec<[u64; 5]> {
    rows(results, "pause_trace", ["from_ps", "to_ps", "node", "port", "class"])
}

/// Asserts that two runs have the same results.
fn same(a: &Results, b: &Results) {
    assert_eq!(a.progress.now, b.progress.now);
    assert_eq!((&a.tables, &a.deadlock, &a.lost), (&b.tables, &b.deadlock, &b.lost));
}

/// Asserts that a run with pauses is bit-identical by wheel, by heap, and as a clone made midway.
pub fn same_again(text: &str, seed: u64) {
    let s = scenario(text, "");
    let whole = run_with(&s, seed, Options::default());
    assert!(total(&whole, "pauses", "times") > 0);
    same(&whole, &run_with(&s, seed, Options { heap: true, ..Options::default() }));
    let mut first = world(&s, seed, Options::default());
    first.advance(7_000);
    let mut second = first.clone();
    first.run();
    second.run();
    same(&first.results(&s), &second.results(&s));
    same(&whole, &second.results(&s));
}
