//! Names of the small numbers in tables.

use crate::packet_trace::What;
use crate::recorder::{Kind, Metric, Of};
use crate::results::Order;

impl Metric {
    const fn name(self) -> &'static str {
        match self {
            Metric::Delay => "delay",
            Metric::Hops => "hops",
            Metric::Detours => "detours",
            Metric::Bounces => "bounces",
            Metric::MaxDistance => "max_bounced_distance",
        }
    }
}

impl Kind {
    const ALL: [Kind; Kind::COUNT] = [Kind::Drop, Kind::Mark, Kind::Detour, Kind::Bounce, Kind::Trim, Kind::Notice];

    const fn name(self) -> &'static str {
        match self {
            Kind::Drop => "drops",
            Kind::Mark => "marks",
            Kind::Detour => "detours",
            Kind::Bounce => "bounces",
            Kind::Trim => "trims",
            Kind::Notice => "cnms",
        }
    }
}

/// Table or column, and the names of its numbers from 0 on.
pub type Numbered = (&'static str, Vec<&'static str>);

/// Returns the names of numbers in `packet_hist`, in `fates` and `activity`, in `reorder`, in the column `place` of
/// `fabric_buffers`, and of steps in packet traces. In traces, the numbers of losses follow, in the order of their
/// reasons.
pub fn numbered() -> [Numbered; 5] {
    let doing = What::BEFORE_LOSSES.into_iter().map(What::name);
    [
        ("packet_hist", in_order(Metric::ALL.map(|one| (one as usize, one.name())))),
        ("fates", in_order(Kind::ALL.map(|one| (one as usize, one.name())))),
        ("reorder", in_order(Order::ALL.map(|one| (one as usize, one.name())))),
        ("fabric_buffers", Of::NAMES.to_vec()),
        ("doing", doing.collect()),
    ]
}

fn in_order<const N: usize>(mut all: [(usize, &'static str); N]) -> Vec<&'static str> {
    all.sort_unstable();
    all.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_on_from_0() {
        assert!(Metric::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(Order::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(Kind::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(What::BEFORE_LOSSES.into_iter().zip(0..).all(|(one, n)| one.number() == n));
        assert_eq!(What::Dropped(mech::overflow::DropReason::BufferFull).number(), What::BEFORE_LOSSES.len() as u8);
    }
}
