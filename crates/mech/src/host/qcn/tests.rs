use super::*;
use crate::PortId;
use crate::host::RateLimiter;
use crate::testing::values;
use toml::Table;

const FLOW: FlowId = FlowId(3);

/// Test bench: QCN's reaction point with one flow at the NIC of its host.
struct Bench {
    qcn: Qcn,
    limiter: Option<RateLimiter>,
    now: Time,
}

impl Bench {
    fn new(given: &str, line: Rate, rng: Stream) -> Bench {
        let mut qcn = Qcn::new(&values(&SPEC, given));
        qcn.for_host(ReactionHost { line_rate: line, rng });
        Bench { qcn, limiter: None, now: Time::ZERO }
    }
    /// Creates a test bench at 10 Gb/s, without jitter and random draws.
    fn at_10g(given: &str) -> Bench {
        Bench::new(&format!("jitter=0 {given}"), Rate::gbps(10), Stream::scripted(&[]))
    }
    fn call_reaction(&mut self, is_empty: bool, what: impl FnOnce(&mut Qcn, &mut FlowAtNic)) {
        let mut flow = FlowAtNic { flow: FLOW, now: self.now, is_empty, limiter: &mut self.limiter };
        what(&mut self.qcn, &mut flow);
        assert_eq!(self.limiter.is_some(), self.qcn.flow_states.contains_key(&FLOW), "a limiter for what is known");
        assert_eq!(self.qcn.timers.len(), self.qcn.flow_states.len(), "and a timer");
    }
    fn receive_cnm(&mut self, feedback: u8) {
        let notice = Notice::Cnm { feedback, q_off: 0, q_delta: 0, point: PortId(0) };
        self.call_reaction(false, |qcn, flow| qcn.on_notice(&notice, flow));
    }
    fn send_bytes(&mut self, bytes: u64) {
        self.call_reaction(false, |qcn, flow| qcn.on_sent(bytes, flow));
    }
    /// Advances to the next timer of QCN, and handles its expiry.
    fn run_next_timer(&mut self) {
        let (at, flow) = self.qcn.next_timer().expect("a timer");
        assert_eq!(flow, FLOW);
        self.now = at;
        self.call_reaction(false, |qcn, flow| qcn.on_timer(flow));
        assert!(self.qcn.next_timer() > Some((at, FLOW)));
    }
    fn flow_state(&self) -> FlowState {
        self.qcn.flow_states[&FLOW]
    }
    /// Returns the current rate of the flow in bits per second.
    fn rate(&self) -> u64 {
        assert_eq!(self.limiter.expect("it is limited").rate(), Rate::bps(self.flow_state().current));
        self.flow_state().current
    }
    /// Describes the state of the flow as in a row of the conformance table, after its colon.
    fn describe_state(&self) -> String {
        let Some(point) = self.qcn.flow_states.get(&FLOW) else { return "free".into() };
        let FlowState { target, byte_stage, time_stage, bytes_left: left, .. } = point;
        format!("{} of {} stages {byte_stage} {time_stage} left {left}", Rate::bps(self.rate()), Rate::bps(*target))
    }
    /// Applies the event of a row of the conformance table, such as `cnm 10`.
    fn run_event(&mut self, event: &[&str]) {
        let number = |text: &str| text.parse().expect(text);
        match event {
            ["cnm", feedback] => self.receive_cnm(number(feedback) as u8),
            ["cnp"] => self.call_reaction(false, |qcn, flow| qcn.on_notice(&Notice::Cnp, flow)),
            ["sent", bytes] => self.send_bytes(number(bytes)),
            ["last", bytes] => self.call_reaction(true, |qcn, flow| qcn.on_sent(number(bytes), flow)),
            ["timer"] => {
                assert_eq!(self.qcn.next_timer(), Some((self.now, FLOW)));
                self.run_next_timer();
            }
            ["timer", "empty"] => {
                assert_eq!(self.qcn.next_timer(), Some((self.now, FLOW)));
                self.call_reaction(true, |qcn, flow| qcn.on_timer(flow));
            }
            ["over"] => {
                self.limiter = None;
                self.qcn.remove_flow(FLOW);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Applies the event of a table row `TIME EVENT: STATE`, and checks the state of the flow after it.
fn check_row(bench: &mut Bench, row: &str, name: &str) {
    let (what, state) = row.split_once(": ").expect("a colon");
    let words: Vec<&str> = what.split(' ').collect();
    bench.now = Time(units::parse_dur(words[0]).expect("a time").0);
    let timer = bench.qcn.next_timer();
    assert!(timer.is_none_or(|(at, _)| at >= bench.now), "{name}: a timer expires before `{row}`: {timer:?}");
    bench.run_event(&words[1..]);
    assert_eq!(bench.describe_state(), state, "{name}: {row}");
}

fn text_of<'a>(case: &'a toml::Value, key: &str) -> &'a str {
    case.get(key).map_or("", |text| text.as_str().expect(key))
}

#[test]
fn qcn_rates_match_the_conformance_table() {
    let path = format!("{}/../../conformance/qcn_reaction.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let all = table["case"].as_array().expect("cases");
    assert!(all.len() >= 15);
    for case in all {
        let (name, given, line) = (text_of(case, "name"), text_of(case, "given"), text_of(case, "line"));
        let draws: Vec<f64> = case.get("draws").map_or(Vec::new(), |draws| {
            draws.as_array().expect("a list").iter().map(|draw| draw.as_float().expect("a number")).collect()
        });
        let line = units::parse_rate(if line.is_empty() { "10Gbps" } else { line }).expect(name);
        let given = if draws.is_empty() { format!("jitter=0 {given}") } else { given.to_owned() };
        let mut bench = Bench::new(&given, line, Stream::scripted(&draws));
        for row in case["rows"].as_array().expect("rows") {
            check_row(&mut bench, row.as_str().expect("a row"), name);
        }
        assert_eq!(bench.qcn.rng.remaining_draws(), 0, "{name}: draws are left");
    }
}

/// QCN feedback of 10 cuts the rate by 7.8%, feedback of 56 by 43.75%, and feedback of 63 by 49.2%.
#[test]
fn cut_is_feedback_over_128_and_at_most_half() {
    for (feedback, rate) in [(1, 9_921_875_000), (10, 9_218_750_000), (56, 5_625_000_000), (63, 5_078_125_000)] {
        let mut bench = Bench::at_10g("");
        bench.receive_cnm(feedback);
        assert_eq!(bench.rate(), rate, "{feedback}");
    }
    let mut bench = Bench::at_10g("gd=0.015625");
    bench.receive_cnm(63);
    assert_eq!(bench.rate(), 5_000_000_000, "63/64 is more than a half");
}

/// Each cycle of QCN's fast recovery halves the gap to the target rate, so that 3.1% remain after five.
#[test]
fn fast_recovery_cycle_halves_the_gap_to_the_target_rate() {
    let mut bench = Bench::at_10g("");
    bench.receive_cnm(63);
    let gap = 10_000_000_000 - bench.rate();
    for n in 1..=4 {
        bench.send_bytes(150_000);
        assert_eq!(10_000_000_000 - bench.rate(), gap >> n, "cycle {n}");
    }
    bench.send_bytes(150_000);
    // The fifth cycle is the first active increase: the target is 5 Mb/s higher.
    assert_eq!(bench.rate(), 10_000_000_000 + 2_500_000 - (gap >> 5));
}

/// Byte counter cycles of 150 KB take 600 us at 2 Gb/s of payload, so that QCN's fast recovery takes 3 ms.
/// Then 5 Mb/s are added each 300 us. The timer needs 75 ms until hyper-active increase may begin.
#[test]
fn timer_expires_3_times_in_50_ms_after_a_cnm() {
    let mut bench = Bench::at_10g("");
    bench.receive_cnm(1);
    let mut expired = 0;
    while bench.qcn.next_timer().expect("it is on").0 <= Time(Dur::ms(50).0) {
        bench.run_next_timer();
        expired += 1;
    }
    assert_eq!((expired, bench.flow_state().time_stage), (3, 3));
    (0..2).for_each(|_| bench.run_next_timer());
    assert_eq!((bench.now, bench.flow_state().time_stage), (Time(Dur::ms(75).0), 5));
    bench.run_next_timer();
    assert_eq!(bench.now, Time(Dur::us(82_500).0), "half of it from here on");
}

/// QCN feedback of 20 leaves 8.4375 of 10 Gb/s. With feedback of 10, 8.5 messages halve a rate.
/// A further 11 messages leave 2 of 5 Gb/s.
#[test]
fn nine_cnms_with_feedback_10_halve_the_rate() {
    let mut bench = Bench::at_10g("");
    bench.receive_cnm(20);
    assert_eq!(bench.rate(), 8_437_500_000);
    let mut bench = Bench::at_10g("");
    (0..8).for_each(|_| bench.receive_cnm(10));
    assert!(bench.rate() > 5_000_000_000);
    bench.receive_cnm(10);
    assert!(bench.rate() < 5_000_000_000);
    (0..11).for_each(|_| bench.receive_cnm(10));
    assert!((1_900_000_000..2_050_000_000).contains(&bench.rate()), "{}", bench.rate());
}

#[test]
fn byte_counter_is_uniform_within_its_jitter() {
    let mut qcn = Bench::new("jitter=0.15", Rate::gbps(10), Stream::new(1, 2, StreamPurpose::Reaction)).qcn;
    let all: Vec<u64> = (0..100_000).map(|_| qcn.draw_stage_bytes(0)).collect();
    assert!(all.iter().all(|bytes| (127_500..=172_500).contains(bytes)));
    let mean = all.iter().sum::<u64>() as f64 / 1e5;
    // A uniform draw from 45,001 numbers has a standard deviation of 12,991; five deviations of the mean are 206.
    assert!((mean - 150_000.0).abs() < 206.0, "{mean}");
    let quarters = (0..4).map(|n| all.iter().filter(|bytes| (*bytes - 127_500) * 4 / 45_001 == n).count());
    assert!(quarters.clone().all(|n| n.abs_diff(25_000) < 685), "{:?}", quarters.collect::<Vec<_>>());
}

#[test]
fn flows_have_separate_states_and_next_timer_is_the_first() {
    let mut qcn = Bench::at_10g("").qcn;
    let (mut first, mut second) = (None, None);
    let notice = Notice::Cnm { feedback: 32, q_off: 0, q_delta: 0, point: PortId(0) };
    let at = |flow, now| (FlowId(flow), Time(now));
    let mut tell = |(flow, now), limiter: &mut Option<RateLimiter>| {
        qcn.on_notice(&notice, &mut FlowAtNic { flow, now, is_empty: false, limiter });
        qcn.next_timer()
    };
    let time = Dur::ms(15).0;
    assert_eq!(tell(at(9, 5), &mut first), Some((Time(time + 5), FlowId(9))));
    assert_eq!(tell(at(2, 7), &mut second), Some((Time(time + 5), FlowId(9))));
    assert_eq!(tell(at(9, 8), &mut first), Some((Time(time + 7), FlowId(2))), "that of 9 is started anew");
    assert_eq!(
        [first, second].map(|limiter| limiter.map(|own| own.rate())),
        [Some(Rate::bps(5_625_000_000)), Some(Rate::bps(7_500_000_000))]
    );
    qcn.remove_flow(FlowId(2));
    assert_eq!(qcn.next_timer(), Some((Time(time + 8), FlowId(9))));
}

#[test]
fn fractional_line_rate_is_reached_exactly() {
    let line = Rate::ratio(10_000_000_000, 3).expect("it is above zero");
    let mut bench = Bench::new("jitter=0", line, Stream::scripted(&[]));
    bench.receive_cnm(1);
    (0..40).for_each(|_| bench.send_bytes(150_000));
    assert_eq!(bench.limiter.map(|limiter| limiter.rate()), Some(line));
    bench.call_reaction(true, |qcn, flow| qcn.on_sent(64, flow));
    assert!(bench.limiter.is_none());
}

#[test]
fn qcn_min_rate_not_below_the_line_rate_is_refused() {
    let report = |given: &str, line| {
        let mut report = Report::default();
        Qcn::new(&values(&SPEC, given)).check(line, &mut report);
        report.errors
    };
    assert_eq!(report("", Rate::gbps(10)), []);
    let wrong = report("min_rate=10Gbps", Rate::gbps(10));
    assert_eq!((&*wrong[0].key, wrong[0].found.as_str()), ("min_rate", "10Gbps"));
    assert_eq!(report("min_rate=10Gbps", Rate::gbps(25)), []);
}
