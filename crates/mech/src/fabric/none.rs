//! Wiring `none`: no stages, for switches of another model than `fabric`.

use super::{Fabric, StageLink, StageParams};
use crate::params::Spec;

/// Wiring of a switch without internal stages.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFabric;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fabric",
    kind: "none",
    doc: "No internal stages, for every model except `fabric`.",
    cite: "",
    params: &[],
};

impl Fabric for NoFabric {
    fn stage_params(&self) -> Option<&StageParams> {
        None
    }
    fn edge_stages(&self) -> u16 {
        1
    }
    fn links(&self) -> Vec<StageLink> {
        Vec::new()
    }
    fn next_link(&self, _at: u16, _to: u16, _hash: u32) -> usize {
        0
    }
    fn clone_boxed(&self) -> Box<dyn Fabric> {
        Box::new(*self)
    }
}
