//! A pause slot before the rate of its port is known.

use super::Level;
use crate::params::Values;
use crate::{AgentSlot, Beside, Report};
use std::collections::BTreeSet;
use std::sync::Arc;
use units::{Bytes, Clock, Dur};

/// See the module.
#[derive(Clone, Debug)]
pub struct PauseFor(Option<Plan>);

#[derive(Clone, Debug)]
struct Plan {
    values: Arc<Values>,
    make: fn(&Values, Clock) -> AgentSlot,
}

impl PauseFor {
    /// Nobody is stopped.
    pub const fn nobody() -> PauseFor {
        PauseFor(None)
    }
    /// What `make` makes of validated parameters and a port's rate.
    pub fn new(values: &Values, make: fn(&Values, Clock) -> AgentSlot) -> PauseFor {
        PauseFor(Some(Plan { values: Arc::new(values.clone()), make }))
    }
    /// The agent of a port of this rate.
    pub fn at(&self, clock: Clock) -> AgentSlot {
        self.0.as_ref().map_or(AgentSlot::NONE, |plan| (plan.make)(&plan.values, clock))
    }
    /// Whether it may stop anybody.
    pub const fn stops(&self) -> bool {
        self.0.is_some()
    }
    /// How much memory in use is too much; `None` where nobody is stopped.
    pub fn level(&self) -> Option<Level> {
        self.0.as_ref().map(|plan| Level::new(&plan.values))
    }
    /// From the arrival of a request at the far end until it takes effect there.
    pub fn response(&self) -> Dur {
        self.0.as_ref().map_or(Dur::ZERO, |plan| plan.values.time("response"))
    }
    /// Thresholds are fixed or of what is free, one or the other; classes are some of the eight.
    pub fn check(&self, beside: &Beside, report: &mut Report) {
        let Some(plan) = &self.0 else { return };
        thresholds(&plan.values, beside, report);
        quanta_and_classes(&plan.values, report);
    }
}

fn thresholds(values: &Values, beside: &Beside, report: &mut Report) {
    let [xoff, xon, alpha, offset] = ["xoff", "xon", "alpha", "offset"].map(|key| values.has(key));
    match (xoff, xon, alpha) {
        (true, true, false) if values.size("xon") >= values.size("xoff") => {
            let rule = format!("less than xoff = {}", Bytes(values.size("xoff")));
            report.wrong("xon", Bytes(values.size("xon")), rule);
        }
        (true, true, false) => {}
        (false, false, true) if !beside.shared => {
            let found = format!("alpha beside a `{}` buffer", beside.buffer);
            report.wrong("alpha", found, "a `shared` buffer beside alpha");
        }
        (false, false, true) => {}
        (false, false, false) => report.wrong("kind", "neither xoff nor alpha", "xoff and xon, or alpha"),
        (_, _, true) => report.wrong("alpha", "alpha beside xoff or xon", "xoff and xon, or alpha"),
        (true, false, false) => report.wrong("xoff", "xoff without xon", "xoff and xon"),
        (false, true, false) => report.wrong("xon", "xon without xoff", "xoff and xon"),
    }
    if offset && !alpha {
        report.wrong("offset", "offset without alpha", "offset beside alpha; beside xoff it is xon");
    }
}

fn quanta_and_classes(values: &Values, report: &mut Report) {
    if values.has("refresh")
        && let Some(refresh) = values.count_or_off("refresh").filter(|n| *n > values.count("quanta"))
    {
        report.wrong("refresh", refresh, format!("at most quanta = {}", values.count("quanta")));
    }
    if values.has("classes") {
        let classes = values.counts("classes");
        let once: BTreeSet<u64> = classes.iter().copied().collect();
        if classes.is_empty() || once.len() < classes.len() {
            report.wrong("classes", format!("{classes:?}"), "one or more whole numbers from 0 to 7, each once");
        }
    }
}
