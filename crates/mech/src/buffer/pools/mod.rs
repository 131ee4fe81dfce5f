//! Memory of a switch chip: cells, pools, priority groups, queues and headroom (in the terms of SAI and SONiC).
//!
//! A frame is stored once and counted twice: at ingress in the priority group of its class and input port, at egress in
//! the queue of its class and output port. Both accounts must admit it.
//!
//! An account uses its reserve first, and then the shared memory of its pool. A frame joins the shared memory if the
//! use before it is below the limit of the account and the pool has space. At ingress, a frame of a lossless group that
//! does not join it takes headroom. Departures free headroom first, then shared memory, then the reserve.

mod build;
mod check;
mod layout;
mod params;
#[cfg(test)]
mod tests;
mod unused;

pub use layout::{AccountRules, BufferPort, LosslessRules, MemoryLayout, PoolLimits, ProfileRules, UnusedEntry};

use super::{Buffer, MemoryUse};
use crate::params::{Spec, Values};
use crate::{CheckContext, Fill, PriorityGroups, Report};
use build::Setup;
use params::Params;
use std::sync::Arc;
use units::Amount;

/// Memory of a switch chip, with pools and accounts of groups and queues.
#[derive(Clone, Debug)]
pub struct Pools {
    setup: Arc<Setup>,
    /// Memory for the ports of a switch; `None` before they are known.
    layout: Option<Arc<MemoryLayout>>,
    /// Bytes of the whole memory if no port adds to it, for descriptions.
    nominal_bytes: u64,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "pools",
    doc: "Memory of a switch chip: pools with accounts of priority groups at ingress and of queues at egress.",
    cite: "SAI; SONiC",
    params: Params::PARAMS,
};

impl Pools {
    /// Creates the memory from validated parameters, for no ports yet.
    pub fn new(values: &Values) -> Pools {
        Pools::from_setup(Setup::new(values))
    }
    fn from_setup(setup: Setup) -> Pools {
        let nominal_bytes = setup.nominal_bytes();
        Pools { setup: Arc::new(setup), layout: None, nominal_bytes }
    }
}

impl Buffer for Pools {
    /// Returns true: the accounts decide.
    fn admits(&self, _now: &MemoryUse, _size: u16) -> bool {
        true
    }
    fn fill(&self, now: &MemoryUse) -> Fill {
        Fill { used: now.bytes, limit: None }
    }
    fn total_memory(&self, _ports: u16) -> Option<Amount> {
        let built = self.layout.as_ref().map(|layout| layout.total_bytes());
        Some(Amount::Bytes(built.unwrap_or(self.nominal_bytes)))
    }
    fn guaranteed_bytes(&self, _frame: u16) -> Option<u64> {
        Some(0)
    }
    fn for_links(&mut self, ports: &[BufferPort]) {
        self.layout = Some(Arc::new(self.setup.layout(ports)));
    }
    fn layout(&self) -> Option<Arc<MemoryLayout>> {
        self.layout.clone()
    }
    fn has_accounts(&self) -> bool {
        true
    }
    fn priority_groups(&self) -> PriorityGroups {
        self.setup.priority_groups()
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        self.setup.check(beside, report);
    }
    fn describe(&self, _frame: u16) -> Option<String> {
        let pools: Vec<&str> = self.setup.pools.iter().map(|pool| pool.name.as_str()).collect();
        Some(format!("pools {}", pools.join(", ")))
    }
    fn clone_boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}
