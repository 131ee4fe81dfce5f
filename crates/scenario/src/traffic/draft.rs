//! Flows that are not yet their workload's.

use super::{FlowSpec, OWN, Role};
use mech::HostId;
use units::Time;

/// A flow before its workload's number, class and jitter are put to it.
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
    /// A flow on a connection of its own; `query` is `u32::MAX` where there are no queries.
    pub fn data(src: HostId, dst: HostId, bytes: u64, query: u32) -> Draft {
        Draft { src, dst, bytes, query, role: Role::Data, tag: 0, connection: OWN }
    }
    /// The flow of a workload, by its number and class.
    pub fn at(self, start: Time, traffic: u16, class: u8) -> FlowSpec {
        let Draft { src, dst, bytes, query, role, tag, connection } = self;
        FlowSpec { start, src, dst, bytes, traffic, query, class, role, tag, connection }
    }
}
