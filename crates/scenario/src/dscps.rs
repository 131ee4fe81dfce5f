//! DSCPs of the packets of a scenario: the traffic class of each, and its number among the DSCPs of that class.
//!
//! A packet carries its class and this DSCP number. [`DscpTable`] converts both to the DSCP in the IPv4 header.

use mech::DscpTable;
use std::collections::BTreeSet;

/// DSCPs of a scenario's packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficDscps {
    /// Conversion between the packets of the run and IPv4 headers.
    pub table: DscpTable,
    /// DSCP number of each workload, in the order of the scenario; `None` if the workload sets no `dscp`.
    named: Vec<Option<u8>>,
    /// DSCP number of the default DSCP of each class.
    defaults: [u8; 8],
}

impl Default for TrafficDscps {
    /// Returns the DSCPs of a scenario that sets none: the DSCP of each class is its class selector, 8 times the class.
    fn default() -> TrafficDscps {
        TrafficDscps { table: DscpTable::CLASS_SELECTORS, named: Vec::new(), defaults: [0; 8] }
    }
}

impl TrafficDscps {
    /// Numbers the DSCPs of each class from 0, in ascending order.
    ///
    /// `classes` has the class of each DSCP, `in_use` the DSCPs in use by class, and `named` the key `dscp` of each
    /// workload. A class without DSCPs in use has no packets with an IPv4 header.
    ///
    /// # Panics
    /// Panics if `in_use` has more than [`DscpTable::PER_CLASS`] DSCPs of a class, or lacks a DSCP of `named`.
    pub(crate) fn number(
        classes: [u8; DscpTable::DSCPS],
        in_use: &[BTreeSet<u8>; 8],
        named: impl Iterator<Item = Option<u8>>,
    ) -> TrafficDscps {
        let place = |class: usize, dscp: u8| in_use[class].iter().position(|other| *other == dscp);
        let code_points = std::array::from_fn(|class| {
            let mut all = [in_use[class].first().copied().unwrap_or(class as u8 * 8); DscpTable::PER_CLASS];
            in_use[class].iter().enumerate().for_each(|(number, dscp)| all[number] = *dscp);
            all
        });
        let of_named = |dscp: u8| place(usize::from(classes[usize::from(dscp)]), dscp).expect("in use") as u8;
        let default = |class: usize| default_dscp(&classes, class as u8).and_then(|dscp| place(class, dscp));
        TrafficDscps {
            table: DscpTable::new(classes, code_points),
            named: named.map(|dscp| dscp.map(of_named)).collect(),
            defaults: std::array::from_fn(|class| default(class).unwrap_or(0) as u8),
        }
    }

    /// Returns the DSCP number of the packets of a workload in this class.
    pub fn code_point(&self, traffic: u16, class: u8) -> u8 {
        let named = self.named.get(usize::from(traffic)).copied().flatten();
        named.unwrap_or(self.defaults[usize::from(class)])
    }
}

/// Returns the DSCP of packets whose workload sets no `dscp`: the class selector, if it has this class, or the lowest
/// DSCP of the class. Returns `None` if the class has no DSCP.
pub(crate) fn default_dscp(classes: &[u8; DscpTable::DSCPS], class: u8) -> Option<u8> {
    let has = |dscp: &u8| classes[usize::from(*dscp)] == class;
    Some(class << 3).filter(has).or_else(|| (0..DscpTable::DSCPS as u8).find(has))
}
