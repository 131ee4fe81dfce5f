//! Culprit of a congestion message: the flow of the frame that has just arrived, or a flow drawn from the memory.

use crate::{AgentContext, Env, FlowId, HostId, Occupant, View, choice};

choice! {
    /// Choice of the flow whose source gets a congestion message.
    pub(crate) enum Culprit {
        Arrival = "arrival",
        Occupancy = "occupancy",
        TwoSamples = "two_samples",
    }
}

choice! {
    /// Choice of the measure by which the path congestion of two drawn flows is compared.
    pub(crate) enum PathIndexChoice {
        FirstHop = "first_hop",
        Path = "path",
        Backlog = "backlog",
    }
}

/// Measure of the congestion of a flow's path, to compare two drawn flows (QCN-OS §V-A, path-congestion index).
/// The catalogue has `first_hop`, `path` and `backlog`; [`Qcn::with_path_index`](super::Qcn::with_path_index) takes any other.
///
/// ```
/// use mech::notify::{NotifySlot, PathIndex, Qcn};
/// use mech::params::{Spec, Values};
/// use mech::{Mechanism, Occupant, Registry, View};
///
/// /// Number of frames queued for the port, in its buffer and at inputs.
/// struct Frames;
///
/// impl PathIndex for Frames {
///     fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64) {
///         (u64::from(view.port_backlog(frame.output).0), 1)
///     }
///     fn clone_boxed(&self) -> Box<dyn PathIndex> {
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
/// let make = |values: &Values| NotifySlot::new(Qcn::new(values).with_path_index(Frames));
/// let registry = Registry::catalogue().with_mechanism(Mechanism::new(&BY_FRAMES, make));
/// assert!(registry.find::<NotifySlot>("qcn_by_frames").is_some());
/// ```
pub trait PathIndex: Send + Sync {
    /// Returns the congestion of a frame's path as a fraction: used and available capacity.
    /// The larger fraction is more congested. POSTCONDITION: the second number is not 0.
    fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64);
    /// Returns a boxed copy of the path-congestion index.
    fn clone_boxed(&self) -> Box<dyn PathIndex>;
}

impl Clone for Box<dyn PathIndex> {
    fn clone(&self) -> Box<dyn PathIndex> {
        self.clone_boxed()
    }
}

impl core::fmt::Debug for dyn PathIndex {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PathIndex")
    }
}

/// Returns true if the first fraction (numerator, denominator) is larger than the second.
fn is_larger((a, a_whole): (u64, u64), (b, b_whole): (u64, u64)) -> bool {
    u128::from(a) * u128::from(b_whole) > u128::from(b) * u128::from(a_whole)
}

/// Returns the used bytes as a fraction of the buffer's limit: almost 0 for a buffer without a limit.
fn used_fraction(used: u64, limit: Option<u64>) -> (u64, u64) {
    (used, limit.unwrap_or(u64::MAX).max(1))
}

impl Culprit {
    /// Returns true if the notified flow is drawn at random from the memory.
    pub const fn is_drawn(self) -> bool {
        !matches!(self, Culprit::Arrival)
    }

    /// Returns the flow to notify and its source; `None` if no frame has arrived, or the memory is empty.
    pub fn choose_flow(self, index: &dyn PathIndex, at: &AgentContext, env: &mut Env) -> Option<(FlowId, HostId)> {
        if self == Culprit::Arrival {
            return at.stored.map(|head| (head.flow, head.src));
        }
        let a = draw_occupant(at, env)?;
        let chosen = match self {
            Culprit::TwoSamples => {
                let b = draw_occupant(at, env)?;
                if is_larger(index.congestion(&a, at.view), index.congestion(&b, at.view)) { a } else { b }
            }
            _ => a,
        };
        Some((chosen.flow, chosen.src))
    }
}

impl PathIndex for PathIndexChoice {
    fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64) {
        let mut shares = Vec::new();
        match self {
            PathIndexChoice::Backlog => {
                return used_fraction(view.port_backlog(frame.output).1, view.output_fill(frame.output).limit);
            }
            _ => view.visit_path_fills(frame, &mut |fill| shares.push(used_fraction(fill.used, fill.limit))),
        }
        let most = |a, b| if is_larger(b, a) { b } else { a };
        let found =
            if *self == PathIndexChoice::Path { shares.into_iter().reduce(most) } else { shares.first().copied() };
        found.unwrap_or((0, 1))
    }
    fn clone_boxed(&self) -> Box<dyn PathIndex> {
        Box::new(*self)
    }
}

/// Draws an occupied unit of the sampled memory uniformly, and returns the frame that occupies it.
fn draw_occupant(at: &AgentContext, env: &mut Env) -> Option<Occupant> {
    let units = at.view.occupied_units(at.port);
    if units == 0 {
        return None;
    }
    at.view.occupant(at.port, env.rng.uniform_below(u64::from(units)) as u32)
}
