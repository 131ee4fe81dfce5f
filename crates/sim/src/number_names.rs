//! Names of the codes in table columns (enum values stored as small integers).

use crate::packet_trace::StepKind;
use crate::recorder::{BufferKind, PacketEvent, PacketMetric};
use crate::results::ReorderMetric;

impl PacketMetric {
    const fn name(self) -> &'static str {
        match self {
            PacketMetric::Delay => "delay",
            PacketMetric::Hops => "hops",
            PacketMetric::Detours => "detours",
            PacketMetric::Bounces => "bounces",
            PacketMetric::MaxDistance => "max_bounced_distance",
        }
    }
}

impl PacketEvent {
    const ALL: [PacketEvent; PacketEvent::COUNT] = [
        PacketEvent::Drop,
        PacketEvent::Mark,
        PacketEvent::Detour,
        PacketEvent::Bounce,
        PacketEvent::Trim,
        PacketEvent::Notice,
    ];

    const fn name(self) -> &'static str {
        match self {
            PacketEvent::Drop => "drops",
            PacketEvent::Mark => "marks",
            PacketEvent::Detour => "detours",
            PacketEvent::Bounce => "bounces",
            PacketEvent::Trim => "trims",
            PacketEvent::Notice => "cnms",
        }
    }
}

/// Name of a table or column, and the names of its numbers from 0 on.
pub type NumberNames = (&'static str, Vec<&'static str>);

/// Returns the names of numbers in the tables `packet_hist`, `fates`, `activity` and `reorder`, in the column `place`
/// of `fabric_buffers`, and of steps in packet traces. In traces, the numbers of losses follow, in the order of their
/// reasons.
pub fn number_names() -> [NumberNames; 5] {
    let doing = StepKind::ALL_EXCEPT_LOSSES.into_iter().map(StepKind::name);
    [
        ("packet_hist", sort_names(PacketMetric::ALL.map(|one| (one as usize, one.name())))),
        ("fates", sort_names(PacketEvent::ALL.map(|one| (one as usize, one.name())))),
        ("reorder", sort_names(ReorderMetric::ALL.map(|one| (one as usize, one.name())))),
        ("fabric_buffers", BufferKind::NAMES.to_vec()),
        ("doing", doing.collect()),
    ]
}

fn sort_names<const N: usize>(mut all: [(usize, &'static str); N]) -> Vec<&'static str> {
    all.sort_unstable();
    all.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_consecutive_from_0() {
        assert!(PacketMetric::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(ReorderMetric::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(PacketEvent::ALL.into_iter().zip(0..).all(|(one, n)| one as usize == n));
        assert!(StepKind::ALL_EXCEPT_LOSSES.into_iter().zip(0..).all(|(one, n)| one.number() == n));
        assert_eq!(
            StepKind::Dropped(mech::overflow::DropReason::BufferFull).number(),
            StepKind::ALL_EXCEPT_LOSSES.len() as u8
        );
    }
}
