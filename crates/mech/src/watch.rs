//! Following a queue: what happened to it, and what a mechanism wants to be told.

use crate::{ClassSet, Env, Head, QueueView, TimerId};

/// What has just happened to a queue.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A packet was stored.
    Enqueued(&'a Head),
    /// A packet's transmission has begun: an output queue gives its memory back now.
    Started(&'a Head),
    /// A packet's memory is given back at another instant than the start of its transmission: a
    /// frame that has left for the fabric, a copy that was acknowledged, a packet pushed out.
    Left(&'a Head),
    /// The device behind the port asked to stop these classes.
    Paused(ClassSet),
    /// The device behind the port resumes these classes.
    Resumed(ClassSet),
    /// This node has asked the device behind the port to stop these classes.
    PauseSent(ClassSet),
    /// This node resumes these classes at the device behind the port.
    ResumeSent(ClassSet),
}

/// What mechanisms of a port want from the dataplane; what nobody wants costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// [`Watch::changed`] is to be called.
    pub watch: bool,
    /// The next packet to leave is not always the oldest.
    pub reorder: bool,
    /// Packets may be removed from the middle of a queue.
    pub remove: bool,
    /// The port may be stopped by its far end.
    pub pause: bool,
}

impl Interests {
    /// What either wants.
    pub const fn union(self, other: Interests) -> Interests {
        Interests {
            watch: self.watch || other.watch,
            reorder: self.reorder || other.reorder,
            remove: self.remove || other.remove,
            pause: self.pause || other.pause,
        }
    }
}

/// A mechanism that follows the queues of its port: an output port's own queues, an input port's
/// memory, and for `pause` every queue that holds what came in by its port (`head.ingress`).
pub trait Watch {
    /// A queue has changed; it is seen as it is after the change.
    fn changed(&mut self, _q: &QueueView, _why: Change, _env: &mut Env) {}
    /// A timer that this mechanism armed has run out; `q` is the first queue of its own port.
    fn timer(&mut self, _id: TimerId, _q: &QueueView, _env: &mut Env) {}
}
