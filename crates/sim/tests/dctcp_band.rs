//! Tests of the queue of long DCTCP flows against the analysis of Alizadeh et al., "Data Center TCP" (SIGCOMM 2010)
//! §3.3: N phase-locked flows, windows W, capacity C, round trip RTT of an empty queue.
//!
//! - eq. 3: the queue is Q = N W - C RTT, so marks begin at W* = (C RTT + K) / N;
//! - eq. 6: α² (1 - α/4) = (2 W* + 1) / (W* + 1)², solved here, since 2/W* is too coarse for W* of 12;
//! - eq. 7, 8: the queue swings by A = N (W* + 1) α/2, about ½ √(2 N (C RTT + K));
//! - eq. 10: Qmax = N (W* + 1) - C RTT = K + N;
//! - eq. 11, 12: Qmin = Qmax - A.
//!
//! Q counts frames as the simulator's queue does: the frame on the wire belongs to C RTT, which holds two slots of
//! data, two of an ACK and four delays. The asserted queue is weighted by time, over 300 ms after 100 ms. Its maximum
//! is Qmax within a frame, and its mean is in the band. For nine tenths of the time it is in the band, widened by a
//! frame. Its 5th percentile is within a third of A of Qmin, so that there is a sawtooth of that depth. The link is
//! never idle.

use crate::common::page::{assert_cell, rows};
use crate::common::{column, run};
use sim::Results;

/// Bits on the wire of a frame with 1460 B of payload; `ACK` is that of an ACK.
const DATA: f64 = 1538.0 * 8.0;
const ACK: f64 = 84.0 * 8.0;

/// Setting of a run: rate and one-way delay of links, marking threshold K, number of flows.
#[derive(Clone, Copy, Debug)]
struct Setting {
    gbps: f64,
    delay_us: f64,
    k: u32,
    flows: u32,
}

struct Band {
    least: f64,
    most: f64,
}

impl Setting {
    fn text(&self, transport: &str) -> String {
        let Setting { gbps, delay_us, k, flows } = self;
        format!(
            "name = \"band\"\nduration = \"400ms\"\n[topology]\nkind = \"star\"\nn = {}\n\
             link = {{ rate = \"{gbps}Gbps\", delay = \"{delay_us}us\" }}\n[switch]\nbuffer = {{ kind = \"unlimited\" }}\n\
             marking = {{ kind = \"ecn_threshold\", k = \"{k}pkt\" }}\n[transport]\n{transport}\nmss = \"1460B\"\n\
             [measure]\nfrom = \"100ms\"\ndrain = \"0s\"\nallow_unfinished = true\n[[traffic]]\nname = \"long\"\n\
             kind = \"incast\"\nsenders = {flows}\nreceiver = \"h0\"\npick = \"first\"\nsize = \"100GB\"\njitter = \"100us\"\n",
            flows + 1
        )
    }

    fn band(&self) -> Band {
        let n = f64::from(self.flows);
        let rtt = (2.0 * DATA + 2.0 * ACK) / (self.gbps * 1e3) + 4.0 * self.delay_us;
        let c_rtt = rtt * self.gbps * 1e3 / DATA;
        let w = (c_rtt + f64::from(self.k)) / n;
        let most = n * (w + 1.0) - c_rtt;
        Band { least: most - n * (w + 1.0) * alpha(w) / 2.0, most }
    }
}

/// Returns the fraction α of marked packets: the root of eq. 6 in [0, 1], by bisection.
fn alpha(w: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let a: f64 = (low + high) / 2.0;
        match a * a * (1.0 - a / 4.0) < (2.0 * w + 1.0) / (w + 1.0).powi(2) {
            true => low = a,
            false => high = a,
        }
    }
    low
}

/// Measured queue at the port toward the receiver.
struct Queue {
    /// Queue lengths, with the time in ps for which the queue had each.
    at: Vec<(u64, u64)>,
    whole: u64,
    /// Share of the measurement window in which the link carried frames.
    busy: f64,
}

impl Queue {
    fn from_results(results: &Results, setting: &Setting) -> Queue {
        let switch = u64::from(setting.flows) + 1;
        let [node, port, packets, time] =
            ["node", "port", "packets", "time_ps"].map(|c| column(results, "queue_hist", c));
        let at: Vec<(u64, u64)> = (0..node.len())
            .filter(|i| node[*i] == switch && port[*i] == 0 && time[*i] > 0)
            .map(|i| (packets[i], time[i]))
            .collect();
        let [node, port, sent] = ["node", "port", "sent"].map(|c| column(results, "ports", c));
        let mine = (0..node.len()).find(|i| node[*i] == switch && port[*i] == 0).unwrap();
        let busy = sent[mine] as f64 * DATA / (setting.gbps * 1e9 * 0.3);
        Queue { whole: at.iter().map(|(_, time)| time).sum(), at, busy }
    }

    fn mean(&self) -> f64 {
        self.at.iter().map(|(length, time)| *length as f64 * *time as f64).sum::<f64>() / self.whole as f64
    }

    /// Returns the queue length that is not exceeded for this share of time.
    fn percentile(&self, share: f64) -> f64 {
        let mut passed = 0;
        let reached = |(_, time): &&(u64, u64)| {
            passed += time;
            passed as f64 >= share * self.whole as f64
        };
        self.at.iter().find(reached).map_or(0.0, |(length, _)| *length as f64)
    }

    fn max(&self) -> f64 {
        self.at.last().map_or(0.0, |(length, _)| *length as f64)
    }
}

const PAGE: &str = include_str!("../../../docs/internals/truth.md");

/// Asserts that the run with seed 1 gives the row in the table of the page.
fn is_on_the_page(setting: Setting, Band { least, most }: Band, q: &Queue) {
    let named = |first: &str| {
        let rate = first.starts_with(&format!("{} Gb/s, ", setting.gbps));
        rate && first.split_once("K = ").is_some_and(|(_, k)| k.split(' ').next() == Some(&setting.k.to_string()))
    };
    let rows = rows(PAGE, "| setting | flows | band |");
    let row = rows.iter().find(|row| named(row[0]) && row[1] == setting.flows.to_string()).expect("a row of it");
    assert_cell(row[2], &[least, most]);
    let values = [q.at[0].0 as f64, q.percentile(0.05), q.mean(), q.percentile(0.95), q.max()];
    for (cell, value) in row[3..].iter().zip(values) {
        assert_cell(cell, &[value]);
    }
}

fn holds_the_band(setting: Setting) {
    let Band { least, most } = setting.band();
    for seed in 1..=3 {
        let q = Queue::from_results(&run(&setting.text("kind = \"dctcp\""), seed), &setting);
        assert_eq!(q.whole, 300_000_000_000, "the whole window is seen");
        let (low, high, mean) = (q.percentile(0.05), q.percentile(0.95), q.mean());
        let said = format!(
            "{setting:?} seed {seed}: band {least:.1} to {most:.1}; min {} p5 {low} mean {mean:.2} p95 {high} max {} busy {:.5}",
            q.at[0].0,
            q.max(),
            q.busy
        );
        println!("{said}");
        if seed == 1 {
            is_on_the_page(setting, setting.band(), &q);
        }
        assert!((q.max() - most).abs() <= 1.0, "the maximum: {said}");
        assert!(least < mean && mean < most, "the mean: {said}");
        assert!(low >= least - 1.0 && high <= most + 1.0, "nine tenths of the time: {said}");
        assert!(low <= least + (most - least) / 3.0, "the depth of the sawtooth: {said}");
        assert!(q.at[0].0 > 0 && q.busy > 0.9999, "the link rests: {said}");
    }
}

#[test]
fn two_and_ten_flows_hold_the_band_of_figure_12() {
    // 10 Gb/s, about 100 us, K = 40: the setting in which the paper compares its analysis with ns-2.
    for flows in [2, 10] {
        holds_the_band(Setting { gbps: 10.0, delay_us: 24.0, k: 40, flows });
    }
}

#[test]
fn flows_hold_the_bands_of_the_testbed() {
    // K = 20 at 1 Gb/s and K = 65 at 10 Gb/s (§3.5, §4.1), round trips of about 100 us.
    holds_the_band(Setting { gbps: 1.0, delay_us: 20.0, k: 20, flows: 2 });
    holds_the_band(Setting { gbps: 10.0, delay_us: 24.0, k: 65, flows: 2 });
    holds_the_band(Setting { gbps: 10.0, delay_us: 24.0, k: 65, flows: 10 });
}

#[test]
fn the_analysis_gives_the_numbers_worked_by_hand() {
    // C RTT = 80.1 frames; K = 40: two flows have W* = 60.06, α = 0.185 and swing by 11.3.
    let band = Setting { gbps: 10.0, delay_us: 24.0, k: 40, flows: 2 }.band();
    assert!((band.most - 42.0).abs() < 1e-9 && (band.most - band.least - 11.27).abs() < 0.05, "{}", band.least);
    let rough = 0.5 * (2.0f64 * 2.0 * 120.1).sqrt();
    assert!((band.most - band.least - rough).abs() < 0.5, "eq. 8 in its short form: {rough}");
    assert!((alpha(60.06) - 0.1845).abs() < 0.001);
}

#[test]
fn flows_that_halve_at_a_mark_do_not_hold_the_band() {
    // The same two flows with RFC 3168's reaction to a mark swing by half a window each. So the band is specific to
    // DCTCP; other windows over this threshold would not keep it.
    let setting = Setting { gbps: 10.0, delay_us: 24.0, k: 40, flows: 2 };
    let q = Queue::from_results(&run(&setting.text("kind = \"newreno\"\necn = true"), 1), &setting);
    let band = setting.band();
    assert!(q.percentile(0.05) < band.least - 10.0, "{} of {}", q.percentile(0.05), band.least);
}
