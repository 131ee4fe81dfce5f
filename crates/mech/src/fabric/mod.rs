//! Fabric slot of a `fabric` switch: wires the stages inside, and chooses the path of a frame through them.
//!
//! A stage is a crossbar with a buffer at each of its inputs. Ports of the switch are assigned to stages. Internal
//! links join the stages, each with a rate and a buffer that feeds it. A frame leaves its virtual output queue for the
//! input buffer of its stage. From there it goes to a link's buffer or to the buffer of its output, and so on. It moves
//! only if the next buffer has free space, so that no frame is lost inside (QCN-OS §V, fig. 8). The mechanisms here
//! define only the wiring; all else is the same for each.

mod folded_clos;
mod mesh;
mod none;
#[cfg(test)]
mod tests;

pub use folded_clos::FoldedClos;
pub use mesh::Mesh;
pub use none::NoFabric;

use crate::params::ParamKind;
use crate::{Mechanism, choice, params};
use units::{Bytes, Dur, Rate};

choice! {
    /// Choice of the queues in the input buffer of a stage.
    pub enum StageQueues {
        /// Queue for each exit of the stage.
        ByExit = "by_exit",
        /// Single queue for all exits of the stage, first in, first out.
        Fifo = "fifo",
    }
}

params! {
    /// Parameter values common to all wirings of stages.
    pub struct StageParams {
        link_rate: Rate = {
            doc: "Rate of every internal link (QCN-OS fig. 8: 2.5 Gb/s).",
            kind: ParamKind::Rate,
            default: None,
        },
        link_buffer: Bytes = {
            doc: "Size of the buffer in front of an internal link, for each class and lane (QCN-OS §V: 32 KB).",
            kind: ParamKind::Size { min: 64 },
            default: Some("32KB"),
        },
        stage_buffer: Bytes = {
            doc: "Size of each input buffer of a stage, for each class and lane. A stage has one input buffer for each \
                  of its switch ports and each incoming internal link. QCN-OS §V states no size.",
            kind: ParamKind::Size { min: 64 },
            default: Some("32KB"),
        },
        lists: StageQueues = {
            doc: "Queues of the input buffer of a stage: one for each exit (`by_exit`), or one for all, whose first \
                  frame blocks all others (`fifo`).",
            kind: StageQueues::KIND,
            default: Some("by_exit"),
        },
        end_to_end: bool = {
            doc: "Reliable delivery inside the switch (QCN-OS §V-B). The memory of the input keeps a copy of a frame until \
                  the buffer of the output has acknowledged it.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        ack_delay: Dur = {
            doc: "Time from the arrival of a frame in the buffer of its output until its copy is freed. \
                  Acknowledgements take no bandwidth.",
            kind: ParamKind::Time { min: 0 },
            default: Some("1us"),
        },
    }
}

/// Internal link of a `fabric` switch, from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageLink {
    /// Stage at the start of the link.
    pub from: u16,
    /// Stage at the end of the link.
    pub to: u16,
}

/// Wiring of the stages inside a `fabric` switch.
///
/// ```
/// use mech::fabric::{Fabric, StageQueues, StageLink, StageParams};
/// use units::{Bytes, Dur, Rate};
///
/// /// Two stages, joined by one link in each direction.
/// #[derive(Clone)]
/// struct Pair(StageParams);
///
/// impl Fabric for Pair {
///     fn stage_params(&self) -> Option<&StageParams> {
///         Some(&self.0)
///     }
///     fn edge_stages(&self) -> u16 {
///         2
///     }
///     fn links(&self) -> Vec<StageLink> {
///         vec![StageLink { from: 0, to: 1 }, StageLink { from: 1, to: 0 }]
///     }
///     fn next_link(&self, at: u16, _to: u16, _hash: u32) -> usize {
///         usize::from(at)
///     }
///     fn clone_boxed(&self) -> Box<dyn Fabric> {
///         Box::new(self.clone())
///     }
/// }
///
/// # let params = StageParams {
/// #     link_rate: Rate::gbps(10),
/// #     link_buffer: Bytes(32_000),
/// #     stage_buffer: Bytes(32_000),
/// #     lists: StageQueues::ByExit,
/// #     end_to_end: false,
/// #     ack_delay: Dur::us(1),
/// # };
/// let pair = Pair(params);
/// assert_eq!(pair.links()[pair.next_link(1, 0, 7)], StageLink { from: 1, to: 0 });
/// ```
pub trait Fabric: Send + Sync {
    /// Returns the parameters common to all wirings; `None` if the switch has no stages.
    fn stage_params(&self) -> Option<&StageParams>;
    /// Returns the number of edge stages, which have ports of the switch.
    fn edge_stages(&self) -> u16;
    /// Returns the number of core stages, which have no ports of the switch.
    fn core_stages(&self) -> u16 {
        0
    }
    /// Returns the internal links between stages.
    fn links(&self) -> Vec<StageLink>;
    /// Returns the index in [`links`](Fabric::links) of the next link of a frame with this flow hash.
    /// The frame is at stage `at` and its output is at stage `to`. PRECONDITION: `at` and `to` differ.
    fn next_link(&self, at: u16, to: u16, hash: u32) -> usize;
    /// Returns a boxed copy of the wiring.
    fn clone_boxed(&self) -> Box<dyn Fabric>;
}

/// Returns the stage of a port: ports are assigned to stages in order, in blocks of sizes as equal as possible.
pub fn stage_of(port: u16, ports: u16, edges: u16) -> u16 {
    (u32::from(port) * u32::from(edges) / u32::from(ports.max(1))) as u16
}

/// Mechanisms of the slot `fabric`.
pub const ALL: &[Mechanism<FabricSlot>] = &[
    Mechanism::new(&none::SPEC, |_| NoFabric.into()),
    Mechanism::new(&mesh::SPEC, |values| Mesh::new(values).into()),
    Mechanism::new(&folded_clos::SPEC, |values| FoldedClos::new(values).into()),
];

slot! {
    /// Slot `fabric`: wiring of the stages inside a `fabric` switch.
    FabricSlot(Joined) of Fabric {
        None(NoFabric),
        Mesh(Mesh),
        FoldedClos(FoldedClos),
    }
}
