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

impl Culprit {
    /// Whether it is drawn from the memory.
    pub const fn is_drawn(self) -> bool {
        !matches!(self, Culprit::Arrival)
    }

    /// The flow, and its source; `None` where no frame has come, or memory is empty.
    pub fn choose(self, index: Index, at: &AgentContext, env: &mut Env) -> Option<(FlowId, HostId)> {
        if self == Culprit::Arrival {
            return at.stored.map(|head| (head.flow, head.src));
        }
        let a = drawn(at, env)?;
        let chosen = match self {
            Culprit::TwoSamples => {
                let b = drawn(at, env)?;
                if index.is_worse(a.out, b.out, at.view) { a } else { b }
            }
            _ => a,
        };
        Some((chosen.flow, chosen.src))
    }
}

impl Index {
    /// Whether the way by port `a` is more congested than that by port `b`.
    fn is_worse(self, a: PortId, b: PortId, view: &dyn View) -> bool {
        let ((a, a_limit), (b, b_limit)) = (self.of(a, view), self.of(b, view));
        u128::from(a) * u128::from(b_limit) > u128::from(b) * u128::from(a_limit)
    }
    /// Bytes, and of how many that is a share: next to nothing of a buffer without a limit.
    fn of(self, out: PortId, view: &dyn View) -> (u64, u64) {
        let fill = view.output_fill(out);
        let used = match self {
            Index::FirstHop => fill.used,
            Index::Backlog => view.port_backlog(out).1,
        };
        (used, fill.limit.unwrap_or(u64::MAX).max(1))
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
