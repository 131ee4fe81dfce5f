//! Port memories in units, from which an agent draws occupied ones at random (QCN-OS §III).
//! A frame takes as many units as it needs and shares none.
//!
//! Occupied units are adjacent, in no meaningful order, so that a draw is one step. The units of a frame are a list, so
//! that a unit is added or removed in one step: the last unit moves into the gap.

use crate::arena::Arena;
use mech::{MemorySampling, MemorySide, Occupant, PortId};

/// Index that stands for no unit.
const NO_UNIT: u32 = u32::MAX;

/// Occupied unit of a port's memory: the slot of its frame, and its neighbours in the list of that frame's units.
#[derive(Clone, Copy, Debug)]
struct Unit {
    slot: u32,
    before: u32,
    after: u32,
}

/// Occupied units of a port's memory, from which an agent draws samples.
#[derive(Clone, Debug)]
struct MemoryUnits {
    samples: MemorySampling,
    units: Vec<Unit>,
}

/// Units of a frame: its output port, and the first of its units on each side (input and output memory).
#[derive(Clone, Copy, Debug)]
struct FrameUnits {
    out: PortId,
    first: [u32; 2],
}

impl FrameUnits {
    const NO_UNITS: FrameUnits = FrameUnits { out: PortId(0), first: [NO_UNIT; 2] };
}

/// Location of a frame in a port's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameLocation {
    /// Port of the memory, and its side (input or output).
    pub(crate) port: PortId,
    pub(crate) side: MemorySide,
    /// Memory slot of the frame: its index in the node's arena.
    pub(crate) slot: u32,
}

/// Memories of a node's ports from which agents draw samples.
#[derive(Clone, Debug)]
pub(crate) struct SampledMemories {
    pools: Box<[Option<MemoryUnits>]>,
    /// Units of each frame, by arena slot.
    frames: Vec<FrameUnits>,
}

impl SampledMemories {
    /// Creates the memories from which agents draw samples; `None` if no agent does.
    pub(crate) fn new(ports: Vec<Option<MemorySampling>>) -> Option<Box<SampledMemories>> {
        let any = ports.iter().any(Option::is_some);
        let pool = |samples: Option<MemorySampling>| samples.map(|samples| MemoryUnits { samples, units: Vec::new() });
        any.then(|| Box::new(SampledMemories { pools: ports.into_iter().map(pool).collect(), frames: Vec::new() }))
    }

    /// Returns the number of units that a frame takes in a memory; 0 if no agent draws samples from it.
    fn units_needed(&self, at: FrameLocation, (class, bytes): (u8, u16)) -> u64 {
        let pool = self.pools[usize::from(at.port.0)].as_ref();
        let samples = pool.map(|pool| pool.samples).filter(|own| own.side == at.side && own.class == class);
        samples.map_or(0, |samples| u64::from(bytes).div_ceil(samples.unit.0))
    }

    /// Adds the units of a frame to a memory from which an agent draws samples.
    /// `of` is the class and the bytes of the frame, and `out` is the port by which it will leave.
    pub(crate) fn join(&mut self, at: FrameLocation, of: (u8, u16), out: PortId) {
        let many = self.units_needed(at, of);
        if many == 0 {
            return;
        }
        let slots = self.frames.len().max(at.slot as usize + 1);
        self.frames.resize(slots, FrameUnits::NO_UNITS);
        self.frames[at.slot as usize].out = out;
        (0..many).for_each(|_| self.add_unit(at));
    }

    /// Removes all units of a frame from a memory.
    pub(crate) fn leave(&mut self, at: FrameLocation) {
        while self.remove_unit(at) {}
    }

    /// Removes the units that a frame no longer needs after it was cut.
    /// It is `by` bytes shorter and has `bytes` now.
    pub(crate) fn shorten(&mut self, at: FrameLocation, (class, bytes): (u8, u16), by: u16) {
        let fewer = self.units_needed(at, (class, bytes + by)) - self.units_needed(at, (class, bytes));
        for _ in 0..fewer {
            self.remove_unit(at);
        }
    }

    /// Adds one unit to a frame. PRECONDITION: an agent draws samples from its memory.
    fn add_unit(&mut self, at: FrameLocation) {
        let Some(MemoryUnits { units, .. }) = &mut self.pools[usize::from(at.port.0)] else { return };
        let first = &mut self.frames[at.slot as usize].first[at.side as usize];
        let own = units.len() as u32;
        units.push(Unit { slot: at.slot, before: NO_UNIT, after: *first });
        if let Some(next) = units.get_mut(*first as usize) {
            next.before = own;
        }
        *first = own;
    }

    /// Removes a unit of a frame, and returns true if it had one.
    fn remove_unit(&mut self, at: FrameLocation) -> bool {
        let Some(MemoryUnits { units, .. }) = &mut self.pools[usize::from(at.port.0)] else { return false };
        let Some(placed) = self.frames.get_mut(at.slot as usize) else { return false };
        let gone = placed.first[at.side as usize];
        let Some(unit) = units.get(gone as usize).copied() else { return false };
        placed.first[at.side as usize] = unit.after;
        if let Some(next) = units.get_mut(unit.after as usize) {
            next.before = NO_UNIT;
        }
        units.swap_remove(gone as usize);
        // The unit that was the last is at `gone` now; its neighbours must point to it.
        if let Some(Unit { slot, before, after }) = units.get(gone as usize).copied() {
            match units.get_mut(before as usize) {
                Some(other) => other.after = gone,
                None => self.frames[slot as usize].first[at.side as usize] = gone,
            }
            if let Some(other) = units.get_mut(after as usize) {
                other.before = gone;
            }
        }
        true
    }

    /// Returns true if an agent draws units from a memory of this port.
    pub(crate) fn is_sampled(&self, port: PortId) -> bool {
        self.pools.get(usize::from(port.0)).is_some_and(Option::is_some)
    }

    /// Returns the number of occupied units of a port's memory.
    pub(crate) fn occupied_units(&self, port: PortId) -> u32 {
        self.pools[usize::from(port.0)].as_ref().map_or(0, |pool| pool.units.len() as u32)
    }

    /// Returns the flow, source host, hash, ports and class of the frame that occupies a unit.
    pub(crate) fn occupant(&self, port: PortId, unit: u32, arena: &Arena) -> Option<Occupant> {
        let Unit { slot, .. } = *self.pools[usize::from(port.0)].as_ref()?.units.get(unit as usize)?;
        Some(Occupant::from_head(&arena.get(slot).head, self.frames[slot as usize].out))
    }

    /// Checks that each memory has exactly the units of the frames in `all`.
    /// `all` names each frame once with its memory, class and bytes.
    pub(crate) fn is_consistent(&self, all: impl Iterator<Item = (FrameLocation, (u8, u16))>) -> bool {
        let mut expected = vec![0; self.pools.len()];
        let mut each = all.map(|(at, of)| {
            let many = self.units_needed(at, of);
            expected[usize::from(at.port.0)] += many;
            self.units_of_frame(at) == many
        });
        let frames = each.by_ref().all(|right| right);
        drop(each);
        let mut ports = (0..).map(PortId).zip(&expected);
        frames && ports.all(|(port, expected)| u64::from(self.occupied_units(port)) == *expected)
    }

    /// Returns the number of units that a frame has in a memory.
    fn units_of_frame(&self, at: FrameLocation) -> u64 {
        let Some(MemoryUnits { samples, units }) = &self.pools[usize::from(at.port.0)] else { return 0 };
        let placed = self.frames.get(at.slot as usize).filter(|_| samples.side == at.side);
        let first = placed.and_then(|placed| units.get(placed.first[at.side as usize] as usize));
        let next = |unit: &&Unit| units.get(unit.after as usize);
        std::iter::successors(first, next).filter(|unit| unit.slot == at.slot).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pkt;
    use mech::{FlowId, HostId, Stream, StreamPurpose};
    use property::for_all;
    use proptest::collection::vec;
    use proptest::prelude::any;
    use proptest::sample::Index;
    use std::collections::BTreeMap;
    use units::Bytes;

    const PORT: PortId = PortId(1);

    fn sampled(side: MemorySide, unit: u64) -> Box<SampledMemories> {
        let samples = MemorySampling { side, class: 0, unit: Bytes(unit) };
        SampledMemories::new(vec![None, Some(samples), None]).unwrap()
    }

    fn at(side: MemorySide, slot: u32) -> FrameLocation {
        FrameLocation { port: PORT, side, slot }
    }

    /// Returns the number of occupied units of each flow.
    fn units_by_flow(units: &SampledMemories, arena: &Arena) -> BTreeMap<u32, u64> {
        let mut all = BTreeMap::new();
        for unit in 0..units.occupied_units(PORT) {
            *all.entry(units.occupant(PORT, unit, arena).unwrap().flow.0).or_default() += 1;
        }
        assert_eq!(units.occupant(PORT, units.occupied_units(PORT), arena), None);
        all
    }

    #[test]
    fn memories_without_sampling_agents_have_no_units() {
        assert!(SampledMemories::new(vec![None, None]).is_none());
        let mut units = sampled(MemorySide::Input, 256);
        units.join(at(MemorySide::Output, 3), (0, 1518), PortId(2));
        units.join(at(MemorySide::Input, 3), (5, 1518), PortId(2));
        units.join(FrameLocation { port: PortId(0), ..at(MemorySide::Input, 3) }, (0, 1518), PortId(2));
        assert_eq!((units.occupied_units(PORT), units.occupied_units(PortId(0)), units.frames.len()), (0, 0, 0));
        units.join(at(MemorySide::Input, 3), (0, 1518), PortId(2));
        assert_eq!((units.occupied_units(PORT), units.frames.len()), (6, 4));
    }

    /// Checks that every flow has exactly the units of its frames, while frames are added, cut and removed at random.
    #[test]
    fn occupied_units_are_those_of_the_stored_frames() {
        for (unit, side) in
            [(16, MemorySide::Input), (64, MemorySide::Output), (256, MemorySide::Input), (2048, MemorySide::Output)]
        {
            let mut most = 0;
            for_all(4, vec((0..10, any::<Index>(), any::<Index>(), 64..=1518_u16), 0..=600), |changes| {
                let mut units = sampled(side, unit);
                let (mut arena, mut there) = (Arena::default(), BTreeMap::new());
                for (n, (what, which, less, size)) in (0..).zip(changes) {
                    let shrinks = if n % 300 < 180 { 3 } else { 6 };
                    let slots: Vec<u32> = there.keys().copied().collect();
                    let any = (!slots.is_empty()).then(|| *which.get(&slots));
                    match (what, any) {
                        (0, Some(slot)) => {
                            let (flow, size) = there[&slot];
                            let mut cut = *arena.get(slot);
                            let by = less.index(usize::from(size)) as u16;
                            cut.head.size = size - by;
                            arena.discard(slot);
                            assert_eq!(arena.allocate(cut, 0), slot);
                            units.shorten(at(side, slot), (0, size - by), by);
                            there.insert(slot, (flow, size - by));
                        }
                        (what, Some(slot)) if what < shrinks => {
                            arena.discard(slot);
                            units.leave(at(side, slot));
                            there.remove(&slot);
                        }
                        _ => {
                            let mut pkt = Pkt::default();
                            (pkt.head.flow, pkt.head.src) = (FlowId(n), HostId(n + 7));
                            pkt.head.size = size;
                            let slot = arena.allocate(pkt, 0);
                            units.join(at(side, slot), (0, pkt.head.size), PortId((n % 3) as u16));
                            there.insert(slot, (n, pkt.head.size));
                        }
                    }
                    let own = |(flow, size): &(u32, u16)| (*flow, u64::from(*size).div_ceil(unit));
                    let expected: BTreeMap<u32, u64> = there.values().map(own).filter(|(_, many)| *many > 0).collect();
                    assert_eq!(units_by_flow(&units, &arena), expected, "after {n}");
                    let occupant = units.occupant(PORT, 0, &arena);
                    assert!(
                        occupant.is_none_or(|of| of.src.0 == of.flow.0 + 7 && u32::from(of.output.0) == of.flow.0 % 3)
                    );
                }
                most = most.max(units.occupied_units(PORT));
                there.keys().for_each(|slot| units.leave(at(side, *slot)));
                assert_eq!(units.occupied_units(PORT), 0);
            });
            assert!(most > 0);
        }
    }

    /// Draws units of three flows with 10, 20 and 31 kB: shares of draws follow the flows' shares of units.
    /// Frames have 1000 or 64 bytes. Pearson's statistic with two degrees of freedom exceeds 13.8 once in a thousand;
    /// draws are fixed.
    #[test]
    fn draws_are_proportional_to_the_units_of_a_flow() {
        let (mut units, mut arena) = (sampled(MemorySide::Input, 64), Arena::default());
        for (flow, frames, size) in [(1, 10, 1000), (2, 20, 1000), (3, 480, 64)] {
            for _ in 0..frames {
                let mut pkt = Pkt::default();
                (pkt.head.flow, pkt.head.size) = (FlowId(flow), size);
                let slot = arena.allocate(pkt, 0);
                units.join(at(MemorySide::Input, slot), (0, size), PortId(0));
            }
        }
        let expected = units_by_flow(&units, &arena);
        assert_eq!(expected.values().copied().collect::<Vec<_>>(), [160, 320, 480]);
        let (mut draws, mut found) = (Stream::new(3, 0, StreamPurpose::Custom(1)), BTreeMap::<u32, u64>::new());
        const DRAWS: u64 = 30_000;
        for _ in 0..DRAWS {
            let unit = draws.uniform_below(u64::from(units.occupied_units(PORT))) as u32;
            *found.entry(units.occupant(PORT, unit, &arena).unwrap().flow.0).or_default() += 1;
        }
        let chi: f64 = expected
            .iter()
            .map(|(flow, many)| {
                let expected = (DRAWS * many) as f64 / 960.0;
                (found[flow] as f64 - expected).powi(2) / expected
            })
            .sum();
        assert!(chi < 13.8, "{found:?}: {chi}");
    }
}
