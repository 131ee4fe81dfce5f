//! Oldest first: an output takes the oldest frame among those queued for it at any input. So frames of a class cross to
//! an output in the order of their arrival, as they would leave an output-queued switch.
//!
//! The weight is that of oldest cell first (McKeown, Mekkittikul, Anantharam and Walrand, "Achieving 100% Throughput in
//! an Input-Queued Switch", IEEE Transactions on Communications 47(8), 1999, §III).
//!
//! Two things differ from the paper. Each output chooses by itself, without a matching, since an input may feed several
//! outputs simultaneously (QCN-OS §IV, its CIOQ switch). Only the first frames of virtual output queues are candidates,
//! and only those that fit into the output's buffer. A frame that does not fit keeps no claim, and a younger one
//! crosses before it.

use super::{Arbiter, Request};
use crate::params::Spec;
use crate::{Env, PortId};

/// Arbiter that grants an output the request for the oldest frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.arbiter",
    kind: "oldest_first",
    doc: "Grants every output of a `cioq` switch the oldest of the frames that wait for it at inputs. In a `fabric` \
          switch, every internal buffer takes frames in this order, too.",
    cite: "McKeown et al. 1999, §III; QCN-OS §IV",
    params: &[],
};

impl Arbiter for OldestFirst {
    fn grant(&mut self, _output: PortId, requests: &[Request], _env: &mut Env) -> Option<PortId> {
        requests.iter().min_by_key(|request| request.stamp).map(|request| request.input)
    }
    fn clone_boxed(&self) -> Box<dyn Arbiter> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::DecisionInputs;

    /// Returns the input that gets the grant, among inputs with these numbers and these stamps of their first frames.
    fn granted_input(asking: &[(u16, u64)]) -> Option<u16> {
        let request = |(input, stamp): &(u16, u64)| Request { input: PortId(*input), size: 1518, stamp: *stamp };
        let requests: Vec<Request> = asking.iter().map(request).collect();
        OldestFirst.grant(PortId(0), &requests, &mut DecisionInputs::with_draws(&[]).env()).map(|input| input.0)
    }

    #[test]
    fn frame_that_arrived_first_crosses_first_from_any_input() {
        assert_eq!(granted_input(&[(0, 7), (1, 4), (3, 5)]), Some(1));
        assert_eq!(granted_input(&[(0, 3), (1, 4)]), Some(0));
        assert_eq!(granted_input(&[(2, 9), (3, 8)]), Some(3));
        assert_eq!(granted_input(&[(2, u64::MAX)]), Some(2));
    }

    #[test]
    fn grant_depends_on_arrival_times_not_on_earlier_grants() {
        assert_eq!(
            [granted_input(&[(0, 1), (1, 4)]), granted_input(&[(0, 2), (1, 4)]), granted_input(&[(0, 3), (1, 4)])],
            [Some(0); 3]
        );
        assert_eq!(granted_input(&[(0, 5), (1, 4)]), Some(1));
    }
}
