//! Whom a message is about: the flow of the frame that has just come, or one that is drawn from the memory.

use crate::{AgentContext, Env, FlowId, HostId, Occupant, View, choice};

choice! {
    /// Which flow is told.
    pub(crate) enum Culprit {
        Arrival = "arrival",
        Occupancy = "occupancy",
        TwoSamples = "two_samples",
    }
}

choice! {
    /// How congested the way of a flow is, of two that were drawn.
    pub(crate) enum Index {
        FirstHop = "first_hop",
        Path = "path",
        Backlog = "backlog",
    }
}

/// How congested the way of a flow is, of two that were drawn (QCN-OS §V-A, path-congestion index). The catalogue's are
/// `first_hop`, `path` and `backlog`; [`Qcn::with_index`](super::Qcn::with_index) takes any other.
///
/// ```
/// use mech::notify::{NotifySlot, PathIndex, Qcn};
/// use mech::params::{Spec, Values};
/// use mech::{Mechanism, Occupant, Registry, View};
///
/// /// How many frames wait for the port, in its buffer and at inputs.
/// struct Frames;
///
/// impl PathIndex for Frames {
///     fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64) {
///         (u64::from(view.port_backlog(frame.out).0), 1)
///     }
///     fn boxed(&self) -> Box<dyn PathIndex> {
///         Box::new(Frames)
///     }
/// }
///
/// const BY_FRAMES: Spec = Spec {
///     slot: "switch.notify",
///     kind: "qcn_by_frames",
///     doc: "QCN whose two samples are compared by frames.",
///     cite: "",
///     params: Qcn::PARAMS,
/// };
/// let make = |values: &Values| NotifySlot::new(Qcn::new(values).with_index(Frames));
/// let registry = Registry::catalogue().with(Mechanism::new(&BY_FRAMES, make));
/// ```
pub trait PathIndex: Send + Sync {
    /// Of the way of this frame: so much, of so much. The larger share is the more congested. POSTCONDITION: the second is not 0.
    fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64);
    /// A copy.
    fn boxed(&self) -> Box<dyn PathIndex>;
}

impl Clone for Box<dyn PathIndex> {
    fn clone(&self) -> Box<dyn PathIndex> {
        self.boxed()
    }
}

impl core::fmt::Debug for dyn PathIndex {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PathIndex")
    }
}

/// Whether one share is the larger: each is so much, of so much.
fn is_larger((a, a_whole): (u64, u64), (b, b_whole): (u64, u64)) -> bool {
    u128::from(a) * u128::from(b_whole) > u128::from(b) * u128::from(a_whole)
}

/// Bytes, and of how many that is a share: next to nothing of a buffer without a limit.
fn share(used: u64, limit: Option<u64>) -> (u64, u64) {
    (used, limit.unwrap_or(u64::MAX).max(1))
}

impl Culprit {
    /// Whether it is drawn from the memory.
    pub const fn is_drawn(self) -> bool {
        !matches!(self, Culprit::Arrival)
    }

    /// The flow, and its source; `None` where no frame has come, or memory is empty.
    pub fn choose(self, index: &dyn PathIndex, at: &AgentContext, env: &mut Env) -> Option<(FlowId, HostId)> {
        if self == Culprit::Arrival {
            return at.stored.map(|head| (head.flow, head.src));
        }
        let a = drawn(at, env)?;
        let chosen = match self {
            Culprit::TwoSamples => {
                let b = drawn(at, env)?;
                if is_larger(index.congestion(&a, at.view), index.congestion(&b, at.view)) { a } else { b }
            }
            _ => a,
        };
        Some((chosen.flow, chosen.src))
    }
}

impl PathIndex for Index {
    fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64) {
        let mut shares = Vec::new();
        match self {
            Index::Backlog => return share(view.port_backlog(frame.out).1, view.output_fill(frame.out).limit),
            _ => view.fills_on_way(frame, &mut |fill| shares.push(share(fill.used, fill.limit))),
        }
        let most = |a, b| if is_larger(b, a) { b } else { a };
        let found = if *self == Index::Path { shares.into_iter().reduce(most) } else { shares.first().copied() };
        found.unwrap_or((0, 1))
    }
    fn boxed(&self) -> Box<dyn PathIndex> {
        Box::new(*self)
    }
}

/// Whose frame lies in one of the occupied units of the memory, each equally likely.
fn drawn(at: &AgentContext, env: &mut Env) -> Option<Occupant> {
    let units = at.view.occupied_units(at.port);
    if units == 0 {
        return None;
    }
    at.view.occupant(at.port, env.rng.below(u64::from(units)) as u32)
}
