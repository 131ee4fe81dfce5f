//! Whom a message is about: the flow of the frame that has just come, or one that is drawn from the memory.

use crate::{AgentContext, Env, FlowId, HostId, Occupant, PortId, View, choice};

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
        Backlog = "backlog",
    }
}

/// How congested the way of a flow is, of two that were drawn (QCN-OS §V-A, path-congestion index). The catalogue's are
/// `first_hop` and `backlog`; [`Qcn::with_index`](super::Qcn::with_index) takes any other.
///
/// ```
/// use mech::notify::{NotifySlot, PathIndex, Qcn};
/// use mech::params::{Spec, Values};
/// use mech::{Mechanism, PortId, Registry, View};
///
/// /// How many frames wait for the port, in its buffer and at inputs.
/// struct Frames;
///
/// impl PathIndex for Frames {
///     fn of(&self, out: PortId, view: &dyn View) -> (u64, u64) {
///         (u64::from(view.port_backlog(out).0), 1)
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
/// let make = |values: &Values| NotifySlot::of(Qcn::new(values).with_index(Frames));
/// let registry = Registry::catalogue().with(Mechanism::new(&BY_FRAMES, make));
/// ```
pub trait PathIndex: Send + Sync {
    /// Of the way by this port: so much, of so much. The larger share is the more congested. POSTCONDITION: the second is not 0.
    fn of(&self, out: PortId, view: &dyn View) -> (u64, u64);
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

/// Whether the way by port `a` is more congested than that by port `b`.
fn is_worse(index: &dyn PathIndex, a: PortId, b: PortId, view: &dyn View) -> bool {
    let ((a, a_whole), (b, b_whole)) = (index.of(a, view), index.of(b, view));
    u128::from(a) * u128::from(b_whole) > u128::from(b) * u128::from(a_whole)
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
                if is_worse(index, a.out, b.out, at.view) { a } else { b }
            }
            _ => a,
        };
        Some((chosen.flow, chosen.src))
    }
}

impl PathIndex for Index {
    /// Bytes, and of how many that is a share: next to nothing of a buffer without a limit.
    fn of(&self, out: PortId, view: &dyn View) -> (u64, u64) {
        let fill = view.output_fill(out);
        let used = match self {
            Index::FirstHop => fill.used,
            Index::Backlog => view.port_backlog(out).1,
        };
        (used, fill.limit.unwrap_or(u64::MAX).max(1))
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
