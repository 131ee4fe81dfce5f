//! Flows before they are assigned to their workload.

use super::{FlowSpec, OWN, Role};
use mech::HostId;
use units::Time;

/// Flow without the number, class and jitter of its workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub src: HostId,
    pub dst: HostId,
    pub bytes: u64,
    pub query: u32,
    pub role: Role,
    pub tag: u64,
    pub connection: u32,
}

impl Draft {
    /// Returns a flow on its own connection; `query` is `u32::MAX` without queries.
    pub fn data(src: HostId, dst: HostId, bytes: u64, query: u32) -> Draft {
        Draft { src, dst, bytes, query, role: Role::Data, tag: 0, connection: OWN }
    }
    /// Returns the flow of a workload with this number and class.
    pub fn at(self, start: Time, traffic: u16, class: u8) -> FlowSpec {
        let Draft { src, dst, bytes, query, role, tag, connection } = self;
        FlowSpec { start, src, dst, bytes, traffic, query, class, role, tag, connection }
    }
}
