//! Full mesh of the stages inside a switch: every stage has an internal link to every other stage.
//! The nodes of two supernodes in QCN-OS fig. 8 are joined in this way. A frame crosses at most one internal link.

use super::{Fabric, StageLink, StageParams};
use crate::params;
use crate::params::{ParamKind, Spec, Values};

params! {
    /// Parameter values of `mesh`, without those common to all wirings.
    struct Params {
        elements: u64 = {
            doc: "Number of stages. Ports are assigned to them in blocks, in the order of their numbers.",
            kind: ParamKind::Count { min: 2, max: 64 },
            default: Some("2"),
        },
    }
}

const STAGE_PARAM_COUNT: usize = StageParams::PARAMS.len();

/// Declarations of the parameters of `mesh`, followed by those common to all wirings.
const PARAMS: [params::Param; STAGE_PARAM_COUNT + 1] = {
    let mut all = [Params::PARAMS[0]; STAGE_PARAM_COUNT + 1];
    let mut n = 0;
    while n < STAGE_PARAM_COUNT {
        all[n + 1] = StageParams::PARAMS[n];
        n += 1;
    }
    all
};

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fabric",
    kind: "mesh",
    doc: "Joins each stage with every other by one link in each direction.",
    cite: "QCN-OS §V, fig. 8",
    params: &PARAMS,
};

/// Full mesh of the stages inside a switch.
#[derive(Clone, Debug)]
pub struct Mesh {
    elements: u16,
    rules: StageParams,
}

impl Mesh {
    /// Creates the full mesh from validated parameters.
    pub fn new(values: &Values) -> Mesh {
        Mesh { elements: Params::read(values).elements as u16, rules: StageParams::read(values) }
    }
}

impl Fabric for Mesh {
    fn stage_params(&self) -> Option<&StageParams> {
        Some(&self.rules)
    }
    fn edge_stages(&self) -> u16 {
        self.elements
    }
    fn links(&self) -> Vec<StageLink> {
        let from = |from: u16| (0..self.elements).filter(move |to| *to != from).map(move |to| StageLink { from, to });
        (0..self.elements).flat_map(from).collect()
    }
    fn next_link(&self, at: u16, to: u16, _hash: u32) -> usize {
        let skipped = u16::from(to > at);
        usize::from(at) * usize::from(self.elements - 1) + usize::from(to - skipped)
    }
    fn clone_boxed(&self) -> Box<dyn Fabric> {
        Box::new(self.clone())
    }
}
