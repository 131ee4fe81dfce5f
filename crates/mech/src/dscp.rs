//! DSCPs of a run: the traffic class of each, and its number among the DSCPs of that class, which packets carry.

use crate::Head;

/// Table of a run that converts between [`Head::tos`] and the type of service of IPv4 (RFC 2474 §3).
///
/// A packet carries its class and its *DSCP number*. That is the number of its DSCP among those of the class, from 0 to
/// [`DscpTable::PER_CLASS`] - 1. Mechanisms thus read the class without a table. ECN bits are equal in both forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DscpTable {
    /// Traffic class of each DSCP.
    classes: [u8; DscpTable::DSCPS],
    /// DSCP of each value of the upper six bits of [`Head::tos`].
    dscps: [u8; DscpTable::DSCPS],
}

impl DscpTable {
    /// Number of DSCPs.
    pub const DSCPS: usize = 64;
    /// Largest number of DSCPs of one class in a run.
    pub const PER_CLASS: usize = 4;
    /// Table of a run that names no DSCPs: the upper six bits of [`Head::tos`] are the DSCP.
    ///
    /// The DSCP of a class is thus its class selector (RFC 2474 §4.2.2), and data that switches must not cut have the
    /// next DSCP.
    pub const CLASS_SELECTORS: DscpTable = {
        let (mut classes, mut dscps) = ([0; DscpTable::DSCPS], [0; DscpTable::DSCPS]);
        let mut at = 0;
        while at < DscpTable::DSCPS {
            (classes[at], dscps[at]) = (at as u8 >> 3, at as u8);
            at += 1;
        }
        DscpTable { classes, dscps }
    };

    /// Creates a table from the class of each DSCP, and the DSCP of each class and DSCP number.
    /// Data that switches must not cut have the same DSCP as other packets of their DSCP number.
    pub fn new(classes: [u8; DscpTable::DSCPS], code_points: [[u8; DscpTable::PER_CLASS]; 8]) -> DscpTable {
        let dscps = std::array::from_fn(|bits| code_points[bits >> 3][bits >> 1 & 3]);
        DscpTable { classes, dscps }
    }

    /// Returns the traffic class of each DSCP.
    pub const fn classes(&self) -> &[u8; DscpTable::DSCPS] {
        &self.classes
    }

    /// Returns the type of service of IPv4, with the DSCP in the upper six bits, for a value of [`Head::tos`].
    pub const fn ipv4_tos(&self, tos: u8) -> u8 {
        self.dscps[tos as usize >> 2] << 2 | tos & 0b11
    }

    /// Returns the value of [`Head::tos`] for a type of service of IPv4; `None` if no packet of the run has this DSCP.
    /// `trimmable` decides if the DSCP alone does not show if switches may cut the packet.
    pub fn head_tos(&self, ipv4_tos: u8, trimmable: bool) -> Option<u8> {
        let dscp = ipv4_tos >> 2;
        let first = self.classes[usize::from(dscp)] << 3;
        let mut found = (first..first + 8).filter(|bits| self.dscps[usize::from(*bits)] == dscp).map(|bits| bits << 2);
        let lowest = found.next()?;
        let is_asked = |tos: &u8| (tos & Head::NOT_TRIMMABLE == 0) == trimmable;
        let tos = std::iter::once(lowest).chain(found).find(is_asked).unwrap_or(lowest);
        Some(tos | ipv4_tos & 0b11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_named_dscps_both_forms_are_equal() {
        let table = DscpTable::CLASS_SELECTORS;
        for tos in 0..=u8::MAX {
            assert_eq!(table.ipv4_tos(tos), tos);
            assert_eq!([false, true].map(|trimmable| table.head_tos(tos, trimmable)), [Some(tos); 2]);
        }
        assert_eq!((table.classes()[26], table.classes()[48]), (3, 6));
    }

    #[test]
    fn named_dscps_keep_class_ecn_and_trimmability() {
        let mut classes = *DscpTable::CLASS_SELECTORS.classes();
        (classes[46], classes[10]) = (3, 3);
        let mut code_points = std::array::from_fn(|class| [class as u8 * 8; DscpTable::PER_CLASS]);
        code_points[3] = [10, 26, 46, 10];
        let table = DscpTable::new(classes, code_points);
        let tos = |number: u8, more: u8| 3 << 5 | number << 3 | more;
        assert_eq!((table.ipv4_tos(tos(0, 3)), table.ipv4_tos(tos(2, 1))), (10 << 2 | 3, 46 << 2 | 1));
        assert_eq!(table.ipv4_tos(tos(1, Head::NOT_TRIMMABLE | 2)), 26 << 2 | 2);
        assert_eq!(table.head_tos(10 << 2 | 3, true), Some(tos(0, 3)));
        assert_eq!(table.head_tos(26 << 2 | 2, false), Some(tos(1, Head::NOT_TRIMMABLE | 2)));
        assert_eq!(table.head_tos(24 << 2, true), None, "24 is of class 3, and no packet has it");
    }
}
