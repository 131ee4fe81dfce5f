//! Rate limits of flows at their hosts, over time.

use super::Scope;
use dataplane::EventLocation;
use mech::FlowId;
use std::collections::BTreeMap;
use units::{Dur, Rate, Time};

/// Row for a change of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LimitRow {
    /// Instant of the change; its node is the host that limits the flow.
    pub(crate) at: EventLocation,
    pub(crate) flow: u32,
    /// Rate limit in bits per second; negative if the limit is removed.
    pub(crate) rate_bps: f64,
}

/// Record of a flow that was limited at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LimitedFlow {
    pub(crate) host: u32,
    /// Rate limit in bits per second, if the flow is limited.
    rate: Option<f64>,
    /// Instant up to which the record is complete.
    since: Time,
    /// Number of times that the flow became limited, and number of all changes of its limit, inside the measurement
    /// window; and the time under a limit in it.
    pub(crate) times: u64,
    pub(crate) changes: u64,
    pub(crate) limited: Dur,
    /// Lowest limit inside the window in bits per second; negative if there was none.
    pub(crate) lowest: f64,
}

impl LimitedFlow {
    fn new(host: u32) -> LimitedFlow {
        LimitedFlow { host, rate: None, since: Time::ZERO, times: 0, changes: 0, limited: Dur::ZERO, lowest: -1.0 }
    }

    /// Adds the time up to `now`, with an unchanged rate limit, to the record.
    fn advance(&mut self, scope: &Scope, now: Time) {
        let (first, last) = (self.since.max(scope.from), now.min(scope.to));
        self.since = now;
        let Some(rate) = self.rate.filter(|_| last > first) else { return };
        self.limited += last.since(first);
        self.lowest = if self.lowest < 0.0 { rate } else { self.lowest.min(rate) };
    }
}

/// Records of all flows that were limited.
#[derive(Clone, Debug)]
pub(crate) struct RateLimits {
    /// True if a row is written for every change of a limit.
    records_changes: bool,
    /// Record of each limited flow; few flows ever are limited.
    pub(crate) flows: BTreeMap<u32, LimitedFlow>,
}

impl RateLimits {
    pub(crate) fn new(each: bool) -> RateLimits {
        RateLimits { records_changes: each, flows: BTreeMap::new() }
    }

    /// Records a new rate limit of a flow; `None` if the limit is removed.
    pub(crate) fn record_limit(
        &mut self,
        scope: &Scope,
        told: (EventLocation, FlowId, Option<Rate>),
        rows: &mut Vec<LimitRow>,
    ) {
        let (at, flow, rate) = (told.0, told.1.0, told.2.map(Rate::as_f64));
        let one = self.flows.entry(flow).or_insert(LimitedFlow::new(at.node));
        one.advance(scope, at.now);
        let counts = scope.covers(at.now);
        one.times += u64::from(counts && one.rate.is_none() && rate.is_some());
        one.changes += u64::from(counts);
        one.rate = rate;
        rows.extend(self.records_changes.then_some(LimitRow { at, flow, rate_bps: rate.unwrap_or(-1.0) }));
    }

    /// Copies the records of another partition's flows.
    pub(crate) fn take_partition(&mut self, other: &mut RateLimits) {
        self.flows.append(&mut other.flows);
    }

    /// Replaces the numbers of flows by those in the whole run.
    pub(crate) fn renumber_flows(&mut self, flow_numbers: &[u32]) {
        let flows = std::mem::take(&mut self.flows);
        self.flows = flows.into_iter().map(|(flow, one)| (flow_numbers[flow as usize], one)).collect();
    }

    /// Completes the records at the end of the run.
    pub(crate) fn close(&mut self, scope: &Scope, now: Time) {
        self.flows.values_mut().for_each(|one| one.advance(scope, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: Scope = Scope { from: Time(100), to: Time(200), ..Scope::EMPTY };

    fn change(now: u64, flow: u32, mbps: Option<u64>) -> (EventLocation, FlowId, Option<Rate>) {
        (EventLocation { now: Time(now), node: 2, port: 2 }, FlowId(flow), mbps.map(Rate::mbps))
    }

    #[test]
    fn limited_time_counts_inside_the_window() {
        let (mut limits, mut rows) = (RateLimits::new(true), Vec::new());
        for (now, flow, rate) in [
            (50, 4, Some(500)),
            (60, 4, Some(200)),
            (60, 7, Some(100)),
            (90, 7, None),
            (120, 4, Some(300)),
            (150, 4, None),
            (180, 4, Some(400)),
            (250, 4, Some(100)),
        ] {
            limits.record_limit(&SCOPE, change(now, flow, rate), &mut rows);
        }
        limits.close(&SCOPE, Time(300));
        let [(4, first), (7, second)] = limits.flows.iter().map(|(flow, one)| (*flow, *one)).collect::<Vec<_>>()[..]
        else {
            panic!("two flows had a limit: {limits:?}")
        };
        assert_eq!((first.host, first.times, first.changes), (2, 1, 3));
        assert_eq!((first.limited, first.lowest), (Dur(50 + 20), 200e6), "100 Mb/s came after the window");
        assert_eq!((second.times, second.limited, second.lowest), (0, Dur::ZERO, -1.0));
        assert_eq!(rows.len(), 8);
        assert_eq!((rows[3].flow, rows[3].rate_bps, rows[4].rate_bps), (7, -1.0, 300e6));
    }

    #[test]
    fn changes_are_written_only_on_request() {
        let (mut limits, mut rows) = (RateLimits::new(false), Vec::new());
        limits.record_limit(&SCOPE, change(150, 1, Some(5)), &mut rows);
        limits.close(&SCOPE, Time(160));
        limits.close(&SCOPE, Time(160));
        assert_eq!((rows, limits.flows[&1].limited), (vec![], Dur(10)));
    }
}
