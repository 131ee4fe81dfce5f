//! The fabric slot of a `fabric` switch: how are the stages inside it joined, and which way does a frame take?
//!
//! A stage is a crossbar with a buffer at each of its inputs. Ports of the switch are dealt to stages, and stages are joined
//! by internal links, each with a rate and a buffer in front of it. A frame leaves its virtual output queue for the input
//! buffer of its stage, goes from there to a link's buffer or to the buffer of its output, and so on; it moves only where the
//! next buffer has room, so that none is lost on the way (QCN-OS §V, fig. 8). The mechanisms here only say what is joined
//! with what; all else is the same for each.

mod folded_clos;
mod mesh;
mod none;
#[cfg(test)]
mod tests;

pub use folded_clos::FoldedClos;
pub use mesh::Mesh;
pub use none::NoFabric;

use crate::params::Kind;
use crate::{Mechanism, choice, params};
use units::{Bytes, Dur, Rate};

choice! {
    /// What waits in the input buffer of a stage.
    pub enum Lists {
        /// A list for each way on.
        ByExit = "by_exit",
        /// One list, first in, first out.
        Fifo = "fifo",
    }
}

params! {
    /// What is the same whichever way stages are joined.
    pub struct StageRules {
        link_rate: Rate = {
            doc: "Rate of every internal link (QCN-OS fig. 8: 2.5 Gb/s).",
            kind: Kind::Rate,
            default: None,
        },
        link_buffer: Bytes = {
            doc: "Buffer in front of an internal link, for each class and lane (QCN-OS §V: 32 KB).",
            kind: Kind::Size { min: 64 },
            default: Some("32KB"),
        },
        stage_buffer: Bytes = {
            doc: "Input buffer of a stage, for each class and lane: one for each port of the switch and each internal link that comes in \
                  (QCN-OS §V names it and gives no size).",
            kind: Kind::Size { min: 64 },
            default: Some("32KB"),
        },
        lists: Lists = {
            doc: "Whether input buffers of stages have a list for each way on, or one, whose first frame holds up all behind it.",
            kind: Lists::KIND,
            default: Some("by_exit"),
        },
        end_to_end: bool = {
            doc: "Reliable delivery inside: a copy stays in the memory of the input until the buffer of the output has \
                  acknowledged the frame (QCN-OS §V-B).",
            kind: Kind::Flag,
            default: Some("false"),
        },
        ack_delay: Dur = {
            doc: "From the arrival of a frame in the buffer of its output until its copy is freed; acknowledgements take no \
                  bandwidth.",
            kind: Kind::Time { min: 0 },
            default: Some("1us"),
        },
    }
}

/// An internal link, from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageLink {
    /// The stage that it leaves.
    pub from: u16,
    /// The stage that it leads to.
    pub to: u16,
}

/// A way to join stages.
pub trait Fabric: Send + Sync {
    /// What is the same for all ways to join them; `None` where there are no stages.
    fn rules(&self) -> Option<&StageRules>;
    /// How many stages have ports of the switch.
    fn edges(&self) -> u16;
    /// How many stages have none.
    fn cores(&self) -> u16 {
        0
    }
    /// The internal links.
    fn links(&self) -> Vec<StageLink>;
    /// The link, by its place in [`links`](Fabric::links), by which a frame with this flow hash leaves stage `at` for stage `to`.
    /// PRECONDITION: they are two.
    fn toward(&self, at: u16, to: u16, hash: u32) -> usize;
    /// A copy.
    fn boxed(&self) -> Box<dyn Fabric>;
}

/// The stage of a port, of so many: ports are dealt in blocks as equal as can be, in their order.
pub fn stage_of(port: u16, ports: u16, edges: u16) -> u16 {
    (u32::from(port) * u32::from(edges) / u32::from(ports.max(1))) as u16
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<FabricSlot>] = &[
    Mechanism::new(&none::SPEC, |_| NoFabric.into()),
    Mechanism::new(&mesh::SPEC, |values| Mesh::new(values).into()),
    Mechanism::new(&folded_clos::SPEC, |values| FoldedClos::new(values).into()),
];

slot! {
    /// How the stages of a `fabric` switch are joined.
    FabricSlot(Joined) of Fabric {
        None(NoFabric),
        Mesh(Mesh),
        FoldedClos(FoldedClos),
    }
}
