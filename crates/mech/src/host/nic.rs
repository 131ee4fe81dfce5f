//! The order in which a host's NIC takes frames from its transports.
//!
//! `fifo` is a NIC with one queue: what transports release waits there until its turn. `round_robin` is an
//! adapter with a queue for each flow (802.1Qau §31.2; RoCE NICs): it takes one frame at a time, of each flow in
//! turn within a class and of the highest class first, and asks a transport for a segment when that is to be
//! sent. A flow may have a [`RateLimiter`](super::RateLimiter) and then waits for it; others go on.

use crate::Mechanism;
use crate::params;
use crate::params::{Kind, Spec, Values};
use units::{Bytes, Rate};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NicOrder {
    /// The order in which frames were released.
    #[default]
    Fifo,
    /// Each flow in turn, with back-pressure to its transport.
    RoundRobin(FlowOrder),
}

/// A NIC with a queue for each flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOrder {
    /// The rate of every flow's data from its first frame on; nothing limits it where `None`.
    pub flow_rate: Option<Rate>,
    /// Unused time that rate limiters save, as the time of so many bytes; of the frame that is sent if `None`.
    pub credit: Option<u64>,
}

const FIFO: Spec = Spec {
    slot: "host.nic",
    kind: "fifo",
    doc: "One queue: frames leave in the order in which transports released them.",
    cite: "",
    params: &[],
};

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        flow_rate: Option<Rate> = {
            doc: "Rate limit of every flow's data, preamble and gap included; without it nothing limits a flow.",
            kind: Kind::Rate,
            default: Some(""),
        },
        credit: Option<Bytes> = {
            doc: "Largest unused time that a flow's rate limiter saves, given in bytes on the wire (preamble and gap included). The \
                  default is the size of the frame that is sent. With `0B` a flow that shares its link gets less than its rate.",
            kind: Kind::Size { min: 0 },
            default: Some(""),
        },
    }
}

const ROUND_ROBIN: Spec = Spec {
    slot: "host.nic",
    kind: "round_robin",
    doc: "A queue for each flow: the NIC takes a frame of each in turn, of the highest class first, and a transport \
          makes a segment when the NIC asks for it.",
    cite: "IEEE 802.1Qau §31.2",
    params: Given::PARAMS,
};

/// The orders of a NIC.
pub const ALL: &[Mechanism<NicOrder>] =
    &[Mechanism::new(&FIFO, |_| NicOrder::Fifo), Mechanism::new(&ROUND_ROBIN, NicOrder::round_robin)];

impl NicOrder {
    /// From validated parameters.
    fn round_robin(values: &Values) -> NicOrder {
        let Given { flow_rate, credit } = Given::read(values);
        NicOrder::RoundRobin(FlowOrder { flow_rate, credit: credit.map(|bytes| bytes.0) })
    }
    /// What each flow's queue has, where each flow has one; there is none then which could have a limit or a
    /// threshold.
    pub fn by_flow(self) -> Option<FlowOrder> {
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
    fn the_default_is_one_queue_and_flows_of_round_robin_are_as_fast_as_the_link() {
        let order = |spec: &Spec, given: &str| {
            Registry::catalogue().make::<NicOrder>(spec.kind, &values(spec, given)).expect("it is there")
        };
        assert_eq!(order(&FIFO, ""), NicOrder::default());
        assert_eq!(order(&ROUND_ROBIN, ""), NicOrder::RoundRobin(FlowOrder::default()));
        let limited = order(&ROUND_ROBIN, "flow_rate=3Gbps credit=1538B");
        assert_eq!(limited.by_flow(), Some(FlowOrder { flow_rate: Some(Rate::gbps(3)), credit: Some(1538) }));
        assert_eq!(NicOrder::default().by_flow(), None);
    }
}
