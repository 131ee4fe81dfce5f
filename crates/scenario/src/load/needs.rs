//! What the runs of a scenario will need, counted before they begin: what cannot fit is refused.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::message;
use crate::limits::{MOST_AT_ONCE, MOST_FLOWS};
use crate::model::Scenario;
use crate::traffic::Traffic;
use dataplane::transport::TcpConfig;
use units::Time;

/// Flows, of which something is kept to the end, and packets that flows of one instant begin with.
pub(super) fn check(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let (net, end) = (&scenario.topology, Time(scenario.duration.0));
    let flows = Sum::of(&scenario.traffic, |traffic| traffic.flows_before(end, net));
    if flows.all > MOST_FLOWS as f64 {
        let found = format!("about {} before the end of the duration", flows.told("flows"));
        let rule = format!("at most {MOST_FLOWS}, about 10 GB with their results: {}", flows.part(MOST_FLOWS));
        faults.add(&document.find("traffic"), message(found, rule));
        return None;
    }
    let tcp = TcpConfig::new(&scenario.transport.kind, &scenario.transport.values, scenario.framing)?;
    let (window, mss) = (tcp.first_window() as f64, f64::from(tcp.mss()));
    let packets = |traffic: &Traffic| {
        let (flows, bytes) = traffic.at_once(net);
        flows * (bytes.min(window) / mss).ceil()
    };
    let packets = Sum::of(&scenario.traffic, packets);
    if packets.all > MOST_AT_ONCE as f64 {
        let found = format!("an initial window of {window} B: {} at once", packets.told("packets"));
        let rule = format!("at most {MOST_AT_ONCE} packets at once: {}", packets.part(MOST_AT_ONCE));
        faults.add(&document.find("transport.initial_window"), message(found, rule));
        return None;
    }
    Some(())
}

/// Of all workloads together, and of the one with the most.
struct Sum<'a> {
    all: f64,
    most: f64,
    of: &'a str,
}

impl<'a> Sum<'a> {
    fn of(traffic: &'a [Traffic], count: impl Fn(&Traffic) -> f64) -> Sum<'a> {
        let none = Sum { all: 0.0, most: -1.0, of: "" };
        traffic.iter().map(|one| (one, count(one))).fold(none, |sum, (one, count)| {
            let (most, of) = if count > sum.most { (count, one.name.as_str()) } else { (sum.most, sum.of) };
            Sum { all: sum.all + count, most, of }
        })
    }

    fn told(&self, what: &str) -> String {
        format!("{:.3e} {what}, {:.3e} of them of `{}`", self.all, self.most, self.of)
    }

    /// What would fit.
    fn part(&self, most: u64) -> String {
        format!("1/{} of that would fit", (self.all / most as f64).ceil())
    }
}
