//! The arbiter slot of a `cioq` switch: which input feeds an output next?
//!
//! A switch with combined input and output queueing holds an arrival in the memory of the port that it came in by,
//! in a virtual output queue, until the arbiter of the output that it is for grants it the way through the fabric.
//!
//! In a `fabric` switch the same arbiter chooses for every buffer inside, which has a number from that of the last output on:
//! among the virtual output queues of an input, numbered as outputs are, for the input buffer of its stage; among the buffers
//! that feed it, numbered in their order, for any other. Stamps are of the whole switch there.

mod oldest_first;
mod round_robin;
#[cfg(test)]
mod tests;

pub use oldest_first::OldestFirst;
pub use round_robin::RoundRobin;

use crate::{Env, Mechanism, PortId, SwitchContext};

/// The first frame of a virtual output queue, for which the output has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The port that the frame came in by.
    pub input: PortId,
    /// Its bytes.
    pub size: u16,
    /// Grows with every arrival at the switch for this output, so that the oldest frame has the smallest.
    pub stamp: u64,
}

/// A way to choose the input that feeds an output next.
pub trait Arbiter: Send + Sync {
    /// The input that is granted the next transfer to `output`: one of `requests`, which are one at least, of one
    /// class, in the order of the inputs' numbers. `None` leaves the output idle until something comes for it or
    /// leaves it.
    fn grant(&mut self, output: PortId, requests: &[Request], env: &mut Env) -> Option<PortId>;
    /// Makes it ready for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Arbiter>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<ArbiterSlot>] = &[
    Mechanism::new(&round_robin::SPEC, |_| RoundRobin::default().into()),
    Mechanism::new(&oldest_first::SPEC, |_| OldestFirst.into()),
];

slot! {
    /// How an output of a `cioq` switch chooses the input that feeds it next.
    ArbiterSlot(Order) of Arbiter {
        RoundRobin(RoundRobin),
        OldestFirst(OldestFirst),
    }
}

impl ArbiterSlot {
    /// The same for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> ArbiterSlot {
        self.get().for_switch(own);
        self
    }
}
