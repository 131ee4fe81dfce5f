//! Two-tier Clos network inside the switch: every edge stage is joined with every core stage. The hash of a flow
//! selects its core stage (C. Clos, "A Study of Non-Blocking Switching Networks", Bell System Technical Journal 32(2),
//! 1953, folded). A frame crosses two internal links, or none if its output is at its own stage.
//!
//! Unlike in a Clos network of circuits, a path is chosen for each flow and not for each connection. So the network may
//! block with any number of core stages.

use super::{Fabric, StageLink, StageParams};
use crate::params::{ParamKind, Spec, Values};
use crate::{hash_mix, params};

params! {
    /// Parameter values of `folded_clos`, without those common to all wirings.
    struct Params {
        elements: u64 = {
            doc: "Number of edge stages. Ports are assigned to them in blocks, in the order of their numbers.",
            kind: ParamKind::Count { min: 2, max: 64 },
            default: Some("2"),
        },
        cores: u64 = {
            doc: "Number of core stages. The hash of a flow selects one of them.",
            kind: ParamKind::Count { min: 1, max: 64 },
            default: Some("2"),
        },
    }
}

const STAGE_PARAM_COUNT: usize = StageParams::PARAMS.len();

/// Declarations of the parameters of `folded_clos`, followed by those common to all wirings.
const PARAMS: [params::Param; STAGE_PARAM_COUNT + 2] = {
    let mut all = [Params::PARAMS[0]; STAGE_PARAM_COUNT + 2];
    all[1] = Params::PARAMS[1];
    let mut n = 0;
    while n < STAGE_PARAM_COUNT {
        all[n + 2] = StageParams::PARAMS[n];
        n += 1;
    }
    all
};

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fabric",
    kind: "folded_clos",
    doc: "Joins every edge stage with every core stage. A flow takes one core stage.",
    cite: "Clos 1953; QCN-OS §V",
    params: &PARAMS,
};

/// Folded Clos network of the stages inside a switch.
#[derive(Clone, Debug)]
pub struct FoldedClos {
    edges: u16,
    cores: u16,
    rules: StageParams,
}

impl FoldedClos {
    /// Creates the folded Clos network from validated parameters.
    pub fn new(values: &Values) -> FoldedClos {
        let given = Params::read(values);
        FoldedClos { edges: given.elements as u16, cores: given.cores as u16, rules: StageParams::read(values) }
    }
}

impl Fabric for FoldedClos {
    fn stage_params(&self) -> Option<&StageParams> {
        Some(&self.rules)
    }
    fn edge_stages(&self) -> u16 {
        self.edges
    }
    fn core_stages(&self) -> u16 {
        self.cores
    }
    /// Returns the links from edge to core stages, by edge and core, then those from core to edge stages, by core and
    /// edge.
    fn links(&self) -> Vec<StageLink> {
        let (edges, cores) = (self.edges, self.cores);
        let up = (0..edges).flat_map(|from| (0..cores).map(move |core| StageLink { from, to: edges + core }));
        let down = (0..cores).flat_map(|core| (0..edges).map(move |to| StageLink { from: edges + core, to }));
        up.chain(down).collect()
    }
    fn next_link(&self, at: u16, to: u16, hash: u32) -> usize {
        let [at, to, edges, cores] = [at, to, self.edges, self.cores].map(usize::from);
        match at.checked_sub(edges) {
            // Other switches choose next hops by the same hash. Mixed again, it gives a choice that is independent of
            // theirs.
            None => at * cores + (hash_mix(0x0063_6c6f_7321, u64::from(hash)) % cores as u64) as usize,
            Some(core) => edges * cores + core * edges + to,
        }
    }
    fn clone_boxed(&self) -> Box<dyn Fabric> {
        Box::new(self.clone())
    }
}
