//! Tests of DCQCN in whole runs against the fixed point of its state machine.
//!
//! N flows share a port of capacity C. Each has R = C / N, and its frames are marked with probability p, that is m
//! times a second. A CNP follows the first mark after `cnp_interval`, so the time between two is X = tau + Exp(m).
//! Since the last one
//!
//! - alpha has shrunk by 1 - g each `alpha_timer`: before a CNP its mean is s g / (1 - s (1 - g)), s = E (1 -
//!   g)^floor(X / alpha_timer);
//! - the rate, cut by alpha R / 2, has recovered half of the difference with each expiry of timer or byte counter, and
//!   the target has grown by r_ai (r_hai) with those from stage F on.
//!
//! In equilibrium the rate before a CNP is that before the last one: E (growth of the target - remaining difference) =
//! 0. This value grows with R and falls with p; it is solved here for p by bisection.

use crate::common::page::{assert_cell, rows};
use crate::common::{column, run};

const TAU: f64 = 50e-6;
const TIMER: f64 = 55e-6;
const BYTES: f64 = 10e6;
const G: f64 = 1.0 / 256.0;
const F: u32 = 5;
/// Longest time in s between two CNPs that the state machine considers; the probability of a longer one is 1e-30.
const LONGEST: f64 = 0.1;

/// Setting of a run: link rate in Gb/s, flows, and the marking probability at K_max, which is four times K_min.
#[derive(Clone, Copy, Debug)]
struct Setting {
    gbps: u64,
    flows: u64,
    p_max: f64,
    sends: Sends,
}

/// Kind of flows that a run has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sends {
    /// Raw packets in frames of 1522 B.
    Raw,
    /// RoCE flows in frames of 1066 B.
    Roce,
}

const TWO_AT_40G: Setting = Setting { gbps: 40, flows: 2, p_max: 0.2, sends: Sends::Raw };

impl Setting {
    /// Returns the bytes of a frame as byte counters count them.
    fn frame(&self) -> f64 {
        if self.sends == Sends::Raw { 1522.0 } else { 1066.0 }
    }
    /// Returns the bits of a frame on the wire.
    fn wire(&self) -> f64 {
        (self.frame() + 20.0) * 8.0
    }
    /// Returns the marking threshold K_min in bytes: 100 KB for each 25 Gb/s.
    fn k_min(&self) -> u64 {
        self.gbps * 4000
    }
    fn text(&self) -> String {
        let Setting { gbps, flows, p_max, sends } = self;
        let sources: Vec<String> = (1..=*flows).map(|n| format!("\"h{n}\"")).collect();
        let traffic = match sends {
            Sends::Raw => format!(
                "kind = \"constant\"\nsources = [{}]\ndestination = \"h0\"\npayload = \"1464B\"\nrate = \"{gbps}Gbps\"\n\
                 backlog = \"64KB\"\necn = true\n",
                sources.join(", ")
            ),
            Sends::Roce => {
                format!("kind = \"incast\"\nsenders = {flows}\nreceiver = \"h0\"\npick = \"first\"\nsize = \"100GB\"\n")
            }
        };
        format!(
            "name = \"dcqcn\"\nduration = \"400ms\"\n[topology]\nkind = \"star\"\nn = {}\n\
             link = {{ rate = \"{gbps}Gbps\", delay = \"1us\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
             reaction = {{ kind = \"dcqcn\" }}\n[switch]\nbuffer = {{ kind = \"unlimited\" }}\n\
             marking = {{ kind = \"red\", min = \"{}B\", max = \"{}B\", max_p = {p_max}, weight = 1, gentle = false, gaps = \"geometric\" }}\n\
             [measure]\nfrom = \"200ms\"\nqueues = true\nnotices = true\ndrain = \"0s\"\n\
             allow_unfinished = true\n[transport]\nkind = \"roce\"\n[[traffic]]\nname = \"long\"\n{traffic}jitter = \"10us\"\n",
            flows + 1,
            self.k_min(),
            self.k_min() * 4,
        )
    }

    /// Returns the gain of a flow's rate from one CNP to the next, if its frames are marked with this probability.
    fn gain(&self, p: f64) -> f64 {
        let line = self.gbps as f64 * 1e9;
        let rate = line / self.flows as f64;
        let marks = p * rate / self.wire();
        // Probability that no CNP has arrived for this time.
        let none = |time: f64| (-marks * (time - TAU).max(0.0)).exp();
        let periods = (0..(LONGEST / TIMER) as u32).map(|k| {
            let from = f64::from(k) * TIMER;
            (none(from) - none(from + TIMER)) * (1.0 - G).powi(k as i32)
        });
        let left: f64 = periods.sum();
        let alpha = left * G / (1.0 - left * (1.0 - G));
        let cycle = BYTES / (self.frame() * rate / self.wire());
        let expiries =
            |time: f64, which: usize| (1..(LONGEST / time) as u32).map(move |k| (f64::from(k) * time, which));
        let mut events: Vec<(f64, usize)> = expiries(TIMER, 0).chain(expiries(cycle, 1)).collect();
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut missing, mut gained, mut stages, mut before, mut sum) = (alpha * rate / 2.0, 0.0, [0, 0], 1.0, 0.0);
        for (time, which) in events {
            sum += (before - none(time)) * (gained - missing);
            before = none(time);
            stages[which] += 1;
            let [least, most] = [stages[0].min(stages[1]), stages[0].max(stages[1])];
            let step = if most < F { 0.0 } else { line / if least > F { 500.0 } else { 5000.0 } };
            gained += step;
            missing = (missing + step) / 2.0;
        }
        sum
    }

    fn fixed_point(&self) -> f64 {
        let (mut low, mut high) = (1e-7, 0.2);
        for _ in 0..60 {
            let p = f64::sqrt(low * high);
            *(if self.gain(p) > 0.0 { &mut low } else { &mut high }) = p;
        }
        low
    }
}

/// Measured values of the 200 ms that follow the first 200 ms.
#[derive(Debug)]
struct Seen {
    /// Jain's fairness index of the bytes that flows sent.
    jain: f64,
    /// Mean queue length in bytes.
    queue: f64,
    /// Number of marked frames divided by the number of all frames.
    marks: f64,
    cnps: u64,
    /// Share of time in which the port sends.
    busy: f64,
}

impl Setting {
    fn run(&self, seed: u64) -> Seen {
        let results = run(&self.text(), seed);
        let node = self.flows + 1;
        let at_port = |table: &str, of: &str| -> Vec<u64> {
            let [nodes, ports, all] = ["node", "port", of].map(|name| column(&results, table, name));
            let mine = (0..all.len()).filter(|i| nodes[*i] == node && ports[*i] == 0);
            mine.map(|i| all[i]).collect()
        };
        let [packets, time] = ["packets", "time_ps"].map(|name| at_port("queue_hist", name));
        let area: f64 = packets.iter().zip(&time).map(|(n, time)| *n as f64 * *time as f64).sum();
        let [sent, marked] = ["sent", "marked"].map(|name| at_port("ports", name)[0] as f64);
        let window = time.iter().sum::<u64>() as f64;
        let [times, flows, feedback] = ["time_ps", "flow", "feedback"].map(|name| column(&results, "notices", name));
        let inside = times.iter().filter(|at| **at >= 200_000_000_000).count() as u64;
        let cnps = column(&results, "congestion_points", "cnps").iter().sum();
        assert_eq!((inside, feedback.iter().max()), (cnps, Some(&0)), "each is a row");
        for flow in 0..self.flows {
            let own: Vec<u64> = (0..times.len()).filter(|i| flows[*i] == flow).map(|i| times[i]).collect();
            assert!(own.windows(2).all(|pair| pair[1] - pair[0] >= 50_000_000), "one each 50 us at most");
        }
        Seen {
            jain: jain(&column(&results, "flows", "received")),
            queue: area / window * self.frame(),
            marks: marked / sent,
            cnps,
            busy: sent * self.wire() / (self.gbps as f64 * 1e9 * window * 1e-12),
        }
    }
}

/// Returns Jain's fairness index, (Σ x)² / (n Σ x²).
fn jain(all: &[u64]) -> f64 {
    let (sum, squares) = all.iter().fold((0.0, 0.0), |(sum, squares), one| {
        let one = *one as f64;
        (sum + one, squares + one * one)
    });
    sum * sum / (all.len() as f64 * squares)
}

fn assert_fixed_point(setting: Setting) -> Vec<Seen> {
    let expected = setting.fixed_point();
    let seen: Vec<Seen> = (1..=2).map(|seed| setting.run(seed)).collect();
    let said = format!("{setting:?}, marks {expected:.6} of frames: {seen:#?}");
    println!("{said}");
    for one in &seen {
        assert!(one.jain >= 0.98 && one.busy > 0.999 && one.cnps > 0, "{said}");
        assert!((one.marks / expected - 1.0).abs() <= 0.2, "{said}");
        assert!(one.queue >= 0.8 * setting.k_min() as f64 && one.queue <= 4.0 * setting.k_min() as f64, "{said}");
    }
    seen
}

#[test]
fn two_flows_share_a_port_and_are_marked_as_often_as_the_state_machine_says() {
    assert_fixed_point(TWO_AT_40G);
}

#[test]
fn flows_of_roce_come_to_rest_as_well() {
    assert_fixed_point(Setting { sends: Sends::Roce, ..TWO_AT_40G });
}

/// Test of the fixed points of more than two flows.
/// The fixed point of two flows is 2 KB above K_min, and the queue swings by more: its mean is below K_min, where
/// nothing is marked. The fixed point of ten flows is 19 KB above K_min.
#[test]
fn more_flows_are_marked_more_often_and_hold_the_queue_between_the_thresholds() {
    assert_fixed_point(Setting { flows: 4, ..TWO_AT_40G });
    for seen in assert_fixed_point(Setting { flows: 10, ..TWO_AT_40G }) {
        assert!((160e3..640e3).contains(&seen.queue), "{seen:?}");
    }
}

#[test]
fn at_25_and_100_gbps_thresholds_and_steps_in_proportion_do_the_same() {
    assert_fixed_point(Setting { gbps: 25, ..TWO_AT_40G });
    assert_fixed_point(Setting { gbps: 100, ..TWO_AT_40G });
}

const PAGE: &str = include_str!("../../../docs/mechanisms/dcqcn.md");

/// Test that p*, the queue at p* and K_min in the table of the page are those of the state machine.
#[test]
fn fixed_points_on_the_page_are_those_of_the_state_machine() {
    let rows = rows(PAGE, "| link, flows |");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let (gbps, flows) = row[0].split_once(" Gb/s, ").expect("rate and flows");
        let setting = Setting { gbps: gbps.parse().expect("rate"), flows: flows.parse().expect("flows"), ..TWO_AT_40G };
        let (p, k_min) = (setting.fixed_point(), setting.k_min() as f64);
        assert_cell(row[1], &[100.0 * p]);
        assert_cell(row[3], &[(k_min + p / setting.p_max * 3.0 * k_min) / 1e3]);
        assert_cell(row[5], &[k_min / 1e3]);
    }
}

/// Test that lost CNPs are no rows of the table `packets`.
/// CNPs are lost on the receiver's link as well, and must not appear as data of their flow.
#[test]
fn lost_cnps_are_no_rows_of_packets() {
    let text = "name = \"lost\"\nduration = \"2ms\"\n[topology]\nkind = \"star\"\nn = 3\n\
                link = { rate = \"10Gbps\", delay = \"1us\" }\n[host]\nnic = { kind = \"round_robin\" }\n\
                reaction = { kind = \"dcqcn\" }\n[switch]\nbuffer = { kind = \"unlimited\" }\n\
                marking = { kind = \"red\", min = \"2KB\", max = \"4KB\", max_p = 1, weight = 1, gentle = false }\n\
                [measure]\npackets = true\nnotices = true\ndrain = \"0s\"\nallow_unfinished = true\n\
                [transport]\nkind = \"roce\"\n[[traffic]]\nname = \"long\"\nkind = \"incast\"\nsenders = 2\n\
                receiver = \"h0\"\nsize = \"100MB\"\n\
                [[event]]\nkind = \"loss\"\nat = \"0us\"\nlink = \"h0\"\nprobability = 0.3\n";
    let results = run(text, 1);
    let by = |name: &str| column(&results, "packets", name);
    let (flows, reverse, numbers) = (by("flow"), by("reverse"), by("emission"));
    let rows: Vec<_> = (0..flows.len()).map(|row| (flows[row], reverse[row], numbers[row])).collect();
    let distinct: std::collections::BTreeSet<_> = rows.iter().collect();
    assert!(rows.len() > 1000, "{}", rows.len());
    assert_eq!(distinct.len(), rows.len(), "each packet ends once");
}
