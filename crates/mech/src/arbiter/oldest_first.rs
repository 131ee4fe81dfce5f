//! Oldest first: an output takes the frame that came first of those that wait for it, whichever input it came in by; so
//! frames of a class cross to an output in the order of their arrival, as they would leave an output-queued switch
//! (the oldest-cell-first weight of McKeown, Mekkittikul, Anantharam and Walrand, "Achieving 100% Throughput in an
//! Input-Queued Switch", IEEE Transactions on Communications 47(8), 1999, §III).
//!
//! Differs from that: each output chooses for itself, since an input may feed several at once (QCN-OS §IV, its CIOQ
//! switch), and there is no matching. Only the first frames of virtual output queues ask, and of these only those that fit
//! the output's buffer: one that does not keeps no claim, and a younger one crosses before it.

use super::{Arbiter, Request};
use crate::params::Spec;
use crate::{Env, PortId};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.arbiter",
    kind: "oldest_first",
    doc: "Every output of a `cioq` switch takes the frame that came first of those that wait for it at inputs; in a `fabric` switch every buffer inside does so, too.",
    cite: "McKeown et al. 1999, §III; QCN-OS §IV",
    params: &[],
};

impl Arbiter for OldestFirst {
    fn grant(&mut self, _output: PortId, requests: &[Request], _env: &mut Env) -> Option<PortId> {
        requests.iter().min_by_key(|request| request.stamp).map(|request| request.input)
    }
    fn boxed(&self) -> Box<dyn Arbiter> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Desk;

    /// Who is granted an output, of inputs whose first frames have these stamps.
    fn granted(asking: &[(u16, u64)]) -> Option<u16> {
        let request = |(input, stamp): &(u16, u64)| Request { input: PortId(*input), size: 1518, stamp: *stamp };
        let requests: Vec<Request> = asking.iter().map(request).collect();
        OldestFirst.grant(PortId(0), &requests, &mut Desk::draws(&[]).env()).map(|input| input.0)
    }

    #[test]
    fn the_frame_that_came_first_crosses_first_whichever_input_it_is_at() {
        assert_eq!(granted(&[(0, 7), (1, 4), (3, 5)]), Some(1));
        assert_eq!(granted(&[(0, 3), (1, 4)]), Some(0));
        assert_eq!(granted(&[(2, 9), (3, 8)]), Some(3));
        assert_eq!(granted(&[(2, u64::MAX)]), Some(2));
    }

    #[test]
    fn nobody_is_owed_a_turn() {
        assert_eq!([granted(&[(0, 1), (1, 4)]), granted(&[(0, 2), (1, 4)]), granted(&[(0, 3), (1, 4)])], [Some(0); 3]);
        assert_eq!(granted(&[(0, 5), (1, 4)]), Some(1));
    }
}
