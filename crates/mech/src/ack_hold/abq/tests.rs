use super::*;
use crate::buffer::BufferSlot;
use crate::testing::{DecisionInputs, SwitchState as Switch, parse_head, switch_without_packets, values};
use crate::{Acts, View};
use property::for_all;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy};
use proptest::prop_oneof;
use toml::Table;

const PORT: PortId = PortId(0);
const ACK: &str = "ack size=64 in=0";

/// Test bench: ABQ at one port, whose queue length the test sets.
struct Bench {
    abq: Abq,
    switch: Switch,
    desk: DecisionInputs,
    /// True if ABQ is called at every change of the queue; otherwise only if its levels require a call.
    eager: bool,
    queue: u64,
    held: u64,
    /// Upper bound of the window that the last release wrote into ACKs.
    window: Option<u16>,
}

impl Bench {
    fn new(given: &str, eager: bool) -> Bench {
        let switch = switch_without_packets(2, BufferSlot::per_port(Some(Amount::Bytes(120_000))));
        let abq = Abq::new(&values(&SPEC, given));
        Bench { abq, switch, desk: DecisionInputs::with_draws(&[]), eager, queue: 0, held: 0, window: None }
    }
    fn arrive(&mut self, text: &str) -> ArrivalDecision {
        let at = AgentContext { view: &self.switch, port: PORT, stored: None };
        let pass = self.abq.on_arrival(&parse_head(text), &at, &mut self.desk.env());
        self.held += u64::from(pass == ArrivalDecision::Hold);
        pass
    }
    /// Changes the length of the queue, and returns the number of released ACKs and whether all have ECE.
    fn change_queue(&mut self, bytes: u64) -> (u64, bool) {
        self.window = None;
        self.queue = bytes;
        let outside = Account::is_outside(bytes, self.abq.range_without_call(Account::Output(PORT)));
        if self.eager || outside {
            let at = AgentContext { view: &self.switch, port: PORT, stored: None };
            self.abq.on_level(Account::Output(PORT), bytes, &at, &mut self.desk.env());
        }
        self.take_released()
    }
    fn take_released(&mut self) -> (u64, bool) {
        let Acts { list, .. } = std::mem::take(&mut self.desk.acts);
        let (mut gone, mut ece) = (0, true);
        for act in list {
            match act {
                Act::ReleaseHeld { port, max, set_ece, window } => {
                    assert_eq!(port, PORT);
                    self.window = window;
                    let some = self.held.min(u64::from(max));
                    (gone, self.held, ece) = (gone + some, self.held - some, ece && set_ece);
                }
                Act::Turn { port, state, level } => {
                    assert_eq!((port, level), (PORT, if state == 0 { 0 } else { level }));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(self.held, self.abq.held.len() as u64, "both count the same");
        (gone, ece)
    }
    fn row(&self, gone: u64) -> String {
        let state = match self.abq.state {
            AbqState::Uncongested => "US",
            AbqState::Congested => "CS",
            AbqState::Light => "LCS",
        };
        let release = if gone > 0 { format!(" release {gone}") } else { String::new() };
        let window = self.window.map_or_else(String::new, |most| format!(" win {most}"));
        format!("{} {state} {}{release}{window}", self.queue, self.abq.x)
    }
}

fn cases() -> Vec<(String, String, Vec<String>)> {
    let path = format!("{}/../../conformance/abq_states.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let word = |case: &toml::Value, key: &str| case.get(key).map_or("", |text| text.as_str().expect(key)).to_string();
    let rows = |case: &toml::Value| {
        let rows = case["rows"].as_array().expect("rows").iter();
        rows.map(|row| row.as_str().expect("a row").to_string()).collect()
    };
    let all = table["case"].as_array().expect("cases").iter();
    all.map(|case| (word(case, "name"), word(case, "given"), rows(case))).collect()
}

#[test]
fn queue_lengths_lead_to_states_of_table() {
    let all = cases();
    assert!(all.len() >= 15);
    for (name, given, rows) in all {
        for eager in [true, false] {
            let mut bench = Bench::new(&given, eager);
            for row in rows.iter() {
                if bench.abq.state != AbqState::Uncongested {
                    assert_eq!(bench.arrive(ACK), ArrivalDecision::Hold, "{name}");
                }
                let length = row.split(' ').next().and_then(|text| text.parse().ok()).expect("a length");
                let (gone, ece) = bench.change_queue(length);
                assert_eq!(&bench.row(gone), row, "{name}, eager {eager}");
                assert!(ece);
            }
        }
    }
}

/// Change of a queue length: set to, increased or decreased by a number of bytes.
#[derive(Clone, Copy, Debug)]
enum Step {
    To(u64),
    Up(u64),
    Down(u64),
}

/// Returns a list of queue lengths: small steps up and down, falls to zero, and jumps.
fn queue_lengths() -> impl Strategy<Value = Vec<u64>> {
    let step = prop_oneof![
        1 => Just(Step::To(0)),
        1 => (0..90_000_u64).prop_map(Step::To),
        10 => (0..3_000_u64).prop_map(Step::Up),
        8 => (0..3_000_u64).prop_map(Step::Down),
    ];
    vec(step, 0..=600).prop_map(|steps| {
        let mut length = 0u64;
        let mut after = |step| {
            length = match step {
                Step::To(bytes) => bytes,
                Step::Up(bytes) => (length + bytes).min(120_000),
                Step::Down(bytes) => length.saturating_sub(bytes),
            };
            length
        };
        steps.into_iter().map(&mut after).collect()
    })
}

#[test]
fn calls_at_levels_give_the_same_result_as_at_every_change() {
    for given in OPTIONS {
        let mut turns = 0;
        for_all(12, queue_lengths(), |lengths| {
            let (mut all, mut some) = (Bench::new(given, true), Bench::new(given, false));
            for (i, length) in lengths.into_iter().enumerate() {
                if i % 3 == 0 {
                    assert_eq!(all.arrive(ACK), some.arrive(ACK), "{given}");
                }
                let before = all.abq.state;
                let gone = (all.change_queue(length).0, some.change_queue(length).0);
                assert_eq!((gone.0, all.row(0)), (gone.1, some.row(0)), "{given}, change {i}");
                turns += u32::from(before != all.abq.state);
            }
        });
        assert!(turns > 50, "{given}: {turns}");
    }
}

const OPTIONS: [&str; 10] = [
    "",
    "reading=algorithm",
    "q_max=buffer",
    "q_max=buffer reading=algorithm",
    "floor=true",
    "release=batch batch=3",
    "release=batch batch=1 reading=algorithm",
    "release=window k=9000B",
    "k=6000B capacity=640B",
    "mtu=8B reading=algorithm",
];

/// ABQ holds ACKs only during congestion and within its memory, and releases all of them; X is never above K.
#[test]
fn abq_holds_no_ack_without_congestion_or_beyond_capacity() {
    for given in OPTIONS {
        let mut lost = 0;
        for_all(12, queue_lengths(), |lengths| {
            let mut bench = Bench::new(given, false);
            let (mut held, mut gone) = (0, 0);
            for (i, length) in lengths.into_iter().enumerate() {
                for _ in 0..i % 4 {
                    match bench.arrive(ACK) {
                        ArrivalDecision::Hold => held += 1,
                        ArrivalDecision::Drop => lost += 1,
                        ArrivalDecision::Forward => assert_eq!(bench.abq.state, AbqState::Uncongested),
                    }
                }
                gone += bench.change_queue(length).0;
                let abq = &bench.abq;
                assert_eq!(abq.held_bytes, abq.held.iter().copied().map(u64::from).sum());
                assert!(abq.held_bytes <= abq.given.capacity.0 && abq.x <= abq.given.k.0, "{given}");
                assert_eq!(abq.state == AbqState::Uncongested, abq.x == 0, "{given}");
                let is_empty = abq.held.is_empty();
                assert!(is_empty || abq.state != AbqState::Uncongested, "{given}");
                assert!(
                    length > 0 || abq.state == AbqState::Uncongested || abq.given.reading == ArticleReading::Figure,
                    "{given}"
                );
            }
            // Each change passes at least one level, so 16 changes end the congestion and release all ACKs.
            (0..16).for_each(|_| gone += bench.change_queue(0).0);
            assert_eq!((held, bench.abq.state), (gone, AbqState::Uncongested), "{given}");
        });
        assert_eq!(lost > 0, given.contains("capacity"), "{given}: {lost}");
    }
}

#[test]
fn acks_are_recognised_by_flags() {
    let held = |given: &str, text: &str| {
        let mut bench = Bench::new(given, true);
        bench.change_queue(60_000);
        bench.arrive(&format!("{text} size=64 in=0")) == ArrivalDecision::Hold
    };
    for (text, pure, flag, packs) in [
        ("ack", true, true, true),
        ("", false, false, false),
        ("data", false, false, false),
        ("ack data", false, true, false),
        ("ack syn", false, false, false),
        ("ack fin", false, false, false),
        ("ack fin data", false, false, false),
        ("syn", false, false, false),
        // `ppl` (payload was cut, or PACK) without a cut: a PACK. `cpa` (may be cut): a segment of data that carries an
        // ACK, so only its flag counts. Both flags without `ack`: cut data.
        ("ack ppl", false, false, true),
        ("ack cpa", false, true, false),
        ("cpa ppl data", false, false, false),
    ] {
        assert_eq!(held("", text), pure, "{text}");
        assert_eq!(held("is_ack=flag", text), flag, "{text}, by its flag");
        assert_eq!(held("packs=true", text), packs, "{text}, with PACKs");
    }
    let mut bench = Bench::new("is_ack=flag packs=true", true);
    bench.change_queue(60_000);
    let at = AgentContext { view: &bench.switch, port: PORT, stored: None };
    for (flag, kind) in
        [(Flags::RST, PacketKind::Segment), (Flags::ACK, PacketKind::Notice), (Flags::ACK, PacketKind::Raw)]
    {
        let flags = Flags::from_kind(kind).with(Flags::ACK).with(flag);
        let other = Head { flags, size: 64, ..Head::default() };
        assert_eq!(
            bench.abq.on_arrival(&other, &at, &mut bench.desk.env()),
            ArrivalDecision::Forward,
            "{flag:?} {kind:?}"
        );
    }
}

#[test]
fn held_acks_use_their_frame_bytes_and_excess_acks_are_dropped() {
    let mut bench = Bench::new("capacity=200B", true);
    bench.change_queue(60_000);
    let mut arrive = |size: u16| bench.arrive(&format!("ack in=0 size={size}"));
    assert_eq!(
        [64, 72, 65, 64, 1].map(&mut arrive),
        [
            ArrivalDecision::Hold,
            ArrivalDecision::Hold,
            ArrivalDecision::Drop,
            ArrivalDecision::Hold,
            ArrivalDecision::Drop
        ]
    );
    assert_eq!(bench.change_queue(30_000), (3, true));
    assert_eq!(bench.arrive("ack in=0 size=200"), ArrivalDecision::Hold, "released ACKs free their memory");
}

#[test]
fn released_acks_have_no_ece_without_corrector() {
    for (given, ece) in [("", true), ("corrector=false", false)] {
        let mut bench = Bench::new(given, true);
        bench.change_queue(60_000);
        assert_eq!(bench.arrive(ACK), ArrivalDecision::Hold);
        assert_eq!(bench.change_queue(30_000), (1, ece), "{given}");
        assert_eq!(bench.abq.needs().sets_ece, ece);
    }
}

/// Released ACKs get windows of K / held ACKs, but at least a segment; ACKs leave until these add up to more than K.
#[test]
fn bounded_windows_add_up_to_more_than_k() {
    let released = |k: u64, least: u64, held: u64| {
        let mut bench = Bench::new(&format!("release=window k={k}B window_min={least}B"), true);
        bench.change_queue(4 * k);
        (0..held).for_each(|_| assert_eq!(bench.arrive(ACK), ArrivalDecision::Hold));
        (bench.change_queue(k).0, bench.window)
    };
    // Numbers of the older public code: 10 packets of 1500 B, with segments of 1446 B.
    let public = |held: u64| released(15_000, 1446, held);
    assert_eq!([1, 4, 10].map(public), [(1, Some(15_000)), (4, Some(3750)), (10, Some(1500))]);
    assert_eq!([11, 12, 80].map(public), [(11, Some(1446)), (11, Some(1446)), (11, Some(1446))]);
    assert_eq!(released(120_000, 1460, 1), (1, Some(u16::MAX)), "the field has 16 bits");
    assert_eq!(released(30_000, 1460, 0), (0, None), "nothing was held");
}

#[test]
fn abq_is_for_host_ports_and_begins_above_k() {
    let abq = |given: &str| Abq::new(&values(&SPEC, given));
    let is_for = |given: &str| [false, true].map(|to_switch| abq(given).is_for_port(to_switch));
    assert_eq!(is_for(""), [true, false]);
    assert_eq!(is_for("ports=all"), [true, true]);
    assert_eq!(abq("k=9000B").inactive_up_to().and_then(PortThresholds::amount), Some(Amount::Bytes(9000)));
    assert_eq!(abq("capacity=640B").needs().hold_memory, Some(Bytes(640)));
    let bounds = |given: &str| abq(given).needs().min_window;
    assert_eq!(bounds("release=window window_min=2000B"), Some(Bytes(2000)));
    assert_eq!([bounds(""), bounds("release=batch")], [None, None]);
    assert!(abq("").handles_arrivals());
    assert_eq!(abq("").range_without_call(Account::AllInput(PORT)), Account::UNWATCHED);
}

#[test]
fn abq_releases_all_acks_when_its_link_changes() {
    for given in ["", "release=batch batch=1", "release=window k=1500B", "reading=algorithm"] {
        let mut bench = Bench::new(given, true);
        bench.abq.on_link_change(PORT, &mut bench.desk.env());
        assert_eq!(bench.take_released(), (0, true), "nothing was held");
        bench.change_queue(90_000);
        (0..3).for_each(|_| assert_eq!(bench.arrive(ACK), ArrivalDecision::Hold));
        bench.abq.on_link_change(PORT, &mut bench.desk.env());
        assert_eq!(bench.take_released(), (3, true), "{given}");
        assert_eq!(bench.window.take().is_some(), given.contains("window"), "{given}");
        assert_eq!(bench.row(0), "90000 US 0");
    }
}

#[test]
fn abq_check_reports_conflicting_settings() {
    let said = |given: &str, memory: Option<Amount>| {
        let mut report = Report::default();
        Abq::new(&values(&SPEC, given)).check(&CheckContext { memory, ..CheckContext::EMPTY }, &mut report);
        (report.errors.len(), report.warnings.len())
    };
    let bytes = Some(Amount::Bytes(120_000));
    assert_eq!(said("", bytes), (0, 0));
    assert_eq!(said("", None), (0, 0));
    assert_eq!(said("q_max=buffer", bytes), (0, 0));
    assert_eq!(said("q_max=buffer", Some(Amount::Packets(80))), (1, 0));
    assert_eq!(said("q_max=buffer", None), (0, 1));
    assert_eq!(said("q_max=buffer floor=true", bytes), (0, 1));
    assert_eq!(said("k=6000B", bytes), (0, 1));
    assert_eq!(said("k=6001B", bytes), (0, 0));
}

#[test]
fn fill_limit_is_the_size_of_the_buffer() {
    let bench = Bench::new("", true);
    assert_eq!(bench.switch.fill(PORT, QueueId::normal(0)).limit, Some(120_000));
}
