//! Order in which a host's NIC takes frames from its transports.
//!
//! `fifo` is a NIC with one queue, in which frames released by transports wait. `round_robin` is an adapter with a
//! queue for each flow (802.1Qau §31.2; RoCE NICs). It takes one frame at a time, from each flow in turn within a
//! class, and from the highest class first. It requests a segment from a transport when the segment is about to be
//! sent. A flow may have a [`RateLimiter`](super::RateLimiter) and then waits for it; other flows continue.

use crate::Mechanism;
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use units::{Bytes, Rate};

/// Order in which a NIC sends the frames of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NicOrder {
    /// Order in which transports released the frames (a single queue).
    #[default]
    Fifo,
    /// Round robin over queues of flows, which request segments from their transports.
    RoundRobin(FlowQueues),
}

/// Settings of a NIC with one queue for each flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowQueues {
    /// Rate limit of every flow from its first data frame on; `None` is unlimited.
    pub flow_rate: Option<Rate>,
    /// Largest credit that a flow's rate limiter saves for unused time, in bytes; `None` is the size of the sent frame.
    pub credit: Option<u64>,
}

const FIFO_SPEC: Spec = Spec {
    slot: "host.nic",
    kind: "fifo",
    doc: "Single queue, which frames leave in the order in which transports released them.",
    cite: "",
    params: &[],
};

params! {
    /// Parameter values of the NIC order `round_robin`.
    pub(crate) struct Params {
        flow_rate: Option<Rate> = {
            doc: "Rate limit of every flow's data, including preamble and gap. The default is no limit.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
        credit: Option<Bytes> = {
            doc: "Largest credit that the rate limiter of a flow saves while its turn is late, in bytes on the wire \
                  (including preamble and gap). The default is the size of the frame that is sent. With `0B`, a flow \
                  that shares its link gets less than its rate.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
    }
}

const ROUND_ROBIN_SPEC: Spec = Spec {
    slot: "host.nic",
    kind: "round_robin",
    doc: "Queue for each flow. The NIC takes a frame of each in turn, of the highest class first. A transport creates \
          a segment when the NIC requests it.",
    cite: "IEEE 802.1Qau §31.2",
    params: Params::PARAMS,
};

/// Mechanisms of the slot `nic` of hosts.
pub const ALL: &[Mechanism<NicOrder>] =
    &[Mechanism::new(&FIFO_SPEC, |_| NicOrder::Fifo), Mechanism::new(&ROUND_ROBIN_SPEC, NicOrder::round_robin)];

impl NicOrder {
    /// Creates the NIC order `round_robin` from validated parameters.
    fn round_robin(values: &Values) -> NicOrder {
        let Params { flow_rate, credit } = Params::read(values);
        NicOrder::RoundRobin(FlowQueues { flow_rate, credit: credit.map(|bytes| bytes.0) })
    }
    /// Returns the settings of per-flow queues, which have no limit and no threshold; `None` for a NIC with one queue.
    pub fn flow_queues(self) -> Option<FlowQueues> {
        match self {
            NicOrder::Fifo => None,
            NicOrder::RoundRobin(order) => Some(order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;
    use crate::testing::values;

    #[test]
    fn default_nic_is_fifo_and_round_robin_has_no_rate_limit() {
        let order = |spec: &Spec, given: &str| {
            Registry::catalogue().make::<NicOrder>(spec.kind, &values(spec, given)).expect("it is there")
        };
        assert_eq!(order(&FIFO_SPEC, ""), NicOrder::default());
        assert_eq!(order(&ROUND_ROBIN_SPEC, ""), NicOrder::RoundRobin(FlowQueues::default()));
        let limited = order(&ROUND_ROBIN_SPEC, "flow_rate=3Gbps credit=1538B");
        assert_eq!(limited.flow_queues(), Some(FlowQueues { flow_rate: Some(Rate::gbps(3)), credit: Some(1538) }));
        assert_eq!(NicOrder::default().flow_queues(), None);
    }
}
