//! What a run that is divided into partitions asks of its observers.

use dataplane::{Observer, Pkt};

/// Who has what in a divided run.
#[derive(Clone, Copy, Debug)]
pub struct Owners<'a> {
    /// By node, its partition.
    pub nodes: &'a [u32],
    /// By port over the whole network, the partition of its node.
    pub ports: &'a [u32],
    /// By node, the first of its ports.
    pub base: &'a [u32],
    /// By flow as partitions numbered them, its number in the whole run.
    pub ranks: &'a [u32],
}

impl Owners<'_> {
    /// The node of a port.
    pub fn node_of(&self, port: u32) -> u32 {
        self.base.partition_point(|first| *first <= port) as u32 - 1
    }
}

/// A listener of a run that is divided: each partition has one of its own.
pub trait Divided: Observer + Clone + Send {
    /// What it keeps of a packet while that is under way.
    type Attached: Send;
    /// It is one of several, before the run.
    fn divide(&mut self) {}
    /// The packets that transports have made since it was last asked; where [`Observer::emitted`] is wanted, the partition of the receiver is told of them before any arrives.
    fn take_emitted(&mut self) -> Vec<Pkt> {
        Vec::new()
    }
    /// A packet goes on to another partition.
    fn detach(&mut self, pkt: &Pkt) -> Self::Attached;
    /// It has come from another partition.
    fn attach(&mut self, pkt: &Pkt, attached: Self::Attached);
    /// One of all partitions', in their order; the run is over.
    fn gather(parts: Vec<Self>, owners: &Owners<'_>) -> Self;
}

impl Divided for () {
    type Attached = ();
    fn detach(&mut self, _pkt: &Pkt) {}
    fn attach(&mut self, _pkt: &Pkt, _attached: ()) {}
    fn gather(_parts: Vec<()>, _owners: &Owners<'_>) {}
}
