//! DSCPs of the packets of a scenario: their traffic classes, and the code points that packets carry.

use mech::DscpTable;
use std::collections::BTreeSet;

/// DSCPs of a scenario's packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficDscps {
    /// Conversion between the packets of the run and IPv4 headers.
    pub table: DscpTable,
    /// Code point of each workload that names its DSCP, in the order of the scenario.
    named: Vec<Option<u8>>,
    /// Code point of the default DSCP of each class.
    defaults: [u8; 8],
}

impl Default for TrafficDscps {
    /// DSCPs of a scenario that names none: each class has its class selector.
    fn default() -> TrafficDscps {
        TrafficDscps { table: DscpTable::CLASS_SELECTORS, named: Vec::new(), defaults: [0; 8] }
    }
}

impl TrafficDscps {
    /// Numbers the DSCPs of each class in ascending order. A class without DSCPs has no packets with an IPv4 header.
    /// `named` has the DSCP that each workload names.
    ///
    /// # Panics
    /// Panics if `in_use` has more than [`DscpTable::PER_CLASS`] DSCPs of a class, or lacks a named one.
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

    /// Returns the code point of a flow of this class of a workload.
    pub fn code_point(&self, traffic: u16, class: u8) -> u8 {
        let named = self.named.get(usize::from(traffic)).copied().flatten();
        named.unwrap_or(self.defaults[usize::from(class)])
    }
}

/// Returns the DSCP of packets of a class whose workload names none: the class selector, or else the lowest DSCP of the
/// class. Returns `None` if the class has no DSCP.
pub(crate) fn default_dscp(classes: &[u8; DscpTable::DSCPS], class: u8) -> Option<u8> {
    let has = |dscp: &u8| classes[usize::from(*dscp)] == class;
    Some(class << 3).filter(has).or_else(|| (0..DscpTable::DSCPS as u8).find(has))
}
