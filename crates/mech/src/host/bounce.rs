//! PABO §II-G: a host that gets a frame which is not for it puts it back into its NIC, in the
//! bounce queue, for another try. Its rate stays as it is and its transport is not told.

use crate::{Head, HostId};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reinject;

impl Reinject {
    /// Whether `me` sends `pkt` out again instead of taking it.
    pub fn wants(self, pkt: &Head, me: HostId) -> bool {
        pkt.bounces > 0 && pkt.dst != me
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn only_what_was_bounced_and_is_for_somebody_else_goes_out_again() {
        assert!(Reinject.wants(&head("dst=9 np=1"), HostId(1)));
        assert!(Reinject.wants(&head("dst=9 np=200"), HostId(1)));
        assert!(!Reinject.wants(&head("dst=9 np=1"), HostId(9)));
        assert!(!Reinject.wants(&head("dst=9"), HostId(1)));
    }
}
