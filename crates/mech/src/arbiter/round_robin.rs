//! Round robin: every output has a pointer to the input whose turn it is. It takes the first input from there on that
//! has a frame for it. It is the grant step of McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches",
//! IEEE/ACM Transactions on Networking 7(2), 1999, §II.
//!
//! Here, unlike in iSLIP, an input may feed several outputs simultaneously (QCN-OS §IV, its CIOQ switch). So a grant is
//! always accepted, and there are no iterations. Turns are counted in frames, not in bytes. An input whose first frame
//! does not fit into the output's buffer is passed over and keeps no claim.

use super::{Arbiter, Request};
use crate::params::Spec;
use crate::{Env, PortId, SwitchContext};

/// Arbiter that grants an output the requesting inputs in turn.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// Input whose turn it is, for each output.
    next: Vec<u16>,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.arbiter",
    kind: "round_robin",
    doc: "Grants every output of a `cioq` switch one frame from each input in turn that has one for it. In a `fabric` \
          switch, every internal buffer takes frames in this order, too.",
    cite: "McKeown 1999, §II; QCN-OS §IV",
    params: &[],
};

impl Arbiter for RoundRobin {
    fn grant(&mut self, output: PortId, requests: &[Request], _env: &mut Env) -> Option<PortId> {
        let next = self.next.get_mut(usize::from(output.0))?;
        let from_here = requests.iter().find(|request| request.input.0 >= *next);
        let input = from_here.or(requests.first())?.input;
        *next = input.0 + 1;
        Some(input)
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.next = vec![0; usize::from(own.ports)];
    }
    fn clone_boxed(&self) -> Box<dyn Arbiter> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::DecisionInputs;

    fn arbiter() -> RoundRobin {
        let mut arbiter = RoundRobin::default();
        arbiter.for_switch(&SwitchContext::without_network(1, 4));
        arbiter
    }
    /// Returns the inputs that get the grants of `output`, one grant for each list of requesting inputs.
    fn granted_inputs(arbiter: &mut RoundRobin, output: u16, asking: &[&[u16]]) -> Vec<u16> {
        let request = |input: &u16| Request { input: PortId(*input), size: 1518, stamp: 9 - u64::from(*input) };
        let grant = |inputs: &&[u16]| {
            let requests: Vec<Request> = inputs.iter().map(request).collect();
            arbiter
                .grant(PortId(output), &requests, &mut DecisionInputs::with_draws(&[]).env())
                .expect("somebody asks")
                .0
        };
        asking.iter().map(grant).collect()
    }

    #[test]
    fn inputs_that_always_request_take_turns() {
        assert_eq!(granted_inputs(&mut arbiter(), 0, &[[0, 1, 3].as_slice(); 7]), [0, 1, 3, 0, 1, 3, 0]);
    }

    #[test]
    fn input_without_request_is_skipped_until_it_requests_again() {
        assert_eq!(granted_inputs(&mut arbiter(), 1, &[&[0, 1], &[0], &[0, 1, 2], &[0, 1, 2], &[3]]), [0, 0, 1, 2, 3]);
    }

    #[test]
    fn outputs_have_independent_turns() {
        let mut arbiter = arbiter();
        assert_eq!(granted_inputs(&mut arbiter, 0, &[&[0, 1], &[0, 1], &[0, 1]]), [0, 1, 0]);
        assert_eq!(granted_inputs(&mut arbiter, 3, &[&[0, 1]]), [0]);
        assert_eq!(granted_inputs(&mut arbiter, 0, &[&[0, 1]]), [1]);
    }
}
