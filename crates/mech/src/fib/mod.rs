//! The forwarding table of a switch: where does its knowledge of addresses come from?

mod learning;
mod routed;

pub use learning::{Learning, Onward, Preset};

use crate::HostId;
use crate::params::{Spec, Values};

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&routed::SPEC, &learning::SPEC];

/// One mechanism.
#[derive(Clone, Debug, PartialEq)]
pub enum FibSlot {
    /// `static`
    Static,
    /// `learning`
    Learning(Learning),
}

impl FibSlot {
    /// The mechanism named `kind`, with `host` to find the host of a name; `None` where the catalogue
    /// has none of that name or there is no such host.
    pub fn build(kind: &str, values: &Values, host: &dyn Fn(&str) -> Option<HostId>) -> Option<FibSlot> {
        match kind {
            "static" => Some(FibSlot::Static),
            "learning" => Learning::new(values, host).map(FibSlot::Learning),
            _ => None,
        }
    }
}
