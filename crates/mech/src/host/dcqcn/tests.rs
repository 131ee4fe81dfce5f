use super::*;
use crate::host::RateLimiter;
use crate::testing::values;
use toml::Table;

const FLOW: FlowId = FlowId(3);

/// Test bench: DCQCN with one flow at the NIC of its host.
struct Bench {
    dcqcn: Dcqcn,
    limiter: Option<RateLimiter>,
    now: Time,
}

impl Bench {
    fn new(given: &str, line: Rate) -> Bench {
        let mut dcqcn = Dcqcn::new(&values(&SPEC, given));
        dcqcn.for_host(ReactionHost::new(line, 0, 0));
        Bench { dcqcn, limiter: None, now: Time::ZERO }
    }
    fn call_reaction(&mut self, is_empty: bool, what: impl FnOnce(&mut Dcqcn, &mut FlowAtNic)) {
        let mut flow = FlowAtNic { flow: FLOW, now: self.now, is_empty, limiter: &mut self.limiter };
        what(&mut self.dcqcn, &mut flow);
        let slowed = self.dcqcn.flow_states.get(&FLOW).is_some_and(|point| point.current < self.dcqcn.line_rate());
        assert_eq!(self.dcqcn.timers.len(), usize::from(slowed), "a timer where there is something to get back");
        assert!(self.limiter.is_some() || !slowed, "and a limiter");
    }
    fn receive_cnp(&mut self) {
        self.call_reaction(false, |dcqcn, flow| dcqcn.on_notice(&Notice::Cnp, flow));
    }
    fn send_bytes(&mut self, bytes: u64, is_empty: bool) {
        self.call_reaction(is_empty, |dcqcn, flow| dcqcn.on_sent(bytes, flow));
    }
    /// Advances to the next timer of DCQCN, and handles its expiry.
    fn run_next_timer(&mut self) {
        let (at, flow) = self.dcqcn.next_timer().expect("a timer");
        assert_eq!(flow, FLOW);
        self.now = at;
        self.call_reaction(false, |dcqcn, flow| dcqcn.on_timer(flow));
        assert!(self.dcqcn.next_timer().is_none_or(|next| next > (at, FLOW)));
    }
    fn flow_state(&self) -> FlowState {
        self.dcqcn.flow_states[&FLOW]
    }
    /// Describes the state of the flow as in a row of the conformance table, with alpha decayed to the present time.
    fn describe_state(&self) -> String {
        let Some(mut point) = self.dcqcn.flow_states.get(&FLOW).copied() else { return "unknown".into() };
        self.dcqcn.shrink_alpha(&mut point, self.now);
        let rate = self.limiter.map_or("free".into(), |limiter| limiter.rate().to_string());
        let FlowState { target, alpha, byte_stage, time_stage, bytes_left: left, .. } = point;
        let alpha = alpha as f64 / FIXED_POINT_ONE as f64;
        format!("{rate} of {} alpha {alpha:.6} stages {byte_stage} {time_stage} left {left}", Rate::bps(target))
    }
    /// Applies the event of a row of the conformance table, such as `cnp`.
    fn run_event(&mut self, event: &[&str]) {
        let number = |text: &str| text.parse().expect(text);
        match event {
            ["cnp"] => self.receive_cnp(),
            ["cnm"] => {
                let notice = Notice::Cnm { feedback: 63, q_off: 0, q_delta: 0, point: crate::PortId(0) };
                self.call_reaction(false, |dcqcn, flow| dcqcn.on_notice(&notice, flow));
            }
            ["sent", bytes] => self.send_bytes(number(bytes), false),
            ["last", bytes] => self.send_bytes(number(bytes), true),
            ["timer"] => {
                assert_eq!(self.dcqcn.next_timer(), Some((self.now, FLOW)));
                self.run_next_timer();
            }
            ["time"] => {}
            ["over"] => {
                self.limiter = None;
                self.dcqcn.remove_flow(FLOW);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn text_of<'a>(case: &'a toml::Value, key: &str) -> &'a str {
    case.get(key).map_or("", |text| text.as_str().expect(key))
}

#[test]
fn dcqcn_rates_match_the_conformance_table() {
    let path = format!("{}/../../conformance/dcqcn.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let all = table["case"].as_array().expect("cases");
    assert!(all.len() >= 10);
    for case in all {
        let (name, given, line) = (text_of(case, "name"), text_of(case, "given"), text_of(case, "line"));
        let line = units::parse_rate(if line.is_empty() { "40Gbps" } else { line }).expect(name);
        let mut bench = Bench::new(given, line);
        for row in case["rows"].as_array().expect("rows") {
            let row = row.as_str().expect("a row");
            let (what, state) = row.split_once(": ").expect("a colon");
            let words: Vec<&str> = what.split(' ').collect();
            bench.now = Time(units::parse_dur(words[0]).expect("a time").0);
            let timer = bench.dcqcn.next_timer();
            assert!(timer.is_none_or(|(at, _)| at >= bench.now), "{name}: a timer expires before `{row}`: {timer:?}");
            bench.run_event(&words[1..]);
            assert_eq!(bench.describe_state(), state, "{name}: {row}");
        }
    }
}

/// Alpha of DCQCN without CNPs is (1 - g)^n after n periods: 0.932 after 18 periods (1 ms), and half after 177.
#[test]
fn alpha_shrinks_by_g_each_period() {
    for (us, periods) in [(54, 0), (55, 1), (109, 1), (110, 2), (1000, 18), (9735, 177)] {
        let mut bench = Bench::new("", Rate::gbps(40));
        bench.receive_cnp();
        let mut point = bench.flow_state();
        bench.dcqcn.shrink_alpha(&mut point, Time(Dur::us(us).0));
        let expected = (255.0f64 / 256.0).powi(periods);
        assert!((point.alpha as f64 / FIXED_POINT_ONE as f64 - expected).abs() < 1e-7, "{us} us");
        assert_eq!(point.alpha_since, Time(Dur::us(55).0 * periods as u64));
    }
}

#[test]
fn alpha_decays_to_0_and_the_next_cnp_cuts_little() {
    let mut bench = Bench::new("", Rate::gbps(40));
    bench.receive_cnp();
    (0..60).for_each(|_| {
        if bench.dcqcn.next_timer().is_some() {
            bench.run_next_timer()
        }
    });
    bench.now = Time(Dur::s(100).0);
    bench.receive_cnp();
    assert_eq!(bench.flow_state().current, 40_000_000_000);
    assert_eq!(bench.flow_state().alpha, to_fixed_point(1.0 / 256.0));
}

/// Marked packets of a flow cause one CNP each interval; other flows have intervals of their own.
#[test]
fn flow_gets_at_most_one_cnp_per_interval() {
    let mut dcqcn = Bench::new("", Rate::gbps(40)).dcqcn;
    let mut told = |flow, us| dcqcn.on_marked(FlowId(flow), Time(Dur::us(us).0)) == Some(Notice::Cnp);
    let rows =
        [(1, 0, true), (1, 1, false), (2, 1, true), (1, 49, false), (1, 50, true), (2, 50, false), (2, 51, true)];
    for (flow, us, expected) in rows {
        assert_eq!(told(flow, us), expected, "flow {flow} at {us} us");
    }
    assert!(told(1, 500));
    assert_eq!((dcqcn.notified.flows.len(), dcqcn.notified.order.len()), (1, 1), "what is long ago is forgotten");
}

#[test]
fn default_rate_steps_and_min_rate_scale_with_the_link() {
    for (line, given, r_ai, r_hai, min_rate) in [
        (25, "", 5, 50, 25),
        (40, "", 8, 80, 40),
        (100, "", 20, 200, 100),
        (100, "r_ai=40Mbps r_hai=400Mbps min_rate=10Mbps", 40, 400, 10),
    ] {
        let dcqcn = Bench::new(given, Rate::gbps(line)).dcqcn;
        let all = [
            dcqcn.rate_or_share_of_line(dcqcn.given.r_ai, 5000),
            dcqcn.rate_or_share_of_line(dcqcn.given.r_hai, 500),
            dcqcn.min_rate(),
        ];
        assert_eq!(all, [r_ai, r_hai, min_rate].map(|mbps| mbps * 1_000_000), "{line} {given}");
    }
}

#[test]
fn dcqcn_min_rate_not_below_the_line_rate_is_refused() {
    let report = |given: &str, line| {
        let mut report = Report::default();
        Dcqcn::new(&values(&SPEC, given)).check(line, &mut report);
        report.errors
    };
    assert_eq!(report("", Rate::gbps(10)), []);
    let wrong = report("min_rate=10Gbps", Rate::gbps(10));
    assert_eq!((&*wrong[0].key, wrong[0].found.as_str()), ("min_rate", "10Gbps"));
}
