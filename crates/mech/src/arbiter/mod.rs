//! Arbiter slot of a `cioq` switch: chooses the input that feeds an output next.
//!
//! A switch with combined input and output queueing holds an arrival in the memory of its input port, in a virtual
//! output queue. The arbiter of the output then grants it a transfer through the fabric.
//!
//! In a `fabric` switch the same arbiter chooses for every internal buffer. These buffers are numbered after the last
//! output. For the input buffer of a stage, the requests come from the virtual output queues of one input, numbered
//! like outputs. For any other buffer they come from the buffers that feed it, numbered in their order. Stamps count
//! all arrivals of the switch there.

mod oldest_first;
mod round_robin;
#[cfg(test)]
mod tests;

pub use oldest_first::OldestFirst;
pub use round_robin::RoundRobin;

use crate::{Env, Mechanism, PortId, SwitchContext};

/// Request to transfer the first frame of a virtual output queue, which fits into the buffer of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Input port of the frame.
    pub input: PortId,
    /// Size of the frame in bytes.
    pub size: u16,
    /// Stamp of the frame, which grows with every arrival for this output: the oldest frame has the smallest.
    pub stamp: u64,
}

/// Mechanism that chooses the input that feeds an output next.
///
/// ```
/// use mech::arbiter::{Arbiter, Request};
/// use mech::{Acts, Env, PortId, StreamPurpose, Stream};
///
/// /// Grants the input whose frame is the shortest.
/// #[derive(Clone)]
/// struct ShortestFirst;
///
/// impl Arbiter for ShortestFirst {
///     fn grant(&mut self, _output: PortId, requests: &[Request], _env: &mut Env) -> Option<PortId> {
///         requests.iter().min_by_key(|request| request.size).map(|request| request.input)
///     }
///     fn clone_boxed(&self) -> Box<dyn Arbiter> {
///         Box::new(self.clone())
///     }
/// }
///
/// let requests = [(0, 1500), (3, 64)].map(|(input, size)| Request { input: PortId(input), size, stamp: 0 });
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Arbiter), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// assert_eq!(ShortestFirst.grant(PortId(1), &requests, &mut env), Some(PortId(3)));
/// ```
pub trait Arbiter: Send + Sync {
    /// Returns the input that is granted the next transfer to `output`.
    ///
    /// `requests` has at least one entry; all are of one class, in the order of input numbers. `None` leaves the output
    /// idle until a frame arrives for it or leaves it.
    fn grant(&mut self, output: PortId, requests: &[Request], env: &mut Env) -> Option<PortId>;
    /// Prepares the arbiter for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns a boxed copy of the arbiter, with its state.
    fn clone_boxed(&self) -> Box<dyn Arbiter>;
}

/// Mechanisms of the slot `arbiter`.
pub const ALL: &[Mechanism<ArbiterSlot>] = &[
    Mechanism::new(&round_robin::SPEC, |_| RoundRobin::default().into()),
    Mechanism::new(&oldest_first::SPEC, |_| OldestFirst.into()),
];

slot! {
    /// Slot `arbiter` of a `cioq` switch: chooses the input that feeds an output next.
    ArbiterSlot(Order) of Arbiter {
        RoundRobin(RoundRobin),
        OldestFirst(OldestFirst),
    }
}

impl ArbiterSlot {
    /// Returns the arbiter slot, prepared for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> ArbiterSlot {
        self.get().for_switch(own);
        self
    }
}
