//! Events of hosts that pause the network: a NIC that sends pause frames without end, and a host that takes frames more
//! slowly than they arrive (Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, §4.3 and §4.4).

use super::{Change, Event};
use crate::fault::Fault;
use crate::topology::Topology;
use dataplane::{PauseCause, PausePeriod};
use mech::ClassSet;
use mech::params::{Param, ParamKind, Spec, Values};
use std::collections::BTreeMap;
use std::fmt;
use units::{Bytes, Dur, Time};

const HOST: Param = Param { name: "host", doc: "Name of the host.", kind: ParamKind::Text, default: None };
const UNTIL: Param = Param {
    name: "until",
    doc: "Instant at which the host behaves normally again. The default is the end of the run.",
    kind: ParamKind::Time { min: 1 },
    default: Some(""),
};
const CLASSES: Param = Param {
    name: "classes",
    doc: "Classes that the host pauses, 0 to 7. The default is all classes in use that the host's switch pauses. PAUSE \
          frames (802.3x) always pause all classes.",
    kind: ParamKind::Counts { min: 0, max: 7 },
    default: Some(""),
};

pub(super) const PAUSE_STORM: Spec = Spec {
    slot: "event",
    kind: "pause_storm",
    doc: "Makes the NIC of a host pause its switch without end, as a broken NIC does. The host still receives and sends.",
    cite: "Guo et al., SIGCOMM 2016 §4.3",
    params: &[HOST, UNTIL, CLASSES],
};

pub(super) const SLOW_RECEIVER: Spec = Spec {
    slot: "event",
    kind: "slow_receiver",
    doc: "Makes a host take frames from the receive buffer of its NIC at a limited rate. The NIC pauses its switch \
          between two thresholds. The buffer has no size limit, so the NIC drops nothing.",
    cite: "Guo et al., SIGCOMM 2016 §4.4",
    params: &[
        HOST,
        Param {
            name: "rate",
            doc: "Rate at which the host takes frames, in bytes of frames without preamble and gap. A host that takes \
                  none is a `pause_storm`.",
            kind: ParamKind::Rate,
            default: None,
        },
        UNTIL,
        Param {
            name: "xoff",
            doc: "Bytes in the receive buffer from which on the NIC pauses its switch. The default is a choice of this \
                  simulator.",
            kind: ParamKind::Size { min: 1 },
            default: Some("256KB"),
        },
        Param {
            name: "xon",
            doc: "Bytes in the receive buffer at which the NIC resumes its switch, less than `xoff`.",
            kind: ParamKind::Size { min: 0 },
            default: Some("128KB"),
        },
        CLASSES,
    ],
};

/// Pause of the network by a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPause {
    /// Number of the host.
    pub host: u32,
    /// Period and cause of the pause. Its classes are those of the file at first; the loader then fills in the default.
    pub period: PausePeriod,
    /// True if the host sends PAUSE frames (802.3x), which pause all classes; false for PFC.
    pub whole: bool,
    /// Classes in the file; `None` if it leaves them out.
    pub given_classes: Option<Vec<u64>>,
}

impl HostPause {
    /// Makes an event of a host from validated parameters.
    pub(super) fn read_event(kind: &str, values: &Values, net: &Topology) -> Result<Event, Fault> {
        let target = values.word("host").to_string();
        let fault = |field: &str, found: String, rule: String| Fault { field: field.into(), found, rule };
        let Some(host) = net.find_host(&target) else {
            let names = [0, net.hosts as usize - 1].map(|at| &net.nodes[at].name);
            let rule = format!("the name of a host, from `{}` to `{}`", names[0], names[1]);
            return Err(fault("host", format!("`{target}`"), rule));
        };
        let (at, until) = (values.time("at"), values.get::<Option<Dur>>("until"));
        if let Some(until) = until.filter(|until| *until <= at) {
            return Err(fault("until", until.to_string(), format!("a time after at = {at}")));
        }
        let cause = match kind {
            "pause_storm" => PauseCause::Storm,
            _ => {
                let (Bytes(xoff), Bytes(xon)) = (values.get("xoff"), values.get("xon"));
                if xon >= xoff {
                    let rule =
                        format!("less than xoff = {} (xoff and xon have defaults of 256KB and 128KB)", Bytes(xoff));
                    return Err(fault("xon", Bytes(xon).to_string(), rule));
                }
                PauseCause::SlowReceiver { drain: values.rate("rate"), xoff, xon }
            }
        };
        let given_classes = values.get::<Option<Vec<u64>>>("classes");
        let listed = given_classes.iter().flatten().map(|class| ClassSet::single(*class as u8));
        let period = PausePeriod {
            from: Time(at.0),
            until: until.map_or(Time::NEVER, |until| Time(until.0)),
            classes: listed.fold(ClassSet::NONE, ClassSet::union),
            cause,
        };
        let pause = HostPause { host: host.0, period, whole: false, given_classes };
        Ok(Event { at: period.from, target, change: Change::Host(pause) })
    }
}

impl fmt::Display for HostPause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.period.cause {
            PauseCause::Storm => write!(f, "pause storm")?,
            PauseCause::SlowReceiver { drain, .. } => write!(f, "slow receiver at {drain}")?,
        }
        match self.period.until {
            Time::NEVER => Ok(()),
            until => write!(f, " until {}", Dur(until.0)),
        }
    }
}

/// Returns the index of each event of a host that begins before an earlier one of its kind there has ended, and why.
/// PRECONDITION: events are in order of time.
pub(crate) fn find_overlaps(events: &[Event]) -> Vec<(usize, String)> {
    let mut last: BTreeMap<(u32, bool), PausePeriod> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (n, pause) in events.iter().enumerate().filter_map(|(n, event)| Some((n, event.host_pause()?))) {
        let key = (pause.host, pause.period.cause == PauseCause::Storm);
        let before = last.insert(key, pause.period).filter(|before| before.until > pause.period.from);
        wrong.extend(before.map(|before| {
            let end = match before.until {
                Time::NEVER => "the end of the run".to_string(),
                until => Dur(until.0).to_string(),
            };
            (n, format!("the event of {} lasts until {end}", Dur(before.from.0)))
        }));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn event(host: u32, [from, until]: [u64; 2], cause: PauseCause) -> Event {
        let period = PausePeriod { from: Time(from), until: Time(until), classes: ClassSet::ALL, cause };
        let pause = HostPause { host, period, whole: false, given_classes: None };
        Event { at: Time(from), target: format!("h{host}"), change: Change::Host(pause) }
    }

    #[test]
    fn only_events_of_one_kind_and_host_overlap() {
        let slow = PauseCause::SlowReceiver { drain: Rate::gbps(1), xoff: 2, xon: 1 };
        let storm = |host, times| event(host, times, PauseCause::Storm);
        let apart = [storm(0, [1, 5]), event(0, [2, 9], slow), storm(1, [3, u64::MAX]), storm(0, [5, 7])];
        assert_eq!(find_overlaps(&apart), []);
        let places = |events: &[Event]| find_overlaps(events).into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(places(&[storm(0, [1, 5]), storm(0, [4, 7])]), [1]);
        assert_eq!(places(&[event(0, [1, u64::MAX], slow), storm(0, [2, 3]), event(0, [9, 10], slow)]), [2]);
    }

    #[test]
    fn events_of_hosts_are_described_with_their_end() {
        let text = |event: Event| event.change.to_string();
        assert_eq!(text(event(0, [1, 5_000_000], PauseCause::Storm)), "pause storm until 5us");
        let slow = PauseCause::SlowReceiver { drain: Rate::gbps(1), xoff: 2, xon: 1 };
        assert_eq!(text(event(0, [1, u64::MAX], slow)), "slow receiver at 1Gbps");
    }
}
